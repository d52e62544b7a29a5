//! Products of queries and documents, fast: the documents are packed once for the CPU's tiles.

use cleanhit_core::{Embeddings, Products};
use rayon::prelude::*;

use crate::fused::{BLOCK, Finish, Packed};

/// Documents in panels.
///
/// A product is one chain of multiply-adds over the two vectors, first to last: a query alone gets
/// the same bits as in a batch. On a processor without fused multiply-adds the last bits differ.
pub struct Blocked {
    dim: usize,
    documents: usize,
    packed: Packed,
}

impl Blocked {
    /// Takes the documents' vectors.
    pub fn new(documents: &Embeddings) -> Blocked {
        let dim = documents.dim();
        Blocked {
            dim,
            documents: documents.len(),
            packed: Packed::of_rows(dim, documents.values()),
        }
    }
}

impl Products for Blocked {
    fn documents(&self) -> usize {
        self.documents
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn products(&self, queries: &Embeddings) -> Vec<f32> {
        let mut products = vec![0.0; queries.len() * self.documents];
        if products.is_empty() {
            return products;
        }
        products
            .par_chunks_mut(BLOCK * self.documents)
            .zip(queries.values().par_chunks(BLOCK * self.dim))
            .for_each(|(products, queries)| self.packed.apply(queries, products, Finish::Store));
        products
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cleanhit_core::{
        BoxError, Corpus, Dense, EmbeddingModel as _, Role, Similarity, contract, in_order,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Toy;

    fn vectors(dim: usize, n: usize, seed: u32) -> Embeddings {
        let mut state = u64::from(seed) + 1;
        let values = (0..dim * n).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f32::from(i16::try_from((state >> 48) % 2001).unwrap() - 1000) / 1000.0
        });
        Embeddings::new(dim, values.collect()).unwrap()
    }

    fn index(corpus: &Arc<Corpus>) -> Result<Dense<Toy>, BoxError> {
        let model = Toy::new(40);
        let documents = model.embed(Role::Document, &corpus.texts())?;
        Ok(Dense::over(model, Box::new(Blocked::new(&documents)), Similarity::Cosine)?)
    }

    #[test]
    fn dense_over_blocks_keeps_the_contract() {
        let texts: Vec<String> =
            (0..600).map(|i| format!("w{} w{} w{}", i % 11, i % 7, i)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).chain([""]).collect();
        let queries: Vec<String> = (0..40).map(|i| format!("w{} w{}", i, i % 5)).collect();
        let queries: Vec<&str> = queries.iter().map(String::as_str).chain([""]).collect();
        contract::check_retriever(index, &queries, &texts).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The products are those of the plain loop, and the same bits whatever the batch.
        #[test]
        fn blocks_give_the_products(dim in 1usize..300, documents in 1usize..300, n in 1usize..70, seed: u32) {
            let rows = vectors(dim, documents, seed);
            let blocked = Blocked::new(&rows);
            let queries = vectors(dim, n, seed.wrapping_add(1));
            let all = blocked.products(&queries);
            prop_assert_eq!(all.len(), n * documents);
            for (q, row) in all.chunks_exact(documents).enumerate() {
                for (d, product) in row.iter().enumerate() {
                    let plain = in_order(queries.row(q), rows.row(d));
                    prop_assert!((plain - product).abs() < 1e-4, "{} {}", plain, product);
                }
            }
            for q in [0, n / 2, n - 1] {
                let one = Embeddings::new(dim, queries.row(q).to_vec()).unwrap();
                prop_assert_eq!(&blocked.products(&one), &all[q * documents..][..documents]);
            }
        }
    }
}
