//! How well do `k` successes of `n` pin down a rate?
//!
//! Wilson's score interval, without continuity correction. Source: Wilson, JASA 1927.

use super::{
    normal::z_of_level,
    quantile::{Interval, QuantileError, check_level},
};

/// Why a rate has no interval.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WilsonError {
    /// Nothing was tried.
    #[error("a rate needs at least one trial")]
    NoTrials,
    /// More successes than trials.
    #[error("{successes} successes of {trials} trials")]
    TooManySuccesses {
        /// How many succeeded.
        successes: u64,
        /// How many there were.
        trials: u64,
    },
    /// The level is not in (0, 1).
    #[error(transparent)]
    Level(#[from] QuantileError),
}

/// The interval for the rate of `successes` in `trials`, within [0, 1].
///
/// `level` in (0, 1), usually 0.95. The lower end is 0 for no success, the upper 1 for no failure.
///
/// # Errors
///
/// If there are no trials, more successes than trials, or `level` is outside its range.
pub fn wilson(successes: u64, trials: u64, level: f64) -> Result<Interval, WilsonError> {
    check_level(level)?;
    if trials == 0 {
        return Err(WilsonError::NoTrials);
    }
    if trials < successes {
        return Err(WilsonError::TooManySuccesses { successes, trials });
    }
    let (k, n) = (successes as f64, trials as f64);
    let z2 = z_of_level(level) * z_of_level(level);
    let centre = (k + z2 / 2.0) / (n + z2);
    let half = (z2 * (k * (n - k) / n + z2 / 4.0)).sqrt() / (n + z2);
    // At the ends the two terms are equal on paper, and rounding would leave a trace.
    let low = if successes == 0 { 0.0 } else { centre - half };
    let high = if successes == trials { 1.0 } else { centre + half };
    Ok(Interval { low, high })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_statsmodels() {
        let cases = [
            (0, 10, 0.0, 0.277_532_799_862_889_2),
            (5, 10, 0.236_593_090_512_564, 0.763_406_909_487_436_1),
            (64, 80, 0.699_537_562_718_291_7, 0.872_971_559_560_392_1),
            (233, 240, 0.941_030_456_060_865_8, 0.985_801_269_327_499_8),
        ];
        for (k, n, low, high) in cases {
            let got = wilson(k, n, 0.95).unwrap();
            assert!((got.low - low).abs() < 1e-14 && (got.high - high).abs() < 1e-14, "{got:?}");
        }
        assert_eq!(wilson(16, 16, 0.95).unwrap().high, 1.0);
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(wilson(0, 0, 0.95), Err(WilsonError::NoTrials));
        let err = wilson(3, 2, 0.95).unwrap_err().to_string();
        assert_eq!(err, "3 successes of 2 trials");
        assert_eq!(wilson(1, 2, 0.0).unwrap_err().to_string(), "a level must be in (0, 1), got 0");
    }
}
