//! trec_eval's own tests: every line of its expected output whose measure we have.

use std::{collections::BTreeMap, num::NonZeroU32, path::Path};

use cleanhit_eval::plain::{Evaluation, Measure, Missing, Options, Over, ReadError, Run};

use crate::help::{of_query, read, score, shared};

/// One of trec_eval's test commands.
struct Case {
    qrels: &'static str,
    run: &'static str,
    output: &'static str,
    missing: Missing,
    depth: Option<u32>,
    rel: u32,
    /// Lines of the output whose measure we have.
    lines: usize,
}

const CASE: Case = Case {
    qrels: "qrels.test",
    run: "results.test",
    output: "out.test",
    missing: Missing::Skip,
    depth: None,
    rel: 1,
    lines: 0,
};

/// Our measure for a name that trec_eval prints.
///
/// None for `iprec_at_recall`: version 10, which made these files, rounds the number of documents
/// to find, and ours is that of version 9 and of ir_measures.
fn measure(name: &str, rel: u32) -> Option<Measure> {
    let with_rel = |name: &str| format!("{name}(rel={rel})");
    let ours = match name {
        "num_ret" => "NumRet".to_owned(),
        "num_rel" => with_rel("NumRel"),
        "num_rel_ret" => with_rel("NumRelRet"),
        "map" => with_rel("AP"),
        "recip_rank" => with_rel("RR"),
        "Rprec" => with_rel("Rprec"),
        "ndcg" => "nDCG".to_owned(),
        "bpref" => with_rel("Bpref"),
        "infAP" => with_rel("infAP"),
        "set_P" => with_rel("SetP"),
        "set_recall" => with_rel("SetR"),
        "set_F" => with_rel("SetF"),
        "set_map" => with_rel("SetAP"),
        // Of other levels the level is not what decides.
        "rbp" if rel == 1 => "RBP(p=0.9)".to_owned(),
        _ => {
            let (name, cutoff) = name.rsplit_once('_')?;
            let ours = match name {
                "P" => with_rel("P"),
                "recall" => with_rel("R"),
                "map_cut" => with_rel("AP"),
                "success" => with_rel("Success"),
                "ndcg_cut" => "nDCG".to_owned(),
                _ => return None,
            };
            cutoff.parse::<u32>().ok()?;
            format!("{ours}@{cutoff}")
        }
    };
    Some(ours.parse().unwrap())
}

/// A value as trec_eval prints it.
fn printed(measure: Measure, value: f64) -> String {
    match measure.is_count() {
        true => format!("{value:.0}"),
        false => format!("{value:.4}"),
    }
}

fn run_case(folder: &Path, case: &Case) {
    let Case { output, rel, missing, .. } = *case;
    let expected = String::from_utf8(read(&folder.join(output))).unwrap();
    let lines: Vec<[&str; 3]> = (expected.lines())
        .map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().unwrap())
        .collect();
    let mut columns = BTreeMap::new();
    let mut measures = Vec::new();
    for [name, ..] in &lines {
        if let Some(measure) = measure(name, rel) {
            columns.entry(*name).or_insert_with(|| {
                measures.push(measure);
                measures.len() - 1
            });
        }
    }
    let list: Vec<_> = measures.iter().map(ToString::to_string).collect();
    let options =
        Options { missing, depth: case.depth.and_then(NonZeroU32::new), ..Options::default() };
    let file = |name| read(&folder.join(name));
    let run = six_columns(file(case.run));
    let found = score(&run, &file(case.qrels), &list.join(","), &options);
    let mut compared = 0;
    for [name, query, expected] in lines {
        let value = match (columns.get(name), query) {
            (None, "all") if name == "num_q" => queries(&found).to_string(),
            (None, _) => continue,
            (Some(&n), "all") => printed(measures[n], found.summary()[n].unwrap().value),
            (Some(&n), query) => {
                let of_query = found.queries.iter().find(|values| values.id == query).unwrap();
                printed(measures[n], of_query.values[n].value)
            }
        };
        assert_eq!(value, expected, "{output}: {name} {query}");
        compared += 1;
    }
    assert_eq!(compared, case.lines, "{output}: lines compared");
}

/// Drops what follows the tag, which trec_eval allows and we refuse.
fn six_columns(run: Vec<u8>) -> Vec<u8> {
    let refused = Run::check(&run);
    if refused.is_empty() {
        return run;
    }
    assert_eq!(refused.len(), 5, "results.trunc has junk on its first lines");
    assert!(refused.iter().all(|error| matches!(error, ReadError::Columns { .. })));
    let text = String::from_utf8(run).unwrap();
    let cut = |line: &str| line.split_whitespace().take(6).collect::<Vec<_>>().join(" ") + "\n";
    text.lines().map(cut).collect::<String>().into_bytes()
}

fn queries(found: &Evaluation) -> usize {
    match found.missing {
        Missing::Zero => found.count(Over::All),
        Missing::Skip => found.count(Over::Answered),
    }
}

#[test]
fn every_expected_output_is_reproduced() {
    let Some(folder) = shared("data/ir/trec_eval/test") else { return };
    for case in [
        Case { lines: 17, ..CASE },
        Case { qrels: "qrels.test.with-comments", lines: 17, ..CASE },
        Case {
            qrels: "qrels.comment.test",
            run: "results.comment.test",
            output: "out.comment.test",
            lines: 17,
            ..CASE
        },
        Case { output: "out.test.a", lines: 54, ..CASE },
        Case { output: "out.test.aq", lines: 213, ..CASE },
        Case {
            run: "results.trunc",
            output: "out.test.aqc",
            missing: Missing::Zero,
            lines: 213,
            ..CASE
        },
        Case {
            run: "results.trunc",
            output: "out.test.aqcM",
            missing: Missing::Zero,
            depth: Some(100),
            lines: 213,
            ..CASE
        },
        Case { qrels: "qrels.rel_level", output: "out.test.aql", rel: 2, lines: 209, ..CASE },
        Case { output: "out.test.meas_params", lines: 44, ..CASE },
    ] {
        run_case(&folder, &case);
    }
}

/// Values of gdeval.pl 1.2a as ir_measures 0.4.3 ships it, which prints five places.
#[test]
fn expected_reciprocal_rank_is_that_of_gdeval() {
    let Some(folder) = shared("data/ir/trec_eval/test") else { return };
    let file = |name| read(&folder.join(name));
    let (run, qrels) = (file("results.test"), file("qrels.rel_level"));
    let found = score(&run, &qrels, "ERR@5,ERR@20", &Options::default());
    for (query, expected) in
        [("301", [0.0, 0.02750]), ("302", [0.61073, 0.62412]), ("303", [0.0, 0.00987])]
    {
        for (value, expected) in of_query(&found, query).into_iter().zip(expected) {
            assert_eq!(format!("{value:.5}"), format!("{expected:.5}"), "{query}");
        }
    }
}
