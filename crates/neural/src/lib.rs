//! Neural methods: texts to vectors, pairs to scores, and what is built on them.
//!
//! `snapshot` reads a model's folder, `text` makes tokens, `encoder` knows the architectures;
//! `fused` computes them on the CPU without padding, and candle computes them elsewhere. `chat`
//! has the language models.
//!
//! Architecture invariant: nothing here reads a label, and a vector or a score is a function of
//! its own text or pair: batches, threads and order never reach it.

pub mod cache;
mod chat;
mod clusters;
mod cross;
mod dense;
mod device;
mod embedder;
mod encoder;
mod engine;
mod error;
mod fused;
mod hnsw;
pub mod hub;
pub mod journal;
mod lengths;
mod listwise;
mod mapped;
mod prepare;
mod skillsight;
mod snapshot;
mod spec;
mod statics;
mod tensor;
#[cfg(test)]
mod testing;
mod text;

pub use chat::{
    ChatArchitecture, ChatSpec, ChatTemplate, ChatWeights, LanguageModel, Matrices, SystemPolicy,
    YesNo, YesNoLayout, YesNoScore, YesNoSpec,
};
pub use clusters::{EmbeddingClusterError, EmbeddingClusters};
pub use cross::CrossEncoder;
pub use dense::Blocked;
pub use device::Device;
pub use embedder::Embedder;
pub use error::NeuralError;
pub use hnsw::{GraphRecall, HnswError, HnswIndex, HnswParams};
pub use lengths::{Lengths, Seen};
pub use listwise::{
    Cut, Form, Listwise, ListwiseCounts, ListwiseSpec, MOST_RETRIES, MOST_SHOWN, Tally,
};
pub use prepare::{Layout, Prepared, TextSpec, TextSpecError};
pub use skillsight::{SkillSight, SkillSightError, SkillSightParams};
pub use spec::{Architecture, CrossSpec, Dtype, EmbedderSpec, PaddingSide, Pooling, Prompts};
pub use text::Truncation;
