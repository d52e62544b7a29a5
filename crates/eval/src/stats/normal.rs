//! The normal distribution, from `libm`'s error function: the same bits on every platform.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The density at `x`.
pub(super) fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / (2.0 * PI).sqrt()
}

/// The probability of a value at most `x`.
pub(super) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The probability of a value at least as far from 0 as `z`, on either side.
pub(super) fn two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() * FRAC_1_SQRT_2)
}

/// The `z` with [`two_sided`]`(z) == 1 - level`; `level` in (0, 1). 1.959964 for 0.95.
pub(super) fn z_of_level(level: f64) -> f64 {
    let outside = 1.0 - level;
    let (mut low, mut high) = (0.0, 40.0);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || high <= middle {
            return high;
        }
        if outside < two_sided(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_inverts_the_tail() {
        // scipy.stats.norm.isf(0.025) and isf(0.005)
        assert!((z_of_level(0.95) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((z_of_level(0.99) - 2.575_829_303_548_900_4).abs() < 1e-14);
        assert!((cdf(1.959_963_984_540_054) - 0.975).abs() < 1e-15);
        assert!((density(0.0) - 0.398_942_280_401_432_7).abs() < 1e-15);
    }
}
