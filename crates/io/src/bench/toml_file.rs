//! `bench.toml`: this project's own layout.

use serde::{Deserialize, Serialize};

use super::{FileRef, Plan, PoolPlan, check_name};
use crate::{
    error::{InputError, Violations, tick},
    files::sha256_hex,
    folder::Folder,
    rows::{check_id, utf8},
};

/// The file's name.
pub(super) const PATH: &str = "bench.toml";

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) name: String,
    pub(super) version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) licence: Option<String>,
    #[serde(default)]
    pub(super) pool: Vec<PoolEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) families: Option<Families>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolEntry {
    pub(super) id: String,
    pub(super) candidates: Listed,
    pub(super) queries: Listed,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Labels {
    pub(super) cases: Listed,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Families {
    pub(super) relation: Listed,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    pub(super) path: String,
    pub(super) sha256: String,
    pub(super) rows: u64,
}

pub(super) fn plan(folder: &Folder) -> Result<Plan, Vec<InputError>> {
    let shown = folder.show(PATH);
    let bytes = folder.read(PATH).map_err(|error| vec![error])?;
    let manifest = parse(&shown, &bytes)?;
    let gate_sha256 = sha256_hex(&bytes);
    let labels = manifest.labels.map(|labels| labels.cases.into());
    let families = manifest.families.map(|families| families.relation.into());
    let pools: Vec<PoolPlan> = manifest.pool.into_iter().map(PoolPlan::from).collect();
    let files = pools.iter().flat_map(|pool| [&pool.candidates, &pool.queries]);
    let listed = files.chain(&labels).chain(&families).cloned().collect();
    Ok(Plan {
        name: manifest.name,
        version: Some(manifest.version),
        gate: PATH.to_owned(),
        gate_sha256,
        pools,
        labels,
        families,
        listed,
        manifests: vec![PATH.to_owned()],
        queries: None,
    })
}

fn parse(file: &str, bytes: &[u8]) -> Result<Manifest, Vec<InputError>> {
    let text = utf8(file, bytes).map_err(|error| vec![error])?;
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64;
        vec![InputError::new(file, format!("not valid: {}", error.message())).line(line)]
    })?;
    let mut out = Violations::default();
    if manifest.format != 1 {
        let problem = format!("is {}", manifest.format);
        out.push(InputError::new(file, problem).field("format").expected("1"));
    }
    if let Err(expected) = check_name(&manifest.name) {
        let problem = format!("is {}", tick(&manifest.name));
        out.push(InputError::new(file, problem).field("name").expected(expected));
    }
    if manifest.pool.is_empty() {
        out.push(InputError::new(file, "lists no pool").expected("at least one `[[pool]]`"));
    }
    for (i, pool) in manifest.pool.iter().enumerate() {
        // It names files too.
        let id = pool.id.as_str();
        if check_id(id).is_err() || id == "." || id == ".." || id.contains(['/', '\\']) {
            let error = InputError::new(file, format!("is {}", tick(id))).field("pool.id");
            out.push(error.expected("an id without control characters, `/` and `\\`"));
        }
        if manifest.pool[..i].iter().any(|other| other.id == pool.id) {
            let problem = format!("pool {} is listed twice", tick(&pool.id));
            out.push(InputError::new(file, problem).field("pool.id"));
        }
    }
    let pools = manifest.pool.iter();
    let listed = pools.flat_map(|pool| [&pool.candidates, &pool.queries]);
    let listed = listed
        .chain(manifest.labels.iter().map(|labels| &labels.cases))
        .chain(manifest.families.iter().map(|families| &families.relation));
    for entry in listed {
        let hex = entry.sha256.len() == 64 && entry.sha256.bytes().all(|b| b.is_ascii_hexdigit());
        if !hex {
            let problem = format!("{} is no digest of {}", tick(&entry.sha256), tick(&entry.path));
            let error = InputError::new(file, problem).field("sha256");
            out.push(error.expected("64 hexadecimal digits"));
        }
    }
    out.result(manifest)
}

impl From<PoolEntry> for PoolPlan {
    fn from(entry: PoolEntry) -> PoolPlan {
        PoolPlan {
            id: entry.id,
            candidates: entry.candidates.into(),
            queries: entry.queries.into(),
        }
    }
}

impl From<Listed> for FileRef {
    fn from(listed: Listed) -> FileRef {
        FileRef { path: listed.path, sha256: Some(listed.sha256), rows: Some(listed.rows) }
    }
}
