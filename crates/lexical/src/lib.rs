//! Lexical methods: BM25 on two engines, TF-IDF over words and characters, and families from
//! texts and titles.
//!
//! Every score is a function of the query's text and the corpus's texts alone: it is the same
//! number whatever the order of the documents and the number of threads, and logarithms are
//! `libm`'s, so that it is the same number everywhere.
//!
//! Architecture invariant: nothing here depends on `cleanhit-eval`, and nothing opens a file.
//!
//! Architecture invariant: no method here sees a candidate's id or a query's. Ties are left to
//! [`cleanhit_core::Ranking`].

mod analysis;
mod bm25;
mod clusters;
mod counts;
mod dictionary;
mod stats;
mod tfidf;
mod titles;

pub use analysis::{Analyser, AnalyserError};
pub use bm25::{
    Bm25Error, Bm25Exact, Bm25Params, Bm25Tantivy, EmptyDocuments, Idf, Norms, QueryTerms,
    TantivyParams,
};
pub use cleanhit_core::Scope;
pub use clusters::{ClusterError, ClusterParams, SimilarPair, TextClusters, similar_pairs};
pub use stats::IndexStats;
pub use tfidf::{Features, Tfidf, TfidfError, TfidfParams, Weighting};
pub use titles::{Titles, TitlesError, title_signature};
