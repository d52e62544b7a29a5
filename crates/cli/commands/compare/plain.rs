//! Plain measures of several runs against the first, query by query.

use std::{num::NonZeroU32, path::Path};

use anyhow::bail;
use cleanhit_eval::{
    plain::{Evaluation, Measure, Missing, Qrels, evaluate},
    stats::{
        Groups, Plan, Randomization, Sampling, Spread, Statistic, TTest, Tally, Wilcoxon,
        benjamini_hochberg, bonferroni, bootstrap, differences, holm, paired_t, randomization_test,
        sign_test, tukey_two_way, wilcoxon,
    },
};
use serde::Serialize;

use super::{Args, difference, ends, p_value, tally};
use crate::{
    commands::score::{Order, Source, named, options, unjudged},
    locate,
    scored::measures,
    tables::{Cell, Column, Table},
    ui::Ui,
};

/// One run against the first, by one measure.
#[derive(Serialize)]
struct Row {
    measure: String,
    baseline: String,
    run: String,
    queries: usize,
    baseline_mean: f64,
    mean: f64,
    difference: f64,
    interval: [f64; 2],
    wins: u64,
    ties: u64,
    losses: u64,
    cohen_dz: Option<f64>,
    p_t: Option<f64>,
    p_randomization: f64,
    randomization: String,
    p_wilcoxon: f64,
    p_sign: f64,
    p_tukey: Option<f64>,
    p_randomization_bonferroni: f64,
    p_randomization_holm: f64,
    p_randomization_bh: f64,
    /// Whether the sign of the difference is the same for every order of equal scores.
    survives_ties: bool,
}

struct Scored {
    name: String,
    found: Evaluation,
}

pub(super) fn run(args: &Args, qrels_path: &Path, ui: &Ui) -> anyhow::Result<()> {
    let measures = measures(&args.measures)?;
    let qrels_bytes = locate::read_packed(qrels_path)?;
    let qrels = Qrels::parse(&qrels_bytes).map_err(|err| named(qrels_path, &err))?;
    let mut runs: Vec<Scored> = Vec::new();
    for path in &args.ranks {
        let source = Source::read(path)?;
        let run = source.run()?;
        let order = if source.is_rank_file() { Order::Rank } else { args.order };
        let options = options(order, args.missing);
        let found = evaluate(&run, &qrels, &measures, &options).map_err(|err| named(path, &err))?;
        if let Some(warning) = unjudged(&run, &qrels) {
            ui.warn(&format!("{}: {warning}", path.display()));
        }
        runs.push(Scored { name: path.display().to_string(), found });
    }
    let mut rows = Vec::new();
    for (at, &measure) in measures.iter().enumerate() {
        rows.extend(compare(&runs, at, measure, args)?);
    }
    if ui.json {
        return ui.out_json(&rows);
    }
    let names = ["measure", "run"].map(Column::name).into_iter();
    let values = ["baseline", "value"].map(Column::number);
    let differences = [
        Column::several("diff", ["diff", "ties_decide"]),
        Column::several("95% interval", ["low", "high"]),
        Column::several("w/t/l", ["wins", "ties", "losses"]),
    ];
    let tests = ["p rand", "p Holm", "p BH", "p t", "p Wilcoxon", "p sign", "p Tukey"];
    let columns = names.chain(values).chain(differences).chain(tests.map(Column::number));
    let mut table = Table::of(columns);
    for row in &rows {
        let mean = |x: f64| Cell::several(format!("{x:.4}"), [format!("{x:.6}")]);
        let p = p_value;
        table.row([
            row.measure.as_str().into(),
            row.run.as_str().into(),
            mean(row.baseline_mean),
            mean(row.mean),
            difference(row.difference, 4, row.survives_ties),
            ends(row.interval[0], row.interval[1], 4),
            tally(row.wins, row.ties, row.losses),
            p(Some(row.p_randomization)),
            p(Some(row.p_randomization_holm)),
            p(Some(row.p_randomization_bh)),
            p(row.p_t),
            p(Some(row.p_wilcoxon)),
            p(Some(row.p_sign)),
            p(row.p_tukey),
        ]);
    }
    ui.out(&table.render(args.format))?;
    ui.note(&format!("differences are from the first run, {}", runs[0].name));
    if rows.iter().any(|row| !row.survives_ties) {
        ui.note("~ the sign of the difference depends on the order of equal scores");
    }
    Ok(())
}

fn compare(runs: &[Scored], at: usize, measure: Measure, args: &Args) -> anyhow::Result<Vec<Row>> {
    let [baseline, others @ ..] = runs else { bail!("expected at least two runs") };
    let shared = answered_by_all(runs);
    if shared.is_empty() {
        bail!("the runs have no query of the qrels in common; expected at least one");
    }
    let values = |run: &Scored| -> Vec<f64> {
        shared.iter().map(|&q| run.found.queries[q].values[at].value).collect()
    };
    let all: Vec<Vec<f64>> = runs.iter().map(values).collect();
    let slices: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
    let tukey = tukey_two_way(&slices).ok();
    let groups = Groups::singletons(shared.len())?;
    let statistics =
        slices.iter().map(|v| Statistic::micro(&groups, v)).collect::<Result<Vec<_>, _>>()?;
    let plan = Plan { replicates: args.replicates, seed: args.seed };
    let drawn = bootstrap(&groups, &statistics, plan)?;
    let mut rows = Vec::new();
    for (i, other) in others.iter().enumerate() {
        let diffs = differences(&all[0], &all[i + 1])?;
        let interval = drawn[i + 1].minus(&drawn[0])?.interval(0.95)?;
        let samples = NonZeroU32::new(100_000).unwrap_or(NonZeroU32::MIN);
        let randomization = randomization_test(&diffs, Sampling { samples, seed: args.seed })?;
        let Randomization { p, method } = randomization;
        let tally = Tally::new(&diffs)?;
        let t: Option<TTest> = paired_t(&diffs).ok();
        let Wilcoxon { p: p_wilcoxon, .. } = wilcoxon(&diffs)?;
        let pairs = tukey.iter().flat_map(|tukey| &tukey.pairs);
        let pair = pairs.into_iter().find(|pair| pair.first == 0 && pair.second == i + 1);
        rows.push(Row {
            measure: measure.to_string(),
            baseline: baseline.name.clone(),
            run: other.name.clone(),
            queries: shared.len(),
            baseline_mean: drawn[0].point(),
            mean: drawn[i + 1].point(),
            difference: drawn[i + 1].point() - drawn[0].point(),
            interval: [interval.low, interval.high],
            wins: tally.wins,
            ties: tally.ties,
            losses: tally.losses,
            cohen_dz: t.and_then(|t| match t.spread {
                Spread::Varied { dz, .. } => Some(dz),
                Spread::Identical | Spread::Constant => None,
            }),
            p_t: t.and_then(|t| t.p()),
            p_randomization: p,
            randomization: format!("{method:?}").to_lowercase(),
            p_wilcoxon,
            p_sign: sign_test(tally),
            p_tukey: pair.and_then(|pair| pair.p),
            p_randomization_bonferroni: 1.0,
            p_randomization_holm: 1.0,
            p_randomization_bh: 1.0,
            survives_ties: survives_ties(baseline, other, &shared, at),
        });
    }
    // The family: every run against the first, by this measure.
    let p: Vec<f64> = rows.iter().map(|row| row.p_randomization).collect();
    let (all, step, rate) = (bonferroni(&p)?, holm(&p)?, benjamini_hochberg(&p)?);
    for (i, row) in rows.iter_mut().enumerate() {
        row.p_randomization_bonferroni = all[i];
        row.p_randomization_holm = step[i];
        row.p_randomization_bh = rate[i];
    }
    Ok(rows)
}

/// The queries of the qrels to compare over: all, or those that every run answers.
fn answered_by_all(runs: &[Scored]) -> Vec<usize> {
    let n = runs[0].found.queries.len();
    let counts = |run: &Scored, q: usize| match run.found.missing {
        Missing::Zero => true,
        Missing::Skip => run.found.queries[q].retrieved != 0,
    };
    (0..n).filter(|&q| runs.iter().all(|run| counts(run, q))).collect()
}

fn survives_ties(baseline: &Scored, other: &Scored, shared: &[usize], at: usize) -> bool {
    let sum = |of: &dyn Fn(usize) -> f64| shared.iter().map(|&q| of(q)).sum::<f64>();
    let value = |run: &Scored, q: usize| run.found.queries[q].values[at];
    let least = sum(&|q| value(other, q).worst - value(baseline, q).best);
    let seen = sum(&|q| value(other, q).value - value(baseline, q).value);
    let most = sum(&|q| value(other, q).best - value(baseline, q).worst);
    let sign = |x: f64| {
        if x.abs() < 1e-12 {
            0
        } else if x < 0.0 {
            -1
        } else {
            1
        }
    };
    sign(least) == sign(seen) && sign(most) == sign(seen)
}
