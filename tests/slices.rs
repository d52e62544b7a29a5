//! Slices: a few of a benchmark's queries, which no command takes for a full run.

use std::{collections::BTreeSet, fs};

use crate::cli::{cleanhit, dir, ok, path, refused, text};

fn queries(file: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().skip(1).map(|row| row.split('\t').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn a_slice_has_the_rows_of_a_full_run_and_says_what_it_is() {
    let dir = dir();
    let (full, slice) = (path(&dir, "full"), path(&dir, "slice"));
    ok(&["-q", "rank", "-m", "bm25_exact", "-o", &full]);
    ok(&["-q", "rank", "-m", "bm25_exact", "-o", &slice, "--queries", "10"]);
    let (full, slice) = (format!("{full}/bm25_exact"), format!("{slice}/bm25_exact"));
    let rows = fs::read_to_string(format!("{slice}/top20.tsv")).unwrap();
    assert!(fs::read_to_string(format!("{full}/top20.tsv")).unwrap().starts_with(&rows));
    assert_eq!(queries(&format!("{slice}/top20.tsv")).len(), 10);
    let receipt = fs::read_to_string(format!("{slice}/receipt.json")).unwrap();
    let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
    let only: BTreeSet<String> = receipt["settings"]["only"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(only, queries(&format!("{slice}/top20.tsv")));
    let counted: u64 = receipt["counts"]
        .as_object()
        .unwrap()
        .values()
        .map(|notes| notes["queries"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, 10);
    let receipt = fs::read_to_string(format!("{full}/receipt.json")).unwrap();
    assert!(!receipt.contains("\"only\""), "a full run says nothing of it");
}

#[test]
fn a_slice_is_not_scored_as_a_full_run() {
    let dir = dir();
    let (full, out) = (path(&dir, "full"), path(&dir, "out"));
    ok(&["-q", "rank", "-m", "bm25", "-o", &full]);
    ok(&["-q", "rank", "-m", "bm25_exact", "-o", &out, "--queries", "10"]);
    let (full, slice) = (format!("{full}/bm25"), format!("{out}/bm25_exact"));
    for command in [vec!["score", &slice], vec!["compare", &full, &slice]] {
        let line = refused(&command);
        let says = "is a slice of 10 of 65 queries, no full run; expected every query";
        assert!(line.contains(says), "{line}");
    }
    // Its ranks are made again, of the same queries.
    let output = cleanhit(&["check", &slice]);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("has no rows"), "{said}");
    assert!(
        said.contains("is a slice of 10 of 65 queries") && said.contains("byte for byte"),
        "{said}"
    );
    let file = format!("{slice}/top20.tsv");
    let rows = fs::read_to_string(&file).unwrap();
    fs::write(&file, rows.replacen("\t1\t", "\t2\t", 1)).unwrap();
    assert_eq!(cleanhit(&["check", &slice]).status.code(), Some(1));
}

#[test]
fn queries_can_be_named() {
    let dir = dir();
    let out = path(&dir, "out");
    ok(&["-q", "rank", "-m", "bm25", "-o", &out, "--queries", "3"]);
    let some = queries(&format!("{out}/bm25/top20.tsv"));
    let last = some.last().unwrap();
    ok(&["-q", "rank", "-m", "bm25", "-o", &out, "--only", last]);
    assert_eq!(queries(&format!("{out}/bm25/top20.tsv")), BTreeSet::from([last.clone()]));
    let line = refused(&["rank", "-m", "bm25", "-o", &out, "--only", "q-none"]);
    assert!(line.contains("`--only q-none`: benchmark `samecap-mini` has no such query"), "{line}");
    // As many as there are, or more, is all of them.
    ok(&["-q", "rank", "-m", "bm25", "-o", &out, "--queries", "1000"]);
    ok(&["-q", "score", &format!("{out}/bm25")]);
}
