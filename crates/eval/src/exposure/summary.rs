//! What a group of queries adds up to.

use cleanhit_core::Cutoff;

use crate::{
    exposure::{Cutoffs, Group, Measure, Observed},
    labels::{Cases, Stratum},
};

/// Groups of fewer queries than this are marked: the dagger of the paper's table 5.
pub const THIN: u64 = 30;

/// A group's counts at every cutoff.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The group.
    pub group: Group,
    /// Its queries. May be 0: then every rate is undefined.
    pub queries: u64,
    /// Its units.
    pub units: u64,
    /// Its lineage groups: what an interval resamples.
    pub lineage_groups: u64,
    /// Which marked skill comes first, where a list has both.
    pub order: RelativeOrder,
    /// One entry for each cutoff, ascending.
    pub at: Vec<Counts>,
}

/// A group's counts at one cutoff.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Counts {
    /// The cutoff.
    pub cutoff: Cutoff,
    /// Queries in the group.
    pub queries: u64,
    /// Units in the group.
    pub units: u64,
    /// Lists that hold the helpful skill.
    pub helpful: u64,
    /// Lists that hold the marked sibling.
    pub sibling: u64,
    /// Lists that hold the helpful skill without the sibling.
    pub clean: u64,
    /// Lists that hold both.
    pub both: u64,
    /// Unit scores added up, in halves: a unit has one query or two.
    unit_halves: [u64; 3],
    /// The units whose two queries both succeed; only where every query of the group is paired.
    pub pairs: Option<PairCounts>,
}

/// Units of a group in which every query is one of a pair.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PairCounts {
    /// Units.
    pub units: u64,
    /// Units of which both lists hold their helpful skill.
    pub both_recalled: u64,
    /// Units of which both lists hold their helpful skill without its sibling.
    pub both_clean: u64,
}

/// Which of the two marked skills comes first. Appendix B.3.
///
/// Counts only lists that have both, in whatever depth was recorded: a missing candidate is
/// censored, not an error of order. Supports differ by method, so these rates do not rank methods.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RelativeOrder {
    /// Queries in the group.
    pub queries: u64,
    /// Lists that have both skills: the support.
    pub listed: u64,
    /// Of those, lists in which the sibling precedes the helpful skill.
    pub sibling_first: u64,
}

impl Summary {
    /// Adds up the members of `group`. `members` are places among `cases`.
    pub(crate) fn new(
        group: Group,
        members: &[usize],
        cases: &Cases,
        observed: &[Observed],
        cutoffs: &Cutoffs,
    ) -> Summary {
        let units = Units::new(members, cases);
        let at = cutoffs.iter().map(|cutoff| units.count(cutoff, members, observed));
        let mut order = RelativeOrder { queries: members.len() as u64, ..RelativeOrder::default() };
        for sibling_first in members.iter().filter_map(|&case| observed[case].sibling_first()) {
            order.listed += 1;
            order.sibling_first += u64::from(sibling_first);
        }
        let mut lineages: Vec<usize> = members.iter().map(|&case| cases.lineage_of(case)).collect();
        lineages.sort_unstable();
        lineages.dedup();
        Summary {
            queries: members.len() as u64,
            units: units.sizes.len() as u64,
            lineage_groups: lineages.len() as u64,
            order,
            at: at.collect(),
            group,
        }
    }

    /// The counts at a cutoff, if it was asked for.
    pub fn at(&self, cutoff: Cutoff) -> Option<&Counts> {
        self.at.iter().find(|counts| counts.cutoff == cutoff)
    }

    /// The counts at rank 1, if it was asked for: Recall@1 and HSR@1, appendix B.3.
    pub fn first_rank(&self) -> Option<&Counts> {
        self.at.iter().find(|counts| counts.cutoff.get() == 1)
    }

    /// Whether the group is too small to be read without a mark: fewer than [`THIN`] queries.
    pub fn is_thin(&self) -> bool {
        self.queries < THIN
    }
}

impl Counts {
    /// Lists that satisfy the measure.
    pub fn count(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Recall => self.helpful,
            Measure::Hsr => self.sibling,
            Measure::CleanHit => self.clean,
        }
    }

    /// Every query counts the same: the main report. `None` without queries.
    pub fn micro(&self, measure: Measure) -> Option<f64> {
        ratio(self.count(measure), self.queries)
    }

    /// The mean within each unit, then over units: appendix B.3. `None` without queries.
    pub fn unit_macro(&self, measure: Measure) -> Option<f64> {
        ratio(self.unit_halves[measure.index()], 2 * self.units)
    }

    /// Unit scores added up, in halves.
    pub(crate) fn unit_halves(&self, measure: Measure) -> u64 {
        self.unit_halves[measure.index()]
    }

    /// How many lists hold both skills: Recall less CleanHit, appendix B.2.
    pub fn both_rate(&self) -> Option<f64> {
        ratio(self.both, self.queries)
    }

    /// Of the lists that hold the helpful skill, how many hold its sibling too. `None` if none
    /// holds it: appendix B.2 reports a zero denominator as missing.
    pub fn conditional_co_exposure(&self) -> Option<f64> {
        ratio(self.both, self.helpful)
    }
}

impl PairCounts {
    /// Share of units whose two queries both find their helpful skill.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.both_recalled, self.units)
    }

    /// Share of units whose two queries both find it without its sibling.
    pub fn clean_hit(&self) -> Option<f64> {
        ratio(self.both_clean, self.units)
    }
}

impl RelativeOrder {
    /// Of the lists that have both skills, the share in which the sibling comes first.
    pub fn sibling_first_rate(&self) -> Option<f64> {
        ratio(self.sibling_first, self.listed)
    }
}

/// The units of a group of queries.
struct Units {
    /// By member: the place of its unit.
    of_member: Vec<usize>,
    /// By unit: its queries in the group, one or two.
    sizes: Vec<u8>,
    /// Whether every query is one of a pair.
    paired: bool,
}

impl Units {
    fn new(members: &[usize], cases: &Cases) -> Units {
        const UNSEEN: usize = usize::MAX;
        let mut places = vec![UNSEEN; cases.units()];
        let mut sizes: Vec<u8> = Vec::new();
        let of_member = members.iter().map(|&case| {
            let place = &mut places[cases.unit_of(case)];
            if *place == UNSEEN {
                *place = sizes.len();
                sizes.push(0);
            }
            sizes[*place] += 1;
            *place
        });
        let of_member = of_member.collect();
        let stratum = |&case: &usize| cases.as_slice()[case].stratum;
        let paired = members.iter().all(|case| stratum(case) == Stratum::Paired);
        Units { paired: paired && !members.is_empty(), of_member, sizes }
    }

    fn count(&self, cutoff: Cutoff, members: &[usize], observed: &[Observed]) -> Counts {
        let mut counts = Counts {
            cutoff,
            queries: members.len() as u64,
            units: self.sizes.len() as u64,
            helpful: 0,
            sibling: 0,
            clean: 0,
            both: 0,
            unit_halves: [0; 3],
            pairs: None,
        };
        let mut satisfied = vec![[0u8; 3]; self.sizes.len()];
        for (&case, &unit) in members.iter().zip(&self.of_member) {
            let observed = observed[case];
            let [helpful, sibling, clean] =
                Measure::ALL.map(|measure| u8::from(observed.satisfies(measure, cutoff)));
            counts.helpful += u64::from(helpful);
            counts.sibling += u64::from(sibling);
            counts.clean += u64::from(clean);
            counts.both += u64::from(observed.both(cutoff));
            for (sum, one) in satisfied[unit].iter_mut().zip([helpful, sibling, clean]) {
                *sum += one;
            }
        }
        assert_eq!(counts.helpful, counts.clean + counts.both, "Recall = CleanHit + both-hit");
        for (satisfied, &size) in satisfied.iter().zip(&self.sizes) {
            for (halves, &n) in counts.unit_halves.iter_mut().zip(satisfied) {
                // One of one is two halves, one of two is one.
                *halves += u64::from(2 * n / size);
            }
        }
        if self.paired {
            let both = |measure: Measure| {
                let all = satisfied.iter().zip(&self.sizes);
                all.filter(|(n, size)| **size == 2 && n[measure.index()] == 2).count() as u64
            };
            counts.pairs = Some(PairCounts {
                units: counts.units,
                both_recalled: both(Measure::Recall),
                both_clean: both(Measure::CleanHit),
            });
        }
        counts
    }
}

pub(crate) fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator != 0).then(|| numerator as f64 / denominator as f64)
}
