//! One layer as candle tensors.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops;

use crate::encoder::{
    Activation, Attend, Heads, LayerParts, LayerPlan, Linear, Norm, NormKind, Order, Plan,
};

/// A layer's weights.
pub(super) struct Layer {
    attention_norm: Option<NormTensors>,
    qkv: LinearTensors,
    head_norms: Option<(NormTensors, NormTensors)>,
    out: LinearTensors,
    feed_norm: NormTensors,
    gate: Option<LinearTensors>,
    up: LinearTensors,
    down: LinearTensors,
}

/// A norm's weights. Without a bias the bias is zero.
pub(super) struct NormTensors {
    kind: NormKind,
    weight: Tensor,
    bias: Tensor,
    eps: f32,
}

/// A linear layer's weights.
pub(super) struct LinearTensors {
    /// `[inputs, outputs]`
    weight: Tensor,
    bias: Option<Tensor>,
}

/// What depends on the length of the texts alone.
pub(super) struct Tables {
    /// For each kind of attention, what is added to the scores: `[1 or heads, tokens, tokens]`.
    masks: Vec<(Attend, Option<Tensor>)>,
    /// For each base, cosines and sines: `[tokens, dim / 2]`.
    rotaries: Vec<(f64, Tensor, Tensor)>,
}

impl Layer {
    pub(super) fn new(
        parts: &LayerParts,
        plan: &Plan,
        device: &Device,
        dtype: DType,
    ) -> Result<Layer> {
        let linear = |linear: &Linear| LinearTensors::new(linear, device, dtype);
        let norm = |norm: &Norm, kind| NormTensors::new(norm, kind, plan.eps, device, dtype);
        Ok(Layer {
            attention_norm: parts
                .attention_norm
                .as_ref()
                .map(|n| norm(n, plan.norm))
                .transpose()?,
            qkv: linear(&parts.qkv)?,
            head_norms: match &parts.head_norms {
                Some((query, key)) => {
                    Some((norm(query, NormKind::Rms)?, norm(key, NormKind::Rms)?))
                }
                None => None,
            },
            out: linear(&parts.out)?,
            feed_norm: norm(&parts.feed_norm, plan.norm)?,
            gate: parts.gate.as_ref().map(linear).transpose()?,
            up: linear(&parts.up)?,
            down: linear(&parts.down)?,
        })
    }

    /// `x`: `[texts, tokens, hidden]`, and so is the result.
    pub(super) fn apply(
        &self,
        x: &Tensor,
        plan: &Plan,
        of: &LayerPlan,
        tables: &Tables,
    ) -> Result<Tensor> {
        let norm = |norm: &Option<NormTensors>, x: &Tensor| match norm {
            Some(norm) => norm.apply(x),
            None => Ok(x.clone()),
        };
        match plan.order {
            Order::Post => {
                let x =
                    norm(&self.attention_norm, &(self.attend(x, plan.heads, of, tables)? + x)?)?;
                self.feed_norm.apply(&(self.feed(&x, plan.activation)? + &x)?)
            }
            Order::Pre => {
                let normed = norm(&self.attention_norm, x)?;
                let x = (self.attend(&normed, plan.heads, of, tables)? + x)?;
                self.feed(&self.feed_norm.apply(&x)?, plan.activation)? + x
            }
        }
    }

    fn attend(&self, x: &Tensor, heads: Heads, of: &LayerPlan, tables: &Tables) -> Result<Tensor> {
        let (texts, tokens, _) = x.dims3()?;
        let Heads { queries, keys, dim } = heads;
        let qkv = self.qkv.apply(x)?;
        let part = |from: usize, n: usize| {
            let part = qkv.narrow(2, from * dim, n * dim)?;
            part.reshape((texts, tokens, n, dim))?.transpose(1, 2)?.contiguous()
        };
        let (mut q, mut k) = (part(0, queries)?, part(queries, keys)?); // [texts, heads, tokens, dim]
        let v = part(queries + keys, keys)?;
        if let Some((query, key)) = &self.head_norms {
            (q, k) = (query.apply(&q)?, key.apply(&k)?);
        }
        if let Some((cosines, sines)) = tables.rotary(of) {
            q = candle_nn::rotary_emb::rope(&q, cosines, sines)?;
            k = candle_nn::rotary_emb::rope(&k, cosines, sines)?;
        }
        let spread = |x: Tensor| match queries / keys {
            1 => Ok(x),
            group => x
                .unsqueeze(2)?
                .expand((texts, keys, group, tokens, dim))?
                .reshape((texts, queries, tokens, dim)),
        };
        let (k, v) = (spread(k)?, spread(v)?);
        let mut scores = (q.matmul(&k.t()?.contiguous()?)? * f64::from(heads.scale()))?;
        if let Some(mask) = tables.mask(of) {
            scores = scores.broadcast_add(mask)?;
        }
        let context = ops::softmax_last_dim(&scores)?.matmul(&v.contiguous()?)?;
        self.out.apply(&context.transpose(1, 2)?.reshape((texts, tokens, queries * dim))?)
    }

    fn feed(&self, x: &Tensor, activation: Activation) -> Result<Tensor> {
        let up = self.up.apply(x)?;
        let inner = match &self.gate {
            None => activate(&up, activation)?,
            Some(gate) => (activate(&gate.apply(x)?, activation)? * up)?,
        };
        self.down.apply(&inner)
    }
}

/// An activation of each value.
pub(super) fn activate(x: &Tensor, activation: Activation) -> Result<Tensor> {
    match activation {
        Activation::Gelu => x.gelu_erf(),
        Activation::GeluTanh => x.gelu(),
        Activation::Silu => x.silu(),
        Activation::Relu => x.relu(),
    }
}

impl NormTensors {
    pub(super) fn new(
        norm: &Norm,
        kind: NormKind,
        eps: f32,
        device: &Device,
        dtype: DType,
    ) -> Result<NormTensors> {
        let size = norm.weight.len();
        let tensor = |values: &[f32]| Tensor::from_slice(values, size, device)?.to_dtype(dtype);
        let bias = match &norm.bias {
            Some(bias) => tensor(bias)?,
            None => Tensor::zeros(size, dtype, device)?,
        };
        Ok(NormTensors { kind, weight: tensor(&norm.weight)?, bias, eps })
    }

    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        match self.kind {
            NormKind::Layer => {
                ops::layer_norm(&x.contiguous()?, &self.weight, &self.bias, self.eps)
            }
            NormKind::Rms => ops::rms_norm(&x.contiguous()?, &self.weight, self.eps),
        }
    }
}

impl LinearTensors {
    pub(super) fn new(linear: &Linear, device: &Device, dtype: DType) -> Result<LinearTensors> {
        let shape = (linear.outputs, linear.inputs);
        let weight = Tensor::from_slice(&linear.weight, shape, device)?.to_dtype(dtype)?;
        let bias = match &linear.bias {
            Some(bias) => Some(Tensor::from_slice(bias, linear.outputs, device)?.to_dtype(dtype)?),
            None => None,
        };
        Ok(LinearTensors { weight: weight.t()?.contiguous()?, bias })
    }

    /// `x`: `[texts, tokens, inputs]`; gives `[texts, tokens, outputs]`.
    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let (texts, tokens, inputs) = x.dims3()?;
        let out = x.reshape((texts * tokens, inputs))?.matmul(&self.weight)?;
        let out = match &self.bias {
            Some(bias) => out.broadcast_add(bias)?,
            None => out,
        };
        out.reshape((texts, tokens, self.weight.dim(D::Minus1)?))
    }
}

impl Tables {
    pub(super) fn new(
        plan: &Plan,
        tokens: usize,
        relative: Option<&Tensor>,
        device: &Device,
        dtype: DType,
    ) -> Result<Tables> {
        let mut tables = Tables { masks: Vec::new(), rotaries: Vec::new() };
        for layer in &plan.layers {
            if tables.masks.iter().all(|(attend, _)| *attend != layer.attend) {
                let mask = mask(plan, layer.attend, tokens, relative, device, dtype)?;
                tables.masks.push((layer.attend, mask));
            }
            let Some(base) = layer.rotary else { continue };
            if tables.rotary(layer).is_none() {
                let (cosines, sines) = crate::fused::rotary_table(base, plan.heads.dim, tokens);
                let tensor = |values: Vec<f32>| {
                    Tensor::from_vec(values, (tokens, plan.heads.dim / 2), device)?.to_dtype(dtype)
                };
                tables.rotaries.push((base, tensor(cosines)?, tensor(sines)?));
            }
        }
        Ok(tables)
    }

    fn mask(&self, of: &LayerPlan) -> Option<&Tensor> {
        let found = self.masks.iter().find(|(attend, _)| *attend == of.attend);
        found.and_then(|(_, mask)| mask.as_ref())
    }

    fn rotary(&self, of: &LayerPlan) -> Option<(&Tensor, &Tensor)> {
        let bits = of.rotary?.to_bits();
        let found = self.rotaries.iter().find(|(base, ..)| base.to_bits() == bits);
        found.map(|(_, cosines, sines)| (cosines, sines))
    }
}

/// What is added to the scores: minus infinity where a token is not seen, and the bias by distance.
fn mask(
    plan: &Plan,
    attend: Attend,
    tokens: usize,
    relative: Option<&Tensor>,
    device: &Device,
    dtype: DType,
) -> Result<Option<Tensor>> {
    let unseen = |row: usize| {
        let seen = attend.keys(row, tokens);
        (0..tokens).map(move |key| if seen.contains(&key) { 0.0 } else { f32::NEG_INFINITY })
    };
    let masked = match attend {
        Attend::All => None,
        _ => {
            let values: Vec<f32> = (0..tokens).flat_map(unseen).collect();
            Some(Tensor::from_vec(values, (1, tokens, tokens), device)?.to_dtype(dtype)?)
        }
    };
    let (Some(table), Some(relative)) = (relative, plan.relative) else { return Ok(masked) };
    let buckets: Vec<u32> = (0..tokens)
        .flat_map(|query| {
            (0..tokens).map(move |key| {
                let bucket = relative.bucket(key.cast_signed() - query.cast_signed());
                u32::try_from(bucket).unwrap_or(u32::MAX)
            })
        })
        .collect();
    let buckets = Tensor::from_vec(buckets, tokens * tokens, device)?;
    let bias = table.index_select(&buckets, 0)?.t()?.reshape(((), tokens, tokens))?;
    match masked {
        Some(mask) => Ok(Some(bias.broadcast_add(&mask)?)),
        None => Ok(Some(bias)),
    }
}
