//! What can be wrong with a file, a measure's name or a request.

use std::num::NonZeroU32;

use cleanhit_io::counted;

use crate::plain::{lines::MAX_LINE, measure::Measure};

/// Why a TREC run or qrels file is refused.
///
/// Line numbers start at 1 and count blank and comment lines. In
/// [`Run::from_rows`](crate::plain::Run::from_rows) and
/// [`Qrels::from_queries`](crate::plain::Qrels::from_queries) a row's number stands for its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The mark would become part of the first query's id, and so drop that row from its query.
    #[error("line 1: begins with a UTF-8 byte-order mark, expected a query id")]
    ByteOrderMark,
    /// Ids are compared as UTF-8.
    #[error("line {line}: is not UTF-8")]
    NotUtf8 {
        /// The line.
        line: usize,
    },
    /// No run has lines of this size; the file is something else.
    #[error("line {line}: has {got} bytes, expected at most {MAX_LINE}")]
    LineTooLong {
        /// The line.
        line: usize,
        /// Its bytes.
        got: usize,
    },
    /// A column is missing, or a field holds a blank.
    #[error("line {line}: {}, expected {expected}", counted(*.got, "column"))]
    Columns {
        /// The line.
        line: usize,
        /// The columns expected, by name.
        expected: &'static str,
        /// How many there are.
        got: usize,
    },
    /// A field does not hold what its column is for.
    #[error("line {line}: {field} `{got}` is not {expected}")]
    Field {
        /// The line.
        line: usize,
        /// The column.
        field: &'static str,
        /// What the column may hold.
        expected: &'static str,
        /// What it holds, cut to its first characters.
        got: String,
    },
    /// A query lists a document twice.
    #[error("line {line}: duplicate: document `{document}` of query `{query}` is on line {first}")]
    Duplicate {
        /// The later line.
        line: usize,
        /// The earlier line.
        first: usize,
        /// The query's id.
        query: String,
        /// The document's id.
        document: String,
    },
    /// A query judges a document twice, and not alike.
    #[error(
        "line {line}: document `{document}` of query `{query}` has grade {got}, \
         but grade {expected} on line {first}"
    )]
    ConflictingGrades {
        /// The later line.
        line: usize,
        /// The earlier line.
        first: usize,
        /// The query's id.
        query: String,
        /// The document's id.
        document: String,
        /// The earlier grade.
        expected: i32,
        /// The later grade.
        got: i32,
    },
    /// There is nothing to score, or nothing to score against.
    #[error("the file is empty: expected rows with {expected}")]
    Empty {
        /// The columns expected, by name.
        expected: &'static str,
    },
}

impl ReadError {
    /// The line at fault; `None` where the file as a whole is.
    pub fn line(&self) -> Option<usize> {
        match self {
            ReadError::ByteOrderMark => Some(1),
            ReadError::Empty { .. } => None,
            ReadError::NotUtf8 { line }
            | ReadError::LineTooLong { line, .. }
            | ReadError::Columns { line, .. }
            | ReadError::Field { line, .. }
            | ReadError::Duplicate { line, .. }
            | ReadError::ConflictingGrades { line, .. } => Some(*line),
        }
    }
}

/// Why a text is not a measure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// No measure has this name.
    #[error("measure `{got}` is not known, expected one of {expected}")]
    Unknown {
        /// The name given.
        got: String,
        /// The names there are.
        expected: String,
    },
    /// The text is not `name`, `name@cutoff`, `name(rel=2)` or `name(rel=2)@cutoff`.
    #[error("measure `{got}` is malformed, expected a form like `AP(rel=2)@100`")]
    Malformed {
        /// The text given.
        got: String,
    },
    /// The measure is undefined without a cutoff.
    #[error("measure `{got}` needs a cutoff, expected a form like `{got}@{example}`")]
    NoCutoff {
        /// The name given.
        got: String,
        /// A cutoff that it could have.
        example: &'static str,
    },
    /// The measure looks at the whole list by definition.
    #[error("measure `{got}` takes no cutoff")]
    CutoffNotTaken {
        /// The name given.
        got: String,
    },
    /// A cutoff or a parameter is not a number of the kind that it takes.
    #[error("measure `{measure}`: {field} `{got}` is not {expected}")]
    Number {
        /// The text given.
        measure: String,
        /// `cutoff`, or the parameter.
        field: &'static str,
        /// What stands there.
        got: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// The measure has no such parameter here.
    #[error("measure `{measure}`: parameter `{got}` is not known, expected {expected}")]
    Parameter {
        /// The text given.
        measure: String,
        /// The parameter given.
        got: String,
        /// The parameters there are.
        expected: String,
    },
}

/// Why a run cannot be evaluated as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The value would silently be that of a smaller cutoff.
    #[error("`{measure}` needs depth {cutoff}, but the run has depth {depth}")]
    TooShallow {
        /// The measure asked for.
        measure: Measure,
        /// Its cutoff.
        cutoff: NonZeroU32,
        /// What the run kept.
        depth: NonZeroU32,
    },
    /// Ranks decide the order, and this one is no number.
    #[error("line {line}: the rank is not a whole number, which order `rank` needs")]
    NoRank {
        /// The line.
        line: usize,
    },
    /// Ranks decide the order, and these do not.
    #[error("line {line}: query `{query}` has rank {rank} on line {first} too")]
    DuplicateRank {
        /// The later line.
        line: usize,
        /// The earlier line.
        first: usize,
        /// The query's id.
        query: String,
        /// The rank.
        rank: u32,
    },
}

/// Why a run or qrels cannot be written so that it reads back the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An id is empty, holds a blank, or would read as a comment or a byte-order mark.
    #[error("{field} `{got}` cannot stand in a TREC file: expected {expected}")]
    Id {
        /// `query`, `document` or `tag`.
        field: &'static str,
        /// The id.
        got: String,
        /// What an id may hold.
        expected: &'static str,
    },
    /// A query comes twice, and the file would merge its lists.
    #[error("query `{query}` comes twice")]
    DuplicateQuery {
        /// The query's id.
        query: String,
    },
    /// A query lists a document twice.
    #[error("query `{query}` lists document `{document}` twice")]
    DuplicateDocument {
        /// The query's id.
        query: String,
        /// The document's id.
        document: String,
    },
    /// A qrels file has no way to name a query without judgements.
    #[error("query `{query}` has no judgement, which a qrels file cannot say")]
    NoJudgement {
        /// The query's id.
        query: String,
    },
    /// The writer failed.
    #[error("cannot write")]
    Io(#[from] std::io::Error),
}

/// The first characters of a field, enough to find it by.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
