//! `cleanhit compare`: paired differences from the first run.

mod alone;
mod bench;
mod plain;

use std::{num::NonZeroU32, path::PathBuf};

use anyhow::bail;
use cleanhit_io::is_same_file;

use super::{
    Verdict,
    score::{By, Missing, Order, PLAIN, measures_help},
};
use crate::{
    experiment::MOST_REPLICATES,
    locate,
    tables::{Cell, Format},
    ui::Ui,
};

/// Compare rank files or runs with the first, pair by pair
///
/// On a benchmark: differences of Recall, HSR and CleanHit with paired group-bootstrap
/// intervals and unit-level sign tests, corrected over the comparisons. Rank files of
/// different information settings are not compared: --across-settings shows them in
/// separate blocks.
///
/// Examples:
///   cleanhit compare out/bm25 out/rrf
///   cleanhit compare out/bm25 out/rrf out/bm25+title out/rrf+text_cluster --across-settings
///   cleanhit compare a.run b.run --qrels my.qrels -M nDCG@10
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Rank files or methods' folders, the baseline first; with --qrels, TREC runs
    #[arg(value_name = "RANKS", required = true, num_args = 2..)]
    ranks: Vec<PathBuf>,
    /// A bundled benchmark's name, or a folder [default: what the receipt names]
    #[arg(short, long, value_name = "BENCH", conflicts_with = "qrels")]
    bench: Option<String>,
    /// The K of Recall@K, HSR@K and CleanHit@K
    #[arg(short, long, value_name = "K,…", value_delimiter = ',', default_value = "3")]
    k: Vec<NonZeroU32>,
    /// Compare within each group too
    #[arg(long, value_enum, value_name = "GROUP")]
    by: Option<By>,
    /// Show runs of several information settings, each block by itself
    #[arg(long)]
    across_settings: bool,
    /// How tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Bootstrap replicates
    #[arg(long, value_name = "N", default_value = "5000")]
    replicates: NonZeroU32,
    /// Seed of the bootstrap and of sampled tests
    #[arg(long, value_name = "SEED", default_value = "20260910")]
    seed: u64,
    /// TREC qrels, plain, gzip or zstd: compare runs with plain measures
    #[arg(long, value_name = "FILE", help_heading = PLAIN)]
    qrels: Option<PathBuf>,
    /// Plain measures, by their names in ir_measures; `--help` lists them
    #[arg(
        short = 'M',
        long,
        value_name = "MEASURE,…",
        default_value = "nDCG@10,AP",
        requires = "qrels",
        long_help = measures_help(),
        help_heading = PLAIN
    )]
    measures: String,
    /// What a query of the qrels that a run lacks counts
    #[arg(long, value_enum, default_value_t, requires = "qrels", help_heading = PLAIN)]
    missing: Missing,
    /// What orders a run: its scores as trec_eval reads them, or its rank column
    #[arg(long, value_enum, default_value_t, requires = "qrels", help_heading = PLAIN)]
    order: Order,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let files = args.ranks.iter().map(|path| locate::rank_file(path));
    let files = files.collect::<anyhow::Result<Vec<PathBuf>>>()?;
    for (i, file) in files.iter().enumerate() {
        if files[..i].iter().any(|other| is_same_file(other, file)) {
            bail!("{}: is asked for twice; expected each run once", file.display());
        }
    }
    match &args.qrels {
        Some(_) if args.by.is_some() => bail!("`--by` needs a benchmark's cases, not `--qrels`"),
        Some(qrels) => plain::run(args, qrels, ui)?,
        None if MOST_REPLICATES < args.replicates.get() => {
            bail!("`--replicates {}`: expected at most {MOST_REPLICATES}", args.replicates)
        }
        None => bench::run(args, ui)?,
    }
    Ok(Verdict::Done)
}

/// A difference; `~` where it depends on the order of equal scores which sign it has.
fn difference(value: f64, decimals: usize, survives: bool) -> Cell {
    let (mark, decide) = if survives { ("", "") } else { (" ~", "yes") };
    let shown = format!("{value:+.decimals$}{mark}");
    Cell::several(shown, [format!("{value:.6}"), decide.to_owned()])
}

/// An interval of a difference.
fn ends(low: f64, high: f64, decimals: usize) -> Cell {
    let shown = format!("[{low:+.decimals$}, {high:+.decimals$}]");
    Cell::several(shown, [low, high].map(|end| format!("{end:.6}")))
}

/// A p-value; all its digits in CSV.
fn p_value(p: Option<f64>) -> Cell {
    match p {
        None => "–".into(),
        Some(p) if p < 0.0001 => Cell::several("<0.0001", [format!("{p:?}")]),
        Some(p) => Cell::several(format!("{p:.4}"), [format!("{p:?}")]),
    }
}

/// Wins, ties and losses.
fn tally(wins: u64, ties: u64, losses: u64) -> Cell {
    let counts = [wins, ties, losses].map(|count| count.to_string());
    Cell::several(counts.join("/"), counts)
}
