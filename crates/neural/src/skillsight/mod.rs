//! Calibration of an embedding model without training: what all skills share is taken out.
//!
//! Texts of skills have much in common, and so have their vectors. The directions of what is
//! common are estimated from the vectors of the documents that hold generic words, both sides
//! are projected onto the rest, and the best of that are helped by the specific words they share
//! with the query.
//!
//! Source: SkillSight, arXiv 2607.18785. Our reading of it, and ours where it is silent: the stop
//! words, the exact threshold over distinct values, the population deviations of the last step,
//! and that candidates below `top` keep their projected score.

mod eigen;
mod lexicon;
mod subspace;

#[cfg(test)]
mod tests;

use std::fmt;

use cleanhit_core::{
    BoxError, Corpus, Depth, EmbeddingError, EmbeddingModel, Embeddings, Products as _, QueryText,
    Ranking, Retriever, Role, TieKeys, embed_checked,
};
use rayon::prelude::*;

use crate::dense::Blocked;
use lexicon::Lexicon;
use subspace::Projection;

/// What the method leaves to its user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkillSightParams {
    /// How much the weight of a word falls with the share of documents that hold it: `(1 - df/N)`
    /// to this power. Not negative.
    pub beta: f64,
    /// Candidates, best by projected score, that words can help. At least 1.
    pub top: usize,
}

/// An encoder with what is common projected out, helped by specific words.
pub struct SkillSight<M> {
    model: M,
    params: SkillSightParams,
    lexicon: Lexicon,
    projection: Projection,
    documents: Blocked,
}

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillSightError {
    /// A parameter is out of its range.
    #[error("field `{field}`: {got}; expected {expected}")]
    Param {
        /// The parameter.
        field: &'static str,
        /// Its value.
        got: String,
        /// What it may be.
        expected: &'static str,
    },
    /// There is not one vector for each document.
    #[error("{got} vectors for {expected} documents")]
    Count {
        /// Documents.
        expected: usize,
        /// Vectors.
        got: usize,
    },
    /// The common directions can't be computed.
    #[error("the common directions can't be computed: {0}")]
    Subspace(BoxError),
}

impl SkillSightParams {
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn check(&self) -> Result<(), SkillSightError> {
        if !(0.0 <= self.beta && self.beta.is_finite()) {
            let got = self.beta.to_string();
            return Err(SkillSightError::Param { field: "beta", got, expected: "a number from 0" });
        }
        if self.top < 1 {
            let got = self.top.to_string();
            return Err(SkillSightError::Param { field: "top", got, expected: "at least 1" });
        }
        Ok(())
    }
}

impl<M: EmbeddingModel> SkillSight<M> {
    /// Calibrates on a corpus and its vectors, one for each candidate in the corpus' order. Uses
    /// no query and no label.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range, or there is not one vector for each candidate.
    pub fn new(
        model: M,
        corpus: &Corpus,
        documents: Embeddings,
        params: SkillSightParams,
    ) -> Result<SkillSight<M>, SkillSightError> {
        params.check()?;
        let (expected, got) = (corpus.len(), documents.len());
        if expected != got {
            return Err(SkillSightError::Count { expected, got });
        }
        let documents = documents.normalized();
        let lexicon = Lexicon::new(corpus);
        let groups: Vec<&[u32]> = lexicon.generic().map(|word| lexicon.holders(word)).collect();
        let projection = Projection::new(&documents, &groups)
            .map_err(|err| SkillSightError::Subspace(err.into()))?;
        let failed = |err: EmbeddingError| SkillSightError::Subspace(err.into());
        let documents = Blocked::new(&projection.apply(&documents).map_err(failed)?);
        Ok(SkillSight { model, params, lexicon, projection, documents })
    }

    /// Words whose documents the common directions are estimated from.
    pub fn generic_words(&self) -> usize {
        self.lexicon.generic().count()
    }

    /// Directions projected out, from 1 to the model's dimension.
    pub fn rank(&self) -> usize {
        self.projection.rank()
    }

    /// Scores of the whole corpus: `projected` with the help of words for its best.
    fn helped(&self, query: &str, projected: &[f32], ties: &TieKeys) -> Result<Vec<f64>, BoxError> {
        let mut scores: Vec<f64> = projected.iter().map(|&score| f64::from(score)).collect();
        let best = Ranking::of_scores(&scores, Depth::of_len(self.params.top), ties)?;
        let overlap = self.lexicon.overlap(query, self.params.beta);
        let (mean, spread) = mean_and_deviation(&overlap);
        let (_, dense_spread) = mean_and_deviation(&scores);
        if 0.0 < spread {
            for doc in best.hits().iter().map(|hit| hit.doc.as_usize()) {
                scores[doc] += ((overlap[doc] - mean) / spread * dense_spread).max(0.0);
            }
        }
        Ok(scores)
    }
}

impl<M: EmbeddingModel> Retriever for SkillSight<M> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        let texts: Vec<&str> = queries.iter().map(|(query, _)| query.as_str()).collect();
        let vectors = embed_checked(&self.model, Role::Query, &texts)?.normalized();
        let products = self.documents.products(&self.projection.apply(&vectors)?);
        let rows = products.par_chunks_exact(self.documents.documents());
        let rankings: Vec<Result<Ranking, BoxError>> = rows
            .zip(queries)
            .map(|(row, (query, ties))| {
                let scores = self.helped(query.as_str(), row, ties)?;
                Ok(Ranking::of_scores(&scores, depth, ties)?)
            })
            .collect();
        rankings.into_iter().collect()
    }
}

impl<M> fmt::Debug for SkillSight<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.projection.rank();
        f.debug_struct("SkillSight")
            .field("params", &self.params)
            .field("rank", &rank)
            .finish_non_exhaustive()
    }
}

/// Mean and population deviation, summed in order. There is at least one value.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (square / n).sqrt())
}
