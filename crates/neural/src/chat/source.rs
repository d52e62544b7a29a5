//! Where a language model's weights come from, under the names that they have on the hub.

use candle_core::quantized::{GgmlDType, QTensor};

use super::gguf::Gguf;
use crate::{encoder::Linear, error::NeuralError, snapshot::Weights};

/// The weights of a model.
pub(crate) enum Source {
    /// Safetensors.
    Files(Weights),
    /// A GGUF file, and whether its quantised matrices stay as they are.
    Gguf(Gguf, bool),
}

/// A linear layer's weights.
pub(crate) enum MatrixPart {
    /// As f32.
    Plain(Linear),
    /// Quantised: `[outputs, inputs]`.
    Kept {
        /// Values in a row of the input.
        inputs: usize,
        /// Values in a row of the output.
        outputs: usize,
        /// The matrix.
        matrix: QTensor,
        /// `[outputs]`
        bias: Option<Vec<f32>>,
    },
}

impl Source {
    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Source::Files(weights) => weights.has(name),
            Source::Gguf(file, _) => file.has(&gguf_name(name)),
        }
    }

    /// A tensor as f32, row-major.
    ///
    /// # Errors
    ///
    /// If it is missing, has another shape, or holds a value that is not finite.
    pub(crate) fn vector_of(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, NeuralError> {
        match self {
            Source::Files(weights) => weights.get(name, shape),
            Source::Gguf(file, _) => file.get(&gguf_name(name), shape),
        }
    }

    /// A linear layer.
    ///
    /// # Errors
    ///
    /// As [`Source::vector_of`].
    pub(crate) fn product(
        &self,
        name: &str,
        outputs: usize,
        inputs: usize,
        biased: bool,
    ) -> Result<MatrixPart, NeuralError> {
        let bias = match biased {
            true => Some(self.vector_of(&format!("{name}.bias"), &[outputs])?),
            false => None,
        };
        let name = format!("{name}.weight");
        if let Source::Gguf(file, true) = self {
            let matrix = file.quantised(&gguf_name(&name), &[outputs, inputs])?;
            if !matches!(matrix.dtype(), GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16) {
                return Ok(MatrixPart::Kept { inputs, outputs, matrix, bias });
            }
        }
        let weight = self.vector_of(&name, &[outputs, inputs])?;
        Ok(MatrixPart::Plain(Linear { inputs, outputs, weight, bias }))
    }

    /// The name and sha256 of each file of weights, in name order.
    pub(crate) fn digests(&self) -> Vec<(String, String)> {
        match self {
            Source::Files(weights) => weights.digests(),
            // The card names the file.
            Source::Gguf(file, _) => vec![("gguf".to_owned(), file.digest())],
        }
    }
}

/// The name in GGUF files of a tensor.
fn gguf_name(name: &str) -> String {
    const PARTS: [(&str, &str); 11] = [
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ];
    let (base, end) = name.rsplit_once('.').unwrap_or((name, ""));
    match base {
        "model.embed_tokens" => return format!("token_embd.{end}"),
        "model.norm" => return format!("output_norm.{end}"),
        "lm_head" => return format!("output.{end}"),
        _ => {}
    }
    let layer = base.strip_prefix("model.layers.").and_then(|rest| rest.split_once('.'));
    match layer.and_then(|(index, part)| {
        PARTS.iter().find(|(ours, _)| *ours == part).map(|(_, theirs)| (index, *theirs))
    }) {
        Some((index, part)) => format!("blk.{index}.{part}.{end}"),
        None => name.to_owned(),
    }
}
