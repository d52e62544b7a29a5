//! Scores and rankings: one order, enforced by the constructors.

use std::{cmp::Ordering, num::NonZeroU32};

use crate::{pool::DocIx, ties::TieKeys};

/// How many hits a run keeps for each query.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Depth(pub NonZeroU32);

/// The `K` in `Recall@K`. Must not exceed the run's [`Depth`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Cutoff(pub NonZeroU32);

/// A finite score. Higher is better; the scale is the method's own.
///
/// Held as `f64`, so that an `f32` score converts exactly and fusion can't make ties by
/// rounding. `-0.0` is stored as `0.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score(f64);

/// One ranked candidate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hit {
    /// Where the candidate is in its corpus.
    pub doc: DocIx,
    /// How well the method thinks it answers the query.
    pub score: Score,
}

/// Distinct candidates, best first.
///
/// A ranking that is computed is sorted by descending score and, among equal scores, by
/// the query's [`TieKeys`]. A ranking that is read keeps the order it was written in: in a
/// rank file the rank is authoritative. There is no way to append.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ranking(Vec<Hit>);

/// Why scores cannot be ranked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// NaN or infinite.
    #[error("score {value} is not finite")]
    NotFinite {
        /// The candidate, where it is known. The runner adds its id.
        doc: Option<DocIx>,
        /// What the method said.
        value: f64,
    },
    /// The method returned more or fewer scores than it was given texts.
    #[error("expected {expected} scores, one for each text, got {got}")]
    Count {
        /// Texts given.
        expected: usize,
        /// Scores returned.
        got: usize,
    },
}

impl Depth {
    /// The depth as a length.
    pub fn get(self) -> usize {
        self.0.get() as usize
    }

    /// The depth that keeps `len` hits, or 1 for none: a pool is never empty.
    pub fn of_len(len: usize) -> Depth {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Depth(NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN))
    }
}

impl Cutoff {
    /// The cutoff as a length.
    pub fn get(self) -> usize {
        self.0.get() as usize
    }
}

impl Score {
    /// Checks that `value` is finite.
    ///
    /// # Errors
    ///
    /// If it is NaN or infinite.
    pub fn new(value: f64) -> Result<Score, ScoreError> {
        if !value.is_finite() {
            return Err(ScoreError::NotFinite { doc: None, value });
        }
        Ok(Score(value + 0.0))
    }

    /// The value, for printing and arithmetic.
    pub fn get(self) -> f64 {
        self.0
    }

    /// For sums that are finite by construction.
    ///
    /// # Panics
    ///
    /// If `value` is not finite.
    pub(crate) fn finite(value: f64) -> Score {
        assert!(value.is_finite(), "score {value} is not finite");
        Score(value + 0.0)
    }
}

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ranking {
    /// Ranks `hits` and keeps the best `depth`. A repeated candidate keeps its best score.
    pub fn new(hits: impl IntoIterator<Item = Hit>, depth: Depth, ties: &TieKeys) -> Ranking {
        let mut hits: Vec<Hit> = hits.into_iter().collect();
        // By candidate, best first: what follows a candidate's first hit repeats it.
        hits.sort_unstable_by(|a, b| a.doc.cmp(&b.doc).then(b.score.cmp(&a.score)));
        hits.dedup_by_key(|hit| hit.doc);
        Ranking(first(hits, depth.get(), ties))
    }

    /// Ranks a whole corpus: `scores[i]` is the score of the candidate at position `i`.
    ///
    /// # Errors
    ///
    /// If a score is not finite.
    pub fn of_scores(scores: &[f64], depth: Depth, ties: &TieKeys) -> Result<Ranking, ScoreError> {
        if !scores.iter().all(|score| score.is_finite()) {
            let bad = scores.iter().zip(0u32..).find(|(score, _)| !score.is_finite());
            let (value, doc) =
                bad.map_or((f64::NAN, None), |(&v, i)| (v, Some(DocIx::from_u32(i))));
            return Err(ScoreError::NotFinite { doc, value });
        }
        let least = kth_largest(scores, depth.get());
        let hits = scores
            .iter()
            .zip(0u32..)
            .filter(|(score, _)| least <= **score)
            .map(|(&score, i)| Hit { doc: DocIx::from_u32(i), score: Score(score + 0.0) })
            .collect();
        Ok(Ranking(first(hits, depth.get(), ties)))
    }

    /// Hits in the order of a rank file, whatever their scores. A candidate's first
    /// occurrence counts.
    pub fn recorded(hits: impl IntoIterator<Item = Hit>) -> Ranking {
        let mut hits: Vec<Hit> = hits.into_iter().collect();
        let mut docs: Vec<DocIx> = hits.iter().map(|hit| hit.doc).collect();
        docs.sort_unstable();
        if docs.windows(2).any(|pair| pair[0] == pair[1]) {
            let mut seen = std::collections::HashSet::new();
            hits.retain(|hit| seen.insert(hit.doc));
        }
        Ranking(hits)
    }

    /// The best `depth` hits.
    #[must_use]
    pub fn truncate(mut self, depth: Depth) -> Ranking {
        self.0.truncate(depth.get());
        self
    }

    /// The hits that `keep` accepts, in the unchanged order.
    #[must_use]
    pub fn filter(mut self, keep: impl FnMut(&Hit) -> bool) -> Ranking {
        self.0.retain(keep);
        self
    }

    /// Hits, then those of `rest` that are not among them, in the order of `rest`, up to `depth`.
    pub(crate) fn padded(mut self, rest: &Ranking, depth: Depth) -> Ranking {
        if self.0.len() < depth.get() {
            let kept: std::collections::HashSet<DocIx> = self.0.iter().map(|hit| hit.doc).collect();
            let missing = rest.0.iter().filter(|hit| !kept.contains(&hit.doc));
            self.0.extend(missing.take(depth.get() - kept.len()));
        }
        self
    }

    /// The hits, best first. Rank is index plus one.
    pub fn hits(&self) -> &[Hit] {
        &self.0
    }

    /// Whether the candidates at ranks `K` and `K + 1` have scores that differ by at most
    /// `within`, so that a measure at this cutoff depends on how ties are broken. 0 asks for
    /// exact ties.
    pub fn tie_at(&self, cutoff: Cutoff, within: f64) -> bool {
        let k = cutoff.get();
        let gap = |i: usize| (self.0[i - 1].score.get() - self.0[i].score.get()).abs();
        k < self.0.len() && gap(k) <= within
    }
}

/// The first `depth` of distinct hits, in order. Only ties that reach them are hashed.
fn first(mut hits: Vec<Hit>, depth: usize, ties: &TieKeys) -> Vec<Hit> {
    hits.sort_unstable_by(|a, b| b.score.cmp(&a.score).then(a.doc.cmp(&b.doc)));
    let mut start = 0;
    while start < depth.min(hits.len()) {
        let score = hits[start].score;
        let len = hits[start..].iter().take_while(|hit| hit.score == score).count();
        if 1 < len {
            ties.sort(&mut hits[start..start + len]);
        }
        start += len;
    }
    hits.truncate(depth);
    hits
}

/// The `k`-th largest of finite `values`; negative infinity if there are fewer.
fn kth_largest(values: &[f64], k: usize) -> f64 {
    if values.len() <= k {
        return f64::NEG_INFINITY;
    }
    // Keeps the best of what was seen in a buffer that is cut back when it is full.
    let descending = |a: &f64, b: &f64| b.total_cmp(a);
    let capacity = (2 * k).max(64);
    let mut best: Vec<f64> = Vec::with_capacity(capacity);
    let mut least = f64::NEG_INFINITY;
    for &value in values {
        if least < value {
            best.push(value);
            if best.len() == capacity {
                least = *best.select_nth_unstable_by(k - 1, descending).1;
                best.truncate(k);
            }
        }
    }
    *best.select_nth_unstable_by(k - 1, descending).1
}
