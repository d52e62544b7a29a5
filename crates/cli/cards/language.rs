//! The kinds of language models: a card's table to a scorer of pairs, or to a reranker.

use std::{collections::BTreeMap, sync::Arc};

use cleanhit_neural::{
    ChatSpec, Listwise, ListwiseSpec, Prepared, TextSpec, YesNoSpec,
    journal::{Journalled, JournalledScorer},
};
use serde::Deserialize;

use super::{
    Stage,
    kinds::table,
    neural::BuiltScorer,
    notes::Running,
    pairs::{Counted, PairCounts},
    rerank::BuiltReranker,
};
use crate::neural::{ModelTable, shared};

/// Kinds that a reranker's scorer can have.
pub(super) const SCORERS: [&str; 1] = ["yes_no"];

/// Kinds that a reranker can have.
pub(super) const RERANKERS: [&str; 1] = ["listwise"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct YesNoTable {
    model: ModelTable,
    question: YesNoSpec,
    text: TextSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListwiseTable {
    model: ModelTable,
    chat: ChatSpec,
    ask: ListwiseSpec,
    text: TextSpec,
}

/// The weights that a stage names. None if it is of another kind.
pub(super) fn model_of(stage: &Stage) -> anyhow::Result<Option<ModelTable>> {
    Ok(match stage.kind.as_str() {
        "yes_no" => Some(table::<YesNoTable>(stage)?.model),
        "listwise" => Some(table::<ListwiseTable>(stage)?.model),
        _ => None,
    })
}

/// Builds a scorer that asks for yes or no. None if the kind is another.
pub(super) fn scorer(stage: &Stage) -> anyhow::Result<Option<BuiltScorer>> {
    if stage.kind != "yes_no" {
        return Ok(None);
    }
    let YesNoTable { model, question, text } = table(stage)?;
    text.check()?;
    let judge = shared().languages.judge(&model, &question)?;
    let journal = shared().languages.journal(&model.folder, judge.digest())?;
    let models = BTreeMap::from([(model.folder.clone(), model.note(judge.digest()))]);
    let counts = Arc::<PairCounts>::default();
    let counted = Counted {
        seen: Arc::clone(&judge),
        scorer: JournalledScorer::new(judge, journal),
        counts: Arc::clone(&counts),
    };
    let scorer = Box::new(Prepared { model: counted, text });
    Ok(Some(BuiltScorer { scorer, models, running: Running::Pairs(model.folder, counts) }))
}

/// Builds a reranker that asks for an order. None if the kind is another.
pub(super) fn reranker(stage: &Stage) -> anyhow::Result<Option<BuiltReranker>> {
    if stage.kind != "listwise" {
        return Ok(None);
    }
    let ListwiseTable { model, chat, ask, text } = table(stage)?;
    // What is wrong with the card is known before its weights are looked for.
    ask.check()?;
    text.check()?;
    if chat.max_tokens <= ask.max_reply_tokens + ask.max_query_tokens {
        anyhow::bail!(
            "field `chat.max_tokens` is {}; expected more than `max_reply_tokens` and `max_query_tokens` of `ask` together, so that candidates have room",
            chat.max_tokens
        );
    }
    let language = shared().languages.model(&model, &chat)?;
    let journal = shared().languages.journal(&model.folder, language.digest())?;
    let models = BTreeMap::from([(model.folder.clone(), model.note(language.digest()))]);
    let journalled = Journalled::new(Arc::clone(&language), journal);
    let listwise =
        Listwise::new(journalled, language, ask, text).map_err(|err| anyhow::anyhow!("{err}"))?;
    let running = Running::Listwise(model.folder, listwise.tally());
    Ok(Some(BuiltReranker { reranker: Box::new(listwise), models, running }))
}
