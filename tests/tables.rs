//! Tables as people and programs read them, and the help that says how to ask for them.

use std::{fs, process::Command};

use crate::cli::{cleanhit, dir, ok, path, refused, text};

const BM25: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/bm25");
const RRF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/rrf");
const CLUSTERS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/rrf+text_cluster");

/// The fields of CSV, read by RFC 4180.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        let field = row.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            c => field.push(c),
        }
    }
    assert!(!quoted, "an open quote: {text}");
    assert_eq!(rows.pop(), Some(vec![String::new()]), "no line end: {text}");
    rows
}

#[test]
fn csv_is_one_table_of_plain_values() {
    for args in [
        &["score", BM25, RRF, "--by", "source"][..],
        &["score", BM25, "--by", "type", "-k", "1,3"],
        &["score", BM25, "--per-query"],
        &["compare", BM25, RRF, "--by", "mechanism"],
        &["leaderboard", BM25, CLUSTERS],
    ] {
        let mut all = args.to_vec();
        all.extend(["--format", "csv"]);
        let rows = csv(&ok(&all));
        assert!(2 < rows.len(), "{args:?}");
        let [headings, values @ ..] = &rows[..] else { panic!("no rows") };
        let mut names = headings.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), headings.len(), "headings differ: {headings:?}");
        for row in values {
            assert_eq!(row.len(), headings.len(), "{args:?}: {row:?}");
            let odd = |field: &&String| field.contains(['†', '[', '–', '~']);
            assert_eq!(row.iter().find(odd), None, "{args:?}: {row:?}");
        }
        let low = headings.iter().position(|heading| heading.ends_with("low"));
        for row in low.iter().flat_map(|&low| values.iter().map(move |row| &row[low])) {
            assert!(row.is_empty() || row.parse::<f64>().is_ok(), "{row}");
        }
    }
}

#[test]
fn several_tables_have_captions_and_one_set_of_words() {
    let shown = ok(&["score", BM25, "-k", "3", "--by", "source", "--per-query"]);
    for caption in [
        "all queries that count, and each stratum",
        "by source",
        "single queries, without each source",
        "each query: the ranks of its marked skills",
    ] {
        assert_eq!(shown.lines().filter(|line| *line == caption).count(), 1, "{caption}: {shown}");
    }
    for name in ["main_comparison", "main_core", "main_hard", "domain", "primary_category"] {
        assert!(!shown.contains(name), "{name}");
    }
    let one = ok(&["score", BM25, "-k", "3"]);
    assert!(one.starts_with("method "), "one table needs no caption: {one}");
    let latex = ok(&["score", BM25, "-k", "3", "--by", "mechanism", "--format", "latex"]);
    for environment in ["table", "tabular"] {
        let count = |end: &str| latex.matches(&format!("\\{end}{{{environment}}}")).count();
        assert_eq!((count("begin"), count("end")), (2, 2), "{latex}");
    }
    assert!(latex.contains("resource\\_binding $\\dagger$"), "{latex}");
    assert!(!latex.contains('†'), "{latex}");
}

#[test]
fn every_query_has_a_row_in_every_format() {
    let found: serde_json::Value =
        serde_json::from_str(&ok(&["score", BM25, "--per-query", "--json"])).unwrap();
    let queries = found["methods"][0]["per_query"].as_array().unwrap();
    assert!(58 <= queries.len());
    let rows = csv(&ok(&["score", BM25, "--per-query", "--format", "csv"]));
    assert_eq!(rows.len(), queries.len() + 1);
    let shown = ok(&["score", BM25, "--per-query"]);
    for (row, query) in rows[1..].iter().zip(queries) {
        assert_eq!(row[1], query["query_case_id"].as_str().unwrap());
        let rank = |name: &str| query[name].as_u64().map_or(String::new(), |rank| rank.to_string());
        assert_eq!(row[6..], [rank("helpful_rank"), rank("sibling_rank")]);
        assert_eq!(shown.matches(&format!(" {} ", row[1])).count(), 1);
    }
}

#[test]
fn packed_runs_and_qrels_are_read_as_they_are() {
    let out = dir();
    let file = |name: &str, text: &str| {
        let plain = path(&out, name);
        fs::write(&plain, text).unwrap();
        plain
    };
    let run = file("r.run", "q Q0 a 1 2 t\nq Q0 b 2 1 t\n");
    let qrels = file("q.qrels", "q 0 b 1\n");
    let queries = file("q.jsonl", "{\"query_case_id\":\"q\",\"text\":\"one\"}\n");
    let skills = file(
        "s.jsonl",
        "{\"candidate_id\":\"a\",\"text\":\"one\"}\n{\"candidate_id\":\"b\",\"text\":\"two\"}\n",
    );
    for plain in [&run, &qrels, &queries, &skills] {
        match Command::new("gzip").args(["-k", plain.as_str()]).status() {
            Ok(status) if status.success() => {}
            _ => return println!("skipped: cannot run gzip"),
        }
    }
    let gz = |plain: &str| format!("{plain}.gz");
    let score = |run: &str, qrels: &str| {
        let shown = ok(&["score", run, "--qrels", qrels, "-M", "RR,Bpref", "--format", "csv"]);
        csv(&shown)[1][1..].to_vec()
    };
    assert_eq!(score(&run, &qrels), ["1", "0.500000", "1.000000"]);
    assert_eq!(score(&gz(&run), &gz(&qrels)), score(&run, &qrels));
    assert!(ok(&["check", &gz(&run)]).contains("TREC run"));
    let bench = path(&out, "bench");
    ok(&["import", "skills", &gz(&skills), "--queries", &gz(&queries), "-o", &bench]);
    let ranks = path(&out, "r.tsv");
    ok(&["import", "trec", &gz(&run), "-b", &bench, "-o", &ranks]);
    assert_eq!(fs::read_to_string(&ranks).unwrap().lines().count(), 3);
    let pool = fs::read_to_string(out.path().join("bench/pools/skills.jsonl"));
    let pool = pool.or_else(|_| fs::read_to_string(out.path().join("bench/skills.jsonl")));
    assert!(pool.is_ok_and(|pool| pool.contains("\"one\"")), "a packed pool is still a pool");
}

#[test]
fn help_lists_the_main_options_first_and_every_measure() {
    for command in ["score", "compare"] {
        let help = ok(&[command, "--help"]);
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{command}: no {text}"));
        assert!(at("\nOptions:") < at("\nRuns against qrels:"));
        assert!(at("\nRuns against qrels:") < at("\nOptions of every command:"));
        assert!(at("\nOptions of every command:") < at("--threads"));
        for (form, _) in cleanhit_eval::plain::MEASURES {
            assert!(help.contains(form), "{command}: {form}");
        }
    }
    assert!(ok(&["run", "--help"]).contains("--bench <BENCH>"));
}

#[test]
fn the_stock_experiment_fits_the_benchmark_it_is_for() {
    let out = dir();
    let (skills, queries) = (path(&out, "s.jsonl"), path(&out, "q.jsonl"));
    let rows = (0..4).map(|n| format!("{{\"id\":\"s{n}\",\"name\":\"n{n}\",\"body\":\"b\"}}\n"));
    fs::write(&skills, rows.collect::<String>()).unwrap();
    fs::write(&queries, "{\"query_case_id\":\"q\",\"text\":\"b\"}\n").unwrap();
    let bench = path(&out, "bench");
    ok(&["import", "skills", &skills, "--queries", &queries, "-o", &bench]);
    let experiment = ok(&["init", "-b", &bench, "-"]);
    assert!(experiment.contains("rrf+text_cluster") && !experiment.contains("+released"));
    assert!(experiment.contains("1") && !experiment.contains("    20,"), "{experiment}");
    let line = refused(&["run", "-b", &bench, "-o", &path(&out, "o")]);
    assert!(line.contains("label"), "{line}");
    let file = path(&out, "e.toml");
    ok(&["init", &file]);
    assert!(refused(&["run", &file, "-b", &bench]).contains("cannot be used with"));
}

#[test]
fn check_tells_an_experiment_and_a_declaration_from_a_card() {
    let out = dir();
    let experiment = path(&out, "e.toml");
    ok(&["init", &experiment]);
    assert!(ok(&["check", &experiment]).contains("experiment of 13 methods on `samecap-mini`"));
    let changed = fs::read_to_string(&experiment).unwrap().replace("depth = 20", "depht = 20");
    fs::write(&experiment, changed).unwrap();
    let output = cleanhit(&["check", &experiment]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("field `depht`: unknown key"),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&output.stderr).contains("1 violation\n"), "{}", text(&output.stderr));
    let declaration = path(&out, "d.toml");
    let fields = ["code_url", "code_commit", "checkpoint", "training_data", "development_use"];
    let fields = fields.iter().chain(&["preprocessing", "compute"]);
    let mut text_of =
        String::from("method_name = \"Mine\"\ninformation_setting = \"public_text_only\"\n");
    text_of.extend(fields.map(|field| format!("{field} = \"none\"\n")));
    fs::write(&declaration, &text_of).unwrap();
    assert!(ok(&["check", &declaration]).contains("declaration of `Mine`"));
    fs::write(&declaration, text_of.replace("public_text_only", "text")).unwrap();
    let output = cleanhit(&["check", &declaration]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("is not an information setting"));
}

#[test]
fn a_skeleton_is_neither_bound_nor_frozen() {
    let out = dir();
    let bench = path(&out, "mine");
    ok(&["bench", "new", &bench, "--type", "computation_rule", "--id", "my-unit"]);
    let unit = path(&out, "mine/units/my-unit.toml");
    let before = fs::read(&unit).unwrap();
    let line = refused(&["bench", "bind", &unit]);
    assert!(line.contains("holds a `TODO`; expected text in its place"), "{line}");
    assert_eq!(fs::read(&unit).unwrap(), before);
    let output = cleanhit(&["bench", "freeze", &bench]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("nothing was written"), "{}", text(&output.stderr));
    assert!(!out.path().join("mine/bench.toml").exists());
}

#[test]
fn instances_without_a_gold_skill_are_counted() {
    let out = dir();
    let file = path(&out, "a.json");
    let row = |id: &str, gold: &str| {
        format!(
            "{{\"instance_id\":\"{id}\",\"gold_skill_ids\":[{gold}],\"retrieved\":[{{\"skill_id\":\"s\"}}]}}"
        )
    };
    let rows = [row("a", "\"s\""), row("b", ""), row("c", "")].join(",");
    fs::write(&file, format!("{{\"results\":[{rows}]}}")).unwrap();
    let output = cleanhit(&["import", "sr-agents", &file, "-o", &path(&out, "o"), "--json"]);
    let warning = text(&output.stderr);
    assert!(warning.contains("2 instances without a gold skill, the first `b`"), "{warning}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["without_gold"], serde_json::json!(["b", "c"]));
}
