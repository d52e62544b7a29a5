//! What models see of pairs, counted while they are scored.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use cleanhit_core::{BoxError, QueryText, Scorer};
use cleanhit_neural::{CrossEncoder, NeuralError, Truncation, YesNo};

use super::notes::Cut;

/// What was cut of the pairs scored so far.
#[derive(Debug, Default)]
pub(crate) struct PairCounts {
    pairs: AtomicUsize,
    cut: AtomicUsize,
    tokens: AtomicU64,
    tokens_lost: AtomicU64,
    /// Queries whose candidates, at least two, all had one score.
    flat: AtomicUsize,
}

/// Says how much it sees of pairs.
pub(super) trait Sees: Send + Sync {
    fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError>;
}

/// A scorer of which count is kept: of what is cut, and of queries whose scores say nothing.
pub(super) struct Counted<M, S> {
    pub(super) seen: Arc<M>,
    pub(super) scorer: S,
    pub(super) counts: Arc<PairCounts>,
}

impl PairCounts {
    pub(crate) fn cut(&self) -> Cut {
        Cut {
            texts: self.pairs.load(Ordering::Relaxed),
            cut: self.cut.load(Ordering::Relaxed),
            tokens: self.tokens.load(Ordering::Relaxed),
            tokens_lost: self.tokens_lost.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn flat(&self) -> usize {
        self.flat.load(Ordering::Relaxed)
    }
}

impl Sees for CrossEncoder {
    fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        CrossEncoder::truncation(self, query, texts)
    }
}

impl Sees for YesNo {
    fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        YesNo::truncation(self, query, texts)
    }
}

impl<M: Sees, S: Scorer> Scorer for Counted<M, S> {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let counts = &self.counts;
        for seen in self.seen.truncation(query.as_str(), texts)? {
            let lost = seen.tokens.saturating_sub(seen.kept);
            counts.pairs.fetch_add(1, Ordering::Relaxed);
            counts.cut.fetch_add(usize::from(0 < lost), Ordering::Relaxed);
            counts.tokens.fetch_add(seen.tokens as u64, Ordering::Relaxed);
            counts.tokens_lost.fetch_add(lost as u64, Ordering::Relaxed);
        }
        let scores = self.scorer.score(query, texts)?;
        let is_flat =
            1 < scores.len() && scores.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
        counts.flat.fetch_add(usize::from(is_flat), Ordering::Relaxed);
        Ok(scores)
    }
}
