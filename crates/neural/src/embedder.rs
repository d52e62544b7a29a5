//! Embedders: a snapshot and a card's spec as core's [`EmbeddingModel`].

use std::path::Path;

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::{
    device::Device,
    encoder::Encoder,
    engine::{Engine, batches},
    error::NeuralError,
    fused::Fused,
    snapshot::Snapshot,
    spec::{Architecture, Dtype, EmbedderSpec, Pooling},
    statics::Static,
    tensor::Tensors,
    text::{Texts, Tokens, Truncation},
};

/// A model that turns texts into vectors.
pub struct Embedder {
    spec: EmbedderSpec,
    texts: Texts,
    engine: Box<dyn Engine>,
    /// What is left out of a text's tokens, for models without special tokens.
    bare: Option<Bare>,
    digest: String,
}

/// Tokens as static embeddings take them.
struct Bare {
    dropped: Option<u32>,
}

impl Embedder {
    /// Opens the snapshot in `dir`, laid out as on the hub, as `spec` says.
    ///
    /// The CPU computes in f32 with this crate's own code; an accelerator computes candle
    /// tensors of the spec's type.
    ///
    /// # Errors
    ///
    /// If the snapshot is incomplete, damaged, contradicts the spec or is of another
    /// architecture, or the device fails.
    pub fn open(dir: &Path, spec: &EmbedderSpec, device: &Device) -> Result<Embedder, NeuralError> {
        match device.is_cpu() {
            true => Embedder::with(dir, spec, |encoder| Ok(Box::new(Fused::new(encoder)?))),
            false => Embedder::with(dir, spec, |encoder| {
                Ok(Box::new(Tensors::new(encoder, device.candle(), spec.dtype)?))
            }),
        }
    }

    /// As [`Embedder::open`] on the CPU, but computed as accelerators do: what the CPU's own
    /// code is compared with.
    ///
    /// # Errors
    ///
    /// As [`Embedder::open`].
    pub fn open_reference(dir: &Path, spec: &EmbedderSpec) -> Result<Embedder, NeuralError> {
        let cpu = Device::cpu();
        Embedder::with(dir, spec, |encoder| {
            Ok(Box::new(Tensors::new(encoder, cpu.candle(), Dtype::F32)?))
        })
    }

    fn with(
        dir: &Path,
        spec: &EmbedderSpec,
        engine: impl FnOnce(&Encoder<'_>) -> Result<Box<dyn Engine>, NeuralError>,
    ) -> Result<Embedder, NeuralError> {
        let snapshot = Snapshot::open(dir)?;
        snapshot.check(spec)?;
        let (engine, texts, bare, range) = if spec.architecture == Architecture::Static {
            let table = Static::new(&snapshot.weights)?;
            if spec.pooling != Pooling::Mean {
                return Err(NeuralError::Spec {
                    field: "pooling",
                    got: format!("`{}`", spec.pooling.name()),
                    expected: "`mean`, as the architecture is `static`".to_owned(),
                });
            }
            let texts = Texts::open(&snapshot.tokenizer(), table.vocabulary())?;
            let dropped = if table.drops_unknown() { texts.unknown()? } else { None };
            let engine: Box<dyn Engine> = Box::new(table);
            (engine, texts, Some(Bare { dropped }), 1..=usize::MAX)
        } else {
            let encoder = Encoder::open(spec.architecture, &snapshot.config, &snapshot.weights)?;
            let texts = Texts::open(&snapshot.tokenizer(), encoder.plan.vocabulary)?;
            texts.check_padding(snapshot.padding_token()?.as_deref(), &snapshot.config)?;
            let range = texts.added(false) + 1..=encoder.plan.max_tokens;
            (engine(&encoder)?, texts, None, range)
        };
        check_limit("max_tokens", spec.max_tokens, &range)?;
        let digest = digest(engine.name(), &snapshot, &serde_json::to_string(spec))?;
        Ok(Embedder { spec: spec.clone(), texts, engine, bare, digest })
    }

    /// The spec it was opened with.
    pub fn spec(&self) -> &EmbedderSpec {
        &self.spec
    }

    /// The identity of its vectors: sha256, in hexadecimal, over what computes them, the spec
    /// and the files that decide them. The same on every machine.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How much of each text is seen, the prefix included.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn truncation(&self, role: Role, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        let (prefix, limit) = (self.prefix(role), self.spec.max_tokens);
        each(texts, |text| match &self.bare {
            None => self.texts.seen(prefix, text, limit),
            Some(bare) => {
                let tokens = bare.ids(&self.texts, prefix, text)?.len();
                Ok(Truncation { tokens, kept: tokens.min(limit) })
            }
        })
    }

    /// The token ids that the model sees of each text, special tokens and prefix included.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn token_ids(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<u32>>, NeuralError> {
        Ok(self.tokens(role, texts)?.into_iter().map(|tokens| tokens.ids).collect())
    }

    fn tokens(&self, role: Role, texts: &[&str]) -> Result<Vec<Tokens>, NeuralError> {
        let (prefix, limit) = (self.prefix(role), self.spec.max_tokens);
        each(texts, |text| match &self.bare {
            None => self.texts.single(prefix, text, limit),
            Some(bare) => {
                let mut ids = bare.ids(&self.texts, prefix, text)?;
                ids.truncate(limit);
                Ok(Tokens { segments: vec![0; ids.len()], ids })
            }
        })
    }

    fn prefix(&self, role: Role) -> &str {
        match role {
            Role::Query => &self.spec.query_prefix,
            Role::Document => &self.spec.document_prefix,
        }
    }
}

impl Bare {
    fn ids(&self, texts: &Texts, prefix: &str, text: &str) -> Result<Vec<u32>, BoxError> {
        let mut ids = texts.plain(prefix, text)?;
        ids.retain(|id| Some(*id) != self.dropped);
        Ok(ids)
    }
}

/// Does the same with each text, in parallel; the first error in their order.
pub(crate) fn each<T: Send>(
    texts: &[&str],
    work: impl Fn(&str) -> Result<T, BoxError> + Sync,
) -> Result<Vec<T>, NeuralError> {
    let all: Vec<Result<T, BoxError>> = texts.par_iter().map(|text| work(text)).collect();
    let all = all.into_iter().enumerate();
    all.map(|(text, done)| done.map_err(|source| NeuralError::Tokenize { text, source })).collect()
}

/// The vectors of texts, in their order, each independent of the others: `[texts, hidden]`.
pub(crate) fn pooled(
    engine: &dyn Engine,
    texts: &[Tokens],
    pooling: Pooling,
) -> Result<Vec<f32>, NeuralError> {
    let hidden = engine.hidden();
    let batches = batches(texts, engine.budget());
    let compute = |batch: &Vec<usize>| {
        let batch: Vec<&Tokens> = batch.iter().map(|&i| &texts[i]).collect();
        engine.pooled(&batch, pooling)
    };
    let computed: Vec<Result<Vec<f32>, NeuralError>> = match engine.parallel() {
        // One batch at a time for a thread, so that a long one doesn't wait behind others.
        true => batches.par_iter().with_max_len(1).map(compute).collect(),
        false => batches.iter().map(compute).collect(),
    };
    let mut out = vec![0.0; texts.len() * hidden];
    for (batch, vectors) in batches.iter().zip(computed) {
        for (&i, vector) in batch.iter().zip(vectors?.chunks_exact(hidden)) {
            out[i * hidden..][..hidden].copy_from_slice(vector);
        }
    }
    Ok(out)
}

/// Refuses a limit outside `range`.
pub(crate) fn check_limit(
    field: &'static str,
    limit: usize,
    range: &std::ops::RangeInclusive<usize>,
) -> Result<(), NeuralError> {
    match range.contains(&limit) {
        true => Ok(()),
        false => Err(NeuralError::Spec {
            field,
            got: limit.to_string(),
            expected: match *range.end() {
                usize::MAX => format!("at least {}", range.start()),
                end => format!("{} to {end}, which the model has positions for", range.start()),
            },
        }),
    }
}

/// The identity of what a model computes.
pub(crate) fn digest(
    engine: &str,
    snapshot: &Snapshot,
    spec: &serde_json::Result<String>,
) -> Result<String, NeuralError> {
    let mut all = Sha256::new();
    all.update(format!("{engine}\n{}\n", spec.as_ref().map_or("", String::as_str)));
    for (name, sha256) in snapshot.digests()? {
        all.update(format!("{name} {sha256}\n"));
    }
    Ok(hex::encode(all.finalize()))
}

impl EmbeddingModel for Embedder {
    fn dim(&self) -> usize {
        self.engine.hidden()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let tokens = self.tokens(role, texts)?;
        let vectors = pooled(&*self.engine, &tokens, self.spec.pooling)?;
        let vectors = Embeddings::new(self.dim(), vectors)?;
        Ok(if self.spec.normalise { vectors.normalized() } else { vectors })
    }
}
