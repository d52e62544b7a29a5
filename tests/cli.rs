//! The binary, end to end: what it prints, what it writes, what it refuses.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::shared;

pub(crate) fn cleanhit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cleanhit")).args(args).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command that must succeed; returns stdout.
pub(crate) fn ok(args: &[&str]) -> String {
    let output = cleanhit(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must be refused with exit code 2 and one line; returns the line.
pub(crate) fn refused(args: &[&str]) -> String {
    let output = cleanhit(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", text(&output.stdout));
    let errors: Vec<&str> =
        stderr.lines().filter(|line| !line.starts_with("cleanhit: warning:")).collect();
    let [line] = errors[..] else { panic!("{args:?}: not one line: {stderr}") };
    line.to_owned()
}

pub(crate) fn dir() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).display().to_string()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn the_main_job_writes_the_same_bytes_whatever_the_threads() {
    let (one, eight) = (dir(), dir());
    let table = ok(&["run", "--threads", "1", "-o", &path(&one, "out")]);
    assert_eq!(table, ok(&["run", "--threads", "8", "-o", &path(&eight, "out")]));
    let compared: Vec<PathBuf> =
        files(one.path()).into_iter().filter(|f| !f.ends_with("timing.json")).collect();
    assert!(60 < compared.len(), "{} files", compared.len());
    for file in compared {
        let other = eight.path().join(file.strip_prefix(one.path()).unwrap());
        assert_eq!(fs::read(&file).unwrap(), fs::read(&other).unwrap(), "{}", file.display());
    }
    let checked = ok(&["check", &path(&one, "out/samecap-mini")]);
    assert_eq!(checked.lines().count(), 16, "{checked}");
    assert!(checked.lines().all(|line| line.starts_with("ok ")), "{checked}");
    insta::assert_snapshot!("main_table", table);
}

#[test]
fn the_committed_results_are_those_of_this_code() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/samecap-mini");
    ok(&["check", &results.display().to_string()]);
    let fresh = dir();
    ok(&["-q", "run", "-o", &path(&fresh, "out")]);
    for name in ["leaderboard.tsv", "report.md", "experiment.toml"] {
        let fresh = fs::read(fresh.path().join("out/samecap-mini").join(name)).unwrap();
        assert!(
            fresh == fs::read(results.join(name)).unwrap(),
            "{name}: `cleanhit run -o results`"
        );
    }
}

/// The bundled benchmark's sources, without the files that hold labels.
fn unlabelled() -> tempfile::TempDir {
    let dir = dir();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "queries/samecap-mini/bench.toml",
        "queries/samecap-mini/single.queries.jsonl",
        "queries/samecap-mini/paired.queries.jsonl",
        "pools/samecap-mini/single.jsonl",
        "pools/samecap-mini/paired.jsonl",
        "pools/samecap-mini/families.tsv",
    ] {
        let to = dir.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root.join(file), to).unwrap();
    }
    dir
}

#[test]
fn rank_reads_no_labels_and_families_only_where_the_card_says_so() {
    let (bench, out) = (unlabelled(), dir());
    let at = path(&bench, "queries/samecap-mini");
    let rank =
        |method: &str| cleanhit(&["rank", "-m", method, "-b", &at, "-o", &path(&out, "out")]);
    assert!(rank("rrf+released").status.success());
    fs::remove_file(bench.path().join("pools/samecap-mini/families.tsv")).unwrap();
    for method in
        ["bm25", "rrf+title", "rrf+text_cluster", "bm25_exact+text_cluster_pool", "random"]
    {
        let output = rank(method);
        assert!(output.status.success(), "{method}: {}", text(&output.stderr));
    }
    let line = refused(&["rank", "-m", "bm25+released", "-b", &at, "-o", &path(&out, "no")]);
    assert!(line.contains("families.tsv"), "{line}");
    let line = refused(&["rank", "-m", "oracle", "-b", &at, "-o", &path(&out, "no")]);
    assert!(line.contains("made of labels"), "{line}");
    assert!(!out.path().join("no").exists(), "nothing half-written");
    // The same ranks as with the labels beside them.
    ok(&["-q", "rank", "-m", "bm25", "-o", &path(&out, "labelled")]);
    let ranks = |of: &str| fs::read(out.path().join(of).join("bm25/top20.tsv")).unwrap();
    assert!(ranks("out") == ranks("labelled"));
}

#[test]
fn a_sanity_method_never_beats_the_oracle() {
    let out = dir();
    let json = ok(&["run", "--json", "-o", &path(&out, "out")]);
    let run: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rate = |method: &str, measure: &str| {
        let methods = run["methods"].as_array().unwrap();
        let found = methods.iter().find(|m| m["card"]["method_id"] == method).unwrap();
        found["metrics"]["scopes"]["main_comparison"]["query_micro"][measure].as_f64().unwrap()
    };
    for k in [1, 3, 5, 20] {
        let (recall, hsr, clean) =
            (format!("recall_at_{k}"), format!("hsr_at_{k}"), format!("cleanhit_at_{k}"));
        for method in ["bm25", "rrf", "rrf+released", "constant", "random", "id_order", "length"] {
            assert!(rate(method, &recall) <= rate("oracle", &recall));
            assert!(rate(method, &clean) <= rate("oracle", &clean));
            assert!(rate("oracle", &hsr) <= rate(method, &hsr));
            assert!(rate(method, &hsr) <= rate("anti_oracle", &hsr));
        }
        // Chance is k of 200 and more candidates; a constant score is worth no more than that.
        assert!(rate("constant", &recall) <= rate("random", &recall) + 0.1);
    }
}

#[test]
fn comparing_needs_one_information_setting() {
    let out = dir();
    ok(&[
        "-q",
        "rank",
        "-m",
        "bm25",
        "-m",
        "rrf",
        "-m",
        "rrf+text_cluster",
        "-o",
        &path(&out, "o"),
    ]);
    let of = |method: &str| path(&out, &format!("o/{method}"));
    let line = refused(&["compare", &of("bm25"), &of("rrf+text_cluster")]);
    assert!(line.contains("--across-settings"), "{line}");
    let json = ok(&["compare", "--json", &of("bm25"), &of("rrf")]);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let differences = found["blocks"][0]["methods"][0]["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 3);
    assert_eq!(differences[0]["queries"], 58);
}

#[test]
fn a_submission_is_written_checked_and_listed() {
    let out = dir();
    ok(&["-q", "rank", "-m", "tfidf_char", "-o", &path(&out, "o")]);
    let submission = path(&out, "submission");
    ok(&["submit", &path(&out, "o/tfidf_char"), "-o", &submission]);
    ok(&["check", &submission]);
    let board = ok(&["leaderboard", &submission, "-o", &path(&out, "leaderboard.tsv")]);
    assert!(board.contains("tfidf_char"), "{board}");
    ok(&["check", &path(&out, "leaderboard.tsv")]);
    // One digit of a metric.
    let metrics = out.path().join("submission/metrics.json");
    let changed = fs::read_to_string(&metrics).unwrap().replacen(
        "\"recall_at_3\": 0.",
        "\"recall_at_3\": 0.1",
        1,
    );
    fs::write(&metrics, changed).unwrap();
    let output = cleanhit(&["check", &submission]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("recall_at_3"), "{}", text(&output.stdout));
}

#[test]
fn a_broken_rank_file_is_reported_line_by_line() {
    let out = dir();
    ok(&["-q", "rank", "-m", "bm25", "-o", &path(&out, "o")]);
    let good = fs::read_to_string(out.path().join("o/bm25/top20.tsv")).unwrap();
    let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
    let nan = lines[5].rsplit_once('\t').unwrap().0.to_owned() + "\tNaN";
    lines[5] = nan;
    lines[7] = lines[6].clone();
    lines.remove(40);
    let broken = path(&out, "broken.tsv");
    fs::write(&broken, lines.join("\n")).unwrap();
    let output = cleanhit(&["check", &broken]);
    let found = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert!(found.contains("broken.tsv:6:"), "{found}");
    assert!(found.contains("broken.tsv:8:"), "{found}");
    assert!(3 <= found.lines().count(), "{found}");
    assert!(refused(&["score", &broken]).contains("broken.tsv:6:"));
}

#[test]
fn requests_that_cannot_be_carried_out_say_what_to_do() {
    let out = dir();
    let o = path(&out, "o");
    let card = path(&out, "typo.toml");
    fs::write(
        &card,
        "format = 1\nname = \"typo\"\ntitle = \"t\"\nabout = \"a\"\n[retrieve]\nkind = \"bm25_exact\"\nk2 = 1\n",
    )
    .unwrap();
    let lines = [
        refused(&["rank", "-m", "bm26", "-o", &o]),
        refused(&["rank", "-m", &card, "-o", &o]),
        refused(&["rank", "-m", "bm25", "-m", "bm25", "-o", &o]),
        refused(&["rank", "-m", "released", "-o", &o]),
        refused(&["rank", "-m", "bm25", "-b", "nowhere", "-o", &o]),
        refused(&["rank", "-m", "bm25", "-b", "./nowhere", "-o", &o]),
        refused(&["score", "./nowhere.tsv"]),
        refused(&["run", "./nowhere.toml"]),
        refused(&["check", "./nowhere"]),
    ];
    assert!(!Path::new(&o).exists(), "nothing half-written");
    let shown: Vec<String> = lines.iter().map(|l| l.replace(&path(&out, ""), "DIR/")).collect();
    insta::assert_snapshot!("refusals", shown.join("\n"));
}

#[test]
fn legal_oddities_are_one_warning() {
    let out = dir();
    let skills = out.path().join("skills.jsonl");
    let queries = out.path().join("queries.jsonl");
    let warnings = |candidates: &str, query: &str| {
        fs::write(&skills, candidates).unwrap();
        fs::write(&queries, format!("{{\"query_case_id\":\"q\",\"text\":\"{query}\"}}\n")).unwrap();
        let (bench, o) = (path(&out, "bench"), path(&out, "o"));
        let import = [
            "-q",
            "import",
            "skills",
            skills.to_str().unwrap(),
            "--queries",
            queries.to_str().unwrap(),
            "-o",
            &bench,
        ];
        ok(&import);
        let output = cleanhit(&["-q", "rank", "-m", "bm25", "-b", &bench, "-o", &o]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let two = "{\"id\":\"a\",\"name\":\"x\",\"body\":\"one two\"}\n{\"id\":\"b\",\"name\":\"y\",\"body\":\"three\"}\n";
    let of_one = warnings("{\"id\":\"a\",\"name\":\"x\",\"body\":\"one\"}\n", "one");
    let unmatched = warnings(two, "zebra");
    assert_eq!((of_one.len(), unmatched.len()), (1, 1), "{of_one:?} {unmatched:?}");
    assert!(
        of_one[0].contains("one candidate") && unmatched[0].contains("no word of the pool"),
        "{of_one:?} {unmatched:?}"
    );
    assert!(warnings(two, "three").is_empty());
}

#[test]
fn a_folder_of_skills_becomes_a_pool() {
    let out = dir();
    let skill = |name: &str, bytes: &[u8]| {
        let dir = out.path().join("skills").join(name);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("SKILL.md"), bytes).unwrap();
    };
    skill("plain", b"---\nname: plain\ndescription: A skill.\n---\n# Body\n");
    skill("marked", b"\xef\xbb\xbf---\r\nname: marked\r\ndescription: d\r\n---\r\nText\r\n");
    skill("broken", b"---\nname: broken: yes\ndescription: [\n---\nText\n");
    skill("latin", b"---\nname: latin\n---\n\xe9\n");
    let pool = path(&out, "pool.jsonl");
    let summary = ok(&["pool", "build", &path(&out, "skills"), "-o", &pool]);
    assert!(summary.starts_with("3 skills read, 1 file refused"), "{summary}");
    assert!(summary.contains("not_utf8") && summary.contains("invalid_yaml"), "{summary}");
    assert_eq!(fs::read_to_string(&pool).unwrap().lines().count(), 3);
    let strict = refused(&[
        "pool",
        "build",
        "--strict",
        &path(&out, "skills"),
        "-o",
        &path(&out, "no.jsonl"),
    ]);
    assert!(strict.contains("SKILL.md"), "{strict}");
    assert!(!out.path().join("no.jsonl").exists());
    let again = path(&out, "again.jsonl");
    ok(&["pool", "build", &pool, "--template", "text", "-o", &again]);
}

#[test]
fn plain_measures_are_those_of_trec_eval() {
    let folder = shared::folder().join("golden/ir/c1_graded");
    if shared::read("golden/ir/c1_graded/run.trec").is_none() {
        return;
    }
    let file = |name: &str| folder.join(name).display().to_string();
    let json = ok(&[
        "score",
        &file("run.trec"),
        "--qrels",
        &file("qrels.trec"),
        "-M",
        "nDCG@10,AP,R@5",
        "--json",
    ]);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let value = |name: &str| found["runs"][0]["measures"][name]["value"].as_f64().unwrap();
    assert!((value("nDCG@10") - 0.302_983_817_461_869_3).abs() < 1e-12);
    assert!((value("AP") - 0.352_181_408_129_44).abs() < 1e-12);
    assert!((value("R@5") - 0.25).abs() < 1e-12);
}

#[test]
fn help_has_examples_and_completions_print() {
    for command in ["run", "rank", "score", "compare", "explain", "submit", "leaderboard", "check"]
    {
        let help = ok(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{command}: {help}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(ok(&["completions", shell]).contains("cleanhit"));
    }
    assert_eq!(cleanhit(&["--nonsense"]).status.code(), Some(2));
}

#[test]
fn the_bundled_benchmark_passes_its_gate() {
    let report = ok(&["bench", "check"]);
    assert!(report.contains("checks passed"), "{report}");
    assert!(!report.contains("FAIL"), "{report}");
}

#[test]
fn a_new_benchmark_starts_from_a_skeleton() {
    let out = dir();
    let bench = path(&out, "mine");
    ok(&["-q", "bench", "new", &bench, "--type", "computation_rule", "--id", "my-unit"]);
    assert!(out.path().join("mine/units/my-unit.toml").is_file());
    assert!(out.path().join("mine/authoring.toml").is_file());
    let output = cleanhit(&["bench", "check", &bench]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let line = refused(&["bench", "new", &bench, "--type", "computation", "--id", "x"]);
    assert!(line.contains("computation_rule"), "{line}");
}
