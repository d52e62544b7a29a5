//! The traits that plug-ins implement, and the adapters that make one of them enough.

use std::sync::Arc;

use rayon::prelude::*;

use crate::{
    pool::{Corpus, DocIx},
    ranking::{Depth, Hit, Ranking, Score, ScoreError},
    run::QueryText,
    ties::TieKeys,
};

/// Any error a method returns.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Scores texts against a query. The one trait most plug-ins need.
pub trait Scorer: Send + Sync {
    /// One finite score for each of `texts`, in the same order. Higher is better.
    ///
    /// Must be a function of its arguments: no state, no dependence on how the caller
    /// batches the texts. Must be safe to call from several threads at once.
    ///
    /// # Errors
    ///
    /// Whatever the scorer reports; the runner adds the query.
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError>;
}

/// Ranks a corpus that it has indexed. Batch in, batch out: accelerators want many queries at once.
pub trait Retriever: Send + Sync {
    /// For each query, in order, the best `depth` candidates, or all if there are fewer.
    ///
    /// A candidate that matches nothing still has a place, so that a ranking holds
    /// `min(depth, corpus.len())` hits unless the method's documentation says otherwise.
    /// Each ranking must be the one the query would get alone.
    ///
    /// # Errors
    ///
    /// Whatever the retriever reports; the runner adds the query.
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError>;
}

/// Reorders a ranking.
pub trait Reranker: Send + Sync {
    /// A ranking of the same candidates.
    ///
    /// # Errors
    ///
    /// Whatever the reranker reports; the runner adds the query.
    fn rerank(
        &self,
        query: QueryText<'_>,
        corpus: &Corpus,
        ranking: Ranking,
        ties: &TieKeys,
    ) -> Result<Ranking, BoxError>;
}

/// Makes a retriever of a scorer by scoring every candidate.
pub struct Exhaustive<S> {
    /// The candidates to score.
    pub corpus: Arc<Corpus>,
    /// The scorer.
    pub scorer: S,
}

/// Makes a reranker of a scorer by scoring the ranked candidates.
pub struct Rescore<S>(pub S);

/// Reorders the first of a ranking; what comes after them keeps its order behind them.
///
/// The others' scores are made: each lies 1, or the least step there is, below the one before
/// it, the first of them below the last of the reordered. So no tie mixes the two.
pub struct Head<R> {
    /// How many candidates are reordered.
    pub top: Depth,
    /// What reorders them.
    pub reranker: R,
}

/// Answers queries in parallel, each alone; the result is in their order.
///
/// # Errors
///
/// The first error in query order.
pub fn per_query<'q>(
    queries: &[(QueryText<'q>, TieKeys)],
    answer: impl Fn(QueryText<'q>, &TieKeys) -> Result<Ranking, BoxError> + Sync,
) -> Result<Vec<Ranking>, BoxError> {
    let answers: Vec<_> = queries.par_iter().map(|(query, ties)| answer(*query, ties)).collect();
    answers.into_iter().collect()
}

impl<S: Scorer + ?Sized> Scorer for Box<S> {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        (**self).score(query, texts)
    }
}

impl<S: Scorer + ?Sized> Scorer for Arc<S> {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        (**self).score(query, texts)
    }
}

impl<R: Retriever + ?Sized> Retriever for Box<R> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        (**self).retrieve(queries, depth)
    }
}

impl<R: Retriever + ?Sized> Retriever for Arc<R> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        (**self).retrieve(queries, depth)
    }
}

impl<R: Reranker + ?Sized> Reranker for Box<R> {
    fn rerank(
        &self,
        query: QueryText<'_>,
        corpus: &Corpus,
        ranking: Ranking,
        ties: &TieKeys,
    ) -> Result<Ranking, BoxError> {
        (**self).rerank(query, corpus, ranking, ties)
    }
}

impl<S: Scorer> Retriever for Exhaustive<S> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        let texts = self.corpus.texts();
        per_query(queries, |query, ties| {
            let scores = self.scorer.score(query, &texts)?;
            if scores.len() != texts.len() {
                return Err(ScoreError::Count { expected: texts.len(), got: scores.len() }.into());
            }
            Ok(Ranking::of_scores(&scores, depth, ties)?)
        })
    }
}

impl<S: Scorer> Reranker for Rescore<S> {
    fn rerank(
        &self,
        query: QueryText<'_>,
        corpus: &Corpus,
        ranking: Ranking,
        ties: &TieKeys,
    ) -> Result<Ranking, BoxError> {
        // In position order, so that the scorer learns nothing from the first stage's order.
        let mut docs: Vec<DocIx> = ranking.hits().iter().map(|hit| hit.doc).collect();
        docs.sort_unstable();
        let texts: Vec<&str> = docs.iter().map(|&doc| corpus.text(doc)).collect();
        let scores = self.0.score(query, &texts)?;
        if scores.len() != docs.len() {
            return Err(ScoreError::Count { expected: docs.len(), got: scores.len() }.into());
        }
        let depth = Depth::of_len(docs.len());
        let hits = docs
            .into_iter()
            .zip(scores)
            .map(|(doc, value)| match Score::new(value) {
                Ok(score) => Ok(Hit { doc, score }),
                Err(_) => Err(ScoreError::NotFinite { doc: Some(doc), value }),
            })
            .collect::<Result<Vec<Hit>, ScoreError>>()?;
        Ok(Ranking::new(hits, depth, ties))
    }
}

impl<R: Reranker> Reranker for Head<R> {
    fn rerank(
        &self,
        query: QueryText<'_>,
        corpus: &Corpus,
        ranking: Ranking,
        ties: &TieKeys,
    ) -> Result<Ranking, BoxError> {
        let depth = Depth::of_len(ranking.hits().len());
        let rest: Vec<DocIx> =
            ranking.hits().iter().skip(self.top.get()).map(|hit| hit.doc).collect();
        let head = self.reranker.rerank(query, corpus, ranking.truncate(self.top), ties)?;
        if rest.is_empty() {
            return Ok(head);
        }
        let mut hits = head.hits().to_vec();
        let mut last = hits.last().map_or(0.0, |hit| hit.score.get());
        for doc in rest {
            // Beyond 2^53 a step of 1 is no step.
            last = (last - 1.0).min(last.next_down());
            hits.push(Hit { doc, score: Score::new(last)? });
        }
        Ok(Ranking::new(hits, depth, ties))
    }
}
