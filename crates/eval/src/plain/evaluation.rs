//! What an evaluation found: values by query, means, and what ties could change.

use std::num::NonZeroU32;

use crate::plain::{evaluate::Missing, measure::Measure};

/// Scores at most this far apart, but not equal, are a near-tie.
///
/// An absolute difference of scores, as for rank files: a method whose scores live on another
/// scale has more or fewer of them.
pub const NEAR_TIE: f64 = 1e-6;

/// A value, and what the order of equal scores could make of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least value over all orders of equal scores.
    pub worst: f64,
    /// The value in the order asked for.
    pub value: f64,
    /// The greatest value over all orders of equal scores.
    pub best: f64,
}

/// How far apart the scores on both sides of a cutoff are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The list ends before, or the scores are further apart than [`NEAR_TIE`].
    Clear,
    /// The scores differ, by at most [`NEAR_TIE`].
    Near,
    /// The scores are equal.
    Tied,
}

/// A query of the qrels, whether the run has it or not.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryValues {
    /// The query's id.
    pub id: String,
    /// Documents in its list, after the depth asked for; 0 if the run lacks the query.
    pub retrieved: usize,
    /// Documents of grade 1 or more in the qrels.
    pub relevant: usize,
    /// Whether any two of its scores are equal.
    pub tied: bool,
    /// One value for each measure.
    pub values: Vec<Bounds>,
    /// One boundary for each of [`Evaluation::cutoffs`].
    pub boundaries: Vec<Boundary>,
}

/// The queries of a mean or sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// All of the qrels; one that the run lacks counts as an empty list.
    All,
    /// Those of the qrels that the run answers.
    Answered,
    /// Those with a document of grade 1 or more, answered or not.
    WithRelevant,
}

/// Ties across one cutoff K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutoffTies {
    /// K.
    pub cutoff: NonZeroU32,
    /// Queries whose ranks K and K + 1 have equal scores.
    pub tied: usize,
    /// Queries whose ranks K and K + 1 differ by at most [`NEAR_TIE`].
    pub near: usize,
}

/// Values of a run by query and over queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The measures, as asked for.
    pub measures: Vec<Measure>,
    /// How the summary treats queries that the run lacks.
    pub missing: Missing,
    /// Each query of the qrels, in the order of the ids' bytes.
    pub queries: Vec<QueryValues>,
    /// Queries of the run that the qrels lack. They count nowhere.
    pub run_only: Vec<String>,
    /// The distinct cutoffs of the measures, ascending.
    pub cutoffs: Vec<NonZeroU32>,
}

impl Evaluation {
    /// Each measure over the queries that [`Missing`] asks for: a mean, or a sum for counts.
    /// `None` if that is over no query.
    pub fn summary(&self) -> Vec<Option<Bounds>> {
        let over = match self.missing {
            Missing::Zero => Over::All,
            Missing::Skip => Over::Answered,
        };
        self.over(over)
    }

    /// Each measure over the given queries: a mean, or a sum for counts. `None` if there are none.
    ///
    /// Adds in the order of the queries' ids.
    pub fn over(&self, over: Over) -> Vec<Option<Bounds>> {
        let queries: Vec<_> = self.queries.iter().filter(|query| is_in(query, over)).collect();
        let total = |measure: usize, part: fn(&Bounds) -> f64| -> f64 {
            queries.iter().map(|query| part(&query.values[measure])).sum()
        };
        let summarise = |(n, measure): (usize, &Measure)| {
            let by = if measure.is_count() { 1.0 } else { queries.len() as f64 };
            match queries.is_empty() {
                true => None,
                false => Some(Bounds {
                    worst: total(n, |bounds| bounds.worst) / by,
                    value: total(n, |bounds| bounds.value) / by,
                    best: total(n, |bounds| bounds.best) / by,
                }),
            }
        };
        self.measures.iter().enumerate().map(summarise).collect()
    }

    /// The number of queries of [`over`](Evaluation::over).
    pub fn count(&self, over: Over) -> usize {
        self.queries.iter().filter(|query| is_in(query, over)).count()
    }

    /// The queries of the qrels that the run lacks.
    pub fn missing_queries(&self) -> impl Iterator<Item = &str> {
        self.queries.iter().filter(|query| query.retrieved == 0).map(|query| query.id.as_str())
    }

    /// Ties across each cutoff, over the queries of the qrels.
    pub fn ties(&self) -> Vec<CutoffTies> {
        let count = |n: usize, kind| {
            self.queries.iter().filter(|query| query.boundaries[n] == kind).count()
        };
        let ties = |(n, &cutoff)| CutoffTies {
            cutoff,
            tied: count(n, Boundary::Tied),
            near: count(n, Boundary::Near),
        };
        self.cutoffs.iter().enumerate().map(ties).collect()
    }
}

fn is_in(query: &QueryValues, over: Over) -> bool {
    match over {
        Over::All => true,
        Over::Answered => query.retrieved != 0,
        Over::WithRelevant => query.relevant != 0,
    }
}
