//! The public benchmark's layout, version 1.0: `benchmark/FREEZE_GATE.json` and what it lists.
//!
//! The gate states the digest of `BUILD_MANIFEST.json`, which states that of every other file.
//! Keys that are not needed here are ignored: the layout is not ours.

use rustc_hash::FxHashMap;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{FileRef, Plan, PoolPlan, check_name, mismatch};
use crate::{
    error::{InputError, Violations, tick},
    files::sha256_hex,
    folder::Folder,
    rows::{check_id, json_problem, utf8},
};

/// The file that makes a folder a bundle.
pub(super) const GATE: &str = "benchmark/FREEZE_GATE.json";
const MANIFEST: &str = "BUILD_MANIFEST.json";
const SUMMARY: &str = "SUMMARY.json";

#[derive(Deserialize)]
struct Gate {
    experiment_ready: bool,
    status: String,
    files_sha256: Map<String, Value>,
    counts: Option<Counts>,
}

#[derive(Deserialize)]
struct Counts {
    queries: Option<u64>,
}

#[derive(Deserialize)]
struct BuildManifest {
    outputs_sha256: Map<String, Value>,
}

#[derive(Deserialize)]
struct Summary {
    candidate_counts: Map<String, Value>,
}

pub(super) fn plan(folder: &Folder) -> Result<Plan, Vec<InputError>> {
    let one = |error| vec![error];
    let bytes = folder.read(GATE).map_err(one)?;
    let gate: Gate = json(&folder.show(GATE), &bytes).map_err(one)?;
    let mut out = Violations::default();
    if !gate.experiment_ready {
        let problem = format!("the bundle is not ready: its status is {}", tick(&gate.status));
        let error = InputError::new(folder.show(GATE), problem).field("experiment_ready");
        out.push(error.expected("true"));
    }
    let gate_files = digests(&folder.show(GATE), "files_sha256", &gate.files_sha256, &mut out);
    if !gate_files.contains_key(MANIFEST) {
        let problem = format!("does not list `{MANIFEST}`");
        out.push(InputError::new(folder.show(GATE), problem).field("files_sha256"));
    }
    let manifest = format!("benchmark/{MANIFEST}");
    let manifest_bytes = folder.read(&manifest).map_err(one)?;
    let shown = folder.show(&manifest);
    if let Some(stated) = gate_files.get(MANIFEST) {
        out.extend(mismatch(&shown, &sha256_hex(&manifest_bytes), stated));
    }
    let build: BuildManifest = json(&shown, &manifest_bytes).map_err(one)?;
    let mut files = digests(&shown, "outputs_sha256", &build.outputs_sha256, &mut out);
    let pools = pools(folder, &gate_files, &files, &mut out).map_err(one)?;
    files.extend(gate_files);
    let optional = |path: &str| {
        let stated = files.get(path).cloned();
        let path = format!("benchmark/{path}");
        (stated.is_some() || folder.exists(&path)).then_some(FileRef {
            path,
            sha256: stated,
            rows: None,
        })
    };
    let labels = optional("data/query_cases.tsv");
    let families = optional("data/family_relations.tsv");
    let mut listed: Vec<FileRef> = files.iter().map(|file| listed(folder, file)).collect();
    listed.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    out.result(Plan {
        name: name(folder),
        version: None,
        gate: GATE.to_owned(),
        gate_sha256: sha256_hex(&bytes),
        pools,
        labels,
        families,
        listed,
        manifests: vec![GATE.to_owned(), manifest, format!("benchmark/{SUMMARY}")],
        queries: gate.counts.and_then(|counts| counts.queries),
    })
}

/// The pools that the summary counts, in its order.
fn pools(
    folder: &Folder,
    gate: &FxHashMap<String, String>,
    files: &FxHashMap<String, String>,
    out: &mut Violations,
) -> Result<Vec<PoolPlan>, InputError> {
    let path = format!("benchmark/{SUMMARY}");
    let shown = folder.show(&path);
    let bytes = folder.read(&path)?;
    if let Some(stated) = files.get(SUMMARY).or(gate.get(SUMMARY)) {
        out.extend(mismatch(&shown, &sha256_hex(&bytes), stated));
    }
    let summary: Summary = json(&shown, &bytes)?;
    if summary.candidate_counts.is_empty() {
        let error = InputError::new(&shown, "lists no pool").field("candidate_counts");
        out.push(error.expected("at least one"));
    }
    let mut pools = Vec::new();
    for (id, count) in &summary.candidate_counts {
        let error = |problem: String| InputError::new(&shown, problem).field("candidate_counts");
        if check_id(id).is_err() || id == "." || id == ".." || id.contains(['/', '\\']) {
            out.push(error(format!("pool id {} is not a folder's name", tick(id))));
            continue;
        }
        let rows = count.as_u64();
        if rows.is_none() {
            out.push(error(format!("the count of pool {} is not a number", tick(id))));
        }
        let mut file = |name: &str, rows: Option<u64>| {
            let path = format!("inference/{id}/{name}");
            let sha256 = files.get(&path).cloned();
            if sha256.is_none() {
                let problem = format!("does not list `{path}`");
                let manifest = folder.show(&format!("benchmark/{MANIFEST}"));
                out.push(InputError::new(manifest, problem).field("outputs_sha256"));
            }
            FileRef { path: format!("benchmark/{path}"), sha256, rows }
        };
        let candidates = file("candidates.jsonl", rows);
        let queries = file("queries.jsonl", None);
        pools.push(PoolPlan { id: id.clone(), candidates, queries });
    }
    Ok(pools)
}

/// Digests by path relative to `benchmark/`.
fn digests(
    file: &str,
    field: &str,
    map: &Map<String, Value>,
    out: &mut Violations,
) -> FxHashMap<String, String> {
    let mut files = FxHashMap::default();
    for (path, digest) in map {
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = path.strip_prefix("benchmark/").unwrap_or(path).to_owned();
        match digest.as_str() {
            Some(digest) => {
                files.insert(path, digest.to_owned());
            }
            None => {
                let problem = format!("the digest of {} is not a string", tick(&path));
                out.push(InputError::new(file, problem).field(field));
            }
        }
    }
    files
}

/// A listed file is looked for in `benchmark/`, then beside it.
fn listed(folder: &Folder, (path, sha256): (&String, &String)) -> FileRef {
    let inside = format!("benchmark/{path}");
    let beside = !folder.exists(&inside) && folder.exists(path);
    let path = if beside { path.clone() } else { inside };
    FileRef { path, sha256: Some(sha256.clone()), rows: None }
}

/// A bundle doesn't state its name: its folder's name serves, with `-` for what a name can't hold.
fn name(folder: &Folder) -> String {
    let shown = match folder {
        Folder::Disk(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        Folder::Bundled { root, .. } => root.into(),
    };
    let name = shown.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    match check_name(&name) {
        Ok(()) => name,
        Err(_) => "bundle".to_owned(),
    }
}

fn json<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, InputError> {
    let text = utf8(file, bytes)?;
    serde_json::from_str(text).map_err(|error| {
        InputError::new(file, json_problem(&error)).line(error.line().max(1) as u64)
    })
}
