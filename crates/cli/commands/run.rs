//! `cleanhit run`: the main job.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{Cutoff, Depth};
use cleanhit_eval::{Cutoffs, Measure, Scope, files::ResultStatus};
use cleanhit_io::{FolderLock, is_same_file};
use serde_json::json;

use super::Verdict;
use crate::{
    Registry,
    bundled::DEFAULT_BENCH,
    cards,
    experiment::Experiment,
    locate,
    method::Job,
    ranking, report,
    results::{self, Scored, Scoring},
    sight,
    tables::{Cell, FEW, Format, Table, rate_in},
    ui::Ui,
    words,
};

/// Rank, score and report; with no argument, the bundled benchmark
///
/// Writes DIR/<bench>/: a folder for each method with its ranks, card, receipt, metrics and
/// intervals; leaderboard.tsv; report.md; experiment.toml.
///
/// Examples:
///   cleanhit run
///   cleanhit run -b ./a-bench
///   cleanhit run --all -o out
///   cleanhit run --neural
///   cleanhit init my.toml && cleanhit run my.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// An experiment file; `cleanhit init` writes one
    #[arg(value_name = "EXPERIMENT")]
    experiment: Option<PathBuf>,
    /// A bundled benchmark's name, or a folder: the stock experiment on it
    #[arg(short, long, value_name = "BENCH", conflicts_with = "experiment")]
    bench: Option<String>,
    /// Where results go
    #[arg(short, long, value_name = "DIR", default_value = "cleanhit-out")]
    output: PathBuf,
    /// Every built-in method, alone and with every selector
    #[arg(long, conflicts_with = "experiment")]
    all: bool,
    /// Also neural methods whose weights are small: they run on a CPU in minutes
    #[arg(long, conflicts_with = "experiment")]
    neural: bool,
    /// Leave the paired agent runs out
    #[arg(long, hide = true)]
    no_rae: bool,
}

/// The cutoff of the main table, as in the paper and on the leaderboard.
const AT: u32 = 3;

pub(crate) fn run(args: &Args, registry: &Registry, ui: &Ui) -> anyhow::Result<Verdict> {
    let mut experiment = match &args.experiment {
        Some(path) => Experiment::read(path)?,
        None => Experiment::stock()?,
    };
    if args.all {
        experiment.use_all_methods();
    }
    if args.neural {
        experiment.add_neural_methods();
    }
    let file = args.experiment.as_ref().map(|path| path.display().to_string());
    let field = |name: &str| match &file {
        Some(file) => format!("{file}: field `{name}`"),
        None => format!("`{name}`"),
    };
    let bench = match &args.bench {
        Some(named) => locate::bench(named)?,
        None => locate::bench(&experiment.bench).with_context(|| field("bench"))?,
    };
    if let Some(named) = &args.bench {
        experiment.use_bench(named, &bench);
    }
    let cards = cards::find_all(&experiment.methods).with_context(|| field("methods"))?;
    let least = bench.least_pool();
    if let Some(deep) = experiment.cutoffs.iter().find(|cutoff| least < Cutoff(**cutoff).get()) {
        let field = field("cutoffs");
        bail!("{field}: {deep}; expected at most {least}, the candidates of the smallest pool");
    }
    let cases = results::cases_of(&bench)?;
    let job = Job {
        registry,
        bench: &bench,
        cases: Some(&cases),
        depth: Depth(experiment.depth),
        ties: experiment.ties.parse()?,
        only: None,
        keep_families: false,
        ui,
    };
    let intervals = &experiment.intervals;
    let cutoffs = Cutoffs::new(experiment.cutoffs.iter().copied().map(Cutoff))?;
    let mut scoring = Scoring::stock(&bench, &cases).seeded(
        intervals.replicates,
        intervals.seed,
        intervals.level,
    );
    scoring.cutoffs = cutoffs;
    let output = args.output.join(&bench.name);
    let experiment_file = output.join("experiment.toml");
    let read = args.experiment.as_deref();
    // An experiment that lies where its copy would go says the same already.
    let in_place = read.is_some_and(|read| is_same_file(read, &experiment_file));
    for name in ["leaderboard.tsv", "report.md"] {
        locate::output(&output.join(name), &bench, read)?;
    }
    let _lock = FolderLock::take(&output)?;
    let (mut scored, mut ledgers) = (Vec::new(), Vec::new());
    for written in ranking::rank_all_to(&job, &cards, &output)? {
        ledgers.push((written.method_id.clone(), written.ranked.notes.clone()));
        scored.push(scoring.score_written(&written)?);
    }
    let board = results::leaderboard(&scored, ResultStatus::MetricRecomputed);
    ranking::write(&output.join("leaderboard.tsv"), &board.write())?;
    if !in_place {
        ranking::write(&experiment_file, experiment.to_text()?.as_bytes())?;
    }
    let mut report = report::markdown(&bench, &cases, &scored, &board);
    report.push_str(&sight::markdown(&bench, &cases, &ledgers));
    ranking::write(&output.join("report.md"), report.as_bytes())?;
    warn_of_others(&output, &scored, ui)?;
    if ui.json {
        let methods: Vec<_> = scored
            .iter()
            .map(|one| json!({ "card": one.card, "metrics": one.metrics, "intervals": one.intervals }))
            .collect();
        ui.out_json(&json!({ "bench": bench.name, "output": output, "methods": methods }))?;
        return Ok(Verdict::Done);
    }
    ui.out(&main_table(&scored)?.render(Format::Text))?;
    where_next(&output, &experiment.bench, &scored, ui);
    Ok(Verdict::Done)
}

/// Names the methods' folders of earlier runs: nothing of theirs is removed, and the leaderboard
/// is of this run.
fn warn_of_others(output: &Path, scored: &[Scored<'_>], ui: &Ui) -> anyhow::Result<()> {
    let ours = |name: &str| scored.iter().any(|one| one.card.method_id == name);
    let folders = results::method_folders(output)?;
    let names = folders.iter().filter(|folder| folder.join("receipt.json").is_file());
    let names = names.filter_map(|folder| folder.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let others: Vec<String> = names.filter(|name| !ours(name)).collect();
    if !others.is_empty() {
        ui.warn(&format!(
            "{}: of earlier runs, and not on this leaderboard: {}",
            output.display(),
            others.join(", ")
        ));
    }
    Ok(())
}

/// Recall, HSR and CleanHit at 3 with intervals, by stratum, in blocks of one setting.
pub(crate) fn main_table(scored: &[Scored<'_>]) -> anyhow::Result<Table> {
    let k = Cutoff(std::num::NonZeroU32::new(AT).ok_or_else(|| anyhow!("the cutoff is 0"))?);
    let mut table =
        Table::new(3, ["method", "setting", "stratum", "Recall@3", "HSR@3", "CleanHit@3"]);
    let mut order: Vec<&Scored<'_>> = scored.iter().collect();
    order.sort_by_key(|one| one.card.setting());
    let mut last = None;
    for one in order {
        if last.is_some_and(|last| last != one.card.setting()) {
            table.rule();
        }
        last = Some(one.card.setting());
        for scope in [Scope::MainComparison, Scope::MainCore, Scope::MainHard] {
            let summary = one.evaluation.summary(scope);
            if summary.queries == 0 {
                continue;
            }
            let around = one.intervals.scopes.get(scope.as_str());
            let cell = |measure: Measure| {
                let value = summary.at(k).and_then(|counts| counts.micro(measure));
                let interval = around.and_then(|a| a.query_micro.get(measure, AT));
                rate_in(value, interval.map(|(_, i)| (i.low, i.high)))
            };
            let first = scope == Scope::MainComparison;
            let shown = |text: &str| if first { text.to_owned() } else { String::new() };
            let setting = one.card.setting().map_or("", |setting| setting.leaderboard());
            let mark = if summary.is_thin() { " †" } else { "" };
            let name = words::group(&summary.group, one.evaluation.cases());
            let stratum = format!("{name} ({}){mark}", summary.queries);
            let [r, h, c] = Measure::ALL.map(cell);
            let names = [shown(&one.card.method_id), shown(setting), stratum].map(Cell::from);
            table.row(names.into_iter().chain([r, h, c]));
        }
    }
    Ok(table)
}

fn where_next(output: &Path, bench: &str, scored: &[Scored<'_>], ui: &Ui) {
    let output = output.display();
    let bench = match bench {
        DEFAULT_BENCH => String::new(),
        other => format!(" -b {other}"),
    };
    let methods: Vec<&str> = scored.iter().map(|one| one.card.method_id.as_str()).collect();
    let first = methods.first().copied().unwrap_or("bm25");
    ui.note(&format!(
        "\nin brackets: 95% group-bootstrap intervals; a lower HSR is better; settings are not compared;\n\
         {FEW}\n\
         report        {output}/report.md\n\
         leaderboard   {output}/leaderboard.tsv\n\
         by type       cleanhit score {output}/{first}{bench} --by type\n\
         one query     cleanhit explain {output}/{first}{bench} QUERY\n\
         verify        cleanhit check {output}{bench}"
    ));
}
