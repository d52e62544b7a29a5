use std::{fs, time::Instant};

use cleanhit_core::{Depth, Hit, QueryId, Ranking, Rankings, Score};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{bench::Benchmark, testing};

const HEADER: &str = "method_id\tquery_case_id\tcandidate_pool_id\trank\tcandidate_id\tscore\n";

/// Pool `p` of `a`, `b`, `c` with queries `q` and `r`; pool `s` of `x` with query `t`.
fn small() -> Benchmark {
    let pools =
        [testing::pool("p", &["a", "b", "c"], &["q", "r"]), testing::pool("s", &["x"], &["t"])];
    testing::bench(&pools)
}

/// A valid file over [`small`].
fn valid() -> String {
    let rows = "m\tq\tp\t1\ta\t3.0\nm\tq\tp\t2\tb\t2.0\nm\tq\tp\t3\tc\t1.0\n\
                m\tr\tp\t1\tc\t0.5\nm\tr\tp\t2\tb\t0.5\nm\tr\tp\t3\ta\t0.5\n\
                m\tt\ts\t1\tx\t-1e-9\n";
    format!("{HEADER}{rows}")
}

fn read(text: &str, expect: Expect) -> Result<RankFile, Vec<String>> {
    read_ranks("f", text.as_bytes(), &small(), expect)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn order(file: &RankFile, bench: &Benchmark, query: &str) -> Vec<String> {
    let (pool, _) = bench.find_query(query).unwrap();
    let hits = file.rankings.get(&query.into()).unwrap().hits().iter();
    hits.map(|hit| bench.pools[pool].pool.id(hit.doc).to_string()).collect()
}

#[test]
fn the_rank_is_authoritative_and_row_order_is_not() {
    let file = read(&valid(), Expect::Submission).unwrap();
    assert_eq!((file.method_id.as_str(), file.rankings.depth()), ("m", Depth::of_len(20)));
    assert_eq!(order(&file, &small(), "r"), ["c", "b", "a"]);
    let mut rows: Vec<&str> = HEADER.lines().collect();
    let text = valid();
    rows.extend(text.lines().skip(1).collect::<Vec<_>>().iter().rev());
    let reversed = read(&rows.join("\r\n"), Expect::Submission).unwrap();
    assert_eq!(reversed.rankings, file.rankings);
}

#[test]
fn each_rule_has_its_message_and_line() {
    let cases = [
        (
            "m\tq\tp\t2\tb",
            "n\tq\tp\t2\tb",
            "f:3: field `method_id`: a second method id, `n`; expected `m`, as before",
        ),
        (
            "m\tt\ts",
            "m\tz\ts",
            "f:8: field `query_case_id`: query `z` is not in the benchmark; expected one of its queries",
        ),
        (
            "m\tq\tp\t2",
            "m\tq\ts\t2",
            "f:3: field `candidate_pool_id`: pool `s` is not the query's; expected `p`, the pool of query `q`",
        ),
        (
            "m\tq\tp\t2",
            "m\tq\tz\t2",
            "f:3: field `candidate_pool_id`: pool `z` is not the query's; expected `p`, the pool of query `q`",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t4\tc\t1.0",
            "f:4: field `rank`: rank 4 of query `q` leaves a gap; expected 3",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t2\tc\t1.0",
            "f:4: field `rank`: rank 2 of query `q` is also on line 3; expected each rank once",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t0\tc\t1.0",
            "f:4: field `rank`: rank `0` is not a rank; expected a whole number from 1",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t3.0\tc\t1.0",
            "f:4: field `rank`: rank `3.0` is not a rank; expected a whole number from 1",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t+3\tc\t1.0",
            "f:4: field `rank`: rank `+3` is not a rank; expected a whole number from 1",
        ),
        (
            "p\t3\tc\t1.0",
            "p\t4294967296\tc\t1.0",
            "f:4: field `rank`: rank `4294967296` is not a rank; expected a whole number from 1",
        ),
        (
            "3\tc\t1.0",
            "3\tz\t1.0",
            "f:4: field `candidate_id`: candidate `z` is not in pool `p`; expected a candidate of the query's pool",
        ),
        (
            "3\tc\t1.0",
            "3\tx\t1.0",
            "f:4: field `candidate_id`: candidate `x` is not in pool `p`, it is in pool `s`; expected a candidate of the query's pool",
        ),
        (
            "3\tc\t1.0",
            "3\ta\t1.0",
            "f:4: field `candidate_id`: duplicate candidate `a` for query `q`, also on line 2; expected distinct candidates",
        ),
        (
            "3\tc\t1.0",
            "3\tc\tNaN",
            "f:4: field `score`: score `NaN` is not finite; expected a finite number",
        ),
        (
            "3\tc\t1.0",
            "3\tc\t-inf",
            "f:4: field `score`: score `-inf` is not finite; expected a finite number",
        ),
        (
            "3\tc\t1.0",
            "3\tc\t1e999",
            "f:4: field `score`: score `1e999` is not finite; expected a finite number",
        ),
        (
            "3\tc\t1.0",
            "3\tc\thigh",
            "f:4: field `score`: score `high` is not a number; expected a finite number",
        ),
        (
            "3\tc\t1.0",
            "3\tc\t",
            "f:4: field `score`: score `` is not a number; expected a finite number",
        ),
        (
            "m\tq\tp\t3\tc\t1.0\n",
            "",
            "f:2: field `query_case_id`: query `q` has 2 rows; expected 3: pool `p` has 3 candidates",
        ),
        ("m\tt\ts\t1\tx\t-1e-9\n", "", "f: query `t` has no rows; expected every query"),
        ("3\tc\t1.0", "3\tc", "f:4: the row has 5 columns; expected 6, as the header has"),
    ];
    for (from, to, message) in cases {
        assert!(valid().contains(from), "{from}");
        for text in
            [valid().replacen(from, to, 1), valid().replacen(from, to, 1).replace('\n', "\r\n")]
        {
            let errors = read(&text, Expect::Submission).unwrap_err();
            assert!(errors.iter().any(|error| error == message), "{to}: {errors:#?}");
        }
    }
}

#[test]
fn a_header_must_be_the_header() {
    let header =
        "expected the header `method_id query_case_id candidate_pool_id rank candidate_id score`";
    let cases = [
        ("", format!("f: the file is empty; {header}")),
        (
            "\u{feff}method_id",
            "f:1: starts with a byte order mark; expected UTF-8 without one".to_owned(),
        ),
        (
            "method_id\tquery_id\n",
            format!("f:1: field `query_case_id`: the header's column 2 is `query_id`; {header}"),
        ),
        (
            "method_id\tquery_case_id\n",
            format!("f:1: field `candidate_pool_id`: the header has 2 columns; {header}"),
        ),
        (
            &valid()[HEADER.len()..],
            format!("f:1: field `method_id`: the header's column 1 is `m`; {header}"),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(read(text, Expect::Submission).unwrap_err(), [message]);
    }
    let errors = read(HEADER, Expect::Submission).unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(read(HEADER, Expect::Any).unwrap_err(), ["f: no rows; expected at least one"]);
}

#[test]
fn all_violations_are_listed_in_line_order() {
    let text = valid()
        .replacen("1\tc\t0.5", "1\tc\tx", 1)
        .replacen("2\tb\t2.0", "2\tz\t2.0", 1)
        .replacen("m\tt\ts\t1\tx\t-1e-9\n", "", 1);
    let errors = read(&text, Expect::Submission).unwrap_err();
    let lines: Vec<&str> = errors.iter().map(|error| &error[..4]).collect();
    assert_eq!(lines, ["f:3:", "f:5:", "f: q"], "{errors:#?}");
    let many = format!("{HEADER}{}", "m\tq\tp\tx\ty\tz\n".repeat(200));
    let errors = read(&many, Expect::Any).unwrap_err();
    assert_eq!((errors.len(), errors[100].as_str()), (101, "f: 500 more violations not listed"));
}

#[test]
fn quoted_fields_and_extra_columns_are_read() {
    let mut text = valid().replacen("score\n", "score\tcandidate_role\tquery\n", 1);
    text = text.replace("\t3.0\n", "\t\"3.0\"\thelpful\t\"a \"\"quoted\"\"\n\tquery\"\n");
    for score in ["2.0", "1.0", "0.5", "-1e-9"] {
        text = text.replace(&format!("\t{score}\n"), &format!("\t{score}\t\t\n"));
    }
    let file = read(&text, Expect::Submission).unwrap();
    assert_eq!(
        file.warnings,
        ["f: column `candidate_role` is ignored", "f: column `query` is ignored"]
    );
    assert_eq!(file.rankings, read(&valid(), Expect::Submission).unwrap().rankings);
    let errors = read(&text.replacen("3\tc\t1.0", "3\tc\tx", 1), Expect::Submission).unwrap_err();
    assert!(errors[0].starts_with("f:5: field `score`"), "a quoted line end counts: {errors:?}");
}

#[test]
fn other_depths() {
    let two = Expect::Depth(Depth::of_len(2));
    let errors = read(&valid(), two).unwrap_err();
    assert_eq!(
        errors[0],
        "f:2: field `query_case_id`: query `q` has 3 rows; expected 2: pool `p` has 3 candidates"
    );
    let cut = valid().replace("m\tq\tp\t3\tc\t1.0\n", "").replace("m\tr\tp\t3\ta\t0.5\n", "");
    assert_eq!(read(&cut, two).unwrap().rankings.depth(), Depth::of_len(2));
    let some = format!("{HEADER}m\tq\tp\t1\tb\t0\nm\tr\tp\t1\tb\t0\nm\tr\tp\t2\ta\t0\n");
    let file = read(&some, Expect::Any).unwrap();
    assert_eq!(file.rankings.depth(), Depth::of_len(2));
    assert_eq!(file.warnings, ["f: query `t` has no rows", "1 query with fewer than 2 rows"]);
}

#[test]
fn one_file_for_each_pool_makes_one_set() {
    let text = valid();
    let at = text.find("m\tt").unwrap();
    let (p, s) = (&text[..at], format!("{HEADER}{}", &text[at..]));
    let files = [("p.tsv", p.as_bytes()), ("s.tsv", s.as_bytes())];
    let set = read_rank_set(&files, &small(), Expect::Submission).unwrap();
    assert_eq!(set.rankings, read(&text, Expect::Submission).unwrap().rankings);
    assert_eq!(set.files.len(), 2);
    let files = [("p.tsv", p.as_bytes()), ("s.tsv", p.as_bytes())];
    let errors = read_rank_set(&files, &small(), Expect::Submission).unwrap_err();
    assert!(
        errors.iter().any(|e| e.file == "s.tsv" && e.problem.contains("also on line 2")),
        "{errors:?}"
    );
}

#[test]
fn ties_across_rank_20_survive_shuffled_rows() {
    let ids: Vec<String> = (0..25).map(|i| format!("c{i:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let bench = testing::bench(&[testing::pool("p", &ids, &["q"])]);
    let mut rows: Vec<String> =
        (0..20).map(|i| format!("m\tq\tp\t{}\t{}\t0.0\n", i + 1, ids[24 - i])).collect();
    let first = read_ranks(
        "f",
        format!("{HEADER}{}", rows.concat()).as_bytes(),
        &bench,
        Expect::Submission,
    );
    let first = first.unwrap();
    for turn in 0..100 {
        rows.rotate_left(turn % 7 + 1);
        rows.swap(turn % 20, (turn * 7) % 20);
        let text = format!("{HEADER}{}", rows.concat());
        let again = read_ranks("f", text.as_bytes(), &bench, Expect::Submission).unwrap();
        assert_eq!(again.rankings, first.rankings);
    }
}

#[test]
fn golden_leaderboard_files() {
    let Some(dir) = testing::shared("golden/ir/c13_leaderboard") else { return };
    let expected: Value =
        serde_json::from_slice(&fs::read(dir.join("expected.json")).unwrap()).unwrap();
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    let queries = expected["queries"].as_object().unwrap();
    let pools = expected["pools"].as_object().unwrap().iter().map(|(id, candidates)| {
        let candidates = strings(candidates);
        let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
        let queries: Vec<&str> = queries
            .iter()
            .filter(|(_, pool)| *pool == id)
            .map(|(query, _)| query.as_str())
            .collect();
        testing::pool(id, &candidates, &queries)
    });
    let bench = testing::bench(&pools.collect::<Vec<_>>());
    let read = |file: &str| {
        read_ranks(file, &fs::read(dir.join(file)).unwrap(), &bench, Expect::Submission)
    };
    let valid = read("valid_top20.tsv").unwrap();
    assert_eq!(valid.rankings, read("valid_top20_lf.tsv").unwrap().rankings);
    assert_eq!(valid.rankings, read("ok_unsorted_rows.tsv").unwrap().rankings);
    for file in strings(&expected["accept"]) {
        let file = read(&file).unwrap();
        let bytes = write_ranks(&file.method_id, &bench, &file.rankings);
        let again = read_ranks("written", &bytes, &bench, Expect::Submission).unwrap();
        assert_eq!(again.rankings, file.rankings);
    }
    let reject = expected["reject"].as_object().unwrap();
    assert_eq!(reject.len(), 7);
    for (file, reason) in reject {
        let says = match reason.as_str().unwrap() {
            "duplicate" => "duplicate candidate",
            "rank" => "leaves a gap",
            "count" => "has 19 rows; expected 20",
            "pool" => "it is in pool `poolB`",
            "non-finite" => "is not finite",
            "method" => "a second method id",
            "coverage" => "has no rows; expected every query",
            other => panic!("unknown reason {other}"),
        };
        let errors: Vec<String> = read(file).unwrap_err().iter().map(ToString::to_string).collect();
        assert!(errors.iter().any(|error| error.contains(says)), "{file}: {errors:#?}");
        assert_eq!(errors.len(), 1, "{file}: one cause, one message: {errors:#?}");
    }
}

/// 1,258 queries of 20 rows.
#[test]
fn a_full_leaderboard_file_reads_fast() {
    let ids: Vec<String> = (0..7713).map(|i| format!("some/owner/skill-{i:05}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let queries: Vec<String> = (0..1258).map(|i| format!("query-case-{i:05}")).collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let bench = testing::bench(&[testing::pool("p", &ids, &queries)]);
    let mut text = HEADER.to_owned();
    for (i, query) in queries.iter().enumerate() {
        for rank in 0..20 {
            let id = ids[(i * 131 + rank * 17) % ids.len()];
            text +=
                &format!("m\t{query}\tp\t{}\t{id}\t{:?}\n", rank + 1, 1.0 / (rank + i + 2) as f64);
        }
    }
    let read = || read_ranks("f", text.as_bytes(), &bench, Expect::Submission).unwrap();
    let timed = (0..5).map(|_| {
        let start = Instant::now();
        (read(), start.elapsed())
    });
    let (file, time) = timed.min_by_key(|(_, time)| *time).unwrap();
    println!("25,160 rows in {time:?}");
    assert_eq!(file.rankings.iter().len(), 1258);
    let start = Instant::now();
    assert_eq!(write_ranks("m", &bench, &file.rankings), text.into_bytes());
    println!("written in {:?}", start.elapsed());
}

fn rankings(bench: &Benchmark, scores: &[f64]) -> Rankings {
    let mut scores = scores.iter().copied().cycle();
    let pool = &bench.pools[0];
    let by_query = pool.queries.iter().map(|query| {
        let docs = pool.pool.corpus().docs();
        let hits = docs.map(|doc| Hit { doc, score: Score::new(scores.next().unwrap()).unwrap() });
        (QueryId::from(query.id.as_str()), Ranking::recorded(hits))
    });
    Rankings::new(Depth::of_len(pool.pool.len()), by_query.collect())
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_ranks("f", &bytes, &small(), Expect::Any);
        let mut text = HEADER.as_bytes().to_vec();
        text.extend(&bytes);
        let _ = read_ranks("f", &text, &small(), Expect::Submission);
    }

    /// What is written reads back with the same bits, whatever the ids.
    #[test]
    fn ranks_read_back(
        ids in prop::collection::btree_set("[a-z\" ,';ü#]{1,6}", 1..5),
        method in "[a-z\"\\-]{1,4}",
        scores in prop::collection::vec(-1e300f64..1e300, 1..9),
        tiny in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..9),
    ) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let bench = testing::bench(&[testing::pool("p \"x", &ids, &["q\"", "r"])]);
        for scores in [scores, tiny] {
            let rankings = rankings(&bench, &scores);
            let bytes = write_ranks(&method, &bench, &rankings);
            let file = read_ranks("f", &bytes, &bench, Expect::Submission).unwrap();
            prop_assert_eq!(&file.method_id, &method);
            let same = file.rankings.iter().zip(rankings.iter()).all(|(a, b)| a == b);
            prop_assert!(same);
        }
    }
}

#[test]
fn causes_come_before_what_follows_for_the_count() {
    let base = format!("{HEADER}m\tq\tp\t1\ta\t0\nm\tq\tp\t2\tb\t0\n");
    // The row that is too short is the third of its query, which is then not counted.
    let found = read(&format!("{base}m\tq\tp\t3\tc\n"), Expect::Submission).unwrap_err();
    assert_eq!(found[0], "f:4: the row has 5 columns; expected 6, as the header has");
    assert!(!found.iter().any(|line| line.contains("query `q` has")), "{found:?}");
    // A row whose query can't be told: its cause is listed first.
    let found = read(&format!("{base}m\n"), Expect::Submission).unwrap_err();
    assert_eq!(found[0], "f:4: the row has 1 column; expected 6, as the header has");
    assert!(found[1].starts_with("f:2: field `query_case_id`: query `q` has 2 rows"), "{found:?}");
    let found = read(&format!("{base}m\tq\tp\t3\t\"c\t0\n"), Expect::Submission).unwrap_err();
    assert_eq!(found, ["f:4: has a quote that is never closed; expected another `\"`"]);
}
