//! `cleanhit import`: other tools' files to ours.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use cleanhit_core::{Candidate, Depth, Query, QueryId, Ranking, Rankings};
use cleanhit_eval::plain;
use cleanhit_io::{
    Benchmark, Collection, NewPool, RunOrder, counted, parse_beir_queries, parse_queries,
    parse_sr_agents, parse_trec_run, read_beir, read_file, refuse_overwrite, render, write_bench,
    write_qrels, write_ranks, write_scored,
};
use serde_json::json;

use super::{
    Verdict,
    pool::{Scanned, none_read, note_not_read, read_all},
};
use crate::{bundled::DEFAULT_BENCH, locate, ranking, ui::Ui};

/// Read other tools' collections and runs
///
/// Examples:
///   cleanhit import skills ~/skills --queries my-queries.jsonl -o my-bench
///   cleanhit import beir scifact -o my-bench
///   cleanhit import trec my.run -b ./my-bench -o ranks.tsv
///   cleanhit import sr-agents results.json -o imported
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// Your skills and queries as a benchmark without labels, for `rank -b`
    Skills {
        /// Folders of SKILL.md files, pools and skill JSONL
        #[arg(value_name = "DIR", required = true)]
        sources: Vec<PathBuf>,
        /// JSONL with query_case_id (or _id) and text a line
        #[arg(long, value_name = "FILE")]
        queries: PathBuf,
        /// How a skill becomes text [default: name_desc_body; text for pools]
        #[arg(long, value_name = "NAME")]
        template: Option<String>,
        /// The folder to write
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// A BEIR folder as a benchmark without labels, and its qrels as TREC qrels
    Beir {
        /// The folder that holds corpus.jsonl, queries.jsonl and qrels/
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The folder to write
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// A TREC run as a rank file of a benchmark
    Trec {
        /// The run
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// A bundled benchmark's name, or a folder
        #[arg(short, long, value_name = "BENCH", default_value = DEFAULT_BENCH)]
        bench: String,
        /// What orders the run: its rank column, or its scores as trec_eval reads them
        #[arg(long, value_enum, default_value_t)]
        order: Order,
        /// Rows kept for each query
        #[arg(long, value_name = "N", default_value = "20")]
        depth: std::num::NonZeroU32,
        /// The rank file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// SR-Agents retrieval results as a TREC run and qrels
    SrAgents {
        /// The JSON file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The folder to write run.trec and qrels.trec to
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Order {
    /// The rank column
    #[default]
    Rank,
    /// Score descending, document id descending
    Trec,
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::Skills { sources, queries, template, output } => {
            skills(sources, queries, template.as_deref(), output, ui)?;
        }
        Command::Beir { folder, output } => beir(folder, output, ui)?,
        Command::Trec { run, bench, order, depth, output } => {
            let bench = locate::bench(bench)?;
            trec(run, &bench, *order, Depth(*depth), output, ui)?;
        }
        Command::SrAgents { file, output } => sr_agents(file, output, ui)?,
    }
    Ok(Verdict::Done)
}

fn skills(
    sources: &[PathBuf],
    queries_file: &Path,
    template: Option<&str>,
    output: &Path,
    ui: &Ui,
) -> anyhow::Result<()> {
    let Scanned { scan, template } = read_all(sources, template)?;
    none_read(&scan, sources)?;
    note_not_read(&scan, ui);
    let name = queries_file.display().to_string();
    let bytes = locate::read(queries_file)?;
    let queries = parse_queries(&name, &bytes)
        .or_else(|errors| parse_beir_queries(&name, &bytes).map_err(|_| errors))
        .map_err(|errors| locate::first(&errors))?;
    some_query(&name, queries.len())?;
    one_word(&sources[0], "skill", scan.skills.iter().map(|skill| skill.id.as_str()))?;
    check_queries(queries_file, &queries, ui)?;
    let candidates = scan.skills.iter().map(|skill| Candidate {
        id: skill.id.as_str().into(),
        text: render(template, skill),
        name: Some(skill.name.clone()),
    });
    let refused = scan.refused().count();
    if 0 < refused {
        let refused = counted(refused, "file");
        ui.warn(&format!("{refused} refused; `cleanhit pool stats` names each"));
    }
    let new = NewPool { id: "skills".into(), candidates: candidates.collect(), queries };
    let mut inputs = sources.to_vec();
    inputs.push(queries_file.to_owned());
    written(output, vec![new], &inputs, ui)
}

fn beir(folder: &Path, output: &Path, ui: &Ui) -> anyhow::Result<()> {
    let Collection { candidates, queries, qrels, warnings } =
        read_beir(folder).map_err(|errors| locate::first(&errors))?;
    for warning in warnings {
        ui.warn(&warning.to_string());
    }
    some_query(&folder.join("queries.jsonl").display().to_string(), queries.len())?;
    let ids = candidates.iter().map(|candidate| candidate.id.as_str());
    one_word(&folder.join("corpus.jsonl"), "document", ids)?;
    check_queries(&folder.join("queries.jsonl"), &queries, ui)?;
    let splits = qrels.keys().map(|split| format!("qrels/{split}.tsv"));
    let read = ["corpus.jsonl", "queries.jsonl"].map(str::to_owned).into_iter().chain(splits);
    let packed = |name: String| ["", ".gz", ".zst"].map(|end| folder.join(format!("{name}{end}")));
    let inputs: Vec<PathBuf> = read.flat_map(packed).collect();
    let mut files = Vec::new();
    for (split, judgements) in &qrels {
        let path = output.join(format!("{split}.qrels"));
        refuse_overwrite(&path, inputs.iter().map(PathBuf::as_path))?;
        let name = folder.join(format!("qrels/{split}.tsv"));
        files.push((path, write_qrels(&name.display().to_string(), judgements)?));
    }
    written(output, vec![NewPool { id: "corpus".into(), candidates, queries }], &inputs, ui)?;
    for (path, bytes) in files {
        ranking::write(&path, &bytes)?;
        ui.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Refuses queries that no run can hold, and warns of those without text.
fn check_queries(file: &Path, queries: &[Query], ui: &Ui) -> anyhow::Result<()> {
    one_word(file, "query", queries.iter().map(|query| query.id.as_str()))?;
    let empty: Vec<&Query> = queries.iter().filter(|query| query.text.trim().is_empty()).collect();
    if let Some(first) = empty.first() {
        ui.warn(&format!(
            "{}: {} without text, the first `{}`",
            file.display(),
            counted(empty.len(), "query"),
            first.id
        ));
    }
    Ok(())
}

/// Refuses an id that a TREC run can't hold: what is imported can be exported.
fn one_word<'a>(
    file: &Path,
    what: &str,
    mut ids: impl Iterator<Item = &'a str>,
) -> anyhow::Result<()> {
    match ids.find(|id| id.contains(char::is_whitespace)) {
        None => Ok(()),
        Some(id) => bail!(
            "{}: {what} id `{id}` holds white space; expected one word, as TREC runs have it",
            file.display()
        ),
    }
}

fn written(output: &Path, pools: Vec<NewPool>, inputs: &[PathBuf], ui: &Ui) -> anyhow::Result<()> {
    let name = output.file_name().map_or("bench".into(), |name| name.to_string_lossy());
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .collect();
    let name = name.trim_matches('.');
    let name = if name.is_empty() { "bench" } else { name };
    write_bench(output, name, "0.1.0", &pools, inputs)?;
    let (candidates, queries): (usize, usize) = pools
        .iter()
        .fold((0, 0), |(c, q), pool| (c + pool.candidates.len(), q + pool.queries.len()));
    ui.note(&format!(
        "wrote {0}: {1}, {2}; rank them with `cleanhit rank -m bm25 -b {0} -o out`",
        shown(output),
        counted(candidates, "candidate"),
        counted(queries, "query")
    ));
    if ui.json {
        ui.out_json(&json!({ "bench": output, "candidates": candidates, "queries": queries }))?;
    }
    Ok(())
}

/// Without a query there is nothing to rank for.
fn some_query(file: &str, queries: usize) -> anyhow::Result<()> {
    if queries == 0 {
        bail!("{file}: holds no query; expected at least one");
    }
    Ok(())
}

/// A folder as `-b` takes it: with a `/`.
fn shown(folder: &Path) -> String {
    let text = folder.display().to_string();
    if locate::is_path(&text) { text } else { format!("./{text}") }
}

fn trec(
    run: &Path,
    bench: &Benchmark,
    order: Order,
    depth: Depth,
    output: &Path,
    ui: &Ui,
) -> anyhow::Result<()> {
    let name = run.display().to_string();
    let bytes = locate::read(run)?;
    locate::output(output, bench, [run])?;
    let run_order = match order {
        Order::Rank => RunOrder::Rank,
        Order::Trec => RunOrder::Trec,
    };
    let file =
        parse_trec_run(&name, &bytes, bench, run_order).map_err(|errors| locate::first(&errors))?;
    if let Some(first) = file.differ.first() {
        ui.warn(&format!(
            "{name}: in {} the rank column and the scores differ in order, the first `{first}`; {} is used",
            counted(file.differ.len(), "query"),
            match order {
                Order::Rank => "the rank column",
                Order::Trec => "score order",
            }
        ));
    }
    let cut =
        |(query, ranking): (&QueryId, &Ranking)| (query.clone(), ranking.clone().truncate(depth));
    let rankings = Rankings::new(depth, file.rankings.iter().map(cut).collect());
    let missing: Vec<&Query> = bench
        .pools
        .iter()
        .flat_map(|pool| &pool.queries)
        .filter(|query| rankings.get(&query.id).is_none())
        .collect();
    if let Some(first) = missing.first() {
        ui.warn(&format!(
            "{name}: lacks {} of the benchmark, the first `{}`",
            counted(missing.len(), "query"),
            first.id
        ));
    }
    ranking::write(output, &write_ranks(&file.tag, bench, &rankings))?;
    ui.note(&format!("wrote {}", output.display()));
    if ui.json {
        let queries = rankings.iter().len();
        ui.out_json(&json!({ "output": output, "method_id": file.tag, "queries": queries }))?;
    }
    Ok(())
}

fn sr_agents(path: &Path, output: &Path, ui: &Ui) -> anyhow::Result<()> {
    let bytes = read_file(path)?;
    let name = path.display().to_string();
    let file = parse_sr_agents(&name, &bytes).map_err(|errors| locate::first(&errors))?;
    some_query(&name, file.run.len())?;
    if let Some(first) = file.without_gold.first() {
        ui.warn(&format!(
            "{name}: {} without a gold skill, the first `{first}`: in the run and not in the qrels, \
             so measures leave them out",
            counted(file.without_gold.len(), "instance")
        ));
    }
    let named = |error| locate::in_file(path, error);
    let run = write_scored("sr-agents", &file.run).map_err(named)?;
    let qrels = write_qrels(&name, &file.qrels)?;
    // What was written is what `score --qrels` reads.
    plain::Run::parse(&run).map_err(|err| anyhow!("{name}: {err}"))?;
    let files = [("run.trec", &run), ("qrels.trec", &qrels)];
    let files = files.map(|(name, bytes)| (output.join(name), bytes));
    for (to, _) in &files {
        refuse_overwrite(to, [path])?;
    }
    for (to, bytes) in &files {
        ranking::write(to, bytes)?;
        ui.note(&format!("wrote {}", to.display()));
    }
    if ui.json {
        let written: Vec<&PathBuf> = files.iter().map(|(to, _)| to).collect();
        ui.out_json(&json!({ "files": written, "queries": file.run.len(), "without_gold": file.without_gold }))?;
    }
    Ok(())
}
