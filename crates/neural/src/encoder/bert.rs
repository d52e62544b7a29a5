//! BERT, RoBERTa and XLM-RoBERTa, MPNet.
//!
//! References: `modeling_bert.py`, `modeling_xlm_roberta.py` and `modeling_mpnet.py` of
//! <https://github.com/huggingface/transformers/tree/v4.57.1/src/transformers/models>.

use super::{
    Activation, Attend, EmbeddingParts, Head, Heads, LayerParts, LayerPlan, Linear, NormKind,
    Order, Plan, Positions, Relative, Source,
    parts::{HeadActivation, linear},
};
use crate::{
    error::NeuralError,
    snapshot::{Config, Weights},
};

pub(super) const ANCHOR: &str = "embeddings.word_embeddings.weight";

/// What the three have in common.
fn common(config: &Config) -> Result<Plan, NeuralError> {
    let hidden = config.size("hidden_size")?;
    let heads = config.size("num_attention_heads")?;
    if !hidden.is_multiple_of(heads) {
        return Err(config.wrong("num_attention_heads", "a divisor of `hidden_size`"));
    }
    let all = LayerPlan { attend: Attend::All, rotary: None };
    let dim = hidden / heads;
    Ok(Plan {
        vocabulary: config.size("vocab_size")?,
        hidden,
        inner: config.size("intermediate_size")?,
        segments: 0,
        heads: Heads { queries: heads, keys: heads, dim },
        layers: vec![all; layers(config)?],
        positions: Positions::FromZero,
        relative: None,
        order: Order::Post,
        norm: NormKind::Layer,
        eps: eps(config.positive("layer_norm_eps")?),
        activation: activation(config, "hidden_act")?,
        gated: false,
        max_tokens: config.size("max_position_embeddings")?,
    })
}

/// The number of layers.
pub(super) fn layers(config: &Config) -> Result<usize, NeuralError> {
    match config.size("num_hidden_layers")? {
        n @ 1..=1000 => Ok(n),
        _ => Err(config.wrong("num_hidden_layers", "a whole number from 1 to 1000")),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the reference rounds to f32 too")]
pub(super) fn eps(value: f64) -> f32 {
    value as f32
}

pub(super) fn activation(config: &Config, field: &str) -> Result<Activation, NeuralError> {
    match config.text(field)? {
        Some("gelu") => Ok(Activation::Gelu),
        Some("gelu_new" | "gelu_pytorch_tanh") => Ok(Activation::GeluTanh),
        Some("silu") => Ok(Activation::Silu),
        Some("relu") => Ok(Activation::Relu),
        _ => Err(config.wrong(field, "`gelu`, `gelu_new`, `gelu_pytorch_tanh`, `silu` or `relu`")),
    }
}

pub(super) fn bert(config: &Config) -> Result<Plan, NeuralError> {
    if config.text("position_embedding_type")?.is_some_and(|kind| kind != "absolute") {
        return Err(config.wrong("position_embedding_type", "`absolute`"));
    }
    Ok(Plan { segments: config.size("type_vocab_size")?, ..common(config)? })
}

pub(super) fn roberta(config: &Config) -> Result<Plan, NeuralError> {
    let padding = config.id("pad_token_id")?.unwrap_or(1);
    after(bert(config)?, padding, config)
}

pub(super) fn mpnet(config: &Config) -> Result<Plan, NeuralError> {
    // The reference computes 32 buckets up to 128 whatever the configuration says.
    let relative = Relative { buckets: 32, furthest: 128 };
    if config.size("relative_attention_num_buckets")? != relative.buckets {
        return Err(config.wrong("relative_attention_num_buckets", "32"));
    }
    let plan = after(common(config)?, 1, config)?;
    Ok(Plan { relative: Some(relative), ..plan })
}

/// Positions that start after the padding id, which takes as many rows from the table.
fn after(plan: Plan, padding: u32, config: &Config) -> Result<Plan, NeuralError> {
    let taken = padding as usize + 1;
    match plan.max_tokens.checked_sub(taken) {
        Some(max_tokens) if 0 < max_tokens => {
            Ok(Plan { positions: Positions::After(padding), max_tokens, ..plan })
        }
        _ => Err(config.wrong("max_position_embeddings", "more than the padding id takes")),
    }
}

pub(super) fn embedding(plan: &Plan, source: &Source<'_>) -> Result<EmbeddingParts, NeuralError> {
    let hidden = plan.hidden;
    let rows = match plan.positions {
        Positions::After(padding) => plan.max_tokens + padding as usize + 1,
        _ => plan.max_tokens,
    };
    let segments = match plan.segments {
        0 => None,
        n => Some(source.matrix("embeddings.token_type_embeddings.weight", n, hidden)?),
    };
    let relative = match plan.relative {
        None => None,
        Some(relative) => Some(source.matrix(
            "encoder.relative_attention_bias.weight",
            relative.buckets,
            plan.heads.queries,
        )?),
    };
    Ok(EmbeddingParts {
        words: source.matrix(ANCHOR, plan.vocabulary, hidden)?,
        positions: Some(source.matrix("embeddings.position_embeddings.weight", rows, hidden)?),
        segments,
        norm: Some(source.norm("embeddings.LayerNorm", hidden)?),
        last_norm: None,
        relative,
    })
}

pub(super) fn layer(
    plan: &Plan,
    source: &Source<'_>,
    index: usize,
) -> Result<LayerParts, NeuralError> {
    const QKV: [&str; 3] = ["attention.self.query", "attention.self.key", "attention.self.value"];
    named(plan, source, index, QKV, "attention.output.dense", "attention.output.LayerNorm")
}

pub(super) fn mpnet_layer(
    plan: &Plan,
    source: &Source<'_>,
    index: usize,
) -> Result<LayerParts, NeuralError> {
    const QKV: [&str; 3] = ["attention.attn.q", "attention.attn.k", "attention.attn.v"];
    named(plan, source, index, QKV, "attention.attn.o", "attention.LayerNorm")
}

fn named(
    plan: &Plan,
    source: &Source<'_>,
    index: usize,
    qkv: [&str; 3],
    out: &str,
    norm: &str,
) -> Result<LayerParts, NeuralError> {
    let (hidden, inner) = (plan.hidden, plan.inner);
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    let mut parts = Vec::new();
    for part in qkv {
        parts.push(source.linear(&name(part), hidden, hidden)?);
    }
    Ok(LayerParts {
        attention_norm: Some(source.norm(&name(norm), hidden)?),
        qkv: Linear::stack(parts),
        head_norms: None,
        out: source.linear(&name(out), hidden, hidden)?,
        feed_norm: source.norm(&name("output.LayerNorm"), hidden)?,
        gate: None,
        up: source.linear(&name("intermediate.dense"), inner, hidden)?,
        down: source.linear(&name("output.dense"), hidden, inner)?,
    })
}

/// A pooler, and one logit.
pub(super) fn bert_head(plan: &Plan, weights: &Weights) -> Result<Head, NeuralError> {
    let dense = linear(weights, "bert.pooler.dense", plan.hidden, plan.hidden)?;
    Ok(head(plan, dense, linear(weights, "classifier", 1, plan.hidden)?))
}

/// A dense layer, and one logit.
pub(super) fn roberta_head(plan: &Plan, weights: &Weights) -> Result<Head, NeuralError> {
    let dense = linear(weights, "classifier.dense", plan.hidden, plan.hidden)?;
    Ok(head(plan, dense, linear(weights, "classifier.out_proj", 1, plan.hidden)?))
}

fn head(plan: &Plan, dense: Linear, last: Linear) -> Head {
    Head { dense, after: HeadActivation::Tanh, norm: None, eps: plan.eps, last, averaged: false }
}
