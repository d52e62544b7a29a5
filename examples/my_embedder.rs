//! A plug-in embedder: words hashed into buckets. Its card is `examples/hashed.toml`.
use std::process::ExitCode;

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role};

#[derive(serde::Deserialize)]
struct Hashed {
    dim: usize,
}

impl EmbeddingModel for Hashed {
    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, _: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let mut values = vec![0.0; self.dim * texts.len()];
        for (row, text) in values.chunks_exact_mut(self.dim).zip(texts) {
            for word in text.to_lowercase().split_whitespace() {
                // FNV-1a: the same bucket everywhere.
                let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                });
                row[usize::try_from(hash % self.dim as u64)?] += 1.0;
            }
        }
        Ok(Embeddings::new(self.dim, values)?.normalized())
    }
}

fn main() -> ExitCode {
    let build = |hashed: Hashed| match hashed.dim {
        0 => Err("field `dim`: 0; expected at least 1".into()),
        _ => Ok(hashed),
    };
    cleanhit::run(cleanhit::Registry::default().embedder("hashed", build))
}
