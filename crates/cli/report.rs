//! `report.md`: what a run found, for people.

use std::fmt::Write as _;

use cleanhit_core::Cutoff;
use cleanhit_eval::{By, Cases, Measure, Summary, exposure::Counts, files::Leaderboard};
use cleanhit_io::{Benchmark, counted};

use crate::{
    results::{Scored, leaderboard_table},
    tables::{Cell, Column, Format, Table, rate},
    words,
};

/// The whole report as Markdown.
pub(crate) fn markdown(
    bench: &Benchmark,
    cases: &Cases,
    scored: &[Scored<'_>],
    board: &Leaderboard,
) -> String {
    let mut text = format!("# {}\n\n", bench.name);
    let queries = cases.iter().filter(|case| case.counted).count();
    let _ = writeln!(
        text,
        "{} over {} ({}). Gate `{}`.\n",
        counted(queries, "counted query"),
        counted(bench.pools.len(), "pool"),
        bench
            .pools
            .iter()
            .map(|pool| {
                format!("`{}`: {}", pool.pool.name(), counted(pool.pool.len(), "candidate"))
            })
            .collect::<Vec<_>>()
            .join(", "),
        bench.gate_sha256
    );
    text.push_str(
        "Recall@K: the helpful skill is in the first K. HSR@K: its marked sibling is; lower is \
         better. CleanHit@K: the helpful skill is and the sibling is not. Intervals are 95% \
         group-bootstrap intervals over lineage groups. Both hit: both are. Co-exposed: of the \
         lists that hold the helpful skill, the share that hold the sibling too. Ranks hold \
         within one information setting only; † marks groups with fewer than 30 \
         queries.\n\n## Leaderboard\n\n",
    );
    text.push_str(&leaderboard_table(board).render(Format::Markdown));
    section(&mut text, "By cutoff", &by_cutoff(scored));
    section(&mut text, "By stratum, at 3", &strata(scored, cases));
    text.push_str(
        "\nThe next three tables show HSR@3 / CleanHit@3 of the ranked methods. Every measure of \
         every method at every cutoff, by mechanism, type and source, is in \
         `<method>/metrics.json`, and `cleanhit score` shows it with intervals.\n",
    );
    section(&mut text, "By mechanism, at 3", &matrix(scored, cases, By::Mechanism));
    section(&mut text, "By type, at 3", &matrix(scored, cases, By::ConflictType));
    section(&mut text, "By source, at 3", &matrix(scored, cases, By::Source).transposed("source"));
    section(&mut text, "First rank and order", &first_rank(scored));
    if scored.iter().any(|one| !one.selection.is_empty()) {
        section(&mut text, "What selectors did", &selection(scored));
        text.push_str(
            "\nHSR after = HSR before × (1 − resolved / exposed before) + promoted / queries \
             (equation 4 of *Right Family, Wrong Skill*).\n",
        );
    }
    section(&mut text, "Ties at 3", &ties(scored));
    text
}

fn section(text: &mut String, heading: &str, table: &Table) {
    let _ = write!(text, "\n## {heading}\n\n{}", table.render(Format::Markdown));
}

fn main(one: &Scored<'_>) -> Summary {
    one.evaluation.summary(cleanhit_eval::Scope::MainComparison)
}

fn three(one: &Scored<'_>) -> Option<Cutoff> {
    one.evaluation.cutoffs().iter().find(|cutoff| cutoff.get() == 3)
}

fn by_cutoff(scored: &[Scored<'_>]) -> Table {
    let mut table = Table::new(
        1,
        [
            "method",
            "K",
            "Recall",
            "HSR",
            "CleanHit",
            "both hit",
            "co-exposed",
            "unit-macro Recall",
            "unit-macro HSR",
            "unit-macro CleanHit",
        ],
    );
    for one in scored {
        for counts in main(one).at {
            let mut row = vec![one.card.method_id.clone(), counts.cutoff.get().to_string()];
            row.extend(Measure::ALL.map(|measure| rate(counts.micro(measure))));
            row.push(rate(counts.both_rate()));
            row.push(rate(counts.conditional_co_exposure()));
            row.extend(Measure::ALL.map(|measure| rate(counts.unit_macro(measure))));
            table.row(row);
        }
    }
    table
}

fn strata(scored: &[Scored<'_>], cases: &Cases) -> Table {
    let names = [Column::name("method"), Column::groups("stratum")].into_iter();
    let numbers = ["queries", "Recall", "HSR", "CleanHit", "co-exposed"].map(Column::number);
    let mut table = Table::of(names.chain(numbers));
    for one in scored {
        let Some(k) = three(one) else { continue };
        for summary in one.evaluation.by(By::Stratum) {
            let counts = summary.at(k);
            let method = Cell::from(one.card.method_id.as_str());
            let mut row = vec![method, words::group_cell(&summary, cases)];
            row.push(summary.queries.to_string().into());
            row.extend(Measure::ALL.map(|measure| micro(counts, measure).into()));
            row.push(rate(counts.and_then(|counts| counts.conditional_co_exposure())).into());
            table.row(row);
        }
    }
    table
}

fn micro(counts: Option<&Counts>, measure: Measure) -> String {
    rate(counts.and_then(|counts| counts.micro(measure)))
}

/// HSR / CleanHit at 3: a row for each ranked method, a column for each group.
fn matrix(scored: &[Scored<'_>], cases: &Cases, by: By) -> Table {
    let ranked = scored.iter().filter(|one| one.card.setting().is_some_and(|s| s.is_ranked()));
    let rows: Vec<(&Scored<'_>, Vec<Summary>)> =
        ranked.map(|one| (one, one.evaluation.by(by))).collect();
    let groups = rows.first().map_or(&[][..], |(_, summaries)| summaries);
    let headings = groups.iter().map(|summary| {
        let mark = if summary.is_thin() { " †" } else { "" };
        let name = words::group(&summary.group, cases);
        Column::number(format!("{name} ({}){mark}", summary.queries))
    });
    let mut table = Table::of(std::iter::once(Column::name("method")).chain(headings));
    for (one, summaries) in &rows {
        let Some(k) = three(one) else { continue };
        let cells = summaries.iter().map(|summary| {
            let of = |measure| micro(summary.at(k), measure);
            Cell::from(format!("{} / {}", of(Measure::Hsr), of(Measure::CleanHit)))
        });
        table.row(std::iter::once(Cell::from(one.card.method_id.as_str())).chain(cells));
    }
    table
}

fn first_rank(scored: &[Scored<'_>]) -> Table {
    let mut table = Table::new(
        1,
        ["method", "Recall@1", "HSR@1", "lists with both", "sibling first among them"],
    );
    for one in scored {
        let summary = main(one);
        let first = summary.first_rank();
        table.row([
            one.card.method_id.clone(),
            rate(first.and_then(|counts| counts.micro(Measure::Recall))),
            rate(first.and_then(|counts| counts.micro(Measure::Hsr))),
            summary.order.listed.to_string(),
            rate(summary.order.sibling_first_rate()),
        ]);
    }
    table
}

fn selection(scored: &[Scored<'_>]) -> Table {
    let mut table = Table::new(
        1,
        [
            "method",
            "K",
            "exposed before",
            "resolved",
            "promoted",
            "exposed after",
            "HSR before",
            "HSR after",
        ],
    );
    for one in scored {
        for account in &one.selection {
            table.row([
                one.card.method_id.clone(),
                account.cutoff.get().to_string(),
                account.before.to_string(),
                account.resolved.to_string(),
                account.promoted.to_string(),
                account.after.to_string(),
                rate(account.hsr_before()),
                rate(account.hsr_after()),
            ]);
        }
    }
    table
}

fn ties(scored: &[Scored<'_>]) -> Table {
    let mut table = Table::new(
        1,
        [
            "method",
            "ties",
            "near-ties (1e-6)",
            "Recall, worst to best",
            "HSR, worst to best",
            "CleanHit, worst to best",
        ],
    );
    for one in scored {
        let Some(k) = three(one) else { continue };
        let reports = one.evaluation.ties(cleanhit_eval::Scope::MainComparison);
        for report in reports.iter().filter(|report| report.cutoff == k) {
            let range = |measure: Measure| {
                let bounds = report.exact.bounds(measure);
                let share = |count: u64| {
                    rate((0 < report.queries).then(|| count as f64 / report.queries as f64))
                };
                let (low, high) = (share(bounds.low), share(bounds.high));
                if measure.lower_is_better() {
                    format!("{high} to {low}")
                } else {
                    format!("{low} to {high}")
                }
            };
            table.row([
                one.card.method_id.clone(),
                report.exact.tied.to_string(),
                report.near.tied.saturating_sub(report.exact.tied).to_string(),
                range(Measure::Recall),
                range(Measure::Hsr),
                range(Measure::CleanHit),
            ]);
        }
    }
    table
}
