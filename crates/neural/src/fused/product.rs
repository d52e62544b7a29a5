//! Products with a matrix that is packed, or that stays quantised.

use candle_core::{Module, Tensor, quantized::QMatMul};

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
    matrix: QMatMul,
    bias: Option<Vec<f32>>,
}

impl Product {
    pub(super) fn new(part: MatrixPart) -> candle_core::Result<Product> {
        Ok(match part {
            MatrixPart::Plain(linear) => Product::Packed(Packed::new(&linear)),
            MatrixPart::Kept { inputs, outputs, matrix, bias } => {
                let matrix = QMatMul::from_qtensor(matrix)?;
                Product::Kept(Kept { inputs, outputs, matrix, bias })
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
        let rows = x.len() / self.inputs;
        let x = Tensor::from_slice(x, (rows, self.inputs), &candle_core::Device::Cpu)?;
        out.copy_from_slice(&self.matrix.forward(&x)?.flatten_all()?.to_vec1::<f32>()?);
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
