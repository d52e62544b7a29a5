//! What a method card says of a model: everything that changes a vector or a score.

use serde::{Deserialize, Serialize};

/// How a text becomes a vector. No field has a default.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderSpec {
    /// Checked against the snapshot's `config.json`.
    pub architecture: Architecture,
    /// How token vectors become one vector; checked against the snapshot's pooling module.
    pub pooling: Pooling,
    /// Where the reference puts padding. Padding is never computed here, so this is checked
    /// against the snapshot's tokenizer and changes no vector.
    pub padding_side: PaddingSide,
    /// Tokens kept of a text, special tokens included; the rest is cut off at the end.
    pub max_tokens: usize,
    /// Put before a query, as it is.
    pub query_prefix: String,
    /// Put before a document, as it is.
    pub document_prefix: String,
    /// How the prefixes relate to prompts that the snapshot states.
    pub prompts: Prompts,
    /// Whether vectors are divided by their Euclidean length.
    pub normalise: bool,
    /// The type that accelerators compute in. The CPU computes in f32.
    pub dtype: Dtype,
}

/// How a query and a document become one score. No field has a default.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CrossSpec {
    /// Checked against the snapshot's `config.json`.
    pub architecture: Architecture,
    /// Tokens kept of a pair, special tokens included; the document is cut at its end.
    pub max_tokens: usize,
    /// Tokens kept of the query, so that something of the document is always seen.
    pub max_query_tokens: usize,
    /// The type that accelerators compute in. The CPU computes in f32.
    pub dtype: Dtype,
}

/// The architectures there are.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// BERT: learned positions, layer norm after each block.
    Bert,
    /// XLM-RoBERTa, and RoBERTa: BERT with positions that start after the padding id.
    XlmRoberta,
    /// MPNet: BERT without segments and with relative position biases.
    Mpnet,
    /// ModernBERT: rotary positions, gated feed-forward, local and global attention.
    ModernBert,
    /// Qwen3: a causal decoder with grouped heads, rotary positions and RMS norms.
    Qwen3,
    /// A vector for each token of the vocabulary, averaged.
    Static,
}

/// How the vectors of a text's tokens become one vector.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The first token's vector.
    Cls,
    /// The average, special tokens included.
    Mean,
    /// The last token's vector.
    LastToken,
}

/// Where the reference implementation pads the shorter texts of a batch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaddingSide {
    /// Before the text.
    Left,
    /// After the text.
    Right,
}

/// How a card's prefixes relate to the prompts in `config_sentence_transformers.json`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompts {
    /// They are the same; where they differ, the snapshot is refused.
    Same,
    /// The card's stand in place of the snapshot's.
    Replaced,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dtype {
    /// 32 bits.
    F32,
    /// 16 bits, 5 of them exponent.
    F16,
    /// 16 bits, 8 of them exponent.
    Bf16,
}
