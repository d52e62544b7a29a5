//! Exponential, error function, activations, softmax and norms, sixteen numbers at a time.

use super::lanes::{Lanes, WIDTH, Work, dispatch};
use crate::encoder::{Activation, NormKind};

/// e to the power of `x`, within two units in the last place for results that are normal
/// numbers; below about -87 the result is about 1e-38, above 88 about 1.7e38.
///
/// Source: Moshier, Cephes, `expf`: reduction by powers of two and a polynomial of degree 5.
#[inline(always)]
pub(super) fn exp<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(-87.0)).min(L::splat(88.0));
    let n = x.mul(L::splat(std::f32::consts::LOG2_E)).round();
    // ln 2 in two parts, of which the first has few bits, so that n times it is exact.
    let r = n.mul_add(L::splat(-0.693_359_4), x);
    let r = n.mul_add(L::splat(2.121_944_4e-4), r);
    let p = L::splat(1.987_569_1e-4);
    let p = p.mul_add(r, L::splat(1.398_199_9e-3));
    let p = p.mul_add(r, L::splat(8.333_452e-3));
    let p = p.mul_add(r, L::splat(4.166_579_6e-2));
    let p = p.mul_add(r, L::splat(1.666_666_5e-1));
    let p = p.mul_add(r, L::splat(0.5));
    let y = p.mul_add(r.mul(r), r).add(L::splat(1.0));
    y.mul(n.power_of_two())
}

/// The error function, within 5e-7.
///
/// Source: the rational approximation of Eigen's `erf` for f32: degree 13 over degree 8, with
/// the argument held to [-4, 4].
#[inline(always)]
fn erf<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(-4.0)).min(L::splat(4.0));
    let s = x.mul(x);
    let p = L::splat(-2.726_142_3e-10);
    let p = p.mul_add(s, L::splat(2.770_681_4e-8));
    let p = p.mul_add(s, L::splat(-2.101_024e-6));
    let p = p.mul_add(s, L::splat(-5.692_506_5e-5));
    let p = p.mul_add(s, L::splat(-7.349_906_3e-4));
    let p = p.mul_add(s, L::splat(-2.954_6e-3));
    let p = p.mul_add(s, L::splat(-1.609_603_3e-2));
    let q = L::splat(-1.456_607_2e-5);
    let q = q.mul_add(s, L::splat(-2.133_740_5e-4));
    let q = q.mul_add(s, L::splat(-1.682_827e-3));
    let q = q.mul_add(s, L::splat(-7.373_329e-3));
    let q = q.mul_add(s, L::splat(-1.426_473_9e-2));
    x.mul(p).div(q)
}

/// The hyperbolic tangent.
#[inline(always)]
fn tanh<L: Lanes>(x: L) -> L {
    // 1 - 2 / (e^2x + 1): good to an absolute 2e-7, which is what its user needs.
    let e = exp(x.add(x));
    L::splat(1.0).sub(L::splat(2.0).div(e.add(L::splat(1.0))))
}

/// One of the activations.
#[inline(always)]
pub(super) fn activate<L: Lanes>(activation: Activation, x: L) -> L {
    match activation {
        Activation::Gelu => {
            let half = x.mul(L::splat(0.5));
            erf(x.mul(L::splat(std::f32::consts::FRAC_1_SQRT_2))).mul_add(half, half)
        }
        Activation::GeluTanh => {
            let half = x.mul(L::splat(0.5));
            let cube = x.mul(x).mul(x);
            let inner = cube.mul_add(L::splat(0.044_715), x).mul(L::splat(0.797_884_6));
            tanh(inner).mul_add(half, half)
        }
        Activation::Silu => x.div(exp(L::splat(0.0).sub(x)).add(L::splat(1.0))),
        Activation::Relu => x.max(L::splat(0.0)),
    }
}

/// Turns `row` into its softmax but for the division: gives the sum that is left to divide by.
///
/// Only `row[valid]` takes part; the rest becomes 0. The length of `row` is a multiple of
/// [`WIDTH`], and `valid` is not empty.
#[inline(always)]
pub(super) fn softmax<L: Lanes>(row: &mut [f32], valid: std::ops::Range<usize>) -> f32 {
    row[..valid.start].fill(f32::NEG_INFINITY);
    row[valid.end..].fill(f32::NEG_INFINITY);
    let (chunks, _) = row.as_chunks_mut::<WIDTH>();
    let mut highest = L::splat(f32::NEG_INFINITY);
    for chunk in chunks.iter() {
        highest = highest.max(L::load(chunk));
    }
    let highest = L::splat(highest.maximum());
    let mut sum = L::splat(0.0);
    for chunk in chunks {
        // What takes no part is about 1e-38 here: nothing beside the maximum's 1.
        let e = exp(L::load(chunk).sub(highest));
        sum = sum.add(e);
        e.store(chunk);
    }
    row[..valid.start].fill(0.0);
    row[valid.end..].fill(0.0);
    sum.sum()
}

/// What a norm multiplies and adds.
#[derive(Clone, Copy)]
pub(super) struct Scale<'a> {
    pub(super) weight: &'a [f32],
    pub(super) bias: Option<&'a [f32]>,
}

/// Norms of rows in place, each as long as the weight.
///
/// A layer norm is `(x - mean) / sqrt(variance + eps) * weight + bias`, an RMS norm
/// `x / sqrt(mean of squares + eps) * weight`.
pub(super) fn norm_rows(kind: NormKind, rows: &mut [f32], scale: Scale<'_>, eps: f32) {
    dispatch(NormRows { kind, rows, scale, eps });
}

struct NormRows<'a> {
    kind: NormKind,
    rows: &'a mut [f32],
    scale: Scale<'a>,
    eps: f32,
}

impl Work for NormRows<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let n = as_f32(self.scale.weight.len());
        for row in self.rows.chunks_exact_mut(self.scale.weight.len()) {
            let mean = match self.kind {
                NormKind::Layer => sum_of::<L>(row) / n,
                NormKind::Rms => 0.0,
            };
            let variance = squares_of::<L>(row, mean) / n;
            finish_norm::<L>(row, &self.scale, mean, 1.0 / (variance + self.eps).sqrt());
        }
    }
}

#[inline(always)]
fn finish_norm<L: Lanes>(row: &mut [f32], scale: &Scale<'_>, mean: f32, factor: f32) {
    let (m, f) = (L::splat(mean), L::splat(factor));
    let weight = &scale.weight[..row.len()];
    let whole = row.len() / WIDTH * WIDTH;
    let (chunks, rest) = row.as_chunks_mut::<WIDTH>();
    let (weights, _) = weight.as_chunks::<WIDTH>();
    match scale.bias {
        Some(bias) => {
            let (biases, _) = bias[..weight.len()].as_chunks::<WIDTH>();
            for ((chunk, w), b) in chunks.iter_mut().zip(weights).zip(biases) {
                let x = L::load(chunk).sub(m).mul(f);
                x.mul_add(L::load(w), L::load(b)).store(chunk);
            }
        }
        None => {
            for (chunk, w) in chunks.iter_mut().zip(weights) {
                L::load(chunk).sub(m).mul(f).mul(L::load(w)).store(chunk);
            }
        }
    }
    for (i, x) in rest.iter_mut().enumerate() {
        let bias = scale.bias.map_or(0.0, |bias| bias[whole + i]);
        *x = (*x - mean) * factor * weight[whole + i] + bias;
    }
}

#[inline(always)]
fn sum_of<L: Lanes>(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<WIDTH>();
    let mut sum = L::splat(0.0);
    for chunk in chunks {
        sum = sum.add(L::load(chunk));
    }
    rest.iter().fold(sum.sum(), |sum, x| sum + x)
}

/// The sum of the squares of the distances from `mean`.
#[inline(always)]
fn squares_of<L: Lanes>(row: &[f32], mean: f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<WIDTH>();
    let mut sum = L::splat(0.0);
    for chunk in chunks {
        let distance = L::load(chunk).sub(L::splat(mean));
        sum = distance.mul_add(distance, sum);
    }
    rest.iter().fold(sum.sum(), |sum, x| sum + (x - mean) * (x - mean))
}

#[expect(clippy::cast_precision_loss, reason = "a row's length is far below 2^24")]
fn as_f32(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Map<'a, F>(&'a [f32], F);

    trait Function {
        fn apply<L: Lanes>(&self, x: L) -> L;
    }

    impl<F: Function> Work for Map<'_, F> {
        type Out = Vec<f32>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<f32> {
            let (chunks, _) = self.0.as_chunks::<WIDTH>();
            chunks.iter().flat_map(|c| self.1.apply(L::load(c)).to_array()).collect()
        }
    }

    struct Exp;
    struct Act(Activation);

    impl Function for Exp {
        fn apply<L: Lanes>(&self, x: L) -> L {
            exp(x)
        }
    }

    impl Function for Act {
        fn apply<L: Lanes>(&self, x: L) -> L {
            activate(self.0, x)
        }
    }

    fn grid(from: f32, to: f32) -> Vec<f32> {
        (0..4096u16).map(|i| from + (to - from) * f32::from(i) / 4095.0).collect()
    }

    fn check(
        f: impl Function + Copy,
        from: f32,
        to: f32,
        tolerance: f64,
        exact: impl Fn(f64) -> f64,
    ) {
        let xs = grid(from, to);
        for ys in [dispatch(Map(&xs, f)), Map(&xs, f).run::<crate::fused::lanes::Portable>()] {
            for (&x, &y) in xs.iter().zip(&ys) {
                let wanted = exact(f64::from(x));
                let error = (f64::from(y) - wanted).abs();
                assert!(error <= tolerance * wanted.abs().max(1.0), "f({x}) = {y}, not {wanted}");
            }
        }
    }

    impl Clone for Exp {
        fn clone(&self) -> Exp {
            *self
        }
    }
    impl Copy for Exp {}
    impl Clone for Act {
        fn clone(&self) -> Act {
            *self
        }
    }
    impl Copy for Act {}

    #[test]
    fn the_exponential_is_close_everywhere() {
        check(Exp, -20.0, 0.0, 3e-7, f64::exp);
        let xs = grid(-87.0, 87.0);
        for (&x, y) in xs.iter().zip(dispatch(Map(&xs, Exp))) {
            let wanted = f64::from(x).exp();
            assert!(((f64::from(y) - wanted) / wanted).abs() < 3e-7, "exp({x}) = {y}");
        }
    }

    #[test]
    fn activations_are_close_everywhere() {
        let gelu = |x: f64| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2));
        let tanh = |x: f64| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        };
        check(Act(Activation::Gelu), -12.0, 12.0, 2e-6, gelu);
        check(Act(Activation::GeluTanh), -12.0, 12.0, 2e-6, tanh);
        check(Act(Activation::Silu), -30.0, 30.0, 5e-7, |x| x / (1.0 + (-x).exp()));
        check(Act(Activation::Relu), -3.0, 3.0, 0.0, |x| x.max(0.0));
    }

    struct Softmax(Vec<f32>, std::ops::Range<usize>);

    impl Work for Softmax {
        type Out = (Vec<f32>, f32);

        #[inline(always)]
        fn run<L: Lanes>(mut self) -> (Vec<f32>, f32) {
            let sum = softmax::<L>(&mut self.0, self.1);
            (self.0, sum)
        }
    }

    #[test]
    fn softmax_leaves_out_what_is_masked() {
        let mut row = vec![9.0, 1.0, 2.0, 3.0, 50.0, f32::NAN, 7.0, 7.0];
        row.resize(WIDTH, 99.0);
        let (row, sum) = dispatch(Softmax(row, 1..4));
        let wanted: Vec<f64> = [1.0f64, 2.0, 3.0].iter().map(|x| (x - 3.0).exp()).collect();
        assert!((f64::from(sum) - wanted.iter().sum::<f64>()).abs() < 1e-6);
        for (got, want) in row[1..4].iter().zip(wanted) {
            assert!((f64::from(*got) - want).abs() < 1e-6);
        }
        assert_eq!(row[0].to_bits(), 0);
        assert!(row[4..].iter().all(|x| x.to_bits() == 0));
    }
}
