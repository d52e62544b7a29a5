//! How far do the measures depend on the order of ties?
//!
//! A cutoff can fall inside a run of equal scores: which of them are in the first `K` is then
//! the tie rule's doing, not the method's. The candidates around rank `K` whose neighbours tie
//! are taken as one block, in any order; each measure's least and largest value follow, each
//! attained by some order (not necessarily the same one for all three).
//!
//! Only candidates in the recorded list are known. A block that reaches the list's end may go on
//! beyond it, and where the list ends at `K` nothing is known of rank `K + 1`: both are counted.
//! Scores of a rank file need not fall; a block is then a run of neighbouring ranks that tie.

use cleanhit_core::{Cutoff, Ranking};

use crate::exposure::{Cutoffs, Measure, Observed, summary::ratio};

/// Scores this close are a near-tie: a rounding error could have swapped them.
pub const NEAR_TIE: f64 = 1e-6;

/// How far a group's measures at one cutoff depend on the order of ties.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TieReport {
    /// The cutoff.
    pub cutoff: Cutoff,
    /// Queries in the group.
    pub queries: u64,
    /// Queries whose list ends at the cutoff though their pool goes on: ties there are unknown.
    pub unrecorded: u64,
    /// Equal scores.
    pub exact: TieCounts,
    /// Scores within [`NEAR_TIE`] of their neighbour, equal ones included.
    pub near: TieCounts,
}

/// The queries whose ranks `K` and `K + 1` tie, and what the orders of those ties can give.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TieCounts {
    /// Queries whose ranks `K` and `K + 1` tie.
    pub tied: u64,
    /// Of those, queries whose tie reaches the end of the list though their pool goes on.
    pub open: u64,
    /// By measure: the least and the largest number of queries that can satisfy it.
    bounds: [Bounds; 3],
}

/// The least and the largest count over the orders of ties.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bounds {
    /// The least.
    pub low: u64,
    /// The largest.
    pub high: u64,
}

/// What ties leave open, for each case and cutoff.
#[derive(Clone, Debug)]
pub(crate) struct Ties {
    /// Entries of one case.
    width: usize,
    /// `[cases, cutoffs]`.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    unrecorded: bool,
    exact: Tie,
    near: Tie,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tie {
    tied: bool,
    open: bool,
    low: [bool; 3],
    high: [bool; 3],
}

/// Where a skill stands to a block that a cutoff cuts.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Above,
    Inside,
    Below,
}

impl TieReport {
    /// The measure's value if every tie falls as it likes least and as it likes best: the lower
    /// value first, whichever of them is the better one. `None` without queries.
    pub fn exact_range(&self, measure: Measure) -> Option<(f64, f64)> {
        self.range(&self.exact, measure)
    }

    /// As [`exact_range`](TieReport::exact_range), over near-ties.
    pub fn near_range(&self, measure: Measure) -> Option<(f64, f64)> {
        self.range(&self.near, measure)
    }

    fn range(&self, counts: &TieCounts, measure: Measure) -> Option<(f64, f64)> {
        let Bounds { low, high } = counts.bounds(measure);
        Some((ratio(low, self.queries)?, ratio(high, self.queries)?))
    }
}

impl TieCounts {
    /// The least and the largest number of queries that can satisfy the measure.
    pub fn bounds(&self, measure: Measure) -> Bounds {
        self.bounds[measure.index()]
    }

    /// The best value's count: the least for HSR, the largest otherwise.
    pub fn best(&self, measure: Measure) -> u64 {
        let Bounds { low, high } = self.bounds(measure);
        if measure.lower_is_better() { low } else { high }
    }

    /// The worst value's count: the largest for HSR, the least otherwise.
    pub fn worst(&self, measure: Measure) -> u64 {
        let Bounds { low, high } = self.bounds(measure);
        if measure.lower_is_better() { high } else { low }
    }

    fn add(&mut self, tie: &Tie) {
        self.tied += u64::from(tie.tied);
        self.open += u64::from(tie.open);
        for (bounds, (&low, &high)) in self.bounds.iter_mut().zip(tie.low.iter().zip(&tie.high)) {
            bounds.low += u64::from(low);
            bounds.high += u64::from(high);
        }
    }
}

impl Ties {
    pub(super) fn new(cases: usize, cutoffs: &Cutoffs) -> Ties {
        let width = cutoffs.iter().len();
        Ties { width, entries: Vec::with_capacity(cases * width) }
    }

    /// Adds a case without a ranking: it satisfies nothing in any order.
    pub(super) fn push_missing(&mut self) {
        self.entries.extend(std::iter::repeat_n(Entry::default(), self.width));
    }

    pub(super) fn push(
        &mut self,
        observed: Observed,
        ranking: &Ranking,
        pool_size: usize,
        cutoffs: &Cutoffs,
    ) {
        let listed = ranking.hits().len();
        self.entries.extend(cutoffs.iter().map(|cutoff| Entry {
            unrecorded: listed <= cutoff.get() && cutoff.get() < pool_size,
            exact: Tie::new(observed, ranking, cutoff, 0.0, pool_size),
            near: Tie::new(observed, ranking, cutoff, NEAR_TIE, pool_size),
        }));
    }

    pub(crate) fn report(&self, members: &[usize], cutoffs: &Cutoffs) -> Vec<TieReport> {
        let report = |(place, cutoff): (usize, Cutoff)| {
            let queries = members.len() as u64;
            let (exact, near) = (TieCounts::default(), TieCounts::default());
            let mut report = TieReport { cutoff, queries, unrecorded: 0, exact, near };
            for &case in members {
                let entry = &self.entries[case * self.width + place];
                report.unrecorded += u64::from(entry.unrecorded);
                report.exact.add(&entry.exact);
                report.near.add(&entry.near);
            }
            report
        };
        cutoffs.iter().enumerate().map(report).collect()
    }
}

impl Tie {
    fn new(
        observed: Observed,
        ranking: &Ranking,
        cutoff: Cutoff,
        within: f64,
        pool_size: usize,
    ) -> Tie {
        if !ranking.tie_at(cutoff, within) {
            let satisfied = Measure::ALL.map(|measure| observed.satisfies(measure, cutoff));
            return Tie { tied: false, open: false, low: satisfied, high: satisfied };
        }
        let (first, last) = block(ranking, cutoff, within);
        let place = |rank: Option<u32>| match rank.map(|rank| rank as usize) {
            Some(rank) if rank < first => Place::Above,
            Some(rank) if rank <= last => Place::Inside,
            _ => Place::Below,
        };
        let (helpful, sibling) = (place(observed.helpful), place(observed.sibling));
        // Above the block is in, below it is out. Of the block at least one is in and one is
        // out, so that inside it anything goes, and of two inside either may be in alone.
        let listed = ranking.hits().len();
        Tie {
            tied: true,
            open: last == listed && listed < pool_size,
            low: [
                helpful == Place::Above,
                sibling == Place::Above,
                helpful == Place::Above && sibling == Place::Below,
            ],
            high: [
                helpful != Place::Below,
                sibling != Place::Below,
                helpful != Place::Below && sibling != Place::Above,
            ],
        }
    }
}

/// The first and the last rank of the block that holds ranks `K` and `K + 1`, which tie.
fn block(ranking: &Ranking, cutoff: Cutoff, within: f64) -> (usize, usize) {
    let hits = ranking.hits();
    // Whether ranks `k` and `k + 1` tie.
    let tie = |k: usize| (hits[k - 1].score.get() - hits[k].score.get()).abs() <= within;
    let (mut first, mut last) = (cutoff.get(), cutoff.get() + 1);
    while 1 < first && tie(first - 1) {
        first -= 1;
    }
    while last < hits.len() && tie(last) {
        last += 1;
    }
    (first, last)
}
