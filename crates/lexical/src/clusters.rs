//! Families from texts: candidates whose texts are much alike.

mod join;

use cleanhit_core::{
    BoxError, Corpus, DocIx, Neighbours, Partition, Ranking, Resolver, Scope, TextCluster,
};

use crate::{analysis::Analyser, clusters::join::Similar, counts::TermCounts};

/// When two texts are alike.
///
/// Similarity is the cosine of single-word TF-IDF vectors, `(1 + ln tf)·(ln((1 + N)/(1 + df)) + 1)`.
/// A text without a word is like no other.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterParams {
    /// How texts become words.
    pub analyser: Analyser,
    /// The least similarity of neighbours. Above 0, up to 1; compared to within 10⁻¹².
    pub threshold: f64,
}

/// Families as clusters of similar texts: the connected components of the neighbourhoods among
/// the candidates in scope.
///
/// The paper publishes neither the features nor the linkage. Ours are those of
/// [`ClusterParams`], and single linkage: two candidates that are not alike are of one family
/// if a chain of neighbours in scope connects them.
#[derive(Debug)]
pub struct TextClusters(Neighbours);

/// Two candidates with similar texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    /// The one with the higher position.
    pub first: DocIx,
    /// The one with the lower position.
    pub second: DocIx,
    /// The cosine of their texts.
    pub similarity: f64,
}

/// Texts cannot be clustered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Every pair or no pair would be alike.
    #[error("similarity threshold is {0}; expected a number above 0, up to 1")]
    Threshold(f64),
}

impl Default for ClusterParams {
    /// The paper's threshold, 0.65, on words of two characters and more.
    fn default() -> ClusterParams {
        ClusterParams { analyser: Analyser::Word, threshold: 0.65 }
    }
}

/// All pairs of candidates with similar texts, by their positions, the first one's first.
///
/// # Errors
///
/// If the threshold is out of its range.
pub fn similar_pairs(
    corpus: &Corpus,
    params: &ClusterParams,
) -> Result<Vec<SimilarPair>, ClusterError> {
    let docs: Vec<DocIx> = corpus.docs().collect();
    let similar = neighbourhoods(corpus, params)?;
    let pairs = docs.iter().zip(similar).flat_map(|(&first, before)| {
        let docs = &docs;
        before.into_iter().map(move |Similar { doc, cosine }| SimilarPair {
            first,
            second: docs[doc as usize],
            similarity: cosine,
        })
    });
    Ok(pairs.collect())
}

impl TextClusters {
    /// Compares all texts of `corpus`, in parallel.
    ///
    /// # Errors
    ///
    /// If the threshold is out of its range.
    pub fn new(
        corpus: &Corpus,
        params: &ClusterParams,
        scope: Scope,
    ) -> Result<TextClusters, ClusterError> {
        let before = neighbourhoods(corpus, params)?
            .into_iter()
            .map(|before| before.iter().map(|similar| similar.doc).collect());
        Ok(TextClusters(Neighbours::new(corpus, scope, before)))
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

impl Resolver<TextCluster> for TextClusters {
    fn families(&self, corpus: &Corpus, ranking: &Ranking, _: &()) -> Result<Partition, BoxError> {
        self.0.families(corpus, ranking, &())
    }
}

/// For each candidate, the similar ones before it, ascending.
fn neighbourhoods(
    corpus: &Corpus,
    params: &ClusterParams,
) -> Result<Vec<Vec<Similar>>, ClusterError> {
    if !(0.0 < params.threshold && params.threshold <= 1.0) {
        return Err(ClusterError::Threshold(params.threshold));
    }
    let counts = TermCounts::new(corpus, params.analyser);
    Ok(join::join(&join::Vectors::new(&counts), params.threshold - 1e-12))
}
