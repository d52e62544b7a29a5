//! BM25: the parameters that make it one method rather than another, and two engines.

mod columns;
mod exact;
mod on_tantivy;
mod params;
mod top;

pub use exact::Bm25Exact;
pub use on_tantivy::{Bm25Tantivy, TantivyParams};
pub use params::{Bm25Error, Bm25Params, EmptyDocuments, Idf, Norms, QueryTerms};
