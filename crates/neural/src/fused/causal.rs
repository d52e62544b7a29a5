//! Causal decoders on the CPU, with the keys and values of what was read before.
//!
//! Architecture invariant: a token's state is the same bits however its text is cut into calls
//! and whatever rows are computed beside it: each sum is one chain over the inputs, over the head
//! or over the positions from the first. So what is kept of a prefix can't show.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    functions::{Scale, norm_rows},
    linear::{BLOCK, Finish},
    memory::{Attention, Memory},
    product::Product,
};
use crate::{
    chat::{Decoder, LayerPlan, Plan, Reading, Source},
    encoder::NormKind,
    error::NeuralError,
};

/// Tokens that go through a layer together: more fall out of the cache.
const CHUNK: usize = 480;

/// A decoder whose weights are packed for the CPU.
pub(crate) struct Causal {
    plan: Plan,
    /// `[vocabulary, hidden]`
    words: Vec<f32>,
    layers: Vec<Layer>,
    last_norm: Vec<f32>,
    head: Product,
}

struct Layer {
    attention_norm: Vec<f32>,
    qkv: Product,
    head_norms: Option<(Vec<f32>, Vec<f32>)>,
    out: Product,
    /// Of what attention adds.
    after_attention: Option<Vec<f32>>,
    feed_norm: Vec<f32>,
    gate: Product,
    up: Product,
    down: Product,
    /// Of what the feed-forward block adds.
    after_feed: Option<Vec<f32>>,
}

/// What is kept of the tokens that were read.
struct Past {
    tokens: usize,
    layers: Vec<Memory>,
}

/// What is kept, and what reads on.
struct FusedReading {
    causal: Arc<Causal>,
    past: Past,
}

impl Decoder for Arc<Causal> {
    fn begin(&self) -> Box<dyn Reading> {
        let layers = self.layers.iter().map(|_| Memory::new(self.plan.heads)).collect();
        Box::new(FusedReading { causal: self.clone(), past: Past { tokens: 0, layers } })
    }

    fn vocabulary(&self) -> usize {
        self.plan.vocabulary
    }

    fn exact(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "causal 1"
    }
}

impl Reading for FusedReading {
    fn tokens(&self) -> usize {
        self.past.tokens
    }

    fn read(&mut self, ids: &[u32]) -> Result<Vec<f32>, NeuralError> {
        let state = self.causal.read(&mut self.past, ids)?;
        self.causal.logits(&state)
    }

    fn first(&self, tokens: usize) -> Result<Box<dyn Reading>, NeuralError> {
        let tokens = tokens.min(self.past.tokens);
        let layers = self.past.layers.iter().map(|layer| layer.first(tokens)).collect();
        Ok(Box::new(FusedReading { causal: self.causal.clone(), past: Past { tokens, layers } }))
    }

    fn size(&self) -> usize {
        self.past.layers.iter().map(Memory::size).sum()
    }
}

impl Causal {
    /// Reads and packs all weights.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or has another shape.
    pub(crate) fn new(plan: &Plan, source: &Source) -> Result<Causal, NeuralError> {
        let words =
            source.vector_of("model.embed_tokens.weight", &[plan.vocabulary, plan.hidden])?;
        let layers = (0..plan.layers.len())
            .map(|index| Layer::new(plan, source, index))
            .collect::<Result<Vec<_>, NeuralError>>()?;
        let last_norm = norm(plan, source, "model.norm", plan.hidden)?;
        let own = source.has("lm_head.weight") && plan.tied != Some(true);
        let head = match own || plan.tied == Some(false) {
            true => source.product("lm_head", plan.vocabulary, plan.hidden, false)?,
            false => source.product("model.embed_tokens", plan.vocabulary, plan.hidden, false)?,
        };
        Ok(Causal { plan: plan.clone(), words, layers, last_norm, head: Product::new(head)? })
    }

    /// Reads `ids`, which are not empty and below the vocabulary's size, after what is in `past`,
    /// and gives the last one's state: `[hidden]`.
    ///
    /// # Errors
    ///
    /// If a product of quantised matrices fails.
    fn read(&self, past: &mut Past, ids: &[u32]) -> Result<Vec<f32>, NeuralError> {
        let hidden = self.plan.hidden;
        let mut state = Vec::new();
        for chunk in ids.chunks(CHUNK) {
            let mut x: Vec<f32> = Vec::with_capacity(chunk.len() * hidden);
            for &id in chunk {
                let row = &self.words[id as usize * hidden..][..hidden];
                x.extend(row.iter().map(|x| x * self.plan.embedding_scale));
            }
            let rotaries: Vec<Rotary> = self
                .plan
                .rotaries
                .iter()
                .map(|speeds| Rotary::new(speeds, past.tokens, chunk.len()))
                .collect();
            let last = self.layers.len() - 1;
            for (index, (layer, of)) in self.layers.iter().zip(&self.plan.layers).enumerate() {
                let memory = &mut past.layers[index];
                // Of the last layer only the last token's state is asked for.
                let from = if index == last { chunk.len() - 1 } else { 0 };
                self.layer(layer, *of, &rotaries[of.rotary], memory, &mut x, from)?;
            }
            past.tokens += chunk.len();
            state = x[x.len() - hidden..].to_vec();
        }
        self.norm(&self.last_norm, &mut state);
        Ok(state)
    }

    /// The logits of a state: `[vocabulary]`.
    ///
    /// # Errors
    ///
    /// If a product of quantised matrices fails.
    fn logits(&self, state: &[f32]) -> Result<Vec<f32>, NeuralError> {
        let mut logits = vec![0.0; self.plan.vocabulary];
        self.head.apply(state, &mut logits, Finish::Store)?;
        Ok(logits)
    }

    /// One layer: `x` becomes its output in the rows from `from` on.
    fn layer(
        &self,
        layer: &Layer,
        of: LayerPlan,
        rotary: &Rotary,
        memory: &mut Memory,
        x: &mut [f32],
        from: usize,
    ) -> Result<(), NeuralError> {
        let Plan { hidden, heads, .. } = self.plan;
        let width = heads.width();
        let mut qkv = vec![0.0; x.len() / hidden * width];
        let blocks = x.par_chunks(BLOCK * hidden).zip(qkv.par_chunks_mut(BLOCK * width));
        blocks.enumerate().try_for_each(|(block, (x, qkv))| {
            let mut normed = x.to_vec();
            self.norm(&layer.attention_norm, &mut normed);
            layer.qkv.apply(&normed, qkv, Finish::Store)?;
            for (row, qkv) in qkv.chunks_exact_mut(width).enumerate() {
                if let Some((query, key)) = &layer.head_norms {
                    let (queries, rest) = qkv.split_at_mut(heads.queries * heads.dim);
                    self.norm(query, queries);
                    self.norm(key, &mut rest[..heads.keys * heads.dim]);
                }
                let turned = &mut qkv[..(heads.queries + heads.keys) * heads.dim];
                rotary.turn(block * BLOCK + row, heads.dim, self.plan.interleaved, turned);
            }
            Ok::<(), NeuralError>(())
        })?;
        let before = memory.tokens();
        memory.extend(&qkv);
        let memory = &*memory;
        let blocks = x[from * hidden..]
            .par_chunks_mut(BLOCK * hidden)
            .zip(qkv[from * width..].par_chunks(BLOCK * width));
        blocks.enumerate().try_for_each(|(block, (x, qkv))| {
            let first = before + from + block * BLOCK;
            let mut context = vec![0.0; qkv.len() / width * heads.queries * heads.dim];
            Attention { heads, scale: self.plan.scale, window: of.window, memory, first }
                .apply(qkv, &mut context);
            self.after_attention(layer, x, &context)
        })
    }

    /// What follows attention, for a block of rows: `x` is replaced.
    fn after_attention(
        &self,
        layer: &Layer,
        x: &mut [f32],
        context: &[f32],
    ) -> Result<(), NeuralError> {
        self.add(&layer.out, layer.after_attention.as_deref(), context, x)?;
        let mut normed = x.to_vec();
        self.norm(&layer.feed_norm, &mut normed);
        let rows = x.len() / self.plan.hidden;
        let mut gate = vec![0.0; rows * self.plan.inner];
        layer.gate.apply(&normed, &mut gate, Finish::Store)?;
        let mut inner = vec![0.0; gate.len()];
        layer.up.apply(&normed, &mut inner, Finish::Gate(self.plan.activation, &gate))?;
        self.add(&layer.down, layer.after_feed.as_deref(), &inner, x)
    }

    /// Adds a product, or its norm, to `x`.
    fn add(
        &self,
        product: &Product,
        norm: Option<&[f32]>,
        from: &[f32],
        x: &mut [f32],
    ) -> Result<(), NeuralError> {
        let mut added = vec![0.0; x.len()];
        match norm {
            None => {
                product.apply(from, &mut added, Finish::Add(x))?;
                x.copy_from_slice(&added);
            }
            Some(norm) => {
                product.apply(from, &mut added, Finish::Store)?;
                self.norm(norm, &mut added);
                x.iter_mut().zip(&added).for_each(|(x, added)| *x += added);
            }
        }
        Ok(())
    }

    fn norm(&self, weight: &[f32], rows: &mut [f32]) {
        norm_rows(NormKind::Rms, rows, Scale { weight, bias: None }, self.plan.eps);
    }
}

impl Layer {
    fn new(plan: &Plan, source: &Source, index: usize) -> Result<Layer, NeuralError> {
        let name = |part: &str| format!("model.layers.{index}.{part}");
        let (queries, keys) =
            (plan.heads.queries * plan.heads.dim, plan.heads.keys * plan.heads.dim);
        let (hidden, inner) = (plan.hidden, plan.inner);
        let norm = |part: &str, size| norm(plan, source, &name(part), size);
        let product = |part: &str, outputs, inputs, biased| {
            source.product(&name(part), outputs, inputs, biased)
        };
        let single = |part: &str, outputs, inputs| -> Result<Product, NeuralError> {
            Ok(Product::new(product(part, outputs, inputs, false)?)?)
        };
        let sandwich = |part: &str| match plan.sandwich {
            true => norm(part, hidden).map(Some),
            false => Ok(None),
        };
        let feed_norm =
            if plan.sandwich { "pre_feedforward_layernorm" } else { "post_attention_layernorm" };
        Ok(Layer {
            attention_norm: norm("input_layernorm", hidden)?,
            qkv: Product::beside(vec![
                product("self_attn.q_proj", queries, hidden, plan.biased)?,
                product("self_attn.k_proj", keys, hidden, plan.biased)?,
                product("self_attn.v_proj", keys, hidden, plan.biased)?,
            ])?,
            head_norms: match plan.head_norms {
                true => Some((
                    norm("self_attn.q_norm", plan.heads.dim)?,
                    norm("self_attn.k_norm", plan.heads.dim)?,
                )),
                false => None,
            },
            out: single("self_attn.o_proj", hidden, queries)?,
            after_attention: sandwich("post_attention_layernorm")?,
            feed_norm: norm(feed_norm, hidden)?,
            gate: single("mlp.gate_proj", inner, hidden)?,
            up: single("mlp.up_proj", inner, hidden)?,
            down: single("mlp.down_proj", hidden, inner)?,
            after_feed: sandwich("post_feedforward_layernorm")?,
        })
    }
}

fn norm(plan: &Plan, source: &Source, name: &str, size: usize) -> Result<Vec<f32>, NeuralError> {
    let mut weight = source.vector_of(&format!("{name}.weight"), &[size])?;
    weight.iter_mut().for_each(|weight| *weight += plan.norm_offset);
    Ok(weight)
}

/// Cosines and sines of some positions.
struct Rotary {
    half: usize,
    /// `[tokens, dim / 2]`
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

/// Cosines and sines of the angles at `tokens` positions from `first` on, each
/// `[tokens, speeds]`. Angles are products in f32, as in the reference.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounded to f32 on purpose; positions are far below 2^24"
)]
pub(crate) fn turns(speeds: &[f32], first: usize, tokens: usize) -> (Vec<f32>, Vec<f32>) {
    let positions = first..first + tokens;
    let angles = positions
        .flat_map(|position| speeds.iter().map(move |speed| f64::from(position as f32 * speed)));
    angles.map(|angle| (libm::cos(angle) as f32, libm::sin(angle) as f32)).unzip()
}

impl Rotary {
    fn new(speeds: &[f32], first: usize, tokens: usize) -> Rotary {
        let (cosines, sines) = turns(speeds, first, tokens);
        Rotary { half: speeds.len(), cosines, sines }
    }

    /// Turns the vectors of some heads, all at the position `row` after the first.
    fn turn(&self, row: usize, dim: usize, interleaved: bool, heads: &mut [f32]) {
        let cosines = &self.cosines[row * self.half..][..self.half];
        let sines = &self.sines[row * self.half..][..self.half];
        for head in heads.chunks_exact_mut(dim) {
            if interleaved {
                for ((pair, cos), sin) in
                    head.as_chunks_mut::<2>().0.iter_mut().zip(cosines).zip(sines)
                {
                    let [a, b] = *pair;
                    *pair = [a * cos - b * sin, b * cos + a * sin];
                }
                continue;
            }
            let (first, second) = head.split_at_mut(self.half);
            for (((a, b), cos), sin) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
            }
        }
    }
}
