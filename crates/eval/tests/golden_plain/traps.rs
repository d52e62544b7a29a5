//! What users of other tools fell into, each with data small enough to check by hand.

use std::num::NonZeroU32;

use cleanhit_eval::plain::{
    Boundary, EvaluateError, MEASURES, Measure, Missing, Options, Order, Qrels, Run, WriteError,
    check_depth, evaluate, write_qrels, write_run,
};

use crate::help::{means, of_query, order, score, skip_missing};

/// Measures of one query, for run rows `document score` and judgements `document grade`.
fn check(rows: &[(&str, f64)], judged: &[(&str, i32)], measures: &str, expected: &[f64]) {
    let rows = rows.iter().zip(1..).map(|(&(document, score), rank)| ("q", document, rank, score));
    let run = Run::from_rows(rows).unwrap();
    let qrels = Qrels::from_queries([("q", judged.iter().copied())]).unwrap();
    let list = Measure::parse_list(measures).unwrap();
    let found = evaluate(&run, &qrels, &list, &Options::default()).unwrap();
    assert_eq!(of_query(&found, "q"), expected, "{measures}");
}

fn run_error(text: &str) -> String {
    Run::parse(text.as_bytes()).unwrap_err().to_string()
}

fn qrels_error(text: &str) -> String {
    Qrels::parse(text.as_bytes()).unwrap_err().to_string()
}

fn k(cutoff: u32) -> NonZeroU32 {
    NonZeroU32::new(cutoff).unwrap()
}

#[test]
fn equal_scores_go_by_id_descending() {
    let run = b"q1 Q0 a 1 1 x\nq1 Q0 b 2 1 x\nq1 Q0 c 3 1 x\nq1 Q0 d 4 1 x\n";
    assert_eq!(order(run, "q1", Order::Trec), ["d", "c", "b", "a"]);
    let found = score(run, b"q1 0 a 1\n", "RR,nDCG,P@1,P@4", &Options::default());
    let rr = found.queries[0].values[0];
    assert_eq!((rr.worst, rr.value, rr.best), (0.25, 0.25, 1.0));
    let ndcg = found.queries[0].values[1];
    assert_eq!((ndcg.worst, ndcg.best), (1.0 / 5f64.log2(), 1.0));
    assert_eq!(found.queries[0].boundaries, [Boundary::Tied, Boundary::Clear]);
    assert_eq!(found.ties().iter().map(|ties| ties.tied).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_constant_scorer_gains_nothing_from_the_order_of_its_input() {
    let ids: Vec<_> = (0..25).map(|n| format!("s{n:02}")).collect();
    let mut values = Vec::new();
    for shuffle in [1, 7, 24] {
        let text: String =
            (0..25).map(|n| format!("q Q0 {} {} 0 x\n", ids[n * shuffle % 25], n + 1)).collect();
        let found = score(text.as_bytes(), b"q 0 s00 1\n", "RR@10,nDCG@10", &Options::default());
        assert_eq!(order(text.as_bytes(), "q", Order::Trec)[0], "s24");
        values.push(found);
    }
    assert_eq!(values[0], values[1]);
    assert_eq!(values[0], values[2]);
    assert_eq!(of_query(&values[0], "q"), [0.0, 0.0]);
}

#[test]
fn a_query_without_rows_is_an_empty_list() {
    let run = b"q2 Q0 a 1 1 x\n";
    let qrels = b"q1 0 a 1\nq2 0 a 1\n";
    let found = score(run, qrels, "AP,NumRet,NumRel", &Options::default());
    assert_eq!(of_query(&found, "q1"), [0.0, 0.0, 1.0]);
    assert_eq!(means(found.summary()), [0.5, 1.0, 2.0]);
    assert_eq!(found.missing_queries().collect::<Vec<_>>(), ["q1"]);
    let found = score(run, qrels, "AP,NumRet,NumRel", &skip_missing());
    assert_eq!(found.queries.len(), 2, "it has a row all the same");
    assert_eq!(means(found.summary()), [1.0, 1.0, 1.0]);
}

#[test]
fn a_mean_over_no_query_is_undefined() {
    let found = score(b"q2 Q0 a 1 1 x\n", b"q1 0 a 1\n", "AP,NumRet", &skip_missing());
    assert_eq!(found.summary(), [None, None]);
    assert_eq!(found.run_only, ["q2"]);
}

#[test]
fn an_empty_set_of_judgements_does_not_shift_later_queries() {
    let run = Run::parse(b"q1 Q0 d1 1 1 x\nq2 Q0 d9 1 1 x\nq3 Q0 d2 1 1 x\n").unwrap();
    let sets = [("q1", vec![("d1", 1)]), ("q2", vec![]), ("q3", vec![("d2", 1)])];
    let qrels = Qrels::from_queries(sets).unwrap();
    let measures = Measure::parse_list("AP,nDCG,Rprec,R@5,Judged@5").unwrap();
    let found = evaluate(&run, &qrels, &measures, &Options::default()).unwrap();
    assert_eq!(of_query(&found, "q1"), [1.0; 5]);
    assert_eq!(of_query(&found, "q2"), [0.0; 5]);
    assert_eq!(of_query(&found, "q3"), [1.0; 5]);
}

#[test]
fn a_document_may_have_the_id_of_its_query() {
    let found = score(b"s1 Q0 s1 1 1 x\n", b"s1 0 s1 1\n", "AP", &Options::default());
    assert_eq!(of_query(&found, "s1"), [1.0]);
}

#[test]
fn duplicates_are_found_however_far_apart() {
    assert_eq!(
        run_error("q1 Q0 a 1 2 x\nq2 Q0 a 1 2 x\n# note\nq1 Q0 a 2 1.999999 x\n"),
        "line 4: duplicate: document `a` of query `q1` is on line 1"
    );
    assert_eq!(
        qrels_error("q1 0 a 1\nq2 0 a 1\nq1 0 a 1\n"),
        "line 3: duplicate: document `a` of query `q1` is on line 1"
    );
    assert_eq!(
        qrels_error("q1 0 a 1\nq1 0 a 2\n"),
        "line 2: document `a` of query `q1` has grade 2, but grade 1 on line 1"
    );
}

#[test]
fn errors_give_the_line() {
    assert_eq!(
        run_error("q Q0 a 1 1 x\nq Q0 b 2 abc x"),
        "line 2: score `abc` is not a finite number"
    );
    assert_eq!(run_error("q Q0 a 1 1e999 x"), "line 1: score `1e999` is not a finite number");
    assert_eq!(
        qrels_error("q 0 a 1\n\nq 0 b x"),
        "line 3: grade `x` is not a whole number of 32 bits"
    );
    assert_eq!(qrels_error("q 0 a"), "line 1: 3 columns, expected the 4 of `qid iter docid rel`");
    assert_eq!(
        qrels_error("# none\n"),
        "the file is empty: expected rows with the 4 of `qid iter docid rel`"
    );
    let all: Vec<_> =
        Run::check(b"\xef\xbb\xbfq Q0 a 1 nan x\nq Q0 b 1 1 x\nq \xff\nq Q0\nq Q0 b 2 0 x\n")
            .iter()
            .map(ToString::to_string)
            .collect();
    assert_eq!(
        all,
        [
            "line 1: begins with a UTF-8 byte-order mark, expected a query id",
            "line 1: score `nan` is not a finite number",
            "line 3: is not UTF-8",
            "line 4: 2 columns, expected the 6 of `qid Q0 docid rank score tag`",
            "line 5: duplicate: document `b` of query `q` is on line 2",
        ]
    );
}

#[test]
fn a_negative_grade_counts_0_and_is_judged() {
    let rows = [("a", 3.0), ("b", 2.0), ("c", 1.0)];
    let judged = [("a", -2), ("b", 1)];
    check(&rows, &judged, "RR,NumRel,Judged@3", &[0.5, 1.0, 2.0 / 3.0]);
    check(&rows, &judged, "nDCG@3", &[1.0 / 3f64.log2()]);
}

#[test]
fn measures_of_a_list_by_hand() {
    let rows: Vec<(&str, f64)> =
        ["u", "a", "n", "b", "m"].into_iter().zip([5.0, 4.0, 3.0, 2.0, 1.0]).collect();
    // Of three relevant documents a and b are found; n and m are judged, u is pooled only.
    let judged = [("u", -1), ("a", 1), ("n", 0), ("b", 3), ("m", 0), ("z", 1)];
    check(&rows, &judged, "SetP,SetR,SetAP", &[0.4, 2.0 / 3.0, 0.4 * 2.0 / 3.0]);
    check(&rows, &judged, "SetF,SetF(beta=3)", &[0.5, 4.0 / 7.0]);
    // One irrelevant document above b, of two that count.
    check(&rows, &judged, "Bpref,Bpref(rel=2)", &[(1.0 + 0.5) / 3.0, 0.0]);
    check(&rows, &judged, "IPrec@0,IPrec@0.33,IPrec@0.5,IPrec@1", &[0.5, 0.5, 0.5, 0.0]);
    check(&rows, &judged, "RBP(p=0.5),RBP(p=0.5)@3", &[0.25 + 0.0625, 0.25]);
    let (low, high) = (1.0 / 16.0, 7.0 / 16.0);
    check(&rows, &judged, "ERR@4,ERR@3", &[low / 2.0 + (1.0 - low) * high / 4.0, low / 2.0]);
    // At rank 2 one pooled document is above, of which half is taken as relevant; at rank 4
    // three are, and of the two judged ones about half is.
    let rate = (1.0 + 1e-5) / (2.0 + 2e-5);
    let second = 0.5 + 0.5 * 0.5;
    let fourth = 0.25 + 0.75 * rate;
    check(&rows, &judged, "infAP", &[(second + fourth) / 3.0]);
    check(&rows, &[("x", 0)], "Bpref,infAP,SetF,IPrec@0,ERR@3,RBP", &[0.0; 6]);
}

#[test]
fn ideal_gains_come_from_the_qrels_not_from_the_list() {
    check(
        &[("a", 1.0)],
        &[("a", 1), ("z", 3)],
        "nDCG@1,nDCG",
        &[1.0 / 3.0, 1.0 / (3.0 + 1.0 / 3f64.log2())],
    );
}

#[test]
fn denominators_are_those_of_trec_eval_and_ir_measures() {
    let rows = [("a", 2.0), ("b", 1.0)];
    let judged = [("a", 1), ("c", 2), ("d", 1)];
    check(
        &rows,
        &judged,
        "P@5,R@5,Rprec,AP,Judged@5",
        &[0.2, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.5],
    );
    check(&rows, &judged, "P(rel=2)@5,R(rel=2)@5,NumRel(rel=2)", &[0.0, 0.0, 1.0]);
    check(&rows, &judged, "Success@1,Success(rel=2)@2,RR(rel=2)", &[1.0, 0.0, 0.0]);
}

#[test]
fn near_ties_are_within_a_millionth_and_no_ties() {
    let run = b"q Q0 a 1 1.0000005 x\nq Q0 b 2 1 x\nq Q0 c 3 0.5 x\n";
    let found = score(run, b"q 0 a 1\n", "P@1,P@2", &Options::default());
    assert_eq!(found.queries[0].boundaries, [Boundary::Near, Boundary::Clear]);
    assert!(!found.queries[0].tied);
    assert_eq!(found.ties()[0].near, 1);
}

#[test]
fn a_depth_cuts_after_the_order_is_made() {
    let run = b"q Q0 a 1 1 x\nq Q0 b 2 1 x\nq Q0 c 3 2 x\n";
    let depth = Options { depth: NonZeroU32::new(2), ..Options::default() };
    let found = score(run, b"q 0 a 1\n", "R@5,NumRet", &depth);
    assert_eq!(of_query(&found, "q"), [0.0, 2.0]);
    let recall = found.queries[0].values[0];
    assert_eq!((recall.worst, recall.best), (0.0, 1.0), "a tie straddles the depth");
}

#[test]
fn ranks_decide_only_where_they_can() {
    let by_rank = Options { order: Order::Rank, ..Options::default() };
    let found = score(b"q Q0 a 2 9 x\nq Q0 b 0 1 x\n", b"q 0 b 1\n", "RR", &by_rank);
    assert_eq!(of_query(&found, "q"), [1.0]);
    let refused = |text: &str| {
        let run = Run::parse(text.as_bytes()).unwrap();
        let qrels = Qrels::parse(b"z 0 b 1\n").unwrap();
        assert!(evaluate(&run, &qrels, &[], &Options::default()).is_ok());
        evaluate(&run, &qrels, &[], &by_rank).unwrap_err().to_string()
    };
    assert_eq!(refused("q Q0 a 0 2 x\nq Q0 b 0 1 x"), "line 2: query `q` has rank 0 on line 1 too");
    let no_rank = "line 1: the rank is not a whole number, which order `rank` needs";
    assert_eq!(refused("q Q0 a - 2 x"), no_rank);
    assert_eq!(refused("q Q0 a 1.0 2 x\nq Q0 b 2 1 x"), no_rank);
    let text =
        b"p Q0 a 1 2 x\np Q0 b 1 1 x\nq Q0 a 2 2 x\nq Q0 b 1 1 x\nr Q0 a 1 2 x\nr Q0 b 2 1 x\n";
    let differences = Run::parse(text).unwrap().order_differences();
    assert_eq!(differences.differ, ["q"]);
    assert_eq!(differences.no_rank_order, ["p"]);
}

#[test]
fn a_measure_deeper_than_the_run_is_refused_where_asked() {
    let measures = Measure::parse_list("AP,P@20,R(rel=2)@100").unwrap();
    let error = check_depth(&measures, k(20)).unwrap_err();
    assert_eq!(error.to_string(), "`R(rel=2)@100` needs depth 100, but the run has depth 20");
    assert!(matches!(error, EvaluateError::TooShallow { .. }));
    assert!(check_depth(&measures, k(100)).is_ok());
    let run = Run::parse(b"p Q0 a 1 1 x\nq Q0 a 1 1 x\nq Q0 b 2 1 x\n").unwrap();
    assert_eq!((run.max_depth(), run.rows(), run.tag()), (2, 3, Some("x")));
}

#[test]
fn measures_print_as_they_parse() {
    let canonical = "nDCG,nDCG@10,AP,AP@100,AP(rel=2),AP(rel=2)@100,RR,RR@10,RR(rel=3)@10,P@5,\
                     P(rel=2)@5,R@20,R(rel=2)@20,Success@1,Success(rel=2)@1,Rprec,Rprec(rel=2),\
                     IPrec@0,IPrec@0.1,IPrec(rel=2)@0.25,IPrec@1,Bpref,Bpref(rel=2),infAP,ERR@20,RBP,\
                     RBP(p=0.95),RBP(rel=2,p=0.5)@10,SetP,SetR(rel=2),SetF,SetF(rel=2,beta=2),SetAP,\
                     Judged@10,NumRet,NumRel,NumRel(rel=2),NumRelRet,NumRelRet(rel=2)";
    let list = Measure::parse_list(canonical).unwrap();
    assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","), canonical);
    for (alias, name) in [
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("NDCG@5", "nDCG@5"),
        ("Precision@3", "P@3"),
        ("Recall( rel = 2 )@3", "R(rel=2)@3"),
        ("RPrec", "Rprec"),
        ("AP(rel=1)", "AP"),
        ("AP()", "AP"),
        ("NumRet(rel=1)", "NumRelRet"),
        (" P@ 5 ", "P@5"),
        ("RBP(p=0.9, rel=3)", "RBP(rel=3,p=0.9)"),
        ("RBP(rel=1,p=0.80)@5", "RBP@5"),
        ("SetF(beta=1)", "SetF"),
        ("BPref", "Bpref"),
        ("IPrec@1.00", "IPrec@1"),
        ("IPrec@.5", "IPrec@0.5"),
    ] {
        assert_eq!(alias.parse::<Measure>().unwrap().to_string(), name);
    }
}

#[test]
fn a_text_that_is_no_measure_says_why() {
    let error = |text: &str| text.parse::<Measure>().unwrap_err().to_string();
    assert_eq!(
        error("ndcg_cut_10"),
        "measure `ndcg_cut_10` is not known, expected one of `nDCG`, `AP`, `RR`, `P`, `R`, \
         `Success`, `Rprec`, `IPrec`, `Bpref`, `infAP`, `ERR`, `RBP`, `SetP`, `SetR`, `SetF`, \
         `SetAP`, `Judged`, `NumRet`, `NumRel`, `NumRelRet`"
    );
    for (form, _) in MEASURES {
        let names = form.split(", ").map(|name| name.parse::<Measure>().unwrap().to_string());
        assert_eq!(names.collect::<Vec<_>>().join(", "), form);
    }
    assert_eq!(error("ERR"), "measure `ERR` needs a cutoff, expected a form like `ERR@10`");
    assert_eq!(error("IPrec"), "measure `IPrec` needs a cutoff, expected a form like `IPrec@0.1`");
    for text in ["IPrec@2", "IPrec@1.01", "IPrec@0.125", "IPrec@-0.1", "IPrec@x", "IPrec@0.é"] {
        assert!(error(text).contains("is not a share from 0 to 1"), "{text}: {}", error(text));
    }
    for text in ["RBP(p=0)", "RBP(p=1)", "RBP(p=nan)", "RBP(p=x)"] {
        assert!(error(text).ends_with("is not a number above 0 and below 1"), "{}", error(text));
    }
    assert_eq!(
        error("SetF(beta=-1)"),
        "measure `SetF(beta=-1)`: beta `-1` is not a number of at least 0"
    );
    assert_eq!(
        error("RBP(q=1)"),
        "measure `RBP(q=1)`: parameter `q` is not known, expected `rel`, `p`"
    );
    assert_eq!(error("Bpref@5"), "measure `Bpref` takes no cutoff");
    assert_eq!(error("P"), "measure `P` needs a cutoff, expected a form like `P@10`");
    assert_eq!(error("P@0"), "measure `P@0`: cutoff `0` is not a whole number of at least 1");
    assert_eq!(error("P@x"), "measure `P@x`: cutoff `x` is not a whole number of at least 1");
    assert_eq!(
        error("AP(rel=0)"),
        "measure `AP(rel=0)`: rel `0` is not a whole number of at least 1"
    );
    assert_eq!(error("Rprec@5"), "measure `Rprec` takes no cutoff");
    assert_eq!(
        error("AP(judged_only=True)"),
        "measure `AP(judged_only=True)`: parameter `judged_only` is not known, expected `rel`"
    );
    assert_eq!(
        error("nDCG(rel=2)@5"),
        "measure `nDCG(rel=2)@5`: parameter `rel` is not known, expected none"
    );
    for text in ["", "AP(rel=2", "AP)", "AP(rel)", "AP(rel=1,rel=2)", "a b@3"] {
        assert!(error(text).contains("is malformed"), "{text}: {}", error(text));
    }
    assert!(Measure::parse_list("AP,,RR").is_err());
}

#[test]
fn a_written_run_holds_its_order_in_its_scores() {
    let mut out = Vec::new();
    let lists = [("q2", vec!["a", "z", "m"]), ("empty", vec![]), ("q1", vec!["b"])];
    write_run(&mut out, "demo", lists).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "q2 Q0 a 1 3 demo\nq2 Q0 z 2 2 demo\nq2 Q0 m 3 1 demo\nq1 Q0 b 1 1 demo\n"
    );
}

#[test]
fn a_deep_list_is_written_with_scores_that_single_precision_tells_apart() {
    let ids: Vec<_> = (0..100_000).map(|n| n.to_string()).collect();
    let mut out = Vec::new();
    write_run(&mut out, "deep", [("q", ids.iter().map(String::as_str))]).unwrap();
    let text = String::from_utf8(out).unwrap();
    let scores: Vec<f32> =
        (text.lines()).map(|line| line.split(' ').nth(4).unwrap().parse().unwrap()).collect();
    assert_eq!(scores.len(), ids.len());
    assert!(scores.is_sorted_by(|a, b| b < a));
}

#[test]
fn what_would_not_read_back_is_not_written() {
    let error = |tag: &str, query: &str, documents: &[&str]| {
        write_run(&mut Vec::new(), tag, [(query, documents.iter().copied())])
            .unwrap_err()
            .to_string()
    };
    let blank = "cannot stand in a TREC file: expected some text without blanks";
    assert_eq!(error("my run", "q", &["a"]), format!("tag `my run` {blank}"));
    assert_eq!(error("t", "", &["a"]), format!("query `` {blank}"));
    assert_eq!(error("t", "q", &["a\tb"]), format!("document `a\tb` {blank}"));
    assert_eq!(error("t", "q", &["a", "a"]), "query `q` lists document `a` twice");
    assert!(error("t", "#q", &["a"]).starts_with("query `#q` cannot stand"));
    let twice = write_run(&mut Vec::new(), "t", [("q", ["a"]), ("q", ["b"])]);
    assert!(matches!(twice, Err(WriteError::DuplicateQuery { .. })));
    let qrels = Qrels::from_queries([("q", Vec::new())]).unwrap();
    assert!(matches!(write_qrels(&mut Vec::new(), &qrels), Err(WriteError::NoJudgement { .. })));
}

#[test]
fn threads_do_not_change_a_bit() {
    let (mut run, mut qrels) = (String::new(), String::new());
    for n in 0..3000 {
        let (a, b) = (n % 7, n % 11);
        run += &format!("{n} Q0 a{a} 1 0.{b} x\n{n} Q0 b{b} 2 0.{a} x\n{n} Q0 c 3 0.5 x\n");
        qrels += &format!("{n} 0 a3 1\n{n} 0 b{b} {}\n{n} 0 c 1\n", n % 4);
    }
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Options::default();
        pool.install(|| score(run.as_bytes(), qrels.as_bytes(), "nDCG,AP,RR,P@2", &options))
    };
    let (one, four) = (on(1), on(4));
    assert_eq!(one, four);
    assert_eq!(one.summary(), four.summary());
}

#[test]
fn missing_is_zero_unless_asked() {
    assert_eq!(Options::default().missing, Missing::Zero);
    assert_eq!(Options::default().order, Order::Trec);
}
