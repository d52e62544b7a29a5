//! What does the bootstrap give when every draw is counted instead of sampled?
//!
//! For few groups the bootstrap distribution can be listed: each way to take `g` groups of `g`
//! with replacement, up to order, with the number of orders as its weight. There are
//! `binomial(2g - 1, g)` such ways: 126 for five groups, 92,378 for ten.

use super::{
    bootstrap::BootstrapError,
    groups::{Groups, Statistic},
    quantile::{Interval, QuantileError, weighted_interval, weighted_inverted_cdf},
    table::Table,
};

/// The most draws, up to order, that [`exact`](exact()) lists: enough for ten groups.
pub const MOST_DRAWS: u64 = 100_000;

/// Why the distribution cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExactError {
    /// The list would not end in reasonable time.
    #[error("{groups} groups have more than {MOST_DRAWS} draws; sample them")]
    TooManyDraws {
        /// How many groups there are.
        groups: usize,
    },
    /// The statistics do not fit the groups.
    #[error(transparent)]
    Statistic(#[from] BootstrapError),
}

/// Every value that a statistic takes over the draws, with its number of draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    point: f64,
    /// Ascending; the weights are numbers of ordered draws.
    support: Vec<(f64, u64)>,
    undefined: u64,
}

/// The bootstrap distribution of each of `statistics`, listed in full.
///
/// Returns one distribution for each statistic, in the same order.
///
/// # Errors
///
/// If there are more than [`MOST_DRAWS`] draws, or the statistics do not fit the groups.
pub fn exact(groups: &Groups, statistics: &[Statistic]) -> Result<Vec<Distribution>, ExactError> {
    if draws(groups.strata()).is_none() {
        return Err(ExactError::TooManyDraws { groups: groups.count() });
    }
    let table = Table::new(groups, statistics)?;
    let empty = |point| Distribution { point, support: Vec::new(), undefined: 0 };
    let mut distributions: Vec<Distribution> = table.points()?.into_iter().map(empty).collect();
    let mut sums = vec![0.0; table.width];
    each_draw(groups.strata(), &mut Vec::new(), 1, &mut |counts, weight| {
        table.add_up(counts, &mut sums);
        for (s, distribution) in distributions.iter_mut().enumerate() {
            match table.value(&sums, s) {
                value if value.is_nan() => distribution.undefined += weight,
                value => distribution.support.push((value, weight)),
            }
        }
    });
    for distribution in &mut distributions {
        distribution.support.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(distributions)
}

impl Distribution {
    /// The value over the queries as they are.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// The values, ascending, each with its number of ordered draws. A value may come twice.
    pub fn support(&self) -> &[(f64, u64)] {
        &self.support
    }

    /// How many ordered draws have a value.
    pub fn draws(&self) -> u64 {
        self.support.iter().map(|&(_, weight)| weight).sum()
    }

    /// How many ordered draws have none, their denominators being 0.
    pub fn undefined(&self) -> u64 {
        self.undefined
    }

    /// The smallest value whose cumulative share is at least `share`.
    ///
    /// # Errors
    ///
    /// If `share` is outside [0, 1], or no draw has a value.
    pub fn quantile(&self, share: f64) -> Result<f64, QuantileError> {
        weighted_inverted_cdf(self.support.iter().copied(), self.draws(), share)
    }

    /// The percentile interval, as [`Resampled::interval`](super::Resampled::interval).
    ///
    /// # Errors
    ///
    /// If `level` is not in (0, 1), or no draw has a value.
    pub fn interval(&self, level: f64) -> Result<Interval, QuantileError> {
        weighted_interval(self.support.iter().copied(), self.draws(), level)
    }

    /// The share of draws whose value is at most `x`.
    ///
    /// A value within `tolerance` above `x` counts, because a sum that is 0 on paper comes out a
    /// hair above it in floats.
    pub fn share_at_most(&self, x: f64, tolerance: f64) -> f64 {
        let below = self.support.iter().take_while(|&&(value, _)| value <= x + tolerance);
        below.map(|&(_, weight)| weight).sum::<u64>() as f64 / self.draws() as f64
    }
}

/// How many draws there are up to order; `None` above [`MOST_DRAWS`].
fn draws(strata: &[usize]) -> Option<u64> {
    let mut total = 1_u64;
    for &size in strata {
        // binomial(2 size - 1, size), a whole number after each step
        let mut ways = 1_u64;
        for i in 1..=size as u64 {
            ways = ways * (size as u64 - 1 + i) / i;
            if MOST_DRAWS < ways {
                return None;
            }
        }
        total = total.checked_mul(ways).filter(|&total| total <= MOST_DRAWS)?;
    }
    Some(total)
}

/// Calls `visit` with each draw's counts, `[groups]`, and its number of orders.
fn each_draw(
    strata: &[usize],
    counts: &mut Vec<u32>,
    weight: u64,
    visit: &mut impl FnMut(&[u32], u64),
) {
    match strata {
        [] => visit(counts, weight),
        &[size, ref rest @ ..] => each_split(size, size as u64, rest, counts, weight, visit),
    }
}

/// Splits `left` draws over the `open` groups that remain of a stratum, then goes on to `rest`.
fn each_split(
    open: usize,
    left: u64,
    rest: &[usize],
    counts: &mut Vec<u32>,
    weight: u64,
    visit: &mut impl FnMut(&[u32], u64),
) {
    if open == 0 {
        return each_draw(rest, counts, weight, visit);
    }
    let mut ways = 1; // binomial(left, count)
    for (count, taken) in (0..=left).zip(0_u32..) {
        // The last group takes all that is left.
        if 1 < open || count == left {
            counts.push(taken);
            each_split(open - 1, left - count, rest, counts, weight * ways, visit);
            counts.pop();
        }
        ways = ways * (left - count) / (count + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_and_weights_add_up() {
        assert_eq!((draws(&[5]), draws(&[10]), draws(&[11])), (Some(126), Some(92_378), None));
        assert_eq!((draws(&[2, 3]), draws(&[1; 1000])), (Some(3 * 10), Some(1)));
        let mut seen = (0, 0);
        each_draw(&[2, 3], &mut Vec::new(), 1, &mut |counts, weight| {
            assert_eq!((counts[0] + counts[1], counts[2] + counts[3] + counts[4]), (2, 3));
            seen = (seen.0 + 1, seen.1 + weight);
        });
        assert_eq!(seen, (30, 4 * 27));
    }

    #[test]
    fn undefined_draws_are_counted_apart() {
        let groups = Groups::singletons(2).unwrap();
        let ratio = Statistic::ratio(&groups, &[1.0, 0.0], &[1.0, 0.0]).unwrap();
        let distribution = &exact(&groups, &[ratio]).unwrap()[0];
        assert_eq!((distribution.draws(), distribution.undefined()), (3, 1));
        assert_eq!(distribution.interval(0.95), Ok(Interval { low: 1.0, high: 1.0 }));
    }

    #[test]
    fn many_groups_are_refused() {
        let groups = Groups::singletons(11).unwrap();
        let err = exact(&groups, &[]).unwrap_err();
        assert_eq!(err.to_string(), "11 groups have more than 100000 draws; sample them");
    }
}
