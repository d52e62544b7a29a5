//! Writing a benchmark without labels.

use std::path::{Path, PathBuf};

use cleanhit_core::{Candidate, Query};

use super::{
    check_name,
    toml_file::{Listed, Manifest, PATH, PoolEntry},
};
use crate::{
    error::{InputError, tick},
    files::{refuse_overwrite, sha256_hex, write_atomic},
};

/// A pool to write.
#[derive(Clone, Debug)]
pub struct NewPool {
    /// The pool's name, which is also its files' name.
    pub id: String,
    /// Its candidates; written in id order.
    pub candidates: Vec<Candidate>,
    /// Its queries; written in this order.
    pub queries: Vec<Query>,
}

/// Writes pools, queries and the `bench.toml` that lists them into `dir`, and returns the text
/// of `bench.toml`. The result is a benchmark without labels. `inputs` are the files that it is
/// made from.
///
/// # Errors
///
/// If the name or a pool's id cannot be a file's name, a file would replace one of `inputs`, or
/// it cannot be written.
pub fn write_bench(
    dir: &Path,
    name: &str,
    version: &str,
    pools: &[NewPool],
    inputs: &[PathBuf],
) -> Result<String, InputError> {
    let manifest = dir.join(PATH);
    if let Err(expected) = check_name(name) {
        let error = InputError::new(manifest.display(), format!("is {}", tick(name)));
        return Err(error.field("name").expected(expected));
    }
    let files = bench_files(name, version, pools)
        .map_err(|problem| InputError::new(manifest.display(), problem))?;
    for (path, _) in &files {
        refuse_overwrite(&dir.join(path), inputs.iter().map(PathBuf::as_path))?;
    }
    for (path, bytes) in &files {
        write_atomic(&dir.join(path), bytes)?;
    }
    let manifest = files.last().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    Ok(manifest.unwrap_or_default())
}

/// The files of a benchmark without labels; `bench.toml` is the last.
pub(crate) fn bench_files(
    name: &str,
    version: &str,
    pools: &[NewPool],
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut manifest = Manifest {
        format: 1,
        name: name.to_owned(),
        version: version.to_owned(),
        licence: None,
        pool: Vec::new(),
        labels: None,
        families: None,
    };
    let mut files = Vec::new();
    for NewPool { id, candidates, queries } in pools {
        if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
            return Err(format!("pool id {} cannot be a file's name", tick(id)));
        }
        let mut file = |path: String, (bytes, rows): (Vec<u8>, u64)| {
            let listed = Listed { path: path.clone(), sha256: sha256_hex(&bytes), rows };
            files.push((path, bytes));
            listed
        };
        let mut rows: Vec<(&str, &str)> =
            candidates.iter().map(|c| (c.id.as_str(), c.text.as_str())).collect();
        rows.sort_unstable();
        let candidates = file(format!("{id}.jsonl"), jsonl("candidate_id", rows));
        let rows = queries.iter().map(|q| (q.id.as_str(), q.text.as_str()));
        let queries = file(format!("{id}.queries.jsonl"), jsonl("query_case_id", rows));
        manifest.pool.push(PoolEntry { id: id.clone(), candidates, queries });
    }
    let text = toml::to_string(&manifest).map_err(|error| format!("cannot write: {error}"))?;
    files.push((PATH.to_owned(), text.into_bytes()));
    Ok(files)
}

/// Rows of exactly an id and a text, one a line.
pub(crate) fn jsonl<'a>(
    id_key: &str,
    rows: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let mut n = 0;
    for (id, text) in rows {
        let (id, text) = (serde_json::Value::from(id), serde_json::Value::from(text));
        bytes.extend(format!("{{\"{id_key}\":{id},\"text\":{text}}}\n").into_bytes());
        n += 1;
    }
    (bytes, n)
}
