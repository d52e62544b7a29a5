//! A BM25 run over 9,816 real skills that another program made
//! (`data/skill_retrieval/skillsbench/runs/bm25_full.run.gz`).

use std::{collections::BTreeMap, io::Read as _};

use cleanhit_core::TieRule;
use cleanhit_lexical::{Analyser, Bm25Exact, Bm25Params};
use serde_json::Value;

use crate::data::{close, ids, pool, ranking, shared, shared_texts};

/// Ids and texts of the skills: name, description and body.
fn skills(packed: &[u8]) -> Vec<(String, String)> {
    let unpacked = zstd::stream::decode_all(packed).unwrap();
    let lines = std::str::from_utf8(&unpacked).unwrap().lines();
    let skill = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        let text = format!("{} {} {}", field("name"), field("description"), field("body"));
        (field("id").to_owned(), text)
    };
    lines.map(skill).collect()
}

#[test]
fn top_hundred_of_real_skills_are_the_recorded_ones() {
    let Some(packed) = shared("data/skills_pool/skills.jsonl.zst") else { return };
    let folder = "data/skill_retrieval/skillsbench";
    let run = shared(&format!("{folder}/runs/bm25_full.run.gz")).unwrap();
    let mut recorded = String::new();
    flate2::read::GzDecoder::new(run.as_slice()).read_to_string(&mut recorded).unwrap();
    let mut expected: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for line in recorded.lines() {
        let [query, _, id, _, score, _] = line.split(' ').collect::<Vec<&str>>()[..] else {
            panic!("not a run line: {line}");
        };
        expected.entry(query).or_default().push((id, score.parse().unwrap()));
    }

    let skills = skills(&packed);
    let pool = pool(skills.iter().map(|(id, text)| (id.as_str(), text.as_str())));
    let params = Bm25Params { analyser: Analyser::Ascii, ..Bm25Params::default() };
    let index = Bm25Exact::new(pool.corpus(), params).unwrap();
    let queries = shared_texts(&format!("{folder}/queries.jsonl"), "query_id", "text").unwrap();
    assert_eq!(queries.len(), expected.len());
    let mut ranks = 0;
    for (query, text) in &queries {
        let expected = &expected[query.as_str()];
        let found = ids(&ranking(&index, &pool, text, expected.len(), TieRule::IdAsc), &pool);
        let factor = expected[0].1 / found[0].1;
        for ((id, score), &(expected_id, expected_score)) in found.iter().zip(expected) {
            assert_eq!(id, expected_id, "{query}");
            // The run has six decimals.
            assert!(close(score * factor, expected_score, 1e-6), "{query} {id} {score}");
            ranks += 1;
        }
    }
    eprintln!("{ranks} of {ranks} ranks of {} queries agree", queries.len());
}
