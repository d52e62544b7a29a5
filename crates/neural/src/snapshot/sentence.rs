//! What sentence-transformers adds to a model's folder: modules, pooling, prompts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{config::Config, optional};
use crate::{error::NeuralError, spec::Pooling};

/// What the folder says, each with the file that says it. Nothing where it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Sentence {
    pub(crate) pooling: Option<(PathBuf, Pooling)>,
    /// The file that says that vectors are divided by their length.
    pub(crate) normalises: Option<PathBuf>,
    pub(crate) query_prompt: Option<(PathBuf, String)>,
    pub(crate) document_prompt: Option<(PathBuf, String)>,
}

impl Sentence {
    /// Reads what there is in `dir`.
    ///
    /// # Errors
    ///
    /// If a file is not what it should be, or asks for a module or a pooling that is not
    /// computed here.
    pub(crate) fn read(dir: &Path) -> Result<Sentence, NeuralError> {
        let mut sentence = Sentence::default();
        let modules = dir.join("modules.json");
        if modules.is_file() {
            sentence.modules(dir, &modules)?;
        } else if let Some(config) = optional(&dir.join("1_Pooling").join("config.json"))? {
            sentence.pooling = Some((config.path().to_owned(), pooling(&config)?));
        }
        if let Some(config) = optional(&dir.join("config_sentence_transformers.json"))? {
            sentence.prompts(&config)?;
        }
        if let Some(config) = optional(&dir.join("sentence_bert_config.json"))? {
            config.only_flag("do_lower_case", false)?;
        }
        Ok(sentence)
    }

    fn modules(&mut self, dir: &Path, path: &Path) -> Result<(), NeuralError> {
        let bytes = std::fs::read(path)
            .map_err(|source| NeuralError::Read { path: path.to_owned(), source })?;
        let modules: Vec<Value> = serde_json::from_slice(&bytes)
            .map_err(|source| NeuralError::Json { path: path.to_owned(), source })?;
        for module in &modules {
            let text = |field: &str| module.get(field).and_then(Value::as_str).unwrap_or_default();
            // The packages that the classes are in were renamed more than once.
            let kind = text("type").rsplit('.').next().unwrap_or_default();
            let folder = text("path");
            match kind {
                "Transformer" | "StaticEmbedding" if folder.is_empty() => {}
                "Pooling" if Path::new(folder).file_name().is_some_and(|only| only == folder) => {
                    let config = Config::read(&dir.join(folder).join("config.json"))?;
                    self.pooling = Some((config.path().to_owned(), pooling(&config)?));
                }
                "Normalize" => self.normalises = Some(path.to_owned()),
                _ => {
                    return Err(NeuralError::Field {
                        path: path.to_owned(),
                        field: "type".to_owned(),
                        got: format!("`{}` in `{}`", super::short(kind), super::short(folder)),
                        expected: "Transformer or StaticEmbedding in the folder itself, Pooling, Normalize"
                            .to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    fn prompts(&mut self, config: &Config) -> Result<(), NeuralError> {
        let Some(prompts) = config.object("prompts")? else { return Ok(()) };
        // An empty prompt is what the library writes where none was chosen.
        let stated = |name: &str| -> Result<Option<(PathBuf, String)>, NeuralError> {
            let prompt = prompts.text(name)?.filter(|prompt| !prompt.is_empty());
            Ok(prompt.map(|prompt| (config.path().to_owned(), prompt.to_owned())))
        };
        self.query_prompt = stated("query")?;
        self.document_prompt = match stated("document")? {
            Some(prompt) => Some(prompt),
            None => stated("passage")?,
        };
        Ok(())
    }
}

/// The one pooling that a pooling module's configuration asks for, in either of its forms.
fn pooling(config: &Config) -> Result<Pooling, NeuralError> {
    const MODES: [(&str, &str); 6] = [
        ("pooling_mode_cls_token", "cls"),
        ("pooling_mode_mean_tokens", "mean"),
        ("pooling_mode_lasttoken", "lasttoken"),
        ("pooling_mode_max_tokens", "max"),
        ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"),
        ("pooling_mode_weightedmean_tokens", "weightedmean"),
    ];
    config.only_flag("include_prompt", true)?;
    let expected = "one of `cls`, `mean` and `lasttoken`";
    let mut on = Vec::new();
    match config.text("pooling_mode")? {
        Some(mode) => on.push(("pooling_mode", mode)),
        None => {
            for (field, mode) in MODES {
                if config.flag(field)? == Some(true) {
                    on.push((field, mode));
                }
            }
        }
    }
    match on[..] {
        [(_, "cls")] => Ok(Pooling::Cls),
        [(_, "mean")] => Ok(Pooling::Mean),
        [(_, "lasttoken")] => Ok(Pooling::LastToken),
        [] => Err(config.wrong("pooling_mode", expected)),
        [(field, _)] => Err(config.wrong(field, expected)),
        [_, (field, _), ..] => Err(config.wrong(field, "one pooling and not several")),
    }
}

impl Pooling {
    /// As in a card.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pooling::Cls => "cls",
            Pooling::Mean => "mean",
            Pooling::LastToken => "last_token",
        }
    }
}
