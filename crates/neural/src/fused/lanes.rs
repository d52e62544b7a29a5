//! Sixteen numbers at a time: the vector instructions that the rest is written in.
//!
//! Unsafe code is in this file and in `x86.rs` alone. Each set of instructions does the same steps
//! in the same order: with fused multiply-add the results are the same bytes whatever the set. A
//! set without it rounds once more, so results are close on another machine.

#![expect(unsafe_code, reason = "code for instructions that the processor was asked for")]

#[cfg(target_arch = "x86_64")]
use super::x86;

/// How many numbers a vector holds.
pub(super) const WIDTH: usize = 16;
/// Columns of a panel: two vectors.
pub(super) const COLUMNS: usize = 2 * WIDTH;

/// One row of a panel: two whole lines of a cache, so that no load touches a third.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Strip(pub(super) [f32; COLUMNS]);

impl Strip {
    pub(super) const ZERO: Strip = Strip([0.0; COLUMNS]);
}
/// Rows of a tile: with two vectors each, 24 of the 32 vector registers of AVX-512.
pub(super) const ROWS: usize = 12;

/// A vector of [`WIDTH`] f32.
pub(super) trait Lanes: Copy {
    fn splat(value: f32) -> Self;
    fn load(from: &[f32; WIDTH]) -> Self;
    fn store(self, to: &mut [f32; WIDTH]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// `self * factor + term`.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// To the nearest whole number, halves to even. For magnitudes below 2^22.
    fn round(self) -> Self;
    /// 2 to the power of a whole number of -126..=127.
    fn power_of_two(self) -> Self;

    /// Adds to `sums` the products of as many rows with a panel, strip by strip. Row `r` begins at
    /// `x[r * stride]` and has a value for each strip. There are 1 to [`ROWS`] rows.
    fn tile(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]);

    /// The numbers one by one.
    #[inline(always)]
    fn to_array(self) -> [f32; WIDTH] {
        let mut array = [0.0; WIDTH];
        self.store(&mut array);
        array
    }

    /// Their sum, in pairs.
    #[inline(always)]
    fn sum(self) -> f32 {
        let mut sums = self.to_array();
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                sums[i] += sums[i + half];
            }
        }
        sums[0]
    }

    /// Their maximum.
    #[inline(always)]
    fn maximum(self) -> f32 {
        self.to_array().into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Work that can be done with any set of instructions.
pub(super) trait Work {
    /// What comes out.
    type Out;

    /// Does it. Implementations and what they call are `#[inline(always)]`, so that all of the
    /// work is compiled for the instructions of `L`.
    fn run<L: Lanes>(self) -> Self::Out;
}

/// Does `work` with the best instructions that this processor has.
pub(super) fn dispatch<W: Work>(work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature was found on this processor.
            return unsafe { x86::with_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features were found on this processor.
            return unsafe { x86::with_avx2(work) };
        }
    }
    work.run::<Portable>()
}

/// Plain code, which compilers turn into what the target has.
#[derive(Clone, Copy)]
pub(super) struct Portable([f32; WIDTH]);

impl Portable {
    #[inline(always)]
    fn map(self, f: impl Fn(f32) -> f32) -> Portable {
        Portable(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Portable, f: impl Fn(f32, f32) -> f32) -> Portable {
        Portable(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Portable {
        Portable([value; WIDTH])
    }

    #[inline(always)]
    fn load(from: &[f32; WIDTH]) -> Portable {
        Portable(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; WIDTH]) {
        *to = self.0;
    }

    #[inline(always)]
    fn add(self, other: Portable) -> Portable {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Portable) -> Portable {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Portable) -> Portable {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Portable) -> Portable {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn min(self, other: Portable) -> Portable {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, other: Portable) -> Portable {
        self.zip(other, |a, b| if b < a { a } else { b })
    }

    #[inline(always)]
    fn mul_add(self, factor: Portable, term: Portable) -> Portable {
        Portable(std::array::from_fn(|i| multiply_add(self.0[i], factor.0[i], term.0[i])))
    }

    #[inline(always)]
    fn round(self) -> Portable {
        // Adding 1.5 * 2^23 leaves no bits for a fraction.
        self.map(|x| (x + 12_582_912.0) - 12_582_912.0)
    }

    #[inline(always)]
    fn power_of_two(self) -> Portable {
        // The low bits of 2^23 + 127 + x are the exponent field.
        self.map(|x| f32::from_bits((x + (8_388_608.0 + 127.0)).to_bits() << 23))
    }

    #[inline(always)]
    fn tile(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
        for (r, sums) in sums.iter_mut().enumerate() {
            let row = &x[r * stride..][..panel.len()];
            for (&x, strip) in row.iter().zip(panel) {
                for (sum, &y) in sums.0.iter_mut().zip(&strip.0) {
                    *sum = multiply_add(x, y, *sum);
                }
            }
        }
    }
}

/// Fused where the target has it; without it the fused form is a slow call.
#[inline(always)]
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Steps<'a>(&'a [f32]);

    impl Work for Steps<'_> {
        type Out = Vec<u32>;

        /// Every operation, and tiles of every number of rows.
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u32> {
            let x = self.0;
            let (chunks, _) = x.as_chunks::<WIDTH>();
            let [a, b, c] = [L::load(&chunks[0]), L::load(&chunks[1]), L::load(&chunks[2])];
            let made = [
                a.mul_add(b, c),
                a.add(b).sub(c),
                a.mul(b).div(c),
                a.min(b).max(c),
                a.mul(L::splat(7.3)).round(),
                a.mul(L::splat(40.0)).round().power_of_two(),
                L::splat(a.sum()),
                L::splat(b.maximum()),
            ];
            let mut bits: Vec<u32> = Vec::new();
            for vector in made {
                bits.extend(vector.to_array().map(f32::to_bits));
            }
            let panel: Vec<Strip> = x.as_chunks::<COLUMNS>().0.iter().map(|&c| Strip(c)).collect();
            for rows in 1..=ROWS {
                let mut sums = vec![Strip([0.25; COLUMNS]); rows];
                L::tile(&x[1..], 7, &panel[..5], &mut sums);
                bits.extend(sums.iter().flat_map(|sum| sum.0.map(f32::to_bits)));
            }
            bits
        }
    }

    /// Numbers of -1..=1 with fractions.
    fn numbers() -> Vec<f32> {
        (0..6u16)
            .cycle()
            .zip(0..12 * 32u16)
            .map(|(i, k)| libm::sinf(f32::from(i + 3 * k)))
            .collect()
    }

    /// Tiles too: their sums are the same chains.
    #[test]
    fn sets_of_instructions_give_the_same_numbers() {
        let x = numbers();
        let plain = Steps(&x).run::<Portable>();
        let close = |bits: Vec<u32>, name: &str| {
            for (i, (&got, &plain)) in bits.iter().zip(&plain).enumerate() {
                let (got, plain) = (f32::from_bits(got), f32::from_bits(plain));
                let far = (got - plain).abs();
                assert!(far <= 1e-6 * plain.abs().max(1.0), "{name}, {i}: {got}, not {plain}");
            }
        };
        close(dispatch(Steps(&x)), "the best");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features were found on this processor.
            let avx2 = unsafe { x86::with_avx2(Steps(&x)) };
            assert_eq!(avx2, dispatch(Steps(&x)), "AVX2 and the best");
        }
    }
}
