//! Language models and their journals, each opened once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use cleanhit_neural::{
    ChatSpec, LanguageModel, YesNo, YesNoSpec,
    journal::{Journal, Subject},
};

use super::{ModelTable, answers_folder, shared};

/// The language models that cards have asked for.
#[derive(Default)]
pub(crate) struct Languages {
    models: Opened<LanguageModel>,
    judges: Opened<YesNo>,
    journals: Opened<Journal>,
}

/// What is open, by what names it.
struct Opened<T>(Mutex<BTreeMap<String, Arc<T>>>);

impl<T> Default for Opened<T> {
    fn default() -> Opened<T> {
        Opened(Mutex::default())
    }
}

impl<T> Opened<T> {
    /// What has this key, opened if nothing has it yet.
    fn get(&self, key: String, open: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Arc<T>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = known.get(&key) {
            return Ok(Arc::clone(open));
        }
        let opened = Arc::new(open()?);
        known.insert(key, Arc::clone(&opened));
        Ok(opened)
    }
}

impl Languages {
    /// The language model of a card's tables.
    pub(crate) fn model(
        &self,
        table: &ModelTable,
        spec: &ChatSpec,
    ) -> anyhow::Result<Arc<LanguageModel>> {
        self.models.get(serde_json::to_string(&(table, spec))?, || {
            let located = shared().weights(table)?;
            Ok(LanguageModel::open(&located.folder, spec, shared().device())?)
        })
    }

    /// The yes/no reranker of a card's tables.
    pub(crate) fn judge(&self, table: &ModelTable, spec: &YesNoSpec) -> anyhow::Result<Arc<YesNo>> {
        self.judges.get(serde_json::to_string(&(table, spec))?, || {
            let located = shared().weights(table)?;
            Ok(YesNo::open(&located.folder, spec, shared().device())?)
        })
    }

    /// The journal of a model with this digest.
    pub(crate) fn journal(&self, name: &str, digest: &str) -> anyhow::Result<Arc<Journal>> {
        self.journals.get(digest.to_owned(), || {
            let device = shared().device_kind();
            let subject = Subject { name: name.to_owned(), model: digest.to_owned(), device };
            Ok(Journal::open(&answers_folder()?, &subject)?)
        })
    }
}
