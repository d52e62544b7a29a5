//! TREC runs: `qid Q0 docid rank score tag`.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::plain::{
    error::{EvaluateError, ReadError, excerpt},
    groups::{Builder, Groups, Keyed, duplicates, hash},
    lines::{Report, each_row},
    number::finite,
};

const COLUMNS: &str = "the 6 of `qid Q0 docid rank score tag`";

/// Marks a rank column that holds no rank.
const NO_RANK: u32 = u32::MAX;

/// What decides the order of a query's rows. Each is a total order, whatever the order of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As in trec_eval: score descending, then document id descending by its bytes.
    /// The rank column is ignored.
    #[default]
    Trec,
    /// Rank ascending; the score is ignored. A query that has a rank twice, or a row without
    /// one, is refused.
    Rank,
}

/// One row of a run.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    document: &'a str,
    score: f64,
    line: usize,
    hash: u32,
    rank: u32,
}

impl<'a> Row<'a> {
    /// The document's id.
    pub fn document(&self) -> &'a str {
        self.document
    }

    /// The score, finite; `-0` is read as `0`.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// The rank column, if it holds a whole number from 0 to 4294967294.
    pub fn rank(&self) -> Option<u32> {
        match self.rank {
            NO_RANK => None,
            rank => Some(rank),
        }
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    fn compare(&self, other: &Row<'_>, order: Order) -> Ordering {
        match order {
            Order::Trec => {
                (other.score.total_cmp(&self.score)).then_with(|| other.document.cmp(self.document))
            }
            Order::Rank => self.rank.cmp(&other.rank),
        }
    }

    /// Whether the scores are the same number.
    pub(crate) fn ties(&self, other: &Row<'_>) -> bool {
        self.score.total_cmp(&other.score).is_eq()
    }
}

impl<'a> Keyed<'a> for Row<'a> {
    fn document(&self) -> &'a str {
        self.document
    }

    fn hash(&self) -> u32 {
        self.hash
    }
}

/// A run, borrowed from the bytes of its file.
///
/// A query's documents are distinct and its scores finite. A query without rows is not in the
/// file and so not in the run: [`evaluate`](crate::plain::evaluate) knows it from the qrels.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    groups: Groups<'a, Row<'a>>,
    tag: Option<&'a str>,
}

impl<'a> Run<'a> {
    /// Reads a run.
    ///
    /// Fields are separated by blanks or tabs; lines end in LF or CRLF and come in any order;
    /// blank lines and lines that begin with `#` are left out, as in trec_eval 10. The second
    /// and the last column may hold anything without a blank in it.
    ///
    /// # Errors
    ///
    /// If the file is empty, is not UTF-8 or begins with a byte-order mark; if a line has more
    /// or fewer than 6 columns or more than [`MAX_LINE`](crate::plain::MAX_LINE) bytes, or a
    /// score that is not a finite number; or if a query lists a document twice. The error is
    /// the first by line, except that duplicates are looked for last.
    pub fn parse(bytes: &'a [u8]) -> Result<Run<'a>, ReadError> {
        Run::read(bytes, &mut Err)
    }

    /// All that [`parse`](Run::parse) would refuse, by line.
    pub fn check(bytes: &[u8]) -> Vec<ReadError> {
        collect(|report| Run::read(bytes, report).map(drop))
    }

    /// A run of rows `(query, document, rank, score)`.
    ///
    /// # Errors
    ///
    /// If a score is not finite or a query lists a document twice. No rows are legal.
    pub fn from_rows(
        rows: impl IntoIterator<Item = (&'a str, &'a str, u32, f64)>,
    ) -> Result<Run<'a>, ReadError> {
        let mut builder = Builder::with_capacity(0);
        for (n, (query, document, rank, score)) in rows.into_iter().enumerate() {
            let line = n + 1;
            if !score.is_finite() {
                return Err(not_finite(line, &score.to_string()));
            }
            let score = score + 0.0;
            builder.push(query, Row { document, score, line, hash: hash(document), rank });
        }
        Run::finish(builder, None, &mut Err)
    }

    fn read(bytes: &'a [u8], report: &mut Report<'_>) -> Result<Run<'a>, ReadError> {
        // Common lines have 30 bytes or more; a wrong guess costs a copy.
        let mut builder = Builder::with_capacity(bytes.len() / 30);
        let mut tag = None;
        each_row(bytes, COLUMNS, report, |line, [query, _, document, rank, score, of_line]| {
            let score = finite(score).ok_or_else(|| not_finite(line, score))?;
            let rank = rank.parse().unwrap_or(NO_RANK);
            builder.push(query, Row { document, score, line, hash: hash(document), rank });
            tag = tag.or(Some(of_line));
            Ok(())
        })?;
        Run::finish(builder, tag, report)
    }

    fn finish(
        builder: Builder<'a, Row<'a>>,
        tag: Option<&'a str>,
        report: &mut Report<'_>,
    ) -> Result<Run<'a>, ReadError> {
        let groups = builder.finish();
        duplicates(&groups, |query, earlier, later| {
            report(ReadError::Duplicate {
                line: later.line,
                first: earlier.line,
                query: query.to_owned(),
                document: later.document.to_owned(),
            })
        })?;
        Ok(Run { groups, tag })
    }

    /// The tag of the first row.
    pub fn tag(&self) -> Option<&'a str> {
        self.tag
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.groups.rows()
    }

    /// The rows of the longest list. Lists may differ in length.
    pub fn max_depth(&self) -> usize {
        self.queries().map(|(_, rows)| rows.len()).max().unwrap_or(0)
    }

    /// The queries, in the order of their ids' bytes, and their rows in the order of lines.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = (&'a str, &[Row<'a>])> {
        self.groups.iter()
    }

    /// A query's rows in the order of lines.
    pub fn query(&self, id: &str) -> Option<&[Row<'a>]> {
        self.groups.get(id)
    }

    /// A query's rows in the given order; none if the run lacks the query.
    ///
    /// # Errors
    ///
    /// If ranks decide the order and cannot.
    pub fn ranked(&self, id: &str, order: Order) -> Result<Vec<&Row<'a>>, EvaluateError> {
        let rows = self.query(id).unwrap_or_default();
        check_order(id, rows, order)?;
        let mut ranked = Vec::new();
        sort(rows, order, &mut ranked);
        Ok(ranked)
    }

    /// The queries on which the two orders differ, and those whose ranks give no order.
    pub fn order_differences(&self) -> OrderDifferences<'a> {
        let mut found = OrderDifferences::default();
        let (mut by_score, mut by_rank) = (Vec::new(), Vec::new());
        for (query, rows) in self.queries() {
            if check_order(query, rows, Order::Rank).is_err() {
                found.no_rank_order.push(query);
                continue;
            }
            sort(rows, Order::Trec, &mut by_score);
            sort(rows, Order::Rank, &mut by_rank);
            // Within a query, a line is a row.
            if by_score.iter().zip(&by_rank).any(|(a, b)| a.line != b.line) {
                found.differ.push(query);
            }
        }
        found
    }
}

/// Where the rank column and the scores of a run disagree. Query ids are sorted by their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderDifferences<'a> {
    /// Queries that [`Order::Trec`] and [`Order::Rank`] order differently.
    pub differ: Vec<&'a str>,
    /// Queries that [`Order::Rank`] refuses.
    pub no_rank_order: Vec<&'a str>,
}

/// Sorts `rows` into `ranked`, replacing what it holds.
pub(crate) fn sort<'r, 'a>(rows: &'r [Row<'a>], order: Order, ranked: &mut Vec<&'r Row<'a>>) {
    ranked.clear();
    ranked.extend(rows);
    // Most files are written in order, and looking is cheaper than sorting.
    if !ranked.is_sorted_by(|a, b| a.compare(b, order).is_le()) {
        ranked.sort_unstable_by(|a, b| a.compare(b, order));
    }
}

/// Checks that `order` is a total order of the query's rows.
pub(crate) fn check_order(
    query: &str,
    rows: &[Row<'_>],
    order: Order,
) -> Result<(), EvaluateError> {
    if order == Order::Trec {
        return Ok(());
    }
    // Ranks that rise to a number are distinct numbers.
    let rising = rows.is_sorted_by(|a, b| a.rank < b.rank);
    if rising && rows.last().is_none_or(|row| row.rank != NO_RANK) {
        return Ok(());
    }
    let mut line_of_rank = BTreeMap::new();
    for row in rows {
        let Row { line, rank, .. } = *row;
        if rank == NO_RANK {
            return Err(EvaluateError::NoRank { line });
        }
        match line_of_rank.insert(rank, line) {
            None => {}
            Some(first) => {
                let query = query.to_owned();
                return Err(EvaluateError::DuplicateRank { line, first, query, rank });
            }
        }
    }
    Ok(())
}

/// Runs a reader to its end and sorts what it reports.
pub(crate) fn collect(
    read: impl FnOnce(&mut Report<'_>) -> Result<(), ReadError>,
) -> Vec<ReadError> {
    let mut errors = Vec::new();
    let end = read(&mut |error| {
        errors.push(error);
        Ok(())
    });
    errors.extend(end.err());
    errors.sort_by_key(ReadError::line);
    errors
}

fn not_finite(line: usize, got: &str) -> ReadError {
    ReadError::Field { line, field: "score", expected: "a finite number", got: excerpt(got) }
}
