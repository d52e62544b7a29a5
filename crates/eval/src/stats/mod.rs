//! Intervals and tests: what a difference between two runs is worth.
//!
//! Pure functions over slices. One file for each method, its source beside it.
//!
//! The usual path: [`Groups`] says which queries are drawn together, a [`Statistic`] is a
//! measure summed up by group, [`bootstrap`](bootstrap()) draws, [`Resampled::interval`] reads
//! off. For tests, [`differences`] subtracts two runs' scores query by query, and
//! [`sign_test`], [`randomization_test`], [`wilcoxon`](wilcoxon()) and [`paired_t`] take what it
//! returns. [`holm`] and its siblings correct a family of p-values.
//!
//! Every result is a function of the values alone: not of the order in which the queries come,
//! nor of the number of threads. The seed is an argument wherever something is sampled.
//!
//! Architecture invariant: no file access, no label types, no global generator, no clock.

pub mod bootstrap;
pub mod corrections;
pub mod exact;
pub mod groups;
mod normal;
pub mod paired;
pub mod quantile;
pub mod randomization;
pub mod rng;
pub mod sign;
pub mod studentized_range;
mod table;
pub mod ttest;
pub mod tukey;
pub mod wilcoxon;
pub mod wilson;

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the same sums in the same order")]
mod properties;

pub use self::{
    bootstrap::{BootstrapError, Plan, Resampled, bootstrap},
    corrections::{CorrectionError, benjamini_hochberg, bonferroni, holm},
    exact::{Distribution, ExactError, exact},
    groups::{Groups, GroupsError, Statistic, StatisticError},
    paired::{PairedError, differences},
    quantile::{Interval, QuantileError},
    randomization::{Randomization, Sampling, randomization_test},
    rng::Counter,
    sign::{McNemar, Tally, mcnemar, sign_test},
    studentized_range::{RangeError, studentized_range_sf},
    ttest::{Spread, TTest, paired_t},
    tukey::{Tukey, TukeyError, TukeyPair, tukey_one_way, tukey_two_way},
    wilcoxon::{Wilcoxon, wilcoxon},
    wilson::{WilsonError, wilson},
};

/// The sum of `values`, the same for any order in which they come.
///
/// Addition of floats does not associate, so they are added smallest first.
fn sum_sorted(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}
