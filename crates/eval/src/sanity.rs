//! The two sanity methods that are made of labels: the best and the worst that there can be.
//!
//! A measure that puts anything above the oracle, or anything below the anti-oracle, is a bug.

use std::{collections::BTreeMap, fmt, str::FromStr};

use cleanhit_core::{Depth, QueryId, Ranking, Rankings, TieKeys, TieRule};
use cleanhit_io::Benchmark;
use rayon::prelude::*;

use crate::labels::{Case, Cases};

/// Which of the two.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sanity {
    /// The helpful skill scores 1, its sibling −1, every other candidate 0.
    Oracle,
    /// The sibling scores 1, the helpful skill −1, every other candidate 0.
    AntiOracle,
}

/// A name that is neither.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not made of labels; expected `oracle` or `anti_oracle`")]
pub struct SanityError(String);

/// The rankings of a sanity method over every pool, to a depth or in full.
///
/// # Panics
///
/// If `cases` label another benchmark.
pub fn sanity(
    kind: Sanity,
    cases: &Cases,
    bench: &Benchmark,
    depth: Option<Depth>,
    ties: TieRule,
) -> Rankings {
    assert_eq!(cases.gate_sha256(), bench.gate_sha256, "the benchmark's own cases");
    let largest = bench.pools.iter().map(|pool| pool.pool.len()).max();
    let depth = depth.unwrap_or_else(|| Depth::of_len(largest.unwrap_or(1)));
    let rank = |case: &Case| -> (QueryId, Ranking) {
        let (first, last) = match kind {
            Sanity::Oracle => (case.helpful, case.sibling),
            Sanity::AntiOracle => (case.sibling, case.helpful),
        };
        let pool = &bench.pools[case.pool].pool;
        let mut scores = vec![0.0; pool.len()];
        scores[first.as_usize()] = 1.0;
        scores[last.as_usize()] = -1.0;
        let keys = TieKeys::new(ties, &case.query, pool);
        // Only NaN and infinities are refused.
        let ranking = Ranking::of_scores(&scores, depth, &keys).unwrap_or_default();
        (case.query.clone(), ranking)
    };
    let by_query: BTreeMap<QueryId, Ranking> = cases.as_slice().par_iter().map(rank).collect();
    Rankings::new(depth, by_query)
}

impl Sanity {
    /// The name of the kind, as cards write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Sanity::Oracle => "oracle",
            Sanity::AntiOracle => "anti_oracle",
        }
    }
}

impl fmt::Display for Sanity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Sanity {
    type Err = SanityError;

    fn from_str(s: &str) -> Result<Sanity, SanityError> {
        match s {
            "oracle" => Ok(Sanity::Oracle),
            "anti_oracle" => Ok(Sanity::AntiOracle),
            _ => Err(SanityError(s.to_owned())),
        }
    }
}
