//! Keys and values of the tokens that were read, packed as attention reads them.

use std::ops::Range;

use super::{
    functions::softmax,
    lanes::{COLUMNS, Lanes, ROWS, Strip, Work, dispatch},
    linear::{halves, store},
};
use crate::encoder::Heads;

/// One layer's keys and values. A clone shares nothing with what it was cloned from.
#[derive(Clone)]
pub(super) struct Memory {
    heads: Heads,
    tokens: usize,
    /// For each head of keys, panels of [`COLUMNS`] keys: `[panels, dim]`. Beyond the last key are
    /// zeros.
    keys: Vec<Vec<Strip>>,
    /// For each head of keys and each panel of [`COLUMNS`] dimensions: `[tokens]`, filled up with
    /// zeros to a whole panel of keys.
    values: Vec<Vec<Vec<Strip>>>,
}

impl Memory {
    pub(super) fn new(heads: Heads) -> Memory {
        let panels = heads.dim.div_ceil(COLUMNS);
        Memory {
            heads,
            tokens: 0,
            keys: vec![Vec::new(); heads.keys],
            values: vec![vec![Vec::new(); panels]; heads.keys],
        }
    }

    /// Tokens that it has.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        let keys = self.keys.iter().map(Vec::len).sum::<usize>();
        let values = self.values.iter().flatten().map(Vec::len).sum::<usize>();
        (keys + values) * size_of::<Strip>()
    }

    /// The first `tokens`, of which there are as many.
    pub(super) fn first(&self, tokens: usize) -> Memory {
        let padded = tokens.next_multiple_of(COLUMNS);
        let dim = self.heads.dim;
        let keys = self.keys.iter().map(|keys| {
            let mut keys = keys[..padded / COLUMNS * dim].to_vec();
            if !tokens.is_multiple_of(COLUMNS) {
                for strip in &mut keys[tokens / COLUMNS * dim..] {
                    strip.0[tokens % COLUMNS..].fill(0.0);
                }
            }
            keys
        });
        let values = self.values.iter().map(|panels| {
            let panels = panels.iter().map(|panel| {
                let mut panel = panel[..tokens].to_vec();
                panel.resize(padded, Strip::ZERO);
                panel
            });
            panels.collect()
        });
        Memory { heads: self.heads, tokens, keys: keys.collect(), values: values.collect() }
    }

    /// Adds tokens. `qkv`: `[tokens, (queries + 2 * keys) * dim]`.
    pub(super) fn extend(&mut self, qkv: &[f32]) {
        let Heads { queries, keys, dim } = self.heads;
        let width = self.heads.width();
        let total = self.tokens + qkv.len() / width;
        let padded = total.next_multiple_of(COLUMNS);
        for key in 0..keys {
            let (first_key, first_value) = ((queries + key) * dim, (queries + keys + key) * dim);
            self.keys[key].resize(padded / COLUMNS * dim, Strip::ZERO);
            for panel in &mut self.values[key] {
                panel.resize(padded, Strip::ZERO);
            }
            for (t, row) in (self.tokens..).zip(qkv.chunks_exact(width)) {
                let panel = &mut self.keys[key][t / COLUMNS * dim..][..dim];
                for (strip, &x) in panel.iter_mut().zip(&row[first_key..][..dim]) {
                    strip.0[t % COLUMNS] = x;
                }
                let parts = row[first_value..][..dim].chunks(COLUMNS);
                for (panel, part) in self.values[key].iter_mut().zip(parts) {
                    panel[t].0[..part.len()].copy_from_slice(part);
                }
            }
        }
        self.tokens = total;
    }
}

/// Attention of some tokens to what a memory has.
pub(super) struct Attention<'a> {
    pub(super) heads: Heads,
    pub(super) scale: f32,
    /// Tokens that are seen, the own one included.
    pub(super) window: Option<usize>,
    pub(super) memory: &'a Memory,
    /// The position of the first row; all rows are in the memory.
    pub(super) first: usize,
}

impl Attention<'_> {
    /// - `qkv`: `[rows, (queries + 2 * keys) * dim]`
    /// - `out`: `[rows, queries * dim]`, overwritten
    pub(super) fn apply(self, qkv: &[f32], out: &mut [f32]) {
        dispatch(Apply { of: self, qkv, out, scores: Vec::new() });
    }

    /// The positions that `row` sees.
    fn seen(&self, row: usize) -> Range<usize> {
        let end = self.first + row + 1;
        self.window.map_or(0, |window| end.saturating_sub(window))..end
    }
}

struct Apply<'a> {
    of: Attention<'a>,
    qkv: &'a [f32],
    out: &'a mut [f32],
    scores: Vec<f32>,
}

impl Work for Apply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let Heads { queries, keys, .. } = self.of.heads;
        let rows = self.qkv.len() / self.of.heads.width();
        for head in 0..queries {
            for row in (0..rows).step_by(ROWS) {
                self.block::<L>(head, head / (queries / keys), row..rows.min(row + ROWS));
            }
        }
    }
}

impl Apply<'_> {
    /// Some queries of a head.
    #[inline(always)]
    fn block<L: Lanes>(&mut self, head: usize, key: usize, rows: Range<usize>) {
        let Heads { queries, dim, .. } = self.of.heads;
        let width = self.of.heads.width();
        let keys = &self.of.memory.keys[key];
        let mut sums = [Strip::ZERO; ROWS];
        let sums = &mut sums[..rows.len()];

        // Whole panels of keys that any of the queries sees.
        let seen = self.of.seen(rows.start).start..self.of.seen(rows.end - 1).end;
        let seen = seen.start / COLUMNS * COLUMNS..seen.end.next_multiple_of(COLUMNS);
        let span = seen.len();
        self.scores.resize(rows.len() * span, 0.0);
        let scores = &mut self.scores[..rows.len() * span];
        let x = &self.qkv[rows.start * width + head * dim..];
        let scale = L::splat(self.of.scale);
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
            let valid = self.of.seen(row);
            let own = valid.start - seen.start..valid.end - seen.start;
            *factor = 1.0 / softmax::<L>(scores, own);
        }

        for (p, values) in self.of.memory.values[key].iter().enumerate() {
            sums.fill(Strip::ZERO);
            L::tile(scores, span, &values[seen.clone()], sums);
            let columns = (dim - p * COLUMNS).min(COLUMNS);
            for ((row, sum), &factor) in rows.clone().zip(&*sums).zip(&factors) {
                let ([a, b], factor) = (halves::<L>(&sum.0), L::splat(factor));
                let at = row * queries * dim + head * dim + p * COLUMNS;
                store([a.mul(factor), b.mul(factor)], &mut self.out[at..][..columns]);
            }
        }
    }
}
