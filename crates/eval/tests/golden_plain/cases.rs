//! `shared/golden/ir`: values of trec_eval, pytrec_eval, ranx and ir_measures on our inputs.

use std::path::Path;

use cleanhit_eval::plain::{Evaluation, Options, Order, Over, Qrels, ReadError, Run};
use serde_json::Value;

use crate::help::{assert_close, json, means, of_query, order, read, score, shared};

/// The names in `expected.json`, and ours.
const NAMES: [(&str, &str); 10] = [
    ("ndcg@10", "nDCG@10"),
    ("map", "AP"),
    ("mrr@10", "RR@10"),
    ("recall@3", "R@3"),
    ("recall@5", "R@5"),
    ("recall@20", "R@20"),
    ("p@1", "P@1"),
    ("p@3", "P@3"),
    ("p@5", "P@5"),
    ("p@10", "P@10"),
];

fn evaluate(run: &Path, qrels: &Path) -> Evaluation {
    let names: Vec<_> = NAMES.iter().map(|(_, ours)| *ours).collect();
    score(&read(run), &read(qrels), &names.join(","), &Options::default())
}

fn assert_values(found: &[f64], expected: &Value, what: &str) {
    for ((theirs, _), &found) in NAMES.iter().zip(found) {
        assert_close(found, expected[theirs].as_f64().unwrap(), &format!("{what} {theirs}"));
    }
}

/// Each query and all three means of a case.
fn check_case(folder: &Path) -> Evaluation {
    let expected = &json(&folder.join("expected.json"));
    let file = |kind: &str| folder.join(expected["files"][kind].as_str().unwrap());
    let found = evaluate(&file("run"), &file("qrels"));
    let expected = &expected["expected"];
    let per_query = expected["per_query"].as_object().unwrap();
    assert_eq!(found.queries.len(), per_query.len());
    for (query, values) in per_query {
        assert_values(&of_query(&found, query), values, query);
    }
    for (mean, size, over) in [
        ("mean_complete", "n_qrels", Over::All),
        ("mean_intersection", "n_intersection", Over::Answered),
        ("mean_complete_with_relevant", "n_with_relevant", Over::WithRelevant),
    ] {
        assert_values(&means(found.over(over)), &expected[mean], mean);
        assert_eq!(Some(found.count(over) as u64), expected[size].as_u64(), "{size}");
    }
    assert_eq!(expected["run_only"], Value::from(found.run_only.clone()));
    let missing: Vec<_> = found.missing_queries().collect();
    assert_eq!(expected["missing_from_run"], Value::from(missing));
    found
}

#[test]
fn graded_values_agree_with_five_tools() {
    let Some(golden) = shared("golden/ir") else { return };
    check_case(&golden.join("c1_graded"));
}

#[test]
fn tied_documents_are_ordered_as_in_trec_eval() {
    let Some(golden) = shared("golden/ir") else { return };
    let folder = golden.join("c2_ties");
    let found = check_case(&folder);
    let run = read(&folder.join("run.trec"));
    let expected = json(&folder.join("expected_order.json"));
    for (query, documents) in expected.as_object().unwrap() {
        assert_eq!(&Value::from(order(&run, query, Order::Trec)), documents, "{query}");
    }
    let tied: Vec<_> = found.queries.iter().map(|query| query.tied).collect();
    // q6 has gaps of 5e-12, which are no ties in double precision.
    assert_eq!(tied, [true, true, true, true, true, false, true]);
    let near: Vec<_> = found.ties().iter().map(|ties| (ties.cutoff.get(), ties.near)).collect();
    assert_eq!(near, [(1, 1), (3, 0), (5, 0), (10, 0), (20, 0)]);
}

#[test]
fn a_missing_query_makes_three_different_means() {
    let Some(golden) = shared("golden/ir") else { return };
    let found = check_case(&golden.join("c3_missing"));
    assert_eq!(found.queries.len(), 6, "every query of the qrels has a row");
    let ap = |over| means(found.over(over))[1];
    assert_close(ap(Over::All), 0.25, "over all");
    assert_close(ap(Over::Answered), 0.375, "over the answered");
    assert_close(ap(Over::WithRelevant), 0.3, "over those with relevant documents");
}

#[test]
fn duplicates_are_refused_with_both_lines() {
    let Some(golden) = shared("golden/ir") else { return };
    let folder = golden.join("c4_duplicates");
    check_case(&folder);
    for file in ["run.trec", "run_identical_dup.trec"] {
        let bytes = read(&folder.join(file));
        let error = Run::parse(&bytes).unwrap_err();
        assert!(matches!(error, ReadError::Duplicate { .. }), "{file}: {error}");
    }
    let error = |file: &str| Qrels::parse(&read(&folder.join(file))).unwrap_err().to_string();
    assert_eq!(
        error("qrels_dup_same.trec"),
        "line 2: duplicate: document `a` of query `q1` is on line 1"
    );
    assert_eq!(
        error("qrels_dup_conflict.trec"),
        "line 2: document `a` of query `q1` has grade 0, but grade 1 on line 1"
    );
    let bytes = read(&folder.join("run.trec"));
    assert_eq!(
        Run::parse(&bytes).unwrap_err().to_string(),
        "line 3: duplicate: document `a` of query `q1` is on line 1"
    );
}

/// The decision on each file of `c6_formats`: read, or refused with this message.
const FORMATS: [(&str, Option<&str>); 15] = [
    ("run_clean.trec", None),
    ("run_crlf.trec", None),
    ("run_tabs_nofinalnl.trec", None),
    ("run_interleaved.trec", None),
    ("run_comments.trec", None),
    ("run_rank_contradicts.trec", None),
    ("run_5col.trec", Some("line 1: 5 columns, expected the 6 of `qid Q0 docid rank score tag`")),
    ("run_7col.trec", Some("line 1: 7 columns, expected the 6 of `qid Q0 docid rank score tag`")),
    (
        "run_tag_space.trec",
        Some("line 1: 7 columns, expected the 6 of `qid Q0 docid rank score tag`"),
    ),
    ("run_bom.trec", Some("line 1: begins with a UTF-8 byte-order mark, expected a query id")),
    ("run_nan.trec", Some("line 1: score `nan` is not a finite number")),
    ("run_nan_mid.trec", Some("line 2: score `nan` is not a finite number")),
    ("run_inf.trec", Some("line 1: score `inf` is not a finite number")),
    ("run_text_score.trec", Some("line 1: score `high` is not a finite number")),
    (
        "run_empty.trec",
        Some("the file is empty: expected rows with the 6 of `qid Q0 docid rank score tag`"),
    ),
];

#[test]
fn each_format_is_read_as_trec_eval_reads_it_or_refused_by_line() {
    let Some(golden) = shared("golden/ir") else { return };
    let matrix = json(&golden.join("behaviour_matrix.json"));
    let folder = golden.join("c6_formats");
    for (file, refused) in FORMATS {
        let bytes = read(&folder.join(file));
        match refused {
            Some(message) => {
                assert_eq!(Run::parse(&bytes).unwrap_err().to_string(), message, "{file}");
                assert_eq!(Run::check(&bytes)[0].to_string(), message, "{file}");
            }
            None => {
                assert!(Run::check(&bytes).is_empty(), "{file}");
                let found = evaluate(&folder.join(file), &folder.join("qrels.trec"));
                let key = format!("c6_formats/{file} x qrels.trec");
                for (query, values) in matrix[&key]["trec_eval"].as_object().unwrap() {
                    let own = match query.as_str() {
                        "all" => means(found.summary()),
                        query => of_query(&found, query),
                    };
                    for ((theirs, _), own) in NAMES.iter().zip(own) {
                        let name = if *theirs == "mrr@10" { "mrr" } else { theirs };
                        let printed = values[name].as_f64().unwrap();
                        assert!((own - printed).abs() < 5.1e-5, "{file} {query} {theirs}");
                    }
                }
            }
        }
    }
    assert_eq!(
        Qrels::parse(&read(&folder.join("qrels_float.trec"))).unwrap_err().to_string(),
        "line 1: grade `1.0` is not a whole number of 32 bits"
    );
}

#[test]
fn contradicting_ranks_are_listed_and_can_be_asked_for() {
    let Some(golden) = shared("golden/ir") else { return };
    let bytes = read(&golden.join("c6_formats/run_rank_contradicts.trec"));
    let run = Run::parse(&bytes).unwrap();
    assert_eq!(run.order_differences().differ, ["q1", "q2"]);
    assert_eq!(order(&bytes, "q1", Order::Trec), ["a", "b", "c"]);
    assert_eq!(order(&bytes, "q1", Order::Rank), ["c", "b", "a"]);
}
