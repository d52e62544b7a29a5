//! What is kept of talks, so that the next that begins alike is not read from its beginning.
//!
//! Architecture invariant: what is kept changes no reply. A token's keys and values are the same
//! bits whatever was read with them, so a kept prefix is what reading it again would give.

use std::sync::{Mutex, PoisonError};

use super::decoder::Reading;
use crate::error::NeuralError;

/// What is kept, the oldest first.
#[derive(Default)]
pub(super) struct Prefixes(Mutex<Vec<Talk>>);

/// A talk's tokens, and what was read of them and perhaps after them.
type Talk = (Vec<u32>, Box<dyn Reading>);

/// Talks that are kept.
const MOST: usize = 8;
/// Bytes that they may take together.
const SIZE: usize = 256 << 20;
/// Fewer tokens in common are not worth the copy.
const FEWEST: usize = 16;

impl Prefixes {
    /// The longest prefix of `ids` that is kept, but for the last token, which is always read.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub(super) fn find(&self, ids: &[u32]) -> Result<Option<Box<dyn Reading>>, NeuralError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let common = |talk: &[u32]| talk.iter().zip(ids).take_while(|(a, b)| a == b).count();
        let longest = kept.iter().map(|(talk, past)| (common(talk), past)).max_by_key(|(n, _)| *n);
        let Some((n, past)) = longest else { return Ok(None) };
        match n.min(ids.len().saturating_sub(1)) {
            n if FEWEST <= n => past.first(n).map(Some),
            _ => Ok(None),
        }
    }

    /// Keeps what was read of `ids`, and perhaps more after them.
    pub(super) fn keep(&self, ids: Vec<u32>, past: Box<dyn Reading>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What begins another is found in the other.
        kept.retain(|(talk, _)| !ids.starts_with(talk));
        kept.push((ids, past));
        while MOST < kept.len() || SIZE < kept.iter().map(|(_, past)| past.size()).sum::<usize>() {
            kept.remove(0);
        }
    }
}
