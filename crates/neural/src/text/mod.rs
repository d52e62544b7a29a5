//! Texts to tokens: prefixes, special tokens, and the cut at a card's limit.
//!
//! Architecture invariant: the truncation and padding that a `tokenizer.json` carries are taken
//! out when it is read. What is cut is what the card says, and padding is never made.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use cleanhit_core::BoxError;
use tokenizers::{
    Encoding, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Token, Tokenizer,
};

use crate::{error::NeuralError, snapshot::Config};

/// A text or a pair as the encoder sees it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tokens {
    pub(crate) ids: Vec<u32>,
    /// Which segment each is in.
    pub(crate) segments: Vec<u32>,
}

/// How much of a text a model sees, in tokens, special tokens included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Truncation {
    /// Tokens of the whole text.
    pub tokens: usize,
    /// Tokens of what is kept.
    pub kept: usize,
}

/// A tokenizer that cuts where it is told to and nowhere else.
pub(crate) struct Texts {
    tokenizer: Tokenizer,
    path: PathBuf,
    /// Whether the tokens before a blank don't depend on what follows it.
    blanks_part: bool,
}

/// Bytes of text tried for a token that is wanted; few texts need more.
const BYTES_A_TOKEN: usize = 12;

impl Texts {
    /// Reads `tokenizer.json`, and takes its truncation and padding out.
    ///
    /// # Errors
    ///
    /// If it can't be read, or has an id that is not below `vocabulary`.
    pub(crate) fn open(path: &Path, vocabulary: usize) -> Result<Texts, NeuralError> {
        let bytes = std::fs::read(path)
            .map_err(|source| NeuralError::Read { path: path.to_owned(), source })?;
        let invalid = |source| NeuralError::TokenizerFile { path: path.to_owned(), source };
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(invalid)?;
        tokenizer.with_truncation(None).map_err(invalid)?;
        tokenizer.with_padding(None);
        let blanks_part = blanks_part(&tokenizer);
        let texts = Texts { tokenizer, path: path.to_owned(), blanks_part };
        let ids = texts.tokenizer.get_vocab(true).into_values();
        match ids.max() {
            None => Err(texts.mismatch("it has no tokens".to_owned())),
            Some(id) if vocabulary <= id as usize => Err(texts.mismatch(format!(
                "it has the token id {id}, but the model has {vocabulary} token vectors"
            ))),
            Some(_) => Ok(texts),
        }
    }

    /// Refuses a tokenizer in which `token` has another id than `config` says.
    ///
    /// # Errors
    ///
    /// If both are stated and differ.
    pub(crate) fn check_padding(
        &self,
        token: Option<&str>,
        config: &Config,
    ) -> Result<(), NeuralError> {
        match (token, config.id("pad_token_id")?) {
            (Some(token), Some(stated)) if self.tokenizer.token_to_id(token) != Some(stated) => {
                let found = self.tokenizer.token_to_id(token);
                let found = found.map_or("none".to_owned(), |id| id.to_string());
                Err(self.mismatch(format!(
                    "its padding token `{token}` has the id {found}, but the model says {stated}"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Special tokens that a text or a pair gets.
    pub(crate) fn added(&self, pair: bool) -> usize {
        self.tokenizer
            .get_post_processor()
            .map_or(0, |processor| tokenizers::PostProcessor::added_tokens(processor, pair))
    }

    /// The id of the unknown token, where the tokenizer's model has one.
    ///
    /// # Errors
    ///
    /// If `tokenizer.json` can't be read again.
    pub(crate) fn unknown(&self) -> Result<Option<u32>, NeuralError> {
        let Some(model) = Config::read(&self.path)?.object("model")? else { return Ok(None) };
        match model.text("unk_token")? {
            Some(token) => Ok(self.tokenizer.token_to_id(token)),
            None => model.id("unk_id"),
        }
    }

    /// The ids of `prefix` and `text`, without special tokens and uncut.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(crate) fn plain(&self, prefix: &str, text: &str) -> Result<Vec<u32>, BoxError> {
        let encoding = match prefix.is_empty() {
            true => self.tokenizer.encode_fast(text, false)?,
            false => self.tokenizer.encode_fast(format!("{prefix}{text}"), false)?,
        };
        Ok(encoding.get_ids().to_vec())
    }

    /// The first `wanted` of [`Texts::plain`]: of a long text only its beginning is read.
    fn first(&self, prefix: &str, text: &str, wanted: usize) -> Result<Vec<u32>, BoxError> {
        let mut size = wanted.saturating_mul(BYTES_A_TOKEN);
        while self.blanks_part && size < text.len() {
            let front = &text[..text.floor_char_boundary(size)];
            if let Some(blank) = front.rfind([' ', '\n']) {
                let mut ids = self.plain(prefix, &text[..blank])?;
                if wanted <= ids.len() {
                    ids.truncate(wanted);
                    return Ok(ids);
                }
            }
            size = size.saturating_mul(4);
        }
        let mut ids = self.plain(prefix, text)?;
        ids.truncate(wanted);
        Ok(ids)
    }

    /// How much is kept of a text by [`Texts::single`].
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(crate) fn seen(
        &self,
        prefix: &str,
        text: &str,
        max_tokens: usize,
    ) -> Result<Truncation, BoxError> {
        let tokens = self.plain(prefix, text)?.len() + self.added(false);
        Ok(Truncation { tokens, kept: tokens.min(max_tokens) })
    }

    /// How much is kept of a pair by [`Texts::pair`].
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(crate) fn pair_seen(
        &self,
        query: &[u32],
        document: &str,
        max_tokens: usize,
    ) -> Result<Truncation, BoxError> {
        let tokens = self.plain("", document)?.len() + query.len() + self.added(true);
        Ok(Truncation { tokens, kept: tokens.min(max_tokens) })
    }

    /// A text with its special tokens, cut at its end to `max_tokens` of which at least
    /// `added(false)` are special.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(crate) fn single(
        &self,
        prefix: &str,
        text: &str,
        max_tokens: usize,
    ) -> Result<Tokens, BoxError> {
        let ids = self.first(prefix, text, max_tokens.saturating_sub(self.added(false)))?;
        Ok(self.tokenizer.post_process(encoding(&ids, 0), None, true)?.into())
    }

    /// A pair with its special tokens. The document is cut at its end, so that the pair has at
    /// most `max_tokens`; the query is taken as it is.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(crate) fn pair(
        &self,
        query: &[u32],
        document: &str,
        max_tokens: usize,
    ) -> Result<Tokens, BoxError> {
        let taken = self.added(true) + query.len();
        let ids = encoding(&self.first("", document, max_tokens.saturating_sub(taken))?, 1);
        Ok(self.tokenizer.post_process(encoding(query, 0), Some(ids), true)?.into())
    }

    fn mismatch(&self, problem: String) -> NeuralError {
        NeuralError::TokenizerMismatch { path: self.path.clone(), problem }
    }
}

/// True of BERT's own steps, which take each word for itself, unless an added token holds a blank.
fn blanks_part(tokenizer: &Tokenizer) -> bool {
    let steps = matches!(
        (tokenizer.get_normalizer(), tokenizer.get_pre_tokenizer(), tokenizer.get_model()),
        (
            None | Some(NormalizerWrapper::BertNormalizer(_)),
            Some(PreTokenizerWrapper::BertPreTokenizer(_)),
            ModelWrapper::WordPiece(_)
        )
    );
    let added = tokenizer.get_added_tokens_decoder();
    steps && added.values().all(|token| !token.content.contains(char::is_whitespace))
}

/// Ids in the tokenizer's own form. Their texts are left out: special tokens don't depend on them.
fn encoding(ids: &[u32], segment: u32) -> Encoding {
    let tokens = ids.iter().map(|&id| Token::new(id, String::new(), (0, 0))).collect();
    Encoding::from_tokens(tokens, segment)
}

impl From<Encoding> for Tokens {
    fn from(encoding: Encoding) -> Tokens {
        Tokens { ids: encoding.get_ids().to_vec(), segments: encoding.get_type_ids().to_vec() }
    }
}
