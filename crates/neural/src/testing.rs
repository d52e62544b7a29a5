//! A small model for tests: deterministic, without weights.

use std::sync::atomic::{AtomicUsize, Ordering};

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role};
use sha2::{Digest as _, Sha256};

/// Each word has a pseudo-random direction of its own; a text is the sum over its words, scaled
/// to unit length. Queries differ from documents by one more word. An empty text is that word
/// alone, or zero.
#[derive(Debug)]
pub(crate) struct Toy {
    dim: usize,
    pub(crate) embedded: AtomicUsize,
}

impl Toy {
    pub(crate) fn new(dim: usize) -> Toy {
        Toy { dim, embedded: AtomicUsize::new(0) }
    }

    fn add(&self, word: &str, row: &mut [f32]) {
        for (i, value) in row.iter_mut().enumerate() {
            let digest = Sha256::digest(format!("{}\0{word}", i / 32));
            *value += (f32::from(digest[i % 32]) - 127.5) / 127.5;
        }
    }
}

impl EmbeddingModel for Toy {
    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        let mut values = vec![0.0; texts.len() * self.dim];
        for (row, text) in values.chunks_exact_mut(self.dim).zip(texts) {
            for word in text.split_whitespace() {
                self.add(word, row);
            }
            if role == Role::Query {
                self.add("?", row);
            }
        }
        Ok(Embeddings::new(self.dim, values)?.normalized())
    }
}
