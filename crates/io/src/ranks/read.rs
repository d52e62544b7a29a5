//! Reads rank files and reports every violation.

use std::collections::BTreeMap;

use cleanhit_core::{Depth, DocIx, Hit, Ranking, Rankings, Score};
use rustc_hash::FxHashSet;

use super::{COLUMNS, Expect, RankFile, RankSet, SUBMISSION_DEPTH};
use crate::{
    bench::{BenchPool, Benchmark},
    counted::counted,
    error::{InputError, Violations, tick},
    files::{FileDigest, sha256_hex},
    rows::{AN_ID, check_id, utf8},
    table::each_record,
};

/// Reads a rank file. `name` is what errors call it.
///
/// Columns beyond the six are ignored with a warning. Fields may be quoted as in RFC 4180, and
/// lines may end in CRLF.
///
/// # Errors
///
/// Every violation with its line; beyond a hundred they are counted only.
pub fn read_ranks(
    name: &str,
    bytes: &[u8],
    bench: &Benchmark,
    expect: Expect,
) -> Result<RankFile, Vec<InputError>> {
    let set = read_rank_set(&[(name, bytes)], bench, expect)?;
    Ok(RankFile {
        method_id: set.method_id,
        rankings: set.rankings,
        sha256: set.files.into_iter().map(|file| file.sha256).collect(),
        warnings: set.warnings,
    })
}

/// Reads rank files that together cover a benchmark, as [`read_ranks`] does.
///
/// # Errors
///
/// Every violation with its file and line; beyond a hundred they are counted only.
pub fn read_rank_set(
    files: &[(&str, &[u8])],
    bench: &Benchmark,
    expect: Expect,
) -> Result<RankSet, Vec<InputError>> {
    let mut reader = Reader::new(bench);
    let mut digests = Vec::new();
    for (file, &(name, bytes)) in files.iter().enumerate() {
        digests.push(FileDigest { path: name.to_owned(), sha256: sha256_hex(bytes) });
        match utf8(name, bytes) {
            Ok(text) => reader.file(name, file, text),
            Err(error) => {
                reader.out.push(error);
                reader.unread = true;
            }
        }
    }
    let names: Vec<&str> = files.iter().map(|&(name, _)| name).collect();
    let (method_id, rankings, warnings) = reader.finish(&names, expect)?;
    Ok(RankSet { method_id, rankings, files: digests, warnings })
}

/// A row of one query, as far as it could be read.
struct Row {
    file: usize,
    line: u64,
    rank: u32,
    doc: Option<DocIx>,
    score: Option<Score>,
}

/// The rows of one query.
#[derive(Default)]
struct Group {
    rows: Vec<Row>,
    /// A row has no readable rank or too few columns: what is missing is then unknown.
    damaged: bool,
}

struct Reader<'a> {
    bench: &'a Benchmark,
    groups: Vec<Vec<Group>>, // [pool][query]
    method: Option<String>,
    other_methods: FxHashSet<String>,
    unknown_queries: FxHashSet<String>,
    /// A file could not be read as a table: coverage is then not worth a message.
    unread: bool,
    warnings: Vec<String>,
    out: Violations,
}

impl<'a> Reader<'a> {
    fn new(bench: &'a Benchmark) -> Reader<'a> {
        let groups = bench.pools.iter();
        let groups = groups.map(|pool| pool.queries.iter().map(|_| Group::default()).collect());
        Reader {
            bench,
            groups: groups.collect(),
            method: None,
            other_methods: FxHashSet::default(),
            unknown_queries: FxHashSet::default(),
            unread: false,
            warnings: Vec::new(),
            out: Violations::default(),
        }
    }

    fn file(&mut self, name: &str, file: usize, text: &str) {
        let mut columns = 0;
        let mut last_query: (String, Option<(usize, usize)>) = (String::new(), None);
        let read = each_record(name, text, |line, record| {
            if columns == 0 {
                columns = record.len();
                match header(name, line, record) {
                    Ok(warnings) => self.warnings.extend(warnings),
                    Err(error) => {
                        self.out.push(error);
                        self.unread = true;
                    }
                }
                return !self.unread;
            }
            if record.len() != columns {
                let problem = format!("the row has {}", counted(record.len(), "column"));
                let error = InputError::new(name, problem).line(line);
                self.out.push(error.expected(format!("{columns}, as the header has")));
                // Its query's rows are then not worth counting.
                let query = record.get(1).and_then(|query| self.bench.locate(query));
                if let Some((pool, query)) = query {
                    self.groups[pool][query].damaged = true;
                }
                return true;
            }
            if last_query.0 != record[1] {
                last_query = (record[1].to_owned(), self.query(name, line, record[1]));
            }
            self.method(name, line, record[0]);
            if let Some(query) = last_query.1 {
                self.row(name, (file, line), query, record);
            }
            true
        });
        if let Err(error) = read {
            self.out.push(error);
            self.unread = true;
        } else if columns == 0 {
            let error = InputError::new(name, "the file is empty");
            self.out.push(error.expected(format!("the header {}", tick(&COLUMNS.join(" ")))));
            self.unread = true;
        }
    }

    fn method(&mut self, name: &str, line: u64, method: &str) {
        let error = |problem: String| InputError::new(name, problem).line(line).field(COLUMNS[0]);
        match &self.method {
            None => {
                if let Err(problem) = check_id(method) {
                    self.out.push(error(problem.to_owned()).expected(AN_ID));
                }
                self.method = Some(method.to_owned());
            }
            Some(first) if first == method => {}
            Some(first) => {
                if self.other_methods.insert(method.to_owned()) {
                    let problem = format!("a second method id, {}", tick(method));
                    self.out.push(error(problem).expected(format!("{}, as before", tick(first))));
                }
            }
        }
    }

    fn query(&mut self, name: &str, line: u64, id: &str) -> Option<(usize, usize)> {
        let found = self.bench.locate(id);
        if found.is_none() && self.unknown_queries.insert(id.to_owned()) {
            let problem = format!("query {} is not in the benchmark", tick(id));
            let error = InputError::new(name, problem).line(line).field(COLUMNS[1]);
            self.out.push(error.expected("one of its queries"));
        }
        found
    }

    /// The fields of a row whose query is known.
    fn row(
        &mut self,
        name: &str,
        (file, line): (usize, u64),
        (p, q): (usize, usize),
        record: &[&str],
    ) {
        let bench = self.bench;
        let BenchPool { pool, queries } = &bench.pools[p];
        let group = &mut self.groups[p][q];
        let error = |column: usize, problem: String| {
            InputError::new(name, problem).line(line).field(COLUMNS[column])
        };
        let (pool_id, candidate) = (record[2], record[4]);
        if pool_id != pool.name() {
            let problem = format!("pool {} is not the query's", tick(pool_id));
            let query = tick(queries[q].id.as_str());
            let expected = format!("{}, the pool of query {query}", tick(pool.name()));
            self.out.push(error(2, problem).expected(expected));
        }
        let doc = pool.position(candidate);
        if doc.is_none() {
            let elsewhere = bench.pools.iter().find(|p| p.pool.position(candidate).is_some());
            let place = match elsewhere {
                Some(other) => format!(", it is in pool {}", tick(other.pool.name())),
                None => String::new(),
            };
            let (candidate, pool) = (tick(candidate), tick(pool.name()));
            let error = error(4, format!("candidate {candidate} is not in pool {pool}{place}"));
            self.out.push(error.expected("a candidate of the query's pool"));
        }
        let score = match score(record[5]) {
            Ok(score) => Some(score),
            Err(problem) => {
                let problem = format!("score {} {problem}", tick(record[5]));
                self.out.push(error(5, problem).expected("a finite number"));
                None
            }
        };
        match rank(record[3]) {
            Some(rank) => {
                if group.rows.is_empty() {
                    group.rows.reserve(SUBMISSION_DEPTH as usize);
                }
                group.rows.push(Row { file, line, rank, doc, score });
            }
            None => {
                group.damaged = true;
                let problem = format!("rank {} is not a rank", tick(record[3]));
                self.out.push(error(3, problem).expected("a whole number from 1"));
            }
        }
    }

    fn finish(
        mut self,
        names: &[&str],
        expect: Expect,
    ) -> Result<(String, Rankings, Vec<String>), Vec<InputError>> {
        let mut by_query = BTreeMap::new();
        let mut missing = Vec::new();
        // What rows cause is listed before what follows for their number.
        let mut counts = Violations::default();
        for (pool, groups) in self.bench.pools.iter().zip(&mut self.groups) {
            for (query, group) in pool.queries.iter().zip(groups) {
                if group.rows.is_empty() && !group.damaged {
                    missing.push(query.id.as_str());
                    continue;
                }
                check_group(
                    names,
                    pool,
                    query.id.as_str(),
                    group,
                    expect,
                    (&mut self.out, &mut counts),
                );
                let hit = |row: &Row| Some(Hit { doc: row.doc?, score: row.score? });
                let mut hits = Vec::with_capacity(group.rows.len());
                hits.extend(group.rows.iter().filter_map(hit));
                by_query.insert(query.id.clone(), Ranking::recorded(hits));
            }
        }
        let whole = names.first().copied().unwrap_or("ranks");
        match expect {
            _ if self.unread => {}
            Expect::Submission | Expect::Depth(_) => {
                for query in &missing {
                    let problem = format!("query {} has no rows", tick(query));
                    counts.push(InputError::new(whole, problem).expected("every query"));
                }
            }
            Expect::Any => {
                let warning = |query: &&str| format!("{whole}: query {} has no rows", tick(query));
                self.warnings.extend(missing.iter().map(warning));
                if by_query.is_empty() && self.out.is_empty() {
                    self.out.push(InputError::new(whole, "no rows").expected("at least one"));
                }
            }
        }
        let longest = by_query.values().map(|ranking| ranking.hits().len()).max();
        let depth = match expect {
            Expect::Submission => Depth::of_len(SUBMISSION_DEPTH as usize),
            Expect::Depth(depth) => depth,
            Expect::Any => Depth::of_len(longest.unwrap_or(0)),
        };
        if expect == Expect::Any {
            self.warnings.extend(short(self.bench, &by_query, depth));
        }
        let mut errors = self.out;
        let place = |error: &InputError| {
            let file = names.iter().position(|&name| name == error.file);
            (file, error.line.unwrap_or(u64::MAX))
        };
        errors.sort_by_key(place);
        counts.sort_by_key(place);
        errors.append(counts);
        if errors.is_empty() && self.method.is_none() {
            errors.push(InputError::new(whole, "no rows").expected("at least one"));
        }
        let method = self.method.unwrap_or_default();
        errors.result((method, Rankings::new(depth, by_query), self.warnings))
    }
}

/// Ranks consecutive from 1, candidates distinct, as many rows as there must be. Leaves the
/// rows in rank order.
fn check_group(
    names: &[&str],
    pool: &BenchPool,
    query: &str,
    group: &mut Group,
    expect: Expect,
    (out, counts): (&mut Violations, &mut Violations),
) {
    // Made for messages only.
    let query = || tick(query);
    let error = |row: &Row, column: usize, problem: String| {
        InputError::new(names[row.file], problem).line(row.line).field(COLUMNS[column])
    };
    group.rows.sort_unstable_by_key(|row| (row.rank, row.file, row.line));
    let mut repeated = false;
    for pair in group.rows.windows(2).filter(|pair| pair[0].rank == pair[1].rank) {
        repeated = true;
        let problem =
            format!("rank {} of query {} is also on line {}", pair[1].rank, query(), pair[0].line);
        out.push(error(&pair[1], 3, problem).expected("each rank once"));
    }
    let size = pool.pool.len();
    let rows = group.rows.len();
    let want = match expect {
        Expect::Submission => Some(size.min(SUBMISSION_DEPTH as usize)),
        Expect::Depth(depth) => Some(size.min(depth.get())),
        Expect::Any => None,
    };
    let first = group.rows.iter().min_by_key(|row| (row.file, row.line));
    let wrong = want.filter(|&want| rows != want && !group.damaged);
    if let (Some(first), Some(want)) = (first, wrong) {
        let problem = format!("query {} has {}", query(), counted(rows, "row"));
        let pool = tick(pool.pool.name());
        let expected = format!("{want}: pool {pool} has {size} candidates");
        counts.push(error(first, 1, problem).expected(expected));
    }
    let gap = group.rows.iter().zip(1u32..).find(|(row, rank)| row.rank != *rank);
    if let (Some((row, rank)), false, false) = (gap, repeated, group.damaged) {
        let problem = format!("rank {} of query {} leaves a gap", row.rank, query());
        out.push(error(row, 3, problem).expected(format!("{rank}")));
    }
    let mut by_doc: Vec<&Row> = group.rows.iter().filter(|row| row.doc.is_some()).collect();
    by_doc.sort_unstable_by_key(|row| (row.doc, row.file, row.line));
    for pair in by_doc.windows(2).filter(|pair| pair[0].doc == pair[1].doc) {
        let id = pair[1].doc.map_or("", |doc| pool.pool.id(doc).as_str());
        let problem = format!(
            "duplicate candidate {} for query {}, also on line {}",
            tick(id),
            query(),
            pair[0].line
        );
        out.push(error(pair[1], 4, problem).expected("distinct candidates"));
    }
}

/// Queries whose rankings end before the depth though their pools go on.
fn short(
    bench: &Benchmark,
    by_query: &BTreeMap<cleanhit_core::QueryId, Ranking>,
    depth: Depth,
) -> Option<String> {
    let short = by_query.iter().filter(|(query, ranking)| {
        let pool = bench.locate(query.as_str()).map(|(pool, _)| bench.pools[pool].pool.len());
        pool.is_some_and(|size| ranking.hits().len() < size.min(depth.get()))
    });
    match short.count() {
        0 => None,
        n => {
            let (queries, rows) = (counted(n, "query"), counted(depth.get(), "row"));
            Some(format!("{queries} with fewer than {rows}"))
        }
    }
}

/// Warnings of a header that will do.
fn header(name: &str, line: u64, record: &[&str]) -> Result<Vec<String>, InputError> {
    for (i, column) in COLUMNS.iter().enumerate() {
        let problem = match record.get(i) {
            Some(found) if found == column => continue,
            Some(found) => format!("the header's column {} is {}", i + 1, tick(found)),
            None => format!("the header has {}", counted(record.len(), "column")),
        };
        let error = InputError::new(name, problem).line(line).field(column);
        return Err(error.expected(format!("the header {}", tick(&COLUMNS.join(" ")))));
    }
    let extra = record.iter().skip(COLUMNS.len());
    Ok(extra.map(|column| format!("{name}: column {} is ignored", tick(column))).collect())
}

/// A whole number from 1, in the one way to write it.
fn rank(field: &str) -> Option<u32> {
    let plain = !field.starts_with(['0', '+']);
    field.parse().ok().filter(|_| plain)
}

fn score(field: &str) -> Result<Score, &'static str> {
    let value: f64 = field.parse().map_err(|_| "is not a number")?;
    Score::new(value).map_err(|_| "is not finite")
}
