//! The two JSONL files of a pool.

use cleanhit_core::{Candidate, Pool, Query};
use rustc_hash::FxHashMap;

use crate::{
    error::{InputError, Violations, tick},
    rows::{AN_ID, check_id, exact_rows},
    unpack::{MAX_UNPACKED, unpack},
};

/// Reads a pool: rows of exactly `candidate_id` and `text`, ids distinct; plain, gzip or zstd.
///
/// `file` is the name that errors carry.
///
/// # Errors
///
/// All violations with their lines.
pub fn parse_candidates(file: &str, bytes: &[u8], pool: &str) -> Result<Pool, Vec<InputError>> {
    let mut out = Violations::default();
    let rows = distinct(file, bytes, "candidate_id", "candidate", &mut out);
    if rows.is_empty() && out.is_empty() {
        out.push(InputError::new(file, "the pool is empty").expected("at least one candidate"));
    }
    let rows = out.result(rows)?;
    let candidate =
        |[id, text]: [String; 2]| Candidate { id: id.as_str().into(), text, name: None };
    Pool::new(pool, rows.into_iter().map(candidate).collect())
        .map_err(|error| vec![InputError::new(file, error.to_string())])
}

/// Reads queries: rows of exactly `query_case_id` and `text`, ids distinct; plain, gzip or zstd.
/// May be none.
///
/// # Errors
///
/// All violations with their lines.
pub fn parse_queries(file: &str, bytes: &[u8]) -> Result<Vec<Query>, Vec<InputError>> {
    let mut out = Violations::default();
    let rows = distinct(file, bytes, "query_case_id", "query", &mut out);
    let rows = out.result(rows)?;
    let query = |[id, text]: [String; 2]| Query { id: id.as_str().into(), text };
    Ok(rows.into_iter().map(query).collect())
}

fn distinct(
    file: &str,
    bytes: &[u8],
    id_key: &'static str,
    what: &str,
    out: &mut Violations,
) -> Vec<[String; 2]> {
    let bytes = match unpack(file, bytes, MAX_UNPACKED) {
        Ok(bytes) => bytes,
        Err(error) => {
            out.push(error);
            return Vec::new();
        }
    };
    let rows = exact_rows(file, &bytes, [id_key, "text"], out);
    let mut first_line: FxHashMap<&str, u64> = FxHashMap::default();
    for (line, [id, _]) in &rows {
        if let Err(problem) = check_id(id) {
            let error = InputError::new(file, problem).line(*line).field(id_key);
            out.push(error.expected(AN_ID));
        }
        if let Some(&other) = first_line.get(id.as_str()) {
            let problem = format!("{what} {} is also on line {other}", tick(id));
            let error = InputError::new(file, problem).line(*line).field(id_key);
            out.push(error.expected("distinct ids"));
        } else {
            first_line.insert(id, *line);
        }
    }
    drop(first_line);
    rows.into_iter().map(|(_, row)| row).collect()
}
