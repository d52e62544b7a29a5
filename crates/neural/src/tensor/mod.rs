//! Transformers as candle tensors: what accelerators compute, and the reference of the CPU's.
//!
//! Texts of one length are computed together, so that nothing is padded or masked for length.

mod causal;
mod layer;

use candle_core::{DType, Device, Tensor};
use layer::{Layer, NormTensors, Tables};

pub(crate) use causal::CausalTensors;

use crate::{
    encoder::{Encoder, Matrix, Norm, Plan},
    engine::Engine,
    error::NeuralError,
    fused::pool,
    spec::{Dtype, Pooling},
    text::Tokens,
};

/// Tokens of a batch: enough to fill an accelerator.
const BUDGET: usize = 16_384;

/// An encoder whose weights are on a device.
pub(crate) struct Tensors {
    plan: Plan,
    device: Device,
    dtype: DType,
    words: Tensor,
    positions: Option<Tensor>,
    segments: Option<Tensor>,
    norm: Option<NormTensors>,
    last_norm: Option<NormTensors>,
    /// `[buckets, heads]`
    relative: Option<Tensor>,
    layers: Vec<Layer>,
}

impl Tensors {
    /// Reads all weights and moves them to the device.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape, or the device fails.
    pub(crate) fn new(
        encoder: &Encoder<'_>,
        device: &Device,
        dtype: Dtype,
    ) -> Result<Tensors, NeuralError> {
        let dtype = dtype_of(dtype);
        let plan = encoder.plan.clone();
        let parts = encoder.embedding()?;
        let table = |matrix: &Matrix| matrix.tensor(device, dtype);
        let norm = |norm: &Norm| NormTensors::new(norm, plan.norm, plan.eps, device, dtype);
        let mut layers = Vec::new();
        for index in 0..plan.layers.len() {
            layers.push(Layer::new(&encoder.layer(index)?, &plan, device, dtype)?);
        }
        Ok(Tensors {
            words: table(&parts.words)?,
            positions: parts.positions.as_ref().map(table).transpose()?,
            segments: parts.segments.as_ref().map(table).transpose()?,
            norm: parts.norm.as_ref().map(norm).transpose()?,
            last_norm: parts.last_norm.as_ref().map(norm).transpose()?,
            relative: parts.relative.as_ref().map(table).transpose()?,
            layers,
            plan,
            device: device.clone(),
            dtype,
        })
    }

    /// The hidden states of texts of one length: `[texts, tokens, hidden]`.
    fn hidden_states(&self, texts: &[&Tokens]) -> candle_core::Result<Tensor> {
        let (n, tokens) = (texts.len(), texts[0].ids.len());
        let rows = |table: &Tensor, rows: Vec<u32>| {
            let rows = Tensor::from_vec(rows, n * tokens, &self.device)?;
            table.index_select(&rows, 0)?.reshape((n, tokens, self.plan.hidden))
        };
        let mut x = rows(&self.words, texts.iter().flat_map(|t| t.ids.clone()).collect())?;
        if let Some(table) = &self.segments {
            let last = u32::try_from(self.plan.segments - 1).unwrap_or(u32::MAX);
            let segments = texts.iter().flat_map(|t| &t.segments).map(|&s| s.min(last));
            x = (x + rows(table, segments.collect())?)?;
        }
        if let Some(table) = &self.positions {
            let positions = texts.iter().flat_map(|t| self.plan.positions.rows(&t.ids));
            let positions = positions.map(|row| u32::try_from(row).unwrap_or(u32::MAX));
            x = (x + rows(table, positions.collect())?)?;
        }
        if let Some(norm) = &self.norm {
            x = norm.apply(&x)?;
        }
        let tables =
            Tables::new(&self.plan, tokens, self.relative.as_ref(), &self.device, self.dtype)?;
        for (layer, of) in self.layers.iter().zip(&self.plan.layers) {
            x = layer.apply(&x, &self.plan, of, &tables)?;
        }
        match &self.last_norm {
            Some(norm) => norm.apply(&x),
            None => Ok(x),
        }
    }
}

impl Engine for Tensors {
    fn pooled(&self, batch: &[&Tokens], pooling: Pooling) -> Result<Vec<f32>, NeuralError> {
        let hidden = self.plan.hidden;
        let mut out = vec![0.0; batch.len() * hidden];
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(|&i| (batch[i].ids.len(), i));
        for group in order.chunk_by(|&a, &b| batch[a].ids.len() == batch[b].ids.len()) {
            let texts: Vec<&Tokens> = group.iter().map(|&i| batch[i]).collect();
            let tokens = texts[0].ids.len();
            if tokens == 0 {
                continue;
            }
            let states = self.hidden_states(&texts)?;
            // Only what pooling needs leaves the device.
            let states = match pooling {
                Pooling::Cls => states.narrow(1, 0, 1)?,
                Pooling::LastToken => states.narrow(1, tokens - 1, 1)?,
                Pooling::Mean => states,
            };
            let states = states.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
            for (&i, states) in group.iter().zip(states.chunks_exact(states.len() / group.len())) {
                pool(states, &mut out[i * hidden..][..hidden], pooling);
            }
        }
        Ok(out)
    }

    fn hidden(&self) -> usize {
        self.plan.hidden
    }

    fn parallel(&self) -> bool {
        false
    }

    fn budget(&self) -> usize {
        BUDGET
    }

    fn name(&self) -> &'static str {
        "tensors 1"
    }
}

/// The type in candle's terms.
fn dtype_of(dtype: Dtype) -> DType {
    match dtype {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::Bf16 => DType::BF16,
    }
}

impl Matrix {
    fn tensor(&self, device: &Device, dtype: DType) -> candle_core::Result<Tensor> {
        let shape = (self.values.len() / self.columns, self.columns);
        Tensor::from_slice(&self.values, shape, device)?.to_dtype(dtype)
    }
}
