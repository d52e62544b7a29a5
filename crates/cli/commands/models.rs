//! `cleanhit models`: the method cards, and the weights they name.

use std::{fmt::Write as _, path::Path, sync::Mutex};

use anyhow::bail;
use cleanhit_neural::hub;
use serde_json::json;

use super::Verdict;
use crate::{
    bundled,
    cards::{Card, WeightsOf, weights_of},
    locate,
    neural::{Bar, hub_settings, models_folder, shared},
    ui::Ui,
};

/// List and show method cards; fetch and check their weights
///
/// Weights are looked for in $CLEANHIT_MODELS/<folder>/ (default: `cleanhit-models` in the user's
/// cache folder), then in the hub's cache, then on the hub. HF_HOME, HF_HUB_CACHE, HF_ENDPOINT,
/// HF_TOKEN and HF_HUB_OFFLINE mean what they mean to the hub's own tools.
///
/// Examples:
///   cleanhit models list
///   cleanhit models show bm25_exact > ./my-bm25.toml
///   cleanhit models fetch all-minilm-l6-v2
///   cleanhit models check all-minilm-l6-v2
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// List the bundled cards: methods, sanity methods and selectors
    List,
    /// Print a card
    Show {
        /// A bundled card's name, or a path
        #[arg(value_name = "CARD")]
        card: String,
    },
    /// Fetch a card's weights from the hub into its cache, unless they are there already
    Fetch {
        /// A bundled card's name, or a path
        #[arg(value_name = "CARD")]
        card: String,
    },
    /// Open a card's weights and compare its golden texts with the reference
    Check {
        /// A bundled card's name, or a path
        #[arg(value_name = "CARD")]
        card: String,
    },
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::List => list(ui)?,
        Command::Show { card } => show(card, ui)?,
        Command::Fetch { card } => fetch(card, ui)?,
        Command::Check { card } => return check(card, ui),
    }
    Ok(Verdict::Done)
}

fn list(ui: &Ui) -> anyhow::Result<()> {
    let cards =
        bundled::card_names().iter().map(|name| Card::find(name)).collect::<Result<Vec<_>, _>>()?;
    if ui.json {
        let rows: Vec<_> = cards
            .iter()
            .map(|card| json!({ "name": card.name, "title": card.title, "about": card.about, "selector": card.retrieve.is_none() }))
            .collect();
        return ui.out_json(&rows);
    }
    let mut text = String::new();
    for (selector, heading) in [(false, "Methods"), (true, "Selectors, written METHOD+SELECTOR")] {
        writeln!(text, "{heading}")?;
        for card in cards.iter().filter(|card| card.retrieve.is_none() == selector) {
            writeln!(text, "  {:26} {}", card.name, card.about)?;
        }
    }
    ui.out(&text)
}

fn show(name: &str, ui: &Ui) -> anyhow::Result<()> {
    let card = Card::find(name)?;
    if ui.json {
        return ui.out_json(&card);
    }
    match bundled::card(name) {
        Some(text) => ui.out(text),
        None => ui.out(&locate::read_text(Path::new(name), "a method card")?),
    }
}

fn fetch(name: &str, ui: &Ui) -> anyhow::Result<()> {
    let weights = weights(name)?;
    let (models, settings) = (models_folder()?, hub_settings()?);
    let mut rows = Vec::new();
    for WeightsOf { model, .. } in weights {
        model.check()?;
        if let Some(there) = hub::locate(&model.folder, &model.source(), &models, &settings)? {
            if !ui.json {
                ui.out(&format!("{}: there already\n", there.folder.display()))?;
            }
            rows.push(json!({
                "model": model.folder, "repository": model.repository, "fetched": false,
                "folder": there.folder,
            }));
            continue;
        }
        if settings.offline {
            bail!("HF_HUB_OFFLINE is set; expected a network to fetch `{name}` over");
        }
        let bar = Bar { ui, bar: Mutex::new(None) };
        let fetched = hub::fetch(&model.folder, &model.source(), &models, &settings, &bar)?;
        if !model.source().is_pinned() {
            let commit = &fetched.commit;
            ui.warn(&format!("`{}` is no commit; it is {commit} today", model.revision));
        }
        if !ui.json {
            let files = fetched.sha256.iter().map(|(file, sha256)| format!("{sha256}  {file}\n"));
            let text: String = files.collect();
            ui.out(&format!("{} at {}\n{text}", fetched.folder.display(), fetched.commit))?;
        }
        rows.push(json!({
            "model": model.folder, "repository": model.repository, "fetched": true,
            "commit": fetched.commit, "folder": fetched.folder, "sha256": fetched.sha256,
        }));
    }
    if ui.json { ui.out_json(&rows) } else { Ok(()) }
}

fn check(name: &str, ui: &Ui) -> anyhow::Result<Verdict> {
    let mut failures = Vec::new();
    let mut held = Vec::new();
    for weights in weights(name)? {
        let place = shared().weights(&weights.model)?.folder.display().to_string();
        let open = weights.open()?;
        match open.differences.as_slice() {
            [] => held.push(json!({
                "model": weights.model.folder, "folder": place, "digest": open.digest,
                "golden_texts": open.golden,
            })),
            differences => failures
                .extend(differences.iter().map(|d| format!("{}: {d}", weights.model.folder))),
        }
    }
    if ui.json {
        ui.out_json(&json!({ "ok": failures.is_empty(), "held": held, "failures": failures }))?;
    } else {
        let mut text = String::new();
        for row in &held {
            let field = |name: &str| row[name].to_string().trim_matches('"').to_owned();
            let (model, folder) = (field("model"), field("folder"));
            let (golden, digest) = (field("golden_texts"), field("digest"));
            writeln!(text, "ok    {model}: {folder}, {golden} golden texts, digest {digest}")?;
        }
        for failure in &failures {
            writeln!(text, "FAIL  {failure}")?;
        }
        ui.out(&text)?;
    }
    Ok(if failures.is_empty() { Verdict::Done } else { Verdict::Failed })
}

/// The weights that a card names, of which there are some.
fn weights(name: &str) -> anyhow::Result<Vec<WeightsOf>> {
    let weights = weights_of(&Card::find(name)?)?;
    if weights.is_empty() {
        bail!(
            "`{name}` has no weights; expected a card with a `model` table, such as `all-minilm-l6-v2`"
        );
    }
    Ok(weights)
}
