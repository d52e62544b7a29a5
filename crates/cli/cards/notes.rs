//! What indexing and answering counted: for the receipt and for warnings.

use std::{collections::BTreeMap, sync::Arc};

use cleanhit_core::Pool;
use cleanhit_neural::{ListwiseCounts, Seen, Tally};
use serde::{Deserialize, Serialize};

use super::pairs::PairCounts;
use crate::neural::ModelNote;

/// Counts of one method over one pool.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notes {
    /// Queries answered.
    pub(crate) queries: usize,
    /// Candidates in the pool.
    pub(crate) candidates: usize,
    /// Candidates without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) empty_candidates: Option<usize>,
    /// Distinct terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) vocabulary: Option<usize>,
    /// Tokens that the analyser left out for their length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_dropped: Option<u64>,
    /// Queries without a term of the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queries_without_a_pool_word: Option<usize>,
    /// Models that computed, by the names of their folders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) models: BTreeMap<String, ModelNote>,
    /// How much of the texts each model saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) truncation: Vec<Truncated>,
    /// Candidates with different texts and the same vector, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alike: Vec<Vec<String>>,
    /// What a graph found of the exact answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) graph: Option<GraphNote>,
    /// What a calibration projected out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<CalibrationNote>,
    /// Queries whose candidates all had one score from the reranker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flat_queries: Option<usize>,
    /// What a listwise reranker was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) listwise: Option<ListwiseNote>,
    /// What a reranker counts while the method runs.
    #[serde(skip)]
    pub(crate) running: Running,
}

/// Counts that are complete only after the run. They are no part of what notes are equal by:
/// [`Notes::settle`] copies them to where they are. With each the name of the model's folder.
#[derive(Clone, Debug, Default)]
pub(crate) enum Running {
    #[default]
    Nothing,
    Pairs(String, Arc<PairCounts>),
    Listwise(String, Tally),
}

impl PartialEq for Running {
    fn eq(&self, _: &Running) -> bool {
        true
    }
}

/// What one model saw.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truncated {
    /// The name of the model's folder.
    pub(crate) model: String,
    /// Candidates' texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) documents: Option<Cut>,
    /// Queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queries: Option<Cut>,
    /// Pairs of a query and a candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<Cut>,
}

/// What was cut of some texts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    /// Texts seen.
    pub(crate) texts: usize,
    /// Texts of which the end was cut off.
    pub(crate) cut: usize,
    /// Tokens of all of them.
    pub(crate) tokens: u64,
    /// Tokens cut off.
    pub(crate) tokens_lost: u64,
}

/// Of the exact best `at` of all queries, those that a graph found.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphNote {
    pub(crate) at: usize,
    pub(crate) found: usize,
    pub(crate) of: usize,
}

/// A calibration's size.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CalibrationNote {
    /// Words whose documents the common directions are estimated from.
    pub(crate) generic_words: usize,
    /// Directions projected out.
    pub(crate) directions: usize,
}

/// What a listwise reranker was answered, and how much of it had to be repaired.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListwiseNote {
    /// Windows of candidates that were ordered.
    pub(crate) windows: usize,
    /// Replies, those to retries included.
    pub(crate) replies: usize,
    pub(crate) retries: usize,
    /// Replies that were broken off.
    pub(crate) unfinished: usize,
    /// Windows whose reply names no candidate.
    pub(crate) non_answers: usize,
    /// Numbers that are there twice.
    pub(crate) repeats: usize,
    /// Numbers of no candidate.
    pub(crate) unknown: usize,
    /// Candidates left out, which follow in the order they were shown in.
    pub(crate) omitted: usize,
    pub(crate) prompt_tokens: u64,
    pub(crate) reply_tokens: u64,
}

impl From<ListwiseCounts> for ListwiseNote {
    fn from(counts: ListwiseCounts) -> ListwiseNote {
        ListwiseNote {
            windows: counts.windows,
            replies: counts.replies,
            retries: counts.retries,
            unfinished: counts.unfinished,
            non_answers: counts.non_answers,
            repeats: counts.repeats,
            unknown: counts.unknown,
            omitted: counts.omitted,
            prompt_tokens: counts.prompt_tokens,
            reply_tokens: counts.reply_tokens,
        }
    }
}

impl From<Seen> for Cut {
    fn from(seen: Seen) -> Cut {
        let Seen { texts, cut, tokens, tokens_lost } = seen;
        Cut { texts, cut, tokens, tokens_lost }
    }
}

impl Cut {
    /// Both together.
    pub(crate) fn plus(self, other: Cut) -> Cut {
        Cut {
            texts: self.texts + other.texts,
            cut: self.cut + other.cut,
            tokens: self.tokens + other.tokens,
            tokens_lost: self.tokens_lost + other.tokens_lost,
        }
    }
}

impl GraphNote {
    /// The share found; 1 where there is nothing to find.
    pub(crate) fn share(self) -> f64 {
        match self.of {
            0 => 1.0,
            of => self.found as f64 / of as f64,
        }
    }
}

impl Notes {
    pub(crate) fn of(pool: &Pool) -> Notes {
        Notes { candidates: pool.len(), ..Notes::default() }
    }

    /// Takes over what a reranker counted, after the run.
    pub(crate) fn settle(&mut self) {
        match std::mem::take(&mut self.running) {
            Running::Nothing => {}
            Running::Pairs(model, counts) => {
                let (documents, queries, pairs) = (None, None, Some(counts.cut()));
                self.truncation.push(Truncated { model, documents, queries, pairs });
                self.flat_queries = Some(counts.flat()).filter(|&flat| 0 < flat);
            }
            Running::Listwise(model, tally) => {
                let counts = tally.counts();
                let (queries, pairs) = (Some(counts.queries.into()), Some(counts.documents.into()));
                self.truncation.push(Truncated { model, documents: None, queries, pairs });
                self.listwise = Some(counts.into());
            }
        }
    }

    /// Adds a fusion part: what every part agrees on stays as it is, counts add up.
    pub(crate) fn absorb(&mut self, part: &Notes) {
        self.tokens_dropped = match (self.tokens_dropped, part.tokens_dropped) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.vocabulary = match (self.vocabulary, part.vocabulary) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        for (name, model) in &part.models {
            self.models.insert(name.clone(), model.clone());
        }
        for truncated in &part.truncation {
            if !self.truncation.contains(truncated) {
                self.truncation.push(truncated.clone());
            }
        }
        self.graph = self.graph.or(part.graph);
        self.calibration = self.calibration.or(part.calibration);
        // Empty for every part is empty for the fusion.
        self.empty_candidates = match (self.empty_candidates, part.empty_candidates) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}
