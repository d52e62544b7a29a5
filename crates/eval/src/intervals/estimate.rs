//! Intervals around the rates of one run.

use std::{collections::HashMap, fmt};

use cleanhit_core::Cutoff;
use rayon::prelude::*;

use crate::{
    exposure::{By, EvalError, Evaluation, Group, Measure, Scope},
    labels::Cases,
    stats::{Groups, Interval, Plan, Resampled, Statistic, bootstrap},
};

/// An interval over fewer lineage groups than this is marked: it is broad and unstable.
pub const FEW_GROUPS: u64 = 10;

/// How intervals are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapSettings {
    /// How many draws, and which.
    pub plan: Plan,
    /// The level, in (0, 1).
    pub level: f64,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ResamplingUnit {
    /// Lineage groups, which the label file names.
    LineageGroup,
    /// Units, where it names none.
    Unit,
}

/// Intervals around every rate of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// How they were made.
    pub settings: BootstrapSettings,
    /// What was drawn.
    pub resampling_unit: ResamplingUnit,
    /// By group, in the order asked for.
    pub groups: Vec<GroupIntervals>,
}

/// Intervals around a group's rates.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupIntervals {
    /// The group.
    pub group: Group,
    /// Lineage groups, or units, that were drawn from.
    pub lineage_groups: u64,
    /// One entry for each cutoff, ascending; none where the group has no query.
    pub at: Vec<AtCutoff>,
}

/// Intervals around a group's rates at one cutoff.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtCutoff {
    /// The cutoff.
    pub cutoff: Cutoff,
    micro: [Interval; 3],
    unit_macro: [Interval; 3],
}

impl Default for BootstrapSettings {
    /// 5,000 replicates, seed 20260910, level 0.95.
    fn default() -> BootstrapSettings {
        BootstrapSettings { plan: Plan::default(), level: 0.95 }
    }
}

impl ResamplingUnit {
    /// What the labels allow to be drawn.
    pub fn of(cases: &Cases) -> ResamplingUnit {
        match cases.lineage_known() {
            true => ResamplingUnit::LineageGroup,
            false => ResamplingUnit::Unit,
        }
    }

    /// As `intervals.json` writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            ResamplingUnit::LineageGroup => "lineage_group",
            ResamplingUnit::Unit => "unit",
        }
    }
}

impl fmt::Display for ResamplingUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Intervals {
    /// The intervals of a group, if it was asked for.
    pub fn get(&self, group: impl Into<Group>) -> Option<&GroupIntervals> {
        let group = group.into();
        self.groups.iter().find(|intervals| intervals.group == group)
    }
}

impl GroupIntervals {
    /// The intervals at a cutoff, if it was asked for and the group has a query.
    pub fn at(&self, cutoff: Cutoff) -> Option<&AtCutoff> {
        self.at.iter().find(|at| at.cutoff == cutoff)
    }

    /// Whether so few groups were drawn from that the interval is broad: fewer than
    /// [`FEW_GROUPS`].
    pub fn has_few_groups(&self) -> bool {
        self.lineage_groups < FEW_GROUPS
    }
}

impl AtCutoff {
    /// Around the query-micro rate.
    pub fn micro(&self, measure: Measure) -> Interval {
        self.micro[measure.index()]
    }

    /// Around the unit-macro rate.
    pub fn unit_macro(&self, measure: Measure) -> Interval {
        self.unit_macro[measure.index()]
    }
}

impl Evaluation<'_> {
    /// Intervals for every scope and every group of every breakdown.
    ///
    /// # Errors
    ///
    /// If the level is outside (0, 1).
    pub fn intervals(&self, settings: &BootstrapSettings) -> Result<Intervals, EvalError> {
        let scopes = Scope::ALL.map(Group::Scope);
        let breakdowns = By::ALL.into_iter().flat_map(|by| by.groups(self.cases));
        self.intervals_of(&scopes.into_iter().chain(breakdowns).collect::<Vec<Group>>(), settings)
    }

    /// Intervals for the groups given.
    ///
    /// # Errors
    ///
    /// If the level is outside (0, 1).
    pub fn intervals_of(
        &self,
        groups: &[Group],
        settings: &BootstrapSettings,
    ) -> Result<Intervals, EvalError> {
        // Groups of the same queries (a mechanism and its only type) share one computation.
        let mut distinct: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
        let place_of_group: Vec<usize> = groups
            .iter()
            .map(|group| {
                let members = group.members(self.cases);
                *places.entry(members).or_insert_with_key(|members| {
                    distinct.push(members.clone());
                    distinct.len() - 1
                })
            })
            .collect();
        let computed: Vec<Result<(u64, Vec<AtCutoff>), EvalError>> =
            distinct.par_iter().map(|members| self.resample(members, settings)).collect();
        let computed = computed.into_iter().collect::<Result<Vec<_>, EvalError>>()?;
        let groups = groups.iter().zip(place_of_group).map(|(group, place)| {
            let (lineage_groups, at) = computed[place].clone();
            GroupIntervals { group: group.clone(), lineage_groups, at }
        });
        Ok(Intervals {
            settings: *settings,
            resampling_unit: ResamplingUnit::of(self.cases),
            groups: groups.collect(),
        })
    }

    fn resample(
        &self,
        members: &[usize],
        settings: &BootstrapSettings,
    ) -> Result<(u64, Vec<AtCutoff>), EvalError> {
        if members.is_empty() {
            return Ok((0, Vec::new()));
        }
        let drawn = Drawn::new(self.cases, members)?;
        let values = |measure, cutoff| {
            let value = |&case: &usize| match self.observed[case].satisfies(measure, cutoff) {
                true => 1.0,
                false => 0.0,
            };
            members.iter().map(value).collect::<Vec<f64>>()
        };
        let wanted = self.cutoffs.iter().flat_map(|k| Measure::ALL.map(|measure| (measure, k)));
        let wanted: Vec<Vec<f64>> = wanted.map(|(measure, k)| values(measure, k)).collect();
        let intervals = drawn.intervals(&wanted, settings)?;
        let at = self.cutoffs.iter().zip(intervals.chunks_exact(3)).map(|(cutoff, chunk)| {
            let of = |pick: fn(&Both<Interval>) -> Interval| [0, 1, 2].map(|m| pick(&chunk[m]));
            AtCutoff {
                cutoff,
                micro: of(|both| both.micro),
                unit_macro: of(|both| both.unit_macro),
            }
        });
        Ok((drawn.groups.count() as u64, at.collect()))
    }
}

/// A value with queries counted the same, and with units counted the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Both<T> {
    pub(super) micro: T,
    pub(super) unit_macro: T,
}

/// A group's queries as the bootstrap draws them.
pub(super) struct Drawn {
    groups: Groups,
    /// By query: its unit.
    units: Vec<usize>,
    /// Whether some unit has two queries here: else micro and macro are the same.
    weighted: bool,
}

impl Drawn {
    pub(super) fn new(cases: &Cases, members: &[usize]) -> Result<Drawn, EvalError> {
        let lineages: Vec<usize> = members.iter().map(|&case| cases.lineage_of(case)).collect();
        let units: Vec<usize> = members.iter().map(|&case| cases.unit_of(case)).collect();
        let mut distinct = units.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let weighted = distinct.len() < units.len();
        Ok(Drawn { groups: Groups::new(&lineages)?, units, weighted })
    }

    /// The interval around the mean of each of `values`, `[statistics][queries]`.
    pub(super) fn intervals(
        &self,
        values: &[Vec<f64>],
        settings: &BootstrapSettings,
    ) -> Result<Vec<Both<Interval>>, EvalError> {
        let mut statistics = Vec::with_capacity(2 * values.len());
        for values in values {
            statistics.push(Statistic::micro(&self.groups, values)?);
        }
        if self.weighted {
            for values in values {
                statistics.push(Statistic::unit_macro(&self.groups, &self.units, values)?);
            }
        }
        let resampled = bootstrap(&self.groups, &statistics, settings.plan)?;
        let interval = |resampled: &Resampled| resampled.interval(settings.level);
        let intervals: Vec<_> = resampled.par_iter().map(interval).collect();
        let intervals = intervals.into_iter().collect::<Result<Vec<Interval>, _>>()?;
        let (micro, rest) = intervals.split_at(values.len());
        let unit_macro = if self.weighted { rest } else { micro };
        let both = micro.iter().zip(unit_macro);
        Ok(both.map(|(&micro, &unit_macro)| Both { micro, unit_macro }).collect())
    }
}
