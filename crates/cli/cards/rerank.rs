//! A card's second stage.

use std::{collections::BTreeMap, num::NonZeroU32};

use anyhow::{anyhow, bail};
use cleanhit_core::{Depth, Head, Reranker, Rescore};
use serde::{Deserialize, Serialize};

use super::{Stage, kinds, language, notes::Running};
use crate::{Registry, neural::ModelNote};

/// Reorders the best of the first stage: by a scorer, which sees a candidate at a time, or by a
/// reranker, which sees them together.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rerank {
    /// How many candidates are reordered.
    pub(crate) top: NonZeroU32,
    /// What becomes of the others, where a run keeps more than `top`. Such a run is refused if
    /// the card doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<Rest>,
    /// The scorer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scorer: Option<Stage>,
    /// The reranker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reranker: Option<Stage>,
}

/// What becomes of candidates that are not reordered.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rest {
    /// They keep their order behind the reordered.
    Follow,
}

/// A reranker, and what a receipt says of it.
pub(crate) struct BuiltReranker {
    pub(crate) reranker: Box<dyn Reranker>,
    pub(crate) models: BTreeMap<String, ModelNote>,
    /// Counts, while it works.
    pub(crate) running: Running,
}

impl Rerank {
    /// Its scorer or its reranker, whichever it is.
    pub(crate) fn stage(&self) -> anyhow::Result<&Stage> {
        match (&self.scorer, &self.reranker) {
            (Some(stage), None) | (None, Some(stage)) => Ok(stage),
            _ => bail!("expected either a `[rerank.scorer]` or a `[rerank.reranker]` table"),
        }
    }

    /// How many candidates of a pool are ranked, where a run keeps `depth` of `candidates`.
    pub(crate) fn candidates(&self, depth: Depth, candidates: usize) -> anyhow::Result<Depth> {
        let top = Depth(self.top);
        if self.rest.is_none() && top < depth.min(Depth::of_len(candidates)) {
            let (top, depth) = (self.top, depth.get());
            bail!(
                "field `rerank.top`: {top}; expected at least the depth, {depth}, or `rest = \"follow\"`"
            );
        }
        Ok(top.max(depth))
    }

    /// Builds what reorders.
    pub(crate) fn build(&self, registry: &Registry) -> anyhow::Result<BuiltReranker> {
        let stage = self.stage()?;
        let mut built = match &self.reranker {
            Some(stage) => language::reranker(stage)?.ok_or_else(|| {
                let known = language::RERANKERS.join(", ");
                anyhow!("unknown reranker `{}`; known: {known}", stage.kind)
            })?,
            None => {
                let scorer = kinds::build_scorer(stage, registry)?;
                let reranker = Box::new(Rescore(scorer.scorer));
                BuiltReranker { reranker, models: scorer.models, running: scorer.running }
            }
        };
        if self.rest.is_some() {
            built.reranker = Box::new(Head { top: Depth(self.top), reranker: built.reranker });
        }
        Ok(built)
    }
}
