//! Static embeddings: a vector for each token of the vocabulary, averaged.
//!
//! Two forms. sentence-transformers': the tensor `embedding.weight`, every token counts.
//! model2vec's: `embeddings`, with an optional `mapping` from token ids to its rows and optional
//! `weights` for each token id; unknown tokens are left out.
//!
//! References: `StaticEmbedding` of sentence-transformers, `StaticModel.encode` of model2vec.

use crate::{engine::Engine, error::NeuralError, snapshot::Weights, spec::Pooling, text::Tokens};

/// A table of token vectors.
pub(crate) struct Static {
    dim: usize,
    /// `[rows, dim]`
    rows: Vec<f32>,
    /// The row of each token id; the id's own where there is none.
    mapping: Option<Vec<usize>>,
    /// What each token id's vector is multiplied with.
    weights: Option<Vec<f32>>,
    drops_unknown: bool,
}

const PLAIN: &str = "embedding.weight";
const MODEL2VEC: &str = "embeddings";

impl Static {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// If there is none in either form, or its parts don't fit each other.
    pub(crate) fn new(weights: &Weights) -> Result<Static, NeuralError> {
        let name = if weights.has(PLAIN) { PLAIN } else { MODEL2VEC };
        let shape = weights.shape(name)?;
        let [n, dim] = shape[..] else {
            return Err(weights.misshapen(name, shape, vec![0, 0]));
        };
        if n == 0 || dim == 0 {
            return Err(weights.misshapen(name, shape, vec![n.max(1), dim.max(1)]));
        }
        let length = |name: &str| -> Result<usize, NeuralError> {
            Ok(weights.shape(name)?.first().copied().unwrap_or(0))
        };
        let mapping = match weights.has("mapping") {
            true => Some(weights.indices("mapping", length("mapping")?)?),
            false => None,
        };
        if mapping.iter().flatten().any(|&row| n <= row) {
            return Err(weights.invalid("mapping"));
        }
        let ids = mapping.as_ref().map_or(n, Vec::len);
        let factors = match weights.has("weights") {
            true => Some(weights.get("weights", &[ids])?),
            false => None,
        };
        Ok(Static {
            dim,
            rows: weights.get(name, &shape)?,
            mapping,
            weights: factors,
            drops_unknown: name == MODEL2VEC,
        })
    }

    /// Token ids that there are vectors for.
    pub(crate) fn vocabulary(&self) -> usize {
        self.mapping.as_ref().map_or(self.rows.len() / self.dim, Vec::len)
    }

    /// Whether unknown tokens are left out.
    pub(crate) fn drops_unknown(&self) -> bool {
        self.drops_unknown
    }
}

impl Engine for Static {
    /// The average, whatever the pooling: a card that says another is refused before.
    fn pooled(&self, batch: &[&Tokens], _pooling: Pooling) -> Result<Vec<f32>, NeuralError> {
        let mut out = vec![0.0; batch.len() * self.dim];
        for (text, vector) in batch.iter().zip(out.chunks_exact_mut(self.dim)) {
            for &id in &text.ids {
                let id = id as usize;
                let row = self.mapping.as_ref().map_or(id, |mapping| mapping[id]);
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[id]);
                let row = &self.rows[row * self.dim..][..self.dim];
                vector.iter_mut().zip(row).for_each(|(to, x)| *to += x * weight);
            }
            let tokens = as_f32(text.ids.len().max(1));
            vector.iter_mut().for_each(|x| *x /= tokens);
        }
        Ok(out)
    }

    fn hidden(&self) -> usize {
        self.dim
    }

    fn parallel(&self) -> bool {
        true
    }

    fn budget(&self) -> usize {
        65_536
    }

    fn name(&self) -> &'static str {
        "static 1"
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rounded count is a count")]
fn as_f32(n: usize) -> f32 {
    n as f32
}
