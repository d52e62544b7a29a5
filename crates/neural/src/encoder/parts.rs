//! The weights of the one form that all transformers here have, as f32.

use crate::{error::NeuralError, snapshot::Weights};

/// A table: `[rows, columns]`, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
}

/// `x * weight^T + bias`.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// `[outputs, inputs]`
    pub(crate) weight: Vec<f32>,
    /// `[outputs]`
    pub(crate) bias: Option<Vec<f32>>,
}

/// What a norm multiplies and adds.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
}

/// What is done before the first layer and after the last.
pub(crate) struct EmbeddingParts {
    pub(crate) words: Matrix,
    pub(crate) positions: Option<Matrix>,
    pub(crate) segments: Option<Matrix>,
    /// Of the sum of the three.
    pub(crate) norm: Option<Norm>,
    /// After the last layer.
    pub(crate) last_norm: Option<Norm>,
    /// `[buckets, heads]`
    pub(crate) relative: Option<Matrix>,
}

/// A layer.
pub(crate) struct LayerParts {
    /// Before or after attention.
    pub(crate) attention_norm: Option<Norm>,
    /// `[queries | keys | values, hidden]`
    pub(crate) qkv: Linear,
    /// Of each head's query and key.
    pub(crate) head_norms: Option<(Norm, Norm)>,
    pub(crate) out: Linear,
    /// Before or after the feed-forward block.
    pub(crate) feed_norm: Norm,
    /// The activated half of a gated block.
    pub(crate) gate: Option<Linear>,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
}

/// What a cross-encoder does with a pair's vector.
pub(crate) struct Head {
    pub(crate) dense: Linear,
    /// The function after `dense`.
    pub(crate) after: HeadActivation,
    pub(crate) norm: Option<Norm>,
    /// What a norm adds to the variance.
    pub(crate) eps: f32,
    pub(crate) last: Linear,
    /// Whether the vector is the average of the tokens, not the first.
    pub(crate) averaged: bool,
}

/// The function between a head's two layers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HeadActivation {
    Tanh,
    Gelu,
}

/// Tensors under a prefix that differs from checkpoint to checkpoint.
pub(crate) struct Source<'a> {
    weights: &'a Weights,
    prefix: &'static str,
}

impl<'a> Source<'a> {
    /// The first of `prefixes` under which `anchor` is there.
    ///
    /// # Errors
    ///
    /// If it is there under none.
    pub(crate) fn find(
        weights: &'a Weights,
        prefixes: &[&'static str],
        anchor: &str,
    ) -> Result<Source<'a>, NeuralError> {
        let found = prefixes.iter().find(|prefix| weights.has(&format!("{prefix}{anchor}")));
        match found {
            Some(prefix) => Ok(Source { weights, prefix }),
            None => Err(weights.absent(anchor)),
        }
    }

    pub(crate) fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix, NeuralError> {
        let values = self.weights.get(&format!("{}{name}", self.prefix), &[rows, columns])?;
        Ok(Matrix { columns, values })
    }

    /// A linear layer with a bias.
    pub(crate) fn linear(
        &self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Linear, NeuralError> {
        linear(self.weights, &format!("{}{name}", self.prefix), outputs, inputs)
    }

    /// A linear layer without a bias.
    pub(crate) fn product(
        &self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Linear, NeuralError> {
        let name = format!("{}{name}.weight", self.prefix);
        let weight = self.weights.get(&name, &[outputs, inputs])?;
        Ok(Linear { inputs, outputs, weight, bias: None })
    }

    /// A norm with a bias.
    pub(crate) fn norm(&self, name: &str, size: usize) -> Result<Norm, NeuralError> {
        let bias = self.weights.get(&format!("{}{name}.bias", self.prefix), &[size])?;
        Ok(Norm { bias: Some(bias), ..self.scale(name, size)? })
    }

    /// A norm without a bias.
    pub(crate) fn scale(&self, name: &str, size: usize) -> Result<Norm, NeuralError> {
        let weight = self.weights.get(&format!("{}{name}.weight", self.prefix), &[size])?;
        Ok(Norm { weight, bias: None })
    }
}

/// A linear layer with a bias, by its full name.
pub(crate) fn linear(
    weights: &Weights,
    name: &str,
    outputs: usize,
    inputs: usize,
) -> Result<Linear, NeuralError> {
    let weight = weights.get(&format!("{name}.weight"), &[outputs, inputs])?;
    let bias = weights.get(&format!("{name}.bias"), &[outputs])?;
    Ok(Linear { inputs, outputs, weight, bias: Some(bias) })
}

impl Linear {
    /// Several layers of the same input as one: their outputs one after the other.
    pub(crate) fn stack(parts: Vec<Linear>) -> Linear {
        let biased = parts.iter().any(|part| part.bias.is_some());
        let mut all =
            Linear { inputs: 0, outputs: 0, weight: Vec::new(), bias: biased.then(Vec::new) };
        for part in parts {
            all.inputs = part.inputs;
            all.outputs += part.outputs;
            all.weight.extend(part.weight);
            if let Some(bias) = &mut all.bias {
                bias.extend(part.bias.unwrap_or_else(|| vec![0.0; part.outputs]));
            }
        }
        all
    }

    /// The rows `from..to` of the outputs as a layer of their own.
    pub(crate) fn slice(&self, from: usize, to: usize) -> Linear {
        Linear {
            inputs: self.inputs,
            outputs: to - from,
            weight: self.weight[from * self.inputs..to * self.inputs].to_vec(),
            bias: self.bias.as_ref().map(|bias| bias[from..to].to_vec()),
        }
    }
}
