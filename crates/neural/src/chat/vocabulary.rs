//! Text to tokens and back.
//!
//! Architecture invariant: a special token is found in the text of templates and cards alone.
//! What users and documents say is guarded: a mark stands inside whatever reads like a special
//! token there, and is taken out after the text was split. So a text can't end a turn.

use std::path::{Path, PathBuf};

use cleanhit_core::BoxError;
use tokenizers::Tokenizer;

use crate::error::NeuralError;

/// A tokenizer, and the tokens that only templates may use.
pub(super) struct Vocabulary {
    tokenizer: Tokenizer,
    path: PathBuf,
    /// Longest first.
    specials: Vec<(String, u32)>,
    /// The characters that they begin with.
    firsts: Vec<char>,
}

/// Text of templates and of others, with the mark that guards the latter.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    pub(super) text: String,
    pub(super) mark: char,
}

/// The tokens of a text of which the end may be cut.
pub(super) struct Joined {
    /// All of them.
    pub(super) ids: Vec<u32>,
    /// How many belong to what comes before the end.
    pub(super) head: usize,
}

impl Vocabulary {
    /// Takes a tokenizer in its library's JSON.
    ///
    /// # Errors
    ///
    /// If it is none, or has an id that is not below `vocabulary`.
    pub(super) fn new(
        path: &Path,
        json: &[u8],
        vocabulary: usize,
    ) -> Result<Vocabulary, NeuralError> {
        let invalid = |source| NeuralError::TokenizerFile { path: path.to_owned(), source };
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(invalid)?;
        tokenizer.with_truncation(None).map_err(invalid)?;
        tokenizer.with_padding(None);
        // Special tokens are split off here, and nowhere else.
        tokenizer.set_encode_special_tokens(true);
        let mismatch = |problem| NeuralError::TokenizerMismatch { path: path.to_owned(), problem };
        match tokenizer.get_vocab(true).into_values().max() {
            None => return Err(mismatch("it has no tokens".to_owned())),
            Some(id) if vocabulary <= id as usize => {
                return Err(mismatch(format!(
                    "it has the token id {id}, but the model has {vocabulary} token vectors"
                )));
            }
            Some(_) => {}
        }
        let added = tokenizer.get_added_tokens_decoder();
        let mut specials: Vec<(String, u32)> = added
            .iter()
            .filter(|(_, token)| token.special && !token.content.is_empty())
            .map(|(&id, token)| (token.content.clone(), id))
            .collect();
        specials.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        let mut firsts: Vec<char> = specials.iter().filter_map(|s| s.0.chars().next()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        Ok(Vocabulary { tokenizer, path: path.to_owned(), specials, firsts })
    }

    /// Where it was read.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The id of a token.
    pub(super) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The text of a token.
    pub(super) fn token(&self, id: u32) -> Option<String> {
        self.tokenizer.id_to_token(id)
    }

    /// A mark that is in none of the texts.
    ///
    /// # Errors
    ///
    /// If they hold every character for private use.
    pub(super) fn mark(&self, texts: &[&str]) -> Result<char, NeuralError> {
        let specials = self.specials.iter().map(|(special, _)| special.as_str());
        let private =
            ('\u{e000}'..='\u{f8ff}').filter(|&mark| texts.iter().all(|t| !t.contains(mark)));
        let mut private = private.filter(|&mark| specials.clone().all(|t| !t.contains(mark)));
        private.next().ok_or_else(|| NeuralError::Template {
            problem: "the talk holds every character for private use, and needs one".to_owned(),
        })
    }

    /// Puts the mark into whatever reads like a special token.
    pub(super) fn guard(&self, text: &str, mark: char) -> String {
        let mut guarded = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            guarded.push(c);
            if !self.firsts.contains(&c) {
                continue;
            }
            let rest = &text[at..];
            // Also where the text ends within one, and what follows might complete it.
            let likely = |special: &str| special.starts_with(rest) || rest.starts_with(special);
            if self.specials.iter().any(|(special, _)| likely(special)) {
                guarded.push(mark);
            }
        }
        guarded
    }

    /// The tokens of a text.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(super) fn encode(&self, guarded: &Guarded) -> Result<Vec<u32>, BoxError> {
        let mut ids = Vec::new();
        let mut rest = guarded.text.as_str();
        while let Some((before, id, after)) = self.split(rest) {
            self.piece(before, guarded.mark, &mut ids)?;
            ids.push(id);
            rest = after;
        }
        self.piece(rest, guarded.mark, &mut ids)?;
        Ok(ids)
    }

    /// The tokens of a text and of `end`, which holds no special tokens and may join the last
    /// word of the text.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(super) fn encode_joined(&self, guarded: &Guarded, end: &str) -> Result<Joined, BoxError> {
        let mut rest = guarded.text.as_str();
        let mut front = 0;
        while let Some((.., after)) = self.split(rest) {
            front = guarded.text.len() - after.len();
            rest = after;
        }
        let special = Guarded { text: guarded.text[..front].to_owned(), mark: guarded.mark };
        let mut ids = self.encode(&special)?;
        let mut last = rest.replace(guarded.mark, "");
        let boundary = last.len();
        last.push_str(end);
        let encoding = self.tokenizer.encode(last, false)?;
        let head = encoding.get_offsets().iter().take_while(|(_, end)| *end <= boundary).count();
        let head = ids.len() + head;
        ids.extend(encoding.get_ids());
        Ok(Joined { ids, head })
    }

    /// The tokens of a text without special tokens.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(super) fn plain(&self, text: &str) -> Result<Vec<u32>, BoxError> {
        Ok(self.tokenizer.encode_fast(text, false)?.get_ids().to_vec())
    }

    /// The longest front of `text` that has at most `limit` tokens, cut between two of them.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(super) fn front<'a>(&self, text: &'a str, limit: usize) -> Result<&'a str, BoxError> {
        let encoding = self.tokenizer.encode(text, false)?;
        if encoding.len() <= limit {
            return Ok(text);
        }
        // A cut within a character, or one that changes the tokens before it, goes further back.
        for &(_, end) in encoding.get_offsets()[..limit].iter().rev() {
            let front = &text[..text.floor_char_boundary(end)];
            if self.plain(front)?.len() <= limit {
                return Ok(front);
            }
        }
        Ok("")
    }

    /// The text of tokens; special tokens have none.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    pub(super) fn decode(&self, ids: &[u32]) -> Result<String, BoxError> {
        self.tokenizer.decode(ids, true)
    }

    fn piece(&self, text: &str, mark: char, ids: &mut Vec<u32>) -> Result<(), BoxError> {
        if text.is_empty() {
            return Ok(());
        }
        let encoding = match text.contains(mark) {
            true => self.tokenizer.encode_fast(text.replace(mark, ""), false)?,
            false => self.tokenizer.encode_fast(text, false)?,
        };
        ids.extend(encoding.get_ids());
        Ok(())
    }

    /// What is before the first special token, the token, and what is after it.
    fn split<'a>(&self, text: &'a str) -> Option<(&'a str, u32, &'a str)> {
        for (at, c) in text.char_indices() {
            if !self.firsts.contains(&c) {
                continue;
            }
            let rest = &text[at..];
            let found =
                self.specials.iter().find(|(special, _)| rest.starts_with(special.as_str()));
            if let Some((special, id)) = found {
                return Some((&text[..at], *id, &rest[special.len()..]));
            }
        }
        None
    }
}
