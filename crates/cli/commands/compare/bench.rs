//! Rank files against the first, on a benchmark's cases.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use cleanhit_core::{
    BenchmarkTrained, Diagnostic, OtherDeclared, Rankings, ReleasedFamily, Run, Setting,
    TextCluster, TextOnly,
};
use cleanhit_eval::{
    BootstrapSettings, Cases, CompareOptions, Comparison, Difference, Measure, adjust_families,
    paired,
    stats::{Interval, Plan},
};
use cleanhit_io::Benchmark;
use serde_json::{Value, json};

use super::{Args, alone::Alone, difference, ends, p_value, tally};
use crate::{
    results,
    scored::{Ranks, breakdown, cutoffs},
    tables::{Cell, Column, FEW, Format, Table, exact},
    ui::Ui,
    words,
};

/// The block of rank files without a card.
const UNDECLARED: &str = "not declared";

/// Runs of one information setting, the first of them the baseline.
struct Block {
    setting: String,
    runs: Vec<Ranks>,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<()> {
    let (bench, cases) = results::bench_and_cases_of(&args.ranks[0], args.bench.as_deref())?;
    let options = CompareOptions {
        cutoffs: cutoffs(&args.k)?,
        bootstrap: BootstrapSettings {
            plan: Plan { replicates: args.replicates, seed: args.seed },
            level: 0.95,
        },
        by: args.by.map(breakdown).into_iter().collect(),
    };
    let blocks = blocks(args, &bench, ui)?;
    let mut shown: Vec<Value> = Vec::new();
    let mut compared: Vec<Compared<'_>> = Vec::new();
    for block in &blocks {
        let [baseline, others @ ..] = &block.runs[..] else { continue };
        if others.is_empty() {
            ui.note(&format!(
                "{}: `{}` has nothing of its information setting to be compared with",
                words::setting(&block.setting),
                baseline.file.method_id
            ));
            let alone = Alone::of(baseline, &cases, &bench, &options)?;
            shown.push(json!({
                "information_setting": block.setting,
                "baseline": baseline.file.method_id,
                "methods": [],
                "alone": alone.to_json(&cases),
            }));
            compared.push(Compared { block, comparisons: Vec::new(), alone: Some(alone) });
            continue;
        }
        let mut comparisons = others
            .iter()
            .map(|other| compare(&block.setting, baseline, other, &cases, &bench, &options))
            .collect::<anyhow::Result<Vec<Comparison>>>()?;
        // The family: every difference from this baseline at each measure, cutoff and group.
        adjust_families(&mut comparisons)?;
        shown.push(to_json(block, &comparisons, &cases));
        compared.push(Compared { block, comparisons, alone: None });
    }
    match ui.json {
        true => ui.out_json(&json!({ "bench": bench.name, "blocks": shown })),
        false => print(&compared, &cases, args, ui),
    }
}

fn blocks(args: &Args, bench: &Benchmark, ui: &Ui) -> anyhow::Result<Vec<Block>> {
    let mut by_setting: BTreeMap<String, Vec<Ranks>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for argument in &args.ranks {
        let ranks = Ranks::read(argument, bench, false, ui)?;
        let setting = ranks.setting.clone().unwrap_or_else(|| UNDECLARED.to_owned());
        if !order.contains(&setting) {
            order.push(setting.clone());
        }
        by_setting.entry(setting).or_default().push(ranks);
    }
    if 1 < order.len() && !args.across_settings {
        bail!(
            "the rank files are of {} information settings ({}), which are not compared; \
             `--across-settings` shows each in a block of its own{}",
            order.len(),
            order.join(", "),
            if order.iter().any(|setting| setting == UNDECLARED) {
                "; a method_card.json beside a rank file declares its setting"
            } else {
                ""
            }
        );
    }
    Ok(order
        .into_iter()
        .filter_map(|setting| {
            let runs = by_setting.remove(&setting)?;
            Some(Block { setting, runs })
        })
        .collect())
}

/// Compares two runs under the type of their setting.
fn compare(
    setting: &str,
    baseline: &Ranks,
    other: &Ranks,
    cases: &Cases,
    bench: &Benchmark,
    options: &CompareOptions,
) -> anyhow::Result<Comparison> {
    fn typed<S: Setting>(
        (a, b): (&Rankings, &Rankings),
        cases: &Cases,
        bench: &Benchmark,
        options: &CompareOptions,
    ) -> anyhow::Result<Comparison> {
        let (a, b) = (Run::<S>::declared(a.clone()), Run::<S>::declared(b.clone()));
        paired(&a, &b, cases, bench, options).map_err(|err| anyhow!("{err}"))
    }
    let runs = (&baseline.file.rankings, &other.file.rankings);
    let compared = if setting == TextOnly::NAME {
        typed::<TextOnly>(runs, cases, bench, options)
    } else if setting == TextCluster::NAME {
        typed::<TextCluster>(runs, cases, bench, options)
    } else if [ReleasedFamily::NAME, ReleasedFamily::LEADERBOARD].contains(&setting) {
        typed::<ReleasedFamily>(runs, cases, bench, options)
    } else if setting == BenchmarkTrained::NAME {
        typed::<BenchmarkTrained>(runs, cases, bench, options)
    } else if setting == Diagnostic::NAME {
        typed::<Diagnostic>(runs, cases, bench, options)
    } else {
        typed::<OtherDeclared>(runs, cases, bench, options)
    };
    compared.map_err(|err| err.context(other.path.display().to_string()))
}

fn print(compared: &[Compared<'_>], cases: &Cases, args: &Args, ui: &Ui) -> anyhow::Result<()> {
    ui.out(&match args.format {
        Format::Csv => long_table(compared, cases).render(args.format),
        format => {
            let tables = compared.iter().map(|one| {
                let (setting, first) = (words::setting(&one.block.setting), one.block.baseline());
                let caption = match &one.alone {
                    Some(_) => format!("{setting}: {first} alone"),
                    None => format!("{setting}: differences from {first}"),
                };
                block_table(one, cases).caption(caption).render(format)
            });
            tables.collect::<Vec<_>>().join("\n")
        }
    })?;
    let comparisons = || compared.iter().flat_map(|one| &one.comparisons);
    for warning in comparisons().flat_map(|comparison| &comparison.warnings) {
        ui.warn(warning);
    }
    let differences = || comparisons().flat_map(|comparison| &comparison.differences);
    let alone = || compared.iter().filter_map(|one| one.alone.as_ref());
    if alone().any(Alone::has_few)
        || differences().any(|d| d.queries < cleanhit_eval::exposure::THIN)
    {
        ui.note(FEW);
    }
    if differences().any(|d| !d.ties.survives) {
        ui.note("~ the sign of the difference depends on the order of equal scores");
    }
    if differences().any(|d| d.measure == Measure::Hsr) {
        ui.note("a lower HSR is better; w/t/l counts units whose score is higher, equal, lower");
    } else if alone().next().is_some() {
        ui.note("a lower HSR is better");
    }
    Ok(())
}

/// A block's comparisons, or its one run's own values.
struct Compared<'a> {
    block: &'a Block,
    comparisons: Vec<Comparison>,
    alone: Option<Alone>,
}

impl Block {
    fn baseline(&self) -> &str {
        self.runs.first().map_or("", |run| &run.file.method_id)
    }

    /// Each run after the baseline, with its comparison.
    fn others<'a>(
        &'a self,
        comparisons: &'a [Comparison],
    ) -> impl Iterator<Item = (&'a Ranks, &'a Comparison)> {
        self.runs.iter().skip(1).zip(comparisons)
    }
}

fn block_table(compared: &Compared<'_>, cases: &Cases) -> Table {
    let mut table = Table::of(columns());
    for row in compared.alone.iter().flat_map(|alone| alone.rows(cases)) {
        table.row(row);
    }
    for (run, comparison) in compared.block.others(&compared.comparisons) {
        table.rule();
        for difference in &comparison.differences {
            table.row(cells(&run.file.method_id, difference, cases));
        }
    }
    table
}

/// Every block in one table.
fn long_table(compared: &[Compared<'_>], cases: &Cases) -> Table {
    let mut table =
        Table::of(["setting", "baseline method"].map(Column::name).into_iter().chain(columns()));
    for Compared { block, comparisons, alone } in compared {
        let names = [words::setting(&block.setting), block.baseline()].map(Cell::from);
        for row in alone.iter().flat_map(|alone| alone.rows(cases)) {
            let none = [names[0].clone(), "–".into()];
            table.row(none.into_iter().chain(row));
        }
        for (run, comparison) in block.others(comparisons) {
            for difference in &comparison.differences {
                let names = names.clone();
                let cells = cells(&run.file.method_id, difference, cases);
                table.row(names.into_iter().chain(cells));
            }
        }
    }
    table
}

fn columns() -> [Column; 12] {
    [
        Column::name("method"),
        Column::groups("group"),
        Column::name("measure"),
        Column::number("K"),
        Column::number("baseline"),
        Column::number("value"),
        Column::several("diff", ["diff", "ties_decide"]),
        Column::several("95% interval", ["low", "high"]),
        Column::several("w/t/l", ["wins", "ties", "losses"]),
        Column::number("p sign"),
        Column::number("Holm"),
        Column::number("BH"),
    ]
}

/// One row of [`columns`].
fn cells(method_id: &str, d: &Difference, cases: &Cases) -> [Cell; 12] {
    let adjusted = |pick: fn(&cleanhit_eval::intervals::Adjusted) -> f64| {
        p_value(d.adjusted.as_ref().map(pick))
    };
    let few = d.queries < cleanhit_eval::exposure::THIN;
    let Interval { low, high } = d.micro_interval;
    [
        method_id.into(),
        Cell::marked(words::group(&d.group, cases), few),
        d.measure.to_string().into(),
        d.cutoff.get().to_string().into(),
        exact(Some(d.baseline)),
        exact(Some(d.treated)),
        difference(d.micro, 3, d.ties.survives),
        ends(low, high, 3),
        tally(d.tally.wins, d.tally.ties, d.tally.losses),
        p_value(Some(d.p)),
        adjusted(|a| a.holm),
        adjusted(|a| a.benjamini_hochberg),
    ]
}

fn to_json(block: &Block, comparisons: &[Comparison], cases: &Cases) -> Value {
    let difference = |d: &Difference| {
        json!({
            "group": d.group.name(cases),
            "measure": d.measure.key(),
            "k": d.cutoff.get(),
            "queries": d.queries,
            "units": d.units,
            "lineage_groups": d.lineage_groups,
            "baseline": d.baseline,
            "method": d.treated,
            "difference": d.micro,
            "ci95": [d.micro_interval.low, d.micro_interval.high],
            "unit_macro_difference": d.unit_macro,
            "unit_macro_ci95": [d.unit_macro_interval.low, d.unit_macro_interval.high],
            "wins": d.tally.wins,
            "ties": d.tally.ties,
            "losses": d.tally.losses,
            "p_sign": d.p,
            "p_bonferroni": d.adjusted.as_ref().map(|a| a.bonferroni),
            "p_holm": d.adjusted.as_ref().map(|a| a.holm),
            "p_bh": d.adjusted.as_ref().map(|a| a.benjamini_hochberg),
            "family_size": d.adjusted.as_ref().map(|a| a.family),
            "survives_ties": d.ties.survives,
            "survives_near_ties": d.ties.survives_near,
        })
    };
    let methods: Vec<Value> = comparisons
        .iter()
        .zip(&block.runs[1..])
        .map(|(comparison, run)| {
            json!({
                "method_id": run.file.method_id,
                "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
                "warnings": comparison.warnings,
            })
        })
        .collect();
    json!({
        "information_setting": block.setting,
        "baseline": block.runs[0].file.method_id,
        "methods": methods,
    })
}
