//! Pools, queries and files for the tests.

use std::{fs, path::PathBuf};

use cleanhit_core::{
    Candidate, Depth, Pool, Query, QueryText, Ranking, Retriever, TieKeys, TieRule,
};
use serde_json::Value;

/// A pool of texts with ids.
pub(crate) fn pool<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Pool {
    let candidate =
        |(id, text): (&str, &str)| Candidate { id: id.into(), text: text.to_owned(), name: None };
    Pool::new("test", texts.into_iter().map(candidate).collect()).unwrap()
}

/// A pool of texts with the ids `c0000`, `c0001`, …
pub(crate) fn numbered(texts: &[&str]) -> Pool {
    let ids: Vec<String> = (0..texts.len()).map(|i| format!("c{i:04}")).collect();
    pool(ids.iter().map(String::as_str).zip(texts.iter().copied()))
}

/// The first `depth` of a retriever's ranking, as ids and scores, ties by id ascending.
pub(crate) fn ranked(
    retriever: &dyn Retriever,
    pool: &Pool,
    query: &str,
    depth: usize,
) -> Vec<(String, f64)> {
    ids(&ranking(retriever, pool, query, depth, TieRule::IdAsc), pool)
}

/// The first `depth` of a retriever's ranking.
pub(crate) fn ranking(
    retriever: &dyn Retriever,
    pool: &Pool,
    query: &str,
    depth: usize,
    rule: TieRule,
) -> Ranking {
    let stored = Query { id: "q".into(), text: query.to_owned() };
    let ties = TieKeys::new(rule, &stored.id, pool);
    let batch = [(QueryText::new(query), ties)];
    retriever.retrieve(&batch, Depth::of_len(depth)).unwrap().remove(0)
}

/// A ranking as ids and scores.
pub(crate) fn ids(ranking: &Ranking, pool: &Pool) -> Vec<(String, f64)> {
    let hits = ranking.hits().iter();
    hits.map(|hit| (pool.id(hit.doc).to_string(), hit.score.get())).collect()
}

/// Whether two numbers are equal to within `tolerance`, relative to the larger where it is
/// above 1.
pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// A shared file's bytes, or none, with the reason printed.
pub(crate) fn shared(path: &str) -> Option<Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("CLEANHIT_SHARED").map_or_else(beside, PathBuf::from);
    match fs::read(root.join(path)) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            eprintln!("skipped: {}: {error}", root.join(path).display());
            None
        }
    }
}

/// A shared JSON file, or none, with the reason printed.
pub(crate) fn shared_json(path: &str) -> Option<Value> {
    shared(path).map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

/// A shared JSON Lines file as pairs of an id and a text, or none, with the reason printed.
pub(crate) fn shared_texts(path: &str, id: &str, text: &str) -> Option<Vec<(String, String)>> {
    let bytes = shared(path)?;
    let lines = std::str::from_utf8(&bytes).unwrap().lines();
    let field = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let row = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    Some(lines.map(row).map(|row| (field(&row, id), field(&row, text))).collect())
}
