//! Which of the sampled values is the 2.5th percentile?
//!
//! The smallest one whose cumulative share is at least 0.025: the inverse of the empirical
//! distribution function, numpy's `inverted_cdf`. It is always one of the values, never between
//! two of them, so it is exact for a discrete distribution.

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end; not below `low`.
    pub high: f64,
}

/// Why a quantile does not exist.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantileError {
    /// There are no values, or none is defined.
    #[error("a quantile needs at least one value")]
    Empty,
    /// NaN has no place in the order.
    #[error("value {index} is not a number")]
    NotANumber {
        /// Which value.
        index: usize,
    },
    /// Shares run from 0 to 1.
    #[error("a share must be in [0, 1], got {0}")]
    Share(f64),
    /// A level of 0 has no interval and a level of 1 has no finite one.
    #[error("a level must be in (0, 1), got {0}")]
    Level(f64),
}

/// The smallest of `values` whose cumulative share is at least `share`.
///
/// `values` in any order; `share` in `[0, 1]`, where 0 gives the least value.
///
/// # Errors
///
/// If there are no values, one is NaN, or `share` is outside its range.
pub fn inverted_cdf(values: &[f64], share: f64) -> Result<f64, QuantileError> {
    let sorted = sorted(values)?;
    let weighted = sorted.into_iter().map(|value| (value, 1));
    weighted_inverted_cdf(weighted, values.len() as u64, share)
}

/// The interval between the `(1 - level) / 2` and `(1 + level) / 2` quantiles of `values`.
///
/// # Errors
///
/// As [`inverted_cdf`], and if `level` is not in `(0, 1)`.
pub fn percentile_interval(values: &[f64], level: f64) -> Result<Interval, QuantileError> {
    let sorted = sorted(values)?;
    let weighted = sorted.iter().map(|&value| (value, 1));
    weighted_interval(weighted, sorted.len() as u64, level)
}

/// [`percentile_interval`] of values sorted ascending, each with its weight.
pub(super) fn weighted_interval(
    sorted: impl Iterator<Item = (f64, u64)> + Clone,
    total: u64,
    level: f64,
) -> Result<Interval, QuantileError> {
    check_level(level)?;
    let low = weighted_inverted_cdf(sorted.clone(), total, (1.0 - level) / 2.0)?;
    let high = weighted_inverted_cdf(sorted, total, (1.0 + level) / 2.0)?;
    Ok(Interval { low, high })
}

/// [`inverted_cdf`] of values sorted ascending, each with its weight.
pub(super) fn weighted_inverted_cdf(
    sorted: impl Iterator<Item = (f64, u64)>,
    total: u64,
    share: f64,
) -> Result<f64, QuantileError> {
    if !(0.0..=1.0).contains(&share) {
        return Err(QuantileError::Share(share));
    }
    // (1 - 0.95) / 2 is a hair above 0.025, and 5,000 times it a hair above 125: without the
    // allowance the 126th value would be taken.
    let needed = total as f64 * share * (1.0 - 1e-12);
    let mut seen = 0_u64;
    for (value, weight) in sorted {
        seen += weight;
        if needed <= seen as f64 {
            return Ok(value);
        }
    }
    Err(QuantileError::Empty)
}

pub(super) fn check_level(level: f64) -> Result<(), QuantileError> {
    if 0.0 < level && level < 1.0 { Ok(()) } else { Err(QuantileError::Level(level)) }
}

fn sorted(values: &[f64]) -> Result<Vec<f64>, QuantileError> {
    if let Some(index) = values.iter().position(|value| value.is_nan()) {
        return Err(QuantileError::NotANumber { index });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_the_first_value_to_reach_the_share() {
        let values = [4.0, 1.0, 3.0, 2.0];
        let at = |share| inverted_cdf(&values, share).unwrap();
        assert_eq!([0.0, 0.25, 0.26, 0.5, 0.75, 1.0].map(at), [1.0, 1.0, 2.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_rounded_level_does_not_move_the_rank() {
        let values: Vec<f64> = (1..=5000).map(f64::from).collect();
        let interval = percentile_interval(&values, 0.95).unwrap();
        assert_eq!(interval, Interval { low: 125.0, high: 4875.0 });
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(inverted_cdf(&[], 0.5), Err(QuantileError::Empty));
        assert_eq!(inverted_cdf(&[1.0], 1.5), Err(QuantileError::Share(1.5)));
        let nan = inverted_cdf(&[1.0, f64::NAN], 0.5);
        assert_eq!(nan, Err(QuantileError::NotANumber { index: 1 }));
        assert_eq!(percentile_interval(&[1.0], 1.0), Err(QuantileError::Level(1.0)));
    }
}
