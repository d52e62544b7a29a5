//! Products with a matrix that is packed, or that stays quantised.

use candle_core::{
    Module, Tensor,
    quantized::{GgmlDType, QMatMul},
};

use super::{
    functions::activate,
    lanes::{Lanes, WIDTH, Work, dispatch},
    linear::{Finish, Packed},
};
use crate::{chat::MatrixPart, encoder::Linear};

/// A linear layer. A row's product does not depend on the rows beside it.
pub(super) enum Product {
    Packed(Packed),
    Kept(Kept),
    /// Of the same input; outputs one after the other.
    Beside(Vec<Product>),
}

/// A quantised matrix: rows of the input are rounded to 8 bits in blocks of their own.
pub(super) struct Kept {
    inputs: usize,
    outputs: usize,
    dtype: GgmlDType,
    matrix: QMatMul,
    bias: Option<Vec<f32>>,
}

/// Rows given to candle at once, whose sums have another order from 32 rows on, and on ARM from
/// four.
const TOGETHER: usize = if cfg!(target_arch = "aarch64") { 1 } else { 16 };

impl Product {
    pub(super) fn new(part: MatrixPart) -> candle_core::Result<Product> {
        Ok(match part {
            MatrixPart::Plain(linear) => Product::Packed(Packed::new(&linear)),
            MatrixPart::Kept { inputs, outputs, matrix, bias } => {
                let dtype = matrix.dtype();
                let matrix = QMatMul::from_qtensor(matrix)?;
                Product::Kept(Kept { inputs, outputs, dtype, matrix, bias })
            }
        })
    }

    /// Several of the same input as one.
    pub(super) fn beside(parts: Vec<MatrixPart>) -> candle_core::Result<Product> {
        if parts.iter().all(|part| matches!(part, MatrixPart::Plain(_))) {
            let linears = parts.into_iter().filter_map(|part| match part {
                MatrixPart::Plain(linear) => Some(linear),
                MatrixPart::Kept { .. } => None,
            });
            return Ok(Product::Packed(Packed::new(&Linear::stack(linears.collect()))));
        }
        Ok(Product::Beside(parts.into_iter().map(Product::new).collect::<Result<_, _>>()?))
    }

    /// `x`: `[rows, inputs]`; `out`: `[rows, outputs]`, overwritten.
    pub(super) fn apply(
        &self,
        x: &[f32],
        out: &mut [f32],
        finish: Finish<'_>,
    ) -> candle_core::Result<()> {
        match self {
            Product::Packed(packed) => packed.apply(x, out, finish),
            Product::Kept(kept) => {
                kept.apply(x, out)?;
                dispatch(Finishing { out, finish });
            }
            Product::Beside(parts) => {
                let (inputs, outputs) = self.sizes();
                let rows = x.len() / inputs;
                let mut first = 0;
                for part in parts {
                    let width = part.sizes().1;
                    let mut own = vec![0.0; rows * width];
                    part.apply(x, &mut own, Finish::Store)?;
                    for (row, own) in out.chunks_exact_mut(outputs).zip(own.chunks_exact(width)) {
                        row[first..first + width].copy_from_slice(own);
                    }
                    first += width;
                }
                dispatch(Finishing { out, finish });
            }
        }
        Ok(())
    }

    /// Inputs and outputs.
    fn sizes(&self) -> (usize, usize) {
        match self {
            Product::Packed(packed) => packed.sizes(),
            Product::Kept(kept) => (kept.inputs, kept.outputs),
            Product::Beside(parts) => {
                let inputs = parts.first().map_or(0, |part| part.sizes().0);
                (inputs, parts.iter().map(|part| part.sizes().1).sum())
            }
        }
    }
}

impl Kept {
    fn apply(&self, x: &[f32], out: &mut [f32]) -> candle_core::Result<()> {
        let chunks = x.chunks(TOGETHER * self.inputs).zip(out.chunks_mut(TOGETHER * self.outputs));
        for (x, out) in chunks {
            let rows = x.len() / self.inputs;
            // One row of this type is computed in another way than several.
            let twice = rows == 1 && self.dtype == GgmlDType::Q6K && 1 < TOGETHER;
            let doubled: Vec<f32>;
            let (rows, x) = match twice {
                true => {
                    doubled = [x, x].concat();
                    (2, doubled.as_slice())
                }
                false => (rows, x),
            };
            let x = Tensor::from_slice(x, (rows, self.inputs), &candle_core::Device::Cpu)?;
            let all = self.matrix.forward(&x)?.flatten_all()?.to_vec1::<f32>()?;
            out.copy_from_slice(&all[..out.len()]);
        }
        if let Some(bias) = &self.bias {
            for row in out.chunks_exact_mut(self.outputs) {
                row.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            }
        }
        Ok(())
    }
}

/// What follows a product, in place.
struct Finishing<'a> {
    out: &'a mut [f32],
    finish: Finish<'a>,
}

impl Work for Finishing<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.finish {
            Finish::Store => {}
            Finish::Add(from) => self.out.iter_mut().zip(from).for_each(|(x, from)| *x += from),
            Finish::Activate(f) => {
                for chunk in self.out.chunks_mut(WIDTH) {
                    let x = activate(f, padded::<L>(chunk)).to_array();
                    chunk.copy_from_slice(&x[..chunk.len()]);
                }
            }
            Finish::Gate(f, from) => {
                for (chunk, from) in self.out.chunks_mut(WIDTH).zip(from.chunks(WIDTH)) {
                    let x = padded::<L>(chunk).mul(activate(f, padded::<L>(from))).to_array();
                    chunk.copy_from_slice(&x[..chunk.len()]);
                }
            }
        }
    }
}

/// Up to [`WIDTH`] numbers; the rest is zero.
#[inline(always)]
fn padded<L: Lanes>(from: &[f32]) -> L {
    let mut all = [0.0; WIDTH];
    all[..from.len()].copy_from_slice(from);
    L::load(&all)
}

#[cfg(test)]
mod tests {
    use candle_core::{
        Device,
        quantized::{GgmlDType, QTensor},
    };

    use super::*;

    /// Between -1 and 1, none near another.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32 on purpose")]
    fn noise(seed: u32, n: usize) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(state >> 8) / f64::from(1 << 23) - 1.0) as f32
        };
        (0..n).map(|_| next()).collect()
    }

    /// Rounding a row to 8 bits moves a product by as much as independent errors of half a step
    /// at most do, whatever type the matrix has; and a row's product is its own.
    #[test]
    fn kept_matrices_differ_by_the_rounding_of_their_input() {
        let (rows, inputs, outputs) = (37, 1024, 48);
        let weight = noise(1, outputs * inputs);
        // Not centred, so that the types with a minimum show it.
        let mut x = noise(2, rows * inputs);
        x.iter_mut().enumerate().for_each(|(i, x)| *x += [0.0, 3.0, -2.0][i / inputs % 3]);
        for dtype in [
            GgmlDType::Q4_0,
            GgmlDType::Q4_1,
            GgmlDType::Q5_0,
            GgmlDType::Q5_1,
            GgmlDType::Q8_0,
            GgmlDType::Q2K,
            GgmlDType::Q3K,
            GgmlDType::Q4K,
            GgmlDType::Q5K,
            GgmlDType::Q6K,
        ] {
            let cpu = Device::Cpu;
            let tensor = Tensor::from_slice(&weight, (outputs, inputs), &cpu).unwrap();
            let matrix = QTensor::quantize(&tensor, dtype).unwrap();
            let dequantised = matrix.dequantize(&cpu).unwrap();
            let dequantised = dequantised.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let kept = MatrixPart::Kept { inputs, outputs, matrix, bias: None };
            let kept = Product::new(kept).unwrap();
            let mut out = vec![0.0; rows * outputs];
            kept.apply(&x, &mut out, Finish::Store).unwrap();
            let block = if dtype.block_size() == 32 { 32 } else { 256 };
            let (mut found, mut expected) = (0.0, 0.0);
            for (row, (x, out)) in x.chunks(inputs).zip(out.chunks(outputs)).enumerate() {
                let mut alone = vec![0.0; outputs];
                kept.apply(x, &mut alone, Finish::Store).unwrap();
                assert_eq!(alone, out, "{dtype:?} row {row}");
                for (weight, out) in dequantised.chunks(inputs).zip(out) {
                    let exact: f64 =
                        x.iter().zip(weight).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
                    found += (f64::from(*out) - exact).powi(2);
                    for (x, weight) in x.chunks(block).zip(weight.chunks(block)) {
                        let most = x.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                        let squares: f64 = weight.iter().map(|w| f64::from(*w).powi(2)).sum();
                        expected += (f64::from(most) / 127.0).powi(2) / 12.0 * squares;
                    }
                }
            }
            let ratio = (found / expected).sqrt();
            println!("{dtype:?}: {ratio:.2} of the expected error");
            assert!(0.5 < ratio && ratio < 1.5, "{dtype:?}: {ratio}");
        }
    }
}
