//! What holds of every model: a vector or a score depends on nothing but its own text or pair.

use cleanhit_core::{EmbeddingModel, Role, contract::check_scorer};
use cleanhit_neural::{CrossEncoder, CrossSpec, Device, EmbedderSpec};

use crate::support::{golden, json, open, refs, texts};

const MODELS: [&str; 7] = [
    "tiny-bert",
    "tiny-xlm-roberta",
    "tiny-mpnet",
    "tiny-modern-bert",
    "tiny-qwen3",
    "tiny-static",
    "tiny-model2vec",
];

#[derive(serde::Deserialize)]
struct Embeds {
    spec: EmbedderSpec,
}

#[derive(serde::Deserialize)]
struct Scores {
    spec: CrossSpec,
    queries: Vec<String>,
}

/// Bit for bit: alone, twice the same, with shorter and longer texts, in reversed order, and
/// by one thread or four.
#[test]
fn a_vector_does_not_depend_on_its_batch() {
    let texts = texts().some;
    let texts = refs(&texts);
    for name in MODELS {
        let model = open(name, &json::<Embeds>(&format!("{name}.json")).spec);
        let all = model.embed(Role::Document, &texts).unwrap();
        let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        let reversed: Vec<&str> = texts.iter().rev().copied().collect();
        let backwards = model.embed(Role::Document, &reversed).unwrap();
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| model.embed(Role::Document, &texts).unwrap());
            assert_eq!(bits(again.values()), bits(all.values()), "{name}, {threads} threads");
        }
        for (i, text) in texts.iter().enumerate() {
            let alone = model.embed(Role::Document, &[text]).unwrap();
            assert_eq!(bits(alone.row(0)), bits(all.row(i)), "{name}, text {i} alone");
            let equal = model.embed(Role::Document, &[text, text, text]).unwrap();
            assert_eq!(bits(equal.row(1)), bits(all.row(i)), "{name}, text {i} with its like");
            assert_eq!(
                bits(backwards.row(texts.len() - 1 - i)),
                bits(all.row(i)),
                "{name}, text {i}"
            );
        }
        assert_eq!(model.embed(Role::Query, &[]).unwrap().len(), 0, "{name}");
    }
}

#[test]
fn cross_encoders_keep_the_contract() {
    let texts = texts().some;
    let texts: Vec<&str> = texts.iter().map(String::as_str).step_by(4).collect();
    for name in ["tiny-bert-cross", "tiny-xlm-roberta-cross", "tiny-modern-bert-cross"] {
        let scores: Scores = json(&format!("{name}.json"));
        let model = CrossEncoder::open(&golden(name), &scores.spec, &Device::cpu()).unwrap();
        check_scorer(&model, &refs(&scores.queries), &texts).unwrap();
    }
}

/// What decides the vectors decides the digest.
#[test]
fn a_digest_is_that_of_the_model_and_its_spec() {
    let spec = json::<Embeds>("tiny-bert.json").spec;
    let digest = |spec: &EmbedderSpec| open("tiny-bert", spec).digest().to_owned();
    assert_eq!(digest(&spec), digest(&spec));
    let other = EmbedderSpec { max_tokens: spec.max_tokens - 1, ..spec.clone() };
    assert_ne!(digest(&spec), digest(&other));
    let mpnet = open("tiny-mpnet", &json::<Embeds>("tiny-mpnet.json").spec);
    assert_ne!(mpnet.digest(), digest(&spec));
}

/// Of a long text only the beginning is read, and that is all that counts.
#[test]
fn a_text_of_ten_megabytes_has_the_vector_of_its_beginning() {
    let spec = json::<Embeds>("tiny-bert.json").spec;
    let model = open("tiny-bert", &spec);
    let texts = texts().some;
    let beginning = texts.last().unwrap();
    let long = beginning.clone() + &" word".repeat(2_000_000);
    let vectors = model.embed(Role::Document, &[beginning, &long]).unwrap();
    assert!(spec.max_tokens < model.truncation(Role::Document, &[beginning]).unwrap()[0].tokens);
    assert_eq!(vectors.row(0), vectors.row(1));
    // Without a blank there is nowhere to part it.
    let ids = |n| model.token_ids(Role::Document, &[&"x".repeat(n)]).unwrap();
    assert_eq!(ids(100_000), ids(1000));
}
