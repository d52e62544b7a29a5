//! Why a model can't be opened or can't answer.

use std::{io, path::PathBuf};

use cleanhit_core::{BoxError, EmbeddingError};

/// Why a model can't be opened or can't answer. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeuralError {
    /// A file of the snapshot can't be read.
    #[error("{}: cannot read: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that the model needs is not in the snapshot.
    #[error("{}: no {expected}", .dir.display())]
    Absent {
        /// The snapshot's folder.
        dir: PathBuf,
        /// The file or files looked for.
        expected: String,
    },
    /// A file is not the JSON it should be.
    #[error("{}: {source}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Says line and column.
        source: serde_json::Error,
    },
    /// A field of a file has a value that can't be used.
    #[error("{}: field `{field}` is {got}; expected {expected}", .path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field.
        field: String,
        /// Its value.
        got: String,
        /// What can be used.
        expected: String,
    },
    /// The card and the snapshot say different things.
    #[error("{}: {what} is {snapshot}, but the card says {card}", .path.display())]
    Contradiction {
        /// The file of the snapshot.
        path: PathBuf,
        /// What they differ on.
        what: &'static str,
        /// What the snapshot says.
        snapshot: String,
        /// What the card says.
        card: String,
    },
    /// A field of a card has a value that can't be used.
    #[error("card: field `{field}` is {got}; expected {expected}")]
    Spec {
        /// The field.
        field: &'static str,
        /// Its value.
        got: String,
        /// What can be used.
        expected: String,
    },
    /// A weight file is not safetensors, or is cut short.
    #[error("{}: not a whole safetensors file: {source}", .path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        source: safetensors::SafeTensorError,
    },
    /// A file is not GGUF, or is cut short.
    #[error("{}: not a whole GGUF file: {problem}", .path.display())]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A chat template can't be read, or refuses a talk.
    #[error("the chat template: {problem}")]
    Template {
        /// What the template's reader said, on one line.
        problem: String,
    },
    /// A prompt and the reply that is asked for are longer than the model reads.
    #[error(
        "the prompt has {prompt} tokens and the reply may have {reply}; expected at most {limit} together"
    )]
    TooLong {
        /// Tokens of the prompt.
        prompt: usize,
        /// Tokens that the reply may have.
        reply: usize,
        /// The card's limit.
        limit: usize,
    },
    /// A value that a model computed is not a number.
    #[error("the model computed a logit that is not finite")]
    NotFinite,
    /// A tensor is not there.
    #[error("{}: no tensor `{name}`", .path.display())]
    TensorAbsent {
        /// The weight file, or the folder of several.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor has another shape than the configuration says.
    #[error("{}: tensor `{name}` has shape {got:?}; expected {expected:?}", .path.display())]
    TensorShape {
        /// The weight file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its shape.
        got: Vec<usize>,
        /// What the configuration says.
        expected: Vec<usize>,
    },
    /// A tensor's numbers have a type that is not read.
    #[error("{}: tensor `{name}` has type {got}; expected F32, F16, BF16 or, in a static table, I8 and whole numbers", .path.display())]
    TensorType {
        /// The weight file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its type.
        got: String,
    },
    /// A tensor holds a NaN, an infinity, or an index that points nowhere.
    #[error("{}: tensor `{name}` holds a value that can't be used: not finite, or out of range", .path.display())]
    TensorValue {
        /// The weight file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// The tokenizer can't be read.
    #[error("{}: not a tokenizer: {source}", .path.display())]
    TokenizerFile {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        source: BoxError,
    },
    /// The tokenizer belongs to another model.
    #[error("{}: {problem}; expected the tokenizer of this model", .path.display())]
    TokenizerMismatch {
        /// The file.
        path: PathBuf,
        /// How that is known.
        problem: String,
    },
    /// A text can't be made tokens.
    #[error("text {text}: cannot be tokenized: {source}")]
    Tokenize {
        /// Position of the text among those given.
        text: usize,
        /// What the tokenizer said.
        source: BoxError,
    },
    /// A device's name is unknown.
    #[error("device `{device}` is unknown; expected `cpu`, `cuda`, `cuda:N` or `metal`")]
    DeviceName {
        /// The name given.
        device: String,
    },
    /// This build can't use the device.
    #[error(
        "device `{device}`: this build lacks the feature `{feature}`; expected a build with `--features {feature}`"
    )]
    DeviceFeature {
        /// The name given.
        device: String,
        /// The cargo feature.
        feature: &'static str,
    },
    /// The driver or the device is missing.
    #[error("device `{device}`: cannot be opened, is its driver installed? {source}")]
    DeviceOpen {
        /// The name given.
        device: String,
        /// What the driver said.
        source: candle_core::Error,
    },
    /// A computation failed on the device.
    #[error("the device failed: {0}")]
    Compute(#[from] candle_core::Error),
    /// The vectors are unusable.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}
