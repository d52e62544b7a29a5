//! Text-only retrieval: pools, queries, rankings, runs, and the traits methods implement.
//!
//! Architecture invariant: this crate contains no labels. It has no type for a helpful
//! skill, a sibling or a relevance grade, and no crate that ranks depends on one that does.
//! A method can therefore not read a label by mistake.
//!
//! Architecture invariant: no file is opened here, and no type here has a serial form.

mod chat;
pub mod contract;
mod dense;
mod embedding;
mod fusion;
mod method;
mod neighbours;
mod pool;
mod ranking;
mod run;
mod sanity;
mod scorer;
mod select;
mod setting;
mod ties;

pub use chat::{ChatModel, Decoding, Message, Reply, Speaker};
pub use dense::{Dense, DenseError, InOrder, Products, Similarity, in_order, rank_rows};
pub use embedding::{EmbeddingError, EmbeddingModel, Embeddings, Role, embed_checked};
pub use fusion::{Fused, Fusion, Normalize, RoundRobin, Rrf, Weighted};
pub use method::{Candidates, Method, MethodError, Outcome, RunOptions};
pub use neighbours::{Neighbours, OtherCorpus, Scope};
pub use pool::{Candidate, CandidateId, Corpus, DocIx, Pool, PoolError};
pub use ranking::{Cutoff, Depth, Hit, Ranking, Score, ScoreError};
pub use run::{Query, QueryId, QueryText, Rankings, Run};
pub use sanity::{ByLength, Constant, IdOrder, Random};
pub use scorer::{BoxError, Exhaustive, Head, Reranker, Rescore, Retriever, Scorer, per_query};
pub use select::{Diagnosed, Partition, Released, Representative, Resolver, Selector};
pub use setting::{
    BenchmarkTrained, Diagnostic, OtherDeclared, ReleasedFamily, Setting, TextCluster, TextOnly,
};
pub use ties::{TieKeys, TieRule};
