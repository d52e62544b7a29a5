//! The vector instructions of x86-64: AVX2 with FMA, and AVX-512.

#![expect(unsafe_code, reason = "vector instructions; each block says why it is sound")]

use std::arch::x86_64::*;

use super::lanes::{Lanes, ROWS, Strip, WIDTH, Work};

/// Does `work` with AVX-512.
#[target_feature(enable = "avx512f")]
#[inline(never)]
pub(super) fn with_avx512<W: Work>(work: W) -> W::Out {
    work.run::<Avx512>()
}

/// Does `work` with AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
pub(super) fn with_avx2<W: Work>(work: W) -> W::Out {
    work.run::<Avx2>()
}

/// Refuses rows that reach beyond their values.
#[inline(always)]
fn check<const R: usize>(x: &[f32], stride: usize, panel: &[Strip]) {
    let last = (R - 1).saturating_mul(stride).saturating_add(panel.len());
    assert!(panel.is_empty() || last <= x.len(), "the rows reach beyond their values");
}

/// Exists only under [`with_avx512`].
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512);

/// The sums of `R` rows, in registers from first to last.
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn rows_512<const R: usize>(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
    check::<R>(x, stride, panel);
    let high = |strip: &Strip| strip.0.as_ptr().wrapping_add(WIDTH);
    // SAFETY: a strip is two vectors.
    let load = |strip: &Strip| unsafe {
        [_mm512_loadu_ps(strip.0.as_ptr()), _mm512_loadu_ps(high(strip))]
    };
    let mut held = [[_mm512_setzero_ps(); 2]; R];
    for (held, strip) in held.iter_mut().zip(&*sums) {
        *held = load(strip);
    }
    for (k, strip) in panel.iter().enumerate() {
        let [low, high] = load(strip);
        for (r, held) in held.iter_mut().enumerate() {
            // SAFETY: below the bound that was checked, as r < R and k < panel.len().
            let x = _mm512_set1_ps(unsafe { *x.get_unchecked(r * stride + k) });
            held[0] = _mm512_fmadd_ps(x, low, held[0]);
            held[1] = _mm512_fmadd_ps(x, high, held[1]);
        }
    }
    for (held, strip) in held.iter().zip(sums) {
        // SAFETY: a strip is two vectors.
        unsafe {
            _mm512_storeu_ps(strip.0.as_mut_ptr(), held[0]);
            _mm512_storeu_ps(strip.0.as_mut_ptr().wrapping_add(WIDTH), held[1]);
        }
    }
}

// SAFETY of every block: values of this type are only made inside `with_avx512`, which is entered
// when the processor has AVX-512; pointers come from references to sixteen floats.
impl Lanes for Avx512 {
    #[inline(always)]
    fn tile(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
        unsafe {
            match sums.len() {
                1 => rows_512::<1>(x, stride, panel, sums),
                2 => rows_512::<2>(x, stride, panel, sums),
                3 => rows_512::<3>(x, stride, panel, sums),
                4 => rows_512::<4>(x, stride, panel, sums),
                5 => rows_512::<5>(x, stride, panel, sums),
                6 => rows_512::<6>(x, stride, panel, sums),
                7 => rows_512::<7>(x, stride, panel, sums),
                8 => rows_512::<8>(x, stride, panel, sums),
                9 => rows_512::<9>(x, stride, panel, sums),
                10 => rows_512::<10>(x, stride, panel, sums),
                11 => rows_512::<11>(x, stride, panel, sums),
                _ => rows_512::<ROWS>(x, stride, panel, sums),
            }
        }
    }

    #[inline(always)]
    fn splat(value: f32) -> Avx512 {
        Avx512(unsafe { _mm512_set1_ps(value) })
    }

    #[inline(always)]
    fn load(from: &[f32; WIDTH]) -> Avx512 {
        Avx512(unsafe { _mm512_loadu_ps(from.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; WIDTH]) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_sub_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn div(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_div_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_min_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_max_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn mul_add(self, factor: Avx512, term: Avx512) -> Avx512 {
        Avx512(unsafe { _mm512_fmadd_ps(self.0, factor.0, term.0) })
    }

    #[inline(always)]
    fn round(self) -> Avx512 {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        Avx512(unsafe { _mm512_roundscale_ps::<NEAREST>(self.0) })
    }

    #[inline(always)]
    fn power_of_two(self) -> Avx512 {
        unsafe {
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(self.0), _mm512_set1_epi32(127));
            Avx512(_mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent)))
        }
    }
}

/// Two registers. Exists only under [`with_avx2`].
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256, __m256);

/// Numbers of a register.
const HALF: usize = WIDTH / 2;
/// Rows whose sums fit in registers together.
const FEW: usize = 6;

/// A half of the columns of the sums of `R` rows, in registers from first to last.
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn rows_256<const R: usize>(
    x: &[f32],
    stride: usize,
    panel: &[Strip],
    half: usize,
    sums: &mut [Strip],
) {
    check::<R>(x, stride, panel);
    assert!(half < 2, "a strip has two halves");
    let at = half * WIDTH;
    // SAFETY: a strip is four registers, of which these are two.
    let load = |strip: &Strip| unsafe {
        let from = strip.0.as_ptr().wrapping_add(at);
        [_mm256_loadu_ps(from), _mm256_loadu_ps(from.wrapping_add(HALF))]
    };
    let mut held = [[_mm256_setzero_ps(); 2]; R];
    for (held, strip) in held.iter_mut().zip(&*sums) {
        *held = load(strip);
    }
    for (k, strip) in panel.iter().enumerate() {
        let [low, high] = load(strip);
        for (r, held) in held.iter_mut().enumerate() {
            // SAFETY: below the bound that was checked, as r < R and k < panel.len().
            let x = unsafe { _mm256_broadcast_ss(x.get_unchecked(r * stride + k)) };
            held[0] = _mm256_fmadd_ps(x, low, held[0]);
            held[1] = _mm256_fmadd_ps(x, high, held[1]);
        }
    }
    for (held, strip) in held.iter().zip(sums) {
        let to = strip.0.as_mut_ptr().wrapping_add(at);
        // SAFETY: as for the loads.
        unsafe {
            _mm256_storeu_ps(to, held[0]);
            _mm256_storeu_ps(to.wrapping_add(HALF), held[1]);
        }
    }
}

// SAFETY of every block: values of this type are only made inside `with_avx2`, which is entered
// when the processor has AVX2 and FMA; pointers come from references to sixteen floats.
impl Lanes for Avx2 {
    #[inline(always)]
    fn tile(x: &[f32], stride: usize, panel: &[Strip], sums: &mut [Strip]) {
        for (part, sums) in sums.chunks_mut(FEW).enumerate() {
            let x = &x[part * FEW * stride..];
            for half in 0..2 {
                unsafe {
                    match sums.len() {
                        1 => rows_256::<1>(x, stride, panel, half, sums),
                        2 => rows_256::<2>(x, stride, panel, half, sums),
                        3 => rows_256::<3>(x, stride, panel, half, sums),
                        4 => rows_256::<4>(x, stride, panel, half, sums),
                        5 => rows_256::<5>(x, stride, panel, half, sums),
                        _ => rows_256::<FEW>(x, stride, panel, half, sums),
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn splat(value: f32) -> Avx2 {
        let half = unsafe { _mm256_set1_ps(value) };
        Avx2(half, half)
    }

    #[inline(always)]
    fn load(from: &[f32; WIDTH]) -> Avx2 {
        let high = from.as_ptr().wrapping_add(HALF);
        unsafe { Avx2(_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(high)) }
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; WIDTH]) {
        let high = to.as_mut_ptr().wrapping_add(HALF);
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), self.0);
            _mm256_storeu_ps(high, self.1);
        }
    }

    #[inline(always)]
    fn add(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn sub(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn mul(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn div(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_div_ps(self.0, other.0), _mm256_div_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn min(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_min_ps(self.0, other.0), _mm256_min_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn max(self, other: Avx2) -> Avx2 {
        unsafe { Avx2(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn mul_add(self, factor: Avx2, term: Avx2) -> Avx2 {
        unsafe {
            let low = _mm256_fmadd_ps(self.0, factor.0, term.0);
            Avx2(low, _mm256_fmadd_ps(self.1, factor.1, term.1))
        }
    }

    #[inline(always)]
    fn round(self) -> Avx2 {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        unsafe { Avx2(_mm256_round_ps::<NEAREST>(self.0), _mm256_round_ps::<NEAREST>(self.1)) }
    }

    #[inline(always)]
    fn power_of_two(self) -> Avx2 {
        unsafe {
            let bias = _mm256_set1_epi32(127);
            let low = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), bias);
            let high = _mm256_add_epi32(_mm256_cvtps_epi32(self.1), bias);
            Avx2(
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(low)),
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(high)),
            )
        }
    }
}
