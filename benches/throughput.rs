//! Times one job in process, on one thread, and prints one line of JSON.
//!
//! The scripts of `bench/` run it beside the peers. A pass of `cases` and of `trec` reads its
//! files anew; the pools of a benchmark are read before the first pass.

mod clock;

use std::{collections::BTreeMap, fs, io::Write as _, num::NonZeroU32, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};
use cleanhit_core::{Cutoff, Depth, QueryText, Ranking, Retriever, TieKeys, TieRule};
use cleanhit_eval::{
    Cases, Cutoffs, Evaluation, Measure, Scope,
    plain::{self, Options, Qrels, Run},
    stats::{Groups, Plan, Resampled, Statistic, bootstrap},
};
use cleanhit_io::{BenchPool, Benchmark, Expect, Folder, InputError, read_ranks};
use cleanhit_lexical::{Analyser, Bm25Exact, Bm25Params, Bm25Tantivy, TantivyParams};
use clock::{Seconds, timed};
use serde_json::{Map, Value, json};

/// Three rates.
type Triple = (f64, f64, f64);

const DEPTH: Depth = Depth(NonZeroU32::MIN.saturating_add(19));
const MEASURES: &str = "nDCG@10,AP,RR,P@5,R@20";

/// One job, timed.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    job: Job,
    /// What `cargo bench` adds
    #[arg(long, global = true, hide = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum Job {
    /// Index a pool and answer its queries
    Retrieve {
        folder: PathBuf,
        #[arg(long)]
        method: Method,
        #[arg(long, default_value_t = 5)]
        passes: usize,
        /// Write each query's list here
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Write the tokens of a pool and of its queries
    Tokens {
        folder: PathBuf,
        #[arg(long)]
        out: PathBuf,
    },
    /// Read a rank file and labels, and compute Recall, HSR and CleanHit
    Cases {
        folder: PathBuf,
        #[arg(long)]
        ranks: PathBuf,
        #[arg(long, default_value_t = 5)]
        passes: usize,
    },
    /// Read a TREC run and qrels, and compute five measures
    Trec {
        #[arg(long)]
        run: PathBuf,
        #[arg(long)]
        qrels: PathBuf,
        #[arg(long, default_value_t = 3)]
        passes: usize,
    },
    /// Resample three measures by lineage group
    Bootstrap {
        folder: PathBuf,
        #[arg(long)]
        ranks: PathBuf,
        #[arg(long)]
        replicates: NonZeroU32,
        #[arg(long, default_value_t = 3)]
        passes: usize,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    #[value(name = "bm25")]
    Tantivy,
    #[value(name = "bm25_exact")]
    Exact,
}

fn main() -> Result<()> {
    // The main thread is the only one.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let document = match Args::parse().job {
        Job::Retrieve { folder, method, passes, out } => retrieve(folder, method, passes, out),
        Job::Tokens { folder, out } => tokens(folder, out),
        Job::Cases { folder, ranks, passes } => cases(folder, ranks, passes),
        Job::Trec { run, qrels, passes } => trec(run, qrels, passes),
        Job::Bootstrap { folder, ranks, replicates, passes } => {
            resample(folder, ranks, replicates, passes)
        }
    }?;
    writeln!(std::io::stdout(), "{document}")?;
    Ok(())
}

fn retrieve(folder: PathBuf, method: Method, passes: usize, out: Option<PathBuf>) -> Result<Value> {
    let (read, pool) = timed(|| only_pool(folder))?;
    let corpus = pool.pool.corpus();
    let build = || -> Result<Box<dyn Retriever>> {
        Ok(match method {
            Method::Tantivy => Box::new(Bm25Tantivy::new(corpus, TantivyParams::default())?),
            Method::Exact => Box::new(Bm25Exact::new(corpus, Bm25Params::default())?),
        })
    };
    let (first, built) = timed(build)?;
    drop(built);
    let (second, retriever) = timed(build)?;
    let answer = || -> Result<Vec<Ranking>> {
        let keys = |query| TieKeys::new(TieRule::default(), query, &pool.pool);
        let batch: Vec<(QueryText<'_>, TieKeys)> =
            pool.queries.iter().map(|query| (query.as_text(), keys(&query.id))).collect();
        retriever.retrieve(&batch, DEPTH).map_err(anyhow::Error::from_boxed)
    };
    let (warm_up, rankings) = timed(answer)?;
    let seconds = repeat(warm_up, passes, || answer().map(drop))?;
    if let Some(out) = out {
        let lists: BTreeMap<&str, Vec<(&str, f64)>> = (pool.queries.iter().zip(&rankings))
            .map(|(query, ranking)| {
                let hits = ranking.hits().iter();
                let named = hits.map(|hit| (pool.pool.id(hit.doc).as_str(), hit.score.get()));
                (query.id.as_str(), named.collect())
            })
            .collect();
        fs::write(out, serde_json::to_vec(&lists)?)?;
    }
    Ok(json!({
        "skills": pool.pool.len(),
        "queries": pool.queries.len(),
        "read": read,
        "index": [first, second],
        "warm_up_s": warm_up.wall,
        "passes": seconds,
    }))
}

fn tokens(folder: PathBuf, out: PathBuf) -> Result<Value> {
    let BenchPool { pool, queries } = only_pool(folder)?;
    let split = |text: &str| json!(Analyser::Default.tokens(text));
    let named = |doc| (pool.id(doc).as_str().to_owned(), split(pool.corpus().text(doc)));
    let pool: Map<String, Value> = pool.corpus().docs().map(named).collect();
    let asked = queries.iter().map(|q| (q.id.as_str().to_owned(), split(&q.text)));
    let document = json!({ "pool": pool, "queries": asked.collect::<Map<_, _>>() });
    fs::write(out, serde_json::to_vec(&document)?)?;
    Ok(json!({ "skills": pool.len(), "queries": queries.len() }))
}

fn cases(folder: PathBuf, ranks: PathBuf, passes: usize) -> Result<Value> {
    let bench = open(folder)?;
    let compute = || -> Result<Map<String, Value>> {
        let cases = Cases::read(&bench).map_err(all)?;
        let ranks = fs::read(&ranks)?;
        let file = read_ranks("ranks", &ranks, &bench, Expect::Submission).map_err(all)?;
        let cutoffs = Cutoffs::default();
        let evaluation = Evaluation::new(&cases, &bench, &file.rankings, &cutoffs)?;
        let summary = evaluation.summary(Scope::MainComparison);
        let mut values = Map::new();
        for counts in &summary.at {
            for measure in Measure::ALL {
                let name = format!("{}@{}", measure.key(), counts.cutoff.get());
                values.insert(name, json!(counts.micro(measure)));
            }
        }
        Ok(values)
    };
    let (warm_up, values) = timed(compute)?;
    let seconds = repeat(warm_up, passes, || compute().map(drop))?;
    Ok(json!({ "values": values, "warm_up_s": warm_up.wall, "passes": seconds }))
}

fn trec(run: PathBuf, qrels: PathBuf, passes: usize) -> Result<Value> {
    let measures = plain::Measure::parse_list(MEASURES)?;
    let compute = || -> Result<Map<String, Value>> {
        let (run, qrels) = (fs::read(&run)?, fs::read(&qrels)?);
        let (run, qrels) = (Run::parse(&run)?, Qrels::parse(&qrels)?);
        let evaluation = plain::evaluate(&run, &qrels, &measures, &Options::default())?;
        let values = evaluation.summary().into_iter().map(|mean| json!(mean.map(|m| m.value)));
        Ok(MEASURES.split(',').map(str::to_owned).zip(values).collect())
    };
    let (warm_up, values) = timed(compute)?;
    let seconds = repeat(warm_up, passes, || compute().map(drop))?;
    Ok(json!({ "values": values, "warm_up_s": warm_up.wall, "passes": seconds }))
}

fn resample(
    folder: PathBuf,
    ranks: PathBuf,
    replicates: NonZeroU32,
    passes: usize,
) -> Result<Value> {
    let bench = open(folder)?;
    let cases = Cases::read(&bench).map_err(all)?;
    let file = read_ranks("ranks", &fs::read(ranks)?, &bench, Expect::Submission).map_err(all)?;
    let cutoff = Cutoff(NonZeroU32::MIN.saturating_add(2));
    let evaluation = Evaluation::new(&cases, &bench, &file.rankings, &Cutoffs::new([cutoff])?)?;
    let lineages: Vec<&str> = cases.iter().map(|case| &*case.lineage_group).collect();
    let plan = Plan { replicates, ..Plan::default() };
    let compute = || -> Result<(usize, Vec<Triple>)> {
        let groups = Groups::new(&lineages)?;
        let statistic = |measure: Measure| {
            let observed = |query: &str| evaluation.observed(query).unwrap_or_default();
            let value =
                |query: &str| f64::from(u8::from(observed(query).satisfies(measure, cutoff)));
            let values: Vec<f64> = cases.iter().map(|case| value(case.query.as_str())).collect();
            Statistic::micro(&groups, &values)
        };
        let statistics = Measure::ALL.into_iter().map(statistic).collect::<Result<Vec<_>, _>>()?;
        let resampled = bootstrap(&groups, &statistics, plan)?;
        let interval =
            |r: &Resampled| Ok((r.point(), r.interval(0.95)?.low, r.interval(0.95)?.high));
        Ok((groups.count(), resampled.iter().map(interval).collect::<Result<_>>()?))
    };
    let (warm_up, (groups, intervals)) = timed(compute)?;
    let seconds = repeat(warm_up, passes, || compute().map(drop))?;
    Ok(json!({
        "queries": cases.len(),
        "groups": groups,
        "intervals": intervals,
        "warm_up_s": warm_up.wall,
        "passes": seconds,
    }))
}

/// Times passes. A job far shorter than the system's clock ticks is repeated within a pass.
fn repeat(
    once: Seconds,
    passes: usize,
    mut job: impl FnMut() -> Result<()>,
) -> Result<Vec<Seconds>> {
    let times = (1..1000).find(|&n| 0.1 < f64::from(n) * once.wall).unwrap_or(1000);
    let mut pass = || (0..times).try_for_each(|_| job());
    (0..passes).map(|_| Ok(timed(&mut pass)?.0 / f64::from(times))).collect()
}

fn open(folder: PathBuf) -> Result<Benchmark> {
    Benchmark::open(Folder::Disk(folder)).context("cannot open the benchmark")
}

fn only_pool(folder: PathBuf) -> Result<BenchPool> {
    let mut pools = open(folder)?.pools;
    match (pools.pop(), pools.is_empty()) {
        (Some(pool), true) => Ok(pool),
        _ => bail!("expected a benchmark of one pool"),
    }
}

/// The first of all violations.
fn all(errors: Vec<InputError>) -> anyhow::Error {
    match errors.into_iter().next() {
        Some(error) => error.into(),
        None => anyhow::anyhow!("refused without a reason"),
    }
}
