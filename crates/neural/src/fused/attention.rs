//! Attention of one text: heads one after the other, twelve queries at a time, softmax in between.

use std::ops::Range;

use super::{
    functions::softmax,
    lanes::{COLUMNS, Lanes, ROWS, Strip, Work, dispatch},
    linear::{halves, store},
};
use crate::encoder::{Attend, Heads};

/// Buffers that are kept from one text to the next.
#[derive(Default)]
pub(super) struct Scratch {
    keys: Vec<Strip>,
    values: Vec<Strip>,
    scores: Vec<f32>,
}

/// What a layer's attention is.
#[derive(Clone, Copy)]
pub(super) struct Attention<'a> {
    pub(super) heads: Heads,
    pub(super) attend: Attend,
    /// What is added to a score, by head and distance: see [`Bias`].
    pub(super) bias: Option<&'a Bias>,
}

/// Relative position biases: `[heads, 2 * reach + 1]`, by key position minus query position.
pub(super) struct Bias {
    pub(super) reach: usize,
    pub(super) values: Vec<f32>,
}

impl Attention<'_> {
    /// - `qkv`: `[tokens, (heads + 2 * kv_heads) * dim]`: queries, keys, values
    /// - `out`: `[tokens, heads * dim]`, overwritten
    pub(super) fn apply(self, qkv: &[f32], out: &mut [f32], scratch: &mut Scratch) {
        dispatch(Apply { of: self, qkv, out, scratch });
    }
}

struct Apply<'a> {
    of: Attention<'a>,
    qkv: &'a [f32],
    out: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl Work for Apply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let Heads { queries, keys, dim } = self.of.heads;
        let width = self.of.heads.width();
        let tokens = self.qkv.len() / width;
        for key in 0..keys {
            pack_keys(&mut self.scratch.keys, self.qkv, width, (queries + key) * dim, dim);
            let first = (queries + keys + key) * dim;
            pack_values(&mut self.scratch.values, self.qkv, width, first, dim);
            let group = queries / keys;
            for head in key * group..(key + 1) * group {
                for row in (0..tokens).step_by(ROWS) {
                    self.block::<L>(head, row..tokens.min(row + ROWS), tokens);
                }
            }
        }
    }
}

impl Apply<'_> {
    /// Some queries of a head.
    #[inline(always)]
    fn block<L: Lanes>(&mut self, head: usize, rows: Range<usize>, tokens: usize) {
        let Heads { queries, dim, .. } = self.of.heads;
        let width = self.of.heads.width();
        let Scratch { keys, values, scores } = &mut *self.scratch;
        let mut sums = [Strip::ZERO; ROWS];
        let sums = &mut sums[..rows.len()];

        // Whole panels of keys that any of the queries sees.
        let attend = self.of.attend;
        let seen = attend.keys(rows.start, tokens).start..attend.keys(rows.end - 1, tokens).end;
        let seen = seen.start / COLUMNS * COLUMNS..seen.end.next_multiple_of(COLUMNS);
        let span = seen.len();
        scores.resize(rows.len() * span, 0.0);
        let x = &self.qkv[rows.start * width + head * dim..];
        let scale = L::splat(self.of.heads.scale());
        for (p, panel) in (seen.start / COLUMNS..seen.end / COLUMNS).enumerate() {
            sums.fill(Strip::ZERO);
            L::tile(x, width, &keys[panel * dim..][..dim], sums);
            for (sum, scores) in sums.iter().zip(scores.chunks_exact_mut(span)) {
                let [a, b] = halves::<L>(&sum.0);
                store([a.mul(scale), b.mul(scale)], &mut scores[p * COLUMNS..][..COLUMNS]);
            }
        }

        let mut factors = [0.0; ROWS];
        for ((row, scores), factor) in
            rows.clone().zip(scores.chunks_exact_mut(span)).zip(&mut factors)
        {
            let valid = attend.keys(row, tokens);
            let own = valid.start - seen.start..valid.end - seen.start;
            if let Some(bias) = self.of.bias {
                let first = head * (2 * bias.reach + 1) + bias.reach + valid.start - row;
                let table = &bias.values[first..];
                scores[own.clone()].iter_mut().zip(table).for_each(|(s, b)| *s += b);
            }
            *factor = 1.0 / softmax::<L>(scores, own);
        }

        let padded = tokens.next_multiple_of(COLUMNS);
        for p in 0..dim.div_ceil(COLUMNS) {
            sums.fill(Strip::ZERO);
            L::tile(scores, span, &values[p * padded..][seen.clone()], sums);
            let columns = (dim - p * COLUMNS).min(COLUMNS);
            for ((row, sum), &factor) in rows.clone().zip(&*sums).zip(&factors) {
                let ([a, b], factor) = (halves::<L>(&sum.0), L::splat(factor));
                let at = row * queries * dim + head * dim + p * COLUMNS;
                store([a.mul(factor), b.mul(factor)], &mut self.out[at..][..columns]);
            }
        }
    }
}

/// Keys as panels of [`COLUMNS`]: `[panels, dim]`; beyond the last key are zeros.
#[inline(always)]
fn pack_keys(to: &mut Vec<Strip>, qkv: &[f32], width: usize, first: usize, dim: usize) {
    let tokens = qkv.len() / width;
    to.clear();
    to.resize(tokens.div_ceil(COLUMNS) * dim, Strip::ZERO);
    for (t, row) in qkv.chunks_exact(width).enumerate() {
        let panel = &mut to[t / COLUMNS * dim..][..dim];
        for (strip, &x) in panel.iter_mut().zip(&row[first..][..dim]) {
            strip.0[t % COLUMNS] = x;
        }
    }
}

/// Values as panels of [`COLUMNS`] dimensions: `[panels, tokens]`, tokens filled up with zeros to a
/// whole panel of keys.
#[inline(always)]
fn pack_values(to: &mut Vec<Strip>, qkv: &[f32], width: usize, first: usize, dim: usize) {
    let padded = (qkv.len() / width).next_multiple_of(COLUMNS);
    to.clear();
    to.resize(dim.div_ceil(COLUMNS) * padded, Strip::ZERO);
    for (t, row) in qkv.chunks_exact(width).enumerate() {
        for (p, part) in row[first..][..dim].chunks(COLUMNS).enumerate() {
            to[p * padded + t].0[..part.len()].copy_from_slice(part);
        }
    }
}
