//! TREC runs of a benchmark's queries: `qid Q0 docid rank score tag`.

use std::{cmp::Ordering, collections::BTreeMap, collections::HashMap};

use cleanhit_core::{Depth, DocIx, Hit, QueryId, Ranking, Rankings, Score};
use rustc_hash::FxHashSet;

use super::{Scored, word};
use crate::{
    bench::Benchmark,
    counted::counted,
    error::{InputError, Violations, tick},
    rows::{lines, utf8},
    unpack::{MAX_UNPACKED, unpack},
};

/// What decides the order of a query's rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunOrder {
    /// The rank column, ascending; the score is recorded only.
    Rank,
    /// As trec_eval: score descending, then document id descending; the rank is ignored.
    Trec,
}

/// A TREC run, checked against a benchmark.
#[derive(Clone, Debug)]
pub struct TrecFile {
    /// The last column of the first row.
    pub tag: String,
    /// The rankings, in the order asked for.
    pub rankings: Rankings,
    /// Queries whose rows the two orders arrange differently, by id.
    pub differ: Vec<QueryId>,
    /// What is odd and harmless: queries without rows.
    pub warnings: Vec<String>,
}

/// A run that trec_eval reads in the order of the rankings: since it ignores the rank and sorts
/// by score, the score written is the number of candidates from this one to the end.
///
/// # Errors
///
/// If an id or the tag has white space in it, which the format cannot hold.
pub fn write_trec_run(
    tag: &str,
    bench: &Benchmark,
    rankings: &Rankings,
) -> Result<Vec<u8>, InputError> {
    let mut out = String::new();
    word(tag, tag)?;
    for pool in &bench.pools {
        for query in &pool.queries {
            let hits = rankings.get(&query.id).map_or(&[][..], |ranking| ranking.hits());
            let query = word(tag, query.id.as_str())?;
            for (i, hit) in hits.iter().enumerate() {
                let candidate = word(tag, pool.pool.id(hit.doc).as_str())?;
                let (rank, score) = (i + 1, hits.len() - i);
                out += &format!("{query} Q0 {candidate} {rank} {score} {tag}\n");
            }
        }
    }
    Ok(out.into_bytes())
}

/// A run of rankings made elsewhere, with scores derived from the ranks as in
/// [`write_trec_run`].
///
/// # Errors
///
/// If an id or the tag has white space in it.
pub fn write_scored(tag: &str, run: &BTreeMap<String, Vec<Scored>>) -> Result<Vec<u8>, InputError> {
    let mut out = String::new();
    word(tag, tag)?;
    for (query, ranking) in run {
        let query = word(tag, query)?;
        for (i, hit) in ranking.iter().enumerate() {
            let candidate = word(tag, &hit.candidate)?;
            let (rank, score) = (i + 1, ranking.len() - i);
            out += &format!("{query} Q0 {candidate} {rank} {score} {tag}\n");
        }
    }
    Ok(out.into_bytes())
}

/// Reads a run, plain, gzip or zstd. Fields are separated by blanks or tabs, lines may end in CRLF and come in any
/// order; blank lines and lines that start with `#` are left out.
///
/// # Errors
///
/// All violations with their lines: other than six fields, a query or candidate that is not the
/// benchmark's, a candidate or a rank twice in a query, a score that is not finite.
pub fn parse_trec_run(
    name: &str,
    bytes: &[u8],
    bench: &Benchmark,
    order: RunOrder,
) -> Result<TrecFile, Vec<InputError>> {
    let bytes = unpack(name, bytes, MAX_UNPACKED).map_err(|error| vec![error])?;
    let text = utf8(name, &bytes).map_err(|error| vec![error])?;
    let mut out = Violations::default();
    let mut groups: BTreeMap<(usize, usize), Vec<Row>> = BTreeMap::new();
    let mut unknown: FxHashSet<&str> = FxHashSet::default();
    let mut tag = None;
    for (line, text) in lines(text) {
        let blank = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        let fields: Vec<&str> = text.split(blank).filter(|field| !field.is_empty()).collect();
        if fields.first().is_none_or(|first| first.starts_with('#')) {
            continue;
        }
        let &[query, _, candidate, rank, score, of_row] = fields.as_slice() else {
            let problem = format!("the row has {}", counted(fields.len(), "column"));
            let error = InputError::new(name, problem).line(line);
            out.push(error.expected("the 6 of `qid Q0 docid rank score tag`"));
            continue;
        };
        tag.get_or_insert(of_row);
        let Some(at) = bench.locate(query) else {
            if unknown.insert(query) {
                let problem = format!("query {} is not in the benchmark", tick(query));
                out.push(InputError::new(name, problem).line(line).field("qid"));
            }
            continue;
        };
        match row(bench, at.0, line, (candidate, rank, score), order) {
            Ok(row) => groups.entry(at).or_default().push(row),
            Err((field, problem, expected)) => {
                let error = InputError::new(name, problem).line(line).field(field);
                out.push(error.expected(expected));
            }
        }
    }
    let mut by_query = BTreeMap::new();
    let mut differ = Vec::new();
    for (&(pool, query), rows) in &mut groups {
        let BenchQuery { pool, query } = BenchQuery::at(bench, pool, query);
        repeated(name, query, rows, order, &mut out);
        rows.sort_by_key(|row| row.rank);
        let ranks: Vec<DocIx> = rows.iter().map(|row| row.doc).collect();
        let ranked = rows.iter().all(|row| row.rank.is_some());
        let id = |row: &Row| pool.id(row.doc).as_str();
        let trec =
            |a: &Row, b: &Row| -> Ordering { b.score.cmp(&a.score).then_with(|| id(b).cmp(id(a))) };
        let by_rank: Vec<Hit> = rows.iter().map(Row::hit).collect();
        rows.sort_by(trec);
        if ranked && !rows.iter().map(|row| row.doc).eq(ranks) {
            differ.push(query.clone());
        }
        let hits = match order {
            RunOrder::Rank => by_rank,
            RunOrder::Trec => rows.iter().map(Row::hit).collect(),
        };
        by_query.insert(query.clone(), Ranking::recorded(hits));
    }
    if by_query.is_empty() && out.is_empty() {
        out.push(InputError::new(name, "no rows").expected("at least one"));
    }
    differ.sort();
    let longest = by_query.values().map(|ranking| ranking.hits().len()).max();
    let all = bench.pools.iter().flat_map(|pool| &pool.queries);
    let missing = all.filter(|query| !by_query.contains_key(&query.id));
    let warnings =
        missing.map(|query| format!("{name}: query {} has no rows", tick(query.id.as_str())));
    let warnings = warnings.collect();
    let rankings = Rankings::new(Depth::of_len(longest.unwrap_or(0)), by_query);
    let tag = tag.unwrap_or_default().to_owned();
    out.result(TrecFile { tag, rankings, differ, warnings })
}

struct Row {
    line: u64,
    rank: Option<u64>,
    doc: DocIx,
    score: Score,
}

impl Row {
    fn hit(&self) -> Hit {
        Hit { doc: self.doc, score: self.score }
    }
}

struct BenchQuery<'a> {
    pool: &'a cleanhit_core::Pool,
    query: &'a QueryId,
}

impl BenchQuery<'_> {
    fn at(bench: &Benchmark, pool: usize, query: usize) -> BenchQuery<'_> {
        let pool = &bench.pools[pool];
        BenchQuery { pool: &pool.pool, query: &pool.queries[query].id }
    }
}

/// A row whose query is known, or the field that is wrong and how.
fn row(
    bench: &Benchmark,
    pool: usize,
    line: u64,
    (candidate, rank, score): (&str, &str, &str),
    order: RunOrder,
) -> Result<Row, (&'static str, String, &'static str)> {
    let pool = &bench.pools[pool].pool;
    let Some(doc) = pool.position(candidate) else {
        let pool = tick(pool.name());
        let problem = format!("candidate {} is not in pool {pool}", tick(candidate));
        return Err(("docid", problem, "a candidate of the query's pool"));
    };
    let value = score.parse().ok().and_then(|value| Score::new(value).ok());
    let Some(score) = value else {
        return Err(("score", format!("is {}", tick(score)), "a finite number"));
    };
    let number = rank.parse().ok();
    if number.is_none() && order == RunOrder::Rank {
        return Err(("rank", format!("is {}", tick(rank)), "a whole number"));
    }
    Ok(Row { line, rank: number, doc, score })
}

fn repeated(name: &str, query: &QueryId, rows: &[Row], order: RunOrder, out: &mut Violations) {
    let query = tick(query.as_str());
    let mut docs: HashMap<DocIx, u64> = HashMap::new();
    let mut ranks: HashMap<u64, u64> = HashMap::new();
    for row in rows {
        if let Some(other) = docs.insert(row.doc, row.line) {
            let problem = format!("duplicate candidate for query {query}, also on line {other}");
            out.push(InputError::new(name, problem).line(row.line).field("docid"));
        }
        let rank = row.rank.filter(|_| order == RunOrder::Rank);
        if let Some((rank, other)) = rank.and_then(|r| Some((r, ranks.insert(r, row.line)?))) {
            let problem = format!("rank {rank} of query {query} is also on line {other}");
            out.push(InputError::new(name, problem).line(row.line).field("rank"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    fn bench() -> Benchmark {
        testing::bench(&[
            testing::pool("p", &["a", "b", "c", "d"], &["q1", "q2"]),
            testing::pool("s", &["q1"], &["q3"]),
        ])
    }

    fn read(text: &str, order: RunOrder) -> Result<TrecFile, Vec<String>> {
        parse_trec_run("f", text.as_bytes(), &bench(), order)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    fn ids(file: &TrecFile, query: &str) -> Vec<String> {
        let bench = bench();
        let pool = &bench.pools[bench.find_query(query).unwrap().0].pool;
        let hits = file.rankings.get(&query.into()).unwrap().hits().iter();
        hits.map(|hit| pool.id(hit.doc).to_string()).collect()
    }

    #[test]
    fn ties_go_by_document_descending_under_trec() {
        let text =
            "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq1 Q0 c 3 1 t\nq1 Q0 d 4 1 t\nq2\tQ0\ta 0 2 t\r\n";
        let trec = read(text, RunOrder::Trec).unwrap();
        assert_eq!(ids(&trec, "q1"), ["d", "c", "b", "a"]);
        assert_eq!(trec.differ, [QueryId::from("q1")]);
        assert_eq!(trec.warnings, ["f: query `q3` has no rows"]);
        let rank = read(text, RunOrder::Rank).unwrap();
        assert_eq!(ids(&rank, "q1"), ["a", "b", "c", "d"]);
        assert_eq!((rank.differ, rank.tag.as_str()), (trec.differ, "t"));
        assert_eq!(rank.rankings.depth(), Depth::of_len(4));
    }

    #[test]
    fn a_query_and_a_candidate_of_one_id_are_kept() {
        let run = read("# made by hand\n\nq3 Q0 q1 1 0.5 t", RunOrder::Trec).unwrap();
        assert_eq!(ids(&run, "q3"), ["q1"]);
    }

    #[test]
    fn each_violation_has_its_line() {
        let text = "q1 Q0 a 1 1\nq9 Q0 a 1 1 t\nq9 Q0 b 2 1 t\nq1 Q0 z 1 1 t\nq1 Q0 a 1 nan t\n\
                    q1 Q0 a x 1 t\nq1 Q0 b 1 1 t\nq1 Q0 c 1 1 t\nq1 Q0 b 2 1 t\n";
        assert_eq!(
            read(text, RunOrder::Rank).unwrap_err(),
            [
                "f:1: the row has 5 columns; expected the 6 of `qid Q0 docid rank score tag`",
                "f:2: field `qid`: query `q9` is not in the benchmark",
                "f:4: field `docid`: candidate `z` is not in pool `p`; expected a candidate of the query's pool",
                "f:5: field `score`: is `nan`; expected a finite number",
                "f:6: field `rank`: is `x`; expected a whole number",
                "f:8: field `rank`: rank 1 of query `q1` is also on line 7",
                "f:9: field `docid`: duplicate candidate for query `q1`, also on line 7",
            ]
        );
        assert_eq!(read("", RunOrder::Rank).unwrap_err(), ["f: no rows; expected at least one"]);
        assert!(read("q1 Q0 a x 1 t", RunOrder::Trec).unwrap().differ.is_empty());
    }

    #[test]
    fn ids_that_are_not_one_word_cannot_be_written() {
        let bench = testing::bench(&[testing::pool("p", &["a b"], &["q"])]);
        let doc = bench.pools[0].pool.position("a b").unwrap();
        let hit = Hit { doc, score: Score::new(1.0).unwrap() };
        let by_query = BTreeMap::from([("q".into(), Ranking::recorded([hit]))]);
        let rankings = Rankings::new(Depth::of_len(1), by_query);
        let error = write_trec_run("t", &bench, &rankings).unwrap_err().to_string();
        assert_eq!(error, "t: id `a b` is not one word; expected an id without white space");
        assert!(write_trec_run("my tag", &bench, &rankings).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_trec_run("f", &bytes, &bench(), RunOrder::Rank);
        }

        #[test]
        fn arbitrary_rows_do_not_panic(text in "(q[1-3] Q0 [abcdq1]{1,2} [0-9x]{1,2} [-0-9.e]{1,4} t\n){0,9}") {
            let _ = read(&text, RunOrder::Rank);
            let _ = read(&text, RunOrder::Trec);
        }

        /// Whatever the scores, both orders read a written run as it was ranked.
        #[test]
        fn runs_read_back(order in Just([0usize, 1, 2, 3]).prop_shuffle(), n in 1usize..5, score in -9.0..9.0) {
            let bench = bench();
            let docs: Vec<DocIx> = bench.pools[0].pool.corpus().docs().collect();
            let hit = |i: &usize| Hit { doc: docs[*i], score: Score::new(score).unwrap() };
            let ranking = Ranking::recorded(order.iter().take(n).map(hit));
            let want: Vec<DocIx> = ranking.hits().iter().map(|hit| hit.doc).collect();
            let rankings = Rankings::new(Depth::of_len(4), BTreeMap::from([("q1".into(), ranking)]));
            let bytes = write_trec_run("t", &bench, &rankings).unwrap();
            for order in [RunOrder::Rank, RunOrder::Trec] {
                let file = parse_trec_run("f", &bytes, &bench, order).unwrap();
                let hits = file.rankings.get(&"q1".into()).unwrap().hits();
                let got: Vec<DocIx> = hits.iter().map(|hit| hit.doc).collect();
                prop_assert_eq!(&got, &want);
                prop_assert!(file.differ.is_empty());
            }
        }
    }
}
