//! `cleanhit rank`: methods over a benchmark's pools. Reads no label file.

use std::{collections::BTreeSet, num::NonZeroU32, path::PathBuf};

use anyhow::bail;
use cleanhit_core::{Depth, QueryId, TieRule};
use cleanhit_io::{Benchmark, FolderLock};
use serde_json::json;

use super::Verdict;
use crate::{Registry, bundled::DEFAULT_BENCH, cards, locate, method::Job, ranking, ui::Ui};

/// Rank a benchmark's pools with one or more methods; reads no labels
///
/// Writes DIR/<method>/{top20.tsv, method_card.json, receipt.json, timing.json}. With
/// another depth the rank file is `ranks.tsv`.
///
/// Examples:
///   cleanhit rank -m bm25 -o out
///   cleanhit rank -m rrf -m rrf+text_cluster -b ./my-bench -o out
///   cleanhit rank -m ./my-card.toml --depth 100 -o out
///   cleanhit rank -m smollm2-yes-no --queries 10 -o out
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// A method card's name, a path to one, or METHOD+SELECTOR; may be repeated
    #[arg(short, long = "method", value_name = "CARD", required = true)]
    method: Vec<String>,
    /// A bundled benchmark's name, or a folder
    #[arg(short, long, value_name = "BENCH", default_value = DEFAULT_BENCH)]
    bench: String,
    /// Where the methods' folders go
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Hits kept for each query
    #[arg(long, value_name = "N", default_value = "20")]
    depth: NonZeroU32,
    /// The order of equal scores: hash, id-asc or trec
    #[arg(long, value_name = "RULE", default_value = "hash")]
    ties: TieRule,
    /// Answer the first N queries alone: a slice, which is no full run and is not scored as one
    #[arg(long, value_name = "N", conflicts_with = "only")]
    queries: Option<NonZeroU32>,
    /// Answer this query alone; may be repeated
    #[arg(long, value_name = "QUERY")]
    only: Vec<String>,
}

pub(crate) fn run(args: &Args, registry: &Registry, ui: &Ui) -> anyhow::Result<Verdict> {
    let cards = cards::find_all(&args.method)?;
    let bench = locate::bench(&args.bench)?;
    let only = args.slice(&bench)?;
    let job = Job {
        registry,
        bench: &bench,
        cases: None,
        depth: Depth(args.depth),
        ties: args.ties,
        only: only.as_ref(),
        keep_families: false,
        ui,
    };
    let _lock = FolderLock::take(&args.output)?;
    let written = ranking::rank_all_to(&job, &cards, &args.output)?;
    for done in &written {
        ui.note(&format!("{}: {}", done.method_id, done.ranks.display()));
    }
    if ui.json {
        let methods: Vec<_> = written
            .iter()
            .map(|w| json!({ "method_id": w.method_id, "ranks": w.ranks, "sha256": w.sha256, "information_setting": w.ranked.setting.card() }))
            .collect();
        ui.out_json(&json!({ "bench": bench.name, "methods": methods }))?;
    }
    Ok(Verdict::Done)
}

impl Args {
    /// The queries that are asked for, in the benchmark's order; none where that is all of them.
    fn slice(&self, bench: &Benchmark) -> anyhow::Result<Option<BTreeSet<QueryId>>> {
        let all = || bench.pools.iter().flat_map(|pool| &pool.queries).map(|query| &query.id);
        let asked: BTreeSet<QueryId> = match self.queries {
            None if self.only.is_empty() => return Ok(None),
            Some(n) => all().take(n.get() as usize).cloned().collect(),
            None => self.only.iter().map(|id| QueryId::from(id.as_str())).collect(),
        };
        if let Some(unknown) = asked.iter().find(|id| bench.find_query(id.as_str()).is_none()) {
            bail!("`--only {unknown}`: benchmark `{}` has no such query", bench.name);
        }
        Ok(Some(asked).filter(|asked| asked.len() < bench.n_queries()))
    }
}
