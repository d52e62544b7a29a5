//! ModernBERT.
//!
//! Reference: `modeling_modernbert.py` of
//! <https://github.com/huggingface/transformers/tree/v4.57.1/src/transformers/models/modernbert>.

use super::{
    Attend, EmbeddingParts, Head, Heads, LayerParts, LayerPlan, NormKind, Order, Plan, Positions,
    Source,
    bert::{activation, eps, layers},
    parts::{HeadActivation, Linear, Norm, linear},
};
use crate::{
    error::NeuralError,
    snapshot::{Config, Weights},
};

pub(super) const ANCHOR: &str = "embeddings.tok_embeddings.weight";

pub(super) fn plan(config: &Config) -> Result<Plan, NeuralError> {
    for field in ["norm_bias", "attention_bias", "mlp_bias"] {
        config.only_flag(field, false)?;
    }
    let hidden = config.size("hidden_size")?;
    let heads = config.size("num_attention_heads")?;
    if !hidden.is_multiple_of(2 * heads) {
        return Err(config.wrong("num_attention_heads", "a divisor of half of `hidden_size`"));
    }
    let dim = hidden / heads;
    let reach = config.size_if("local_attention")?.unwrap_or(128) / 2;
    let global = theta(config, "full_attention", "global_rope_theta", 160_000.0)?;
    let local = theta(config, "sliding_attention", "local_rope_theta", 10_000.0)?;
    let every = config.size_if("global_attn_every_n_layers")?.unwrap_or(3);
    let stated = config.value("layer_types").and_then(|types| types.as_array());
    let layers = (0..layers(config)?).map(|i| {
        let kind = match stated {
            None if i % every == 0 => Some("full_attention"),
            None => Some("sliding_attention"),
            Some(types) => types.get(i).and_then(|kind| kind.as_str()),
        };
        match kind {
            Some("full_attention") => Ok(LayerPlan { attend: Attend::All, rotary: Some(global) }),
            Some("sliding_attention") => {
                Ok(LayerPlan { attend: Attend::Near(reach), rotary: Some(local) })
            }
            _ => Err(config
                .wrong("layer_types", "`full_attention` or `sliding_attention` for each layer")),
        }
    });
    Ok(Plan {
        vocabulary: config.size("vocab_size")?,
        hidden,
        inner: config.size("intermediate_size")?,
        segments: 0,
        heads: Heads { queries: heads, keys: heads, dim },
        layers: layers.collect::<Result<_, _>>()?,
        positions: Positions::None,
        relative: None,
        order: Order::Pre,
        norm: NormKind::Layer,
        eps: eps(config.positive_if("norm_eps")?.unwrap_or(1e-5)),
        activation: activation(config, "hidden_activation")?,
        gated: true,
        max_tokens: config.size("max_position_embeddings")?,
    })
}

/// The base of rotary positions, in the newer form of the configuration or the older.
fn theta(config: &Config, kind: &str, older: &str, usual: f64) -> Result<f64, NeuralError> {
    match config.object("rope_parameters")? {
        Some(parameters) => match parameters.object(kind)? {
            Some(parameters) => {
                if parameters.text("rope_type")?.is_some_and(|kind| kind != "default") {
                    return Err(parameters.wrong("rope_type", "`default`"));
                }
                Ok(parameters.positive_if("rope_theta")?.unwrap_or(usual))
            }
            None => Ok(usual),
        },
        None => Ok(config.positive_if(older)?.unwrap_or(usual)),
    }
}

pub(super) fn embedding(plan: &Plan, source: &Source<'_>) -> Result<EmbeddingParts, NeuralError> {
    Ok(EmbeddingParts {
        words: source.matrix(ANCHOR, plan.vocabulary, plan.hidden)?,
        positions: None,
        segments: None,
        norm: Some(source.scale("embeddings.norm", plan.hidden)?),
        last_norm: Some(source.scale("final_norm", plan.hidden)?),
        relative: None,
    })
}

pub(super) fn layer(
    plan: &Plan,
    source: &Source<'_>,
    index: usize,
) -> Result<LayerParts, NeuralError> {
    let (hidden, inner) = (plan.hidden, plan.inner);
    let name = |part: &str| format!("layers.{index}.{part}");
    let both = source.product(&name("mlp.Wi"), 2 * inner, hidden)?;
    Ok(LayerParts {
        // The first layer's input is normed already.
        attention_norm: match index {
            0 => None,
            _ => Some(source.scale(&name("attn_norm"), hidden)?),
        },
        qkv: source.product(&name("attn.Wqkv"), plan.heads.width(), hidden)?,
        head_norms: None,
        out: source.product(&name("attn.Wo"), hidden, hidden)?,
        feed_norm: source.scale(&name("mlp_norm"), hidden)?,
        gate: Some(both.slice(0, inner)),
        up: both.slice(inner, 2 * inner),
        down: source.product(&name("mlp.Wo"), hidden, inner)?,
    })
}

/// A dense layer with a norm, and one logit.
pub(super) fn head(plan: &Plan, config: &Config, weights: &Weights) -> Result<Head, NeuralError> {
    let hidden = plan.hidden;
    config.only_flag("classifier_bias", false)?;
    if config.text("classifier_activation")?.is_some_and(|name| name != "gelu") {
        return Err(config.wrong("classifier_activation", "`gelu`"));
    }
    let averaged = match config.text("classifier_pooling")? {
        None | Some("cls") => false,
        Some("mean") => true,
        Some(_) => return Err(config.wrong("classifier_pooling", "`cls` or `mean`")),
    };
    let weight = weights.get("head.dense.weight", &[hidden, hidden])?;
    Ok(Head {
        dense: Linear { inputs: hidden, outputs: hidden, weight, bias: None },
        after: HeadActivation::Gelu,
        norm: Some(Norm { weight: weights.get("head.norm.weight", &[hidden])?, bias: None }),
        eps: plan.eps,
        last: linear(weights, "classifier", 1, hidden)?,
        averaged,
    })
}
