//! What every method must keep to, as a test that built-ins and plug-ins share.

use std::sync::Arc;

use crate::{
    pool::{Candidate, Corpus, Pool, PoolError},
    ranking::{Depth, Ranking},
    run::{Query, QueryText},
    scorer::{BoxError, Retriever, Scorer},
    ties::{TieKeys, TieRule},
};

/// How a method broke the contract.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// The method returned an error.
    #[error("query {query}: the method failed")]
    Failed {
        /// Position of the query among those given.
        query: usize,
        /// What the method said.
        source: BoxError,
    },
    /// Not one score for each text.
    #[error("query {query}: expected {expected} scores, got {got}")]
    Count {
        /// Position of the query among those given.
        query: usize,
        /// Texts given.
        expected: usize,
        /// Scores or hits returned.
        got: usize,
    },
    /// A score is NaN or infinite.
    #[error("query {query}, text {text}: score {value} is not finite")]
    NotFinite {
        /// Position of the query among those given.
        query: usize,
        /// Position of the text among those given.
        text: usize,
        /// What the method said.
        value: f64,
    },
    /// The result depends on what else was in the batch.
    #[error("query {query}: the result differs {how}")]
    Batch {
        /// Position of the query among those given.
        query: usize,
        /// Which batch it differs in.
        how: &'static str,
    },
    /// The texts make no pool.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// Checks a scorer on `queries` and `texts`: one finite score for each text, and the same
/// score alone, in a batch of two, in the whole batch and in the reversed batch.
///
/// # Errors
///
/// The first breach.
pub fn check_scorer(
    scorer: &dyn Scorer,
    queries: &[&str],
    texts: &[&str],
) -> Result<(), ContractError> {
    for (query, &q) in queries.iter().enumerate() {
        let score = |texts: &[&str]| -> Result<Vec<f64>, ContractError> {
            let scores = scorer
                .score(QueryText::new(q), texts)
                .map_err(|source| ContractError::Failed { query, source })?;
            if scores.len() != texts.len() {
                let (expected, got) = (texts.len(), scores.len());
                return Err(ContractError::Count { query, expected, got });
            }
            Ok(scores)
        };
        let all = score(texts)?;
        if let Some((text, &value)) = all.iter().enumerate().find(|(_, s)| !s.is_finite()) {
            return Err(ContractError::NotFinite { query, text, value });
        }
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        let mut reversed = texts.to_vec();
        reversed.reverse();
        if !score(&reversed)?.iter().rev().zip(&all).all(|(&a, &b)| same(a, b)) {
            return Err(ContractError::Batch { query, how: "in the reversed batch" });
        }
        for (i, &text) in texts.iter().enumerate() {
            if !same(score(&[text])?[0], all[i]) {
                return Err(ContractError::Batch { query, how: "alone" });
            }
            if !same(score(&[text, texts[texts.len() - 1 - i]])?[0], all[i]) {
                return Err(ContractError::Batch { query, how: "in a batch of two" });
            }
        }
    }
    Ok(())
}

/// Checks a retriever built by `index` on `queries` and `texts`: every candidate has a place,
/// a smaller depth is a prefix of a larger, and a query gets the same ranking alone, with the
/// others, in reversed order, and over a pool whose file was in reversed order.
///
/// # Errors
///
/// The first breach.
pub fn check_retriever<R: Retriever>(
    index: impl Fn(&Arc<Corpus>) -> Result<R, BoxError>,
    queries: &[&str],
    texts: &[&str],
) -> Result<(), ContractError> {
    let pool = |reversed: bool| -> Result<Pool, PoolError> {
        let ids = texts.iter().enumerate().map(|(i, text)| Candidate {
            id: format!("c{i}").as_str().into(),
            text: (*text).to_owned(),
            name: None,
        });
        let mut candidates: Vec<Candidate> = ids.collect();
        if reversed {
            candidates.reverse();
        }
        Pool::new("contract", candidates)
    };
    let (pool, reversed) = (pool(false)?, pool(true)?);
    let failed = |query: usize| move |source: BoxError| ContractError::Failed { query, source };
    let retriever = index(pool.corpus()).map_err(failed(0))?;
    let again = index(reversed.corpus()).map_err(failed(0))?;
    let stored: Vec<Query> = queries
        .iter()
        .enumerate()
        .map(|(i, &text)| Query { id: format!("q{i}").as_str().into(), text: text.to_owned() })
        .collect();
    let batch: Vec<(QueryText<'_>, TieKeys)> =
        stored.iter().map(|q| (q.as_text(), TieKeys::new(TieRule::Hash, &q.id, &pool))).collect();
    let full = Depth::of_len(pool.len());
    let ask = |r: &R,
               batch: &[(QueryText<'_>, TieKeys)],
               depth: Depth|
     -> Result<Vec<Ranking>, ContractError> {
        let rankings = r.retrieve(batch, depth).map_err(failed(0))?;
        match rankings.len() == batch.len() {
            true => Ok(rankings),
            false => {
                Err(ContractError::Count { query: 0, expected: batch.len(), got: rankings.len() })
            }
        }
    };
    let all = ask(&retriever, &batch, full)?;
    let elsewhere = ask(&again, &batch, full)?;
    let backwards: Vec<_> = batch.iter().rev().cloned().collect();
    let mut backwards = ask(&retriever, &backwards, full)?;
    backwards.reverse();
    for (query, ranking) in all.iter().enumerate() {
        let got = ranking.hits().len();
        if got != pool.len() {
            return Err(ContractError::Count { query, expected: pool.len(), got });
        }
        let breach = |how| Err(ContractError::Batch { query, how });
        if &backwards[query] != ranking {
            return breach("in the reversed batch");
        }
        if &elsewhere[query] != ranking {
            return breach("over a pool read in reversed order");
        }
        let one = std::slice::from_ref(&batch[query]);
        if &ask(&retriever, one, full)?[0] != ranking {
            return breach("alone");
        }
        let half = Depth::of_len(pool.len().div_ceil(2));
        if ask(&retriever, one, half)?[0] != ranking.clone().truncate(half) {
            return breach("at a smaller depth");
        }
    }
    Ok(())
}
