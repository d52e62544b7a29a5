//! A model's folder, laid out as on the hub, and whether it is what a card says.

mod config;
mod sentence;
mod weights;

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub(crate) use config::{Config, short, short_of};
pub(crate) use sentence::Sentence;
pub(crate) use weights::Weights;

use crate::{
    error::NeuralError,
    spec::{Architecture, EmbedderSpec, PaddingSide, Prompts},
};

/// An opened folder: small files read, weights mapped.
pub(crate) struct Snapshot {
    dir: PathBuf,
    pub(crate) config: Config,
    pub(crate) weights: Weights,
    pub(crate) sentence: Sentence,
    tokenizer_config: Option<Config>,
}

impl Snapshot {
    /// Opens a folder.
    ///
    /// # Errors
    ///
    /// If it lacks `config.json` or weights, or a file is not what it should be.
    pub(crate) fn open(dir: &Path) -> Result<Snapshot, NeuralError> {
        std::fs::read_dir(dir)
            .map_err(|source| NeuralError::Read { path: dir.to_owned(), source })?;
        let config = dir.join("config.json");
        if !config.is_file() {
            let expected = "`config.json`".to_owned();
            return Err(NeuralError::Absent { dir: dir.to_owned(), expected });
        }
        Ok(Snapshot {
            dir: dir.to_owned(),
            config: Config::read(&config)?,
            weights: Weights::open(dir)?,
            sentence: Sentence::read(dir)?,
            tokenizer_config: optional(&dir.join("tokenizer_config.json"))?,
        })
    }

    /// Where the tokenizer is.
    pub(crate) fn tokenizer(&self) -> PathBuf {
        self.dir.join("tokenizer.json")
    }

    /// The padding token's text, where it is stated.
    pub(crate) fn padding_token(&self) -> Result<Option<String>, NeuralError> {
        let Some(config) = &self.tokenizer_config else { return Ok(None) };
        match config.value("pad_token") {
            // The older form is an object with the text inside.
            Some(serde_json::Value::Object(_)) => match config.object("pad_token")? {
                Some(token) => Ok(token.text("content")?.map(str::to_owned)),
                None => Ok(None),
            },
            _ => Ok(config.text("pad_token")?.map(str::to_owned)),
        }
    }

    /// Refuses an architecture that `config.json` does not have.
    pub(crate) fn check_architecture(&self, card: Architecture) -> Result<(), NeuralError> {
        let types: &[&str] = match card {
            Architecture::Bert => &["bert"],
            Architecture::XlmRoberta => &["xlm-roberta", "roberta"],
            Architecture::Mpnet => &["mpnet"],
            Architecture::ModernBert => &["modernbert"],
            Architecture::Qwen3 => &["qwen3"],
            // Such a folder states no type.
            Architecture::Static => return Ok(()),
        };
        match self.config.text("model_type")? {
            Some(found) if types.contains(&found) => Ok(()),
            found => Err(NeuralError::Contradiction {
                path: self.config.path().to_owned(),
                what: "`model_type`",
                snapshot: found.map_or("absent".to_owned(), |found| format!("`{}`", short(found))),
                card: format!("`{}`", types[0]),
            }),
        }
    }

    /// Refuses a card that contradicts the folder.
    ///
    /// # Errors
    ///
    /// The first contradiction: architecture, pooling, normalisation, prompts, padding side.
    pub(crate) fn check(&self, card: &EmbedderSpec) -> Result<(), NeuralError> {
        self.check_architecture(card.architecture)?;
        self.sentence.check(card)?;
        let Some(config) = &self.tokenizer_config else { return Ok(()) };
        if let Some(side) = config.text("truncation_side")?
            && side != "right"
        {
            return Err(config.wrong("truncation_side", "`right`"));
        }
        let expected = match card.padding_side {
            PaddingSide::Left => "left",
            PaddingSide::Right => "right",
        };
        match config.text("padding_side")? {
            Some(side) if side != expected => Err(NeuralError::Contradiction {
                path: config.path().to_owned(),
                what: "`padding_side`",
                snapshot: format!("`{}`", short(side)),
                card: format!("`{expected}`"),
            }),
            _ => Ok(()),
        }
    }

    /// The name and sha256 of each file that decides what the model computes.
    ///
    /// # Errors
    ///
    /// If a file can't be read.
    pub(crate) fn digests(&self) -> Result<Vec<(String, String)>, NeuralError> {
        let mut all = self.weights.digests();
        for path in [self.config.path().to_owned(), self.tokenizer()] {
            let bytes = std::fs::read(&path)
                .map_err(|source| NeuralError::Read { path: path.clone(), source })?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.push((name, hex::encode(Sha256::digest(bytes))));
        }
        Ok(all)
    }
}

/// A JSON file that may be absent.
pub(crate) fn optional(path: &Path) -> Result<Option<Config>, NeuralError> {
    match path.is_file() {
        true => Config::read(path).map(Some),
        false => Ok(None),
    }
}

impl Sentence {
    fn check(&self, card: &EmbedderSpec) -> Result<(), NeuralError> {
        if let Some((path, pooling)) = &self.pooling
            && *pooling != card.pooling
        {
            return Err(NeuralError::Contradiction {
                path: path.clone(),
                what: "pooling",
                snapshot: format!("`{}`", pooling.name()),
                card: format!("`{}`", card.pooling.name()),
            });
        }
        if let Some(path) = &self.normalises
            && !card.normalise
        {
            return Err(NeuralError::Contradiction {
                path: path.clone(),
                what: "normalisation",
                snapshot: "true".to_owned(),
                card: "false".to_owned(),
            });
        }
        if card.prompts == Prompts::Replaced {
            return Ok(());
        }
        let sides = [
            ("the query prompt", &self.query_prompt, &card.query_prefix),
            ("the document prompt", &self.document_prompt, &card.document_prefix),
        ];
        for (what, stated, prefix) in sides {
            if let Some((path, prompt)) = stated
                && prompt != prefix
            {
                return Err(NeuralError::Contradiction {
                    path: path.clone(),
                    what,
                    snapshot: format!("`{}`", short(prompt)),
                    card: format!("`{}`", short(prefix)),
                });
            }
        }
        Ok(())
    }
}
