//! How far would the mean move, had other groups been drawn?
//!
//! The group (cluster) bootstrap: a replicate draws as many groups as there are, with
//! replacement, and the statistic is recomputed over the drawn groups. All statistics of one
//! call see the same draws, so their differences are paired.
//!
//! Source: Davison and Hinkley, "Bootstrap Methods and their Application", 1997, sections 3.8
//! and 5.3.1 (the percentile interval).

use std::{num::NonZeroU32, sync::Arc};

use rayon::prelude::*;

use super::{
    groups::{Groups, Statistic},
    quantile::{Interval, QuantileError, percentile_interval},
    rng::Counter,
    table::Table,
};

/// How many draws, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of replicates.
    pub replicates: NonZeroU32,
    /// The seed of the generator, [`GENERATOR`](super::rng::GENERATOR).
    pub seed: u64,
}

impl Default for Plan {
    /// 5,000 replicates, seed 20260910.
    fn default() -> Plan {
        const REPLICATES: NonZeroU32 = match NonZeroU32::new(5000) {
            Some(replicates) => replicates,
            None => NonZeroU32::MIN,
        };
        Plan { replicates: REPLICATES, seed: 20_260_910 }
    }
}

/// Why statistics cannot be resampled together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The statistic was made for other groups.
    #[error("statistic {statistic} has {got} groups, but {groups} groups are drawn")]
    GroupsDiffer {
        /// Which of the statistics.
        statistic: usize,
        /// How many groups are drawn.
        groups: usize,
        /// How many groups it was made for.
        got: usize,
    },
    /// No query counts, so there is no value to put an interval around.
    #[error("statistic {statistic} has denominator 0")]
    Undefined {
        /// Which of the statistics.
        statistic: usize,
    },
    /// More than 2^32 groups.
    #[error("{groups} groups are more than 32 bits can number")]
    TooManyGroups {
        /// How many there are.
        groups: usize,
    },
    /// Only values of the same draw can be subtracted.
    #[error("the two statistics were not resampled with the same groups, replicates and seed")]
    DrawsDiffer,
}

/// A statistic's value, and its value in each replicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    point: f64,
    values: Vec<f64>,
    draws: Arc<(Groups, Plan)>,
}

/// Resamples `groups` and recomputes every one of `statistics` on each draw.
///
/// Returns one result for each statistic, in the same order. Replicate `r` reads stream `r` of
/// the generator: as many bounded integers as the first stratum has groups, then the next
/// stratum's. The same bytes for any number of threads; parallel over replicates.
///
/// # Errors
///
/// If a statistic was made for another number of groups, or has denominator 0 over all.
pub fn bootstrap(
    groups: &Groups,
    statistics: &[Statistic],
    plan: Plan,
) -> Result<Vec<Resampled>, BootstrapError> {
    let table = Table::new(groups, statistics)?;
    let points = table.points()?;
    let strata = strata(groups)?;
    let counter = Counter::new(plan.seed);
    let rows: Vec<Vec<f64>> = (0..u64::from(plan.replicates.get()))
        .into_par_iter()
        .map_init(
            || (vec![0; groups.count()], vec![0.0; table.width]),
            |(counts, sums), replicate| {
                draw(&strata, counter, replicate, counts);
                table.add_up(counts, sums);
                Vec::from_iter((0..statistics.len()).map(|s| table.value(sums, s)))
            },
        )
        .collect();
    let draws = Arc::new((groups.clone(), plan));
    let resampled = points.into_iter().enumerate().map(|(s, point)| {
        let values = rows.iter().map(|row| row[s]).collect();
        Resampled { point, values, draws: Arc::clone(&draws) }
    });
    Ok(resampled.collect())
}

impl Resampled {
    /// The value over the queries as they are.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// The value in each replicate, by replicate; NaN where the drawn denominators sum to 0.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many replicates have no value.
    pub fn undefined(&self) -> usize {
        self.values.iter().filter(|value| value.is_nan()).count()
    }

    /// The percentile interval over the replicates that have a value.
    ///
    /// `level` in (0, 1), usually 0.95. Ends are values of replicates: see
    /// [`quantile`](super::quantile).
    ///
    /// # Errors
    ///
    /// If `level` is outside its range, or no replicate has a value.
    pub fn interval(&self, level: f64) -> Result<Interval, QuantileError> {
        let defined: Vec<f64> = self.values.iter().copied().filter(|v| !v.is_nan()).collect();
        percentile_interval(&defined, level)
    }

    /// The paired difference `self - baseline`, replicate by replicate.
    ///
    /// # Errors
    ///
    /// If the two saw different groups, replicates or seeds.
    pub fn minus(&self, baseline: &Resampled) -> Result<Resampled, BootstrapError> {
        if !Arc::ptr_eq(&self.draws, &baseline.draws) && self.draws != baseline.draws {
            return Err(BootstrapError::DrawsDiffer);
        }
        let values = self.values.iter().zip(&baseline.values).map(|(a, b)| a - b).collect();
        let draws = Arc::clone(&self.draws);
        Ok(Resampled { point: self.point - baseline.point, values, draws })
    }
}

/// How many groups each stratum holds, as the generator's bounds.
fn strata(groups: &Groups) -> Result<Vec<NonZeroU32>, BootstrapError> {
    let bound = |&size: &usize| u32::try_from(size).ok().and_then(NonZeroU32::new);
    let bounds: Option<Vec<NonZeroU32>> = groups.strata().iter().map(bound).collect();
    bounds.ok_or(BootstrapError::TooManyGroups { groups: groups.count() })
}

/// Sets `counts`, `[groups]`, to how often each group is drawn in `replicate`.
fn draw(strata: &[NonZeroU32], counter: Counter, replicate: u64, counts: &mut [u32]) {
    counts.fill(0);
    let mut words = counter.stream(replicate);
    let mut rest = counts;
    for &bound in strata {
        let (stratum, after) = rest.split_at_mut(bound.get() as usize);
        for _ in 0..bound.get() {
            stratum[words.below(bound) as usize] += 1;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stratum_keeps_its_number_of_groups() {
        let strata = [2, 3].map(|n| NonZeroU32::new(n).unwrap());
        let mut counts = vec![0; 5];
        for replicate in 0..50 {
            draw(&strata, Counter::new(1), replicate, &mut counts);
            let sizes = (counts[..2].iter().sum::<u32>(), counts[2..].iter().sum::<u32>());
            assert_eq!(sizes, (2, 3));
        }
    }

    #[test]
    fn the_draws_of_a_plan_never_change() {
        // A change here moves every published interval: raise the version in `rng::GENERATOR`.
        let groups = Groups::singletons(10).unwrap();
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        let statistic = Statistic::micro(&groups, &values).unwrap();
        let resampled = &bootstrap(&groups, &[statistic], Plan::default()).unwrap()[0];
        assert_eq!(resampled.values().len(), 5000);
        assert_eq!(resampled.values()[..4], [3.4, 4.5, 5.5, 5.3]);
    }

    #[test]
    fn a_replicate_without_a_denominator_is_undefined() {
        let groups = Groups::singletons(2).unwrap();
        let ratio = Statistic::ratio(&groups, &[1.0, 0.0], &[1.0, 0.0]).unwrap();
        let resampled = &bootstrap(&groups, &[ratio], Plan::default()).unwrap()[0];
        // One draw in four takes the second group twice.
        assert!((1000..1500).contains(&resampled.undefined()), "{}", resampled.undefined());
        assert_eq!(resampled.interval(0.95), Ok(Interval { low: 1.0, high: 1.0 }));
    }

    #[test]
    fn bad_input_is_named() {
        let (two, three) = (Groups::singletons(2).unwrap(), Groups::singletons(3).unwrap());
        let statistic = Statistic::micro(&two, &[1.0, 0.0]).unwrap();
        let err = bootstrap(&three, std::slice::from_ref(&statistic), Plan::default()).unwrap_err();
        assert_eq!(err.to_string(), "statistic 0 has 2 groups, but 3 groups are drawn");
        let empty = Statistic::ratio(&two, &[0.0; 2], &[0.0; 2]).unwrap();
        let err = bootstrap(&two, &[statistic.clone(), empty], Plan::default()).unwrap_err();
        assert_eq!(err, BootstrapError::Undefined { statistic: 1 });
        let with = |seed| {
            let plan = Plan { seed, ..Plan::default() };
            bootstrap(&two, std::slice::from_ref(&statistic), plan).unwrap().remove(0)
        };
        assert_eq!(with(1).minus(&with(2)), Err(BootstrapError::DrawsDiffer));
        assert!(with(1).minus(&with(1)).unwrap().values().iter().all(|&value| value == 0.0));
    }
}
