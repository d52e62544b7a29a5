//! The files that a benchmark is made of.

use cleanhit_core::Depth;
use cleanhit_eval::{
    Cases, Families,
    units::{Config, Unit},
};
use cleanhit_io::{Benchmark, Expect, parse_candidates, parse_queries, read_ranks, write_ranks};

use super::{
    taken, taken_one,
    world::{BENCH, with_labels, with_manifest},
};

/// A rank file. One that could be a submission is written and read again as the same.
pub fn ranks(bytes: &[u8]) -> bool {
    let name = "f.tsv";
    BENCH.with(|bench| {
        let any = taken(read_ranks(name, bytes, bench, Expect::Any));
        taken(read_ranks(name, bytes, bench, Expect::Depth(Depth::of_len(2))));
        if let Some(file) = taken(read_ranks(name, bytes, bench, Expect::Submission)) {
            assert!(any.is_some(), "a submission is a rank file");
            let written = write_ranks(&file.method_id, bench, &file.rankings);
            let again = read_ranks(name, &written, bench, Expect::Submission).expect("as written");
            assert_eq!(again.rankings, file.rankings);
            assert_eq!(again.warnings, [""; 0], "a file of ours is not odd");
        }
        any.is_some()
    })
}

/// Candidates, one JSON object a line.
pub fn candidates(bytes: &[u8]) -> bool {
    let pool = taken(parse_candidates("f.jsonl", bytes, "p"));
    if let Some(pool) = &pool {
        for doc in pool.corpus().docs() {
            assert_eq!(pool.position(pool.id(doc).as_str()), Some(doc));
        }
    }
    pool.is_some()
}

/// Queries, one JSON object a line.
pub fn queries(bytes: &[u8]) -> bool {
    taken(parse_queries("f.jsonl", bytes)).is_some()
}

/// The manifest of a benchmark.
pub fn bench_toml(bytes: &[u8]) -> bool {
    with_manifest(bytes, |folder| taken(Benchmark::check(folder)).is_some())
}

/// The label file.
pub fn cases(bytes: &[u8]) -> bool {
    with_labels(bytes, |bench| {
        let cases = taken(Cases::read(bench));
        if let Some(cases) = &cases {
            assert_eq!(cases.len(), bench.n_queries(), "a case for every query");
        }
        cases.is_some()
    })
}

/// The family relation. What is read covers every candidate, and is written again as the same.
pub fn families(bytes: &[u8]) -> bool {
    let read = with_labels(bytes, |bench| {
        let families = taken(Families::read(bench))?;
        Some((families.to_tsv(bench), families.disclose(0).clone()))
    });
    if let Some((written, groups)) = &read {
        assert_eq!(groups.groups().len(), 3);
        with_labels(written, |bench| {
            let again = Families::read(bench).expect("as written");
            assert_eq!(again.disclose(0), groups);
        });
    }
    read.is_some()
}

/// A unit as authored.
pub fn unit(bytes: &[u8]) -> bool {
    taken(Unit::parse("f.toml", bytes)).is_some()
}

/// A benchmark's authoring settings.
pub fn authoring(bytes: &[u8]) -> bool {
    taken_one(Config::parse("f.toml", bytes)).is_some()
}
