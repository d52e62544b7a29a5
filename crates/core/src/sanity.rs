//! Sanity methods that need no labels: a measure that likes one of them is at fault.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::{
    pool::{Corpus, Pool},
    ranking::{Depth, Ranking},
    run::QueryText,
    scorer::{BoxError, Retriever, Scorer, per_query},
    ties::TieKeys,
};

/// Scores every candidate 0: the order is that of the ties.
#[derive(Clone, Copy, Debug)]
pub struct Constant;

/// Longest text first, in characters.
#[derive(Clone, Copy, Debug)]
pub struct ByLength;

/// Scores in `[0, 1)` from a hash of the seed, the query's text and the candidate's.
pub struct Random {
    seed: u64,
    texts: Vec<[u8; 32]>,
}

/// By candidate id bytes ascending: what a method that reads ids would see first.
pub struct IdOrder {
    scores: Vec<f64>,
}

impl Scorer for Constant {
    fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        Ok(vec![0.0; texts.len()])
    }
}

impl Scorer for ByLength {
    fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        Ok(texts.iter().map(|text| text.chars().count() as f64).collect())
    }
}

impl Random {
    /// Digests the corpus once.
    pub fn new(seed: u64, corpus: &Arc<Corpus>) -> Random {
        let texts = corpus.texts().into_iter().map(|text| Sha256::digest(text.as_bytes()).into());
        Random { seed, texts: texts.collect() }
    }
}

impl Retriever for Random {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        per_query(queries, |query, ties| {
            let mut base = Sha256::new();
            base.update(self.seed.to_be_bytes());
            base.update(Sha256::digest(query.as_str().as_bytes()));
            let score = |text: &[u8; 32]| {
                let mut hash = base.clone();
                hash.update(text);
                let bits = hash.finalize().iter().take(8).fold(0u64, |k, &b| k << 8 | u64::from(b));
                (bits >> 11) as f64 / (1u64 << 53) as f64
            };
            let scores: Vec<f64> = self.texts.iter().map(score).collect();
            Ok(Ranking::of_scores(&scores, depth, ties)?)
        })
    }
}

impl IdOrder {
    /// Reads the ids once; keeps only their order.
    pub fn new(pool: &Pool) -> IdOrder {
        let mut docs: Vec<_> = pool.corpus().docs().collect();
        docs.sort_unstable_by_key(|&doc| pool.id(doc).clone());
        let mut scores = vec![0.0; docs.len()];
        for (doc, left) in docs.iter().zip((1..=docs.len()).rev()) {
            scores[doc.as_usize()] = left as f64;
        }
        IdOrder { scores }
    }
}

impl Retriever for IdOrder {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        per_query(queries, |_, ties| Ok(Ranking::of_scores(&self.scores, depth, ties)?))
    }
}
