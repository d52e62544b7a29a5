//! A run against qrels.

use std::num::NonZeroU32;

use rayon::prelude::*;

use crate::plain::{
    compute::{Discounts, Gain, Graded, width},
    error::EvaluateError,
    evaluation::{Boundary, Bounds, Evaluation, NEAR_TIE, QueryValues},
    groups::{Keyed, Table},
    measure::Measure,
    qrels::{Judgement, Qrels},
    run::{Order, Row, Run, check_order, sort},
};

/// What a query of the qrels that the run lacks counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// As an empty list, in a mean over all queries of the qrels; trec_eval's `-c`.
    #[default]
    Zero,
    /// Not at all: the mean is over the queries that the run answers; trec_eval's default.
    Skip,
}

/// How to evaluate. The default is ir_measures's mean and trec_eval's order, without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What decides the order of a list.
    pub order: Order,
    /// What a missing query counts in the summary.
    pub missing: Missing,
    /// The ranks kept of each list; trec_eval's `-M`.
    pub depth: Option<NonZeroU32>,
}

/// Evaluates a run: each measure of each query of the qrels.
///
/// A list shorter than a cutoff is scored as it is; [`check_depth`] refuses that where the depth
/// of a run is known. The result does not depend on the order of lines or on threads.
///
/// # Errors
///
/// If ranks decide the order of a query of the run and cannot.
pub fn evaluate(
    run: &Run<'_>,
    qrels: &Qrels<'_>,
    measures: &[Measure],
    options: &Options,
) -> Result<Evaluation, EvaluateError> {
    for (query, rows) in run.queries() {
        check_order(query, rows, options.order)?;
    }
    let (pairs, run_only) = join(run, qrels);
    let longest = pairs.iter().map(|pair| pair.rows.len().max(pair.judged.len())).max();
    let mut cutoffs: Vec<_> = measures.iter().filter_map(|measure| measure.cutoff()).collect();
    cutoffs.sort_unstable();
    cutoffs.dedup();
    let discounts = Discounts::up_to(longest.unwrap_or(0));
    let plan = Plan { measures, options, cutoffs: &cutoffs, discounts: &discounts };
    let queries = (pairs.par_iter().with_min_len(MIN_QUERIES))
        .map_init(Scratch::default, |scratch, pair| scratch.query(pair, &plan))
        .collect();
    Ok(Evaluation {
        measures: measures.to_vec(),
        missing: options.missing,
        queries,
        run_only,
        cutoffs,
    })
}

/// Checks that no measure looks deeper than `depth`, the ranks a run kept of each list.
///
/// # Errors
///
/// If one does: its value would be that of a smaller cutoff.
pub fn check_depth(measures: &[Measure], depth: NonZeroU32) -> Result<(), EvaluateError> {
    for &measure in measures {
        match measure.cutoff() {
            Some(cutoff) if depth < cutoff => {
                return Err(EvaluateError::TooShallow { measure, cutoff, depth });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Queries that are worth a thread's while.
const MIN_QUERIES: usize = 256;

/// A query of the qrels beside its rows in the run, none if the run lacks it.
struct Pair<'r, 'a> {
    id: &'r str,
    rows: &'r [Row<'a>],
    judged: &'r [Judgement<'a>],
}

/// Merges the queries of both, which are sorted; returns those of the run alone apart.
fn join<'r, 'a>(run: &'r Run<'a>, qrels: &'r Qrels<'a>) -> (Vec<Pair<'r, 'a>>, Vec<String>) {
    let mut pairs = Vec::with_capacity(qrels.queries().len());
    let mut run_only = Vec::new();
    let mut answers = run.queries().peekable();
    for (id, judged) in qrels.queries() {
        while let Some((extra, _)) = answers.next_if(|&(answer, _)| answer < id) {
            run_only.push(extra.to_owned());
        }
        let rows = match answers.next_if(|&(answer, _)| answer == id) {
            None => &[],
            Some((_, rows)) => rows,
        };
        pairs.push(Pair { id, rows, judged });
    }
    run_only.extend(answers.map(|(extra, _)| extra.to_owned()));
    (pairs, run_only)
}

/// What is the same for all queries.
struct Plan<'p> {
    measures: &'p [Measure],
    options: &'p Options,
    cutoffs: &'p [NonZeroU32],
    discounts: &'p Discounts,
}

/// Memory that serves query after query.
#[derive(Default)]
struct Scratch<'r, 'a> {
    table: Table,
    ordered: Vec<&'r Row<'a>>,
    gains: Vec<Gain>,
    worst: Vec<Gain>,
    best: Vec<Gain>,
    ideal: Vec<u32>,
    judged: usize,
}

impl<'r, 'a> Scratch<'r, 'a> {
    fn query(&mut self, pair: &Pair<'r, 'a>, plan: &Plan<'_>) -> QueryValues {
        sort(pair.rows, plan.options.order, &mut self.ordered);
        self.grade(pair.judged);
        let kept = match plan.options.depth {
            None => self.gains.len(),
            Some(depth) => width(depth).min(self.gains.len()),
        };
        let tied = self.reorder_ties();
        let (ideal, judged, discounts) = (&self.ideal[..], self.judged, plan.discounts);
        let graded = |ranked| Graded { ranked, ideal, judged, discounts };
        let (own, worst, best) = (
            graded(&self.gains[..kept]),
            graded(if tied { &self.worst[..kept] } else { &[] }),
            graded(if tied { &self.best[..kept] } else { &[] }),
        );
        let bounds = |&measure: &Measure| {
            let value = own.value(measure);
            match tied {
                false => Bounds { worst: value, value, best: value },
                true => Bounds {
                    worst: worst.value(measure).min(value),
                    value,
                    best: best.value(measure).max(value),
                },
            }
        };
        QueryValues {
            id: pair.id.to_owned(),
            retrieved: kept,
            relevant: own.relevant(NonZeroU32::MIN),
            tied,
            values: plan.measures.iter().map(bounds).collect(),
            boundaries: plan.cutoffs.iter().map(|&k| boundary(&self.ordered[..kept], k)).collect(),
        }
    }

    /// Fills `gains`, in the order of `ordered`, and `ideal`.
    fn grade(&mut self, judged: &[Judgement<'a>]) {
        self.table.reset(judged.len());
        for n in 0..judged.len() {
            self.table.insert(judged, n);
        }
        self.gains.clear();
        self.gains.extend(self.ordered.iter().map(|row| {
            let found = self.table.find(judged, row.hash(), row.document())?;
            Some(judged[found].grade())
        }));
        self.judged = judged.iter().filter(|judgement| 0 <= judgement.grade()).count();
        self.ideal.clear();
        self.ideal.extend(judged.iter().map(Judgement::gain).filter(|&gain| gain != 0));
        self.ideal.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Fills `worst` and `best` if any scores are equal, and returns whether.
    ///
    /// The measures grow as a document of higher grade, or else a judged one, moves up. So one
    /// order of each group of equal scores is the best for all of them, and its reverse is the
    /// worst. The one exception is infAP, which can gain by a negative grade above.
    fn reorder_ties(&mut self) -> bool {
        if self.ordered.windows(2).all(|pair| !pair[0].ties(pair[1])) {
            return false;
        }
        self.worst.clone_from(&self.gains);
        self.best.clone_from(&self.gains);
        let mut start = 0;
        for group in self.ordered.chunk_by(|a, b| a.ties(b)) {
            let end = start + group.len();
            self.worst[start..end].sort_unstable();
            self.best[start..end].sort_unstable_by(|a, b| b.cmp(a));
            start = end;
        }
        true
    }
}

/// Compares the scores at ranks `cutoff` and `cutoff + 1`.
fn boundary(ranked: &[&Row<'_>], cutoff: NonZeroU32) -> Boundary {
    let inside = width(cutoff);
    if ranked.len() <= inside {
        return Boundary::Clear;
    }
    let (last, next) = (ranked[inside - 1], ranked[inside]);
    if last.ties(next) {
        return Boundary::Tied;
    }
    match (last.score() - next.score()).abs() <= NEAR_TIE {
        true => Boundary::Near,
        false => Boundary::Clear,
    }
}
