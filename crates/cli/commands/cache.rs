//! `cleanhit cache`: the vectors that embedders gave before, and the answers of language models.

use std::{
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use cleanhit_neural::{cache, journal};
use serde_json::json;

use super::Verdict;
use crate::{
    neural::{answers_folder, cache_folder},
    ui::Ui,
};

/// Look at the embedding cache and the answers of language models, and tidy them
///
/// Vectors are in $CLEANHIT_CACHE, or `cleanhit/embeddings` in the user's cache folder; answers
/// are in the folder `answers` beside it. Removing them loses nothing but time.
///
/// Examples:
///   cleanhit cache stat
///   cleanhit cache gc --unused 90
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// List the models whose vectors and answers are kept
    Stat,
    /// Merge files, and remove what is damaged or left over
    Gc {
        /// Also remove the vectors and answers of models that were not used for so many days
        #[arg(long, value_name = "DAYS")]
        unused: Option<u32>,
    },
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::Stat => stat(ui)?,
        Command::Gc { unused } => gc(*unused, ui)?,
    }
    Ok(Verdict::Done)
}

fn stat(ui: &Ui) -> anyhow::Result<()> {
    let root = cache_folder()?;
    let spaces = cache::stat(&root)?;
    let answers = answers_folder()?;
    let journals = journal::stat(&answers)?;
    let idle_days = |used: SystemTime| {
        SystemTime::now().duration_since(used).unwrap_or_default().as_secs() / DAY
    };
    if ui.json {
        let rows: Vec<_> = spaces
            .iter()
            .map(|s| {
                json!({
                    "model": s.space.model, "role": s.space.role, "device": s.space.device,
                    "dim": s.space.dim, "vectors": s.vectors, "files": s.files,
                    "damaged_files": s.damaged, "bytes": s.bytes, "idle_days": idle_days(s.used),
                    "folder": s.folder,
                })
            })
            .collect();
        let kept: Vec<_> = journals
            .iter()
            .map(|j| {
                json!({
                    "name": j.subject.name, "model": j.subject.model, "device": j.subject.device,
                    "answers": j.answers, "damaged_lines": j.damaged, "bytes": j.bytes,
                    "idle_days": idle_days(j.used), "folder": j.folder,
                })
            })
            .collect();
        return ui.out_json(&json!({
            "folder": root, "spaces": rows, "answers_folder": answers, "journals": kept,
        }));
    }
    let mut text = format!("{}\n", root.display());
    for s in &spaces {
        let role = match s.space.role {
            cache::SpaceRole::Query => "query",
            cache::SpaceRole::Document => "document",
        };
        let model: String = s.space.model.chars().take(12).collect();
        write!(
            text,
            "  {model:12} {role:8} {:5} {:>9} vectors of {:<5} {:>8.1} MB, used {} days ago",
            s.space.device,
            s.vectors,
            s.space.dim,
            s.bytes as f64 / 1e6,
            idle_days(s.used)
        )?;
        match s.damaged {
            0 => text.push('\n'),
            n => writeln!(text, ", {n} damaged files")?,
        }
    }
    let bytes: u64 = spaces.iter().map(|s| s.bytes).sum();
    let vectors: usize = spaces.iter().map(|s| s.vectors).sum();
    writeln!(text, "{vectors} vectors, {:.1} MB", bytes as f64 / 1e6)?;
    if !journals.is_empty() {
        writeln!(text, "{}", answers.display())?;
    }
    for j in &journals {
        let model: String = j.subject.model.chars().take(12).collect();
        write!(
            text,
            "  {model:12} {:30} {:5} {:>6} answers {:>8.1} MB, used {} days ago",
            j.subject.name,
            j.subject.device,
            j.answers,
            j.bytes as f64 / 1e6,
            idle_days(j.used)
        )?;
        match j.damaged {
            0 => text.push('\n'),
            n => writeln!(text, ", {n} damaged lines")?,
        }
    }
    ui.out(&text)
}

fn gc(unused: Option<u32>, ui: &Ui) -> anyhow::Result<()> {
    let root = cache_folder()?;
    let unused = unused.map(|days| Duration::from_secs(u64::from(days) * DAY));
    let report = cache::gc(&root, unused)?;
    let answers = answers_folder()?;
    let kept = journal::gc(&answers, unused)?;
    if ui.json {
        return ui.out_json(&json!({
            "folder": root, "spaces": report.spaces, "removed_spaces": report.removed_spaces,
            "merged_files": report.merged_files, "damaged": report.damaged,
            "abandoned": report.abandoned, "bytes_before": report.bytes_before,
            "bytes_after": report.bytes_after, "answers_folder": answers,
            "journals": kept.journals, "removed_journals": kept.removed,
            "damaged_lines": kept.damaged,
        }));
    }
    ui.out(&format!(
        "{}: {:.1} MB, before {:.1} MB; {} files merged, {} damaged parts, {} leftovers and {} unused models removed\n",
        root.display(),
        report.bytes_after as f64 / 1e6,
        report.bytes_before as f64 / 1e6,
        report.merged_files,
        report.damaged,
        report.abandoned,
        report.removed_spaces
    ))?;
    if kept == journal::JournalGc::default() {
        return Ok(());
    }
    ui.out(&format!(
        "{}: {:.1} MB, before {:.1} MB; {} damaged lines and {} unused models removed\n",
        answers.display(),
        kept.bytes_after as f64 / 1e6,
        kept.bytes_before as f64 / 1e6,
        kept.damaged,
        kept.removed
    ))
}

const DAY: u64 = 24 * 60 * 60;
