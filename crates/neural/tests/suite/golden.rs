//! Tiny seeded models of each architecture against the reference implementations.

use cleanhit_core::{QueryText, Role, Scorer};
use cleanhit_neural::{
    CrossEncoder, CrossSpec, Device, Embedder, EmbedderSpec, PaddingSide, Prompts,
};

use crate::support::{close, compare, embed, golden, json, open, refs, texts};

const ENCODERS: [&str; 5] =
    ["tiny-bert", "tiny-xlm-roberta", "tiny-mpnet", "tiny-modern-bert", "tiny-qwen3"];
const CROSS: [&str; 3] = ["tiny-bert-cross", "tiny-xlm-roberta-cross", "tiny-modern-bert-cross"];

/// What the reference gave: for each text its token ids and its vector.
#[derive(serde::Deserialize)]
struct Side {
    ids: Vec<Vec<u32>>,
    vectors: Vec<Vec<f32>>,
}

#[derive(serde::Deserialize)]
struct Golden {
    spec: EmbedderSpec,
    query: Side,
    document: Side,
}

impl Golden {
    fn of(name: &str) -> Golden {
        json(&format!("{name}.json"))
    }

    fn sides(&self) -> [(Role, &Side); 2] {
        [(Role::Query, &self.query), (Role::Document, &self.document)]
    }
}

fn rows(vectors: &[Vec<f32>]) -> impl ExactSizeIterator<Item = &[f32]> {
    vectors.iter().map(Vec::as_slice)
}

#[test]
fn vectors_are_the_references() {
    let texts = texts().some;
    for name in ENCODERS {
        let golden = Golden::of(name);
        let model = open(name, &golden.spec);
        for (role, side) in golden.sides() {
            close(&format!("{name} {role:?}"), &embed(&model, role, &texts), rows(&side.vectors));
        }
    }
}

#[test]
fn the_tensors_of_accelerators_give_the_same_vectors() {
    let texts = texts().some;
    for name in ENCODERS {
        let golden = Golden::of(name);
        let model = Embedder::open_reference(&crate::support::golden(name), &golden.spec).unwrap();
        for (role, side) in golden.sides() {
            let what = format!("{name} {role:?}, tensors");
            close(&what, &embed(&model, role, &texts), rows(&side.vectors));
        }
    }
}

#[test]
fn token_ids_are_the_references() {
    let texts = texts().some;
    for name in ENCODERS {
        let golden = Golden::of(name);
        let model = open(name, &golden.spec);
        for (role, side) in golden.sides() {
            assert_eq!(model.token_ids(role, &refs(&texts)).unwrap(), side.ids, "{name} {role:?}");
        }
    }
}

/// The tiny models' tokenizers carry a limit of 8 tokens and a padding to 8.
#[test]
fn what_a_tokenizer_file_says_of_truncation_and_padding_does_not_count() {
    let texts = texts().some;
    for name in ENCODERS {
        let golden = Golden::of(name);
        let model = open(name, &golden.spec);
        let seen = model.truncation(Role::Document, &refs(&texts)).unwrap();
        let kept: Vec<usize> = seen.iter().map(|t| t.kept).collect();
        let wanted: Vec<usize> = golden.document.ids.iter().map(Vec::len).collect();
        assert_eq!(kept, wanted, "{name}");
        assert!(seen.iter().all(|t| t.kept == t.tokens.min(golden.spec.max_tokens)), "{name}");
        let limit = golden.spec.max_tokens;
        assert!(kept.contains(&limit) && kept.iter().any(|&n| n < limit), "{name}");
    }
}

/// Each of these is one way to be wrong; each must leave the reference's vectors.
#[test]
fn prefixes_and_limits_show_in_the_vectors() {
    let texts = texts().some;
    let differs = |name: &str, spec: &EmbedderSpec| {
        let golden = Golden::of(name);
        let got = embed(&open(name, spec), Role::Query, &texts);
        1e-3 < compare(&got, rows(&golden.query.vectors)).0
    };
    for name in ["tiny-bert", "tiny-qwen3"] {
        let spec = Golden::of(name).spec;
        let other = EmbedderSpec {
            query_prefix: spec.query_prefix.trim_end().to_owned() + "?",
            prompts: Prompts::Replaced,
            ..spec.clone()
        };
        assert!(differs(name, &other), "{name}: the prefix");
        let none = EmbedderSpec { query_prefix: String::new(), prompts: Prompts::Replaced, ..spec };
        assert!(differs(name, &none), "{name}: no prefix");
    }
    for name in ENCODERS {
        let spec = Golden::of(name).spec;
        let shorter = EmbedderSpec { max_tokens: spec.max_tokens - 1, ..spec };
        assert!(differs(name, &shorter), "{name}: the limit");
    }
}

/// The reference padded on the left, in batches of mixed lengths, and `bench/golden_neural.py`
/// checks that padding on the right would have given other vectors.
#[test]
fn last_tokens_are_those_of_the_text_and_not_of_its_padding() {
    let golden = Golden::of("tiny-qwen3");
    assert_eq!(golden.spec.padding_side, PaddingSide::Left);
    let model = open("tiny-qwen3", &golden.spec);
    let texts = texts().some;
    let lengths: Vec<usize> = golden.query.ids.iter().map(Vec::len).collect();
    assert!(lengths.iter().min() < lengths.iter().max());
    close("left padding", &embed(&model, Role::Query, &texts), rows(&golden.query.vectors));
    assert!(golden.query.ids.iter().all(|ids| ids.last() == Some(&0)), "the end token is last");
}

#[derive(serde::Deserialize)]
struct Pairs {
    spec: CrossSpec,
    queries: Vec<String>,
    scores: Vec<Vec<f64>>,
    last_ids: Vec<Vec<u32>>,
}

#[test]
fn logits_are_the_references() {
    let texts = texts().some;
    for name in CROSS {
        let pairs: Pairs = json(&format!("{name}.json"));
        let model = CrossEncoder::open(&golden(name), &pairs.spec, &Device::cpu()).unwrap();
        let mut difference = 0.0f64;
        for (query, wanted) in pairs.queries.iter().zip(&pairs.scores) {
            let got = model.score(QueryText::new(query), &refs(&texts)).unwrap();
            assert_eq!(got.len(), wanted.len());
            let far = got.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            difference = difference.max(far);
        }
        println!("{name}: largest difference {difference:.1e}");
        assert!(difference <= 1e-4, "{name}: a logit differs by {difference}");
    }
}

#[test]
fn pairs_are_cut_on_the_documents_side() {
    let texts = texts().some;
    let long = texts.last().unwrap();
    for name in CROSS {
        let pairs: Pairs = json(&format!("{name}.json"));
        let model = CrossEncoder::open(&golden(name), &pairs.spec, &Device::cpu()).unwrap();
        for (query, wanted) in pairs.queries.iter().zip(&pairs.last_ids) {
            assert_eq!(&model.token_ids(query, &[long]).unwrap()[0], wanted, "{name}");
        }
        // A query beyond its own limit leaves the document at least one token.
        let query = texts[texts.len() - 2].as_str();
        let ids = model.token_ids(query, &[long]).unwrap();
        assert_eq!(ids[0].len(), pairs.spec.max_tokens);
        let seen = model.truncation(query, &["", long]).unwrap();
        assert!(seen[0].kept < seen[1].kept && seen[1].kept < seen[1].tokens, "{name}");
    }
}

#[derive(serde::Deserialize)]
struct Table {
    spec: EmbedderSpec,
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

#[test]
fn tables_of_token_vectors_are_averaged_as_the_references_do() {
    for name in ["tiny-static", "tiny-model2vec"] {
        let table: Table = json(&format!("{name}.json"));
        let model = open(name, &table.spec);
        let got = embed(&model, Role::Document, &table.texts);
        close(name, &got, rows(&table.vectors));
    }
}
