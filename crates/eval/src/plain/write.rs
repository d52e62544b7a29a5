//! TREC files out.

use std::{fmt::Write as _, io::Write};

use rustc_hash::FxHashSet;

use crate::plain::{error::WriteError, lines::is_blank, qrels::Qrels};

/// Writes ranked lists as a run that trec_eval reads in the same order.
///
/// trec_eval ignores ranks and sorts by score, so scores are made of ranks: a list of n
/// documents gets n, n - 1, …, 1. They fall strictly, and single precision holds them exactly
/// for lists of up to 16,777,216 documents. A query without documents writes no row: a run
/// has no way to name it, and evaluation against its qrels counts it as an empty list.
///
/// # Errors
///
/// If an id or the tag is empty or holds a blank, a query's id begins with `#` or a byte-order
/// mark, a query comes twice, a document comes twice in a query, or the writer fails.
pub fn write_run<'a, D>(
    out: &mut impl Write,
    tag: &str,
    queries: impl IntoIterator<Item = (&'a str, D)>,
) -> Result<(), WriteError>
where
    D: IntoIterator<Item = &'a str, IntoIter: ExactSizeIterator>,
{
    check_id("tag", tag)?;
    let mut seen = FxHashSet::default();
    let mut listed = FxHashSet::default();
    let mut rows = String::new();
    for (query, documents) in queries {
        check_query(query)?;
        if !seen.insert(query) {
            return Err(WriteError::DuplicateQuery { query: query.to_owned() });
        }
        let documents = documents.into_iter();
        let count = documents.len();
        listed.clear();
        rows.clear();
        for (before, document) in documents.enumerate() {
            check_id("document", document)?;
            if !listed.insert(document) {
                let (query, document) = (query.to_owned(), document.to_owned());
                return Err(WriteError::DuplicateDocument { query, document });
            }
            let (rank, score) = (before + 1, count - before);
            // Writing to a string cannot fail.
            let _ = writeln!(rows, "{query} Q0 {document} {rank} {score} {tag}");
        }
        out.write_all(rows.as_bytes())?;
    }
    Ok(())
}

/// Writes qrels, in the order of the queries' ids.
///
/// # Errors
///
/// If an id cannot stand in the file (see [`write_run`]), a query has no judgement, or the
/// writer fails.
pub fn write_qrels(out: &mut impl Write, qrels: &Qrels<'_>) -> Result<(), WriteError> {
    let mut rows = String::new();
    for (query, judgements) in qrels.queries() {
        check_query(query)?;
        if judgements.is_empty() {
            return Err(WriteError::NoJudgement { query: query.to_owned() });
        }
        rows.clear();
        for judgement in judgements {
            let (document, grade) = (judgement.document(), judgement.grade());
            check_id("document", document)?;
            let _ = writeln!(rows, "{query} 0 {document} {grade}");
        }
        out.write_all(rows.as_bytes())?;
    }
    Ok(())
}

fn check_query(query: &str) -> Result<(), WriteError> {
    check_id("query", query)?;
    match query.starts_with(['#', '\u{feff}']) {
        false => Ok(()),
        true => Err(WriteError::Id {
            field: "query",
            got: query.to_owned(),
            expected: "no `#` or byte-order mark first",
        }),
    }
}

fn check_id(field: &'static str, id: &str) -> Result<(), WriteError> {
    match id.is_empty() || id.bytes().any(is_blank) {
        false => Ok(()),
        true => {
            Err(WriteError::Id { field, got: id.to_owned(), expected: "some text without blanks" })
        }
    }
}
