//! The typed pipeline, and the runner that answers a pool's queries with it.

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use crate::{
    pool::{CandidateId, Corpus, Pool},
    ranking::{Depth, Ranking, ScoreError},
    run::{Query, QueryId, QueryText, Rankings, Run},
    scorer::{BoxError, Reranker, Retriever},
    select::{Partition, Representative, Resolver, Selector},
    setting::{Diagnostic, Setting, TextOnly},
    ties::{TieKeys, TieRule},
};

/// How many candidates the first stage passes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Candidates {
    /// The whole pool, ranked.
    All,
    /// The best of them. Never fewer than the run keeps.
    Top(Depth),
}

/// A method: retrieve, then optionally rerank, then optionally select.
///
/// Its setting is not declared. It follows from the resolver, if there is one:
///
/// ```compile_fail
/// # use cleanhit_core::*;
/// # fn leak(m: &Method<TextOnly>, q: &[Query], pool: &Pool, p: &Partition, o: &RunOptions) {
/// let _ = m.run(q, pool, p, o); // expected `&()`, found `&Partition`
/// # }
/// ```
///
/// ```compile_fail
/// # use cleanhit_core::*;
/// # fn lie(m: Method<TextOnly>) -> Method<TextOnly> {
/// m.select(Released) // a `Method<ReleasedFamily>`, whatever its author would like to call it
/// # }
/// ```
pub struct Method<S: Setting> {
    source: Source,
    candidates: Candidates,
    rerankers: Vec<Box<dyn Reranker>>,
    selection: Option<Selection<S>>,
}

/// What every run of a method spells out.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Hits kept for each query.
    pub depth: Depth,
    /// The order of ties.
    pub ties: TieRule,
    /// Called with the number of queries answered since the last call, from any thread.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
    /// Keep each query's families: a number for each candidate and query.
    pub keep_families: bool,
}

/// What a method answered, and what its selector did.
#[derive(Debug)]
pub struct Outcome<S> {
    /// The rankings.
    pub run: Run<S>,
    /// The rankings before selection, to the same depth; none without a selector.
    pub before: Option<Rankings>,
    /// Queries whose families were fewer than the depth, so that members that were not
    /// selected follow the representatives to fill the ranks a rank file must have.
    pub padded: usize,
    /// Each query's families, where the options ask for them.
    pub families: BTreeMap<QueryId, Partition>,
}

/// A method failed on a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// The method's own error.
    #[error("query `{query}`: {source}")]
    Query {
        /// The query being answered.
        query: QueryId,
        /// What the method said.
        source: BoxError,
    },
    /// A score is NaN or infinite.
    #[error("query `{query}`, candidate `{candidate}`: score {value} is not finite")]
    NotFinite {
        /// The query being answered.
        query: QueryId,
        /// The candidate scored.
        candidate: CandidateId,
        /// What the method said.
        value: f64,
    },
    /// Fewer hits than a rank file must have.
    #[error("query `{query}`: the method ranked {got} candidates; expected {expected}")]
    TooFew {
        /// The query being answered.
        query: QueryId,
        /// `min(depth, pool size)`.
        expected: usize,
        /// Hits returned.
        got: usize,
    },
    /// Rankings made elsewhere lack a query.
    #[error("query `{0}` has no recorded ranking")]
    NotRecorded(QueryId),
}

enum Source {
    Retriever(Box<dyn Retriever>),
    /// Rankings that exist already: a rank file, or a sanity method made of labels.
    Recorded(Arc<Rankings>),
}

struct Answer {
    /// The ranking before selection, and the families selected from.
    before: Option<(Ranking, Partition)>,
    ranking: Ranking,
    padded: bool,
}

type Selection<S> = (Box<dyn Resolver<S>>, Box<dyn Selector>);

impl Method<TextOnly> {
    /// A method that only retrieves.
    pub fn new(retriever: impl Retriever + 'static, candidates: Candidates) -> Method<TextOnly> {
        Method::of(Source::Retriever(Box::new(retriever)), candidates)
    }

    /// Reranks all candidates, so that a ranking never mixes two scales.
    #[must_use]
    pub fn rerank(mut self, reranker: impl Reranker + 'static) -> Method<TextOnly> {
        self.rerankers.push(Box::new(reranker));
        self
    }

    /// Keeps one representative of each family. The method's setting becomes the resolver's.
    #[must_use]
    pub fn select<S: Setting>(self, resolver: impl Resolver<S> + 'static) -> Method<S> {
        let selection: Selection<S> = (Box::new(resolver), Box::new(Representative));
        Method {
            source: self.source,
            candidates: self.candidates,
            rerankers: self.rerankers,
            selection: Some(selection),
        }
    }
}

impl Method<Diagnostic> {
    /// A sanity method that retrieves.
    pub fn sanity(retriever: impl Retriever + 'static) -> Method<Diagnostic> {
        Method::of(Source::Retriever(Box::new(retriever)), Candidates::All)
    }

    /// A sanity method whose rankings exist already.
    pub fn sanity_recorded(rankings: Arc<Rankings>) -> Method<Diagnostic> {
        Method::of(Source::Recorded(rankings), Candidates::All)
    }

    /// Keeps one representative of each family. The setting stays `Diagnostic`.
    #[must_use]
    pub fn select(mut self, resolver: impl Resolver<Diagnostic> + 'static) -> Method<Diagnostic> {
        self.selection = Some((Box::new(resolver), Box::new(Representative)));
        self
    }
}

impl<S: Setting> Method<S> {
    /// Applies a selector, if any, to rankings that exist already, as deep as they are.
    pub fn recorded(rankings: Arc<Rankings>, resolver: Option<Box<dyn Resolver<S>>>) -> Method<S> {
        let mut method = Method::of(Source::Recorded(rankings), Candidates::All);
        method.selection = resolver.map(|r| (r, Box::new(Representative) as Box<dyn Selector>));
        method
    }

    fn of(source: Source, candidates: Candidates) -> Method<S> {
        Method { source, candidates, rerankers: Vec::new(), selection: None }
    }

    /// Answers every query of a pool, keeping `depth` hits for each.
    ///
    /// Queries are answered in batches and in parallel; the result depends on neither.
    ///
    /// # Errors
    ///
    /// The first failure in query order, with the query and, for a score, the candidate.
    pub fn run(
        &self,
        queries: &[Query],
        pool: &Pool,
        side: &S::Side,
        options: &RunOptions<'_>,
    ) -> Result<Outcome<S>, MethodError> {
        // A batch holds full rankings of a pool, so its size bounds the memory of a run.
        let batch = (4_000_000 / pool.len()).clamp(8, 256);
        let (mut by_query, mut before) = (BTreeMap::new(), BTreeMap::new());
        let mut families = BTreeMap::new();
        let mut padded = 0;
        for queries in queries.chunks(batch) {
            let answers = self.answer_batch(queries, pool, side, options)?;
            for (query, answer) in queries.iter().zip(answers) {
                padded += usize::from(answer.padded);
                by_query.insert(query.id.clone(), answer.ranking);
                if let Some((ranking, partition)) = answer.before {
                    before.insert(query.id.clone(), ranking);
                    if options.keep_families {
                        families.insert(query.id.clone(), partition);
                    }
                }
            }
        }
        let before = self.selection.as_ref().map(|_| Rankings::new(options.depth, before));
        let run = Run::declared(Rankings::new(options.depth, by_query));
        Ok(Outcome { run, before, padded, families })
    }

    fn answer_batch(
        &self,
        queries: &[Query],
        pool: &Pool,
        side: &S::Side,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        let keys: Vec<TieKeys> =
            queries.iter().map(|q| TieKeys::new(options.ties, &q.id, pool)).collect();
        let firsts = self.first_stage(queries, &keys, pool, options.depth)?;
        let answers: Vec<Result<Answer, MethodError>> = (queries, &keys, firsts)
            .into_par_iter()
            .map(|(query, ties, first)| {
                let answer =
                    self.finish(query.as_text(), ties, first, pool.corpus(), side, options.depth);
                if let Some(progress) = options.progress {
                    progress(1);
                }
                answer
                    .map_err(|source| failure(query, pool, source))
                    .and_then(|answer| enough(query, pool, options.depth, answer))
            })
            .collect();
        answers.into_iter().collect()
    }

    fn first_stage(
        &self,
        queries: &[Query],
        keys: &[TieKeys],
        pool: &Pool,
        depth: Depth,
    ) -> Result<Vec<Ranking>, MethodError> {
        let retriever = match &self.source {
            Source::Retriever(retriever) => retriever,
            Source::Recorded(rankings) => {
                let get = |q: &Query| {
                    let ranking = rankings.get(&q.id).cloned();
                    ranking.ok_or_else(|| MethodError::NotRecorded(q.id.clone()))
                };
                return queries.iter().map(get).collect();
            }
        };
        let candidates = match (self.candidates, &self.selection, self.rerankers.is_empty()) {
            // Nothing after retrieval looks below the run's depth.
            (Candidates::All, None, true) => depth,
            (Candidates::All, _, _) => Depth::of_len(pool.len()),
            (Candidates::Top(n), _, _) => n.max(depth),
        };
        let batch: Vec<(QueryText<'_>, TieKeys)> =
            queries.iter().zip(keys).map(|(q, ties)| (q.as_text(), ties.clone())).collect();
        match retriever.retrieve(&batch, candidates) {
            Ok(rankings) if rankings.len() == queries.len() => Ok(rankings),
            Ok(rankings) => {
                let (expected, got) = (queries.len(), rankings.len());
                Err(failure(&queries[0], pool, ScoreError::Count { expected, got }.into()))
            }
            // Which query failed is found by asking for each alone.
            Err(source) => {
                let each = queries.iter().zip(&batch);
                let culprit = each
                    .map(|(q, one)| (q, retriever.retrieve(std::slice::from_ref(one), candidates)));
                let found = culprit.filter_map(|(q, result)| Some((q, result.err()?))).next();
                let (query, source) = found.unwrap_or((&queries[0], source));
                Err(failure(query, pool, source))
            }
        }
    }

    fn finish(
        &self,
        query: QueryText<'_>,
        ties: &TieKeys,
        first: Ranking,
        corpus: &Corpus,
        side: &S::Side,
        depth: Depth,
    ) -> Result<Answer, BoxError> {
        let mut ranking = first;
        for reranker in &self.rerankers {
            ranking = reranker.rerank(query, corpus, ranking, ties)?;
        }
        let Some((resolver, selector)) = &self.selection else {
            return Ok(Answer { before: None, ranking: ranking.truncate(depth), padded: false });
        };
        let families = resolver.families(corpus, &ranking, side)?;
        let before = ranking.clone();
        let selected = selector.select(ranking, &families).truncate(depth);
        let full = depth.min(Depth::of_len(before.hits().len()));
        let padded = selected.hits().len() < full.get();
        let ranking = selected.padded(&before, full);
        Ok(Answer { before: Some((before.truncate(depth), families)), ranking, padded })
    }
}

fn failure(query: &Query, pool: &Pool, source: BoxError) -> MethodError {
    match source.downcast_ref::<ScoreError>() {
        Some(&ScoreError::NotFinite { doc: Some(doc), value }) => MethodError::NotFinite {
            query: query.id.clone(),
            candidate: pool.id(doc).clone(),
            value,
        },
        _ => MethodError::Query { query: query.id.clone(), source },
    }
}

fn enough(query: &Query, pool: &Pool, depth: Depth, answer: Answer) -> Result<Answer, MethodError> {
    let expected = depth.get().min(pool.len());
    let got = answer.ranking.hits().len();
    if got < expected {
        return Err(MethodError::TooFew { query: query.id.clone(), expected, got });
    }
    Ok(answer)
}
