//! Does one source make the pattern?
//!
//! The single-query stratum is added up again without each source in turn; no ranking changes.
//! Source: *Right Family, Wrong Skill*, section 4.3 and appendix B.2. A check of sensitivity, not
//! of transfer to an unseen source.

use cleanhit_core::Cutoff;

use crate::{
    exposure::{Counts, Evaluation, Group, Measure, Summary},
    labels::Stratum,
};

/// The single-query stratum without each source.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusions {
    /// One entry for each source that has counted single queries, by name.
    pub rows: Vec<Excluded>,
}

/// The single-query stratum without one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Excluded {
    /// The source that is left out.
    pub source: Box<str>,
    /// What remains, with its numbers of queries, units and lineage groups.
    pub rest: Summary,
}

/// The least and the largest value over all exclusions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Exclusions {
    pub(super) fn new(evaluation: &Evaluation<'_>) -> Exclusions {
        let cases = evaluation.cases();
        let single = |source: &&str| {
            let of_source = |case: &&crate::labels::Case| *case.domain == **source;
            cases
                .iter()
                .filter(of_source)
                .any(|case| case.counted && case.stratum == Stratum::Single)
        };
        let rows = cases.sources().into_iter().filter(single).map(|source| Excluded {
            source: source.into(),
            rest: evaluation.summary(Group::WithoutSource(source.into())),
        });
        Exclusions { rows: rows.collect() }
    }

    /// The range of a measure, query-micro. `None` without sources, or where an exclusion leaves
    /// no query.
    pub fn range(&self, measure: Measure, cutoff: Cutoff) -> Option<Range> {
        self.range_of(cutoff, |counts| counts.micro(measure))
    }

    /// The range of conditional co-exposure. `None` where it is undefined in an exclusion.
    pub fn conditional_range(&self, cutoff: Cutoff) -> Option<Range> {
        self.range_of(cutoff, Counts::conditional_co_exposure)
    }

    fn range_of(&self, cutoff: Cutoff, value: impl Fn(&Counts) -> Option<f64>) -> Option<Range> {
        let values = self.rows.iter().map(|row| row.rest.at(cutoff).and_then(&value));
        let mut values: Vec<f64> = values.collect::<Option<Vec<f64>>>()?;
        values.sort_unstable_by(f64::total_cmp);
        Some(Range { min: *values.first()?, max: *values.last()? })
    }
}
