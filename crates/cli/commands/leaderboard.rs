//! `cleanhit leaderboard`: methods side by side, within their information settings.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use cleanhit_eval::files::{Leaderboard, LeaderboardRow, ResultStatus, check_results};
use serde_json::json;

use super::Verdict;
use crate::{
    folder::{FILES, MethodFolder},
    locate, ranking,
    results::{self, leaderboard_table},
    tables::Format,
    ui::Ui,
};

/// Rank submissions within their information settings
///
/// Every folder is checked and its metrics are computed again; one that fails is an error.
///
/// Examples:
///   cleanhit leaderboard cleanhit-out/samecap-mini -o leaderboard.tsv
///   cleanhit leaderboard submission-a submission-b -b ./my-bench -o leaderboard.tsv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Submission folders, or folders of them
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// A bundled benchmark's name, or a folder [default: what the receipts name]
    #[arg(short, long, value_name = "BENCH")]
    bench: Option<String>,
    /// The leaderboard to write
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let mut folders = Vec::new();
    for dir in &args.dirs {
        folders.extend(results::method_folders(dir)?);
    }
    let first = folders.first().context("there is no folder")?;
    let (bench, cases) = results::bench_and_cases_of(first, args.bench.as_deref())?;
    let mut rows: Vec<LeaderboardRow> = Vec::new();
    if let Some(output) = &args.output {
        let files = folders.iter().flat_map(|folder| FILES.map(|name| folder.join(name)));
        let files: Vec<PathBuf> = files.collect();
        locate::output(output, &bench, files.iter().map(PathBuf::as_path))?;
    }
    let mut declared = Vec::new();
    for folder in &folders {
        let mut errors = Vec::new();
        let read = MethodFolder::read(folder, &mut errors);
        let submission = check_results(&results::on_disk(folder), &bench, &cases, read.rows())
            .map_err(|errors| locate::first(&errors))?;
        errors.extend(read.setting_error(&submission.card));
        if !errors.is_empty() {
            return Err(locate::first(&errors));
        }
        if read.receipt.is_none() {
            declared.push(folder.display().to_string());
        }
        for warning in &submission.warnings {
            ui.warn(&format!("{}: {warning}", folder.display()));
        }
        let status = ResultStatus::MetricRecomputed;
        let row = LeaderboardRow::new(
            &submission.card,
            &submission.metrics,
            submission.intervals.as_ref(),
            status,
        );
        let row = row.with_context(|| format!("{}: has no rates at 3", folder.display()))?;
        let same = |other: &LeaderboardRow| {
            other.method_id == row.method_id && other.setting == row.setting
        };
        // A folder gives a row, in their order.
        if let Some((_, first)) = rows.iter().zip(&folders).find(|(other, _)| same(other)) {
            bail!(
                "{} and {}: both hold method `{}`; expected one of them, or another `method_id` in one",
                first.display(),
                folder.display(),
                row.method_id
            );
        }
        rows.push(row);
    }
    if !declared.is_empty() {
        ui.warn(&format!(
            "no receipt: the information setting is declared, not derived, of {}",
            declared.join(", ")
        ));
    }
    let board = Leaderboard::new(rows);
    if let Some(output) = &args.output {
        ranking::write(output, &board.write())?;
        ui.note(&format!("wrote {}", output.display()));
    }
    match ui.json {
        false => ui.out(&leaderboard_table(&board).render(args.format))?,
        true => {
            let rows: Vec<_> = board
                .rows()
                .iter()
                .map(|row| {
                    let value = |v: cleanhit_eval::files::Value| {
                        json!({ "value": v.point, "ci95": v.interval.map(|i| [i.low, i.high]) })
                    };
                    json!({
                        "setting": row.setting.leaderboard(),
                        "rank_within_setting": row.rank,
                        "method_id": row.method_id,
                        "display_name": row.display_name,
                        "result_status": row.status.as_str(),
                        "recall_at_3": value(row.recall),
                        "hsr_at_3": value(row.hsr),
                        "cleanhit_at_3": value(row.cleanhit),
                    })
                })
                .collect();
            ui.out_json(&json!({ "bench": bench.name, "rows": rows }))?;
        }
    }
    Ok(Verdict::Done)
}
