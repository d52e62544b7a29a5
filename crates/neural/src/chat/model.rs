//! Language models: a folder and a card's spec as core's [`ChatModel`].

use std::path::Path;

use cleanhit_core::{BoxError, ChatModel, Decoding, Message, Reply};

use super::spec::ChatSpec;
use crate::{device::Device, error::NeuralError};

/// A model that talks.
pub struct LanguageModel {
    spec: ChatSpec,
    digest: String,
}

impl LanguageModel {
    /// Opens the model in `dir`, a GGUF file or a snapshot laid out as on the hub, as `spec` says.
    ///
    /// # Errors
    ///
    /// If a file is missing, damaged or contradicts the spec, or the device fails.
    pub fn open(
        dir: &Path,
        spec: &ChatSpec,
        device: &Device,
    ) -> Result<LanguageModel, NeuralError> {
        let _ = (spec, device);
        Err(NeuralError::Absent { dir: dir.to_owned(), expected: "model".to_owned() })
    }

    /// The spec it was opened with.
    pub fn spec(&self) -> &ChatSpec {
        &self.spec
    }

    /// The identity of its replies: sha256, in hexadecimal, over what computes them, the spec and
    /// the files that decide them.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl ChatModel for LanguageModel {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        let _ = (messages, decoding);
        Err("no model".into())
    }
}
