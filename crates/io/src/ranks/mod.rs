//! Rank files: the leaderboard's TSV, one row for each candidate kept.
//!
//! The header is exactly `method_id query_case_id candidate_pool_id rank candidate_id score`.
//! `rank` is authoritative; the order of the rows is irrelevant, and `score` is recorded only.

mod read;
mod write;

use cleanhit_core::{Depth, Rankings};

pub use read::{read_rank_set, read_ranks};
pub use write::write_ranks;

use crate::files::FileDigest;

/// The columns, in order.
pub(crate) const COLUMNS: [&str; 6] =
    ["method_id", "query_case_id", "candidate_pool_id", "rank", "candidate_id", "score"];

/// Rows a submission has for each query, where the pool has as many.
pub const SUBMISSION_DEPTH: u32 = 20;

/// How many rows a query must have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Expect {
    /// Every query, with exactly `min(20, pool size)` rows.
    Submission,
    /// Every query, with exactly `min(depth, pool size)` rows.
    Depth(Depth),
    /// Any number of rows for any of the queries. The depth is that of the longest ranking, and
    /// queries without rows and rankings that are shorter are listed in the warnings.
    Any,
}

/// A rank file, checked against its benchmark.
#[derive(Clone, Debug)]
pub struct RankFile {
    /// The one method the rows are of.
    pub method_id: String,
    /// The rankings, in the order of the ranks.
    pub rankings: Rankings,
    /// SHA-256 of the file.
    pub sha256: String,
    /// What is odd and harmless.
    pub warnings: Vec<String>,
}

/// Rank files of one method, one for each pool or all in one.
#[derive(Clone, Debug)]
pub struct RankSet {
    /// The one method the rows are of.
    pub method_id: String,
    /// The rankings, in the order of the ranks.
    pub rankings: Rankings,
    /// The files, in the order given.
    pub files: Vec<FileDigest>,
    /// What is odd and harmless.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests;
