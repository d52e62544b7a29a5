//! The order of candidates with equal scores.

use std::{cmp::Reverse, fmt, str::FromStr, sync::Arc};

use sha2::{Digest as _, Sha256};

use crate::{pool::CandidateId, pool::DocIx, pool::Pool, ranking::Hit, run::QueryId};

/// How candidates with equal scores are ordered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TieRule {
    /// By `u64_be(SHA-256(query id, 0x00, candidate id)[..8])` descending, then by
    /// candidate id bytes ascending. Says nothing of either id.
    #[default]
    Hash,
    /// By candidate id bytes ascending.
    IdAsc,
    /// By candidate id bytes descending, as `trec_eval` reads a run.
    Trec,
}

/// One query's order of ties, made by the runner. Methods pass it on and can't look inside:
/// it holds the query id and the candidate ids, and shows neither.
#[derive(Clone)]
pub struct TieKeys {
    rule: TieRule,
    query: Sha256,
    ids: Arc<[CandidateId]>,
}

/// A tie rule's name cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a tie rule; expected `hash`, `id-asc` or `trec`")]
pub struct TieRuleError(String);

impl TieKeys {
    /// The keys of `query` over `pool`.
    pub fn new(rule: TieRule, query: &QueryId, pool: &Pool) -> TieKeys {
        let mut hash = Sha256::new();
        hash.update(query.as_str().as_bytes());
        hash.update([0u8]);
        TieKeys { rule, query: hash, ids: Arc::clone(pool.ids()) }
    }

    /// Puts `hits`, whose scores are equal, in order.
    pub(crate) fn sort(&self, hits: &mut [Hit]) {
        let id = |hit: &Hit| &self.ids[hit.doc.as_usize()];
        match self.rule {
            TieRule::Hash => {
                hits.sort_by_cached_key(|hit| (Reverse(self.key(hit.doc)), id(hit).clone()));
            }
            TieRule::IdAsc => hits.sort_unstable_by(|a, b| id(a).cmp(id(b))),
            TieRule::Trec => hits.sort_unstable_by(|a, b| id(b).cmp(id(a))),
        }
    }

    fn key(&self, doc: DocIx) -> u64 {
        let mut hash = self.query.clone();
        hash.update(self.ids[doc.as_usize()].as_str().as_bytes());
        let digest = hash.finalize();
        digest.iter().take(8).fold(0u64, |key, &byte| key << 8 | u64::from(byte))
    }
}

impl fmt::Debug for TieKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TieKeys")
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TieRule::Hash => "hash",
            TieRule::IdAsc => "id-asc",
            TieRule::Trec => "trec",
        })
    }
}

impl FromStr for TieRule {
    type Err = TieRuleError;

    fn from_str(s: &str) -> Result<TieRule, TieRuleError> {
        match s {
            "hash" => Ok(TieRule::Hash),
            "id-asc" => Ok(TieRule::IdAsc),
            "trec" => Ok(TieRule::Trec),
            _ => Err(TieRuleError(s.to_owned())),
        }
    }
}
