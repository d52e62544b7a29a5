use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use proptest::prelude::*;

use super::*;
use crate::testing;

/// Files by path, and the benchmark they make.
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// One pool `p` with two candidates and two queries, labels listed and absent.
    fn ours() -> Files {
        let mut files = Files(BTreeMap::new());
        files.put(
            "p.jsonl",
            "{\"candidate_id\":\"a\",\"text\":\"A\"}\n{\"candidate_id\":\"b\",\"text\":\"B\"}\n",
        );
        files.put("p.queries.jsonl", "{\"query_case_id\":\"q1\",\"text\":\"one\"}\n{\"query_case_id\":\"q2\",\"text\":\"two\"}\n");
        files.list();
        files
    }

    fn put(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.as_bytes().to_vec());
    }

    /// Writes a `bench.toml` with the right digests.
    fn list(&mut self) {
        let entry = |path: &str, rows: usize| {
            let sha256 = sha256_hex(&self.0[path]);
            format!("{{ path = \"{path}\", sha256 = \"{sha256}\", rows = {rows} }}")
        };
        let absent =
            format!("{{ path = \"cases.tsv\", sha256 = \"{}\", rows = 9 }}", "0".repeat(64));
        let text = format!(
            "format = 1\nname = \"mini\"\nversion = \"0.1.0\"\nlicence = \"MIT\"\n\n[[pool]]\nid = \"p\"\ncandidates = {}\nqueries = {}\n\n[labels]\ncases = {absent}\n",
            entry("p.jsonl", 2),
            entry("p.queries.jsonl", 2),
        );
        self.put("bench.toml", &text);
    }

    /// A bundle with one pool, labels listed and absent.
    fn bundle() -> Files {
        let mut files = Files(BTreeMap::new());
        let ours = Files::ours().0;
        files.0.insert("benchmark/inference/p/candidates.jsonl".into(), ours["p.jsonl"].clone());
        files
            .0
            .insert("benchmark/inference/p/queries.jsonl".into(), ours["p.queries.jsonl"].clone());
        files.put("benchmark/SUMMARY.json", "{\"candidate_counts\":{\"p\":2},\"more\":1}");
        files.seal();
        files
    }

    /// Writes the manifest and the gate of a bundle with the right digests.
    fn seal(&mut self) {
        let inner = |path: &String| path.strip_prefix("benchmark/").unwrap().to_owned();
        let mut listed: BTreeMap<String, String> =
            self.0.iter().map(|(path, bytes)| (inner(path), sha256_hex(bytes))).collect();
        listed.retain(|path, _| !path.ends_with("MANIFEST.json") && !path.ends_with("GATE.json"));
        listed.insert("data/query_cases.tsv".into(), "0".repeat(64));
        let manifest = serde_json::json!({ "outputs_sha256": listed }).to_string();
        let sha256 = sha256_hex(manifest.as_bytes());
        self.put("benchmark/BUILD_MANIFEST.json", &manifest);
        let gate = serde_json::json!({
            "experiment_ready": true, "status": "FROZEN", "counts": {"queries": 2},
            "files_sha256": {"BUILD_MANIFEST.json": sha256},
        });
        self.put("benchmark/FREEZE_GATE.json", &gate.to_string());
    }

    fn edit(mut self, path: &str, from: &str, to: &str) -> Files {
        let text = String::from_utf8(self.0[path].clone()).unwrap();
        assert!(text.contains(from), "{path} has no {from}");
        self.put(path, &text.replace(from, to));
        self
    }

    fn folder(&self) -> Folder {
        let leak = |bytes: &Vec<u8>| -> &'static [u8] { bytes.clone().leak() };
        let files = self.0.iter().map(|(path, bytes)| (format!("b/{path}"), leak(bytes)));
        Folder::Bundled { name: "t", root: "b".to_owned(), files: Arc::new(files.collect()) }
    }

    fn errors(&self) -> Vec<String> {
        let errors = Benchmark::check(self.folder()).unwrap_err();
        errors.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn our_layout_opens_without_its_labels() {
    let files = Files::ours();
    let bench = Benchmark::open(files.folder()).unwrap();
    assert_eq!((bench.name.as_str(), bench.n_queries()), ("mini", 2));
    assert_eq!(bench.gate_sha256, sha256_hex(&files.0["bench.toml"]));
    assert_eq!(bench.labels.as_ref().unwrap().path, "cases.tsv");
    assert_eq!(bench.families, None);
    assert_eq!(bench.find_query("q2").unwrap().1.text, "two");
    assert!(bench.find_query("q3").is_none());
    let paths: Vec<&str> = bench.inputs.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["p.jsonl", "p.queries.jsonl"]);
    let missing: Vec<String> = bench.verify_all().iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["<t>/b/cases.tsv: no such file; expected a file that is there"]);
}

#[test]
fn the_public_layout_opens_without_its_labels() {
    let files = Files::bundle();
    let bench = Benchmark::open(files.folder()).unwrap();
    assert_eq!((bench.name.as_str(), bench.n_queries()), ("b", 2));
    assert_eq!(bench.gate_sha256, sha256_hex(&files.0["benchmark/FREEZE_GATE.json"]));
    assert_eq!(bench.labels.as_ref().unwrap().path, "benchmark/data/query_cases.tsv");
    assert_eq!(bench.families, None);
    assert_eq!(bench.listed.len(), 5);
    let missing: Vec<String> = bench.verify_all().iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        ["<t>/b/benchmark/data/query_cases.tsv: no such file; expected a file that is there"]
    );
}

#[test]
fn both_layouts_read_the_same() {
    let (ours, public) = (Files::ours().folder(), Files::bundle().folder());
    let (ours, public) = (Benchmark::open(ours).unwrap(), Benchmark::open(public).unwrap());
    assert_eq!(ours.pools[0].pool.digest(), public.pools[0].pool.digest());
    assert_eq!(ours.pools[0].queries, public.pools[0].queries);
}

#[test]
fn one_edited_byte_is_named() {
    for (files, path) in [
        (Files::ours(), "p.jsonl"),
        (Files::ours(), "p.queries.jsonl"),
        (Files::bundle(), "benchmark/inference/p/queries.jsonl"),
        (Files::bundle(), "benchmark/SUMMARY.json"),
        (Files::bundle(), "benchmark/BUILD_MANIFEST.json"),
    ] {
        let mut files = files;
        files.0.get_mut(path).unwrap().push(b' ');
        let errors = files.errors();
        assert!(errors[0].starts_with(&format!("<t>/b/{path}: its sha256 is ")), "{errors:?}");
        assert!(errors[0].ends_with(", as listed"), "{errors:?}");
    }
}

#[test]
fn each_violation_of_a_row_names_file_line_and_field() {
    let row = "{\"candidate_id\":\"b\",\"text\":\"B\"}";
    let cases = [
        (
            "{\"candidate_id\":\"a\",\"text\":\"B\"}",
            "p.jsonl:2: field `candidate_id`: candidate `a` is also on line 1; expected distinct ids",
        ),
        (
            "{\"candidate_id\":\"\",\"text\":\"B\"}",
            "p.jsonl:2: field `candidate_id`: the id is empty; expected an id without control characters",
        ),
        (
            "{\"candidate_id\":\"x\\ty\",\"text\":\"B\"}",
            "p.jsonl:2: field `candidate_id`: the id holds a control character; expected an id without control characters",
        ),
        (
            "{\"candidate_id\":\"b\",\"text\":\"B\",\"label\":1}",
            "p.jsonl:2: field `label`: unknown key; expected an object with exactly the keys `candidate_id`, `text`",
        ),
    ];
    for (bad, message) in cases {
        let mut files = Files::ours().edit("p.jsonl", row, bad);
        files.list();
        assert_eq!(files.errors(), [format!("<t>/b/{message}")]);
    }
}

#[test]
fn an_empty_pool_and_a_benchmark_without_queries_are_refused() {
    let mut files = Files::ours();
    files.put("p.jsonl", "");
    files.list();
    assert_eq!(
        files.errors(),
        ["<t>/b/p.jsonl: the pool is empty; expected at least one candidate"]
    );
    let mut files = Files::ours();
    files.put("p.queries.jsonl", "");
    files.list();
    let files = files.edit("bench.toml", "rows = 2 }\n\n[labels]", "rows = 0 }\n\n[labels]");
    assert_eq!(
        files.errors(),
        ["<t>/b/bench.toml: the benchmark has no queries; expected at least one"]
    );
}

#[test]
fn marks_and_other_encodings_are_refused() {
    let mut files = Files::ours();
    files.put("p.jsonl", "\u{feff}{\"candidate_id\":\"a\",\"text\":\"A\"}");
    files
        .0
        .insert("p.queries.jsonl".into(), b"{\"query_case_id\":\"q\",\"text\":\"\xe9\"}".to_vec());
    files.list();
    assert_eq!(
        files.errors(),
        [
            "<t>/b/p.jsonl:1: starts with a byte order mark; expected UTF-8 without one",
            "<t>/b/p.queries.jsonl:1: byte 29 of the file is not UTF-8; expected UTF-8",
        ]
    );
}

#[test]
fn a_query_in_two_pools_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pools = [testing::pool("p", &["a"], &["q", "r"]), testing::pool("s", &["a"], &["q"])];
    write_bench(dir.path(), "x", "1", &pools, &[]).unwrap();
    let error = Benchmark::open(Folder::Disk(dir.path().to_owned())).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "bench.toml: query `q` is in pool `p` and in pool `s`; expected each query in one pool"
        ),
        "{error}"
    );
}

#[test]
fn a_manifest_says_what_is_wrong_and_where() {
    let cases = [
        ("format = 1", "format = 2", "bench.toml: field `format`: is 2; expected 1"),
        ("name = \"mini\"", "name = \" \"", "bench.toml: field `name`: is ` `; expected a name"),
        ("name = \"mini\"", "name = \"../mini\"", "bench.toml: field `name`: is `../mini`; "),
        ("name = \"mini\"", "name = \"mi\\u0000ni\"", "field `name`: is `mi\\u{0}ni`; "),
        ("licence", "license", "bench.toml:4: not valid: unknown field `license`"),
        ("[labels]", "[labels", "bench.toml:11: not valid: "),
        ("rows = 2", "rows = 3", "p.jsonl: has 2 rows; expected 3, as the manifest states"),
        ("path = \"p.jsonl\"", "path = \"/p.jsonl\"", "b: path `/p.jsonl` is not relative"),
        (
            "path = \"p.jsonl\"",
            "path = \"../../../p.jsonl\"",
            "b/../../../p.jsonl: no such file; expected a file that is there",
        ),
        ("sha256 = \"000", "sha256 = \"x00", "bench.toml: field `sha256`: `x00"),
    ];
    for (from, to, message) in cases {
        let errors = Files::ours().edit("bench.toml", from, to).errors();
        assert!(errors[0].contains(message), "{from} -> {to}: {errors:?}");
    }
    let twice = "[[pool]]\nid = \"p\"\ncandidates = { path = \"p.jsonl\", sha256 = \"\", rows = 1 }\nqueries = { path = \"p.jsonl\", sha256 = \"\", rows = 1 }\n[labels]";
    let errors = Files::ours().edit("bench.toml", "[labels]", twice).errors();
    assert_eq!(errors[0], "<t>/b/bench.toml: field `pool.id`: pool `p` is listed twice");
    let errors = Files(BTreeMap::from([("x".to_owned(), Vec::new())])).errors();
    assert_eq!(
        errors,
        ["<t>/b: holds no benchmark; expected `bench.toml` or `benchmark/FREEZE_GATE.json` in it"]
    );
}

#[test]
fn a_bundle_that_is_not_ready_or_does_not_add_up_is_refused() {
    let gate = "benchmark/FREEZE_GATE.json";
    let errors = Files::bundle().edit(gate, "true", "false").errors();
    assert_eq!(
        errors,
        [
            "<t>/b/benchmark/FREEZE_GATE.json: field `experiment_ready`: the bundle is not ready: its status is `FROZEN`; expected true"
        ]
    );
    let errors = Files::bundle().edit(gate, "\"queries\":2", "\"queries\":3").errors();
    assert_eq!(errors, ["<t>/b/benchmark/FREEZE_GATE.json: states 3 queries, its files hold 2"]);
    let mut files = Files::bundle().edit("benchmark/SUMMARY.json", "\"p\":2", "\"p\":3");
    files.seal();
    assert_eq!(
        files.errors(),
        [
            "<t>/b/benchmark/inference/p/candidates.jsonl: has 2 rows; expected 3, as the manifest states"
        ]
    );
    let mut files = Files::bundle().edit("benchmark/SUMMARY.json", "\"p\"", "\"../p\"");
    files.seal();
    assert!(files.errors()[0].contains("pool id `../p` is not a folder's name"));
    let mut files = Files::bundle().edit("benchmark/SUMMARY.json", "{\"p\":2}", "{}");
    files.seal();
    assert!(files.errors()[0].contains("lists no pool"));
    let files = Files::bundle().edit("benchmark/FREEZE_GATE.json", "{\"BUILD", "{\"BUILT");
    assert!(files.errors()[0].contains("does not list `BUILD_MANIFEST.json`"));
    let errors = Files::bundle()
        .edit("benchmark/BUILD_MANIFEST.json", "inference/p/q", "inference/p/Q")
        .errors();
    assert!(
        errors.iter().any(|e| e.contains("does not list `inference/p/queries.jsonl`")),
        "{errors:?}"
    );
    let errors = Files::bundle().edit(gate, "{", "{\n,").errors();
    assert!(
        errors[0].starts_with("<t>/b/benchmark/FREEZE_GATE.json:2: not valid JSON"),
        "{errors:?}"
    );
}

#[test]
fn a_query_and_a_candidate_may_share_an_id() {
    let bench = testing::bench(&[testing::pool("p", &["s1", "b"], &["s1"])]);
    assert!(bench.find_query("s1").is_some());
    assert!(bench.pools[0].pool.position("s1").is_some());
}

#[test]
fn a_written_benchmark_is_found_on_disk_through_parents() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        write_bench(dir.path(), "x", "1", &[testing::pool("p", &["b", "a"], &["q"])], &[]).unwrap();
    let nested = dir.path().join("queries/x");
    fs::create_dir_all(&nested).unwrap();
    let moved = text.replace("\"p.jsonl\"", "\"../../p.jsonl\"");
    fs::rename(dir.path().join("p.queries.jsonl"), nested.join("p.queries.jsonl")).unwrap();
    fs::write(nested.join("bench.toml"), moved).unwrap();
    assert_eq!(Benchmark::open(Folder::Disk(nested)).unwrap().n_queries(), 1);
    let candidates = fs::read_to_string(dir.path().join("p.jsonl")).unwrap();
    assert!(candidates.starts_with("{\"candidate_id\":\"a\",\"text\":\"text of a\"}\n"));
    let bad = testing::pool("../p", &["a"], &[]);
    assert!(write_bench(Path::new("/nowhere"), "x", "1", &[bad], &[]).is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_candidates("f", &bytes, "p");
        let _ = parse_queries("f", &bytes);
        for path in ["bench.toml", "benchmark/FREEZE_GATE.json"] {
            let files = Files(BTreeMap::from([(path.to_owned(), bytes.clone())]));
            prop_assert!(Benchmark::check(files.folder()).is_err());
        }
    }

    /// What is written reads back, whatever the texts.
    #[test]
    fn pools_read_back(texts in prop::collection::vec(any::<String>(), 1..8)) {
        let rows = texts.iter().zip(0..).map(|(text, i)| (format!("id {i}"), text));
        let rows: Vec<(String, &String)> = rows.collect();
        let (bytes, n) = write::jsonl("candidate_id", rows.iter().map(|(id, text)| (id.as_str(), text.as_str())));
        let pool = parse_candidates("f", &bytes, "p").unwrap();
        prop_assert_eq!(n, texts.len() as u64);
        for (id, text) in rows {
            prop_assert_eq!(pool.corpus().text(pool.position(&id).unwrap()), text);
        }
    }
}
