//! Values that other toolkits publish for their own files.

use std::{path::Path, process::Command};

use cleanhit_eval::plain::{Evaluation, Measure, Options, Qrels};
use serde_json::Value;

use crate::help::{assert_close, json, means, of_query, read, score, shared};

/// What gzip holds, or `None` with a word about it.
fn unzip(path: &Path) -> Option<Vec<u8>> {
    match Command::new("gzip").arg("-dc").arg(path).output() {
        Ok(output) if output.status.success() => Some(output.stdout),
        _ => {
            println!("skipped: cannot run gzip");
            None
        }
    }
}

/// Checks means to the 4 places that are given.
fn assert_means(found: &Evaluation, expected: &[(&str, f64)]) {
    for ((name, expected), mean) in expected.iter().zip(means(found.summary())) {
        assert_eq!(format!("{mean:.4}"), format!("{expected:.4}"), "{name}");
    }
}

fn names(expected: &[(&str, f64)]) -> String {
    expected.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

#[test]
fn trectools_toy_run() {
    let Some(folder) = shared("data/ir/trectools") else { return };
    let expected = [("RR", 0.5), ("AP", 0.2685), ("P@1000", 0.001), ("R@1000", 0.3889)];
    let file = |name| read(&folder.join(name));
    let run = file("r4.run");
    let qrels = file("qrel1.txt");
    assert_means(&score(&run, &qrels, &names(&expected), &Options::default()), &expected);
}

#[test]
fn trectools_robust_2003() {
    let Some(folder) = shared("data/ir/trectools") else { return };
    let Some(run) = unzip(&folder.join("input.uic0301.gz")) else { return };
    let Some(qrels) = unzip(&folder.join("robust03_cs_qrels.txt.gz")) else { return };
    let expected = [
        ("RR", 0.6466),
        ("AP", 0.2396),
        ("P@1000", 0.0371),
        ("R@5", 0.0858),
        ("R@10", 0.1314),
        ("R@15", 0.1686),
        ("R@20", 0.1968),
        ("R@30", 0.2530),
        ("R@100", 0.4243),
        ("R@200", 0.5323),
        ("R@500", 0.6569),
        ("R@1000", 0.7518),
        ("P@30", f64::NAN),
    ];
    let found = score(&run, &qrels, &names(&expected), &Options::default());
    assert_means(&found, &expected[..12]);
    for (query, measure, value) in [
        ("378", "RR", 0.0017),
        ("650", "RR", 0.1429),
        ("624", "RR", 0.3333),
        ("622", "AP", 0.4926),
        ("609", "AP", 0.2808),
        ("320", "AP", 0.2335),
        ("607", "P@30", 0.1333),
        ("433", "P@30", 0.0333),
        ("375", "P@30", 0.5333),
        ("607", "R@30", 0.3636),
        ("433", "R@30", 0.0769),
        ("375", "R@30", 0.2),
        ("303", "R@30", 0.1),
    ] {
        let column = expected.iter().position(|(name, _)| *name == measure).unwrap();
        let found = of_query(&found, query)[column];
        assert_eq!(format!("{found:.4}"), format!("{value:.4}"), "{measure} of {query}");
    }
}

#[test]
fn ranx_files_read_as_its_json_says() {
    let Some(folder) = shared("data/ir/ranx") else { return };
    for (trec, as_json) in [("qrels.trec", "qrels.json"), ("small_qrels.trec", "small_qrels.json")]
    {
        let bytes = read(&folder.join(trec));
        let qrels = Qrels::parse(&bytes).unwrap();
        let mut found = serde_json::Map::new();
        for (query, judgements) in qrels.queries() {
            let grades = judgements
                .iter()
                .map(|judgement| (judgement.document().to_owned(), Value::from(judgement.grade())));
            found.insert(query.to_owned(), Value::Object(grades.collect()));
        }
        assert_eq!(Value::Object(found), json(&folder.join(as_json)), "{trec}");
    }
    let file = |name| read(&folder.join(name));
    let found = score(&file("run.trec"), &file("qrels.trec"), "nDCG,AP,R@2", &Options::default());
    assert_eq!(of_query(&found, "q1"), [1.0, 1.0, 2.0 / 3.0]);
    assert_eq!(of_query(&found, "q2"), [1.0, 1.0, 1.0]);
}

/// Values that ir_measures 0.4.3 computes for its test files, with the library that made them.
#[test]
fn ir_measures_files_get_its_values() {
    let Some(folder) = shared("data/ir/ir_measures") else { return };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_plain");
    let expected = json(&fixtures.join("ir_measures.json"));
    for (name, expected) in expected["files"].as_object().unwrap() {
        let expected = expected.as_object().unwrap();
        let list: Vec<_> = expected.keys().map(String::as_str).collect();
        let file = |kind| read(&folder.join(format!("{name}.{kind}")));
        let found = score(&file("run"), &file("qrels"), &list.join(","), &Options::default());
        for ((measure, expected), n) in expected.iter().zip(0..) {
            assert_eq!(&measure.parse::<Measure>().unwrap().to_string(), measure);
            let mean = found.summary()[n].unwrap().value;
            assert_close(mean, expected["mean"].as_f64().unwrap(), measure);
            for (query, value) in expected["per_query"].as_object().unwrap() {
                let found = of_query(&found, query)[n];
                assert_close(found, value.as_f64().unwrap(), &format!("{measure} of {query}"));
            }
        }
    }
}
