//! A tiny benchmark that files are read against.

use std::{collections::BTreeMap, path::Path};

use cleanhit_io::{Benchmark, FileRef, Folder, sha256_hex};

pub(crate) const CANDIDATES: &[u8] = b"\
{\"candidate_id\":\"a\",\"text\":\"read a table\"}
{\"candidate_id\":\"b\",\"text\":\"read a view\"}
{\"candidate_id\":\"c\",\"text\":\"write a table\"}
";

pub(crate) const QUERIES: &[u8] = b"\
{\"query_case_id\":\"q1\",\"text\":\"read the table\"}
{\"query_case_id\":\"q2\",\"text\":\"read the view\"}
";

/// Two queries over a pool `p` of three candidates.
pub(crate) fn bench() -> Benchmark {
    let manifest = format!(
        "format = 1\nname = \"fuzz\"\nversion = \"1\"\n[[pool]]\nid = \"p\"\n\
         candidates = {{ path = \"p.jsonl\", sha256 = \"{}\", rows = 3 }}\n\
         queries = {{ path = \"p.queries.jsonl\", sha256 = \"{}\", rows = 2 }}\n",
        sha256_hex(CANDIDATES),
        sha256_hex(QUERIES),
    );
    let dir = tempfile::tempdir().expect("a scratch folder");
    for (name, bytes) in files(manifest.as_bytes()) {
        std::fs::write(dir.path().join(name), bytes).expect("a scratch file");
    }
    Benchmark::open(Folder::Disk(dir.path().to_owned())).expect("the tiny benchmark")
}

/// The folder of a benchmark whose manifest is `manifest`.
pub(crate) fn with_manifest<T>(manifest: &[u8], then: impl FnOnce(Folder) -> T) -> T {
    scratch(&files(manifest), |dir| then(Folder::Disk(dir.to_owned())))
}

/// The tiny benchmark, whose label files are these bytes.
pub(crate) fn with_labels<T>(bytes: &[u8], then: impl FnOnce(&Benchmark) -> T) -> T {
    BENCH.with(|bench| {
        let file = || Some(FileRef { path: "labels.tsv".into(), sha256: None, rows: None });
        scratch(&BTreeMap::from([("labels.tsv", bytes)]), |dir| {
            let mut bench = bench.clone();
            bench.folder = Folder::Disk(dir.to_owned());
            bench.labels = file();
            bench.families = file();
            then(&bench)
        })
    })
}

thread_local! {
    /// Read once a thread: most targets need it for every input.
    pub(crate) static BENCH: Benchmark = bench();

    static SCRATCH: tempfile::TempDir = tempfile::tempdir().expect("a scratch folder");
}

fn files(manifest: &[u8]) -> BTreeMap<&'static str, &[u8]> {
    BTreeMap::from([
        ("bench.toml", manifest),
        ("p.jsonl", CANDIDATES),
        ("p.queries.jsonl", QUERIES),
    ])
}

fn scratch<T>(files: &BTreeMap<&'static str, &[u8]>, then: impl FnOnce(&Path) -> T) -> T {
    SCRATCH.with(|dir| {
        for (name, bytes) in files {
            std::fs::write(dir.path().join(name), bytes).expect("a scratch file");
        }
        then(dir.path())
    })
}
