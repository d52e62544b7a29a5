//! A benchmark's results folder: methods' folders, the leaderboard, the report.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::Rankings;
use cleanhit_eval::{
    BootstrapSettings, Cases, Cutoffs, Evaluation, Scope,
    exposure::SelectorAccount,
    files::{
        IntervalsFile, Leaderboard, LeaderboardRow, MethodCard, MetricsFile, ResultStatus,
        json_differences,
    },
    stats::Plan,
};
use cleanhit_io::{Benchmark, FileDigest, Folder, InputError, is_there, read_regular};
use serde_json::{Value, json};

use crate::{
    locate,
    ranking::{self, Written},
    tables::{Column, Table, rate_in},
};

/// One method, scored.
pub(crate) struct Scored<'a> {
    pub(crate) card: MethodCard,
    pub(crate) evaluation: Evaluation<'a>,
    pub(crate) metrics: MetricsFile,
    pub(crate) intervals: IntervalsFile,
    /// What the selector did, at each cutoff of the main comparison.
    pub(crate) selection: Vec<SelectorAccount>,
}

/// How scores are made.
pub(crate) struct Scoring<'a> {
    pub(crate) bench: &'a Benchmark,
    pub(crate) cases: &'a Cases,
    pub(crate) cutoffs: Cutoffs,
    pub(crate) bootstrap: BootstrapSettings,
}

impl<'a> Scoring<'a> {
    /// The public metrics' cutoffs that fit, and the stock bootstrap.
    pub(crate) fn stock(bench: &'a Benchmark, cases: &'a Cases) -> Scoring<'a> {
        Scoring {
            bench,
            cases,
            cutoffs: Cutoffs::default(),
            bootstrap: BootstrapSettings::default(),
        }
    }

    pub(crate) fn seeded(mut self, replicates: NonZeroU32, seed: u64, level: f64) -> Scoring<'a> {
        self.bootstrap = BootstrapSettings { plan: Plan { replicates, seed }, level };
        self
    }

    fn evaluate(&self, rankings: &Rankings, cutoffs: &Cutoffs) -> anyhow::Result<Evaluation<'a>> {
        let (cutoffs, _) = cutoffs.that_fit(rankings.depth(), self.bench);
        Ok(Evaluation::new(self.cases, self.bench, rankings, &cutoffs)?)
    }

    /// Scores rankings and writes `metrics.json`, `intervals.json` and, after a selector,
    /// `selection.json` into their folder.
    pub(crate) fn score_to(
        &self,
        folder: &Path,
        card: MethodCard,
        rankings: &Rankings,
        before: Option<&Rankings>,
    ) -> anyhow::Result<Scored<'a>> {
        // The public files have the public cutoffs, whatever others the report asks for.
        let public = self.evaluate(rankings, &Cutoffs::default())?;
        let files = [FileDigest { path: card.rank_file.clone(), sha256: card.rank_sha256.clone() }];
        let gate = &self.bench.gate_sha256;
        let metrics = public.metrics_file(&card.method_id, gate, &files);
        let found = public.intervals(&self.bootstrap)?;
        let intervals = IntervalsFile::new(&card.method_id, gate, &public, &found);
        let scored = self.known(card, metrics, intervals, rankings, before)?;
        let Scored { card, metrics, intervals, selection, .. } = &scored;
        ranking::write(&folder.join("metrics.json"), &metrics.write())?;
        ranking::write(&folder.join("intervals.json"), &intervals.write())?;
        if !selection.is_empty() {
            let file = selection_file(&card.method_id, selection);
            ranking::write_json(&folder.join("selection.json"), &file)?;
        }
        Ok(scored)
    }

    /// A method whose metrics and intervals are known, with what a report shows beside them.
    pub(crate) fn known(
        &self,
        card: MethodCard,
        metrics: MetricsFile,
        intervals: IntervalsFile,
        rankings: &Rankings,
        before: Option<&Rankings>,
    ) -> anyhow::Result<Scored<'a>> {
        let public = self.evaluate(rankings, &Cutoffs::default())?;
        let asked = self.cutoffs.iter().chain(public.cutoffs().iter());
        let evaluation = self.evaluate(rankings, &Cutoffs::new(asked)?)?;
        let selection = match before {
            Some(before) => {
                let before = self.evaluate(before, public.cutoffs())?;
                before.selection(&public, Scope::MainComparison)?
            }
            None => Vec::new(),
        };
        Ok(Scored { card, evaluation, metrics, intervals, selection })
    }

    /// What is wrong with a folder's `selection.json`, if it has one; it has none without a
    /// selector, which ranks `before` are of.
    pub(crate) fn check_selection(
        &self,
        folder: &Path,
        method_id: &str,
        rankings: &Rankings,
        before: Option<&Rankings>,
    ) -> anyhow::Result<Vec<InputError>> {
        let path = folder.join("selection.json");
        if !is_there(&path) {
            return Ok(Vec::new());
        }
        let file = path.display().to_string();
        let Some(before) = before else {
            let error = InputError::new(file, "accounts for a selector, and the method has none");
            return Ok(vec![error.expected("no such file")]);
        };
        let text = match read_regular(&path).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => return Ok(vec![InputError::new(file, "is not UTF-8").expected("JSON")]),
            Err(error) => return Ok(vec![error]),
        };
        let found: Value = match serde_json::from_str(&text) {
            Ok(found) => found,
            Err(error) => return Ok(vec![locate::json_error(&path, &text, &error)]),
        };
        let stock = Cutoffs::default();
        let after = self.evaluate(rankings, &stock)?;
        let selection = self.evaluate(before, &stock)?.selection(&after, Scope::MainComparison)?;
        let mut errors = json_differences(&file, &found, &selection_file(method_id, &selection));
        for error in &mut errors {
            error.line = error.field.as_deref().and_then(|field| locate::json_line(&text, field));
        }
        Ok(errors)
    }

    /// Scores what was just ranked.
    pub(crate) fn score_written(&self, written: &Written) -> anyhow::Result<Scored<'a>> {
        let ranked = &written.ranked;
        self.score_to(
            &written.folder,
            written.card.clone(),
            &ranked.rankings,
            ranked.before.as_ref(),
        )
        .with_context(|| format!("method `{}`", written.method_id))
    }
}

fn selection_file(method_id: &str, selection: &[SelectorAccount]) -> Value {
    let rows: Vec<Value> = selection.iter().map(account).collect();
    json!({ "schema": "cleanhit.selection.v1", "method_id": method_id, "main_comparison": rows })
}

fn account(account: &SelectorAccount) -> Value {
    json!({
        "k": account.cutoff.get(),
        "queries": account.queries,
        "exposed_before": account.before,
        "exposed_after": account.after,
        "resolved": account.resolved,
        "promoted": account.promoted,
        "remaining": account.remaining,
        "resolved_share": account.resolved_share(),
        "promoted_share": account.promoted_share(),
        "hsr_before": account.hsr_before(),
        "hsr_after": account.hsr_after(),
    })
}

/// The leaderboard of scored methods.
pub(crate) fn leaderboard(scored: &[Scored<'_>], status: ResultStatus) -> Leaderboard {
    let rows = scored.iter().filter_map(|one| {
        LeaderboardRow::new(&one.card, &one.metrics, Some(&one.intervals), status)
    });
    Leaderboard::new(rows.collect())
}

/// The leaderboard as a table, one block for each information setting.
pub(crate) fn leaderboard_table(board: &Leaderboard) -> Table {
    let mut table = Table::of([
        Column::name("setting"),
        Column::name("method"),
        Column::number("rank"),
        Column::rates("Recall@3"),
        Column::rates("HSR@3"),
        Column::rates("CleanHit@3"),
        Column::name("status"),
    ]);
    let mut last = None;
    for row in board.rows() {
        if last.is_some_and(|last| last != row.setting) {
            table.rule();
        }
        last = Some(row.setting);
        let value = |value: cleanhit_eval::files::Value| {
            rate_in(Some(value.point), value.interval.map(|i| (i.low, i.high)))
        };
        table.row([
            row.setting.leaderboard().into(),
            row.method_id.as_str().into(),
            row.rank.map_or("–".to_owned(), |rank| rank.to_string()).into(),
            value(row.recall),
            value(row.hsr),
            value(row.cleanhit),
            row.status.as_str().into(),
        ]);
    }
    table
}

/// Whether a folder is a method's, whatever state its files are in.
pub(crate) fn is_method(dir: &Path) -> bool {
    ["method_card.json", "receipt.json"].iter().any(|name| is_there(&dir.join(name)))
}

/// The methods' folders directly under `dir`, or `dir` itself, in order of their names.
pub(crate) fn method_folders(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if is_method(dir) {
        return Ok(vec![dir.to_owned()]);
    }
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read {}", dir.display()))?.path();
        if path.is_dir() && is_method(&path) {
            folders.push(path);
        }
    }
    folders.sort_unstable();
    if folders.is_empty() {
        return Err(anyhow!(
            "{}: holds no method's folder; expected folders with a `method_card.json`",
            dir.display()
        ));
    }
    Ok(folders)
}

/// The benchmark that a results folder or a rank file is of: what was asked for, else what the
/// receipt beside it names. Reads no labels.
pub(crate) fn bench_of(path: &Path, asked: Option<&str>) -> anyhow::Result<Benchmark> {
    if let Some(bench) = asked {
        return locate::bench(bench);
    }
    let receipt = path.join("receipt.json");
    let receipt = if is_there(&receipt) { receipt } else { path.with_file_name("receipt.json") };
    let named = match is_there(&receipt) {
        true => {
            let bytes = read_regular(&receipt)?;
            let text = String::from_utf8_lossy(&bytes);
            crate::receipt::Receipt::parse(&receipt, &text)?.bench.name
        }
        false => crate::bundled::DEFAULT_BENCH.to_owned(),
    };
    locate::bench(&named).with_context(|| {
        format!(
            "{}: its receipt names benchmark `{named}`; `-b` says where that is",
            path.display()
        )
    })
}

/// The same, with its labels.
pub(crate) fn bench_and_cases_of(
    path: &Path,
    asked: Option<&str>,
) -> anyhow::Result<(Benchmark, Cases)> {
    let bench = bench_of(path, asked)?;
    let cases = cases_of(&bench)?;
    Ok((bench, cases))
}

/// A benchmark's labels.
pub(crate) fn cases_of(bench: &Benchmark) -> anyhow::Result<Cases> {
    if bench.labels.is_none() {
        bail!(
            "{}: benchmark `{}` has no labels; `cleanhit score RANKS --qrels FILE` scores against \
             qrels, and `cleanhit bench new` begins the units that labels come from",
            bench.manifest(),
            bench.name
        );
    }
    Cases::read(bench).map_err(|errors| locate::first(&errors))
}

/// A folder on disk.
pub(crate) fn on_disk(path: &Path) -> Folder {
    Folder::Disk(path.to_owned())
}
