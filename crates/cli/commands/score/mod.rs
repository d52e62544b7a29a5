//! `cleanhit score`: rank files against a benchmark, or runs against qrels.

mod bench;
mod plain;

use std::path::PathBuf;

use anyhow::bail;
use cleanhit_eval::plain::MEASURES;

use super::Verdict;
use crate::{tables::Format, ui::Ui};

/// Score rank files against a benchmark, or TREC runs against qrels
///
/// Against a benchmark: Recall@K, HSR@K and CleanHit@K with group-bootstrap intervals.
/// Against qrels: the measures of ir_measures, by its names, ties as trec_eval.
///
/// Examples:
///   cleanhit score out/bm25 out/rrf
///   cleanhit score my-ranks.tsv -b ./my-bench --by type
///   cleanhit score my.run --qrels my.qrels -M nDCG@10,AP,RR@10
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Rank files or methods' folders; with --qrels, TREC runs
    #[arg(value_name = "RANKS", required = true)]
    ranks: Vec<PathBuf>,
    /// A bundled benchmark's name, or a folder [default: what the receipt names]
    #[arg(short, long, value_name = "BENCH", conflicts_with = "qrels")]
    bench: Option<String>,
    /// Break the scores down
    #[arg(long, value_enum, value_name = "GROUP")]
    by: Option<By>,
    /// The K of Recall@K, HSR@K and CleanHit@K [default: those of 1,3,5,20 that fit]
    #[arg(short, long, value_name = "K,…", value_delimiter = ',')]
    k: Vec<std::num::NonZeroU32>,
    /// Print every query; with `--format csv` in place of the groups
    #[arg(long)]
    per_query: bool,
    /// How tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Score a query that a rank file lacks as 0, instead of refusing the file
    #[arg(long)]
    partial: bool,
    /// TREC qrels, plain, gzip or zstd: score runs with plain measures
    #[arg(long, value_name = "FILE", help_heading = PLAIN)]
    qrels: Option<PathBuf>,
    /// Plain measures, by their names in ir_measures; `--help` lists them
    #[arg(
        short = 'M',
        long,
        value_name = "MEASURE,…",
        default_value = "nDCG@10,AP,RR@10,P@5,R@20",
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

/// Where help lists what needs `--qrels`.
pub(crate) const PLAIN: &str = "Runs against qrels";

/// Every plain measure, for `--help`.
pub(crate) fn measures_help() -> String {
    let measures = MEASURES.iter().map(|(form, what)| format!("  {form:22} {what}\n"));
    format!(
        "Plain measures, by their names in ir_measures, with `(rel=2)` for a least relevant grade:\n\n{}",
        measures.collect::<String>()
    )
}

/// What scores are broken down by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum By {
    /// Single-query and paired units
    Stratum,
    /// The five mechanisms
    Mechanism,
    /// The twelve conflict types
    Type,
    /// Where units came from, and the scores without each
    Source,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Missing {
    /// 0, in a mean over every query of the qrels
    #[default]
    Zero,
    /// Nothing: the mean is over the queries that the run answers
    Skip,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Order {
    /// Score descending, document id descending
    #[default]
    Trec,
    /// The rank column
    Rank,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    match &args.qrels {
        Some(_) if args.by.is_some() => bail!("`--by` needs a benchmark's cases, not `--qrels`"),
        Some(_) if !args.k.is_empty() => {
            bail!("`-k` is for a benchmark's cases; with `--qrels`, `-M` names the cutoffs")
        }
        Some(qrels) => plain::run(args, qrels, ui)?,
        None => bench::run(args, ui)?,
    }
    Ok(Verdict::Done)
}

pub(crate) use plain::{Source, named, options, unjudged};
