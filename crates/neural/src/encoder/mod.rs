//! Architectures: what a configuration says, and which tensor is which part.
//!
//! All transformers here are one form: rows of token vectors, and layers of attention and a
//! feed-forward block with a norm before or after each. [`Plan`] is the form's parameters and
//! [`Parts`] its weights; the engines compute them and know no architecture by name.

mod bert;
mod modernbert;
mod parts;
mod plan;
mod qwen3;

pub(crate) use parts::{
    EmbeddingParts, Head, HeadActivation, LayerParts, Linear, Matrix, Norm, Source,
};
pub(crate) use plan::{
    Activation, Attend, Heads, LayerPlan, NormKind, Order, Plan, Positions, Relative,
};

use crate::{
    error::NeuralError,
    snapshot::{Config, Weights},
    spec::Architecture,
};

/// An architecture's configuration and the names of its tensors.
pub(crate) struct Encoder<'a> {
    pub(crate) plan: Plan,
    source: Source<'a>,
    kind: Architecture,
}

impl<'a> Encoder<'a> {
    /// Reads the configuration and finds the encoder's tensors.
    ///
    /// # Errors
    ///
    /// If the configuration is another architecture's, or asks for what is not computed here.
    pub(crate) fn open(
        kind: Architecture,
        config: &Config,
        weights: &'a Weights,
    ) -> Result<Encoder<'a>, NeuralError> {
        let (plan, source) = match kind {
            Architecture::Bert => {
                (bert::bert(config)?, Source::find(weights, &["", "bert."], bert::ANCHOR)?)
            }
            Architecture::XlmRoberta => {
                (bert::roberta(config)?, Source::find(weights, &["", "roberta."], bert::ANCHOR)?)
            }
            Architecture::Mpnet => {
                (bert::mpnet(config)?, Source::find(weights, &["", "mpnet."], bert::ANCHOR)?)
            }
            Architecture::ModernBert => (
                modernbert::plan(config)?,
                Source::find(weights, &["", "model."], modernbert::ANCHOR)?,
            ),
            Architecture::Qwen3 => {
                (qwen3::plan(config)?, Source::find(weights, &["", "model."], qwen3::ANCHOR)?)
            }
            Architecture::Static => {
                return Err(NeuralError::Spec {
                    field: "architecture",
                    got: "`static`".to_owned(),
                    expected: "a transformer".to_owned(),
                });
            }
        };
        Ok(Encoder { plan, source, kind })
    }

    /// What is done before the first layer and after the last.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape.
    pub(crate) fn embedding(&self) -> Result<EmbeddingParts, NeuralError> {
        match self.kind {
            Architecture::ModernBert => modernbert::embedding(&self.plan, &self.source),
            Architecture::Qwen3 => qwen3::embedding(&self.plan, &self.source),
            _ => bert::embedding(&self.plan, &self.source),
        }
    }

    /// The layer at `index`, from 0.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape.
    pub(crate) fn layer(&self, index: usize) -> Result<LayerParts, NeuralError> {
        match self.kind {
            Architecture::Mpnet => bert::mpnet_layer(&self.plan, &self.source, index),
            Architecture::ModernBert => modernbert::layer(&self.plan, &self.source, index),
            Architecture::Qwen3 => qwen3::layer(&self.plan, &self.source, index),
            _ => bert::layer(&self.plan, &self.source, index),
        }
    }

    /// What a cross-encoder does with the first token's vector.
    ///
    /// # Errors
    ///
    /// If the architecture has no such head here, or a tensor is missing or has another shape.
    pub(crate) fn head(&self, config: &Config, weights: &Weights) -> Result<Head, NeuralError> {
        match self.kind {
            Architecture::Bert => bert::bert_head(&self.plan, weights),
            Architecture::XlmRoberta | Architecture::Mpnet => {
                bert::roberta_head(&self.plan, weights)
            }
            Architecture::ModernBert => modernbert::head(&self.plan, config, weights),
            Architecture::Qwen3 | Architecture::Static => Err(NeuralError::Spec {
                field: "architecture",
                got: format!("`{:?}`", self.kind).to_lowercase(),
                expected: "a cross-encoder: bert, xlm_roberta, mpnet or modern_bert".to_owned(),
            }),
        }
    }
}
