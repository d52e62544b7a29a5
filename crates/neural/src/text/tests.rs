//! Token ids of real skills against the reference tokenizer's; `bench/golden_tokens.py` wrote them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Texts;

/// The skills and the tokenizer; without either the test says so and passes.
fn places() -> Option<(PathBuf, PathBuf)> {
    let shared = match std::env::var_os("CLEANHIT_SHARED") {
        Some(shared) => PathBuf::from(shared),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let models = match std::env::var_os("CLEANHIT_MODELS") {
        Some(models) => PathBuf::from(models),
        None => match std::env::var_os("XDG_CACHE_HOME") {
            Some(cache) => PathBuf::from(cache).join("cleanhit-models"),
            None => std::env::home_dir()?.join(".cache/cleanhit-models"),
        },
    };
    let skills = shared.join("data/skills_pool");
    let tokenizer = models.join("all-minilm-l6-v2/tokenizer.json");
    for (path, from) in [(&skills, "the shared data"), (&tokenizer, "`bench/weights.sh`")] {
        if !path.exists() {
            println!("skipped: no {}; it comes from {from}", path.display());
            return None;
        }
    }
    Some((skills, tokenizer))
}

/// Every seventh of the 7,713 skills, the first thousand, as the script renders them.
fn texts(skills: &Path) -> Vec<String> {
    let subset = fs::read_to_string(skills.join("subset_7713.txt")).unwrap();
    let subset: HashSet<&str> = subset.split_whitespace().collect();
    let packed = fs::read(skills.join("skills.jsonl.zst")).unwrap();
    let lines = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kept = records.filter(|record| subset.contains(record["id"].as_str().unwrap()));
    let part = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    let text = |r: Value| {
        format!("{}\n{}\n\n{}", part(&r, "name"), part(&r, "description"), part(&r, "body"))
    };
    kept.step_by(7).take(1000).map(text).collect()
}

fn digest(ids: &[u32]) -> String {
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    hex::encode(&Sha256::digest(bytes)[..8])
}

#[test]
fn token_ids_of_a_thousand_skills_are_the_references() {
    let Some((skills, tokenizer)) = places() else { return };
    let golden = include_str!("../../tests/golden/minilm-skill-tokens.txt");
    let (every, golden) = golden.split_once('\n').unwrap();
    let golden: Vec<&str> = golden.lines().collect();
    let all = texts(&skills);
    let mut sum = Sha256::new();
    all.iter().for_each(|text| sum.update([text.as_bytes(), b"\0"].concat()));
    assert_eq!(hex::encode(sum.finalize()), every, "the skills are not those of the script");

    let model = Texts::open(&tokenizer, 30_522).unwrap();
    let rows: Vec<String> = all
        .par_iter()
        .map(|text| {
            let cut = model.single("", text, 256).unwrap().ids;
            let uncut = model.single("", text, usize::MAX).unwrap().ids;
            assert_eq!(model.seen("", text, 256).unwrap().tokens, uncut.len());
            format!("{} {} {}", uncut.len(), digest(&cut), digest(&uncut))
        })
        .collect();
    assert_eq!(rows.len(), 1000);
    for (i, (row, golden)) in rows.iter().zip(&golden).enumerate() {
        assert_eq!(row, golden, "skill {i}: {}", &all[i][..all[i].floor_char_boundary(60)]);
    }
}
