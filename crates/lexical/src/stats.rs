//! What a receipt says about an index.

/// What was indexed, and what was not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct IndexStats {
    /// Candidates in the pool.
    pub documents: usize,
    /// Candidates without a single term: they score 0 for every query.
    pub empty_documents: usize,
    /// Different terms.
    pub vocabulary: usize,
    /// Tokens indexed.
    pub tokens: u64,
    /// Tokens that the analyser dropped as too long.
    pub dropped_tokens: u64,
}
