//! Rank and score fusion.

use rayon::prelude::*;

use crate::{
    pool::DocIx,
    ranking::{Depth, Hit, Ranking, Score},
    run::QueryText,
    scorer::{BoxError, Retriever},
    ties::TieKeys,
};

/// Combines rankings of one query. Pure.
pub trait Fusion: Send + Sync {
    /// The best `depth` candidates over all `rankings`.
    fn fuse(&self, rankings: &[Ranking], depth: Depth, ties: &TieKeys) -> Ranking;
}

/// Reciprocal rank fusion: a candidate's score is the sum of `weight / (c + rank)`.
///
/// Ranks start at 1, and a ranking that lacks the candidate adds nothing.
///
/// Source: Cormack, Clarke and Büttcher, SIGIR 2009, who use `c = 60` and no weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Rrf {
    /// Larger values flatten the differences between ranks. Not negative.
    pub c: f64,
    /// One weight for each ranking; none means 1 for each. Finite.
    pub weights: Vec<f64>,
}

/// Takes the rankings' candidates in turn, first ranking first, each candidate once.
///
/// A candidate's score is the number of candidates from its own position to the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RoundRobin;

/// How a ranking's scores are brought to a common scale.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Normalize {
    /// `(s - min) / (max - min)`; all 0 where the scores are equal. A candidate that a ranking
    /// lacks gets 0.
    MinMax,
    /// `(s - mean) / sd` with the population deviation; all 0 where the scores are equal. A
    /// candidate that a ranking lacks gets 0, the mean.
    ZScore,
    /// Scores as they are. A candidate that a ranking lacks gets 0.
    None,
}

/// Weighted sum of normalised scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The common scale.
    pub normalize: Normalize,
    /// One weight for each ranking; none means 1 for each. Finite.
    pub weights: Vec<f64>,
}

/// Several retrievers over one corpus, fused. Each part ranks the whole corpus.
pub struct Fused {
    /// The retrievers, in the order the fusion gets their rankings.
    pub parts: Vec<Box<dyn Retriever>>,
    /// How to combine what they return.
    pub fusion: Box<dyn Fusion>,
    /// How deep each part is read; the corpus' length reads all.
    pub part_depth: Depth,
}

impl Fusion for Rrf {
    fn fuse(&self, rankings: &[Ranking], depth: Depth, ties: &TieKeys) -> Ranking {
        let addends = rankings.iter().enumerate().map(|(part, ranking)| {
            let weight = weight(&self.weights, part);
            let at = move |rank: u32| weight / (self.c + f64::from(rank));
            (ranking, ranking.hits().iter().zip(1u32..).map(|(_, rank)| at(rank)).collect())
        });
        sum(addends.collect(), depth, ties)
    }
}

impl Fusion for Weighted {
    fn fuse(&self, rankings: &[Ranking], depth: Depth, ties: &TieKeys) -> Ranking {
        let addends = rankings.iter().enumerate().map(|(part, ranking)| {
            let weight = weight(&self.weights, part);
            let scores: Vec<f64> = ranking.hits().iter().map(|hit| hit.score.get()).collect();
            let scaled = self.normalize.apply(&scores).into_iter().map(|s| weight * s).collect();
            (ranking, scaled)
        });
        sum(addends.collect(), depth, ties)
    }
}

impl Fusion for RoundRobin {
    fn fuse(&self, rankings: &[Ranking], depth: Depth, ties: &TieKeys) -> Ranking {
        let longest = rankings.iter().map(|r| r.hits().len()).max().unwrap_or(0);
        let mut seen = vec![false; corpus_len(rankings)];
        let mut order: Vec<DocIx> = Vec::new();
        for rank in 0..longest {
            for hit in rankings.iter().filter_map(|ranking| ranking.hits().get(rank)) {
                if !std::mem::replace(&mut seen[hit.doc.as_usize()], true) {
                    order.push(hit.doc);
                }
            }
        }
        let scores = (0..order.len()).rev().map(|left| Score::finite((left + 1) as f64));
        Ranking::new(order.iter().zip(scores).map(|(&doc, score)| Hit { doc, score }), depth, ties)
    }
}

impl Normalize {
    fn apply(self, scores: &[f64]) -> Vec<f64> {
        let (shift, scale) = match self {
            Normalize::None => (0.0, 1.0),
            Normalize::MinMax => {
                let min = scores.iter().copied().fold(f64::INFINITY, f64::min);
                let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (min, max - min)
            }
            Normalize::ZScore => {
                let n = scores.len().max(1) as f64;
                let mean = scores.iter().sum::<f64>() / n;
                let variance = scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / n;
                (mean, variance.sqrt())
            }
        };
        if scale <= 0.0 {
            return vec![0.0; scores.len()];
        }
        scores.iter().map(|score| (score - shift) / scale).collect()
    }
}

impl Retriever for Fused {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        let part_depth = self.part_depth.max(depth);
        let mut by_query: Vec<Vec<Ranking>> = vec![Vec::new(); queries.len()];
        for part in &self.parts {
            for (rankings, ranking) in by_query.iter_mut().zip(part.retrieve(queries, part_depth)?)
            {
                rankings.push(ranking);
            }
        }
        let fused = by_query.par_iter().zip(queries);
        Ok(fused.map(|(rankings, (_, ties))| self.fusion.fuse(rankings, depth, ties)).collect())
    }
}

fn weight(weights: &[f64], part: usize) -> f64 {
    weights.get(part).copied().unwrap_or(1.0)
}

fn corpus_len(rankings: &[Ranking]) -> usize {
    let docs = rankings.iter().flat_map(|ranking| ranking.hits());
    docs.map(|hit| hit.doc.as_usize() + 1).max().unwrap_or(0)
}

/// Ranks candidates by the sum of what each ranking adds for them.
fn sum(parts: Vec<(&Ranking, Vec<f64>)>, depth: Depth, ties: &TieKeys) -> Ranking {
    let n_parts = parts.len();
    let n_docs = parts
        .iter()
        .flat_map(|(ranking, _)| ranking.hits())
        .map(|hit| hit.doc.as_usize() + 1)
        .max()
        .unwrap_or(0);
    let mut addends = vec![f64::NAN; n_docs * n_parts]; // [doc, part]; NaN where absent
    for (part, (ranking, values)) in parts.iter().enumerate() {
        for (hit, &value) in ranking.hits().iter().zip(values) {
            addends[hit.doc.as_usize() * n_parts + part] = value;
        }
    }
    let hits = addends.chunks_exact_mut(n_parts.max(1)).zip(0u32..).filter_map(|(row, i)| {
        // Addition does not associate: sum in one order whatever the order of the parts.
        row.sort_unstable_by(f64::total_cmp);
        let present = row.iter().filter(|value| !value.is_nan());
        let doc = DocIx::from_u32(i);
        (0 < present.clone().count()).then(|| Hit { doc, score: Score::finite(present.sum()) })
    });
    Ranking::new(hits, depth, ties)
}
