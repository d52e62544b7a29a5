//! What is said where a request is legal and its result would mislead, or is wrong in a common way.

use std::{fs, process::Output};

use serde_json::Value;

use crate::cli::{cleanhit, dir, ok, path, refused, text};

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini");
const BM25: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/bm25");
const RRF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/rrf");
const CLUSTERS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/rrf+text_cluster");

fn file(dir: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn done(args: &[&str]) -> Output {
    let output = cleanhit(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    output
}

#[test]
fn a_run_of_other_ids_than_the_qrels_is_warned_of() {
    let out = dir();
    let qrels = file(&out, "q.qrels", "q 0 a:b 1\nr 0 c 1\n");
    let run = file(&out, "r.run", "q Q0 a/b 1 2 t\nq Q0 c 2 1 t\nz Q0 c 1 1 t\n");
    let says = "none of the 2 documents ranked for the queries of both files is judged; do the two \
                use the same ids? run: `a/b`, qrels: `a:b`";
    let scored = text(&done(&["score", &run, "--qrels", &qrels]).stderr);
    assert_eq!(scored.matches(says).count(), 1, "{scored}");
    let other = file(&out, "o.run", "q Q0 d 1 2 t\n");
    let compared = text(&done(&["compare", &run, &other, "--qrels", &qrels]).stderr);
    assert!(compared.contains(says), "{compared}");
    let run = file(&out, "r.run", "q Q0 a:b 1 2 t\nr Q0 x 1 1 t\n");
    let scored = text(&done(&["score", &run, "--qrels", &qrels]).stderr);
    assert!(!scored.contains("none of"), "{scored}");
}

#[test]
fn a_rank_file_needs_no_word_on_its_order() {
    let out = dir();
    let qrels = path(&out, "q.qrels");
    ok(&["-q", "export", "qrels", "-o", &qrels]);
    let ranks = text(&done(&["score", BM25, "--qrels", &qrels]).stderr);
    assert!(!ranks.contains("rank column"), "{ranks}");
    let run = file(&out, "r.run", "q Q0 a 1 1 t\nq Q0 b 2 2 t\n");
    let qrels = file(&out, "s.qrels", "q 0 b 1\n");
    let run = text(&done(&["score", &run, "--qrels", &qrels]).stderr);
    assert!(run.contains("differ in order, the first `q`; score order is used"), "{run}");
}

#[test]
fn a_cutoff_below_every_list_is_warned_of_once() {
    let out = dir();
    let qrels = file(&out, "q.qrels", "q 0 a 1\nr 0 a 1\n");
    let run = file(&out, "r.run", "q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n");
    let warned =
        |measures: &str| text(&done(&["score", &run, "--qrels", &qrels, "-M", measures]).stderr);
    let says = "the longest list, of query `q`, has 2 documents, and the ranks below it that R@100, \
                P@3 looks at count as not relevant";
    let found = warned("R@100,AP,P@3,P@2");
    assert_eq!(found.matches(says).count(), 1, "{found}");
    assert!(!warned("P@2,AP").contains("longest list"));
}

#[test]
fn the_experiment_says_which_cutoffs_are_always_shown() {
    let experiment = ok(&["init", "-"]);
    assert!(experiment.contains("1, 3, 5 and 20 are shown too"), "{experiment}");
    assert!(
        experiment.contains("\n# the table, the leaderboard and the report's breakdowns are at 3")
    );
}

#[test]
fn a_run_alone_in_its_setting_is_shown_with_its_values() {
    let shown = ok(&["compare", BM25, CLUSTERS, "--across-settings"]);
    for caption in ["public_text_only: bm25 alone", "public_text_cluster: rrf+text_cluster alone"] {
        assert!(shown.lines().any(|line| line == caption), "{caption}: {shown}");
    }
    assert_eq!(shown.lines().filter(|line| line.contains(" CleanHit ")).count(), 2, "{shown}");
    let all = ["compare", BM25, RRF, CLUSTERS, "--across-settings"];
    let json: Value = serde_json::from_str(&ok(&[&["--json"], &all[..]].concat())).unwrap();
    assert_eq!(json["blocks"][0]["methods"][0]["method_id"], "rrf");
    let alone = &json["blocks"][1]["alone"];
    assert_eq!(alone["method_id"], "rrf+text_cluster");
    let scored: Value = serde_json::from_str(&ok(&["--json", "score", CLUSTERS])).unwrap();
    let at = &scored["methods"][0]["scopes"]["main_comparison"]["at"]["3"];
    for value in alone["values"].as_array().unwrap() {
        assert_eq!(value["value"], at[value["measure"].as_str().unwrap()]["query_micro"]);
    }
    assert_eq!(alone["values"].as_array().unwrap().len(), 3);
    let csv = ok(&[&all[..], &["--format", "csv"]].concat());
    assert_eq!(csv.lines().count(), 7, "{csv}");
}

#[test]
fn a_folder_without_skills_is_refused_and_what_is_not_read_is_counted() {
    let out = dir();
    for name in ["a.md", "b/README.md", "b/c/x.md", "y.jsonl"] {
        file(&out, &format!("none/{name}"), "text");
    }
    let says =
        "(3 .md and 1 .jsonl files are not named SKILL.md and were not read); expected folders";
    let none = path(&out, "none");
    for args in
        [&["pool", "stats", &none][..], &["pool", "build", &none, "-o", &path(&out, "p.jsonl")]]
    {
        assert!(refused(args).contains(says), "{}", refused(args));
    }
    // What lies in a skill's folder is the skill's.
    file(&out, "some/one/SKILL.md", "---\nname: one\ndescription: d\n---\nText\n");
    file(&out, "some/one/references/r.md", "text");
    let some = path(&out, "some");
    assert!(!text(&done(&["pool", "stats", &some]).stderr).contains("not read"));
    file(&out, "some/LIST.MD", "text");
    let output = done(&["pool", "stats", &some]);
    let note = "1 .md file is not named SKILL.md and was not read";
    assert!(text(&output.stderr).contains(note), "{}", text(&output.stderr));
    let json: Value = serde_json::from_str(&ok(&["--json", "pool", "stats", &some])).unwrap();
    assert_eq!(json["not_read"], serde_json::json!({ "md": 1, "jsonl": 0 }));
    let readme = file(&out, "none/README.md", "text");
    let line = refused(&["pool", "build", &readme, "-o", &path(&out, "p.jsonl")]);
    assert!(line.contains("README.md: is a Markdown file; expected the folder"), "{line}");
    assert!(line.contains(&none), "{line}");
}

#[test]
fn a_completion_script_is_a_script_whatever_is_asked_for() {
    assert_eq!(ok(&["--json", "completions", "bash"]), ok(&["completions", "bash"]));
}

#[test]
fn without_labels_there_is_another_way() {
    let out = dir();
    let skills = file(&out, "s.jsonl", "{\"id\":\"a\",\"body\":\"one\"}\n");
    let queries = file(&out, "q.jsonl", "{\"query_case_id\":\"q\",\"text\":\"one\"}\n");
    let bench = path(&out, "bench");
    ok(&["-q", "import", "skills", &skills, "--queries", &queries, "-o", &bench]);
    ok(&["-q", "rank", "-m", "bm25_exact", "-b", &bench, "-o", &path(&out, "o")]);
    let ranks = path(&out, "o/bm25_exact");
    for args in [
        &["score", &ranks, "-b", &bench][..],
        &["run", "-b", &bench, "-o", &path(&out, "r")],
        &["export", "qrels", "-b", &bench, "-o", &path(&out, "x.qrels")],
    ] {
        let line = refused(args);
        assert!(line.contains("has no labels; `cleanhit score RANKS --qrels FILE`"), "{line}");
        assert!(line.contains("`cleanhit bench new`"), "{line}");
    }
}

#[test]
fn a_card_with_the_name_of_another_is_refused() {
    let out = dir();
    let bundled = ok(&["models", "show", "bm25_exact"]);
    let same = file(&out, "same.toml", &format!("# mine\n{bundled}"));
    ok(&["-q", "rank", "-m", &same, "-o", &path(&out, "o")]);
    let (from, to) = ("k1 = 1.", "k1 = 2.");
    assert!(bundled.contains(from), "{bundled}");
    let other = file(&out, "other.toml", &bundled.replace(from, to));
    let line = refused(&["rank", "-m", &other, "-o", &path(&out, "p")]);
    assert!(line.contains("other.toml: field `name`: `bm25_exact` is the name of a bundled card"));
    assert!(line.contains("expected another name, such as `my-bm25_exact`"), "{line}");
    let mine = bundled.replace(from, to).replace("\"bm25_exact\"\ntitle", "\"mine\"\ntitle");
    ok(&["-q", "rank", "-m", &file(&out, "mine.toml", &mine), "-o", &path(&out, "p")]);
}

#[test]
fn a_set_that_was_never_frozen_is_not_a_stale_one() {
    let out = dir();
    let bench = path(&out, "mine");
    ok(&["-q", "bench", "new", &bench, "--type", "computation_rule", "--id", "my-unit"]);
    let report = text(&cleanhit(&["bench", "check", &bench]).stdout);
    let line = |name: &str| {
        let found = report.lines().find(|line| line[6..].starts_with(&format!("{name} ")));
        found.unwrap_or_else(|| panic!("{name}: {report}")).to_owned()
    };
    let frozen = line("frozen");
    assert!(frozen.starts_with("ok ") && frozen.contains("not frozen yet; run `cleanhit bench"));
    assert!(line("evidence").ends_with("0 of 1 unit bound, 1 runnable"), "{report}");
    assert!(!report.contains("``"), "{report}");
    let mut violations: Vec<&str> = report.lines().filter(|l| l.starts_with("      ")).collect();
    let all = violations.len();
    violations.sort_unstable();
    violations.dedup();
    assert_eq!(violations.len(), all, "{report}");
}

#[test]
fn a_number_that_is_none_is_asked_for_in_words() {
    for (args, says) in [
        (&["score", BM25, "-k", "0"][..], "expected a whole number from 1"),
        (&["rank", "-m", "bm25", "-o", "x", "--depth", "0"], "expected a whole number from 1"),
        (&["run", "--threads", "x"], "expected a whole number"),
        (&["compare", BM25, RRF, "--seed", "-"], "expected a whole number"),
    ] {
        let line = refused(args);
        assert!(line.contains(says) && line.ends_with("; try --help"), "{line}");
    }
    let out = dir();
    let agents = file(&out, "a.json", "[{}, {}]");
    let line = refused(&["import", "sr-agents", &agents, "-o", &path(&out, "o")]);
    assert!(line.contains("expected an object with `results`, a list of objects"), "{line}");
    assert!(!line.contains("struct"), "{line}");
}

#[test]
fn two_folders_of_one_method_are_both_named() {
    let out = dir();
    ok(&["-q", "submit", BM25, "-o", &path(&out, "copy")]);
    let line = refused(&["leaderboard", BM25, &path(&out, "copy")]);
    assert!(line.contains(&format!("{BM25} and {}: both hold method `bm25`", path(&out, "copy"))));
    assert!(line.contains("expected one of them, or another `method_id`"), "{line}");
}

#[test]
fn csv_has_six_places_names_for_programs_and_whole_p_values() {
    let rows = |args: &[&str]| -> Vec<Vec<String>> {
        let csv = ok(&[args, &["--format", "csv"]].concat());
        let fields = |line: &str| line.split(',').map(str::to_owned).collect();
        csv.lines().map(fields).collect()
    };
    let constant = format!("{RESULTS}/anti_oracle");
    let oracle = format!("{RESULTS}/oracle");
    for args in [
        &["score", BM25, "--by", "source"][..],
        &["score", BM25, "--per-query"],
        &["compare", BM25, RRF],
        &["leaderboard", BM25],
    ] {
        let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let rows = rows(args);
        assert!(rows[0].iter().all(|name| name.chars().all(snake)), "{:?}", rows[0]);
    }
    let column = |rows: &[Vec<String>], name: &str| {
        let at = rows[0].iter().position(|heading| heading == name);
        rows[1][at.unwrap_or_else(|| panic!("{name}: {:?}", rows[0]))].clone()
    };
    let scored = rows(&["score", BM25, "-k", "3"]);
    let compared = rows(&["compare", &constant, &oracle]);
    for value in [
        column(&scored, "both_hit"),
        column(&scored, "co_exposed"),
        column(&compared, "baseline"),
        column(&compared, "value"),
    ] {
        assert_eq!(value.split_once('.').map(|(_, places)| places.len()), Some(6), "{value}");
    }
    let p: f64 = column(&compared, "p_sign").parse().unwrap();
    assert!(0.0 < p && p < 0.0001, "{p}");
    assert!(ok(&["compare", &constant, &oracle]).contains("<0.0001"));
}

#[test]
fn check_reads_a_card_as_rank_does_and_json_lines_by_their_keys() {
    let out = dir();
    let head = "format = 1\nname = \"x\"\ntitle = \"t\"\nabout = \"a\"\n[retrieve]\n";
    let card = file(&out, "x.toml", &format!("{head}kind = \"bm25_exact\"\nk2 = 1\n"));
    let checked = cleanhit(&["check", &card]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("x.toml:7: "), "{}", text(&checked.stdout));
    let select = head.replace("[retrieve]", "[select]");
    let card = file(&out, "x.toml", &format!("{select}kind = \"titel\"\n"));
    assert!(text(&cleanhit(&["check", &card]).stdout).contains("x.toml:5: unknown selector"));
    for (name, row, says) in [
        ("p.jsonl", "{\"candidate_id\":\"a\",\"text\":\"t\"}\n", "1 candidate"),
        ("q.jsonl", "{\"query_case_id\":\"a\",\"text\":\"t\"}\n", "1 query"),
        ("s.jsonl", "{\"id\":\"a\",\"body\":\"t\"}\n", "1 skill"),
    ] {
        assert!(ok(&["check", &file(&out, name, row)]).ends_with(&format!("{name}: {says}\n")));
        let twice = cleanhit(&["check", &file(&out, name, &row.repeat(2))]);
        assert_eq!(twice.status.code(), Some(1));
        assert!(text(&twice.stdout).contains(&format!("{name}:2: ")), "{}", text(&twice.stdout));
    }
}

#[test]
fn a_card_that_contradicts_its_receipt_is_the_one_that_is_wrong() {
    let out = dir();
    let card = fs::read_to_string(format!("{BM25}/method_card.json")).unwrap();
    let changed = card.replace("public_text_only", "public_text_cluster");
    assert_ne!(card, changed);
    let card = file(&out, "mine.json", &changed);
    let line = refused(&["submit", BM25, "--card", &card, "-o", &path(&out, "s")]);
    assert!(line.contains("mine.json: field `information_setting`: `"), "{line}");
    assert!(
        line.contains("expected `public_text_only`, as ") && line.ends_with("receipt.json has it")
    );
}

#[test]
fn a_file_or_folder_of_another_kind_says_where_to_go() {
    let out = dir();
    let run = file(&out, "r.run", "q Q0 a 1 1 t\n");
    let line = refused(&["score", &run]);
    assert!(
        line.contains("r.run: is a TREC run") && line.contains("`score --qrels FILE`"),
        "{line}"
    );
    let line = refused(&["score", RESULTS]);
    assert!(line.contains("expected a method's folder, such as "), "{line}");
    assert!(line.ends_with("/samecap-mini/anti_oracle"), "{line}");
}

#[test]
fn an_id_is_one_word_and_a_query_has_text() {
    let out = dir();
    let skills = file(&out, "s.jsonl", "{\"id\":\"a\",\"body\":\"one\"}\n");
    let import = |skills: &str, row: &str| {
        let queries = file(&out, "q.jsonl", row);
        cleanhit(&["import", "skills", skills, "--queries", &queries, "-o", &path(&out, "bench")])
    };
    let refused = import(&skills, "{\"query_case_id\":\"a b\",\"text\":\"t\"}\n");
    assert_eq!(refused.status.code(), Some(2));
    let line = text(&refused.stderr);
    assert!(
        line.contains("q.jsonl: query id `a b` holds white space; expected one word"),
        "{line}"
    );
    let blank = file(&out, "t.jsonl", "{\"id\":\"a b\",\"body\":\"one\"}\n");
    let refused = import(&blank, "{\"query_case_id\":\"a\",\"text\":\"t\"}\n");
    assert!(text(&refused.stderr).contains("t.jsonl: skill id `a b` holds white space"));
    assert!(!out.path().join("bench").exists());
    let rows =
        "{\"query_case_id\":\"a\",\"text\":\" \"}\n{\"query_case_id\":\"b\",\"text\":\"\"}\n";
    let warned = text(&import(&skills, rows).stderr);
    assert_eq!(warned.matches("q.jsonl: 2 queries without text, the first `a`").count(), 1);
}
