//! Linear layers: rows times a matrix that was packed once, with what follows done in the tile.
//!
//! Architecture invariant: a value is one chain of multiply-adds over the input, first to last,
//! whatever rows it is computed with. So a text's vector can't depend on its batch, bit for bit.
//! (Libraries choose how to split the sum by the number of rows, and repack the matrix each time.)

use std::ops::Range;

use super::{
    functions::activate,
    lanes::{COLUMNS, Lanes, ROWS, Strip, WIDTH, Work, dispatch},
};
use crate::encoder::{Activation, Linear};

/// Rows that go through a layer's panels together: their values stay in the second cache.
pub(crate) const BLOCK: usize = 4 * ROWS;
/// Strips of a panel that stay in the first cache while the rows of a block pass.
const DEPTH: usize = 192;

/// A linear layer in panels of [`COLUMNS`] outputs; the last is filled up with zeros.
pub(crate) struct Packed {
    inputs: usize,
    outputs: usize,
    /// `[panels, inputs]`
    strips: Vec<Strip>,
    /// `[panels]`
    bias: Vec<Strip>,
}

/// What is done with a product before it is stored.
#[derive(Clone, Copy)]
pub(crate) enum Finish<'a> {
    /// Stored as it is.
    Store,
    /// An activation.
    Activate(Activation),
    /// `[rows, outputs]`, added.
    Add(&'a [f32]),
    /// `[rows, outputs]`, of which the activation is multiplied with the product.
    Gate(Activation, &'a [f32]),
}

impl Packed {
    /// Packs `[outputs, inputs]`.
    pub(super) fn new(linear: &Linear) -> Packed {
        let mut packed = Packed::of_rows(linear.inputs, &linear.weight);
        for (o, &b) in linear.bias.iter().flatten().enumerate() {
            packed.bias[o / COLUMNS].0[o % COLUMNS] = b;
        }
        packed
    }

    /// Packs rows of `inputs` values each, without a bias: products with them.
    pub(crate) fn of_rows(inputs: usize, rows: &[f32]) -> Packed {
        let outputs = rows.len() / inputs;
        let panels = outputs.div_ceil(COLUMNS);
        let mut strips = vec![Strip::ZERO; panels * inputs];
        for (o, row) in rows.chunks_exact(inputs).enumerate() {
            let panel = &mut strips[o / COLUMNS * inputs..][..inputs];
            for (strip, &weight) in panel.iter_mut().zip(row) {
                strip.0[o % COLUMNS] = weight;
            }
        }
        let bias = vec![Strip::ZERO; panels];
        Packed { inputs, outputs, strips, bias }
    }

    /// Inputs and outputs.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// `x`: `[rows, inputs]`; `out`: `[rows, outputs]`, overwritten.
    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32], finish: Finish<'_>) {
        dispatch(Apply { packed: self, x, out, finish });
    }
}

struct Apply<'a> {
    packed: &'a Packed,
    x: &'a [f32],
    out: &'a mut [f32],
    finish: Finish<'a>,
}

impl Work for Apply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let rows = self.x.len() / self.packed.inputs;
        assert_eq!(self.out.len(), rows * self.packed.outputs, "the output has other rows");
        for from in (0..rows).step_by(BLOCK) {
            for panel in 0..self.packed.bias.len() {
                self.panel::<L>(panel, from..rows.min(from + BLOCK));
            }
        }
    }
}

impl Apply<'_> {
    /// One panel for a block of rows. A panel that is too deep for the first cache goes part by
    /// part, with the sums kept in between: the chain of additions stays the same.
    #[inline(always)]
    fn panel<L: Lanes>(&mut self, panel: usize, block: Range<usize>) {
        let inputs = self.packed.inputs;
        let mut sums = [Strip::ZERO; BLOCK];
        let sums = &mut sums[..block.len()];
        let strips = &self.packed.strips[panel * inputs..][..inputs];
        for (part, strips) in strips.chunks(DEPTH).enumerate() {
            for (tile, sums) in sums.chunks_mut(ROWS).enumerate() {
                let row = block.start + tile * ROWS;
                L::tile(&self.x[row * inputs + part * DEPTH..], inputs, strips, sums);
            }
        }
        let outputs = self.packed.outputs;
        let first = panel * COLUMNS;
        let columns = (outputs - first).min(COLUMNS);
        let bias = halves::<L>(&self.packed.bias[panel].0);
        for (row, sum) in block.zip(&*sums) {
            let at = row * outputs + first..row * outputs + first + columns;
            let sum = halves::<L>(&sum.0);
            let [a, b] = [sum[0].add(bias[0]), sum[1].add(bias[1])];
            // No closures: what they hold is not compiled for the instructions of `L`.
            let values = match self.finish {
                Finish::Store => [a, b],
                Finish::Activate(f) => [activate(f, a), activate(f, b)],
                Finish::Add(from) => {
                    let [c, d] = part_of::<L>(&from[at.clone()]);
                    [a.add(c), b.add(d)]
                }
                Finish::Gate(f, from) => {
                    let [c, d] = part_of::<L>(&from[at.clone()]);
                    [a.mul(activate(f, c)), b.mul(activate(f, d))]
                }
            };
            store(values, &mut self.out[at]);
        }
    }
}

/// Stores as many of [`COLUMNS`] values as fit.
#[inline(always)]
pub(super) fn store<L: Lanes>(values: [L; 2], to: &mut [f32]) {
    match to.as_chunks_mut::<WIDTH>() {
        ([low, high], []) => {
            values[0].store(low);
            values[1].store(high);
        }
        _ => {
            let mut strip = [0.0; COLUMNS];
            let (low, high) = strip.split_at_mut(WIDTH);
            low.copy_from_slice(&values[0].to_array());
            high.copy_from_slice(&values[1].to_array());
            to.copy_from_slice(&strip[..to.len()]);
        }
    }
}

/// [`COLUMNS`] values as two vectors.
#[inline(always)]
pub(super) fn halves<L: Lanes>(strip: &[f32; COLUMNS]) -> [L; 2] {
    let (chunks, _) = strip.as_chunks::<WIDTH>();
    [L::load(&chunks[0]), L::load(&chunks[1])]
}

/// As many of [`COLUMNS`] values as there are; the rest is zero.
#[inline(always)]
fn part_of<L: Lanes>(from: &[f32]) -> [L; 2] {
    match from.as_array() {
        Some(strip) => halves(strip),
        None => {
            let mut strip = [0.0; COLUMNS];
            strip[..from.len()].copy_from_slice(from);
            halves(&strip)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fused::lanes::Portable;

    fn apply(packed: &Packed, x: &[f32], finish: Finish<'_>) -> Vec<f32> {
        let mut out = vec![f32::NAN; x.len() / packed.inputs * packed.outputs];
        packed.apply(x, &mut out, finish);
        out
    }

    /// Values that are exact in f32 whatever the order of their sums.
    fn whole(n: usize, step: usize) -> Vec<f32> {
        (0..n).map(|i| f32::from(u8::try_from(i * step % 13).unwrap()) - 6.0).collect()
    }

    #[test]
    fn products_are_exact_at_every_size() {
        for (rows, inputs, outputs) in [(1, 1, 1), (5, 7, 15), (6, 8, 16), (7, 9, 17), (13, 32, 48)]
        {
            let (weight, x) = (whole(outputs * inputs, 5), whole(rows * inputs, 3));
            let (bias, other) = (whole(outputs, 7), whole(rows * outputs, 11));
            let linear = Linear { inputs, outputs, weight, bias: Some(bias) };
            let packed = Packed::new(&linear);
            let wanted: Vec<f32> = (0..rows * outputs)
                .map(|i| {
                    let (r, o) = (i / outputs, i % outputs);
                    let products =
                        (0..inputs).map(|k| x[r * inputs + k] * linear.weight[o * inputs + k]);
                    products.sum::<f32>() + linear.bias.as_ref().unwrap()[o] + other[i]
                })
                .collect();
            assert_eq!(apply(&packed, &x, Finish::Add(&other)), wanted);
            let mut plain = vec![f32::NAN; wanted.len()];
            let finish = Finish::Add(&other);
            Apply { packed: &packed, x: &x, out: &mut plain, finish }.run::<Portable>();
            assert_eq!(plain, wanted);
            let relu: Vec<f32> = wanted.iter().zip(&other).map(|(w, o)| (w - o).max(0.0)).collect();
            assert_eq!(apply(&packed, &x, Finish::Activate(Activation::Relu)), relu);
            let gated: Vec<f32> =
                wanted.iter().zip(&other).map(|(w, o)| (w - o) * o.max(0.0)).collect();
            assert_eq!(apply(&packed, &x, Finish::Gate(Activation::Relu, &other)), gated);
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_rows_beside_it() {
        let (inputs, outputs) = (37, 21);
        let weight: Vec<f32> = (0..inputs * outputs).map(|i| libm::sinf(as_f32(i))).collect();
        let packed = Packed::new(&Linear { inputs, outputs, weight, bias: None });
        let x: Vec<f32> = (0..20 * inputs).map(|i| libm::cosf(as_f32(i))).collect();
        let all = apply(&packed, &x, Finish::Store);
        for (row, wanted) in x.chunks(inputs).zip(all.chunks(outputs)) {
            assert_eq!(apply(&packed, row, Finish::Store), wanted);
        }
    }

    fn as_f32(i: usize) -> f32 {
        f32::from(u16::try_from(i).unwrap())
    }
}
