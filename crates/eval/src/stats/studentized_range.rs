//! How far apart do the largest and the smallest of `k` equal means fall by chance?
//!
//! The studentized range: the range of `k` standard normals over an independent estimate of
//! their standard deviation. Its distribution is a double integral, in the form of Copenhaver
//! and Holland, "Computation of the distribution of the maximum studentized range statistic",
//! Journal of Statistical Computation and Simulation 30, 1988:
//!
//! - inner: `W(w) = k ∫ φ(z) [Φ(z) - Φ(z - w)]^(k-1) dz`, the range below `w`
//! - outer: `1 - P(q) = ∫ f(u) [1 - W(q u / √ν)] du`, `u` being chi with `ν` degrees of freedom
//!
//! The inner one by the trapezoidal rule, which converges exponentially for such an integrand;
//! the outer one by 16-point Gauss-Legendre panels.

use super::normal;

/// Why there is no probability.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// A range is not negative.
    #[error("a studentized range must be at least 0, got {0}")]
    Statistic(f64),
    /// One mean has no range.
    #[error("a range needs at least 2 means, got {0}")]
    Means(u32),
    /// No estimate of the standard deviation.
    #[error("a studentized range needs at least 1 degree of freedom")]
    Freedom,
}

/// The probability that the studentized range of `means` equal means is above `q`.
///
/// - `q`: at least 0; infinity gives 0
/// - `means`: at least 2
/// - `freedom`: degrees of freedom of the variance estimate, at least 1
///
/// Within 1e-12 of the true value for up to 50 means; below 1e-13 it is noise.
///
/// # Errors
///
/// If an argument is outside its range.
pub fn studentized_range_sf(q: f64, means: u32, freedom: u64) -> Result<f64, RangeError> {
    if q.is_nan() || q < 0.0 {
        return Err(RangeError::Statistic(q));
    }
    if means < 2 {
        return Err(RangeError::Means(means));
    }
    if freedom == 0 {
        return Err(RangeError::Freedom);
    }
    if q.is_infinite() {
        return Ok(0.0);
    }
    let range = Range::new(means);
    if KNOWN_DEVIATION < freedom {
        return Ok(range.above(q));
    }
    let root = (freedom as f64).sqrt();
    // chi is within 10 of its root but for a share of 1e-18: it is 1-Lipschitz in normals.
    let (low, high) = ((root - 10.0).max(0.0), root + 10.0);
    let density = |u| chi_shape(u, freedom as f64);
    let all = integrate(low, high, 1.0, density);
    let cut = if q * high <= WIDEST * root { high } else { WIDEST * root / q };
    if cut <= low {
        return Ok(0.0);
    }
    let step = if q <= root { 1.0 } else { root / q };
    let above = integrate(low, cut, step, |u| density(u) * range.above(q * u / root));
    Ok((above / all).clamp(0.0, 1.0))
}

/// Above this many degrees of freedom the standard deviation counts as known.
const KNOWN_DEVIATION: u64 = 100_000_000;

/// No range of normals is wider, but for a share of 1e-24.
const WIDEST: f64 = 15.0;

/// The chi density with `freedom` degrees of freedom, up to a factor: 1 at its mode.
fn chi_shape(u: f64, freedom: f64) -> f64 {
    let mode = (freedom - 1.0).sqrt();
    if mode <= 0.0 {
        return libm::exp(-0.5 * u * u);
    }
    // log of (u / mode)^(freedom - 1) exp(-(u^2 - mode^2) / 2), with the large terms cancelled
    let t = u - mode;
    let x = (t / mode).max(-1.0);
    libm::exp((freedom - 1.0) * (libm::log1p(x) - x) - 0.5 * t * t)
}

/// The range of independent standard normals.
struct Range {
    means: u32,
    /// (z, Φ(z), φ(z)) over all z that matter.
    nodes: Vec<(f64, f64, f64)>,
}

impl Range {
    const STEPS_PER_UNIT: i32 = 8;

    fn new(means: u32) -> Range {
        let edge = 9 * Range::STEPS_PER_UNIT;
        let z = (-edge..=edge).map(|i| f64::from(i) / f64::from(Range::STEPS_PER_UNIT));
        Range { means, nodes: z.map(|z| (z, normal::cdf(z), normal::density(z))).collect() }
    }

    /// 1 - W(w): the probability of a range above `w`.
    fn above(&self, w: f64) -> f64 {
        let term = |&(z, cdf, density): &(f64, f64, f64)| {
            let below = if z - w < -9.0 { 0.0 } else { normal::cdf(z - w) };
            density * power(cdf - below, self.means - 1)
        };
        let sum: f64 = self.nodes.iter().map(term).sum();
        1.0 - f64::from(self.means) * sum / f64::from(Range::STEPS_PER_UNIT)
    }
}

/// `base` to a whole power by squaring: the same bits everywhere, unlike `powi`.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, base, exponent);
    while rest != 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}

/// The integral of `f` from `low` to `high`, over panels no longer than `longest`.
fn integrate(low: f64, high: f64, longest: f64, f: impl Fn(f64) -> f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "at most 20 + 15 panels")]
    let panels = (((high - low) / longest).ceil() as i32).max(1);
    let half = (high - low) / f64::from(panels) / 2.0;
    let panel = |p: i32| {
        let middle = low + half * f64::from(2 * p + 1);
        let pair = |(x, weight): &(f64, f64)| {
            weight * half * (f(middle - half * x) + f(middle + half * x))
        };
        GAUSS_LEGENDRE.iter().map(pair).sum::<f64>()
    };
    (0..panels).map(panel).sum()
}

/// The positive nodes of 16-point Gauss-Legendre quadrature on [-1, 1], with their weights.
const GAUSS_LEGENDRE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_64),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_64),
    (0.458_016_777_657_227_37, 0.169_156_519_395_002_65),
    (0.617_876_244_402_643_8, 0.149_595_988_816_576_7),
    (0.755_404_408_355_003, 0.124_628_971_255_534_07),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_6),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_456),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_176),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_means_are_a_t_test() {
        use statrs::distribution::{ContinuousCDF, StudentsT};
        for freedom in [1_u32, 2, 5, 30, 1000] {
            let t = StudentsT::new(0.0, 1.0, f64::from(freedom)).unwrap();
            for q in [0.0, 0.1, 1.0, 3.0, 10.0, 50.0] {
                let expected = 2.0 * t.sf(q / std::f64::consts::SQRT_2);
                let got = studentized_range_sf(q, 2, u64::from(freedom)).unwrap();
                assert!((got - expected).abs() < 1e-12, "{freedom} {q}: {got} {expected}");
            }
        }
    }

    #[test]
    fn values_match_scipy_and_mpmath() {
        // 1 - scipy.stats.studentized_range.cdf, 1.17.1; the last is mpmath's t.
        let cases = [
            (2.5, 3, 1, 0.475_058_501_951_335_5),
            (3.5, 5, 18, 0.140_718_495_133_612),
            (5.0, 10, 120, 0.019_806_103_566_358_59),
            (5.0, 50, 27, 0.308_496_026_872_972_3),
            (3.5, 20, 3_000, 0.603_665_085_623_172),
            (5.0, 50, u64::MAX, 0.210_145_378_717_621_18),
            (0.1, 2, 100_000, 0.943_628_163_601_499_9),
        ];
        for (q, means, freedom, expected) in cases {
            let got = studentized_range_sf(q, means, freedom).unwrap();
            assert!((got - expected).abs() < 2e-12, "{q} {means} {freedom}: {got} {expected}");
        }
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(studentized_range_sf(-1.0, 3, 5), Err(RangeError::Statistic(-1.0)));
        assert_eq!(studentized_range_sf(1.0, 1, 5), Err(RangeError::Means(1)));
        assert_eq!(studentized_range_sf(1.0, 3, 0), Err(RangeError::Freedom));
        assert_eq!(studentized_range_sf(f64::INFINITY, 3, 1), Ok(0.0));
    }
}
