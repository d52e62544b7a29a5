//! Rerankers that ask a language model, end to end, over the packaged one where it is there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const MODEL: &str = "smollm2-135m-instruct";

/// Folders of their own for cards, vectors and answers.
struct Home {
    dir: tempfile::TempDir,
    models: PathBuf,
}

impl Home {
    /// None, with a reason, where the model is not there.
    fn new() -> Option<Home> {
        let cache = |home| PathBuf::from(home).join(".cache/cleanhit-models");
        let named = std::env::var_os("CLEANHIT_MODELS").map(PathBuf::from);
        let models = named.or_else(|| std::env::var_os("HOME").map(cache))?;
        if !models.join(MODEL).is_dir() {
            println!("skipped: no {MODEL} in $CLEANHIT_MODELS; `bench/weights.sh` gets it");
            return None;
        }
        Some(Home { dir: tempfile::tempdir().unwrap(), models })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes `NAME.toml`: BM25, then what the bundled card reranks by, with less of each text.
    fn card(&self, name: &str, bundled: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(bundled);
        let text = fs::read_to_string(file).unwrap();
        let start = text.find("[rerank]").unwrap();
        let end = text.find("[declare]").unwrap();
        let rerank = text[start..end]
            .replace("max_document_tokens = 256", "max_document_tokens = 40")
            .replace("top = 5", "top = 3");
        assert!(rerank.contains("= 40") && rerank.contains("top = 3"), "{rerank}");
        let head = format!(
            "format = 1\nname = \"{name}\"\ntitle = \"{name}\"\nabout = \"A test.\"\n\n[retrieve]\nkind = \"bm25\"\n\n"
        );
        fs::write(self.path(&format!("{name}.toml")), head + &rerank).unwrap();
    }

    fn command(&self, args: &[&str], answers: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cleanhit"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("CLEANHIT_MODELS", &self.models)
            .env("CLEANHIT_CACHE", self.path(answers).join("vectors"))
            .env("HF_HUB_OFFLINE", "1");
        command
    }

    fn ok(&self, args: &[&str], answers: &str) -> String {
        let output = self.command(args, answers).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The lines of the one journal there is; none before it is there.
    fn journal(&self, answers: &str) -> Vec<String> {
        let Ok(mut folders) = fs::read_dir(self.path(answers).join("answers")) else {
            return Vec::new();
        };
        let Some(folder) = folders.next() else { return Vec::new() };
        let text = fs::read_to_string(folder.unwrap().path().join("answers.jsonl"));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

fn receipt(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn yes_or_no_is_asked_once_and_counted() {
    let Some(home) = Home::new() else { return };
    home.card("judge", "smollm2-yes-no.toml");
    let rank = ["-q", "rank", "-m", "./judge.toml", "--queries", "3", "-o"];
    home.ok(&[&rank[..], &["cold", "--threads", "1"]].concat(), "a");
    assert_eq!(home.journal("a").len(), 9, "three candidates of three queries");
    let before = home.journal("a");
    home.ok(&[&rank[..], &["warm", "--threads", "4"]].concat(), "a");
    assert_eq!(home.journal("a"), before, "nothing is asked again");
    home.ok(&[&rank[..], &["again", "--threads", "4"]].concat(), "b");
    for file in ["judge/top20.tsv", "judge/receipt.json"] {
        let cold = home.read(&format!("cold/{file}"));
        assert_eq!(cold, home.read(&format!("warm/{file}")), "warm: {file}");
        assert_eq!(cold, home.read(&format!("again/{file}")), "on four threads: {file}");
    }
    let receipt = receipt(&home.read("cold/judge/receipt.json"));
    let counts = &receipt["counts"]["single"];
    assert_eq!(receipt["repeatability"], "device");
    assert_eq!(counts["models"][MODEL]["device"], "cpu");
    let pairs = &counts["truncation"][0]["pairs"];
    assert_eq!((&pairs["texts"], &pairs["cut"]), (&9.into(), &9.into()), "40 tokens are few");
    let checked = home.ok(&["check", "cold/judge"], "a");
    assert!(checked.contains("byte for byte"), "{checked}");
    let stat = home.ok(&["cache", "stat"], "a");
    assert!(stat.contains(MODEL) && stat.contains("9 answers"), "{stat}");
    let stat = home.ok(&["cache", "gc", "--unused", "0", "--json"], "a");
    assert!(stat.contains("\"removed_journals\": 1"), "{stat}");
    assert!(home.journal("a").is_empty());
}

#[test]
fn an_order_is_asked_for_and_its_repairs_are_counted() {
    let Some(home) = Home::new() else { return };
    home.card("list", "smollm2-listwise.toml");
    home.card("list-sr", "smollm2-listwise-sr.toml");
    let rank = ["-q", "rank", "-m", "./list.toml", "-m", "./list-sr.toml", "--queries", "3", "-o"];
    home.ok(&[&rank[..], &["one"]].concat(), "a");
    home.ok(&[&rank[..], &["two", "--threads", "4"]].concat(), "b");
    for method in ["list", "list-sr"] {
        for file in ["top20.tsv", "receipt.json"] {
            let file = format!("{method}/{file}");
            assert_eq!(home.read(&format!("one/{file}")), home.read(&format!("two/{file}")));
        }
        let receipt = receipt(&home.read(&format!("one/{method}/receipt.json")));
        let counts = &receipt["counts"]["single"];
        let list = &counts["listwise"];
        let get = |field: &str| list[field].as_u64().unwrap();
        assert_eq!(get("windows"), 3, "{list}");
        assert_eq!(get("replies"), 3 + get("retries"), "{list}");
        assert!(0 < get("prompt_tokens") && 0 < get("reply_tokens"), "{list}");
        assert_eq!(counts["truncation"][0]["pairs"]["texts"], 9);
        assert_eq!(counts["truncation"][0]["queries"]["texts"], 3);
        let rows = home.read(&format!("one/{method}/top20.tsv"));
        assert_eq!(rows.lines().count(), 1 + 3 * 20);
    }
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let Some(home) = Home::new() else { return };
    home.card("list", "smollm2-listwise.toml");
    let rank = ["-q", "rank", "-m", "./list.toml", "--queries", "5", "--threads", "1", "-o"];
    home.ok(&[&rank[..], &["whole"]].concat(), "a");
    let all = home.journal("a");
    let mut killed = home
        .command(&[&rank[..], &["killed"]].concat(), "b")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while home.journal("b").len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing was answered");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let kept = home.journal("b");
    assert!(kept.len() < all.len(), "it was killed in the middle");
    assert!(!home.path("killed").join("list").exists(), "nothing half-written");
    home.ok(&[&rank[..], &["killed"]].concat(), "b");
    let end = home.journal("b");
    assert_eq!(end[..kept.len() - 1], kept[..kept.len() - 1], "what was answered stays");
    let sorted = |mut lines: Vec<String>| {
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(end), sorted(all), "each question once");
    for file in ["list/top20.tsv", "list/receipt.json"] {
        let whole = home.read(&format!("whole/{file}"));
        assert_eq!(whole, home.read(&format!("killed/{file}")), "{file}");
    }
}
