//! Families from vectors: candidates whose embeddings are much alike.

use cleanhit_core::{
    BoxError, Corpus, Embeddings, Neighbours, Partition, Products as _, Ranking, Resolver, Scope,
    TextCluster,
};

use crate::dense::Blocked;

/// Families as clusters of similar vectors: the connected components of the neighbourhoods among
/// the candidates in scope. Two candidates are neighbours if the cosine of their vectors reaches
/// the threshold. A vector of zeros is like no other.
#[derive(Debug)]
pub struct EmbeddingClusters(Neighbours);

/// Vectors cannot be clustered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingClusterError {
    /// Every pair or no pair would be alike.
    #[error("similarity threshold is {0}; expected a number above 0, up to 1")]
    Threshold(f64),
    /// There is not one vector for each candidate.
    #[error("{got} vectors for {expected} candidates")]
    Count {
        /// Candidates.
        expected: usize,
        /// Vectors.
        got: usize,
    },
}

/// Candidates compared with all others at once: bounds the memory.
const ROWS: usize = 256;

/// How far rounding can push the cosine of a vector with its like from what it is.
const ROUNDING: f64 = 1e-6;

impl EmbeddingClusters {
    /// Compares all vectors of `corpus`, one for each candidate in its order, in parallel.
    ///
    /// # Errors
    ///
    /// If the threshold is out of its range, or there is not one vector for each candidate.
    pub fn new(
        corpus: &Corpus,
        documents: Embeddings,
        threshold: f64,
        scope: Scope,
    ) -> Result<EmbeddingClusters, EmbeddingClusterError> {
        if !(0.0 < threshold && threshold <= 1.0) {
            return Err(EmbeddingClusterError::Threshold(threshold));
        }
        let (expected, got) = (corpus.len(), documents.len());
        if expected != got {
            return Err(EmbeddingClusterError::Count { expected, got });
        }
        let documents = documents.normalized();
        let dim = documents.dim();
        let blocked = Blocked::new(&documents);
        let mut before: Vec<Vec<u32>> = Vec::with_capacity(expected);
        for rows in documents.values().chunks(ROWS * dim) {
            let Ok(rows) = Embeddings::new(dim, rows.to_vec()) else {
                unreachable!("whole rows of finite values");
            };
            for row in blocked.products(&rows).chunks_exact(expected) {
                let earlier = (0u32..).zip(row).take(before.len());
                let alike =
                    earlier.filter(|(_, cosine)| threshold - ROUNDING <= f64::from(**cosine));
                before.push(alike.map(|(doc, _)| doc).collect());
            }
        }
        Ok(EmbeddingClusters(Neighbours::new(corpus, scope, before)))
    }

    /// The clusters of the whole pool, whatever the scope.
    ///
    /// # Panics
    ///
    /// If `corpus` is not of the size of the one that was compared.
    pub fn partition(&self, corpus: &Corpus) -> Partition {
        self.0.partition(corpus)
    }
}

impl Resolver<TextCluster> for EmbeddingClusters {
    fn families(&self, corpus: &Corpus, ranking: &Ranking, _: &()) -> Result<Partition, BoxError> {
        self.0.families(corpus, ranking, &())
    }
}

#[cfg(test)]
mod tests {
    use cleanhit_core::{Candidate, EmbeddingModel as _, Pool, Role};

    use super::*;
    use crate::testing::Toy;

    fn pool(texts: &[&str]) -> Pool {
        let candidates = texts.iter().enumerate().map(|(i, text)| Candidate {
            id: format!("d{i}").as_str().into(),
            text: (*text).into(),
            name: None,
        });
        Pool::new("test", candidates.collect()).unwrap()
    }

    fn groups(pool: &Pool, threshold: f64) -> Vec<u32> {
        let documents = Toy::new(64).embed(Role::Document, &pool.corpus().texts()).unwrap();
        let clusters = EmbeddingClusters::new(pool.corpus(), documents, threshold, Scope::Pool);
        let partition = clusters.unwrap().partition(pool.corpus());
        (0..pool.len()).map(|i| partition.group(pool.position(&format!("d{i}")).unwrap())).collect()
    }

    #[test]
    fn like_texts_are_a_family_and_chains_connect() {
        let pool = pool(&["a b c d", "a b c e", "a b e f", "x y z w", "x y z w", "", ""]);
        let found = groups(&pool, 0.6);
        assert!(found[0] == found[1] && found[1] == found[2], "{found:?}");
        assert!(found[3] == found[4] && found[3] != found[0], "{found:?}");
        assert!(found[5] != found[6], "zeros are like no other: {found:?}");
        let strict = groups(&pool, 1.0);
        assert!(strict[0] != strict[1] && strict[3] == strict[4], "{strict:?}");
    }

    #[test]
    fn thresholds_out_of_range_are_refused() {
        let pool = pool(&["a", "b"]);
        for threshold in [0.0, -1.0, 1.1, f64::NAN] {
            let documents = Toy::new(4).embed(Role::Document, &["a", "b"]).unwrap();
            assert!(
                EmbeddingClusters::new(pool.corpus(), documents, threshold, Scope::Pool).is_err()
            );
        }
        let one = Toy::new(4).embed(Role::Document, &["a"]).unwrap();
        let err = EmbeddingClusters::new(pool.corpus(), one, 0.5, Scope::Pool).unwrap_err();
        assert_eq!(err.to_string(), "1 vectors for 2 candidates");
    }
}
