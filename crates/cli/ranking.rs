//! A method's folder: the rank file, its card, its receipt and its timing.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use cleanhit_eval::files;
use cleanhit_io::{counted, sha256_hex, write_atomic, write_ranks};

use crate::{
    cards::MethodCard,
    locate,
    method::{Job, Ranked},
    receipt::{Receipt, Timing},
};

/// What was written for one method.
pub(crate) struct Written {
    pub(crate) method_id: String,
    pub(crate) ranked: Ranked,
    pub(crate) card: files::MethodCard,
    pub(crate) folder: PathBuf,
    pub(crate) ranks: PathBuf,
    pub(crate) sha256: String,
}

/// The rank file of the leaderboard's depth.
pub(crate) const STOCK_FILE: &str = "top20.tsv";

/// A rank file of another depth.
pub(crate) const DEEP_FILE: &str = "ranks.tsv";

/// A graph that finds less of the exact answers is worth a warning.
const LEAST_RECALL: f64 = 0.99;

/// The name of a rank file of this depth.
fn rank_file_name(depth: usize) -> &'static str {
    match depth {
        20 => STOCK_FILE,
        _ => DEEP_FILE,
    }
}

/// Runs every method, and only then writes their folders under `output`: a method that fails
/// leaves nothing behind.
pub(crate) fn rank_all_to(
    job: &Job<'_>,
    cards: &[MethodCard],
    output: &Path,
) -> anyhow::Result<Vec<Written>> {
    let names =
        [rank_file_name(job.depth.get()), "method_card.json", "receipt.json", "timing.json"];
    for card in cards {
        for name in names {
            let file = output.join(&card.method_id).join(name);
            locate::output(&file, job.bench, [card.source.path(), card.selector_source.path()])?;
        }
    }
    let mut ranked = Vec::new();
    for card in cards {
        let started = Instant::now();
        let one = job.rank(card)?;
        warn(job, card, &one);
        ranked.push((card, one, started.elapsed()));
    }
    ranked
        .into_iter()
        .map(|(card, one, elapsed)| write_method(job, card, one, elapsed, output))
        .collect()
}

/// Writes a method's folder; the receipt, which names the others' hashes, comes last.
fn write_method(
    job: &Job<'_>,
    card: &MethodCard,
    ranked: Ranked,
    elapsed: Duration,
    output: &Path,
) -> anyhow::Result<Written> {
    let bytes = write_ranks(&card.method_id, job.bench, &ranked.rankings);
    let sha256 = sha256_hex(&bytes);
    let receipt = Receipt::new(card, job.bench, &ranked, job.depth, job.ties, &sha256)?;
    let name = rank_file_name(job.depth.get());
    let card_file = method_card(card, &ranked, name, &sha256, &job.ties.to_string());
    let timing = Timing::new(elapsed, ranked.rankings.iter().len());
    let folder = output.join(&card.method_id);
    let ranks = folder.join(name);
    // What an earlier run left here is about other ranks; it left a receipt too.
    let ours = folder.join("receipt.json").is_file();
    for stale in [STOCK_FILE, DEEP_FILE, "metrics.json", "intervals.json", "selection.json"] {
        let path = folder.join(stale);
        if ours && stale != name && path.is_file() {
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    write(&ranks, &bytes)?;
    write(&folder.join("method_card.json"), &card_file.write())?;
    write_json(&folder.join("timing.json"), &timing)?;
    write_json(&folder.join("receipt.json"), &receipt)?;
    Ok(Written {
        method_id: card.method_id.clone(),
        ranked,
        card: card_file,
        folder,
        ranks,
        sha256,
    })
}

/// Writes a file atomically.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    Ok(write_atomic(path, bytes)?)
}

/// Writes a value as JSON, atomically.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write(path, text.as_bytes())
}

fn warn(job: &Job<'_>, card: &MethodCard, ranked: &Ranked) {
    for (pool, notes) in &ranked.notes {
        let of = format!("method `{}`, pool `{pool}`", card.method_id);
        if notes.candidates == 1 {
            job.ui.warn(&format!("{of}: the pool has one candidate, so every ranking is the same"));
        }
        if notes.empty_candidates == Some(notes.candidates) {
            job.ui.warn(&format!("{of}: every candidate is empty, so the order is that of ties"));
        } else if let Some(unmatched @ 1..) = notes.queries_without_a_pool_word {
            job.ui.warn(&format!(
                "{of}: {unmatched} of {} with no word of the pool, ordered as ties are",
                counted(notes.queries, "query")
            ));
        }
    }
    for (pool, notes) in &ranked.notes {
        let of = format!("method `{}`, pool `{pool}`", card.method_id);
        if let Some(graph) = notes.graph.filter(|graph| graph.share() < LEAST_RECALL) {
            job.ui.warn(&format!(
                "{of}: the graph finds {:.3} of the exact first {}; expected at least {LEAST_RECALL}; raise `search_width`",
                graph.share(),
                graph.at
            ));
        }
        if !notes.alike.is_empty() {
            let n: usize = notes.alike.iter().map(Vec::len).sum();
            job.ui.warn(&format!(
                "{of}: {n} candidates share a vector with one of another text, because they differ only beyond what the model sees"
            ));
        }
    }
    for (pool, notes) in &ranked.notes {
        let of = format!("method `{}`, pool `{pool}`", card.method_id);
        if let Some(flat) = notes.flat_queries {
            job.ui.warn(&format!(
                "{of}: {} whose candidates the reranker gave one score, ordered as ties are",
                counted(flat, "query")
            ));
        }
        if let Some(list) = notes.listwise.filter(|list| 0 < list.non_answers) {
            job.ui.warn(&format!(
                "{of}: {} of {} got no order from the model and stand as the first stage ranked them",
                list.non_answers,
                counted(list.windows, "window")
            ));
        }
    }
    if 0 < ranked.padded {
        job.ui.warn(&format!(
            "method `{}`: {} with fewer families than ranks, filled by members that were not selected",
            card.method_id,
            counted(ranked.padded, "query")
        ));
    }
}

/// A method's card as `rank` and `run` write it.
pub(crate) fn method_card(
    card: &MethodCard,
    ranked: &Ranked,
    rank_file: &str,
    rank_sha256: &str,
    ties: &str,
) -> files::MethodCard {
    let declare = &card.declare;
    files::MethodCard {
        schema: files::CARD_SCHEMA.into(),
        method_id: card.method_id.clone(),
        method_name: card.title.clone(),
        information_setting: ranked.setting.card().into(),
        code_url: declare.code_url.clone(),
        code_commit: declare.code_commit.clone(),
        checkpoint: declare.checkpoint.clone(),
        training_data: declare.training_data.clone(),
        development_use: declare.development_use.clone(),
        preprocessing: format!("{}; ties: {ties}", declare.preprocessing),
        compute: declare.compute.clone(),
        rank_file: rank_file.into(),
        rank_sha256: rank_sha256.into(),
        metrics_file: "metrics.json".into(),
    }
}
