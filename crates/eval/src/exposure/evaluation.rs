//! One run against the labels.

use std::collections::BTreeMap;

use cleanhit_core::{Depth, QueryId, Rankings};
use cleanhit_io::{Benchmark, counted};

use crate::{
    exposure::{
        By, Cutoffs, EvalError, Exclusions, Group, Observed, Scope, SelectorAccount, Summary,
        TieReport, ties::Ties,
    },
    labels::Cases,
};

/// What a run showed for each labelled query. Everything else here follows from it.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    pub(crate) cases: &'a Cases,
    pub(crate) cutoffs: Cutoffs,
    pub(crate) observed: Vec<Observed>,
    pub(crate) ties: Ties,
    depth: Depth,
    missing: Vec<QueryId>,
    short: Vec<ShortList>,
}

/// A ranking that ends before the run's depth though its pool goes on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShortList {
    /// The query.
    pub query: QueryId,
    /// Candidates it lists.
    pub listed: usize,
    /// Candidates it could list: the depth, or the pool's size if that is less.
    pub expected: usize,
}

impl<'a> Evaluation<'a> {
    /// Looks up every query's two marked skills.
    ///
    /// A query without a ranking counts 0 in every measure and is listed by
    /// [`missing`](Evaluation::missing).
    ///
    /// # Errors
    ///
    /// If a cutoff is deeper than the run, or than a pool; if labels or rankings are of another
    /// benchmark.
    pub fn new(
        cases: &'a Cases,
        bench: &Benchmark,
        rankings: &Rankings,
        cutoffs: &Cutoffs,
    ) -> Result<Evaluation<'a>, EvalError> {
        if cases.gate_sha256() != bench.gate_sha256 {
            let (labels, bench) = (cases.gate_sha256().to_owned(), bench.gate_sha256.clone());
            return Err(EvalError::OtherBenchmark { labels, bench });
        }
        let depth = rankings.depth();
        check_depth(bench, depth, cutoffs)?;
        let foreign = rankings.iter().find(|(query, _)| cases.get(query.as_str()).is_none());
        if let Some((query, _)) = foreign {
            return Err(EvalError::ForeignQuery(query.clone()));
        }
        let mut observed = Vec::with_capacity(cases.len());
        let mut ties = Ties::new(cases.len(), cutoffs);
        let (mut missing, mut short) = (Vec::new(), Vec::new());
        for case in cases {
            let Some(ranking) = rankings.get(&case.query) else {
                missing.push(case.query.clone());
                observed.push(Observed::default());
                ties.push_missing();
                continue;
            };
            let pool_size = bench.pools[case.pool].pool.len();
            let (listed, expected) = (ranking.hits().len(), depth.get().min(pool_size));
            if listed < expected {
                short.push(ShortList { query: case.query.clone(), listed, expected });
            }
            let seen = Observed::new(case, ranking);
            ties.push(seen, ranking, pool_size, cutoffs);
            observed.push(seen);
        }
        Ok(Evaluation { cases, cutoffs: cutoffs.clone(), observed, ties, depth, missing, short })
    }

    /// The labels it was made with.
    pub fn cases(&self) -> &'a Cases {
        self.cases
    }

    /// The cutoffs it was asked for.
    pub fn cutoffs(&self) -> &Cutoffs {
        &self.cutoffs
    }

    /// How deep the run was.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Where a query's two marked skills were.
    pub fn observed(&self, query: &str) -> Option<Observed> {
        self.cases.index(query).map(|case| self.observed[case])
    }

    /// Queries without a ranking, in the benchmark's order: they count 0.
    pub fn missing(&self) -> &[QueryId] {
        &self.missing
    }

    /// Rankings shorter than the run's depth, in the benchmark's order: what they do not list
    /// counts as not retrieved.
    pub fn short(&self) -> &[ShortList] {
        &self.short
    }

    /// What is odd about the run, for printing; empty for a complete one.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(first) = self.missing.first() {
            let n = self.missing.len();
            let queries = counted(n, "query");
            warnings.push(format!("{queries} without a ranking, counted 0, first `{first}`"));
        }
        if let Some(first) = self.short.first() {
            let (n, ShortList { query, listed, expected }) = (self.short.len(), first);
            warnings.push(format!(
                "{}, first that of `{query}`: {listed} of {expected} candidates",
                counted(n, "short ranking")
            ));
        }
        warnings
    }

    /// The counts of any group.
    pub fn summary(&self, group: impl Into<Group>) -> Summary {
        let group = group.into();
        let members = group.members(self.cases);
        Summary::new(group, &members, self.cases, &self.observed, &self.cutoffs)
    }

    /// The counts of every scope of the metrics file.
    pub fn scopes(&self) -> BTreeMap<Scope, Summary> {
        Scope::ALL.into_iter().map(|scope| (scope, self.summary(scope))).collect()
    }

    /// The counts of every group of a breakdown.
    pub fn by(&self, by: By) -> Vec<Summary> {
        by.groups(self.cases).into_iter().map(|group| self.summary(group)).collect()
    }

    /// The single-query stratum without each source in turn. Section 4.3, appendix B.2.
    pub fn without_each_source(&self) -> Exclusions {
        Exclusions::new(self)
    }

    /// How far the measures depend on the order of ties, at each cutoff.
    pub fn ties(&self, group: impl Into<Group>) -> Vec<TieReport> {
        let members = group.into().members(self.cases);
        self.ties.report(&members, &self.cutoffs)
    }

    /// What a selector did to the exposure of a group, at each cutoff: `self` is the run before
    /// selection, `after` the run after it. Equation 4.
    ///
    /// # Errors
    ///
    /// If the two are of different benchmarks or cutoffs.
    pub fn selection(
        &self,
        after: &Evaluation<'_>,
        group: impl Into<Group>,
    ) -> Result<Vec<SelectorAccount>, EvalError> {
        self.comparable(after)?;
        let members = group.into().members(self.cases);
        let account =
            |cutoff| SelectorAccount::new(cutoff, &members, &self.observed, &after.observed);
        Ok(self.cutoffs.iter().map(account).collect())
    }

    /// Whether two evaluations are of the same queries and cutoffs.
    pub(crate) fn comparable(&self, other: &Evaluation<'_>) -> Result<(), EvalError> {
        if self.cases.gate_sha256() != other.cases.gate_sha256() {
            let labels = self.cases.gate_sha256().to_owned();
            let bench = other.cases.gate_sha256().to_owned();
            return Err(EvalError::OtherBenchmark { labels, bench });
        }
        if self.cutoffs != other.cutoffs {
            let (a, b) = (self.cutoffs.to_string(), other.cutoffs.to_string());
            return Err(EvalError::CutoffsDiffer { a, b });
        }
        Ok(())
    }
}

fn check_depth(bench: &Benchmark, depth: Depth, cutoffs: &Cutoffs) -> Result<(), EvalError> {
    for cutoff in cutoffs.iter() {
        for bench_pool in &bench.pools {
            let (pool, pool_size) = (bench_pool.pool.name(), bench_pool.pool.len());
            let most = depth.get().min(pool_size);
            if most < cutoff.get() && !bench_pool.queries.is_empty() {
                return Err(EvalError::TooDeep { cutoff, pool: pool.to_owned(), pool_size, depth });
            }
        }
    }
    Ok(())
}
