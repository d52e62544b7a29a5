//! Paired differences between two runs of one information setting.

use std::collections::BTreeMap;

use cleanhit_core::{Cutoff, Run, Setting};
use cleanhit_io::{Benchmark, counted};
use rayon::prelude::*;

use crate::{
    exposure::{By, Cutoffs, EvalError, Evaluation, Group, Measure, Scope, THIN},
    intervals::{
        Adjusted, BootstrapSettings, FEW_GROUPS, TieVerdict,
        estimate::{Both, Drawn},
        verdict::less,
    },
    labels::Cases,
    stats::{Interval, Tally, benjamini_hochberg, bonferroni, holm, sign_test},
};

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// The cutoffs.
    pub cutoffs: Cutoffs,
    /// How intervals are made.
    pub bootstrap: BootstrapSettings,
    /// The breakdowns to compare by, beside the main comparison.
    pub by: Vec<By>,
}

/// Two runs, compared on the same queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// By group, then cutoff, then measure. The first group is the main comparison.
    pub differences: Vec<Difference>,
    /// What is odd about either run.
    pub warnings: Vec<String>,
}

/// How much a measure changes from a baseline to another run, over one group of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The group.
    pub group: Group,
    /// The measure.
    pub measure: Measure,
    /// The cutoff.
    pub cutoff: Cutoff,
    /// Queries in the group.
    pub queries: u64,
    /// Units in the group.
    pub units: u64,
    /// Lineage groups: what the interval resamples.
    pub lineage_groups: u64,
    /// The baseline's query-micro rate.
    pub baseline: f64,
    /// The other run's.
    pub treated: f64,
    /// Query-micro: the other run's rate less the baseline's. For HSR, below 0 is better.
    pub micro: f64,
    /// Its paired group-bootstrap interval.
    pub micro_interval: Interval,
    /// Unit-macro: the same with every unit counting once.
    pub unit_macro: f64,
    /// Its paired group-bootstrap interval.
    pub unit_macro_interval: Interval,
    /// Units by the sign of their difference: a win is a unit on which the other run's mean is
    /// the higher one, whatever the measure.
    pub tally: Tally,
    /// The exact two-sided sign test over units.
    pub p: f64,
    /// The p-value as one of a family; see [`adjust_families`].
    pub adjusted: Option<Adjusted>,
    /// Whether the sign of `micro` survives ties.
    pub ties: TieVerdict,
}

impl Default for CompareOptions {
    /// Cutoffs 1, 3, 5 and 20; by stratum, role, mechanism and type.
    fn default() -> CompareOptions {
        CompareOptions {
            cutoffs: Cutoffs::default(),
            bootstrap: BootstrapSettings::default(),
            by: vec![By::Stratum, By::Role, By::Mechanism, By::ConflictType],
        }
    }
}

/// Compares two runs of the same information setting: `treated` less `baseline`.
///
/// Runs of different settings have different types, and do not compare. The p-values are
/// adjusted as by [`adjust_families`] over this comparison alone.
///
/// Source: *Right Family, Wrong Skill*, appendix B.4.
///
/// # Errors
///
/// As [`Evaluation::new`]; if no query counts; if the level is outside (0, 1).
pub fn paired<S: Setting>(
    baseline: &Run<S>,
    treated: &Run<S>,
    cases: &Cases,
    bench: &Benchmark,
    options: &CompareOptions,
) -> Result<Comparison, EvalError> {
    let evaluate = |run: &Run<S>| Evaluation::new(cases, bench, run.rankings(), &options.cutoffs);
    let (baseline, treated) = (evaluate(baseline)?, evaluate(treated)?);
    let main = Group::Scope(Scope::MainComparison);
    if !cases.iter().any(|case| main.holds(case)) {
        return Err(EvalError::EmptyGroup(main.to_string()));
    }
    let breakdowns = options.by.iter().flat_map(|by| by.groups(cases));
    let groups: Vec<Group> = std::iter::once(main).chain(breakdowns).collect();
    let compare = |group: &Group| differences(&baseline, &treated, group, &options.bootstrap);
    let compared: Vec<_> = groups.par_iter().map(compare).collect();
    let compared = compared.into_iter().collect::<Result<Vec<Vec<Difference>>, EvalError>>()?;
    let label = |name: &str, run: &Evaluation<'_>| {
        run.warnings().into_iter().map(|w| format!("{name}: {w}")).collect::<Vec<String>>()
    };
    let warnings = [label("baseline", &baseline), label("treated", &treated)].concat();
    let mut comparison = Comparison { differences: compared.concat(), warnings };
    adjust_families(std::slice::from_mut(&mut comparison))?;
    Ok(comparison)
}

/// Adjusts the p-values of several comparisons for one another.
///
/// A family is all differences of one measure at one cutoff over one breakdown: every pair of
/// runs given, on every group. The main comparison is a breakdown of its own.
///
/// # Errors
///
/// If a p-value is outside [0, 1].
pub fn adjust_families(comparisons: &mut [Comparison]) -> Result<(), EvalError> {
    let mut families: BTreeMap<_, Vec<&mut Difference>> = BTreeMap::new();
    for difference in comparisons.iter_mut().flat_map(|comparison| &mut comparison.differences) {
        let key = (difference.group.by(), difference.measure, difference.cutoff);
        families.entry(key).or_default().push(difference);
    }
    families.values_mut().try_for_each(|family| adjust(family))
}

/// Adjusts the p-values of exactly these differences for one another.
///
/// # Errors
///
/// If a p-value is outside [0, 1].
pub fn adjust(family: &mut [&mut Difference]) -> Result<(), EvalError> {
    let p: Vec<f64> = family.iter().map(|difference| difference.p).collect();
    let (bonferroni, holm, bh) = (bonferroni(&p)?, holm(&p)?, benjamini_hochberg(&p)?);
    let size = family.len();
    for (i, difference) in family.iter_mut().enumerate() {
        difference.adjusted = Some(Adjusted {
            family: size,
            bonferroni: bonferroni[i],
            holm: holm[i],
            benjamini_hochberg: bh[i],
        });
    }
    Ok(())
}

impl Comparison {
    /// The difference of a measure over a group, if it was asked for.
    pub fn get(
        &self,
        group: impl Into<Group>,
        measure: Measure,
        cutoff: Cutoff,
    ) -> Option<&Difference> {
        let group = group.into();
        self.differences.iter().find(|difference| {
            difference.group == group
                && (difference.measure, difference.cutoff) == (measure, cutoff)
        })
    }
}

impl Difference {
    /// What to know before this difference is read, for printing.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.queries < THIN {
            warnings.push(format!("{}, fewer than {THIN}", counted(self.queries, "query")));
        }
        if self.lineage_groups < FEW_GROUPS {
            let groups = counted(self.lineage_groups, "lineage group");
            warnings.push(format!("{groups}, fewer than {FEW_GROUPS}: a broad interval"));
        }
        if !self.ties.survives {
            warnings.push("the sign depends on the order of equal scores".to_owned());
        } else if !self.ties.survives_near {
            warnings.push("the sign depends on the order of scores within 1e-6".to_owned());
        }
        warnings
    }
}

/// Every measure at every cutoff over one group.
fn differences(
    baseline: &Evaluation<'_>,
    treated: &Evaluation<'_>,
    group: &Group,
    settings: &BootstrapSettings,
) -> Result<Vec<Difference>, EvalError> {
    let members = group.members(baseline.cases);
    let drawn = Drawn::new(baseline.cases, &members)?;
    let (a, b) = (baseline.summary(group.clone()), treated.summary(group.clone()));
    let (a_ties, b_ties) = (baseline.ties(group.clone()), treated.ties(group.clone()));
    let cutoffs = baseline.cutoffs.iter().enumerate();
    let wanted: Vec<(usize, Cutoff, Measure)> =
        cutoffs.flat_map(|(i, k)| Measure::ALL.map(|measure| (i, k, measure))).collect();
    let changes: Vec<Vec<f64>> = wanted
        .iter()
        .map(|&(_, cutoff, measure)| {
            let hit = |run: &Evaluation<'_>, case: usize| {
                f64::from(u8::from(run.observed[case].satisfies(measure, cutoff)))
            };
            members.iter().map(|&case| hit(treated, case) - hit(baseline, case)).collect()
        })
        .collect();
    let intervals = drawn.intervals(&changes, settings)?;
    let rows = wanted.iter().zip(&changes).zip(intervals);
    let rows = rows.map(|((&(i, cutoff, measure), changes), Both { micro, unit_macro })| {
        let net = less(b.at[i].count(measure), a.at[i].count(measure));
        let halves = less(b.at[i].unit_halves(measure), a.at[i].unit_halves(measure));
        let tally = tally(baseline.cases, &members, changes);
        let rate = |count: u64| count as f64 / a.queries as f64;
        Difference {
            group: group.clone(),
            measure,
            cutoff,
            queries: a.queries,
            units: a.units,
            lineage_groups: a.lineage_groups,
            baseline: rate(a.at[i].count(measure)),
            treated: rate(b.at[i].count(measure)),
            micro: net as f64 / a.queries as f64,
            micro_interval: micro,
            unit_macro: halves as f64 / (2 * a.units) as f64,
            unit_macro_interval: unit_macro,
            tally,
            p: sign_test(tally),
            adjusted: None,
            ties: TieVerdict::new(measure, &a_ties[i], &b_ties[i], net),
        }
    });
    Ok(rows.collect())
}

/// Units by the sign of the sum of their queries' changes, which is that of their mean.
fn tally(cases: &Cases, members: &[usize], changes: &[f64]) -> Tally {
    let mut units: BTreeMap<usize, f64> = BTreeMap::new();
    for (&case, change) in members.iter().zip(changes) {
        *units.entry(cases.unit_of(case)).or_default() += change;
    }
    let count =
        |keep: fn(f64) -> bool| units.values().filter(|&&change| keep(change)).count() as u64;
    Tally { wins: count(|c| 0.5 < c), ties: count(|c| c.abs() < 0.5), losses: count(|c| c < -0.5) }
}
