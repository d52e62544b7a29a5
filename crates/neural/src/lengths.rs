//! How much of each text a model sees, in a form that the cache keeps.

use std::{path::Path, sync::Arc};

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role};

use crate::{cache::Cached, embedder::Embedder, text::Truncation};

/// Sums over texts of what a model sees of them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    /// Texts.
    pub texts: usize,
    /// Texts of which the end was cut off.
    pub cut: usize,
    /// Tokens of all texts, prefixes and special tokens included.
    pub tokens: u64,
    /// Tokens cut off.
    pub tokens_lost: u64,
}

/// Counts the tokens of texts, each text once for ever.
pub struct Lengths(Cached<Counts>);

/// Tokens and kept tokens as a vector of two: f32 holds whole numbers up to 2^24.
struct Counts(Arc<Embedder>);

impl Seen {
    /// Counts one text more.
    pub fn count(&mut self, text: Truncation) {
        let lost = text.tokens.saturating_sub(text.kept);
        self.texts += 1;
        self.cut += usize::from(0 < lost);
        self.tokens += text.tokens as u64;
        self.tokens_lost += lost as u64;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Seen) -> Seen {
        Seen {
            texts: self.texts + other.texts,
            cut: self.cut + other.cut,
            tokens: self.tokens + other.tokens,
            tokens_lost: self.tokens_lost + other.tokens_lost,
        }
    }
}

impl Lengths {
    /// Counts with the embedder's own tokenizer, prefixes and limit; keeps the counts under `root`.
    pub fn new(embedder: Arc<Embedder>, root: &Path) -> Lengths {
        let digest = format!("{} tokens", embedder.digest());
        Lengths(Cached::new(Counts(embedder), &digest, "cpu", root))
    }

    /// What the model sees of all of `texts`.
    ///
    /// # Errors
    ///
    /// If the tokenizer or the cache fails.
    pub fn seen(&self, role: Role, texts: &[&str]) -> Result<Seen, BoxError> {
        let counts = self.0.embed(role, texts)?;
        let mut seen = Seen { texts: texts.len(), ..Seen::default() };
        for row in counts.values().chunks_exact(2) {
            let (tokens, kept) = (whole(row[0]), whole(row[1]));
            let lost = tokens.saturating_sub(kept);
            seen.cut += usize::from(0 < lost);
            seen.tokens += tokens;
            seen.tokens_lost += lost;
        }
        Ok(seen)
    }
}

impl EmbeddingModel for Counts {
    fn dim(&self) -> usize {
        2
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let counts = self.0.truncation(role, texts)?;
        let values = counts.iter().flat_map(|count| [count.tokens, count.kept]);
        Ok(Embeddings::new(2, values.map(single).collect())?)
    }
}

fn single(count: usize) -> f32 {
    // A text has fewer than 2^24 tokens.
    count as f32
}

#[expect(clippy::cast_possible_truncation, reason = "a count that was made a float")]
fn whole(count: f32) -> u64 {
    count as u64
}
