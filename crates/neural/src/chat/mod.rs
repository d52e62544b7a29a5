//! Language models: talks to replies, and questions whose answer is yes or no to scores.
//!
//! `folder` and `source` read weights, `plan` is what they are the weights of, and a `decoder`
//! computes it: `fused` on the CPU and `tensor` on accelerators. `vocabulary` makes tokens and `template` the text they are made of.
//!
//! Architecture invariant: a reply is a function of the talk and a score of its own pair. Where a
//! prompt's computation is split is decided by the prompt, and what is kept of one prompt for the
//! next is what the next would compute; where bits could differ, nothing is kept.

mod decoder;
mod folder;
mod gguf;
mod gguf_tokens;
mod limits;
mod model;
mod plan;
mod prefixes;
mod rotary;
mod source;
mod spec;
mod template;
#[cfg(test)]
mod tests;
mod vocabulary;
mod yes_no;

pub(crate) use decoder::{Decoder, Reading};
pub(crate) use plan::{LayerPlan, Plan};
pub(crate) use source::{MatrixPart, Source};

pub use model::LanguageModel;
pub use spec::{
    ChatArchitecture, ChatSpec, ChatTemplate, ChatWeights, Matrices, SystemPolicy, YesNoLayout,
    YesNoScore, YesNoSpec,
};
pub use yes_no::YesNo;
