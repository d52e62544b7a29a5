//! Yes/no rerankers: a language model's next token after a question, as core's [`Scorer`].
//!
//! The prompt is what the layout says. Instruction, query and document are guarded, so that a
//! special token in them is plain text. A document's tokens are those of the text up to its end,
//! as one text with what stands before it; what follows the document is made tokens apart from
//! it, so that a cut document is followed by the same tokens as a whole one.

use std::path::Path;

use cleanhit_core::{BoxError, Message, QueryText, Scorer, Speaker};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::{
    model::LanguageModel,
    spec::{YesNoLayout, YesNoScore, YesNoSpec},
    vocabulary::Guarded,
};
use crate::{
    device::Device,
    embedder::{check_limit, each},
    error::NeuralError,
    text::Truncation,
};

/// A language model that is asked of each document whether it fits the query.
pub struct YesNo {
    spec: YesNoSpec,
    model: LanguageModel,
    yes: u32,
    no: u32,
    digest: String,
}

/// A prompt without its document.
struct Question {
    /// Up to the document.
    head: Guarded,
    /// The tokens from the document's end on.
    tail: Vec<u32>,
    /// Tokens of the query beyond its limit.
    lost: usize,
}

/// A prompt, and how many tokens it would have uncut.
struct Prompt {
    ids: Vec<u32>,
    uncut: usize,
}

/// What stands for the document while the template is rendered. Its ends are no blanks, so that
/// templates that trim find nothing.
const DOCUMENT: &str = "\u{10ffff}document\u{10ffff}";

impl YesNo {
    /// Opens the model in `dir` as `spec` says.
    ///
    /// # Errors
    ///
    /// As [`LanguageModel::open`], and if a limit can't be kept or a word is not one token.
    pub fn open(dir: &Path, spec: &YesNoSpec, device: &Device) -> Result<YesNo, NeuralError> {
        YesNo::with(spec, || LanguageModel::open(dir, &spec.model, device))
    }

    /// As [`YesNo::open`] on the CPU, but computed as accelerators do: what the CPU's own code is
    /// compared with.
    ///
    /// # Errors
    ///
    /// As [`YesNo::open`].
    pub fn open_reference(dir: &Path, spec: &YesNoSpec) -> Result<YesNo, NeuralError> {
        YesNo::with(spec, || LanguageModel::open_reference(dir, &spec.model))
    }

    fn with(
        spec: &YesNoSpec,
        model: impl FnOnce() -> Result<LanguageModel, NeuralError>,
    ) -> Result<YesNo, NeuralError> {
        let most = 1..=spec.model.max_tokens;
        check_limit("max_tokens", spec.max_tokens, &most)?;
        check_limit("max_query_tokens", spec.max_query_tokens, &most)?;
        check_limit("max_document_tokens", spec.max_document_tokens, &most)?;
        let model = model()?;
        let yes = word(&model, "yes", &spec.yes)?;
        let no = word(&model, "no", &spec.no)?;
        if yes == no {
            return Err(NeuralError::Spec {
                field: "no",
                got: format!("`{}`", spec.no),
                expected: "another word than `yes` has".to_owned(),
            });
        }
        let text = serde_json::to_string(spec).unwrap_or_default();
        let digest = Sha256::digest(format!("{}\n{text}\n", model.digest()));
        let opened = YesNo { spec: spec.clone(), model, yes, no, digest: hex::encode(digest) };
        // A query at its limit must leave room for something of the document.
        let around = opened.prompt(&opened.question("")?, "");
        let around = around.map_err(|source| NeuralError::Tokenize { text: 0, source })?.uncut;
        let fewest = around + spec.max_query_tokens + 1;
        if spec.max_tokens < fewest {
            return Err(NeuralError::Spec {
                field: "max_tokens",
                got: spec.max_tokens.to_string(),
                expected: format!("at least {fewest}, so that the document has room"),
            });
        }
        Ok(opened)
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

    /// How much of each prompt is seen.
    ///
    /// # Errors
    ///
    /// If the template refuses the question or the tokenizer fails.
    pub fn truncation(&self, query: &str, texts: &[&str]) -> Result<Vec<Truncation>, NeuralError> {
        let prompts = self.prompts(query, texts)?;
        Ok(prompts.iter().map(|p| Truncation { tokens: p.uncut, kept: p.ids.len() }).collect())
    }

    /// The token ids of each prompt.
    ///
    /// # Errors
    ///
    /// If the template refuses the question or the tokenizer fails.
    pub fn token_ids(&self, query: &str, texts: &[&str]) -> Result<Vec<Vec<u32>>, NeuralError> {
        Ok(self.prompts(query, texts)?.into_iter().map(|prompt| prompt.ids).collect())
    }

    fn prompts(&self, query: &str, texts: &[&str]) -> Result<Vec<Prompt>, NeuralError> {
        let question = self.question(query)?;
        each(texts, |text| self.prompt(&question, text))
    }

    /// The prompt of a query, up to its document and from there on.
    fn question(&self, query: &str) -> Result<Question, NeuralError> {
        let failed = |source| NeuralError::Tokenize { text: 0, source };
        let vocabulary = &self.model.vocabulary;
        let whole = vocabulary.plain(query).map_err(failed)?.len();
        let query = vocabulary.front(query, self.spec.max_query_tokens).map_err(failed)?;
        let lost = whole.saturating_sub(self.spec.max_query_tokens);
        let instruction = &self.spec.instruction;
        let (head, tail, mark) = match &self.spec.layout {
            YesNoLayout::Fixed {
                before_instruction,
                before_query,
                before_document,
                after_document,
            } => {
                let texts = [
                    instruction,
                    query,
                    before_instruction,
                    before_query,
                    before_document,
                    after_document,
                ];
                let mark = vocabulary.mark(&texts)?;
                let guarded = |text: &str| vocabulary.guard(text, mark);
                let (instruction, query) = (guarded(instruction), guarded(query));
                let head = format!(
                    "{before_instruction}{instruction}{before_query}{query}{before_document}"
                );
                (head, after_document.clone(), mark)
            }
            YesNoLayout::Turn {
                system,
                before_instruction,
                before_query,
                before_document,
                after_document,
            } => {
                let user = format!(
                    "{before_instruction}{instruction}{before_query}{query}{before_document}{DOCUMENT}{after_document}"
                );
                let system = system.iter().map(|text| Message::new(Speaker::System, text.as_str()));
                let talk: Vec<Message> =
                    system.chain([Message::new(Speaker::User, user)]).collect();
                let Guarded { text, mark } = self.model.render(&talk)?;
                // The last, as a query may hold the words too.
                let (head, tail) =
                    text.rsplit_once(DOCUMENT).ok_or_else(|| NeuralError::Template {
                        problem: "it leaves out or changes the user's turn".to_owned(),
                    })?;
                (head.to_owned(), tail.to_owned(), mark)
            }
        };
        let tail = vocabulary.encode(&Guarded { text: tail, mark }).map_err(failed)?;
        Ok(Question { head: Guarded { text: head, mark }, tail, lost })
    }

    fn prompt(&self, question: &Question, document: &str) -> Result<Prompt, BoxError> {
        let joined = self.model.vocabulary.encode_joined(&question.head, document)?;
        let mut ids = joined.ids;
        let uncut = ids.len() + question.tail.len() + question.lost;
        let room = self.spec.max_tokens.saturating_sub(joined.head + question.tail.len());
        ids.truncate(joined.head + room.min(self.spec.max_document_tokens));
        ids.extend(&question.tail);
        Ok(Prompt { ids, uncut })
    }

    fn score_of(&self, logits: &[f32]) -> f64 {
        let difference = f64::from(logits[self.yes as usize]) - f64::from(logits[self.no as usize]);
        match self.spec.score {
            YesNoScore::LogitDifference => difference,
            YesNoScore::Probability => 1.0 / (1.0 + libm::exp(-difference)),
        }
    }
}

impl Scorer for YesNo {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let prompts = self.prompts(query.as_str(), texts)?;
        if !self.model.exact() {
            let scores = prompts.iter().map(|prompt| {
                let logits = self.model.logits(&prompt.ids)?;
                Ok(self.score_of(&logits))
            });
            return Ok(scores.collect::<Result<Vec<f64>, NeuralError>>()?);
        }
        let shared = common(&prompts);
        let mut before = self.model.nothing();
        if let (Some(first), 1..) = (prompts.first(), shared) {
            self.model.read(before.as_mut(), &first.ids[..shared])?;
        }
        // Each by one thread at a time, so that a long one doesn't wait behind others.
        let scores: Vec<Result<f64, NeuralError>> = prompts
            .par_iter()
            .with_max_len(1)
            .map(|prompt| {
                let mut past = before.first(shared)?;
                let logits = self.model.read(past.as_mut(), &prompt.ids[shared..])?;
                Ok(self.score_of(&logits))
            })
            .collect();
        Ok(scores.into_iter().collect::<Result<Vec<f64>, NeuralError>>()?)
    }
}

/// Tokens that all prompts begin with, but for the last of the shortest, which is always read.
fn common(prompts: &[Prompt]) -> usize {
    let [first, rest @ ..] = prompts else { return 0 };
    let shared = rest.iter().fold(first.ids.len(), |shared, prompt| {
        let both = prompt.ids.iter().zip(&first.ids[..shared]);
        both.take_while(|(a, b)| a == b).count()
    });
    let shortest = prompts.iter().map(|prompt| prompt.ids.len()).min().unwrap_or(0);
    shared.min(shortest.saturating_sub(1))
}

/// The token of a word.
fn word(model: &LanguageModel, field: &'static str, word: &str) -> Result<u32, NeuralError> {
    match model.text_ids(word)?.as_slice() {
        [id] => Ok(*id),
        ids => Err(NeuralError::Spec {
            field,
            got: format!("`{}`, which is {} tokens", crate::snapshot::short(word), ids.len()),
            expected: "a word that is one token".to_owned(),
        }),
    }
}
