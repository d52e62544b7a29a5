//! Cross-encoders: a query and a document read together, one logit out.

use std::path::Path;

use cleanhit_core::{BoxError, QueryText, Scorer};

use crate::{
    device::Device,
    embedder::{check_limit, digest, each, pooled},
    encoder::{Encoder, Head, HeadActivation, Linear},
    engine::Engine,
    error::NeuralError,
    fused::Fused,
    snapshot::Snapshot,
    spec::{CrossSpec, Pooling},
    tensor::Tensors,
    text::{Texts, Tokens, Truncation},
};

/// A model that scores pairs. Its score is the logit: no sigmoid, which would make ties of
/// large ones.
pub struct CrossEncoder {
    spec: CrossSpec,
    texts: Texts,
    engine: Box<dyn Engine>,
    head: Head,
    digest: String,
}

impl CrossEncoder {
    /// Opens the snapshot in `dir`, laid out as on the hub, as `spec` says.
    ///
    /// # Errors
    ///
    /// If the snapshot is incomplete, damaged, contradicts the spec, has more than one logit or
    /// no such head, or the device fails.
    pub fn open(
        dir: &Path,
        spec: &CrossSpec,
        device: &Device,
    ) -> Result<CrossEncoder, NeuralError> {
        let snapshot = Snapshot::open(dir)?;
        snapshot.check_architecture(spec.architecture)?;
        let encoder = Encoder::open(spec.architecture, &snapshot.config, &snapshot.weights)?;
        let head = encoder.head(&snapshot.config, &snapshot.weights)?;
        let texts = Texts::open(&snapshot.tokenizer(), encoder.plan.vocabulary)?;
        texts.check_padding(snapshot.padding_token()?.as_deref(), &snapshot.config)?;
        let added = texts.added(true);
        check_limit("max_tokens", spec.max_tokens, &(added + 2..=encoder.plan.max_tokens))?;
        let longest = spec.max_tokens - added - 1;
        if !(1..=longest).contains(&spec.max_query_tokens) {
            return Err(NeuralError::Spec {
                field: "max_query_tokens",
                got: spec.max_query_tokens.to_string(),
                expected: format!("1 to {longest}, so that the document has room in `max_tokens`"),
            });
        }
        let engine: Box<dyn Engine> = match device.is_cpu() {
            true => Box::new(Fused::new(&encoder)?),
            false => Box::new(Tensors::new(&encoder, device.candle(), spec.dtype)?),
        };
        let digest = digest(engine.name(), &snapshot, &serde_json::to_string(spec))?;
        Ok(CrossEncoder { spec: spec.clone(), texts, engine, head, digest })
    }

    /// The spec it was opened with.
    pub fn spec(&self) -> &CrossSpec {
        &self.spec
    }

    /// The identity of its scores: sha256, in hexadecimal, over what computes them, the spec and
    /// the files that decide them.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How much of each pair is seen.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        let query = self.query(query)?;
        each(texts, |text| self.texts.pair_seen(&query, text, self.spec.max_tokens))
    }

    /// The token ids that the model sees of each pair, special tokens included.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn token_ids(&self, query: &str, texts: &[&str]) -> Result<Vec<Vec<u32>>, NeuralError> {
        Ok(self.pairs(query, texts)?.into_iter().map(|tokens| tokens.ids).collect())
    }

    fn pairs(&self, query: &str, texts: &[&str]) -> Result<Vec<Tokens>, NeuralError> {
        let query = self.query(query)?;
        each(texts, |text| self.texts.pair(&query, text, self.spec.max_tokens))
    }

    /// The ids of a query, cut at its own limit.
    fn query(&self, query: &str) -> Result<Vec<u32>, NeuralError> {
        let query = self.texts.plain("", query);
        let mut query = query.map_err(|source| NeuralError::Tokenize { text: 0, source })?;
        query.truncate(self.spec.max_query_tokens);
        Ok(query)
    }
}

impl Scorer for CrossEncoder {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let pairs = self.pairs(query.as_str(), texts)?;
        let pooling = if self.head.averaged { Pooling::Mean } else { Pooling::Cls };
        let vectors = pooled(&*self.engine, &pairs, pooling)?;
        let vectors = vectors.chunks_exact(self.engine.hidden());
        Ok(vectors.map(|vector| self.head.logit(vector)).collect())
    }
}

impl Head {
    /// The logit of a pair's vector, in f64.
    fn logit(&self, vector: &[f32]) -> f64 {
        let vector: Vec<f64> = vector.iter().map(|&x| f64::from(x)).collect();
        let mut inner = self.dense.apply(&vector);
        for x in &mut inner {
            *x = match self.after {
                HeadActivation::Tanh => libm::tanh(*x),
                HeadActivation::Gelu => {
                    0.5 * *x * (1.0 + libm::erf(*x * std::f64::consts::FRAC_1_SQRT_2))
                }
            };
        }
        if let Some(norm) = &self.norm {
            let n = as_f64(inner.len());
            let mean = inner.iter().sum::<f64>() / n;
            let variance = inner.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            let factor = 1.0 / (variance + f64::from(self.eps)).sqrt();
            for (x, weight) in inner.iter_mut().zip(&norm.weight) {
                *x = (*x - mean) * factor * f64::from(*weight);
            }
        }
        self.last.apply(&inner)[0]
    }
}

impl Linear {
    /// The outputs for one input, in f64.
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.weight.chunks_exact(self.inputs).enumerate();
        rows.map(|(o, row)| {
            let bias = self.bias.as_ref().map_or(0.0, |bias| f64::from(bias[o]));
            row.iter().zip(x).fold(bias, |sum, (w, x)| sum + f64::from(*w) * x)
        })
        .collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a vector's length is far below 2^52")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
