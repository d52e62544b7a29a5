//! Language models: a folder and a card's spec as core's [`ChatModel`].

use std::{path::Path, sync::Arc};

use candle_core::Tensor;
use candle_transformers::generation::{LogitsProcessor, Sampling};
use cleanhit_core::{BoxError, ChatModel, Decoding, Message, Reply};
use sha2::{Digest, Sha256};

use super::{
    decoder::{Decoder, Reading},
    folder::Folder,
    plan::Plan,
    prefixes::Prefixes,
    source::Source,
    spec::ChatSpec,
    template::Template,
    vocabulary::{Guarded, Vocabulary},
};
use crate::{
    device::Device, embedder::check_limit, error::NeuralError, fused::Causal, spec::Dtype,
    tensor::CausalTensors,
};

/// A model that talks.
pub struct LanguageModel {
    spec: ChatSpec,
    pub(super) vocabulary: Vocabulary,
    template: Template,
    decoder: Box<dyn Decoder>,
    /// Tokens that end a reply, ascending.
    ends: Vec<u32>,
    prefixes: Prefixes,
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
        match device.is_cpu() {
            true => LanguageModel::with(dir, spec, |plan, source| {
                Ok(Box::new(Arc::new(Causal::new(plan, source)?)))
            }),
            false => LanguageModel::with(dir, spec, |plan, source| {
                let decoder = CausalTensors::new(plan, source, device.candle(), spec.dtype)?;
                Ok(Box::new(Arc::new(decoder)))
            }),
        }
    }

    /// As [`LanguageModel::open`] on the CPU, but computed as accelerators do: what the CPU's own
    /// code is compared with.
    ///
    /// # Errors
    ///
    /// As [`LanguageModel::open`].
    pub fn open_reference(dir: &Path, spec: &ChatSpec) -> Result<LanguageModel, NeuralError> {
        let cpu = Device::cpu();
        LanguageModel::with(dir, spec, |plan, source| {
            let decoder = CausalTensors::new(plan, source, cpu.candle(), Dtype::F32)?;
            Ok(Box::new(Arc::new(decoder)))
        })
    }

    fn with(
        dir: &Path,
        spec: &ChatSpec,
        decoder: impl FnOnce(&Plan, &Source) -> Result<Box<dyn Decoder>, NeuralError>,
    ) -> Result<LanguageModel, NeuralError> {
        let folder = Folder::open(dir, spec)?;
        check_limit("max_tokens", spec.max_tokens, &(2..=folder.plan.max_tokens))?;
        let template = Template::new(
            folder.template,
            folder.bos,
            folder.eos,
            spec.thinking,
            spec.system.clone(),
        )?;
        if let Some(id) = folder.ends.iter().find(|id| folder.plan.vocabulary <= **id as usize) {
            return Err(NeuralError::TokenizerMismatch {
                path: folder.vocabulary.path().to_owned(),
                problem: format!("a reply ends with the token id {id}, which the model lacks"),
            });
        }
        let decoder = decoder(&folder.plan, &folder.source)?;
        let mut all = Sha256::new();
        let text = serde_json::to_string(spec).unwrap_or_default();
        all.update(format!("{}\n{text}\n", decoder.name()));
        for (name, sha256) in &folder.digests {
            all.update(format!("{name} {sha256}\n"));
        }
        Ok(LanguageModel {
            spec: spec.clone(),
            vocabulary: folder.vocabulary,
            template,
            decoder,
            ends: folder.ends,
            prefixes: Prefixes::default(),
            digest: hex::encode(all.finalize()),
        })
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

    /// The tokens of a talk up to where the reply begins.
    ///
    /// # Errors
    ///
    /// If the template refuses the talk or the tokenizer fails.
    pub fn token_ids(&self, messages: &[Message]) -> Result<Vec<u32>, NeuralError> {
        let guarded = self.render(messages)?;
        let ids = self.vocabulary.encode(&guarded);
        ids.map_err(|source| NeuralError::Tokenize { text: 0, source })
    }

    /// The tokens of a text, in which special tokens are not looked for.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub fn text_ids(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        let ids = self.vocabulary.plain(text);
        ids.map_err(|source| NeuralError::Tokenize { text: 0, source })
    }

    /// The logits of each token of the vocabulary after `ids`, which are not empty.
    ///
    /// # Errors
    ///
    /// If there are no ids, more than the model reads, or one that is not a token.
    pub fn logits(&self, ids: &[u32]) -> Result<Vec<f32>, NeuralError> {
        let mut past = self.nothing();
        self.read(past.as_mut(), ids)
    }

    /// The text of a talk.
    pub(super) fn render(&self, messages: &[Message]) -> Result<Guarded, NeuralError> {
        self.template.render(messages, &self.vocabulary)
    }

    /// Nothing read.
    pub(super) fn nothing(&self) -> Box<dyn Reading> {
        self.decoder.begin()
    }

    /// Whether what is read of one prompt serves another, and several threads read at once.
    pub(super) fn exact(&self) -> bool {
        self.decoder.exact()
    }

    /// Reads ids after what is in `past`, and gives the logits of what follows.
    pub(super) fn read(
        &self,
        past: &mut dyn Reading,
        ids: &[u32],
    ) -> Result<Vec<f32>, NeuralError> {
        self.check(past.tokens() + ids.len(), 0)?;
        let size = self.decoder.vocabulary();
        if ids.is_empty() || ids.iter().any(|id| size <= *id as usize) {
            return Err(NeuralError::TokenizerMismatch {
                path: self.vocabulary.path().to_owned(),
                problem: "a prompt has no tokens, or one that the model lacks".to_owned(),
            });
        }
        let logits = past.read(ids)?;
        match logits.iter().all(|logit| logit.is_finite()) {
            true => Ok(logits),
            false => Err(NeuralError::NotFinite),
        }
    }

    /// Refuses what is longer than the card's limit.
    fn check(&self, prompt: usize, reply: usize) -> Result<(), NeuralError> {
        match prompt.saturating_add(reply) <= self.spec.max_tokens {
            true => Ok(()),
            false => Err(NeuralError::TooLong { prompt, reply, limit: self.spec.max_tokens }),
        }
    }
}

impl ChatModel for LanguageModel {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        let wrong = |field, got: String, expected: &str| {
            Box::new(NeuralError::Spec { field, got, expected: expected.to_owned() })
        };
        if decoding.max_tokens == 0 {
            return Err(wrong("max_tokens", "0".to_owned(), "at least 1"));
        }
        if !(decoding.temperature.is_finite() && 0.0 <= decoding.temperature) {
            let got = decoding.temperature.to_string();
            return Err(wrong("temperature", got, "a finite number from 0"));
        }
        let ids = self.token_ids(messages)?;
        self.check(ids.len(), decoding.max_tokens)?;
        let mut draws = match decoding.temperature {
            0.0 => None,
            temperature => {
                let all = Sampling::All { temperature };
                Some(LogitsProcessor::from_sampling(decoding.seed, all))
            }
        };
        let known = match self.exact() {
            true => self.prefixes.find(&ids)?,
            false => None,
        };
        let mut past = known.unwrap_or_else(|| self.nothing());
        let rest = &ids[past.tokens()..];
        let mut logits = self.read(past.as_mut(), rest)?;
        let (mut said, mut tokens, mut finished) = (Vec::new(), 0, false);
        while tokens < decoding.max_tokens {
            let next = match &mut draws {
                None => likeliest(&logits),
                Some(draws) => {
                    let logits = Tensor::new(logits.as_slice(), &candle_core::Device::Cpu)?;
                    draws.sample(&logits)?
                }
            };
            tokens += 1;
            if self.ends.binary_search(&next).is_ok() {
                finished = true;
                break;
            }
            said.push(next);
            if tokens < decoding.max_tokens {
                logits = self.read(past.as_mut(), &[next])?;
            }
        }
        let text = self.vocabulary.decode(&said)?;
        let prompt_tokens = ids.len();
        if self.exact() {
            self.prefixes.keep(ids, past);
        }
        Ok(Reply { text, finished, prompt_tokens, reply_tokens: tokens })
    }
}

/// The id of the highest logit; of equal ones the lowest.
fn likeliest(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if logits[best] < *logit {
            best = id;
        }
    }
    u32::try_from(best).unwrap_or(u32::MAX)
}
