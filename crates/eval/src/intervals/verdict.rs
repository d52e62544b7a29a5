//! What stands beside a difference: does it survive ties, and other tests?

use crate::exposure::{Measure, TieReport};

/// Whether the sign of a difference survives every order of ties.
///
/// The ties of the two runs are taken to fall independently, which is the worst case: under one
/// tie rule less is possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TieVerdict {
    /// The least difference over the orders of equal scores.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Whether the sign is the same over all orders of equal scores.
    pub survives: bool,
    /// The same over near-ties.
    pub survives_near: bool,
}

/// A p-value adjusted for the family of tests that it is one of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjusted {
    /// Tests in the family.
    pub family: usize,
    /// Bonferroni.
    pub bonferroni: f64,
    /// Holm.
    pub holm: f64,
    /// Benjamini and Hochberg's false discovery rate.
    pub benjamini_hochberg: f64,
}

impl TieVerdict {
    /// Over a group of at least one query.
    pub(super) fn new(
        measure: Measure,
        baseline: &TieReport,
        treated: &TieReport,
        net: i64,
    ) -> TieVerdict {
        let range = |near: bool| {
            let counts = |report: &TieReport| match near {
                true => report.near.bounds(measure),
                false => report.exact.bounds(measure),
            };
            let (a, b) = (counts(baseline), counts(treated));
            (less(b.low, a.high), less(b.high, a.low))
        };
        let survives =
            |(low, high): (i64, i64)| low.signum() == net.signum() && high.signum() == net.signum();
        let (exact, near) = (range(false), range(true));
        let queries = baseline.queries as f64;
        TieVerdict {
            low: exact.0 as f64 / queries,
            high: exact.1 as f64 / queries,
            survives: survives(exact),
            survives_near: survives(near),
        }
    }
}

/// `a - b` of two counts of queries.
pub(super) fn less(a: u64, b: u64) -> i64 {
    match a.checked_sub(b) {
        Some(difference) => difference.cast_signed(),
        None => -(b - a).cast_signed(),
    }
}
