//! Eight numbers at a time: the vector instructions that the rest is written in.
//!
//! The only file of this module with unsafe code. Each set of instructions does the same steps in
//! the same order; a set without fused multiply-add rounds once more, so results are the same
//! bytes on one machine and close on another.

#![expect(unsafe_code, reason = "vector instructions; each block says why it is sound")]

/// How many numbers a vector holds.
pub(super) const WIDTH: usize = 8;
/// Columns of a panel: two vectors.
pub(super) const COLUMNS: usize = 2 * WIDTH;

/// One row of a panel.
pub(super) type Strip = [f32; COLUMNS];
/// Rows of a tile: with two vectors each, twelve of the sixteen vector registers.
pub(super) const ROWS: usize = 6;

/// A vector of eight f32.
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
        let [a, b, c, d, e, f, g, h] = self.to_array();
        ((a + e) + (c + g)) + ((b + f) + (d + h))
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
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: both features were found on this processor.
        return unsafe { with_avx2(work) };
    }
    work.run::<Portable>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn with_avx2<W: Work>(work: W) -> W::Out {
    work.run::<x86::Avx2>()
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
                for (sum, &y) in sums.iter_mut().zip(strip) {
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

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{COLUMNS, Lanes, ROWS, Strip, WIDTH};

    /// Exists only under [`super::with_avx2`].
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(__m256);

    /// The sums of `R` rows, in registers from first to last.
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    fn rows<const R: usize>(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
        let last = (R - 1).saturating_mul(stride).saturating_add(panel.len());
        assert!(panel.is_empty() || last <= x.len(), "the rows reach beyond their values");
        let high = |strip: &Strip| strip.as_ptr().wrapping_add(WIDTH);
        // SAFETY: a strip is two vectors.
        let load = |strip: &Strip| unsafe {
            [_mm256_loadu_ps(strip.as_ptr()), _mm256_loadu_ps(high(strip))]
        };
        let mut held = [[_mm256_setzero_ps(); COLUMNS / WIDTH]; R];
        for (held, strip) in held.iter_mut().zip(&*sums) {
            *held = load(strip);
        }
        for (k, strip) in panel.iter().enumerate() {
            let [low, high] = load(strip);
            for (r, held) in held.iter_mut().enumerate() {
                // SAFETY: below the bound asserted above, as r < R and k < panel.len().
                let x = unsafe { _mm256_broadcast_ss(x.get_unchecked(r * stride + k)) };
                held[0] = _mm256_fmadd_ps(x, low, held[0]);
                held[1] = _mm256_fmadd_ps(x, high, held[1]);
            }
        }
        for (held, strip) in held.iter().zip(sums) {
            // SAFETY: a strip is two vectors.
            unsafe {
                _mm256_storeu_ps(strip.as_mut_ptr(), held[0]);
                _mm256_storeu_ps(strip.as_mut_ptr().wrapping_add(WIDTH), held[1]);
            }
        }
    }

    // SAFETY of every block: values of this type are only made inside `with_avx2`, which is
    // entered when the processor has AVX2 and FMA; pointers come from references to eight floats.
    impl Lanes for Avx2 {
        #[inline(always)]
        fn tile(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
            unsafe {
                match sums.len() {
                    1 => rows::<1>(x, stride, panel, sums),
                    2 => rows::<2>(x, stride, panel, sums),
                    3 => rows::<3>(x, stride, panel, sums),
                    4 => rows::<4>(x, stride, panel, sums),
                    5 => rows::<5>(x, stride, panel, sums),
                    _ => rows::<ROWS>(x, stride, panel, sums),
                }
            }
        }

        #[inline(always)]
        fn splat(value: f32) -> Avx2 {
            Avx2(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn load(from: &[f32; WIDTH]) -> Avx2 {
            Avx2(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; WIDTH]) {
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn div(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn min(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn max(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Avx2, term: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_fmadd_ps(self.0, factor.0, term.0) })
        }

        #[inline(always)]
        fn round(self) -> Avx2 {
            const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
            Avx2(unsafe { _mm256_round_ps::<NEAREST>(self.0) })
        }

        #[inline(always)]
        fn power_of_two(self) -> Avx2 {
            unsafe {
                let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), _mm256_set1_epi32(127));
                Avx2(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
            }
        }
    }
}
