//! Retrieval by vectors without comparing all of them: a hierarchical navigable small world.
//!
//! Source: Malkov and Yashunin, IEEE TPAMI 2020, as hnsw_rs 0.3.5 builds it:
//! <https://docs.rs/hnsw_rs/0.3.5>. The library draws levels from a generator with a fixed seed;
//! documents are inserted one after the other in the corpus' order, so that the graph is the same
//! every time.

use std::fmt;

use cleanhit_core::{
    BoxError, Depth, EmbeddingModel, Embeddings, QueryText, Ranking, Retriever, Role, Similarity,
    TieKeys, embed_checked, in_order, rank_rows,
};
use hnsw_rs::prelude::{DistL2, Hnsw};
use rayon::prelude::*;

/// How a graph is built and searched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HnswParams {
    /// Neighbours kept for a document on a layer, twice as many on the lowest. From 2 to 128.
    pub neighbours: usize,
    /// Candidates looked at when a document is inserted. At least `neighbours`.
    pub build_width: usize,
    /// Candidates looked at when a query is answered. At least 1.
    pub search_width: usize,
}

/// Ranks what a walk through a graph of neighbours finds.
///
/// Vectors are scaled to unit length: their distance orders them as their cosine does. What is
/// found is scored by its cosine, as [`cleanhit_core::Dense`] scores it but for the last bits.
/// Candidates that the walk does not reach follow with the score -2, below every cosine.
pub struct HnswIndex<M> {
    model: M,
    params: HnswParams,
    graph: Hnsw<'static, f32, DistL2>,
    documents: Embeddings,
}

/// How much of the exact answer the graph finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GraphRecall {
    /// Of the exact best of all queries, those found.
    pub found: usize,
    /// The exact best of all queries.
    pub of: usize,
}

/// Parameters that build no graph.
#[derive(Debug, thiserror::Error)]
#[error("field `{field}`: {got}; expected {expected}")]
pub struct HnswError {
    /// The parameter.
    pub field: &'static str,
    /// Its value.
    pub got: usize,
    /// What it may be.
    pub expected: &'static str,
}

/// Below every cosine.
const NOT_REACHED: f32 = -2.0;

/// Layers that a graph may have; the library's own bound.
const LAYERS: usize = 16;

impl HnswParams {
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn check(&self) -> Result<(), HnswError> {
        let err = |field, got, expected| Err(HnswError { field, got, expected });
        if !(2..=128).contains(&self.neighbours) {
            return err("neighbours", self.neighbours, "a number from 2 to 128");
        }
        if self.build_width < self.neighbours {
            return err("build_width", self.build_width, "at least `neighbours`");
        }
        if self.search_width < 1 {
            return err("search_width", self.search_width, "at least 1");
        }
        Ok(())
    }
}

impl<M: EmbeddingModel> HnswIndex<M> {
    /// Builds the graph of `documents`, one vector for each candidate in the corpus' order, on
    /// the calling thread.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(
        model: M,
        documents: Embeddings,
        params: HnswParams,
    ) -> Result<HnswIndex<M>, HnswError> {
        params.check()?;
        let documents = documents.normalized();
        let n = documents.len();
        let HnswParams { neighbours, build_width, .. } = params;
        let graph = Hnsw::new(neighbours, n, LAYERS, build_width, DistL2 {});
        for i in 0..n {
            graph.insert_slice((documents.row(i), i));
        }
        Ok(HnswIndex { model, params, graph, documents })
    }

    /// Compares the best `k` of each query with the exact ones. A candidate that is as near as
    /// the last of the exact ones counts as one of them.
    ///
    /// # Errors
    ///
    /// The model's.
    pub fn recall(&self, queries: &[&str], k: usize) -> Result<GraphRecall, BoxError> {
        let vectors = embed_checked(&self.model, Role::Query, queries)?.normalized();
        let k = k.min(self.documents.len());
        let counts: Vec<usize> = (0..vectors.len())
            .into_par_iter()
            .map(|query| {
                let query = vectors.row(query);
                let mut exact: Vec<f32> = (0..self.documents.len())
                    .map(|i| in_order(query, self.documents.row(i)))
                    .collect();
                exact.sort_unstable_by(|a, b| b.total_cmp(a));
                let mut found: Vec<f32> = self.walk(query).into_iter().map(|(_, s)| s).collect();
                found.sort_unstable_by(|a, b| b.total_cmp(a));
                let last = exact[k - 1];
                found.iter().take(k).filter(|score| last <= **score).count()
            })
            .collect();
        Ok(GraphRecall { found: counts.iter().sum(), of: k * vectors.len() })
    }

    /// The documents that a walk from `query` finds, with their cosines.
    fn walk(&self, query: &[f32]) -> Vec<(usize, f32)> {
        let width = self.params.search_width;
        let found = self.graph.search(query, width, width);
        let score = |i: usize| in_order(query, self.documents.row(i));
        found.iter().map(|near| (near.d_id, score(near.d_id))).collect()
    }
}

impl GraphRecall {
    /// The share found; 1 where there is nothing to find.
    pub fn share(self) -> f64 {
        match self.of {
            0 => 1.0,
            of => self.found as f64 / of as f64,
        }
    }
}

impl<M: EmbeddingModel> Retriever for HnswIndex<M> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        let texts: Vec<&str> = queries.iter().map(|(query, _)| query.as_str()).collect();
        let vectors = embed_checked(&self.model, Role::Query, &texts)?;
        let vectors = Similarity::Cosine.prepare(vectors);
        let documents = self.documents.len();
        let mut scores = vec![NOT_REACHED; queries.len() * documents];
        scores.par_chunks_exact_mut(documents.max(1)).enumerate().for_each(|(query, row)| {
            for (i, score) in self.walk(vectors.row(query)) {
                row[i] = score;
            }
        });
        let keys: Vec<&TieKeys> = queries.iter().map(|(_, ties)| ties).collect();
        rank_rows(&scores, &keys, depth)
    }
}

impl<M> fmt::Debug for HnswIndex<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HnswIndex").field("params", &self.params).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cleanhit_core::{Corpus, contract};

    use super::*;
    use crate::testing::Toy;

    const PARAMS: HnswParams = HnswParams { neighbours: 16, build_width: 200, search_width: 64 };

    fn index(corpus: &Arc<Corpus>) -> Result<HnswIndex<Toy>, BoxError> {
        let model = Toy::new(32);
        let documents = model.embed(Role::Document, &corpus.texts())?;
        Ok(HnswIndex::new(model, documents, PARAMS)?)
    }

    fn texts(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("w{} w{} w{} w{i}", i % 13, i % 7, i % 31)).collect()
    }

    fn of(texts: &[String]) -> Vec<&str> {
        texts.iter().map(String::as_str).collect()
    }

    #[test]
    fn hnsw_keeps_the_contract() {
        let texts = texts(120);
        let texts: Vec<&str> = of(&texts).into_iter().chain(["", "", "w1 w1"]).collect();
        contract::check_retriever(index, &["w3 w5", "", "w30 w2 w119"], &texts).unwrap();
    }

    #[test]
    fn every_vector_finds_itself_first() {
        let texts = texts(900);
        let model = Toy::new(32);
        let documents = model.embed(Role::Document, &of(&texts)).unwrap();
        let index = HnswIndex::new(model, documents.clone(), PARAMS).unwrap();
        for i in 0..documents.len() {
            let mut found = index.walk(documents.row(i));
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            assert_eq!(found[0].0, i);
        }
    }

    #[test]
    fn two_builds_are_one_graph() {
        let texts = texts(500);
        let build = || {
            let model = Toy::new(32);
            let documents = model.embed(Role::Document, &of(&texts)).unwrap();
            HnswIndex::new(model, documents, PARAMS).unwrap()
        };
        let (a, b) = (build(), build());
        let queries = Toy::new(32).embed(Role::Query, &of(&texts[..60])).unwrap();
        for i in 0..queries.len() {
            assert_eq!(a.walk(queries.row(i)), b.walk(queries.row(i)));
        }
    }

    #[test]
    fn recall_is_1_where_the_walk_sees_everything_and_less_where_it_is_narrow() {
        let texts = texts(700);
        let recall = |search_width| {
            let model = Toy::new(32);
            let documents = model.embed(Role::Document, &of(&texts)).unwrap();
            let params = HnswParams { search_width, ..PARAMS };
            HnswIndex::new(model, documents, params).unwrap().recall(&of(&texts[..50]), 20).unwrap()
        };
        let (wide, narrow) = (recall(700), recall(4));
        assert_eq!((wide.found, wide.of), (1000, 1000));
        assert!(narrow.share() <= 0.2, "4 of 20 at most: {narrow:?}");
        assert!((GraphRecall { found: 0, of: 0 }.share() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let err = |params: HnswParams| params.check().unwrap_err().to_string();
        assert_eq!(
            err(HnswParams { neighbours: 1, ..PARAMS }),
            "field `neighbours`: 1; expected a number from 2 to 128"
        );
        assert_eq!(
            err(HnswParams { build_width: 8, ..PARAMS }),
            "field `build_width`: 8; expected at least `neighbours`"
        );
        assert_eq!(
            err(HnswParams { search_width: 0, ..PARAMS }),
            "field `search_width`: 0; expected at least 1"
        );
    }
}
