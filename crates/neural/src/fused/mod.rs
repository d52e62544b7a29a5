//! Transformers on the CPU: rows of all texts of a batch one after the other, without padding.
//!
//! A batch is computed by one thread, layer by layer; the feed-forward block by blocks of rows
//! that stay in the cache. Nothing is allocated within a layer.

mod attention;
mod causal;
mod functions;
mod lanes;
mod linear;
mod memory;
mod product;
mod rotary;
#[cfg(target_arch = "x86_64")]
mod x86;

use attention::{Attention, Bias, Scratch};
pub(crate) use causal::{Causal, turns};
use functions::{Scale, norm_rows};
pub(crate) use linear::{BLOCK, Finish, Packed};
use rotary::Rotary;
pub(crate) use rotary::table as rotary_table;

use crate::{
    encoder::{EmbeddingParts, Encoder, LayerParts, Matrix, Norm, NormKind, Order, Plan},
    engine::Engine,
    error::NeuralError,
    spec::Pooling,
    text::Tokens,
};

/// Tokens of a batch: more fall out of the cache, fewer don't fill the tiles.
const BUDGET: usize = 768;

/// An encoder whose weights are packed for the CPU.
pub(crate) struct Fused {
    plan: Plan,
    embedding: EmbeddingParts,
    layers: Vec<Layer>,
    bias: Option<Bias>,
}

struct Layer {
    attention_norm: Option<Norm>,
    qkv: Packed,
    head_norms: Option<(Norm, Norm)>,
    out: Packed,
    feed_norm: Norm,
    gate: Option<Packed>,
    up: Packed,
    down: Packed,
}

impl Fused {
    /// Reads and packs all weights.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape.
    pub(crate) fn new(encoder: &Encoder<'_>) -> Result<Fused, NeuralError> {
        let plan = encoder.plan.clone();
        let mut embedding = encoder.embedding()?;
        let bias = embedding.relative.take().map(|table| biases(&plan, &table));
        let mut layers = Vec::new();
        for index in 0..plan.layers.len() {
            layers.push(Layer::new(encoder.layer(index)?));
        }
        Ok(Fused { plan, embedding, layers, bias })
    }

    /// The hidden states after the last layer: `[tokens of all texts, hidden]`.
    fn hidden_states(&self, batch: &[&Tokens]) -> Vec<f32> {
        let plan = &self.plan;
        let mut x = self.embed(batch);
        let rows = x.len() / plan.hidden;
        let longest = batch.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        let rotaries = Rotary::of(plan, longest);

        let mut normed = vec![0.0; if plan.order == Order::Pre { x.len() } else { 0 }];
        let mut qkv = vec![0.0; rows * plan.heads.width()];
        let mut context = vec![0.0; rows * plan.heads.queries * plan.heads.dim];
        let mut scratch = Scratch::default();
        let mut block = Block::new(plan);
        for ((layer, of), rotary) in self.layers.iter().zip(&plan.layers).zip(&rotaries) {
            let input = match plan.order {
                Order::Post => &x,
                Order::Pre => {
                    normed.copy_from_slice(&x);
                    self.norm(layer.attention_norm.as_ref(), &mut normed);
                    &normed
                }
            };
            layer.qkv.apply(input, &mut qkv, Finish::Store);
            let attention =
                Attention { heads: plan.heads, attend: of.attend, bias: self.bias.as_ref() };
            let (mut from, width, out) =
                (0, plan.heads.width(), plan.heads.queries * plan.heads.dim);
            for text in batch.iter().filter(|text| !text.ids.is_empty()) {
                let to = from + text.ids.len();
                let qkv = &mut qkv[from * width..to * width];
                if let Some((query, key)) = &layer.head_norms {
                    head_norms(plan, query, key, qkv);
                }
                if let Some(rotary) = rotary {
                    rotary.turn(plan.heads, qkv);
                }
                attention.apply(qkv, &mut context[from * out..to * out], &mut scratch);
                from = to;
            }
            let blocks = x.chunks_mut(BLOCK * plan.hidden).zip(context.chunks(BLOCK * out));
            for (x, context) in blocks {
                self.after_attention(layer, x, context, &mut block);
            }
        }
        if let Some(norm) = &self.embedding.last_norm {
            self.norm(Some(norm), &mut x);
        }
        x
    }

    /// What follows attention, for a block of rows: `x` is replaced.
    fn after_attention(&self, layer: &Layer, x: &mut [f32], context: &[f32], block: &mut Block) {
        let rows = x.len() / self.plan.hidden;
        let mid = &mut block.mid[..x.len()];
        layer.out.apply(context, mid, Finish::Add(x));
        let inner = &mut block.inner[..rows * self.plan.inner];
        match self.plan.order {
            Order::Post => {
                self.norm(layer.attention_norm.as_ref(), mid);
                self.feed(layer, mid, inner, &mut block.gate);
                layer.down.apply(inner, x, Finish::Add(mid));
                self.norm(Some(&layer.feed_norm), x);
            }
            Order::Pre => {
                x.copy_from_slice(mid);
                self.norm(Some(&layer.feed_norm), x);
                self.feed(layer, x, inner, &mut block.gate);
                layer.down.apply(inner, x, Finish::Add(mid));
            }
        }
    }

    fn feed(&self, layer: &Layer, x: &[f32], inner: &mut [f32], gates: &mut [f32]) {
        let activation = self.plan.activation;
        match &layer.gate {
            None => layer.up.apply(x, inner, Finish::Activate(activation)),
            Some(gate) => {
                let gates = &mut gates[..inner.len()];
                gate.apply(x, gates, Finish::Store);
                layer.up.apply(x, inner, Finish::Gate(activation, gates));
            }
        }
    }

    /// The sum of a token's word, position and segment vectors: `[tokens of all texts, hidden]`.
    fn embed(&self, batch: &[&Tokens]) -> Vec<f32> {
        let parts = &self.embedding;
        let rows: usize = batch.iter().map(|text| text.ids.len()).sum();
        let mut x = Vec::with_capacity(rows * self.plan.hidden);
        for text in batch {
            let positions = self.plan.positions.rows(&text.ids);
            for (i, &id) in text.ids.iter().enumerate() {
                let start = x.len();
                x.extend_from_slice(parts.words.row(id as usize));
                if let Some(table) = &parts.segments {
                    // A model with one segment gets the first, whatever the tokenizer says.
                    let segment = (text.segments[i] as usize).min(self.plan.segments - 1);
                    add(&mut x[start..], table.row(segment));
                }
                if let Some(table) = &parts.positions {
                    add(&mut x[start..], table.row(positions[i]));
                }
            }
        }
        self.norm(parts.norm.as_ref(), &mut x);
        x
    }

    fn norm(&self, norm: Option<&Norm>, rows: &mut [f32]) {
        let Some(norm) = norm else { return };
        let scale = Scale { weight: &norm.weight, bias: norm.bias.as_deref() };
        norm_rows(self.plan.norm, rows, scale, self.plan.eps);
    }
}

/// Buffers for a block of rows.
struct Block {
    mid: Vec<f32>,
    inner: Vec<f32>,
    gate: Vec<f32>,
}

impl Block {
    fn new(plan: &Plan) -> Block {
        let inner = BLOCK * plan.inner;
        Block {
            mid: vec![0.0; BLOCK * plan.hidden],
            inner: vec![0.0; inner],
            gate: vec![0.0; if plan.gated { inner } else { 0 }],
        }
    }
}

impl Layer {
    fn new(parts: LayerParts) -> Layer {
        Layer {
            attention_norm: parts.attention_norm,
            qkv: Packed::new(&parts.qkv),
            head_norms: parts.head_norms,
            out: Packed::new(&parts.out),
            feed_norm: parts.feed_norm,
            gate: parts.gate.as_ref().map(Packed::new),
            up: Packed::new(&parts.up),
            down: Packed::new(&parts.down),
        }
    }
}

/// The bias of each head at each distance.
fn biases(plan: &Plan, table: &Matrix) -> Bias {
    let reach = plan.max_tokens;
    let mut values = Vec::with_capacity(plan.heads.queries * (2 * reach + 1));
    let relative = plan.relative;
    let distances: Vec<usize> = (0..2 * reach + 1)
        .map(|i| relative.map_or(0, |r| r.bucket(i.cast_signed() - reach.cast_signed())))
        .collect();
    for head in 0..plan.heads.queries {
        values.extend(distances.iter().map(|&bucket| table.row(bucket)[head]));
    }
    Bias { reach, values }
}

/// RMS norms of each head's query and key.
fn head_norms(plan: &Plan, query: &Norm, key: &Norm, qkv: &mut [f32]) {
    let heads = plan.heads;
    for row in qkv.chunks_exact_mut(heads.width()) {
        let parts = row.chunks_exact_mut(heads.dim).take(heads.queries + heads.keys);
        for (i, part) in parts.enumerate() {
            let norm = if i < heads.queries { query } else { key };
            let scale = Scale { weight: &norm.weight, bias: None };
            norm_rows(NormKind::Rms, part, scale, plan.eps);
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// One vector of a text's token vectors; zeros stay where there are no tokens.
///
/// - `states`: `[tokens, hidden]`
/// - `vector`: `[hidden]`, zeros
pub(crate) fn pool(states: &[f32], vector: &mut [f32], pooling: Pooling) {
    let rows = states.chunks_exact(vector.len());
    match pooling {
        Pooling::Cls => rows.take(1).for_each(|row| vector.copy_from_slice(row)),
        Pooling::LastToken => rows.rev().take(1).for_each(|row| vector.copy_from_slice(row)),
        Pooling::Mean => {
            let tokens = as_f32(rows.len().max(1));
            rows.for_each(|row| add(vector, row));
            vector.iter_mut().for_each(|x| *x /= tokens);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^24 tokens")]
fn as_f32(n: usize) -> f32 {
    n as f32
}

impl Matrix {
    /// # Panics
    ///
    /// If there is no such row: tokenizers and limits are checked when a model is opened.
    fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..][..self.columns]
    }
}

impl Engine for Fused {
    fn pooled(&self, batch: &[&Tokens], pooling: Pooling) -> Result<Vec<f32>, NeuralError> {
        let hidden = self.plan.hidden;
        let states = self.hidden_states(batch);
        let mut out = vec![0.0; batch.len() * hidden];
        let mut from = 0;
        for (text, vector) in batch.iter().zip(out.chunks_exact_mut(hidden)) {
            let to = from + text.ids.len() * hidden;
            pool(&states[from..to], vector, pooling);
            from = to;
        }
        Ok(out)
    }

    fn hidden(&self) -> usize {
        self.plan.hidden
    }

    fn parallel(&self) -> bool {
        true
    }

    fn budget(&self) -> usize {
        BUDGET
    }

    fn name(&self) -> &'static str {
        "fused 2"
    }
}
