//! Method cards: what a method is built of, with everything that changes a score spelled out.

mod compose;
mod families;
mod kinds;
mod language;
mod neural;
mod notes;
mod pairs;
mod rerank;
mod source;

use std::path::Path;

use anyhow::bail;
use serde::{Deserialize, Serialize};

use crate::{bundled, locate};

pub(crate) use compose::{MethodCard, find_all};
pub(crate) use families::{Resolver, build_resolver};
pub(crate) use kinds::{Built, build_retriever, is_sanity, made_of_labels, table};
pub(crate) use neural::{WeightsOf, weights_of};
pub(crate) use notes::{Cut, Notes};
pub(crate) use rerank::Rerank;
pub(crate) use source::Source;

/// One `models/<name>.toml`. A card has a first stage, or a selector, or both.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Card {
    /// Version of this format: 1.
    pub(crate) format: u32,
    /// The card's name: the stem of its file.
    pub(crate) name: String,
    /// As tables show it.
    pub(crate) title: String,
    /// What it does, in a sentence or two.
    pub(crate) about: String,
    /// The first stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retrieve: Option<Stage>,
    /// The second stage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rerank: Option<Rerank>,
    /// The selector, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) select: Option<Stage>,
    /// What a submission has to declare.
    #[serde(default)]
    pub(crate) declare: Declare,
    /// Where it was read from.
    #[serde(skip)]
    pub(crate) source: Source,
}

/// A kind and its parameters, which the kind's own type checks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub(crate) struct Stage {
    /// A built-in or registered kind.
    pub(crate) kind: String,
    /// The table without `kind`.
    pub(crate) params: toml::Table,
}

/// Free text for `method_card.json`. None of it may be empty.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Declare {
    pub(crate) code_url: String,
    pub(crate) code_commit: String,
    pub(crate) checkpoint: String,
    pub(crate) training_data: String,
    pub(crate) development_use: String,
    pub(crate) preprocessing: String,
    pub(crate) compute: String,
}

impl Default for Declare {
    fn default() -> Declare {
        Declare {
            code_url: "built into cleanhit".into(),
            code_commit: format!("cleanhit {}", env!("CARGO_PKG_VERSION")),
            checkpoint: "none".into(),
            training_data: "none".into(),
            development_use: "none".into(),
            preprocessing: "the pool's rendered text, unchanged".into(),
            compute: "CPU".into(),
        }
    }
}

impl TryFrom<toml::Table> for Stage {
    type Error = &'static str;

    fn try_from(mut params: toml::Table) -> Result<Stage, &'static str> {
        match params.remove("kind") {
            Some(toml::Value::String(kind)) => Ok(Stage { kind, params }),
            _ => Err("expected a string `kind`"),
        }
    }
}

impl From<Stage> for toml::Table {
    fn from(stage: Stage) -> toml::Table {
        let mut table = stage.params;
        table.insert("kind".into(), toml::Value::String(stage.kind));
        table
    }
}

impl Card {
    /// Finds a card: a path if it holds a `/`, starts with `.` or ends in `.toml`, else the
    /// name of a bundled card.
    pub(crate) fn find(name: &str) -> anyhow::Result<Card> {
        if locate::is_path(name) || name.ends_with(".toml") {
            let text = locate::read_text(Path::new(name), "a method card")?;
            let card = Card::parse(name, None, &text)?;
            card.is_no_other(name)?;
            return Ok(card);
        }
        match bundled::card(name) {
            Some(text) => Card::parse(&format!("models/{name}.toml"), Some(name), text),
            None => bail!(
                "unknown method `{name}`; known: {}; or a path to a card, such as ./{name}.toml",
                bundled::card_names().join(", ")
            ),
        }
    }

    /// Refuses a card that has the name of a bundled card and is another: its results would pass
    /// for those of the bundled one.
    fn is_no_other(&self, file: &str) -> anyhow::Result<()> {
        let Some(text) = bundled::card(&self.name) else { return Ok(()) };
        let bundled = Card::parse(file, None, text)?;
        if serde_json::to_value(self)? != serde_json::to_value(&bundled)? {
            bail!(
                "{file}: field `name`: `{0}` is the name of a bundled card, which this card differs \
                 from; expected another name, such as `my-{0}`",
                self.name
            );
        }
        Ok(())
    }

    /// Reads a card; `file` is for messages, and `stem` is the name it must have.
    pub(crate) fn parse(file: &str, stem: Option<&str>, text: &str) -> anyhow::Result<Card> {
        let mut card: Card =
            toml::from_str(text).map_err(|err| locate::toml_error(file, text, &err))?;
        card.source = Source::new(file, text);
        if card.format != 1 {
            bail!("{file}: field `format`: {}; expected 1", card.format);
        }
        if stem.is_some_and(|stem| card.name != stem) {
            bail!("{file}: field `name`: `{}`; expected the file's name", card.name);
        }
        // The name is a folder's name and a column of rank files.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if card.name.is_empty() || card.name.starts_with('.') || !card.name.chars().all(plain) {
            bail!(
                "{file}: field `name`: `{}`; expected letters, digits, `-`, `_` and `.`",
                card.name.escape_debug()
            );
        }
        if card.retrieve.is_none() && card.select.is_none() {
            bail!("{file}: expected a `[retrieve]` or a `[select]` table");
        }
        if card.rerank.is_some() && card.retrieve.is_none() {
            bail!("{file}: `[rerank]` needs a `[retrieve]` table before it");
        }
        if let Some(rerank) = &card.rerank {
            rerank.stage().map_err(|error| card.source.at("rerank", error))?;
        }
        let declared = &card.declare;
        for (field, value) in [
            ("title", &card.title),
            ("about", &card.about),
            ("declare.code_url", &declared.code_url),
            ("declare.code_commit", &declared.code_commit),
            ("declare.checkpoint", &declared.checkpoint),
            ("declare.training_data", &declared.training_data),
            ("declare.development_use", &declared.development_use),
            ("declare.preprocessing", &declared.preprocessing),
            ("declare.compute", &declared.compute),
        ] {
            if value.trim().is_empty() {
                bail!("{file}: field `{field}` is empty; expected text");
            }
            let broken = |c: char| c.is_control() && !(field == "about" && c == '\n');
            if value.chars().any(broken) {
                bail!("{file}: field `{field}` holds a control character; expected one line");
            }
        }
        Ok(card)
    }
}
