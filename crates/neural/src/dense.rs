//! Products of queries and documents, fast: blocks of one shape on the `gemm` crate.

use cleanhit_core::{Embeddings, Products};
use rayon::prelude::*;

use crate::matrix::products_of_rows;

/// Rows of a block of queries.
const QUERIES: usize = 32;

/// Rows of a block of documents: with the queries' and the products, they stay in a core's cache.
const DOCUMENTS: usize = 512;

/// Documents in blocks, the last one filled up with zeros.
///
/// Every product is computed in a block of the same shape, whatever the number of queries and
/// threads: a query alone gets the same bits as in a batch. On another processor the last bits
/// can differ, because sums there have another order.
#[derive(Clone, Debug)]
pub struct Blocked {
    dim: usize,
    documents: usize,
    /// `[blocks * DOCUMENTS, dim]`.
    rows: Vec<f32>,
}

impl Blocked {
    /// Takes the documents' vectors.
    pub fn new(documents: Embeddings) -> Blocked {
        let (dim, n) = (documents.dim(), documents.len());
        let mut rows = documents.into_values();
        rows.resize(n.next_multiple_of(DOCUMENTS) * dim, 0.0);
        Blocked { dim, documents: n, rows }
    }

    /// The vector of document `i`: `[dim]`.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn row(&self, i: usize) -> &[f32] {
        assert!(i < self.documents);
        &self.rows[i * self.dim..(i + 1) * self.dim]
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
        let block = QUERIES * self.dim;
        products
            .par_chunks_mut(QUERIES * self.documents)
            .zip(queries.values().par_chunks(block))
            .for_each(|(products, queries)| {
                if queries.len() == block {
                    return self.block_of_queries(queries, products);
                }
                let mut filled = queries.to_vec();
                filled.resize(block, 0.0);
                let mut out = vec![0.0; QUERIES * self.documents];
                self.block_of_queries(&filled, &mut out);
                products.copy_from_slice(&out[..products.len()]);
            });
        products
    }
}

impl Blocked {
    /// Products of a whole block of queries: `[QUERIES, documents]`.
    fn block_of_queries(&self, queries: &[f32], products: &mut [f32]) {
        let blocks = self.rows.chunks_exact(DOCUMENTS * self.dim);
        for (block, start) in blocks.zip((0..).step_by(DOCUMENTS)) {
            if start + DOCUMENTS <= self.documents {
                let out = &mut products[start..];
                products_of_rows(self.dim, queries, block, out, self.documents);
                continue;
            }
            let mut out = vec![0.0; QUERIES * DOCUMENTS];
            products_of_rows(self.dim, queries, block, &mut out, DOCUMENTS);
            let rows = products.chunks_exact_mut(self.documents);
            for (row, out) in rows.zip(out.chunks_exact(DOCUMENTS)) {
                row[start..].copy_from_slice(&out[..self.documents - start]);
            }
        }
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
        Ok(Dense::over(model, Box::new(Blocked::new(documents)), Similarity::Cosine)?)
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
        fn blocks_give_the_products(dim in 1usize..70, documents in 1usize..1100, n in 1usize..70, seed: u32) {
            let blocked = Blocked::new(vectors(dim, documents, seed));
            let queries = vectors(dim, n, seed.wrapping_add(1));
            let all = blocked.products(&queries);
            prop_assert_eq!(all.len(), n * documents);
            for (q, row) in all.chunks_exact(documents).enumerate() {
                for (d, product) in row.iter().enumerate() {
                    let plain = in_order(queries.row(q), blocked.row(d));
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
