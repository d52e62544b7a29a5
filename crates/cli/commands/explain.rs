//! `cleanhit explain`: one query of a rank file, row by row.

use std::{collections::BTreeSet, path::PathBuf};

use anyhow::{Context as _, bail};
use cleanhit_core::{Depth, DocIx, Partition, Pool, Query, Ranking};
use cleanhit_eval::{Case, Cases};
use cleanhit_io::Benchmark;
use serde_json::json;

use super::Verdict;
use crate::{
    Registry,
    method::{Job, Ranked},
    results,
    scored::Ranks,
    tables::{Format, Table},
    ui::Ui,
};

/// Explain one query: order, scores, ties, families, and what the selector did
///
/// Where a receipt lies beside the rank file, the method is run again on this query to show
/// what stood before selection.
///
/// Examples:
///   cleanhit explain out/rrf q-1c0ffee
///   cleanhit explain out/rrf+released q-1c0 --rows 10
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// A rank file or a method's folder
    #[arg(value_name = "RANKS")]
    ranks: PathBuf,
    /// The query's id, or the start of it
    #[arg(value_name = "QUERY")]
    query: String,
    /// A bundled benchmark's name, or a folder [default: what the receipt names]
    #[arg(short, long, value_name = "BENCH")]
    bench: Option<String>,
    /// Rows to show
    #[arg(long, value_name = "N", default_value = "20")]
    rows: usize,
}

/// One row of the explanation.
#[derive(serde::Serialize)]
struct Row {
    rank: Option<usize>,
    /// Its place before selection, where the method has a selector.
    before: Option<usize>,
    candidate_id: String,
    score: f64,
    /// Its score equals that of the row above.
    tied: bool,
    family: Option<String>,
    role: &'static str,
    title: String,
}

pub(crate) fn run(args: &Args, registry: &Registry, ui: &Ui) -> anyhow::Result<Verdict> {
    let bench = results::bench_of(&args.ranks, args.bench.as_deref())?;
    let (pool, query) = find(&bench, &args.query)?;
    let ranks = Ranks::read(&args.ranks, &bench, true, ui)?;
    let ranking = ranks.file.rankings.get(&query.id).with_context(|| {
        format!("{}: query `{}` is not in the file", ranks.path.display(), query.id)
    })?;
    let cases = bench.labels.is_some().then(|| Cases::read(&bench)).and_then(Result::ok);
    let case = cases.as_ref().and_then(|cases| cases.get(query.id.as_str()));
    let again = selected_again(&ranks, &bench, query, cases.as_ref(), registry, ui)?;
    let before = again.as_ref().and_then(|again| again.before.as_ref()?.get(&query.id));
    let families = again.as_ref().and_then(|again| again.families.get(&query.id));
    let pool = &bench.pools[pool].pool;
    let rows = rows(ranking, before, families, case, pool, args.rows);
    if ui.json {
        ui.out_json(&json!({
            "method_id": ranks.file.method_id,
            "query_case_id": query.id.to_string(),
            "text": query.text,
            "unit_id": case.map(|case| &case.unit),
            "conflict_type": case.map(|case| &case.conflict_type),
            "rows": rows,
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!("query {}\n  {}\n", query.id, query.text.replace('\n', "\n  "));
    if let Some(case) = case {
        text.push_str(&format!("unit {} ({})\n", case.unit, case.conflict_type));
    }
    ui.out(&format!("{text}method {}\n\n", ranks.file.method_id))?;
    ui.out(&table(&rows, before.is_some()).render(Format::Text))?;
    if let Some(note) = reranked(&ranks)? {
        ui.note(&note);
    }
    if rows.iter().any(|row| row.tied) {
        ui.note("= has the score of the row above; the tie rule ordered them");
    }
    Ok(Verdict::Done)
}

fn find<'a>(bench: &'a Benchmark, id: &str) -> anyhow::Result<(usize, &'a Query)> {
    if let Some(found) = bench.find_query(id) {
        return Ok(found);
    }
    let pools = bench.pools.iter().enumerate();
    let all = pools.flat_map(|(i, pool)| pool.queries.iter().map(move |query| (i, query)));
    let matches: Vec<_> = all.filter(|(_, query)| query.id.as_str().starts_with(id)).collect();
    match matches[..] {
        [one] => Ok(one),
        [] => bail!("no query of benchmark `{}` starts with `{id}`", bench.name),
        [(_, first), (_, second), ..] => {
            bail!(
                "`{id}` is the start of {} queries, such as `{}` and `{}`",
                matches.len(),
                first.id,
                second.id
            )
        }
    }
}

/// What the scores are of a method that reranks fewer candidates than it keeps.
fn reranked(ranks: &Ranks) -> anyhow::Result<Option<String>> {
    let Some(receipt) = &ranks.receipt else { return Ok(None) };
    let card = receipt.method_card().context("the receipt's field `card`")?;
    let follow = card.rerank.filter(|rerank| rerank.top < receipt.settings.depth);
    Ok(follow.map(|rerank| {
        format!(
            "the first {} were put in order by the reranker; the others follow as the first stage ranked them, with scores that only say so",
            rerank.top
        )
    }))
}

/// Runs the receipt's method again on one query, if it has a selector.
fn selected_again(
    ranks: &Ranks,
    bench: &Benchmark,
    query: &Query,
    cases: Option<&Cases>,
    registry: &Registry,
    ui: &Ui,
) -> anyhow::Result<Option<Ranked>> {
    let Some(receipt) = &ranks.receipt else { return Ok(None) };
    let card = receipt.method_card().context("the receipt's field `card`")?;
    if card.select.is_none() {
        return Ok(None);
    }
    let only = BTreeSet::from([query.id.clone()]);
    let job = Job {
        registry,
        bench,
        cases,
        depth: Depth(receipt.settings.depth),
        ties: receipt.settings.ties.parse()?,
        only: Some(&only),
        keep_families: true,
        ui,
    };
    job.rank(&card).map(Some)
}

fn rows(
    ranking: &Ranking,
    before: Option<&Ranking>,
    families: Option<&Partition>,
    case: Option<&Case>,
    pool: &Pool,
    n: usize,
) -> Vec<Row> {
    let place = |ranking: &Ranking, doc: DocIx| ranking.hits().iter().position(|h| h.doc == doc);
    let kept: BTreeSet<DocIx> = ranking.hits().iter().map(|hit| hit.doc).collect();
    let dropped = before.iter().flat_map(|before| before.hits()).filter(|h| !kept.contains(&h.doc));
    let mut hits: Vec<_> = ranking.hits().iter().chain(dropped).copied().collect();
    if let Some(before) = before {
        // In the order before selection, so that a dropped sibling stands where it stood.
        hits.sort_by_key(|hit| {
            let at = place(before, hit.doc).unwrap_or(usize::MAX);
            (at, place(ranking, hit.doc))
        });
    }
    let mut last = None;
    let rows = hits.into_iter().take(n).map(|hit| {
        let tied = last == Some(hit.score);
        last = Some(hit.score);
        Row {
            rank: place(ranking, hit.doc).map(|i| i + 1),
            before: before.and_then(|before| place(before, hit.doc)).map(|i| i + 1),
            candidate_id: pool.id(hit.doc).to_string(),
            score: hit.score.get(),
            tied,
            family: families.map(|families| family(families, hit.doc)),
            role: match case {
                Some(case) if case.helpful == hit.doc => "helpful",
                Some(case) if case.sibling == hit.doc => "sibling",
                _ => "",
            },
            title: pool.corpus().title(hit.doc).chars().take(60).collect(),
        }
    });
    rows.collect()
}

/// A family's number, or a dash for a candidate that is alone.
fn family(families: &Partition, doc: DocIx) -> String {
    let group = families.group(doc);
    let members = families.groups().iter().filter(|&&other| other == group).count();
    if members < 2 { "–".to_owned() } else { format!("{group} ({members})") }
}

fn table(rows: &[Row], selected: bool) -> Table {
    let place = |place: Option<usize>| place.map_or("dropped".to_owned(), |p| p.to_string());
    let mut headings = vec!["candidate", "role", "title", "rank"];
    if selected {
        headings.extend(["before", "family"]);
    }
    headings.push("score");
    let mut table = Table::new(3, headings);
    for row in rows {
        let mut cells =
            vec![row.candidate_id.clone(), row.role.to_owned(), row.title.clone(), place(row.rank)];
        if selected {
            cells.push(row.before.map_or("–".to_owned(), |p| p.to_string()));
            cells.push(row.family.clone().unwrap_or_default());
        }
        cells.push(format!("{:.6}{}", row.score, if row.tied { " =" } else { "" }));
        table.row(cells);
    }
    table
}
