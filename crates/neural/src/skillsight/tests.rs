//! SkillSight against numpy, and the laws of its steps.

use std::{collections::HashMap, sync::Arc};

use cleanhit_core::{Candidate, Pool, Query, TieRule, contract};
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::testing::Toy;

/// Made by `bench/skillsight_golden.py`.
#[derive(Deserialize)]
struct Golden {
    beta: f64,
    top: usize,
    texts: Vec<String>,
    documents: Vec<Vec<f32>>,
    queries: Vec<String>,
    asked: Vec<Vec<f32>>,
    generic: Vec<String>,
    rank: usize,
    projected: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
}

/// The golden file's vectors.
struct Recorded(HashMap<(Role, String), Vec<f32>>);

impl EmbeddingModel for Recorded {
    fn dim(&self) -> usize {
        24
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let row = |text: &&str| self.0[&(role, (*text).to_owned())].clone();
        Ok(Embeddings::new(24, texts.iter().flat_map(row).collect())?)
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../tests/golden/skillsight.json")).unwrap()
}

fn pool(texts: &[String]) -> Pool {
    let candidates = texts.iter().enumerate().map(|(i, text)| Candidate {
        id: format!("d{i}").as_str().into(),
        text: text.clone(),
        name: None,
    });
    Pool::new("test", candidates.collect()).unwrap()
}

fn build<M: EmbeddingModel>(model: M, corpus: &Corpus, params: SkillSightParams) -> SkillSight<M> {
    let documents = model.embed(Role::Document, &corpus.texts()).unwrap();
    SkillSight::new(model, corpus, documents, params).unwrap()
}

const PARAMS: SkillSightParams = SkillSightParams { beta: 1.0, top: 300 };

#[test]
fn every_step_is_that_of_numpy() {
    let golden = golden();
    let rows = |role, texts: &[String], rows: &[Vec<f32>]| -> Vec<_> {
        texts.iter().zip(rows).map(|(text, row)| ((role, text.clone()), row.clone())).collect()
    };
    let mut vectors: HashMap<_, _> =
        rows(Role::Document, &golden.texts, &golden.documents).into_iter().collect();
    vectors.extend(rows(Role::Query, &golden.queries, &golden.asked));
    let pool = pool(&golden.texts);
    let params = SkillSightParams { beta: golden.beta, top: golden.top };
    let method = build(Recorded(vectors), pool.corpus(), params);
    assert_eq!(method.lexicon.generic_words(), golden.generic);
    assert_eq!((method.generic_words(), method.rank()), (golden.generic.len(), golden.rank));
    let position = |i: usize| pool.position(&format!("d{i}")).unwrap().as_usize();
    let queries: Vec<&str> = golden.queries.iter().map(String::as_str).collect();
    let asked = method.model.embed(Role::Query, &queries).unwrap().normalized();
    let projected = method.documents.products(&method.projection.apply(&asked).unwrap());
    let depth = Depth::of_len(pool.len());
    for (q, query) in golden.queries.iter().enumerate() {
        let query = Query { id: format!("q{q}").as_str().into(), text: query.clone() };
        let batch = [(query.as_text(), TieKeys::new(TieRule::Hash, &query.id, &pool))];
        let ranking = method.retrieve(&batch, depth).unwrap().remove(0);
        let mut scores = vec![f64::NAN; pool.len()];
        ranking.hits().iter().for_each(|hit| scores[hit.doc.as_usize()] = hit.score.get());
        for i in 0..pool.len() {
            let dense = f64::from(projected[q * pool.len() + position(i)]);
            assert!(
                (dense - golden.projected[q][i]).abs() < 1e-6,
                "query {q}, document {i}: {dense}"
            );
            let score = scores[position(i)];
            assert!((score - golden.scores[q][i]).abs() < 1e-6, "query {q}, document {i}: {score}");
        }
    }
}

#[test]
fn skillsight_keeps_the_contract() {
    let texts: Vec<String> = (0..90)
        .map(|i| format!("use the skill steps topic_{} word{} word{}", i % 5, i % 17, i % 23))
        .chain(["".into(), "use".into(), "use".into()])
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let index = |corpus: &Arc<Corpus>| {
        Ok(build(Toy::new(16), corpus, SkillSightParams { top: 10, ..PARAMS }))
    };
    contract::check_retriever(index, &["word3 topic_2", "", "use skill", "word16 word22"], &texts)
        .unwrap();
}

#[test]
fn a_pool_of_one_or_of_empty_texts_ranks() {
    for texts in [vec!["one skill".to_owned()], vec![String::new(), String::new(), String::new()]] {
        let pool = pool(&texts);
        let method = build(Toy::new(8), pool.corpus(), PARAMS);
        assert_eq!((method.generic_words(), method.rank()), (0, 1));
        let query = Query { id: "q".into(), text: "one skill".into() };
        let batch = [(query.as_text(), TieKeys::new(TieRule::Hash, &query.id, &pool))];
        let ranking = method.retrieve(&batch, Depth::of_len(9)).unwrap().remove(0);
        assert_eq!(ranking.hits().len(), pool.len());
    }
}

#[test]
fn words_never_lift_a_candidate_from_below_the_top() {
    let texts: Vec<String> = (0..60).map(|i| format!("skill word{i} word{}", i % 7)).collect();
    let pool = pool(&texts);
    let query = Query { id: "q".into(), text: "word5 word50".into() };
    let rank = |top| {
        let method = build(Toy::new(16), pool.corpus(), SkillSightParams { top, ..PARAMS });
        let batch = [(query.as_text(), TieKeys::new(TieRule::Hash, &query.id, &pool))];
        method.retrieve(&batch, Depth::of_len(60)).unwrap().remove(0)
    };
    let best = |top: usize, n: usize| {
        let mut docs: Vec<_> = rank(top).hits().iter().take(n).map(|hit| hit.doc).collect();
        docs.sort_unstable();
        docs
    };
    // With one candidate to help, the order is that of the projected vectors.
    assert_eq!(best(10, 10), best(1, 10));
    assert_ne!(rank(60), rank(1));
}

#[test]
fn parameters_out_of_range_are_named() {
    let err = |beta, top| SkillSightParams { beta, top }.check().unwrap_err().to_string();
    assert_eq!(err(-1.0, 1), "field `beta`: -1; expected a number from 0");
    assert_eq!(err(f64::NAN, 1), "field `beta`: NaN; expected a number from 0");
    assert_eq!(err(1.0, 0), "field `top`: 0; expected at least 1");
    let pool = pool(&["a".into(), "b".into()]);
    let one = Toy::new(4).embed(Role::Document, &["a"]).unwrap();
    let err = SkillSight::new(Toy::new(4), pool.corpus(), one, PARAMS).unwrap_err();
    assert_eq!(err.to_string(), "1 vectors for 2 documents");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// What is projected twice is projected once, and the common directions are gone.
    #[test]
    fn projections_are_projections(texts in prop::collection::vec("([a-e]{2} ){1,6}", 3..30)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = Toy::new(12).embed(Role::Document, &texts).unwrap();
        let projection = Projection::new(&vectors, &[]).unwrap();
        prop_assert_eq!(projection.rank(), 1);
        let once = projection.apply(&vectors).unwrap();
        let twice = projection.apply(&once).unwrap();
        for (a, b) in once.values().iter().zip(twice.values()) {
            prop_assert!((a - b).abs() < 1e-6);
        }
        // One group, so the one direction is the mean; what is left of the mean is nothing.
        for column in 0..12 {
            let mean: f32 = (0..once.len()).map(|row| once.row(row)[column]).sum();
            prop_assert!(mean.abs() < 1e-5 * texts.len() as f32, "{}", mean);
        }
    }

    /// Scores never fall below the projected ones, and no vector grows by being projected.
    #[test]
    fn help_is_never_negative(texts in prop::collection::vec("([a-f]{2} ){0,8}", 2..40), query in "([a-f]{2} ){0,5}") {
        let pool = pool(&texts);
        let method = build(Toy::new(10), pool.corpus(), PARAMS);
        let query = Query { id: "q".into(), text: query };
        let ties = TieKeys::new(TieRule::Hash, &query.id, &pool);
        let asked = method.model.embed(Role::Query, &[query.text.as_str()]).unwrap();
        let projected = method.documents.products(&method.projection.apply(&asked).unwrap());
        prop_assert!(projected.iter().all(|score| score.abs() <= 1.0 + 1e-5));
        let helped = method.helped(&query.text, &projected, &ties).unwrap();
        for (score, projected) in helped.iter().zip(&projected) {
            prop_assert!(f64::from(*projected) <= *score);
        }
    }

    /// A query of stop words and unknown words gets no help at all.
    #[test]
    fn unknown_words_do_not_help(texts in prop::collection::vec("([a-f]{2} ){0,8}", 2..40)) {
        let pool = pool(&texts);
        let method = build(Toy::new(10), pool.corpus(), PARAMS);
        prop_assert!(method.lexicon.overlap("the of zzzz", 1.0).iter().all(|share| *share <= 0.0));
    }
}
