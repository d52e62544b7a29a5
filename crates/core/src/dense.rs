//! Retrieval by vectors: every candidate's product with the query, and the best of them.

use std::sync::Arc;

use rayon::prelude::*;

use crate::{
    embedding::{EmbeddingModel, Embeddings, Role, embed_checked},
    pool::Corpus,
    ranking::{Depth, Ranking},
    run::QueryText,
    scorer::{BoxError, Retriever},
    ties::TieKeys,
};

/// What two vectors' likeness is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Similarity {
    /// The product of the vectors divided by their lengths; 0 where a vector has no length.
    Cosine,
    /// The product of the vectors as the model gives them.
    Dot,
}

/// Products of queries with documents that are held ready. What is fast on one machine is not
/// on another, so that [`Dense`] takes any.
pub trait Products: Send + Sync {
    /// Documents held.
    fn documents(&self) -> usize;

    /// Values in a document's vector.
    fn dim(&self) -> usize;

    /// `[queries.len(), documents]`, row-major: the product of each query with each document.
    ///
    /// A product must be a function of its two vectors: the other queries, the other documents
    /// and the threads never reach it. May assume that the dimensions agree.
    fn products(&self, queries: &Embeddings) -> Vec<f32>;
}

/// Products in f32, summed in one order: eight partial sums, each over every eighth value, then
/// the sums in pairs. The same numbers on every machine.
#[derive(Clone, Debug)]
pub struct InOrder(pub Embeddings);

/// Ranks all candidates of a corpus by their vectors. Exhaustive: nothing is approximated.
pub struct Dense<M> {
    model: M,
    similarity: Similarity,
    documents: Box<dyn Products>,
}

/// Vectors of another model, or of other texts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DenseError {
    /// The documents have another dimension than the model gives queries.
    #[error("documents have dimension {documents}, but the model gives {model}")]
    Dimension {
        /// Of the documents.
        documents: usize,
        /// Of the model.
        model: usize,
    },
}

impl<M: EmbeddingModel> Dense<M> {
    /// Embeds a corpus; products are [`InOrder`].
    ///
    /// # Errors
    ///
    /// The model's.
    pub fn new(
        model: M,
        corpus: &Arc<Corpus>,
        similarity: Similarity,
    ) -> Result<Dense<M>, BoxError> {
        let documents = embed_checked(&model, Role::Document, &corpus.texts())?;
        let documents = InOrder(similarity.prepare(documents));
        Ok(Dense::over(model, Box::new(documents), similarity)?)
    }

    /// Ranks documents whose vectors [`Similarity::prepare`] has seen.
    ///
    /// # Errors
    ///
    /// If the documents have another dimension than the model.
    pub fn over(
        model: M,
        documents: Box<dyn Products>,
        similarity: Similarity,
    ) -> Result<Dense<M>, DenseError> {
        match (documents.dim(), model.dim()) {
            (a, b) if a == b => Ok(Dense { model, similarity, documents }),
            (documents, model) => Err(DenseError::Dimension { documents, model }),
        }
    }
}

impl Similarity {
    /// The vectors whose products are the similarity.
    #[must_use]
    pub fn prepare(self, vectors: Embeddings) -> Embeddings {
        match self {
            Similarity::Cosine => vectors.normalized(),
            Similarity::Dot => vectors,
        }
    }
}

impl<M: EmbeddingModel> Retriever for Dense<M> {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        let texts: Vec<&str> = queries.iter().map(|(query, _)| query.as_str()).collect();
        let vectors = embed_checked(&self.model, Role::Query, &texts)?;
        let products = self.documents.products(&self.similarity.prepare(vectors));
        let keys: Vec<&TieKeys> = queries.iter().map(|(_, ties)| ties).collect();
        rank_rows(&products, &keys, depth)
    }
}

/// Ranks a corpus for each query: row `i` of `scores`, `[keys.len(), corpus]`, is query `i`'s.
///
/// # Errors
///
/// If a score is not finite.
pub fn rank_rows(
    scores: &[f32],
    keys: &[&TieKeys],
    depth: Depth,
) -> Result<Vec<Ranking>, BoxError> {
    let documents = scores.len().checked_div(keys.len()).unwrap_or(0).max(1);
    let rankings: Vec<_> = scores
        .par_chunks_exact(documents)
        .zip(keys)
        .map(|(row, ties)| {
            let row: Vec<f64> = row.iter().map(|&score| f64::from(score)).collect();
            Ranking::of_scores(&row, depth, ties)
        })
        .collect();
    Ok(rankings.into_iter().collect::<Result<_, _>>()?)
}

impl Products for InOrder {
    fn documents(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn products(&self, queries: &Embeddings) -> Vec<f32> {
        let (dim, documents) = (self.dim(), self.documents());
        let mut products = vec![0.0; queries.len() * documents];
        if products.is_empty() {
            return products;
        }
        products.par_chunks_exact_mut(documents).enumerate().for_each(|(query, row)| {
            let query = queries.row(query);
            for (product, document) in row.iter_mut().zip(self.0.values().chunks_exact(dim)) {
                *product = in_order(query, document);
            }
        });
        products
    }
}

/// The product of two vectors of one length, summed as [`InOrder`] says.
pub fn in_order(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let (rest_a, rest_b) = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *sum += a * b;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contract, embedding::EmbeddingError};

    /// Counts of letters, with 1 in a last place so that no text is without length.
    struct Letters;

    impl EmbeddingModel for Letters {
        fn dim(&self) -> usize {
            27
        }

        fn embed(&self, _: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
            let mut values = Vec::new();
            for text in texts {
                let letter = |letter: u8| text.bytes().filter(|&byte| byte == letter).count();
                let counts = (b'a'..=b'z').map(letter).chain([1]);
                values.extend(counts.map(|count| f32::from(u16::try_from(count).unwrap())));
            }
            Ok(Embeddings::new(27, values)?)
        }
    }

    /// Says that it has another dimension than it gives.
    struct Liar;

    impl EmbeddingModel for Liar {
        fn dim(&self) -> usize {
            3
        }

        fn embed(&self, _: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
            Ok(Embeddings::new(2, vec![0.0; 2 * texts.len()])?)
        }
    }

    const TEXTS: [&str; 7] = ["a cat", "a dog", "", "act", "a cat", "zebra", "tac tac"];

    #[test]
    fn dense_keeps_the_contract_of_retrievers() {
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let index = |corpus: &Arc<Corpus>| Dense::new(Letters, corpus, similarity);
            contract::check_retriever(index, &["a cat", "", "zz", "tact"], &TEXTS).unwrap();
        }
    }

    #[test]
    fn cosine_forgets_length_and_dot_does_not() {
        let model = Letters.embed(Role::Document, &["act", "actact"]).unwrap();
        let query = Letters.embed(Role::Query, &["act"]).unwrap();
        let of = |similarity: Similarity| {
            let documents = InOrder(similarity.prepare(model.clone()));
            documents.products(&similarity.prepare(query.clone()))
        };
        assert_eq!(of(Similarity::Dot), [4.0, 7.0]);
        let cosine = of(Similarity::Cosine);
        assert!((cosine[0] - 1.0).abs() < 1e-6 && cosine[1] < cosine[0], "{cosine:?}");
    }

    #[test]
    fn a_vector_without_length_has_cosine_0() {
        let zero = Similarity::Cosine.prepare(Embeddings::new(2, vec![0.0, 0.0]).unwrap());
        assert_eq!(zero.values(), [0.0, 0.0]);
    }

    #[test]
    fn products_do_not_depend_on_the_other_queries() {
        let values = |n: u16| (0..n).map(|i| f32::sin(f32::from(i))).collect::<Vec<f32>>();
        let documents = InOrder(Embeddings::new(13, values(13 * 9)).unwrap());
        let queries = Embeddings::new(13, values(13 * 5)).unwrap();
        let all = documents.products(&queries);
        for i in 0..queries.len() {
            let one = Embeddings::new(13, queries.row(i).to_vec()).unwrap();
            assert_eq!(documents.products(&one), all[i * 9..(i + 1) * 9]);
        }
    }

    #[test]
    fn a_model_that_gives_another_shape_is_refused() {
        let err = embed_checked(&Liar, Role::Query, &["a", "b"]).unwrap_err();
        assert!(matches!(err.downcast_ref(), Some(EmbeddingError::Count { got_dim: 2, .. })));
        let documents = InOrder(Embeddings::new(2, vec![1.0, 0.0]).unwrap());
        let dense = Dense::over(Liar, Box::new(documents), Similarity::Dot);
        assert_eq!(
            dense.err().unwrap().to_string(),
            "documents have dimension 2, but the model gives 3"
        );
    }

    #[test]
    fn embeddings_are_finite_rows() {
        let err = |dim, values: Vec<f32>| Embeddings::new(dim, values).unwrap_err().to_string();
        assert_eq!(err(0, vec![]), "embeddings have dimension 0; expected at least 1");
        assert_eq!(err(2, vec![1.0; 3]), "3 values don't fill rows of 2");
        assert_eq!(
            err(2, vec![1.0, 2.0, 3.0, f32::NAN]),
            "text 1: value 1 of its vector is NaN; expected a finite number"
        );
        assert!(Embeddings::new(4, vec![]).unwrap().is_empty());
    }
}
