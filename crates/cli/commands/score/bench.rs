//! Rank files against a benchmark's cases.

use std::path::PathBuf;

use cleanhit_core::{Cutoff, Depth};
use cleanhit_eval::{
    BootstrapSettings, By, Cases, Cutoffs, Evaluation, Group, Intervals, Measure, Scope, Summary,
};
use serde_json::{Map, Value, json};

use super::Args;
use crate::{
    results,
    scored::{Ranks, breakdown, cutoffs},
    tables::{Cell, Column, FEW, Format, Table, exact, rate_in},
    ui::Ui,
    words,
};

struct Scored<'a> {
    ranks: Ranks,
    evaluation: Evaluation<'a>,
    intervals: Intervals,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<()> {
    let (bench, cases) = results::bench_and_cases_of(&args.ranks[0], args.bench.as_deref())?;
    let read = |argument: &PathBuf| Ranks::read(argument, &bench, args.partial, ui);
    let files = args.ranks.iter().map(read).collect::<anyhow::Result<Vec<Ranks>>>()?;
    let cutoffs = match &args.k[..] {
        [] => {
            let depth = files.iter().map(|ranks| ranks.file.rankings.depth()).min();
            let (fit, too_deep) =
                Cutoffs::default().that_fit(depth.unwrap_or(Depth::of_len(20)), &bench);
            for k in too_deep {
                ui.note(&format!("K = {} is left out: deeper than the ranks or a pool", k.get()));
            }
            fit
        }
        k => cutoffs(k)?,
    };
    let mut all: Vec<Scored<'_>> = Vec::new();
    for ranks in files {
        let evaluation = ranks.evaluate(&cases, &bench, &cutoffs)?;
        for warning in evaluation.warnings() {
            ui.warn(&format!("{}: {warning}", ranks.path.display()));
        }
        let intervals = evaluation.intervals(&BootstrapSettings::default())?;
        all.push(Scored { ranks, evaluation, intervals });
    }
    if ui.json {
        let methods: Vec<Value> = all.iter().map(|one| one.to_json(&cases, args)).collect();
        return ui.out_json(&json!({ "bench": bench.name, "methods": methods }));
    }
    print(&all, &cases, &cutoffs, args, ui)?;
    notes(&all, &cases, ui);
    Ok(())
}

/// One block of rows for people, and all blocks as one table for a machine.
struct Block<'a> {
    /// What the groups are groups of.
    by: &'static str,
    caption: &'static str,
    /// Each method's rows.
    methods: Vec<(&'a Scored<'a>, Vec<Summary>)>,
}

fn print(
    all: &[Scored<'_>],
    cases: &Cases,
    cutoffs: &Cutoffs,
    args: &Args,
    ui: &Ui,
) -> anyhow::Result<()> {
    let blocks = blocks(all, args);
    if args.format == Format::Csv {
        let table = match args.per_query {
            true => query_table(all, cases),
            false => long_table(&blocks, cases, cutoffs),
        };
        return ui.out(&table.render(args.format));
    }
    let tables = blocks.iter().map(|block| (group_table(block, cases, cutoffs), block.caption));
    let mut tables: Vec<(Table, &str)> = tables.collect();
    if args.per_query {
        tables.push((query_table(all, cases), "each query: the ranks of its marked skills"));
    }
    let several = 1 < tables.len();
    let shown = tables.into_iter().map(|(table, caption)| {
        let table = if several { table.caption(caption) } else { table };
        table.render(args.format)
    });
    ui.out(&shown.collect::<Vec<_>>().join("\n"))
}

fn blocks<'a>(all: &'a [Scored<'a>], args: &Args) -> Vec<Block<'a>> {
    let block = |by, caption, rows: &dyn Fn(&Scored<'_>) -> Vec<Summary>| Block {
        by,
        caption,
        methods: all.iter().map(|one| (one, rows(one))).collect(),
    };
    let main = block("stratum", "all queries that count, and each stratum", &|one| {
        let scopes = [Scope::MainComparison, Scope::MainCore, Scope::MainHard];
        let summaries = scopes.map(|scope| one.evaluation.summary(scope));
        summaries.into_iter().filter(|summary| 0 < summary.queries).collect()
    });
    let mut blocks = vec![main];
    if let Some(asked) = args.by {
        let by = breakdown(asked);
        let caption = match asked {
            super::By::Stratum => "by stratum",
            super::By::Mechanism => "by mechanism",
            super::By::Type => "by conflict type",
            super::By::Source => "by source",
        };
        blocks.push(block(words::by(by), caption, &|one| one.evaluation.by(by)));
    }
    if args.by == Some(super::By::Source) {
        blocks.push(block("without source", "single queries, without each source", &|one| {
            one.evaluation.without_each_source().rows.into_iter().map(|row| row.rest).collect()
        }));
    }
    blocks
}

const MAIN: Group = Group::Scope(Scope::MainComparison);

/// The columns after those that name the method and the group.
fn columns() -> impl Iterator<Item = Column> {
    let counts = ["K", "queries", "units"].map(Column::number);
    let rates = ["Recall", "HSR", "CleanHit"].map(Column::rates);
    let both = ["both hit", "co-exposed"].map(Column::number);
    counts.into_iter().chain(rates).chain(both)
}

fn group_table(block: &Block<'_>, cases: &Cases, cutoffs: &Cutoffs) -> Table {
    let names = [Column::name("method"), Column::groups(block.by)];
    let mut table = Table::of(names.into_iter().chain(columns()));
    for (one, summaries) in &block.methods {
        table.rule();
        for summary in summaries {
            for k in cutoffs.iter() {
                let method = Cell::from(one.ranks.file.method_id.as_str());
                let names = [method, words::group_cell(summary, cases)];
                table.row(names.into_iter().chain(one.cells(summary, k)));
            }
        }
    }
    table
}

/// Every block in one table.
fn long_table(blocks: &[Block<'_>], cases: &Cases, cutoffs: &Cutoffs) -> Table {
    let names = [Column::name("method"), Column::name("by"), Column::groups("group")];
    let mut table = Table::of(names.into_iter().chain(columns()));
    for block in blocks {
        for (one, summaries) in &block.methods {
            for summary in summaries {
                for k in cutoffs.iter() {
                    let method = Cell::from(one.ranks.file.method_id.as_str());
                    let group = words::group_cell(summary, cases);
                    let names = [method, Cell::from(block.by), group];
                    table.row(names.into_iter().chain(one.cells(summary, k)));
                }
            }
        }
    }
    table
}

fn query_table(all: &[Scored<'_>], cases: &Cases) -> Table {
    let headings = ["method", "query", "unit", "stratum", "type", "counted"];
    let mut table =
        Table::new(headings.len(), headings.into_iter().chain(["helpful rank", "sibling rank"]));
    let rank = |rank: Option<u32>| rank.map_or("–".to_owned(), |rank| rank.to_string());
    for one in all {
        table.rule();
        for case in cases {
            let seen = one.evaluation.observed(case.query.as_str()).unwrap_or_default();
            table.row([
                one.ranks.file.method_id.clone(),
                case.query.to_string(),
                case.unit.to_string(),
                case.stratum.to_string(),
                case.conflict_type.to_string(),
                if case.counted { "yes" } else { "no" }.to_owned(),
                rank(seen.helpful),
                rank(seen.sibling),
            ]);
        }
    }
    table
}

fn notes(all: &[Scored<'_>], cases: &Cases, ui: &Ui) {
    for one in all {
        let name = &one.ranks.file.method_id;
        for ties in one.evaluation.ties(MAIN) {
            let (tied, near) = (ties.exact.tied, ties.near.tied.saturating_sub(ties.exact.tied));
            if 0 < tied + near {
                let found = words::ties(tied, near);
                ui.note(&format!("{name}: at K = {}, {found}", ties.cutoff.get()));
            }
        }
        if one
            .intervals
            .groups
            .iter()
            .any(|group| 0 < group.lineage_groups && group.has_few_groups())
        {
            ui.detail(&format!(
                "{name}: some groups have fewer than 10 lineage groups; their intervals are broad"
            ));
        }
    }
    let thin = |one: &Scored<'_>| {
        let scopes = one.evaluation.scopes();
        scopes.values().any(Summary::is_thin)
    };
    if all.iter().any(thin) {
        ui.note(FEW);
    }
    if !cases.lineage_known() {
        ui.warn("the labels name no lineage groups, so the bootstrap resamples units");
    }
}

impl Scored<'_> {
    fn interval(&self, summary: &Summary, k: Cutoff, measure: Measure) -> Option<(f64, f64)> {
        let group = self.intervals.get(summary.group.clone())?;
        let interval = group.at(k)?.micro(measure);
        Some((interval.low, interval.high))
    }

    /// What stands under [`columns`] for a group at a cutoff.
    fn cells(&self, summary: &Summary, k: Cutoff) -> Vec<Cell> {
        let counts = summary.at(k);
        let numbers = [k.get().to_string(), summary.queries.to_string(), summary.units.to_string()];
        let mut cells: Vec<Cell> = numbers.into_iter().map(Cell::from).collect();
        cells.extend(Measure::ALL.map(|measure| {
            let value = counts.and_then(|counts| counts.micro(measure));
            rate_in(value, self.interval(summary, k, measure))
        }));
        cells.push(exact(counts.and_then(|counts| counts.both_rate())));
        cells.push(exact(counts.and_then(|counts| counts.conditional_co_exposure())));
        cells
    }

    fn to_json(&self, cases: &Cases, args: &Args) -> Value {
        let scopes: Map<String, Value> = self
            .evaluation
            .scopes()
            .values()
            .map(|summary| (summary.group.name(cases).to_owned(), self.group_json(summary)))
            .collect();
        let mut value = json!({
            "method_id": self.ranks.file.method_id,
            "ranks": self.ranks.path,
            "rank_sha256": self.ranks.file.sha256,
            "information_setting": self.ranks.setting,
            "missing_queries": self.evaluation.missing().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "scopes": scopes,
        });
        let Some(object) = value.as_object_mut() else { return value };
        let groups = |by: By| -> Value {
            let rows = self.evaluation.by(by);
            let pairs = rows.iter().map(|s| (s.group.name(cases).to_owned(), self.group_json(s)));
            Value::Object(pairs.collect())
        };
        if let Some(by) = args.by.map(breakdown) {
            object.insert(by.as_str().to_owned(), groups(by));
        }
        if args.by == Some(super::By::Source) {
            let rows = self.evaluation.without_each_source().rows;
            let pairs = rows.iter().map(|row| (row.source.to_string(), self.group_json(&row.rest)));
            object.insert("without_source".into(), Value::Object(pairs.collect()));
        }
        let ties = self.evaluation.ties(MAIN);
        let ties = ties.iter().map(|ties| {
            let bounds = Measure::ALL.map(|measure| {
                let bounds = ties.exact.bounds(measure);
                let share = |count: u64| (0 < ties.queries).then(|| count as f64 / ties.queries as f64);
                (measure.key().to_owned(), json!([share(bounds.low), share(bounds.high)]))
            });
            let bounds: Map<String, Value> = bounds.into_iter().collect();
            json!({ "k": ties.cutoff.get(), "tied": ties.exact.tied, "near": ties.near.tied.saturating_sub(ties.exact.tied), "over_tie_orders": bounds })
        });
        object.insert("ties".into(), ties.collect());
        if args.per_query {
            let rows = cases.iter().map(|case| {
                let seen = self.evaluation.observed(case.query.as_str()).unwrap_or_default();
                json!({
                    "query_case_id": case.query.to_string(),
                    "unit_id": case.unit,
                    "counted": case.counted,
                    "conflict_type": case.conflict_type,
                    "helpful_rank": seen.helpful,
                    "sibling_rank": seen.sibling,
                })
            });
            object.insert("per_query".into(), rows.collect());
        }
        value
    }

    fn group_json(&self, summary: &Summary) -> Value {
        let at: Map<String, Value> = summary
            .at
            .iter()
            .map(|counts| {
                let k = counts.cutoff;
                let measures = Measure::ALL.map(|measure| {
                    let interval = self.interval(summary, k, measure).map(|(low, high)| [low, high]);
                    let value = json!({
                        "query_micro": counts.micro(measure),
                        "ci95": interval,
                        "unit_macro": counts.unit_macro(measure),
                        "queries": counts.count(measure),
                    });
                    (measure.key().to_owned(), value)
                });
                let mut object: Map<String, Value> = measures.into_iter().collect();
                object.insert("both_hit".into(), json!(counts.both_rate()));
                object.insert("conditional_co_exposure".into(), json!(counts.conditional_co_exposure()));
                if let Some(pairs) = &counts.pairs {
                    object.insert(
                        "paired_unit_success".into(),
                        json!({ "units": pairs.units, "recall": pairs.recall(), "cleanhit": pairs.clean_hit() }),
                    );
                }
                (k.get().to_string(), Value::Object(object))
            })
            .collect();
        json!({
            "queries": summary.queries,
            "units": summary.units,
            "lineage_groups": summary.lineage_groups,
            "fewer_than_30_queries": summary.is_thin(),
            "sibling_first_among_co_listed": summary.order.sibling_first_rate(),
            "co_listed": summary.order.listed,
            "at": at,
        })
    }
}
