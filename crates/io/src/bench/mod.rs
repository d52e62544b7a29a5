//! A benchmark as methods see it: pools and queries, and where the rest is.

mod bundle;
mod parse;
mod toml_file;
mod write;

use std::{path::PathBuf, sync::Arc};

use cleanhit_core::{Pool, Query, QueryId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

pub use parse::{parse_candidates, parse_queries};
#[cfg(test)]
pub(crate) use write::bench_files;
pub(crate) use write::jsonl;
pub use write::{NewPool, write_bench};

use crate::{
    counted::counted,
    error::{InputError, Violations, first, tick},
    files::{FileDigest, sha256_hex},
    folder::Folder,
};

/// Pools and queries of a benchmark, checked. Holds no label.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// SHA-256 of `bench.toml` or of `benchmark/FREEZE_GATE.json`, which lists all else.
    pub gate_sha256: String,
    /// Its pools, in the order listed.
    pub pools: Vec<BenchPool>,
    /// The files of pools and queries, with the digests they were found to have.
    pub inputs: Vec<FileDigest>,
    /// What the paths here are relative to.
    pub folder: Folder,
    /// The label file, which was not opened.
    pub labels: Option<FileRef>,
    /// The disclosed family relation, which was not opened.
    pub families: Option<FileRef>,
    /// Every file that the benchmark lists, label files included, for [`Benchmark::verify_all`].
    pub listed: Vec<FileRef>,
    /// The manifests: what lists the rest.
    manifests: Vec<String>,
    by_query: FxHashMap<QueryId, (usize, usize)>,
}

/// A pool and the queries that are answered from it.
#[derive(Clone, Debug)]
pub struct BenchPool {
    /// The candidates.
    pub pool: Arc<Pool>,
    /// The queries, in file order.
    pub queries: Vec<Query>,
}

/// A file of a benchmark that is named, not read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileRef {
    /// The path, relative to the benchmark's folder.
    pub path: String,
    /// What the file must hash to, where that is stated.
    pub sha256: Option<String>,
    /// Rows it must have, where that is stated; a header is not a row.
    pub rows: Option<u64>,
}

/// What a manifest says of one pool.
struct PoolPlan {
    id: String,
    candidates: FileRef,
    queries: FileRef,
}

/// What a manifest says.
struct Plan {
    name: String,
    version: Option<String>,
    /// The manifest's own file.
    gate: String,
    gate_sha256: String,
    pools: Vec<PoolPlan>,
    labels: Option<FileRef>,
    families: Option<FileRef>,
    listed: Vec<FileRef>,
    /// The manifest's files.
    manifests: Vec<String>,
    /// Queries in all, where that is stated.
    queries: Option<u64>,
}

impl Benchmark {
    /// Reads `bench.toml`, or else the public layout's `benchmark/FREEZE_GATE.json`, and the
    /// pools and queries it lists. Opens no label file and no family relation, and works with
    /// them absent.
    ///
    /// # Errors
    ///
    /// The first violation that [`Benchmark::check`] finds.
    pub fn open(folder: Folder) -> Result<Benchmark, InputError> {
        Benchmark::check(folder).map_err(first)
    }

    /// As [`Benchmark::open`].
    ///
    /// # Errors
    ///
    /// All violations, in the order of the manifest; beyond a hundred they are counted only.
    pub fn check(folder: Folder) -> Result<Benchmark, Vec<InputError>> {
        let plan = if folder.exists(toml_file::PATH) {
            toml_file::plan(&folder)?
        } else if folder.exists(bundle::GATE) {
            bundle::plan(&folder)?
        } else {
            let problem = "holds no benchmark";
            let expected = format!("`{}` or `{}` in it", toml_file::PATH, bundle::GATE);
            return Err(vec![InputError::new(folder.show("."), problem).expected(expected)]);
        };
        let mut out = Violations::default();
        let loaded: Vec<_> = plan.pools.par_iter().map(|pool| load(&folder, pool)).collect();
        let mut pools = Vec::new();
        let mut inputs = Vec::new();
        for (pool, digests, violations) in loaded {
            out.extend(violations);
            pools.extend(pool);
            inputs.extend(digests);
        }
        let by_query = index(&pools, &folder, &plan, &mut out);
        let found: usize = pools.iter().map(|pool| pool.queries.len()).sum();
        if let Some(stated) = plan.queries.filter(|&n| out.is_empty() && n != found as u64) {
            let problem = format!("states {}, its files hold {found}", counted(stated, "query"));
            out.push(InputError::new(folder.show(&plan.gate), problem));
        }
        if out.is_empty() && found == 0 {
            let error = InputError::new(folder.show(&plan.gate), "the benchmark has no queries");
            out.push(error.expected("at least one"));
        }
        out.result(Benchmark {
            name: plan.name,
            version: plan.version,
            gate_sha256: plan.gate_sha256,
            pools,
            inputs,
            folder,
            labels: plan.labels,
            families: plan.families,
            listed: plan.listed,
            manifests: plan.manifests,
            by_query,
        })
    }

    /// Hashes every listed file again, label files included, and returns what differs or lacks.
    pub fn verify_all(&self) -> Vec<InputError> {
        let verify = |file: &FileRef| {
            let shown = self.folder.show(&file.path);
            match (self.folder.read(&file.path), &file.sha256) {
                (Err(error), _) => Some(error),
                (Ok(bytes), Some(sha256)) => mismatch(&shown, &sha256_hex(&bytes), sha256),
                (Ok(_), None) => None,
            }
        };
        let all: Vec<Option<InputError>> = self.listed.par_iter().map(verify).collect();
        all.into_iter().flatten().collect()
    }

    /// Every file of a benchmark on disk, manifests and label files included: what an output must
    /// not replace. None of a bundled one.
    pub fn paths(&self) -> Vec<PathBuf> {
        let listed = self.listed.iter().map(|file| &file.path);
        listed.chain(&self.manifests).filter_map(|path| self.folder.path(path)).collect()
    }

    /// The file that lists the rest, as shown to the user.
    pub fn manifest(&self) -> String {
        self.folder.show(self.manifests.first().map_or(".", String::as_str))
    }

    /// The size of the smallest pool: no cutoff can be deeper.
    pub fn least_pool(&self) -> usize {
        self.pools.iter().map(|pool| pool.pool.len()).min().unwrap_or(0)
    }

    /// The query of that id and the position of its pool.
    pub fn find_query(&self, id: &str) -> Option<(usize, &Query)> {
        let &(pool, query) = self.by_query.get(id)?;
        Some((pool, &self.pools[pool].queries[query]))
    }

    /// Position of the query's pool, and of the query in it.
    pub(crate) fn locate(&self, id: &str) -> Option<(usize, usize)> {
        self.by_query.get(id).copied()
    }

    /// Queries in all pools.
    pub fn n_queries(&self) -> usize {
        self.by_query.len()
    }
}

type Loaded = (Option<BenchPool>, Vec<FileDigest>, Vec<InputError>);

fn load(folder: &Folder, plan: &PoolPlan) -> Loaded {
    let mut out = Violations::default();
    let mut digests = Vec::new();
    let pool = load_file(folder, &plan.candidates, &mut digests, &mut out, |file, bytes| {
        let pool = parse_candidates(file, bytes, &plan.id)?;
        let rows = pool.len();
        Ok((pool, rows))
    });
    let queries = load_file(folder, &plan.queries, &mut digests, &mut out, |file, bytes| {
        let queries = parse_queries(file, bytes)?;
        let rows = queries.len();
        Ok((queries, rows))
    });
    let both = pool.zip(queries);
    let both = both.map(|(pool, queries)| BenchPool { pool: Arc::new(pool), queries });
    (both, digests, out.into_list())
}

fn load_file<T>(
    folder: &Folder,
    file: &FileRef,
    digests: &mut Vec<FileDigest>,
    out: &mut Violations,
    parse: impl FnOnce(&str, &[u8]) -> Result<(T, usize), Vec<InputError>>,
) -> Option<T> {
    let shown = folder.show(&file.path);
    let bytes = match folder.read(&file.path) {
        Ok(bytes) => bytes,
        Err(error) => {
            out.push(error);
            return None;
        }
    };
    let sha256 = sha256_hex(&bytes);
    if let Some(stated) = &file.sha256 {
        out.extend(mismatch(&shown, &sha256, stated));
    }
    digests.push(FileDigest { path: file.path.clone(), sha256 });
    match parse(&shown, &bytes) {
        Ok((value, rows)) => {
            if let Some(stated) = file.rows.filter(|&stated| stated != rows as u64) {
                let error = InputError::new(&shown, format!("has {}", counted(rows, "row")));
                out.push(error.expected(format!("{stated}, as the manifest states")));
            }
            Some(value)
        }
        Err(errors) => {
            out.extend(errors);
            None
        }
    }
}

fn mismatch(file: &str, got: &str, stated: &str) -> Option<InputError> {
    let problem = format!("its sha256 is {got}");
    (!got.eq_ignore_ascii_case(stated))
        .then(|| InputError::new(file, problem).expected(format!("{stated}, as listed")))
}

/// A benchmark's name is the folder its results go to.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let at_ends = name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']);
    match name.is_empty() || at_ends || MAX_NAME < name.len() || !name.chars().all(plain) {
        false => Ok(()),
        true => Err("a name of up to 100 letters, digits, blanks, `-`, `_` and `.`, \
                     the last two not at its ends"),
    }
}

/// The most bytes of a benchmark's name.
const MAX_NAME: usize = 100;

/// Where each query is. An id is unique in the whole benchmark, not in its pool only.
fn index(
    pools: &[BenchPool],
    folder: &Folder,
    plan: &Plan,
    out: &mut Violations,
) -> FxHashMap<QueryId, (usize, usize)> {
    let mut index = FxHashMap::default();
    for (p, pool) in pools.iter().enumerate() {
        for (q, query) in pool.queries.iter().enumerate() {
            if let Some((other, _)) = index.insert(query.id.clone(), (p, q)) {
                let other: &BenchPool = &pools[other];
                let problem = format!(
                    "query {} is in pool {} and in pool {}",
                    tick(query.id.as_str()),
                    tick(other.pool.name()),
                    tick(pool.pool.name())
                );
                let error = InputError::new(folder.show(&plan.gate), problem);
                out.push(error.expected("each query in one pool"));
            }
        }
    }
    index
}

#[cfg(test)]
mod tests;
