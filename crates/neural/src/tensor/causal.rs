//! Causal decoders as candle tensors: what accelerators compute, and the reference of the CPU's.
//!
//! Architecture invariant: what is kept of a prompt is never written to, only joined with what
//! follows into something new, so two continuations of one prefix can't see each other.

use std::sync::Arc;

use candle_core::{
    DType, Device, Module, Result, Tensor,
    quantized::{QMatMul, ggml_file::qtensor_from_ggml},
};
use candle_nn::ops;

use super::layer::{LinearTensors, NormTensors, activate};
use crate::{
    chat::{Decoder, MatrixPart, Plan, Reading, Source},
    encoder::{Norm, NormKind},
    error::NeuralError,
    fused::turns,
    spec::Dtype,
};

/// Tokens that go through the layers together: attention keeps scores of them all.
const CHUNK: usize = 512;

/// A decoder whose weights are on a device.
pub(crate) struct CausalTensors {
    plan: Plan,
    device: Device,
    dtype: DType,
    /// `[vocabulary, hidden]`
    words: Tensor,
    layers: Vec<CausalLayer>,
    last_norm: NormTensors,
    head: Product,
}

struct CausalLayer {
    attention_norm: NormTensors,
    query: Product,
    key: Product,
    value: Product,
    head_norms: Option<(NormTensors, NormTensors)>,
    out: Product,
    /// Of what attention adds.
    after_attention: Option<NormTensors>,
    feed_norm: NormTensors,
    gate: Product,
    up: Product,
    down: Product,
    /// Of what the feed-forward block adds.
    after_feed: Option<NormTensors>,
}

/// A linear layer.
enum Product {
    Plain(LinearTensors),
    /// Quantised, for rows of f32.
    Kept(QMatMul, Option<Tensor>),
}

/// Keys and values of a layer: `[1, keys, tokens, dim]`.
type KeysAndValues = (Tensor, Tensor);

/// What is kept of a prompt, and what reads on.
struct TensorReading {
    causal: Arc<CausalTensors>,
    tokens: usize,
    /// Of each layer, once something was read.
    layers: Vec<Option<KeysAndValues>>,
}

impl CausalTensors {
    /// Reads all weights and moves them to the device.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape, or the device fails.
    pub(crate) fn new(
        plan: &Plan,
        source: &Source,
        device: &Device,
        dtype: Dtype,
    ) -> std::result::Result<CausalTensors, NeuralError> {
        let dtype = super::dtype_of(dtype);
        let load = Load { plan, source, device, dtype };
        let shape = [plan.vocabulary, plan.hidden];
        let words = source.vector_of("model.embed_tokens.weight", &shape)?;
        let words = Tensor::from_vec(words, &shape, device)?.to_dtype(dtype)?;
        let layers = (0..plan.layers.len()).map(|index| load.layer(index));
        let layers = layers.collect::<std::result::Result<_, NeuralError>>()?;
        let own = source.has("lm_head.weight") && plan.tied != Some(true);
        let name = match own || plan.tied == Some(false) {
            true => "lm_head",
            false => "model.embed_tokens",
        };
        let head = load.product(name, plan.vocabulary, plan.hidden, false)?;
        let last_norm = load.norm("model.norm", plan.hidden)?;
        Ok(CausalTensors {
            plan: plan.clone(),
            device: device.clone(),
            dtype,
            words,
            layers,
            last_norm,
            head,
        })
    }

    /// Reads at most [`CHUNK`] ids after `before` tokens, and gives all states: `[1, ids, hidden]`.
    fn states(
        &self,
        before: usize,
        kept: &mut [Option<KeysAndValues>],
        ids: &[u32],
    ) -> Result<Tensor> {
        let ids_tensor = Tensor::new(ids, &self.device)?;
        let words = self.words.index_select(&ids_tensor, 0)?.unsqueeze(0)?;
        let mut x = (words * f64::from(self.plan.embedding_scale))?;
        let rotary = |speeds: &Vec<f32>| -> Result<(Tensor, Tensor)> {
            let (cosines, sines) = turns(speeds, before, ids.len());
            let tensor = |values: Vec<f32>| {
                let shape = (ids.len(), speeds.len());
                Tensor::from_vec(values, shape, &self.device)?.to_dtype(self.dtype)
            };
            Ok((tensor(cosines)?, tensor(sines)?))
        };
        let rotaries: Vec<_> = self.plan.rotaries.iter().map(rotary).collect::<Result<_>>()?;
        let mut masks: Vec<(Option<usize>, Tensor)> = Vec::new();
        for ((layer, of), kept) in self.layers.iter().zip(&self.plan.layers).zip(kept) {
            if masks.iter().all(|(window, _)| *window != of.window) {
                masks.push((of.window, self.mask(of.window, before, ids.len())?));
            }
            let mask = masks.iter().find(|(window, _)| *window == of.window).map(|(_, mask)| mask);
            let normed = layer.attention_norm.apply(&x)?;
            let (cosines, sines) = &rotaries[of.rotary];
            let added = self.attend(layer, &normed, (cosines, sines), mask, kept)?;
            x = (x + norm_of(layer.after_attention.as_ref(), added)?)?;
            let normed = layer.feed_norm.apply(&x)?;
            let gate = activate(&layer.gate.apply(&normed)?, self.plan.activation)?;
            let added = layer.down.apply(&(gate * layer.up.apply(&normed)?)?)?;
            x = (x + norm_of(layer.after_feed.as_ref(), added)?)?;
        }
        Ok(x)
    }

    /// Attention of `x` to all that was read, which gets the keys and values of `x`.
    fn attend(
        &self,
        layer: &CausalLayer,
        x: &Tensor,
        (cosines, sines): (&Tensor, &Tensor),
        mask: Option<&Tensor>,
        kept: &mut Option<KeysAndValues>,
    ) -> Result<Tensor> {
        let heads = self.plan.heads;
        let tokens = x.dim(1)?;
        let part = |product: &Product, n: usize| {
            let part = product.apply(x)?.reshape((1, tokens, n, heads.dim))?;
            part.transpose(1, 2)?.contiguous()
        };
        // [1, heads, tokens, dim]
        let mut q = part(&layer.query, heads.queries)?;
        let mut k = part(&layer.key, heads.keys)?;
        let mut v = part(&layer.value, heads.keys)?;
        if let Some((query, key)) = &layer.head_norms {
            (q, k) = (query.apply(&q)?, key.apply(&k)?);
        }
        let turn = match self.plan.interleaved {
            true => candle_nn::rotary_emb::rope_i,
            false => candle_nn::rotary_emb::rope,
        };
        (q, k) = (turn(&q, cosines, sines)?, turn(&k, cosines, sines)?);
        if let Some((keys, values)) = kept.as_ref() {
            (k, v) = (Tensor::cat(&[keys, &k], 2)?, Tensor::cat(&[values, &v], 2)?);
        }
        *kept = Some((k.clone(), v.clone()));
        let group = heads.queries / heads.keys;
        let all = k.dim(2)?;
        // Queries of one key stand below each other, so that keys are not copied.
        let q = q.reshape((1, heads.keys, group * tokens, heads.dim))?;
        let scores = (q.matmul(&k.t()?)?.to_dtype(DType::F32)? * f64::from(self.plan.scale))?;
        let mut scores = scores.reshape((1, heads.queries, tokens, all))?;
        if let Some(mask) = mask {
            scores = scores.broadcast_add(mask)?;
        }
        let weights = ops::softmax_last_dim(&scores)?.to_dtype(self.dtype)?;
        let weights = weights.reshape((1, heads.keys, group * tokens, all))?;
        let context = weights.matmul(&v)?.reshape((1, heads.queries, tokens, heads.dim))?;
        let context = context.transpose(1, 2)?.reshape((1, tokens, heads.queries * heads.dim))?;
        layer.out.apply(&context)
    }

    /// What is added to the scores: minus infinity where a token is not seen. `[rows, all]`
    fn mask(&self, window: Option<usize>, before: usize, rows: usize) -> Result<Tensor> {
        let all = before + rows;
        let values: Vec<f32> = (before..all)
            .flat_map(|row| {
                let first = window.map_or(0, |window| (row + 1).saturating_sub(window));
                (0..all).map(move |key| match (first..=row).contains(&key) {
                    true => 0.0,
                    false => f32::NEG_INFINITY,
                })
            })
            .collect();
        Tensor::from_vec(values, (rows, all), &self.device)
    }
}

impl Decoder for Arc<CausalTensors> {
    fn begin(&self) -> Box<dyn Reading> {
        let layers = vec![None; self.layers.len()];
        Box::new(TensorReading { causal: self.clone(), tokens: 0, layers })
    }

    fn vocabulary(&self) -> usize {
        self.plan.vocabulary
    }

    fn exact(&self) -> bool {
        false
    }

    fn name(&self) -> &'static str {
        "causal tensors 1"
    }
}

impl Reading for TensorReading {
    fn tokens(&self) -> usize {
        self.tokens
    }

    fn read(&mut self, ids: &[u32]) -> std::result::Result<Vec<f32>, NeuralError> {
        let mut last = None;
        for chunk in ids.chunks(CHUNK) {
            let states = self.causal.states(self.tokens, &mut self.layers, chunk)?;
            self.tokens += chunk.len();
            last = Some(states.narrow(1, chunk.len() - 1, 1)?);
        }
        let Some(last) = last else { return Ok(Vec::new()) };
        let logits = self.causal.head.apply(&self.causal.last_norm.apply(&last)?)?;
        Ok(logits.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
    }

    fn first(&self, tokens: usize) -> std::result::Result<Box<dyn Reading>, NeuralError> {
        let tokens = tokens.min(self.tokens);
        let first = |kept: &Option<KeysAndValues>| match kept {
            Some((keys, values)) if 0 < tokens => {
                Ok(Some((keys.narrow(2, 0, tokens)?, values.narrow(2, 0, tokens)?)))
            }
            _ => Ok(None),
        };
        let layers = self.layers.iter().map(first).collect::<Result<_>>()?;
        Ok(Box::new(TensorReading { causal: self.causal.clone(), tokens, layers }))
    }

    fn size(&self) -> usize {
        let size = |x: &Tensor| x.elem_count() * x.dtype().size_in_bytes();
        self.layers.iter().flatten().map(|(keys, values)| size(keys) + size(values)).sum()
    }
}

impl Product {
    /// `x`: `[1, rows, inputs]`; gives `[1, rows, outputs]`.
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Product::Plain(linear) => linear.apply(x),
            Product::Kept(matrix, bias) => {
                let out = matrix.forward(&x.to_dtype(DType::F32)?)?.to_dtype(x.dtype())?;
                match bias {
                    Some(bias) => out.broadcast_add(bias),
                    None => Ok(out),
                }
            }
        }
    }
}

fn norm_of(norm: Option<&NormTensors>, x: Tensor) -> Result<Tensor> {
    match norm {
        Some(norm) => norm.apply(&x),
        None => Ok(x),
    }
}

/// Where weights come from and go to.
struct Load<'a> {
    plan: &'a Plan,
    source: &'a Source,
    device: &'a Device,
    dtype: DType,
}

impl Load<'_> {
    fn norm(&self, name: &str, size: usize) -> std::result::Result<NormTensors, NeuralError> {
        let mut weight = self.source.vector_of(&format!("{name}.weight"), &[size])?;
        weight.iter_mut().for_each(|weight| *weight += self.plan.norm_offset);
        let norm = Norm { weight, bias: None };
        Ok(NormTensors::new(&norm, NormKind::Rms, self.plan.eps, self.device, self.dtype)?)
    }

    fn product(
        &self,
        name: &str,
        outputs: usize,
        inputs: usize,
        biased: bool,
    ) -> std::result::Result<Product, NeuralError> {
        Ok(match self.source.product(name, outputs, inputs, biased)? {
            MatrixPart::Plain(linear) => {
                Product::Plain(LinearTensors::new(&linear, self.device, self.dtype)?)
            }
            MatrixPart::Kept { matrix, bias, .. } => {
                let matrix = match self.device.is_cpu() {
                    true => matrix,
                    false => {
                        let shape = vec![outputs, inputs];
                        qtensor_from_ggml(matrix.dtype(), &matrix.data()?, shape, self.device)?
                    }
                };
                let bias = match bias {
                    Some(bias) => {
                        let bias = Tensor::from_vec(bias, outputs, self.device)?;
                        Some(bias.to_dtype(self.dtype)?)
                    }
                    None => None,
                };
                Product::Kept(QMatMul::from_qtensor(matrix)?, bias)
            }
        })
    }

    fn layer(&self, index: usize) -> std::result::Result<CausalLayer, NeuralError> {
        let Plan { hidden, inner, heads, biased, .. } = *self.plan;
        let (queries, keys) = (heads.queries * heads.dim, heads.keys * heads.dim);
        let name = |part: &str| format!("model.layers.{index}.{part}");
        let norm = |part: &str, size| self.norm(&name(part), size);
        let product = |part: &str, outputs, inputs, biased| {
            self.product(&name(part), outputs, inputs, biased)
        };
        let sandwich = |part: &str| match self.plan.sandwich {
            true => norm(part, hidden).map(Some),
            false => Ok(None),
        };
        let feed_norm = match self.plan.sandwich {
            true => "pre_feedforward_layernorm",
            false => "post_attention_layernorm",
        };
        Ok(CausalLayer {
            attention_norm: norm("input_layernorm", hidden)?,
            query: product("self_attn.q_proj", queries, hidden, biased)?,
            key: product("self_attn.k_proj", keys, hidden, biased)?,
            value: product("self_attn.v_proj", keys, hidden, biased)?,
            head_norms: match self.plan.head_norms {
                true => Some((
                    norm("self_attn.q_norm", heads.dim)?,
                    norm("self_attn.k_norm", heads.dim)?,
                )),
                false => None,
            },
            out: product("self_attn.o_proj", hidden, queries, false)?,
            after_attention: sandwich("post_attention_layernorm")?,
            feed_norm: norm(feed_norm, hidden)?,
            gate: product("mlp.gate_proj", inner, hidden, false)?,
            up: product("mlp.up_proj", inner, hidden, false)?,
            down: product("mlp.down_proj", hidden, inner, false)?,
            after_feed: sandwich("post_feedforward_layernorm")?,
        })
    }
}
