//! `rrf+released`: a method card followed by a selector card.

use anyhow::bail;
use cleanhit_eval::files::InformationSetting;
use serde::{Deserialize, Serialize};

use super::{Card, Declare, Rerank, Resolver, Source, Stage, build_resolver, is_sanity};
use crate::bundled;

/// A whole method: what one rank file is made by.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodCard {
    /// As rank files write it: the card's name, or two names joined by `+`.
    pub(crate) method_id: String,
    /// As tables show it.
    pub(crate) title: String,
    /// What it does.
    pub(crate) about: String,
    /// The first stage.
    pub(crate) retrieve: Stage,
    /// The second stage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rerank: Option<Rerank>,
    /// The selector, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) select: Option<Stage>,
    /// What a submission has to declare.
    pub(crate) declare: Declare,
    /// Where the card was read from, and where its selector.
    #[serde(skip)]
    pub(crate) source: Source,
    #[serde(skip)]
    pub(crate) selector_source: Source,
}

impl MethodCard {
    /// The method of this id, if the binary has it: a bundled card, or two.
    pub(crate) fn bundled(method_id: &str) -> Option<MethodCard> {
        let known = method_id.split('+').all(|name| bundled::card(name).is_some());
        if known { MethodCard::find(method_id).ok() } else { None }
    }

    /// What the method knows besides text; it follows from what it is built of.
    pub(crate) fn setting(&self) -> anyhow::Result<InformationSetting> {
        let resolver = self.select.as_ref().map(build_resolver).transpose()?;
        Ok(match resolver {
            _ if is_sanity(&self.retrieve.kind) => InformationSetting::Diagnostic,
            None | Some(Resolver::Title) => InformationSetting::PublicTextOnly,
            Some(Resolver::TextCluster(_)) => InformationSetting::PublicTextCluster,
            Some(Resolver::Released) => InformationSetting::ReleasedFamily,
        })
    }

    /// Finds `card`, or `card+selector`.
    pub(crate) fn find(name: &str) -> anyhow::Result<MethodCard> {
        let (first, selector) = match parts(name) {
            Some((first, selector)) => (first, Some(selector)),
            None => (name, None),
        };
        let card = Card::find(first)?;
        let Some(retrieve) = card.retrieve else {
            bail!(
                "`{first}` is a selector, not a method; put a method before it, such as `rrf+{first}`"
            );
        };
        let mut method = MethodCard {
            method_id: card.name,
            title: card.title,
            about: card.about,
            retrieve,
            rerank: card.rerank,
            select: card.select,
            declare: card.declare,
            selector_source: card.source.clone(),
            source: card.source,
        };
        if let Some(selector) = selector {
            method.select(Card::find(selector)?)?;
        }
        Ok(method)
    }

    fn select(&mut self, selector: Card) -> anyhow::Result<()> {
        let Some(select) = selector.select.filter(|_| selector.retrieve.is_none()) else {
            bail!(
                "`{}` is not a selector; expected `title`, `text_cluster`, `text_cluster_pool`, \
                 `released`, or a card with only a `[select]` table",
                selector.name
            );
        };
        if self.select.is_some() {
            bail!("`{}` has a selector already; only one can follow a method", self.method_id);
        }
        self.method_id = format!("{}+{}", self.method_id, selector.name);
        self.title = format!("{} + {}", self.title, selector.title);
        self.about = format!("{} {}", self.about, selector.about);
        self.select = Some(select);
        self.selector_source = selector.source;
        Ok(())
    }
}

/// The two cards of `card+selector`: one of them is a bundled card, or the first is a path that
/// ends in `.toml`. A path may hold a `+`; names of bundled cards don't.
fn parts(name: &str) -> Option<(&str, &str)> {
    let splits = name.match_indices('+').map(|(at, _)| (&name[..at], &name[at + 1..]));
    let known = |(first, selector): &(&str, &str)| {
        bundled::card(first).is_some()
            || bundled::card(selector).is_some()
            || first.ends_with(".toml")
    };
    splits.into_iter().find(known)
}

/// Finds every card, and refuses two of one name.
pub(crate) fn find_all(names: &[String]) -> anyhow::Result<Vec<MethodCard>> {
    let mut cards: Vec<MethodCard> = Vec::new();
    for name in names {
        let card = MethodCard::find(name)?;
        if cards.iter().any(|other| other.method_id == card.method_id) {
            bail!("method `{}` is asked for twice; expected each method once", card.method_id);
        }
        cards.push(card);
    }
    Ok(cards)
}
