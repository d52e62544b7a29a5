//! Qwen3, as an encoder: the hidden states of the decoder, without a language-model head.
//!
//! Reference: `modeling_qwen3.py` of
//! <https://github.com/huggingface/transformers/tree/v4.57.1/src/transformers/models/qwen3>.

use super::{
    Attend, EmbeddingParts, Heads, LayerParts, LayerPlan, Linear, NormKind, Order, Plan, Positions,
    Source,
    bert::{activation, eps, layers},
};
use crate::{error::NeuralError, snapshot::Config};

pub(super) const ANCHOR: &str = "embed_tokens.weight";

pub(super) fn plan(config: &Config) -> Result<Plan, NeuralError> {
    config.only_flag("attention_bias", false)?;
    config.only_flag("use_sliding_window", false)?;
    let hidden = config.size("hidden_size")?;
    let queries = config.size("num_attention_heads")?;
    let keys = config.size_if("num_key_value_heads")?.unwrap_or(queries);
    if !queries.is_multiple_of(keys) {
        return Err(config.wrong("num_key_value_heads", "a divisor of `num_attention_heads`"));
    }
    let dim = config.size_if("head_dim")?.unwrap_or(128);
    if !dim.is_multiple_of(2) {
        return Err(config.wrong("head_dim", "an even number"));
    }
    let layer = LayerPlan { attend: Attend::Before, rotary: Some(theta(config)?) };
    Ok(Plan {
        vocabulary: config.size("vocab_size")?,
        hidden,
        inner: config.size("intermediate_size")?,
        segments: 0,
        heads: Heads { queries, keys, dim },
        layers: vec![layer; layers(config)?],
        positions: Positions::None,
        relative: None,
        order: Order::Pre,
        norm: NormKind::Rms,
        eps: eps(config.positive("rms_norm_eps")?),
        activation: activation(config, "hidden_act")?,
        gated: true,
        max_tokens: config.size("max_position_embeddings")?,
    })
}

/// The base of rotary positions, in the newer form of the configuration or the older.
fn theta(config: &Config) -> Result<f64, NeuralError> {
    if config.value("rope_scaling").is_some() {
        return Err(config.wrong("rope_scaling", "null: scaled positions are not computed here"));
    }
    match config.object("rope_parameters")? {
        Some(parameters) => {
            if parameters.text("rope_type")?.is_some_and(|kind| kind != "default") {
                return Err(parameters.wrong("rope_type", "`default`"));
            }
            parameters.positive("rope_theta")
        }
        None => config.positive("rope_theta"),
    }
}

pub(super) fn embedding(plan: &Plan, source: &Source<'_>) -> Result<EmbeddingParts, NeuralError> {
    Ok(EmbeddingParts {
        words: source.matrix(ANCHOR, plan.vocabulary, plan.hidden)?,
        positions: None,
        segments: None,
        norm: None,
        last_norm: Some(source.scale("norm", plan.hidden)?),
        relative: None,
    })
}

pub(super) fn layer(
    plan: &Plan,
    source: &Source<'_>,
    index: usize,
) -> Result<LayerParts, NeuralError> {
    let (hidden, inner, heads) = (plan.hidden, plan.inner, plan.heads);
    let name = |part: &str| format!("layers.{index}.{part}");
    let (queries, keys) = (heads.queries * heads.dim, heads.keys * heads.dim);
    Ok(LayerParts {
        attention_norm: Some(source.scale(&name("input_layernorm"), hidden)?),
        qkv: Linear::stack(vec![
            source.product(&name("self_attn.q_proj"), queries, hidden)?,
            source.product(&name("self_attn.k_proj"), keys, hidden)?,
            source.product(&name("self_attn.v_proj"), keys, hidden)?,
        ]),
        head_norms: Some((
            source.scale(&name("self_attn.q_norm"), heads.dim)?,
            source.scale(&name("self_attn.k_norm"), heads.dim)?,
        )),
        out: source.product(&name("self_attn.o_proj"), hidden, queries)?,
        feed_norm: source.scale(&name("post_attention_layernorm"), hidden)?,
        gate: Some(source.product(&name("mlp.gate_proj"), inner, hidden)?),
        up: source.product(&name("mlp.up_proj"), inner, hidden)?,
        down: source.product(&name("mlp.down_proj"), hidden, inner)?,
    })
}
