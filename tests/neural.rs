//! The neural kinds, end to end, over tiny models with the layout of real ones.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Folders of their own for models, vectors and the hub, and no network.
pub(crate) struct Home {
    dir: tempfile::TempDir,
}

const ENCODER: &str = r#"
[retrieve.encoder]
architecture = "bert"
pooling = "mean"
padding_side = "right"
max_tokens = 100
query_prefix = "query: "
document_prefix = "passage: "
prompts = "same"
normalise = true
dtype = "f32"

[retrieve.text]
document = "text"
"#;

const CROSS: &str = r#"
[rerank]
top = 20

[rerank.scorer]
kind = "cross_encoder"

[rerank.scorer.model]
folder = "tiny-bert-cross"
repository = "nobody/tiny-bert-cross"
revision = "main"

[rerank.scorer.model.sha256]

[rerank.scorer.encoder]
architecture = "bert"
max_tokens = 64
max_query_tokens = 40
dtype = "f32"

[rerank.scorer.text]
document = "fields"
body_characters = 2000
"#;

fn model(folder: &str, sha256: &str) -> String {
    format!(
        "[retrieve.model]\nfolder = \"{folder}\"\nrepository = \"nobody/{folder}\"\nrevision = \"main\"\n\n[retrieve.model.sha256]\n{sha256}\n"
    )
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &to),
            false => assert!(0 < fs::copy(&path, &to).unwrap()),
        }
    }
}

impl Home {
    pub(crate) fn new() -> Home {
        let home = Home { dir: tempfile::tempdir().unwrap() };
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/neural/tests/golden");
        for name in ["tiny-bert", "tiny-bert-cross"] {
            copy(&golden.join(name), &home.path("models").join(name));
        }
        home.dense("tiny", "tiny-bert", "");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a card; `-m ./NAME.toml` names it.
    fn card(&self, name: &str, tables: &str) {
        let head =
            format!("format = 1\nname = \"{name}\"\ntitle = \"{name}\"\nabout = \"A test.\"\n\n");
        fs::write(self.path(&format!("{name}.toml")), head + tables).unwrap();
    }

    fn dense(&self, name: &str, folder: &str, sha256: &str) {
        let head = "[retrieve]\nkind = \"dense\"\nsimilarity = \"cosine\"\n\n";
        self.card(name, &format!("{head}{}{ENCODER}", model(folder, sha256)));
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cleanhit"))
            .args(args)
            .current_dir(self.dir.path())
            .env("CLEANHIT_MODELS", self.path("models"))
            .env("CLEANHIT_CACHE", self.path("vectors"))
            .env("HF_HOME", self.path("hf"))
            .env("HF_HUB_OFFLINE", "1")
            .env_remove("HF_HUB_CACHE")
            .output()
            .unwrap()
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
        stderr.trim().to_owned()
    }

    fn receipt(&self, folder: &str) -> serde_json::Value {
        let text = fs::read_to_string(self.path(folder).join("receipt.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

#[test]
fn dense_ranks_the_same_cold_warm_and_on_any_threads() {
    let home = Home::new();
    home.ok(&["-q", "rank", "-m", "./tiny.toml", "-o", "cold", "--threads", "1"]);
    let kept = home.ok(&["cache", "stat", "--json"]);
    let stat: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let spaces = stat["spaces"].as_array().unwrap();
    let vectors = |role: &str| {
        let of_role = spaces.iter().filter(|s| s["role"] == role && s["dim"] == 40);
        of_role.map(|s| s["vectors"].as_u64().unwrap()).sum::<u64>()
    };
    // The pools share most of their candidates.
    assert!(240 <= vectors("document") && vectors("document") < 440, "{kept}");
    assert!(58 <= vectors("query"), "{kept}");
    home.ok(&["-q", "rank", "-m", "./tiny.toml", "-o", "warm", "--threads", "8"]);
    for file in ["top20.tsv", "receipt.json", "method_card.json"] {
        let read = |out: &str| fs::read(home.path(out).join("tiny").join(file)).unwrap();
        assert!(read("cold") == read("warm"), "{file}");
    }
    let receipt = home.receipt("cold/tiny");
    assert_eq!(receipt["repeatability"], "device");
    let counts = &receipt["counts"]["single"];
    assert_eq!(counts["models"]["tiny-bert"]["digest"].as_str().unwrap().len(), 64);
    assert_eq!(counts["models"]["tiny-bert"]["device"], "cpu");
    let seen = &counts["truncation"][0];
    assert_eq!(seen["documents"]["texts"], 240);
    assert!(0 < seen["documents"]["cut"].as_u64().unwrap(), "100 tokens are few: {seen}");
    assert!(0 < seen["queries"]["tokens"].as_u64().unwrap());
    // Nothing is embedded again after the cache is tidied.
    home.ok(&["cache", "gc"]);
    assert_eq!(
        kept.matches("vectors").count(),
        home.ok(&["cache", "stat", "--json"]).matches("vectors").count()
    );
}

#[test]
fn graphs_calibration_clusters_fusion_and_rerankers_run_over_a_card() {
    let home = Home::new();
    home.card("graph", "[retrieve]\nkind = \"hnsw\"\nencoder = \"./tiny.toml\"\nneighbours = 16\nbuild_width = 200\nsearch_width = 240\n");
    home.card(
        "sight",
        "[retrieve]\nkind = \"skillsight\"\nencoder = \"./tiny.toml\"\nbeta = 1.0\ntop = 300\n",
    );
    home.card("mixed", "[retrieve]\nkind = \"rrf\"\nparts = [\"bm25_exact\", \"./tiny.toml\"]\nc = 60.0\nweights = [1.0, 1.0]\n");
    home.card("alike", "[select]\nkind = \"embedding_cluster\"\nencoder = \"./tiny.toml\"\nscope = \"pool\"\nthreshold = 0.99\n");
    home.card("pairs", &format!("[retrieve]\nkind = \"bm25\"\n{CROSS}"));
    home.ok(&[
        "-q",
        "rank",
        "-m",
        "./graph.toml",
        "-m",
        "./sight.toml",
        "-m",
        "./mixed.toml",
        "-m",
        "./pairs.toml",
        "-m",
        "./tiny.toml",
        "-o",
        "out",
    ]);
    let graph = &home.receipt("out/graph")["counts"]["single"]["graph"];
    assert_eq!((&graph["at"], &graph["found"]), (&20.into(), &graph["of"]), "240 of 240 are seen");
    let calibration = &home.receipt("out/sight")["counts"]["paired"]["calibration"];
    assert!(0 < calibration["directions"].as_u64().unwrap(), "{calibration}");
    assert!(home.receipt("out/mixed")["counts"]["single"]["models"]["tiny-bert"].is_object());
    let pairs = home.receipt("out/pairs")["counts"]["single"]["truncation"][0]["pairs"].clone();
    assert!(pairs["texts"].as_u64().is_some_and(|n| 0 < n && n.is_multiple_of(20)), "{pairs}");
    // A graph that sees every candidate gives the exact order.
    let order = |method: &str| {
        let text = fs::read_to_string(home.path("out").join(method).join("top20.tsv")).unwrap();
        let rows = text
            .lines()
            .skip(1)
            .map(|row| row.split('\t').skip(1).take(4).collect::<Vec<_>>().join(" "));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(order("graph"), order("tiny"));
    assert_ne!(order("sight"), order("tiny"));
    home.card("chosen", &fs::read_to_string(home.path("tiny.toml")).unwrap().split_once("A test.\"").unwrap().1.to_owned().replace("[retrieve.text]\ndocument = \"text\"\n", "[retrieve.text]\ndocument = \"text\"\n\n[select]\nkind = \"embedding_cluster\"\nencoder = \"./tiny.toml\"\nscope = \"pool\"\nthreshold = 0.99\n"));
    home.ok(&["-q", "rank", "-m", "./chosen.toml", "-o", "out"]);
    assert_eq!(home.receipt("out/chosen")["information_setting"], "public_text_cluster");
}

#[test]
fn what_is_not_reranked_follows_where_the_card_says_so() {
    let home = Home::new();
    let rest = |rest: &str| CROSS.replacen("top = 20\n", &format!("top = 5\n{rest}"), 1);
    home.card("first", "[retrieve]\nkind = \"bm25\"\n");
    home.card("head", &format!("[retrieve]\nkind = \"bm25\"\n{}", rest("rest = \"follow\"\n")));
    home.ok(&["-q", "rank", "-m", "./first.toml", "-m", "./head.toml", "-o", "out"]);
    let rows = |method: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(home.path("out").join(method).join("top20.tsv")).unwrap();
        text.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
    };
    let (first, head) = (rows("first"), rows("head"));
    let mut moved = 0;
    for (first, head) in first.chunks(20).zip(head.chunks(20)) {
        let ids = |rows: &[Vec<String>]| rows.iter().map(|row| row[4].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&first[5..]), ids(&head[5..]), "the others keep their order");
        let sorted = |rows: &[Vec<String>]| {
            let mut ids = ids(rows);
            ids.sort_unstable();
            ids
        };
        assert_eq!(sorted(&first[..5]), sorted(&head[..5]));
        moved += usize::from(ids(&first[..5]) != ids(&head[..5]));
        let scores: Vec<f64> = head.iter().map(|row| row[5].parse().unwrap()).collect();
        assert!(scores[4..].windows(2).all(|pair| pair[1] < pair[0]), "{scores:?}");
    }
    assert!(0 < moved, "a reranker that moves nobody tests nothing");
    let pairs = &home.receipt("out/head")["counts"]["single"]["truncation"][0]["pairs"];
    assert!(pairs["texts"].as_u64().is_some_and(|n| n.is_multiple_of(5)), "{pairs}");
    home.card("short", &format!("[retrieve]\nkind = \"bm25\"\n{}", rest("")));
    let line = home.refused(&["rank", "-m", "./short.toml", "-o", "out"]);
    assert!(line.contains("field `rerank.top`: 5; expected at least the depth, 20"), "{line}");
    let both =
        CROSS.replace("[rerank.scorer]", "[rerank.reranker]\nkind = \"x\"\n\n[rerank.scorer]");
    home.card("both", &format!("[retrieve]\nkind = \"bm25\"\n{both}"));
    let line = home.refused(&["rank", "-m", "./both.toml", "-o", "out"]);
    assert!(
        line.contains("expected either a `[rerank.scorer]` or a `[rerank.reranker]`"),
        "{line}"
    );
    home.card(
        "other",
        "[retrieve]\nkind = \"bm25\"\n\n[rerank]\ntop = 20\n\n[rerank.reranker]\nkind = \"x\"\n",
    );
    let line = home.refused(&["rank", "-m", "./other.toml", "-o", "out"]);
    assert!(line.contains("unknown reranker `x`; known: listwise"), "{line}");
}

#[test]
fn missing_and_wrong_weights_are_one_line() {
    let home = Home::new();
    let line = home.refused(&["rank", "-m", "all-minilm-l6-v2", "-o", "out"]);
    assert!(line.contains("no weights in") && line.contains("HF_HUB_OFFLINE is set"), "{line}");
    assert!(line.contains("run `cleanhit models fetch` with the card"), "{line}");
    home.dense("wrong", "tiny-bert", &format!("\"model.safetensors\" = \"{}\"", "0".repeat(64)));
    let line = home.refused(&["rank", "-m", "./wrong.toml", "-o", "out"]);
    assert!(
        line.contains("model.safetensors: sha256 is") && line.ends_with(&"0".repeat(64)),
        "{line}"
    );
    let weights = home.path("models/tiny-bert/model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() - 100]).unwrap();
    let line = home.refused(&["rank", "-m", "./tiny.toml", "-o", "out"]);
    assert!(line.contains("model.safetensors"), "{line}");
    assert!(!home.path("out").exists(), "nothing half-written");
    fs::remove_file(&weights).unwrap();
    let line = home.refused(&["models", "fetch", "./tiny.toml"]);
    assert!(line.contains("HF_HUB_OFFLINE is set"), "{line}");
    let line = home.refused(&["models", "fetch", "bm25"]);
    assert!(line.contains("`bm25` has no weights"), "{line}");
}

#[test]
fn cards_that_contradict_themselves_or_the_model_are_refused() {
    let home = Home::new();
    let whole = fs::read_to_string(home.path("tiny.toml")).unwrap();
    let mut n = 0;
    let mut refuse = |from: &str, to: &str, expected: &str| {
        n += 1;
        let name = format!("bad{n}");
        let text = whole.replacen("name = \"tiny\"", &format!("name = \"{name}\""), 1);
        assert!(text.contains(from), "{from}");
        fs::write(home.path(&format!("{name}.toml")), text.replacen(from, to, 1)).unwrap();
        let line = home.refused(&["rank", "-m", &format!("./{name}.toml"), "-o", "out"]);
        assert!(line.contains(expected), "{line}; expected {expected}");
    };
    refuse("pooling = \"mean\"", "pooling = \"cls\"", "pooling");
    refuse("pooling = \"mean\"", "", "missing field `pooling`");
    refuse("pooling = \"mean\"", "pooling = \"both\"", "unknown variant `both`");
    refuse("query: ", "ask: ", "query prompt");
    refuse("similarity = \"cosine\"", "similarity = \"cosine\"\nmore = 1", "unknown field `more`");
    refuse("folder = \"tiny-bert\"", "folder = \"../tiny-bert\"", "field `model.folder`");
    refuse(
        "repository = \"nobody/tiny-bert\"",
        "repository = \"tiny-bert\"",
        "expected `owner/name`",
    );
    refuse(
        "document = \"text\"",
        "document = \"text\"\nbody_characters = 5",
        "field `body_characters`",
    );
    home.card(
        "far",
        "[retrieve]\nkind = \"skillsight\"\nencoder = \"bm25\"\nbeta = 1.0\ntop = 300\n",
    );
    let line = home.refused(&["rank", "-m", "./far.toml", "-o", "out"]);
    assert!(line.contains("`bm25` is no embedder"), "{line}");
    home.card("narrow", "[retrieve]\nkind = \"hnsw\"\nencoder = \"./tiny.toml\"\nneighbours = 1\nbuild_width = 2\nsearch_width = 2\n");
    let line = home.refused(&["rank", "-m", "./narrow.toml", "-o", "out"]);
    assert!(line.contains("field `neighbours`: 1"), "{line}");
}

#[test]
fn devices_that_are_not_there_are_refused_before_anything_else() {
    let home = Home::new();
    let line = home.refused(&["rank", "-m", "bm25", "-o", "out", "--device", "tpu"]);
    assert!(line.contains("device `tpu` is unknown"), "{line}");
    if !cfg!(feature = "cuda") {
        let line = home.refused(&["--device", "cuda:0", "rank", "-m", "./tiny.toml", "-o", "out"]);
        assert!(line.contains("lacks the feature `cuda`"), "{line}");
    }
}

#[test]
fn embed_writes_the_references_vectors_as_a_numpy_array() {
    let home = Home::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/neural/tests/golden");
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(golden.join(name)).unwrap()).unwrap()
    };
    let (texts, expected) = (read("texts.json"), read("tiny-bert.json"));
    let texts: Vec<&str> =
        texts["some"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
    let lines: Vec<String> =
        texts.iter().map(|text| serde_json::json!({ "text": text }).to_string()).collect();
    fs::write(home.path("texts.jsonl"), lines.join("\n")).unwrap();
    for role in ["query", "document"] {
        home.ok(&[
            "-q",
            "embed",
            "-m",
            "./tiny.toml",
            "--texts",
            "texts.jsonl",
            "-o",
            "out.npy",
            "--role",
            role,
        ]);
        let bytes = fs::read(home.path("out.npy")).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..start]).into_owned();
        assert!(header.contains(&format!("'shape': ({}, 40)", texts.len())), "{header}");
        let values: Vec<f32> = bytes[start..]
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
            .collect();
        let rows = expected[role]["vectors"].as_array().unwrap();
        let rows = rows.iter().flat_map(|row| row.as_array().unwrap()).map(|x| x.as_f64().unwrap());
        for (i, (got, expected)) in values.iter().zip(rows).enumerate() {
            assert!((f64::from(*got) - expected).abs() < 1e-4, "{role} {i}: {got} {expected}");
        }
    }
    fs::write(home.path("bad.jsonl"), "{\"text\": \"a\"}\n{\"txt\": 1}\n").unwrap();
    let line =
        home.refused(&["embed", "-m", "./tiny.toml", "--texts", "bad.jsonl", "-o", "bad.npy"]);
    assert!(line.contains("bad.jsonl:2: unknown field `txt`"), "{line}");
    assert!(!home.path("bad.npy").exists());
}

#[test]
fn check_compares_golden_texts_with_the_reference() {
    let home = Home::new();
    let tables = fs::read_to_string(home.path("tiny.toml")).unwrap();
    let golden = "\n[[retrieve.golden]]\nrole = \"document\"\ntext = \"a skill\"\nstarts = [9.0]\n";
    fs::write(
        home.path("off.toml"),
        tables.replacen("name = \"tiny\"", "name = \"off\"", 1) + golden,
    )
    .unwrap();
    let output = home.run(&["models", "check", "./off.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("FAIL  tiny-bert: text `a skill`: value 0 is"), "{text}");
    assert!(home.ok(&["models", "check", "./tiny.toml"]).starts_with("ok    tiny-bert: "));
}

#[test]
fn every_bundled_neural_card_is_read() {
    let home = Home::new();
    let listed = home.ok(&["models", "list"]);
    for card in [
        "all-minilm-l6-v2",
        "bge-m3-instructed",
        "skillrouter-embedding-0.6b",
        "hnsw",
        "skillsight",
        "ms-marco-minilm-l6-v2",
    ] {
        assert!(listed.contains(card), "{card}");
    }
    let cards = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("models")).unwrap();
    for card in cards {
        let path = card.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        if text.contains(".model]") || text.contains("encoder = ") {
            // Its tables are read before its weights are missed.
            let line = home.refused(&["models", "check", &name]);
            assert!(line.contains("no weights in"), "{name}: {line}");
        }
    }
}

/// The packaged weights, where they are: their folder.
fn packaged() -> Option<PathBuf> {
    let cache =
        std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/cleanhit-models"));
    let folder = std::env::var_os("CLEANHIT_MODELS").map(PathBuf::from).or(cache)?;
    folder.join("all-minilm-l6-v2/model.safetensors").is_file().then_some(folder)
}

#[test]
fn the_packaged_minilm_is_what_its_card_says() {
    let Some(models) = packaged() else {
        println!("skipped: no all-minilm-l6-v2 in $CLEANHIT_MODELS; `bench/weights.sh` gets it");
        return;
    };
    let home = Home::new();
    fs::remove_dir_all(home.path("models")).unwrap();
    copy(&models.join("all-minilm-l6-v2"), &home.path("models/all-minilm-l6-v2"));
    let text = home.ok(&["models", "check", "all-minilm-l6-v2"]);
    assert!(
        text.starts_with("ok    all-minilm-l6-v2: ") && text.contains(" 3 golden texts"),
        "{text}"
    );
}
