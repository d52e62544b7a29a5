//! What commands write, and what they never write over.

use std::{fs, path::Path};

use crate::cli::{cleanhit, dir, ok, path, refused, text};

#[test]
fn no_command_writes_over_what_it_reads() {
    let out = dir();
    ok(&["-q", "rank", "-m", "bm25", "-o", &path(&out, "o")]);
    let ranks = path(&out, "o/bm25/top20.tsv");
    let before = fs::read(&ranks).unwrap();
    let hard = path(&out, "hard");
    fs::hard_link(&ranks, &hard).unwrap();
    for output in [&ranks, &hard, &path(&out, "o/bm25/../bm25/receipt.json")] {
        let line = refused(&["export", "trec", &path(&out, "o/bm25"), "-o", output]);
        assert!(line.contains("would replace the input"), "{line}");
    }
    assert!(before == fs::read(&ranks).unwrap());
    // A pool of itself, a run over itself.
    let skills = path(&out, "skills.jsonl");
    fs::write(&skills, "{\"id\":\"a\",\"name\":\"x\",\"body\":\"one\"}\n").unwrap();
    assert!(refused(&["pool", "build", &skills, "-o", &skills]).contains("would replace"));
    let run = path(&out, "x.run");
    ok(&["-q", "export", "trec", &ranks, "-o", &run]);
    assert!(refused(&["import", "trec", &run, "-o", &run]).contains("would replace"));
    let receipt = path(&out, "o/bm25/receipt.json");
    let board = refused(&["leaderboard", &path(&out, "o/bm25"), "-o", &receipt]);
    assert!(board.contains("would replace"), "{board}");
    let line = refused(&["pool", "build", &skills, "-o", &path(&out, "SKILL.md")]);
    assert!(line.contains("is a skill's name"), "{line}");
}

#[test]
fn an_imported_collection_stays_as_it_is() {
    let out = dir();
    let beir = out.path().join("beir");
    fs::create_dir_all(beir.join("qrels")).unwrap();
    let corpus = "{\"_id\":\"d\",\"title\":\"t\",\"text\":\"x\"}\n";
    fs::write(beir.join("corpus.jsonl"), corpus).unwrap();
    fs::write(beir.join("queries.jsonl"), "{\"_id\":\"q\",\"text\":\"x\"}\n").unwrap();
    fs::write(beir.join("qrels/test.tsv"), "q\td\t1\n").unwrap();
    let beir = path(&out, "beir");
    let line = refused(&["import", "beir", &beir, "-o", &beir]);
    assert!(line.contains("corpus.jsonl: would replace the input"), "{line}");
    assert_eq!(fs::read_to_string(out.path().join("beir/corpus.jsonl")).unwrap(), corpus);
    assert!(!out.path().join("beir/test.qrels").exists(), "nothing half-written");
    ok(&["-q", "import", "beir", &beir, "-o", &path(&out, "bench")]);
    // An id that TREC files can't hold is named with its file.
    fs::write(out.path().join("beir/qrels/test.tsv"), "q\td d\t1\n").unwrap();
    let line = refused(&["import", "beir", &beir, "-o", &path(&out, "other")]);
    assert!(line.contains("qrels/test.tsv: id `d d` is not one word"), "{line}");
    let agents = path(&out, "agents.json");
    fs::write(
        &agents,
        "{\"results\":[{\"instance_id\":\"a b\",\"retrieved\":[{\"skill_id\":\"s\"}]}]}",
    )
    .unwrap();
    let line = refused(&["import", "sr-agents", &agents, "-o", &path(&out, "agents")]);
    assert!(line.contains("agents.json: id `a b` is not one word"), "{line}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_replaced() {
    let out = dir();
    // A link would be replaced, and what it led to left as it was.
    let kept = path(&out, "kept");
    fs::write(&kept, "kept").unwrap();
    for (name, target) in [("device", "/dev/null"), ("nowhere", "none"), ("link", &kept)] {
        let link = path(&out, name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        let line = refused(&["export", "qrels", "-o", &link]);
        assert!(line.contains(&format!("is a link to `{target}`; expected a file")), "{line}");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    let fifo = path(&out, "fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(refused(&["export", "qrels", "-o", &fifo]).contains("is not a regular file"));
    assert!(refused(&["export", "qrels", "-o", &path(&out, "")]).contains("is a folder"));
}

#[test]
fn a_results_folder_has_one_writer_at_a_time() {
    let out = dir();
    let o = path(&out, "o");
    let run = ["-q", "rank", "-m", "tfidf_word", "-o", &o];
    ok(&run);
    let lock = out.path().join("o/.cleanhit.lock");
    assert!(!lock.exists(), "nothing is left of the lock");
    let held = fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    let line = refused(&run);
    assert!(line.contains("o: another run is writing here; expected its end"), "{line}");
    ok(&["check", &o]);
    drop(held);
    ok(&run);
    assert!(!lock.exists());
    // A run that is refused leaves no folder behind.
    let line = refused(&["rank", "-m", "oracle", "-o", &path(&out, "new/deep")]);
    assert!(line.contains("made of labels"), "{line}");
    assert!(!out.path().join("new").exists());
}

#[cfg(unix)]
#[test]
fn devices_are_no_inputs_and_empty_ones_are_refused() {
    let out = dir();
    for device in ["/dev/null", "/dev/zero"] {
        let line = refused(&["score", device]);
        assert!(line.contains(&format!("{device}: is a device; expected a file")), "{line}");
    }
    let skills = path(&out, "skills.jsonl");
    fs::write(&skills, "{\"id\":\"a\",\"name\":\"x\",\"body\":\"one\"}\n").unwrap();
    let queries = path(&out, "queries.jsonl");
    fs::write(&queries, "").unwrap();
    let o = path(&out, "b");
    let line = refused(&["import", "skills", &skills, "--queries", &queries, "-o", &o]);
    assert!(line.contains("queries.jsonl: holds no query; expected at least one"), "{line}");
    ok(&["-q", "rank", "-m", "bm25", "-o", &path(&out, "o")]);
    let line = refused(&["compare", &path(&out, "o/bm25"), &path(&out, "o/bm25/top20.tsv")]);
    assert!(line.contains("top20.tsv: is asked for twice"), "{line}");
    let line = refused(&["score", &skills, "--qrels", &queries, "-k", "3"]);
    assert!(line.contains("`-k` is for a benchmark's cases"), "{line}");
}

fn experiment(out: &tempfile::TempDir, edits: &[(&str, &str)]) -> String {
    let file = path(out, "experiment.toml");
    ok(&["-q", "init", &file, "--force"]);
    let text = fs::read_to_string(&file).unwrap();
    let start = text.find("methods = [").unwrap();
    let end = start + text[start..].find(']').unwrap() + 1;
    let mut text = text.replace(&text[start..end], "methods = [\"bm25_exact\", \"tfidf_word\"]");
    for (from, to) in edits {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, to);
    }
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_second_run_with_fewer_methods_keeps_the_first_and_says_so() {
    let out = dir();
    let both = experiment(&out, &[]);
    let o = path(&out, "o");
    ok(&["-q", "run", &both, "-o", &o]);
    let one = experiment(&out, &[(", \"tfidf_word\"", "")]);
    let output = cleanhit(&["-q", "run", &one, "-o", &o]);
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("not on this leaderboard: tfidf_word"), "{stderr}");
    assert!(out.path().join("o/samecap-mini/tfidf_word/receipt.json").is_file());
    let checked = cleanhit(&["check", &path(&out, "o/samecap-mini")]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    assert!(text(&checked.stderr).contains("does not list method `tfidf_word`"));
    // A row that the experiment asks for is missed.
    let board = out.path().join("o/samecap-mini/leaderboard.tsv");
    let rows = fs::read_to_string(&board).unwrap();
    fs::write(&board, rows.lines().next().unwrap().to_owned() + "\n").unwrap();
    let checked = cleanhit(&["check", &path(&out, "o/samecap-mini")]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("does not list method `bm25_exact`"));
}

#[test]
fn results_of_another_depth_hold_up_too() {
    let out = dir();
    let deep = experiment(&out, &[("depth = 20", "depth = 50")]);
    ok(&["-q", "run", &deep, "-o", &path(&out, "o")]);
    let results = path(&out, "o/samecap-mini");
    let checked = ok(&["check", &results]);
    assert!(checked.contains("leaderboard.tsv: follows from the folders"), "{checked}");
    ok(&["-q", "leaderboard", &results, "-o", &path(&out, "board.tsv")]);
    let boards = [path(&out, "board.tsv"), path(&out, "o/samecap-mini/leaderboard.tsv")];
    assert_eq!(fs::read(&boards[0]).unwrap(), fs::read(&boards[1]).unwrap());
    // An experiment that lies where its copy would go is left as its author wrote it.
    let copy = path(&out, "o/samecap-mini/experiment.toml");
    let noted = format!("# mine\n{}", fs::read_to_string(&copy).unwrap());
    fs::write(&copy, &noted).unwrap();
    ok(&["-q", "run", &copy, "-o", &path(&out, "o")]);
    assert_eq!(fs::read_to_string(&copy).unwrap(), noted);
}

#[test]
fn a_refused_submission_leaves_nothing_behind() {
    let out = dir();
    ok(&["-q", "rank", "-m", "tfidf_word", "-o", &path(&out, "o")]);
    let receipt = out.path().join("o/tfidf_word/receipt.json");
    let good = fs::read_to_string(&receipt).unwrap();
    let at = good.find("ranks_sha256").unwrap();
    fs::write(&receipt, good[..at].to_owned() + &good[at..].replacen(": \"", ": \"00", 1)).unwrap();
    let (folder, submission) = (path(&out, "o/tfidf_word"), path(&out, "s/new"));
    let line = refused(&["submit", &folder, "-o", &submission]);
    assert!(line.contains("s/new/receipt.json: field `ranks_sha256`"), "{line}");
    assert_eq!(fs::read_dir(out.path().join("s")).unwrap().count(), 0);
    fs::write(&receipt, good).unwrap();
    let card = out.path().join("o/tfidf_word/method_card.json");
    let named = fs::read_to_string(&card).unwrap();
    let title = "\"method_name\": \"";
    fs::write(&card, named.replace(title, &format!("{title}\\u001b[31m"))).unwrap();
    let line = refused(&["submit", &folder, "-o", &submission]);
    assert!(line.contains("field `method_name`: is `\\u{1b}[31m"), "{line}");
    assert!(!Path::new(&submission).exists());
    fs::write(&card, named).unwrap();
    // The ids of a rank file are names of folders and columns of tables.
    let ranks = fs::read_to_string(out.path().join("o/tfidf_word/top20.tsv")).unwrap();
    let hostile = path(&out, "hostile.tsv");
    fs::write(&hostile, ranks.replace("\ntfidf_word\t", "\n../up\t")).unwrap();
    let declared = path(&out, "card.toml");
    fs::write(&declared, DECLARATION).unwrap();
    let line = refused(&["submit", &hostile, "--card", &declared, "-o", &submission]);
    assert!(line.contains("field `method_id`: is `../up`"), "{line}");
    fs::create_dir_all(&submission).unwrap();
    ok(&["-q", "submit", &folder, "-o", &submission]);
    ok(&["check", &submission]);
}

const DECLARATION: &str = "method_name = \"x\"\ninformation_setting = \"public_text_only\"\n\
    code_url = \"x\"\ncode_commit = \"x\"\ncheckpoint = \"x\"\ntraining_data = \"x\"\n\
    development_use = \"x\"\npreprocessing = \"x\"\ncompute = \"x\"\n";
