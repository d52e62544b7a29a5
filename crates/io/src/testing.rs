//! What tests share.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use cleanhit_core::{Candidate, Query};

use crate::{
    bench::{Benchmark, NewPool, bench_files},
    folder::Folder,
};

/// A path in the shared test data; none, and the reason printed, where it is absent.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("CLEANHIT_SHARED") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join(path);
    match path.exists() {
        true => Some(path),
        false => {
            eprintln!("skipped: {} is absent", path.display());
            None
        }
    }
}

/// A pool of candidates `id`, whose text is `text of id`, and of queries `id`.
pub(crate) fn pool(id: &str, candidates: &[&str], queries: &[&str]) -> NewPool {
    let candidate =
        |id: &&str| Candidate { id: (*id).into(), text: format!("text of {id}"), name: None };
    let query = |id: &&str| Query { id: (*id).into(), text: format!("text of {id}") };
    NewPool {
        id: id.to_owned(),
        candidates: candidates.iter().map(candidate).collect(),
        queries: queries.iter().map(query).collect(),
    }
}

/// A benchmark written and opened in memory.
pub(crate) fn bench(pools: &[NewPool]) -> Benchmark {
    let files = bench_files("test", "1", pools).unwrap().into_iter();
    let files = files.map(|(path, bytes)| (path, &*bytes.leak())).collect();
    let files = Arc::new(files);
    Benchmark::open(Folder::Bundled { name: "test", root: String::new(), files }).unwrap()
}
