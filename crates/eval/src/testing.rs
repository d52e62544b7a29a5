//! Small benchmarks on disk, for tests.
//!
//! The fixed one has two pools: `single` with a to h (families ab, cd) and `paired` with p to u
//! (families pq, rs). Four single queries, one of them for development, and two paired units.

use std::{collections::BTreeMap, fs, num::NonZeroU32};

use cleanhit_core::{
    Candidate, CandidateId, Cutoff, Depth, Hit, Query, QueryId, Ranking, Rankings, Score,
};
use cleanhit_io::{Benchmark, Folder, NewPool, sha256_hex, write_bench};
use tempfile::TempDir;

use crate::labels::{Cases, Families};

pub(crate) const HEADER: &str = "query_case_id\tunit_id\thelpful_skill_id\trisky_sibling_id\tmain_evaluation\tstratum\tsplit_role\tprimary_category\tconflict_type\tdomain\tlineage_group\n";

pub(crate) const CASES: &str = "\
q1\tu1\ta\tb\tyes\tcore_local_contract\theldout\tprocedure\tcomputation_rule\tmath\tg1\n\
q2\tu2\tb\ta\tyes\tcore_local_contract\theldout\tresource_binding\tresource_identity\tmath\tg1\n\
q3\tu3\tc\td\tyes\tcore_local_contract\theldout\tresource_binding\tresource_identity\tweb\tg2\n\
q4\tu4\td\tc\tno\tcore_local_contract\tdevelopment_only\tprocedure\tcomputation_rule\tweb\tg3\n\
q5\tu5\tp\tq\tyes\thard_role_flip\theldout\tevidence_role\tnormative_vs_empirical\tcontrolled\tg4\n\
q6\tu5\tq\tp\tyes\thard_role_flip\theldout\tevidence_role\tnormative_vs_empirical\tcontrolled\tg4\n\
q7\tu6\tr\ts\tyes\thard_role_flip\theldout\tevidence_role\tplanned_vs_occurred\tcontrolled\tg4\n\
q8\tu6\ts\tr\tyes\thard_role_flip\theldout\tevidence_role\tplanned_vs_occurred\tcontrolled\tg4\n";

pub(crate) const FAMILIES: &str = "\
family_id\tcandidate_id\tfamily_source\tcandidate_pool_id\n\
f1\ta\treleased\tsingle\n\
f1\tb\treleased\tsingle\n\
f2\tc\treleased\tsingle\n\
f2\td\treleased\tsingle\n\
f3\tp\treleased\tpaired\n\
f3\tq\treleased\tpaired\n\
f4\tr\treleased\tpaired\n\
f4\ts\treleased\tpaired\n";

/// A benchmark, and the folder that goes when it goes.
pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    pub(crate) bench: Benchmark,
}

/// The fixed benchmark with these rows of labels and this relation.
pub(crate) fn bench(cases: &str, families: &str) -> Fixture {
    let pools = [
        ("single", ["a", "b", "c", "d", "e", "f", "g", "h"].as_slice(), ["q1", "q2", "q3", "q4"]),
        ("paired", ["p", "q", "r", "s", "t", "u"].as_slice(), ["q5", "q6", "q7", "q8"]),
    ];
    let pools = pools.map(|(id, candidates, queries)| pool(id, candidates, &queries));
    write(&pools, &format!("{HEADER}{cases}"), families)
}

pub(crate) fn pool<T: AsRef<str>>(id: &str, candidates: &[T], queries: &[T]) -> NewPool {
    let candidate = |id: &T| Candidate {
        id: CandidateId::from(id.as_ref()),
        text: format!("skill {}", id.as_ref()),
        name: None,
    };
    let query =
        |id: &T| Query { id: QueryId::from(id.as_ref()), text: format!("query {}", id.as_ref()) };
    NewPool {
        id: id.to_owned(),
        candidates: candidates.iter().map(candidate).collect(),
        queries: queries.iter().map(query).collect(),
    }
}

/// Writes and opens a benchmark. `cases` is the whole label file.
pub(crate) fn write(pools: &[NewPool], cases: &str, families: &str) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = write_bench(dir.path(), "small", "0.1.0", pools, &[]).unwrap();
    for (section, key, path, text) in [
        ("labels", "cases", "cases.tsv", cases),
        ("families", "relation", "families.tsv", families),
    ] {
        fs::write(dir.path().join(path), text).unwrap();
        let (sha256, rows) = (sha256_hex(text.as_bytes()), text.lines().count().saturating_sub(1));
        manifest.push_str(&format!(
            "\n[{section}]\n{key} = {{ path = \"{path}\", sha256 = \"{sha256}\", rows = {rows} }}\n"
        ));
    }
    fs::write(dir.path().join("bench.toml"), manifest).unwrap();
    let bench = Benchmark::open(Folder::Disk(dir.path().to_owned())).unwrap();
    Fixture { dir, bench }
}

impl Fixture {
    pub(crate) fn fixed() -> Fixture {
        bench(CASES, FAMILIES)
    }

    pub(crate) fn cases(&self) -> Cases {
        Cases::read(&self.bench).unwrap()
    }

    pub(crate) fn families(&self) -> Families {
        Families::read(&self.bench).unwrap()
    }

    /// Rankings written as `q1 c,a,b` with falling scores, or `q1 c:3,a:2.5` with these.
    pub(crate) fn rankings(&self, lines: &str) -> Rankings {
        let mut by_query = BTreeMap::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (query, hits) = line.split_once(' ').unwrap_or((line, ""));
            let (pool, _) = self.bench.find_query(query).unwrap();
            let hits = hits.split(',').filter(|hit| !hit.is_empty()).zip(1u32..);
            let hits = hits.map(|(hit, rank)| {
                let (id, score) = hit.split_once(':').unwrap_or((hit, ""));
                let score = score.parse().unwrap_or(-f64::from(rank));
                let doc = self.bench.pools[pool].pool.position(id).unwrap();
                Hit { doc, score: Score::new(score).unwrap() }
            });
            by_query.insert(QueryId::from(query), Ranking::recorded(hits));
        }
        let longest = by_query.values().map(|ranking| ranking.hits().len()).max();
        Rankings::new(Depth::of_len(longest.unwrap_or(1)), by_query)
    }
}

pub(crate) fn cutoff(k: u32) -> Cutoff {
    Cutoff(NonZeroU32::new(k).unwrap())
}

pub(crate) fn texts<T: std::fmt::Display>(errors: &[T]) -> Vec<String> {
    errors.iter().map(T::to_string).collect()
}
