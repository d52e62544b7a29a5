//! What the neural kinds share in one run of the program: the device, the folders, and the
//! models that are open.

mod encoder;
mod folders;
mod language;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::EmbeddingModel;
use cleanhit_neural::{
    Device,
    hub::{FetchProgress, HubSettings, Located, ModelSource, locate_or_fetch},
};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use crate::{cards::Card, ui::Ui};

pub(crate) use encoder::{DenseTable, Encoder};
pub(crate) use folders::{answers_folder, cache_folder, models_folder};
pub(crate) use language::Languages;

/// Opened once; a plug-in's scorers reach it too.
static SHARED: OnceLock<Shared> = OnceLock::new();

/// The device, and the encoders that cards have asked for.
pub(crate) struct Shared {
    device: Device,
    pub(crate) ui: Ui,
    encoders: Mutex<BTreeMap<String, Arc<Encoder>>>,
    pub(crate) languages: Languages,
}

/// Where a card's weights come from: a `[….model]` table.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelTable {
    /// The folder's name under `$CLEANHIT_MODELS`.
    pub(crate) folder: String,
    /// The repository on the hub.
    pub(crate) repository: String,
    /// A commit of it.
    pub(crate) revision: String,
    /// SHA-256 of files, by their paths.
    pub(crate) sha256: BTreeMap<String, String>,
}

/// What a receipt says of a model.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelNote {
    /// SHA-256 over the files and settings that decide its numbers.
    pub(crate) digest: String,
    pub(crate) repository: String,
    pub(crate) revision: String,
    /// `cpu`, `cuda` or `metal`.
    pub(crate) device: String,
}

/// Opens the device and keeps it for all that comes after. The first call counts.
pub(crate) fn start(device: &str, ui: Ui) -> anyhow::Result<()> {
    let device = Device::open(device)?;
    SHARED.get_or_init(|| Shared {
        device,
        ui,
        encoders: Mutex::default(),
        languages: Languages::default(),
    });
    Ok(())
}

/// What was started; the CPU, quietly, if nothing was.
pub(crate) fn shared() -> &'static Shared {
    SHARED.get_or_init(|| Shared {
        device: Device::cpu(),
        ui: Ui::new(false, true, false),
        encoders: Mutex::default(),
        languages: Languages::default(),
    })
}

/// The embedder of a card, with its cache: for plug-ins that score by vectors.
///
/// `card` is a bundled card's name or a path to one, whose `[retrieve]` kind is `dense`.
///
/// # Errors
///
/// If the card names no embedder, or its weights can't be opened.
pub fn embedder(card: &str) -> Result<Arc<dyn EmbeddingModel>, cleanhit_core::BoxError> {
    let encoder = shared().encoder(card).map_err(|err| format!("{err:#}").replace('\n', " "))?;
    Ok(Arc::clone(&encoder.model))
}

impl Shared {
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// `cpu`, `cuda` or `metal`.
    pub(crate) fn device_kind(&self) -> String {
        let name = self.device.to_string();
        name.split(':').next().unwrap_or_default().to_owned()
    }

    /// The encoder of a card.
    pub(crate) fn encoder(&self, name: &str) -> anyhow::Result<Arc<Encoder>> {
        let card = Card::find(name)?;
        let alone = card.rerank.is_none() && card.select.is_none();
        let stage = card.retrieve.filter(|stage| alone && stage.kind == "dense");
        let Some(stage) = stage else {
            bail!("`{name}` is no embedder; expected a card of kind `dense` alone");
        };
        self.encoder_of(crate::cards::table::<DenseTable>(&stage)?)
    }

    /// The encoder of a `dense` table, opened once.
    pub(crate) fn encoder_of(&self, table: DenseTable) -> anyhow::Result<Arc<Encoder>> {
        let key = toml::to_string(&table).context("cannot write the table")?;
        let known = || self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = known().get(&key) {
            return Ok(Arc::clone(encoder));
        }
        let encoder = Arc::new(Encoder::open(table, self)?);
        known().insert(key, Arc::clone(&encoder));
        Ok(encoder)
    }

    /// A model's folder, fetched if it is nowhere.
    pub(crate) fn weights(&self, model: &ModelTable) -> anyhow::Result<Located> {
        model.check()?;
        let (models, settings) = (models_folder()?, hub_settings()?);
        let bar = Bar { ui: &self.ui, bar: Mutex::new(None) };
        Ok(locate_or_fetch(&model.folder, &model.source(), &models, &settings, &bar)?)
    }
}

impl ModelTable {
    pub(crate) fn source(&self) -> ModelSource {
        ModelSource {
            repository: self.repository.clone(),
            revision: self.revision.clone(),
            sha256: self.sha256.clone(),
        }
    }

    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let folder = &self.folder;
        if folder.is_empty() || folder.starts_with('.') || !folder.chars().all(plain) {
            bail!(
                "field `model.folder`: `{}`; expected letters, digits, `-`, `_` and `.`",
                folder.escape_debug()
            );
        }
        self.source().check().map_err(|err| anyhow!("`[model]`: {err}"))
    }

    pub(crate) fn note(&self, digest: &str) -> ModelNote {
        ModelNote {
            digest: digest.to_owned(),
            repository: self.repository.clone(),
            revision: self.revision.clone(),
            device: shared().device_kind(),
        }
    }
}

/// The hub's own variables.
pub(crate) fn hub_settings() -> anyhow::Result<HubSettings> {
    let settings = HubSettings::from_env(|name| std::env::var(name).ok());
    settings.context(
        "there is no home folder for the hub's cache; expected HOME or HF_HOME to name one",
    )
}

/// A fetch on a progress bar.
pub(crate) struct Bar<'a> {
    pub(crate) ui: &'a Ui,
    pub(crate) bar: Mutex<Option<ProgressBar>>,
}

impl Bar<'_> {
    fn with(&self, f: impl FnOnce(&mut Option<ProgressBar>)) {
        f(&mut self.bar.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl FetchProgress for Bar<'_> {
    fn begin(&self, file: &str, bytes: u64) {
        self.with(|bar| {
            let total = usize::try_from(bytes).unwrap_or(usize::MAX);
            *bar = Some(self.ui.bar(total, file));
        });
    }

    fn advance(&self, bytes: u64) {
        self.with(|bar| bar.iter().for_each(|bar| bar.inc(bytes)));
    }

    fn end(&self) {
        self.with(|bar| bar.take().iter().for_each(ProgressBar::finish_and_clear));
    }
}
