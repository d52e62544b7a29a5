//! `cleanhit check` on folders that somebody broke or edited.

use std::fs;

use crate::cli::{cleanhit, dir, ok, path, text};

/// The findings of a check that must fail.
fn failed(folder: &str) -> Vec<String> {
    let output = cleanhit(&["check", folder]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}{}", text(&output.stderr));
    stdout.lines().filter(|line| line.starts_with("FAIL")).map(str::to_owned).collect()
}

struct Results {
    dir: tempfile::TempDir,
}

impl Results {
    /// Two methods, one of them with a selector, as `run` writes them.
    fn new() -> Results {
        let dir = dir();
        let file = path(&dir, "e.toml");
        ok(&["-q", "init", &file]);
        let text = fs::read_to_string(&file).unwrap();
        let start = text.find("methods = [").unwrap();
        let end = start + text[start..].find(']').unwrap() + 1;
        let methods = "methods = [\"bm25_exact\", \"bm25_exact+title\"]";
        fs::write(&file, text.replace(&text[start..end], methods)).unwrap();
        ok(&["-q", "run", &file, "-o", &path(&dir, "o")]);
        Results { dir }
    }

    fn path(&self) -> String {
        path(&self.dir, "o/samecap-mini")
    }

    /// What the check says with `from` as `to` in a file, which is put back.
    fn edited(&self, file: &str, from: &str, to: &str) -> Vec<String> {
        let file = self.dir.path().join("o/samecap-mini").join(file);
        let before = fs::read_to_string(&file).unwrap();
        assert!(before.contains(from), "{from}: {before}");
        fs::write(&file, before.replacen(from, to, 1)).unwrap();
        let found = failed(&self.path());
        fs::write(&file, before).unwrap();
        found
    }
}

#[test]
fn a_broken_file_is_a_violation_with_its_line_and_the_rest_is_checked() {
    let results = Results::new();
    let receipt = "bm25_exact/receipt.json";
    for (file, from, to, says) in [
        (receipt, "{", "", "receipt.json:2: "),
        (receipt, "\"depth\": 20", "\"depth\": 21", "field `settings.depth`: is 21; expected 20"),
        (
            receipt,
            "\"depth\": 20",
            "\"depth\": 0",
            "field `depth`: 0; expected a whole number from 1",
        ),
        (receipt, "\"ties\": \"hash\"", "\"ties\": \"x\"", "field `settings.ties`: is \"x\""),
        (
            receipt,
            "  \"method_id\": \"bm25_exact\",\n",
            "",
            "field `method_id`: the key is missing",
        ),
        (receipt, "cleanhit.receipt.v1", "v9", "receipt.json:2: field `schema`: is `v9`"),
        (receipt, "\"kind\": \"bm25_exact\"", "\"kind\": 7", "field `card`"),
        ("bm25_exact/method_card.json", "{", "", "method_card.json:2: "),
        (
            "bm25_exact/method_card.json",
            "\"compute\": \"CPU\"",
            "\"compute\": \"\"",
            "field `compute`",
        ),
        ("bm25_exact+title/selection.json", "{", "", "selection.json:2: "),
        (
            "bm25_exact+title/selection.json",
            "\"k\": 3",
            "\"k\": 4",
            "field `main_comparison[1].k`: is 4; expected 3",
        ),
    ] {
        let found = results.edited(file, from, to);
        assert!(found.iter().any(|line| line.contains(says)), "{from} -> {to}: {found:?}");
        let named = file.rsplit('/').next().unwrap();
        assert!(found.iter().all(|line| line.contains(named)), "{from} -> {to}: {found:?}");
        assert!(found.iter().any(|line| line.contains(&format!("{named}:"))), "{found:?}");
    }
    // Two at once, in two folders: both are listed.
    let folder = results.dir.path().join("o/samecap-mini");
    for method in ["bm25_exact", "bm25_exact+title"] {
        fs::write(folder.join(method).join("receipt.json"), "{").unwrap();
    }
    let found = failed(&results.path());
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn an_edited_receipt_is_found() {
    let results = Results::new();
    let receipt = "bm25_exact/receipt.json";
    for (from, to, field) in [
        ("\"repeatability\": \"exact\"", "\"repeatability\": \"device\"", "repeatability"),
        ("\"repeatability\": \"exact\"", "\"repeatability\": \"\"", "repeatability"),
        ("\"queries_without_a_pool_word\": 0", "\"queries_without_a_pool_word\": 1", "counts."),
        ("\"title\": \"", "\"title\": \"Better ", "card.title"),
        ("\"padded_queries\": 0", "\"padded_queries\": 3", "settings.padded_queries"),
        ("\"name\": \"samecap-mini\"", "\"name\": \"other\"", "bench.name"),
        ("\"cleanhit\": \"", "\"cleanhit\": \"x", "cleanhit"),
        ("\"sha256\": \"", "\"sha256\": \"0", "inputs[0].sha256"),
    ] {
        let found = results.edited(receipt, from, to);
        let says = format!("field `{field}");
        assert!(found.iter().any(|line| line.contains(&says)), "{from} -> {to}: {found:?}");
        assert!(found.iter().all(|line| line.contains("receipt.json:")), "{found:?}");
    }
    // The ranks are compared with what the method gives, whatever the receipt says.
    let ranks = results.dir.path().join("o/samecap-mini/bm25_exact/top20.tsv");
    let before = fs::read_to_string(&ranks).unwrap();
    let last = before.trim_end().rsplit_once('\t').unwrap().0;
    fs::write(&ranks, format!("{last}\t0.5\n")).unwrap();
    let found = results.edited(receipt, "\"exact\"", "\"recorded\"");
    let line =
        format!("top20.tsv:{}: is not what the receipt's method gives", before.lines().count());
    assert!(found.iter().any(|found| found.contains(&line)), "{found:?}");
}

#[test]
fn an_experiment_says_what_the_receipts_and_intervals_say() {
    let results = Results::new();
    for (from, to, says) in [
        (
            "ties = \"hash\"",
            "ties = \"trec\"",
            "field `ties`: is `trec`; expected `hash`, as the receipt",
        ),
        (
            "depth = 20",
            "depth = 30",
            "field `depth`: is 30; expected 20, as the receipt of `bm25_exact`",
        ),
        ("seed = ", "seed = 1", "field `intervals.seed`: is 1"),
        (
            "level = 0.95",
            "level = 0.9",
            "field `intervals.level`: is 0.9; expected 0.95, as the intervals",
        ),
        (
            "replicates = 5000",
            "replicates = 9",
            "field `intervals.replicates`: is 9; expected 5000",
        ),
        ("\"bm25_exact\"", "\"bm25\"", "field `methods`: names `bm25`, which has no folder here"),
        ("bench = \"samecap-mini\"", "bench = \"other\"", "field `bench`: is `other`"),
        ("depth = 20", "depth = 0", "experiment.toml:"),
    ] {
        let found = results.edited("experiment.toml", from, to);
        assert!(found.iter().any(|line| line.contains(says)), "{from} -> {to}: {found:?}");
        assert!(found.iter().all(|line| line.contains("experiment.toml")), "{found:?}");
    }
    let found = results.edited("experiment.toml", "depth = 20", "depth = 0");
    assert!(found[0].ends_with("field `depth`: 0; expected a whole number from 1"), "{found:?}");
}

#[test]
fn what_run_wrote_is_there_and_follows_from_the_folders() {
    let results = Results::new();
    let found = results.edited("report.md", "Gate `", "Gate `0");
    assert!(found[0].contains("report.md:3: is not the report of the folders"), "{found:?}");
    let found = results.edited("report.md", "bm25_exact+title", "bm25_exact+titel");
    assert_eq!(found.len(), 1, "{found:?}");
    let board = "leaderboard.tsv";
    for status in ["setting_verified", "accepted", "paper_frozen"] {
        let found = results.edited(board, "metric_recomputed", status);
        assert!(found[0].contains("field `result_status`: `"), "{found:?}");
        assert!(
            found[0].contains(&format!("has status `{status}`; expected at most")),
            "{found:?}"
        );
    }
    let folder = results.dir.path().join("o/samecap-mini");
    for name in ["experiment.toml", "report.md", board] {
        let before = fs::read(folder.join(name)).unwrap();
        fs::remove_file(folder.join(name)).unwrap();
        let found = failed(&results.path());
        assert!(found[0].contains(&format!("{name}: no such file")), "{found:?}");
        fs::write(folder.join(name), before).unwrap();
    }
    fs::rename(folder.join("bm25_exact"), folder.join("other")).unwrap();
    let found = failed(&results.path());
    assert!(
        found.iter().any(|line| line.contains("other: is the folder of method `bm25_exact`")),
        "{found:?}"
    );
    fs::rename(folder.join("other"), folder.join("bm25_exact")).unwrap();
    ok(&["check", &results.path()]);
}

#[test]
fn a_method_card_is_that_of_the_receipt_unless_it_is_a_submissions() {
    let results = Results::new();
    let card = "bm25_exact/method_card.json";
    for field in [
        "method_name",
        "code_url",
        "code_commit",
        "checkpoint",
        "training_data",
        "development_use",
        "preprocessing",
        "compute",
    ] {
        let found =
            results.edited(card, &format!("\"{field}\": \""), &format!("\"{field}\": \"Other "));
        let says = format!("field `{field}`: is \"Other ");
        assert!(found.iter().any(|line| line.contains(&says)), "{field}: {found:?}");
        let found =
            results.edited(card, &format!("\"{field}\": \""), &format!("\"{field}\": \"\\u001b"));
        assert!(found[0].contains("expected text without control characters"), "{found:?}");
    }
    let folder = path(&results.dir, "o/samecap-mini/bm25_exact");
    let declared = path(&results.dir, "card.toml");
    let text: String = [
        "code_url",
        "code_commit",
        "checkpoint",
        "training_data",
        "development_use",
        "preprocessing",
        "compute",
    ]
    .iter()
    .map(|field| format!("{field} = \"mine\"\n"))
    .collect();
    let text =
        format!("method_name = \"Mine\"\ninformation_setting = \"public_text_only\"\n{text}");
    fs::write(&declared, text).unwrap();
    let submission = path(&results.dir, "s");
    ok(&["-q", "submit", &folder, "--card", &declared, "-o", &submission]);
    ok(&["check", &submission]);
}

#[test]
fn a_file_that_is_missing_or_no_file_is_a_violation() {
    let results = Results::new();
    let folder = results.dir.path().join("o/samecap-mini/bm25_exact+title");
    for name in [
        "metrics.json",
        "intervals.json",
        "selection.json",
        "receipt.json",
        "method_card.json",
        "top20.tsv",
    ] {
        let file = folder.join(name);
        let before = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let found = failed(&results.path());
        let says = format!("{name}: no such file");
        assert!(found.iter().any(|line| line.contains(&says)), "{name}: {found:?}");
        // A pipe is never opened: whoever opens it waits for a writer.
        #[cfg(unix)]
        {
            assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
            let found = failed(&results.path());
            let says = format!("{name}: is not a regular file");
            assert!(found.iter().any(|line| line.contains(&says)), "{name}: {found:?}");
            let board = cleanhit(&["leaderboard", &results.path()]);
            let optional = name == "selection.json";
            assert_eq!(board.status.success(), optional, "{name}");
            fs::remove_file(&file).unwrap();
        }
        fs::write(&file, before).unwrap();
    }
    ok(&["check", &results.path()]);
}

#[test]
fn a_setting_without_a_receipt_is_declared_and_not_above_what_is_known() {
    let results = Results::new();
    let folder = path(&results.dir, "o/samecap-mini/bm25_exact");
    let submission = path(&results.dir, "s");
    ok(&["-q", "submit", &folder, "-o", &submission]);
    fs::remove_file(results.dir.path().join("s/receipt.json")).unwrap();
    let output = cleanhit(&["leaderboard", &submission]);
    assert!(output.status.success());
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("no receipt: the information setting is declared, not derived, of "),
        "{stderr}"
    );
    // Its ranks under the name of a method that knows more.
    for (id, setting) in [
        ("oracle", "diagnostic_not_ranked"),
        ("rrf+released", "released_family"),
        ("x+released", "released_family"),
    ] {
        let card = results.dir.path().join("s/method_card.json");
        let ranks =
            fs::read_to_string(results.dir.path().join("o/samecap-mini/bm25_exact/top20.tsv"))
                .unwrap();
        let ranks = ranks.replace("\nbm25_exact\t", &format!("\n{id}\t"));
        let renamed = path(&results.dir, "ranks.tsv");
        fs::write(&renamed, ranks).unwrap();
        let declared = path(&results.dir, "d.json");
        let text_of = fs::read_to_string(&card).unwrap();
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text_of).unwrap();
        for field in ["method_id", "rank_sha256"] {
            fields.remove(field);
        }
        fs::write(&declared, serde_json::to_vec(&fields).unwrap()).unwrap();
        let other = path(&results.dir, &format!("s-{}", id.replace('+', "-")));
        ok(&["-q", "submit", &renamed, "--card", &declared, "-o", &other]);
        let says =
            format!("is `public_text_only`; expected `{setting}`, the setting of method `{id}`");
        let found = failed(&other);
        assert!(found[0].contains(&says), "{found:?}");
        let line = crate::cli::refused(&["leaderboard", &other]);
        assert!(line.contains(&says), "{line}");
    }
}
