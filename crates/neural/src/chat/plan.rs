//! What a language model is: the numbers that its configuration and architecture fix.

use super::spec::ChatArchitecture;
use crate::{
    encoder::{Activation, Heads},
    error::NeuralError,
    snapshot::Config,
};

/// A causal decoder: norm, attention, norm, gated feed-forward, each with what it adds to.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    pub(crate) inner: usize,
    pub(crate) heads: Heads,
    pub(crate) layers: Vec<LayerPlan>,
    /// What norms add to the mean of squares.
    pub(crate) eps: f32,
    pub(crate) activation: Activation,
    /// What products of queries and keys are multiplied with.
    pub(crate) scale: f32,
    /// What token vectors are multiplied with.
    pub(crate) embedding_scale: f32,
    /// Whether queries, keys and values have biases.
    pub(crate) biased: bool,
    /// Whether each head's queries and keys have a norm.
    pub(crate) head_norms: bool,
    /// Whether what a block adds has a norm of its own.
    pub(crate) sandwich: bool,
    /// What is added to a norm's weight.
    pub(crate) norm_offset: f32,
    /// Whether logits are made of the token vectors, where the configuration says so.
    pub(crate) tied: Option<bool>,
    /// Radians that a position turns each pair by: `[dim / 2]` for each kind of layer.
    pub(crate) rotaries: Vec<Vec<f32>>,
    /// Whether a pair is two neighbours, and not two values half a head apart.
    pub(crate) interleaved: bool,
    pub(crate) max_tokens: usize,
}

/// A layer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LayerPlan {
    /// Tokens that are seen, the own one included; without it all before.
    pub(crate) window: Option<usize>,
    /// Which of the plan's rotaries.
    pub(crate) rotary: usize,
}

/// More layers are not believed.
const MOST_LAYERS: usize = 1024;

impl Plan {
    /// Of a snapshot's `config.json`.
    ///
    /// # Errors
    ///
    /// If it is of another architecture, or a field is missing or asks for what is not computed.
    pub(crate) fn of_config(
        config: &Config,
        architecture: ChatArchitecture,
    ) -> Result<Plan, NeuralError> {
        let types: &[&str] = match architecture {
            ChatArchitecture::Llama => &["llama"],
            ChatArchitecture::Qwen2 => &["qwen2"],
            ChatArchitecture::Qwen3 => &["qwen3"],
            ChatArchitecture::Gemma3 => &["gemma3_text"],
        };
        check_type(config, "model_type", types)?;
        let gemma = architecture == ChatArchitecture::Gemma3;
        config.only_flag("attention_bias", false)?;
        config.only_flag("mlp_bias", false)?;
        for cap in ["attn_logit_softcapping", "final_logit_softcapping"] {
            if config.value(cap).is_some() {
                return Err(config.wrong(cap, "null"));
            }
        }
        let hidden = config.size("hidden_size")?;
        let queries = config.size("num_attention_heads")?;
        let keys = config.size_if("num_key_value_heads")?.unwrap_or(queries);
        let dim = match config.size_if("head_dim")? {
            Some(dim) => dim,
            None => hidden / queries,
        };
        let heads = heads(config, "num_key_value_heads", "head_dim", queries, keys, dim)?;
        let layers = config.size("num_hidden_layers")?;
        let windows = super::rotary::windows(config, layers.min(MOST_LAYERS), gemma)?;
        let (rotaries, layers) = match gemma {
            false => {
                let rotary = super::rotary::of_config(config, None, dim)?;
                (vec![rotary], windows)
            }
            true => {
                let wide = super::rotary::of_config(config, Some("full_attention"), dim)?;
                let near = super::rotary::of_config(config, Some("sliding_attention"), dim)?;
                (vec![wide, near], windows)
            }
        };
        let scaled_by = match gemma {
            true => config.positive("query_pre_attn_scalar")?,
            false => as_f64(dim),
        };
        let field = if gemma { "hidden_activation" } else { "hidden_act" };
        let activation = match (config.text(field)?, gemma) {
            (Some("silu"), false) => Activation::Silu,
            (Some("gelu_pytorch_tanh"), true) => Activation::GeluTanh,
            (_, true) => return Err(config.wrong(field, "`gelu_pytorch_tanh`")),
            (_, false) => return Err(config.wrong(field, "`silu`")),
        };
        Ok(Plan {
            vocabulary: config.size("vocab_size")?,
            hidden,
            inner: config.size("intermediate_size")?,
            heads,
            layers,
            eps: single(config.positive("rms_norm_eps")?),
            activation,
            scale: single(1.0 / scaled_by.sqrt()),
            embedding_scale: if gemma { single(as_f64(hidden).sqrt()) } else { 1.0 },
            biased: architecture == ChatArchitecture::Qwen2,
            head_norms: matches!(architecture, ChatArchitecture::Qwen3 | ChatArchitecture::Gemma3),
            sandwich: gemma,
            norm_offset: if gemma { 1.0 } else { 0.0 },
            // What the reference takes where nothing is said.
            tied: Some(config.flag("tie_word_embeddings")?.unwrap_or(gemma)),
            rotaries,
            interleaved: false,
            max_tokens: config.size("max_position_embeddings")?,
        })
    }

    /// Of a GGUF's metadata. `factors` are divisors of the rotary speeds, where the file has them.
    ///
    /// # Errors
    ///
    /// As [`Plan::of_config`].
    pub(crate) fn of_gguf(
        config: &Config,
        architecture: ChatArchitecture,
        vocabulary: usize,
        factors: Option<&[f32]>,
    ) -> Result<Plan, NeuralError> {
        let name = match architecture {
            ChatArchitecture::Llama => "llama",
            ChatArchitecture::Qwen2 => "qwen2",
            ChatArchitecture::Qwen3 => "qwen3",
            ChatArchitecture::Gemma3 => "gemma3",
        };
        check_type(config, "general.architecture", &[name])?;
        if architecture == ChatArchitecture::Gemma3 {
            return Err(config.wrong(
                "general.architecture",
                "a GGUF of llama, qwen2 or qwen3; gemma3 is read from safetensors",
            ));
        }
        let key = |field: &str| format!("{name}.{field}");
        if config.size_if(&key("expert_count")).is_ok_and(|n| n.is_some()) {
            return Err(config.wrong(&key("expert_count"), "0"));
        }
        let scaling = key("rope.scaling.type");
        if !matches!(config.text(&scaling)?, None | Some("none")) {
            return Err(config.wrong(&scaling, "`none`"));
        }
        let hidden = config.size(&key("embedding_length"))?;
        let queries = config.size(&key("attention.head_count"))?;
        let keys_field = key("attention.head_count_kv");
        let keys = config.size_if(&keys_field)?.unwrap_or(queries);
        let dim_field = key("attention.key_length");
        let dim = config.size_if(&dim_field)?.unwrap_or(hidden / queries);
        let heads = heads(config, &keys_field, &dim_field, queries, keys, dim)?;
        for field in [key("attention.value_length"), key("rope.dimension_count")] {
            if config.size_if(&field)?.is_some_and(|n| n != dim) {
                return Err(config.wrong(&field, &format!("{dim}, the size of a head")));
            }
        }
        let layers = config.size(&key("block_count"))?;
        if MOST_LAYERS < layers {
            return Err(config.wrong(&key("block_count"), "at most 1024"));
        }
        let base = config.positive_if(&key("rope.freq_base"))?.unwrap_or(10_000.0);
        let mut speeds = super::rotary::speeds(base, dim);
        if let Some(factors) = factors {
            speeds.iter_mut().zip(factors).for_each(|(speed, factor)| *speed /= factor);
        }
        Ok(Plan {
            vocabulary,
            hidden,
            inner: config.size(&key("feed_forward_length"))?,
            heads,
            layers: vec![LayerPlan { window: None, rotary: 0 }; layers],
            eps: single(config.positive(&key("attention.layer_norm_rms_epsilon"))?),
            activation: Activation::Silu,
            scale: single(1.0 / as_f64(dim).sqrt()),
            embedding_scale: 1.0,
            biased: architecture == ChatArchitecture::Qwen2,
            head_norms: architecture == ChatArchitecture::Qwen3,
            sandwich: false,
            norm_offset: 0.0,
            tied: None,
            rotaries: vec![speeds],
            // Converters reorder the rows of queries and keys of Llama alone.
            interleaved: architecture == ChatArchitecture::Llama,
            max_tokens: config.size(&key("context_length"))?,
        })
    }
}

/// Refuses another value than the card's.
fn check_type(config: &Config, field: &'static str, types: &[&str]) -> Result<(), NeuralError> {
    match config.text(field)? {
        Some(found) if types.contains(&found) => Ok(()),
        found => Err(NeuralError::Contradiction {
            path: config.path().to_owned(),
            what: "the architecture",
            snapshot: found.map_or("absent".to_owned(), |found| {
                format!("`{}`", crate::snapshot::short(found))
            }),
            card: format!("`{}`", types[0]),
        }),
    }
}

fn heads(
    config: &Config,
    keys_field: &str,
    dim_field: &str,
    queries: usize,
    keys: usize,
    dim: usize,
) -> Result<Heads, NeuralError> {
    if !queries.is_multiple_of(keys) {
        return Err(config.wrong(keys_field, &format!("a divisor of the {queries} heads")));
    }
    if dim == 0 || !dim.is_multiple_of(2) {
        return Err(config.wrong(dim_field, "an even number"));
    }
    Ok(Heads { queries, keys, dim })
}

#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to f32 on purpose")]
fn single(x: f64) -> f32 {
    x as f32
}
