//! Plain measures: runs against qrels.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use cleanhit_eval::plain::{
    self, Bounds, Evaluation, Measure, Options, Over, Qrels, QueryValues, Run, evaluate,
};
use serde_json::{Map, Value, json};

use super::{Args, Missing, Order};
use crate::{
    locate,
    scored::measures,
    tables::{Cell, Column, Format, Table},
    ui::Ui,
    words,
};

pub(super) fn run(args: &Args, qrels_path: &Path, ui: &Ui) -> anyhow::Result<()> {
    let measures = measures(&args.measures)?;
    let qrels_bytes = locate::read_packed(qrels_path)?;
    let qrels = Qrels::parse(&qrels_bytes).map_err(|err| named(qrels_path, &err))?;
    let options = options(args.order, args.missing);
    let mut results: Vec<(String, Evaluation)> = Vec::new();
    for path in &args.ranks {
        let source = Source::read(path)?;
        let run = source.run()?;
        let options = match source.is_rank_file() {
            true => self::options(Order::Rank, args.missing),
            false => options,
        };
        let found = evaluate(&run, &qrels, &measures, &options).map_err(|err| named(path, &err))?;
        if let Some(warning) = unjudged(&run, &qrels) {
            ui.warn(&format!("{}: {warning}", path.display()));
        }
        warn(path, &found, args, ui);
        // The ranks of a rank file are its order, and the tie rule is free to differ from TREC's.
        if !source.is_rank_file() {
            note_order(path, &run, args, ui);
        }
        results.push((path.display().to_string(), found));
    }
    if ui.json {
        let runs: Vec<Value> =
            results.iter().map(|(name, found)| to_json(name, found, args.per_query)).collect();
        return ui.out_json(&json!({ "qrels": qrels_path, "runs": runs }));
    }
    let whole = means_table(&results, &measures);
    ui.out(&match (args.per_query, args.format) {
        (false, format) => whole.render(format),
        (true, Format::Csv) => query_table(&results, &measures).render(Format::Csv),
        (true, format) => {
            let whole = whole.caption("over queries").render(format);
            let each = query_table(&results, &measures).caption("each query").render(format);
            format!("{whole}\n{each}")
        }
    })
}

fn columns(names: [&str; 2], measures: &[Measure]) -> impl Iterator<Item = Column> {
    let names = names.map(Column::name).into_iter();
    // Measures keep their names in CSV: those are what `-M` takes.
    names.chain(measures.iter().map(|measure| {
        let name = measure.to_string();
        Column::several(&name, [&name])
    }))
}

fn means_table(results: &[(String, Evaluation)], measures: &[Measure]) -> Table {
    let mut table = Table::of(columns(["run", "queries"], measures));
    for (name, found) in results {
        let names = [name.clone(), found.count(counted(found)).to_string()].map(Cell::from);
        let values = found.summary().into_iter().zip(measures);
        table.row(names.into_iter().chain(values.map(|(b, m)| cell(b, *m))));
    }
    table
}

fn query_table(results: &[(String, Evaluation)], measures: &[Measure]) -> Table {
    let mut table = Table::of(columns(["run", "query"], measures));
    for (name, found) in results {
        for query in &found.queries {
            let names = [name.clone(), query.id.clone()].map(Cell::from);
            let values = query.values.iter().zip(measures);
            table.row(names.into_iter().chain(values.map(|(b, m)| cell(Some(*b), *m))));
        }
    }
    table
}

/// A run as it lies on disk: a TREC run, or a rank file, whose ranks decide.
pub(crate) struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Source {
    /// Reads a TREC run, a rank file or a method's folder; a file may be packed.
    pub(crate) fn read(argument: &Path) -> anyhow::Result<Source> {
        let path = locate::rank_file(argument)?;
        let bytes = locate::read_packed(&path)?;
        Ok(Source { path, bytes })
    }

    /// Whether it is a rank file, by its header.
    pub(crate) fn is_rank_file(&self) -> bool {
        self.bytes.starts_with(b"method_id\t")
    }

    /// Its rows.
    pub(crate) fn run(&self) -> anyhow::Result<Run<'_>> {
        if !self.is_rank_file() {
            return Run::parse(&self.bytes).map_err(|err| named(&self.path, &err));
        }
        let file = self.path.display();
        let text = std::str::from_utf8(&self.bytes).map_err(|_| anyhow!("{file}: not UTF-8"))?;
        let mut rows = Vec::new();
        for (line, i) in text.lines().zip(1..).skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let row = match fields[..] {
                [_, query, _, rank, candidate, score] => rank
                    .parse()
                    .ok()
                    .zip(score.parse().ok())
                    .map(|(rank, score)| (query, candidate, rank, score)),
                _ => None,
            };
            let row =
                row.ok_or_else(|| anyhow!("{file}:{i}: expected the six columns of a rank file"));
            rows.push(row?);
        }
        Run::from_rows(rows).map_err(|err| named(&self.path, &err))
    }
}

/// How runs are read and missing queries counted.
pub(crate) fn options(order: Order, missing: Missing) -> Options {
    Options {
        order: match order {
            Order::Trec => plain::Order::Trec,
            Order::Rank => plain::Order::Rank,
        },
        missing: match missing {
            Missing::Zero => plain::Missing::Zero,
            Missing::Skip => plain::Missing::Skip,
        },
        depth: None,
    }
}

/// An error with the file it is about: `FILE:LINE: …` where the error knows its line.
pub(crate) fn named(path: &Path, err: &impl std::fmt::Display) -> anyhow::Error {
    let message = err.to_string();
    let line = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    match line {
        Some((line, problem)) => anyhow!("{}:{line}: {problem}", path.display()),
        None => anyhow!("{}: {message}", path.display()),
    }
}

fn counted(found: &Evaluation) -> Over {
    match found.missing {
        plain::Missing::Zero => Over::All,
        plain::Missing::Skip => Over::Answered,
    }
}

fn cell(bounds: Option<Bounds>, measure: Measure) -> Cell {
    match bounds {
        Some(bounds) if measure.is_count() => format!("{:.0}", bounds.value).into(),
        Some(bounds) => {
            Cell::several(format!("{:.4}", bounds.value), [format!("{:.6}", bounds.value)])
        }
        None => "–".into(),
    }
}

/// What to say where no document that a run lists for a query of the qrels is judged.
pub(crate) fn unjudged(run: &Run<'_>, qrels: &Qrels<'_>) -> Option<String> {
    let mut ranked = 0;
    let mut first = None;
    for (query, rows) in run.queries() {
        let judged = qrels.query(query).unwrap_or_default();
        let ids: HashSet<&str> = judged.iter().map(plain::Judgement::document).collect();
        if rows.iter().any(|row| ids.contains(row.document())) {
            return None;
        }
        if let (Some(row), Some(judgement)) = (rows.first(), judged.first()) {
            ranked += rows.len();
            first = first.or(Some((row.document(), judgement.document())));
        }
    }
    let (of_run, of_qrels) = first?;
    Some(format!(
        "none of the {} ranked for the queries of both files is judged; do the two use the same \
         ids? run: `{of_run}`, qrels: `{of_qrels}`",
        cleanhit_io::counted(ranked, "document")
    ))
}

/// What to say of measures that look deeper than every list.
fn too_deep(found: &Evaluation) -> Option<String> {
    let longest = found.queries.iter().max_by_key(|query| query.retrieved)?;
    let deep = |measure: &&Measure| {
        measure.cutoff().is_some_and(|cutoff| longest.retrieved < cutoff.get() as usize)
    };
    let deep: Vec<String> = found.measures.iter().filter(deep).map(ToString::to_string).collect();
    if deep.is_empty() || longest.retrieved == 0 {
        return None;
    }
    Some(format!(
        "the longest list, of query `{}`, has {}, and the ranks below it that {} looks at count as \
         not relevant",
        longest.id,
        cleanhit_io::counted(longest.retrieved, "document"),
        deep.join(", ")
    ))
}

fn warn(path: &Path, found: &Evaluation, args: &Args, ui: &Ui) {
    if let Some(warning) = too_deep(found) {
        ui.warn(&format!("{}: {warning}", path.display()));
    }
    let path = path.display();
    let queries = |n: usize| cleanhit_io::counted(n, "query");
    let missing = found.missing_queries().count();
    if 0 < missing {
        let counts = match args.missing {
            Missing::Zero => "each counts 0",
            Missing::Skip => "left out",
        };
        let first = found.missing_queries().next().unwrap_or_default();
        ui.warn(&format!(
            "{path}: lacks {} of the {} of the qrels, the first `{first}`; {counts}",
            missing,
            queries(found.queries.len())
        ));
    }
    if let [first, rest @ ..] = &found.run_only[..] {
        let extra = queries(rest.len() + 1);
        ui.warn(&format!(
            "{path}: has {extra} that the qrels lack, the first `{first}`; counted nowhere"
        ));
    }
    let without = found.queries.len() - found.count(Over::WithRelevant);
    if 0 < without {
        ui.note(&format!(
            "{} of the qrels without a relevant document, scored 0",
            queries(without)
        ));
    }
    for ties in found.ties().iter().filter(|ties| 0 < ties.tied + ties.near) {
        let found = words::ties(ties.tied as u64, ties.near as u64);
        ui.note(&format!("{path}: at K = {}, {found}", ties.cutoff));
    }
    let summary = found.summary();
    for (measure, bounds) in found.measures.iter().zip(summary.iter().flatten()) {
        if bounds.worst.to_bits() != bounds.best.to_bits() {
            ui.detail(&format!(
                "{path}: {measure} is between {:.4} and {:.4} over the orders of equal scores",
                bounds.worst, bounds.best
            ));
        }
    }
}

/// Names the queries that the rank column and the scores of a run order differently.
fn note_order(path: &Path, run: &Run<'_>, args: &Args, ui: &Ui) {
    let orders = run.order_differences();
    if let Some(first) = orders.differ.first() {
        let used = match args.order {
            Order::Trec => "score order is used, as trec_eval does",
            Order::Rank => "rank order is used",
        };
        ui.note(&format!(
            "{}: in {} the rank column and the scores differ in order, the first `{first}`; {used}",
            path.display(),
            cleanhit_io::counted(orders.differ.len(), "query")
        ));
    }
}

fn to_json(name: &str, found: &Evaluation, per_query: bool) -> Value {
    let measures = |values: &mut dyn Iterator<Item = Option<Bounds>>| -> Value {
        let pairs = found.measures.iter().map(ToString::to_string).zip(values);
        let object: Map<String, Value> = pairs
            .map(|(name, bounds)| match bounds {
                Some(b) => (name, json!({ "value": b.value, "worst": b.worst, "best": b.best })),
                None => (name, Value::Null),
            })
            .collect();
        object.into()
    };
    let query = |query: &QueryValues| {
        json!({
            "query": query.id,
            "retrieved": query.retrieved,
            "relevant": query.relevant,
            "measures": measures(&mut query.values.iter().map(|b| Some(*b))),
        })
    };
    let ties: Vec<Value> = found
        .ties()
        .iter()
        .map(|t| json!({ "cutoff": t.cutoff, "tied": t.tied, "near": t.near }))
        .collect();
    let mut value = json!({
        "run": name,
        "queries": found.count(counted(found)),
        "missing": found.missing_queries().collect::<Vec<_>>(),
        "run_only": found.run_only,
        "ties": ties,
        "measures": measures(&mut found.summary().into_iter()),
    });
    if per_query && let Some(object) = value.as_object_mut() {
        object.insert("per_query".into(), found.queries.iter().map(query).collect());
    }
    value
}
