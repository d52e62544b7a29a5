//! The index, and how it scores.

use cleanhit_core::{BoxError, Corpus, Depth, QueryText, Ranking, Retriever, TieKeys, per_query};
use rayon::prelude::*;

use crate::{
    dictionary::narrow,
    stats::IndexStats,
    tfidf::{
        TfidfError, TfidfParams,
        build::{PARTS, build, part_of},
        part::{BLOCK, MANY, Part},
    },
};

/// TF-IDF with cosine similarity.
///
/// A score sums features in order of fingerprint, so that it is the same number whatever the
/// order of the documents and the number of threads. Query features that no document has are
/// left out of the query's norm, as scikit-learn does. A document that shares no feature with
/// the query scores 0, as does one without features.
#[derive(Debug)]
pub struct Tfidf {
    params: TfidfParams,
    parts: Vec<Part>,
    /// Of each document, the inverse of its vector's norm; 0 where that is 0.
    scales: Vec<f64>,
    /// The weight of each count that a byte holds.
    weights: [f64; 256],
    stats: IndexStats,
}

/// A query's features that some document has, in order of fingerprint.
struct Query {
    /// Where the feature is in its part, and what its weight in a document is multiplied by.
    features: Vec<(usize, usize, f64)>,
    scale: f64,
}

impl Tfidf {
    /// Indexes `corpus`, in parallel.
    ///
    /// # Errors
    ///
    /// If the lengths of the features are out of their range.
    pub fn new(corpus: &Corpus, params: TfidfParams) -> Result<Tfidf, TfidfError> {
        params.features.check()?;
        let (parts, dropped_tokens) = build(corpus, params.features);
        let mut weights = [0.0; 256];
        for (weight, count) in weights.iter_mut().zip(0..).skip(1) {
            *weight = params.weighting.of_count(count);
        }
        let stats = IndexStats { documents: corpus.len(), dropped_tokens, ..IndexStats::default() };
        let mut index = Tfidf { params, parts, scales: Vec::new(), weights, stats };
        index.measure();
        Ok(index)
    }

    /// The parameters.
    pub fn params(&self) -> &TfidfParams {
        &self.params
    }

    /// What was indexed, for receipts. A token is a feature here: a run of words or an n-gram.
    pub fn stats(&self) -> IndexStats {
        self.stats
    }

    /// How many different features of `query` are in the pool. At 0, every candidate scores 0.
    pub fn query_terms_in_pool(&self, query: QueryText<'_>) -> usize {
        self.read(query).features.len()
    }

    /// The cosine of the query and every document, in position order. From 0 to 1, but for
    /// rounding.
    pub fn scores(&self, query: QueryText<'_>) -> Vec<f64> {
        let query = self.read(query);
        let mut sums = vec![0.0; self.scales.len().next_multiple_of(BLOCK)];
        let (blocks, _) = sums.as_chunks_mut::<BLOCK>();
        for &(part, feature, weight) in &query.features {
            let part = &self.parts[part];
            for run in part.runs(feature) {
                let sums = &mut blocks[run.block];
                for (at, &[doc, count]) in run.postings.iter().enumerate() {
                    let of_count = match count {
                        MANY => self.weight(part.count(&run, at)),
                        count => self.weights[usize::from(count)],
                    };
                    sums[usize::from(doc)] += weight * of_count;
                }
            }
        }
        sums.truncate(self.scales.len());
        for (sum, scale) in sums.iter_mut().zip(&self.scales) {
            *sum *= scale * query.scale;
        }
        sums
    }

    /// Sets every document's scale, and counts.
    fn measure(&mut self) {
        let n = self.stats.documents;
        // Of each part and document: features, with repeats, and the sum of squared weights.
        let parts: Vec<Vec<(u64, f64)>> = self
            .parts
            .par_iter()
            .map(|part| {
                let mut sums = vec![(0, 0.0); n];
                for feature in 0..part.len() {
                    let idf = self.params.weighting.idf(part.frequency(feature), n);
                    for run in part.runs(feature) {
                        let of_block = &mut sums[run.block * BLOCK..];
                        for (at, &[doc, _]) in run.postings.iter().enumerate() {
                            let count = part.count(&run, at);
                            let weight = idf * self.weight(count);
                            let (length, square) = &mut of_block[usize::from(doc)];
                            *length += u64::from(count);
                            *square += weight * weight;
                        }
                    }
                }
                sums
            })
            .collect();
        // A sum over parts in order: the same whatever their threads.
        let square = |doc: usize| parts.iter().map(|sums| sums[doc].1).sum::<f64>();
        self.scales = (0..n).map(|doc| inverse(square(doc).sqrt())).collect();
        let length = |doc: usize| parts.iter().map(|sums| sums[doc].0).sum::<u64>();
        self.stats.tokens = (0..n).map(length).sum();
        self.stats.empty_documents = (0..n).filter(|&doc| length(doc) == 0).count();
        self.stats.vocabulary = self.parts.iter().map(Part::len).sum();
    }

    fn read(&self, query: QueryText<'_>) -> Query {
        let mut found = Vec::new();
        self.params.features.of(query.as_str(), |fingerprint| found.push(fingerprint));
        found.sort_unstable();
        let (mut features, mut squares) = (Vec::new(), 0.0);
        for same in found.chunk_by(|a, b| a == b) {
            let at = part_of(same[0]);
            let part = &self.parts[at];
            if let Some(feature) = part.find(same[0], PARTS) {
                let df = part.frequency(feature);
                let idf = self.params.weighting.idf(df, self.stats.documents);
                let weight = idf * self.weight(narrow(same.len()));
                squares += weight * weight;
                features.push((at, feature, weight * idf));
            }
        }
        Query { features, scale: inverse(squares.sqrt()) }
    }

    fn weight(&self, count: u32) -> f64 {
        match self.weights.get(count as usize) {
            Some(&weight) => weight,
            None => self.params.weighting.of_count(count),
        }
    }
}

impl Retriever for Tfidf {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        per_query(queries, |query, ties| Ok(Ranking::of_scores(&self.scores(query), depth, ties)?))
    }
}

/// `1/norm`, or 0 for a vector that has no direction.
fn inverse(norm: f64) -> f64 {
    match 0.0 < norm {
        true => 1.0 / norm,
        false => 0.0,
    }
}
