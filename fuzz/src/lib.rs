//! What the fuzz targets do with bytes. No engine here: `fuzz_targets/` feeds these functions
//! to libFuzzer, and the suite's `tests/fuzz_smoke.rs` feeds them seeds and mutations of them.
//!
//! A target fails by panicking, and returns whether its reader took the bytes. Each one checks
//! that a refusal gives its reasons, one a line, and, where there is a writer, that what was
//! read is written and read again as the same.

mod benchmark;
mod exchange;
mod results;
mod skills;
mod world;

use std::fmt::Display;

pub use benchmark::{authoring, bench_toml, candidates, cases, families, queries, ranks, unit};
pub use exchange::{beir_corpus, beir_qrels, beir_queries, measures, qrels, sr_agents, trec_run};
pub use results::{adapter_receipt, intervals, leaderboard, method_card, metrics};
pub use skills::{skill_jsonl, skill_md};

/// A target: whether its reader takes these bytes, or a panic if something is wrong.
pub type Target = fn(&[u8]) -> bool;

/// Every target, by the name that its binary and its folder of seeds have.
pub const TARGETS: &[(&str, Target)] = &[
    ("adapter_receipt", adapter_receipt),
    ("authoring", authoring),
    ("beir_corpus", beir_corpus),
    ("beir_qrels", beir_qrels),
    ("beir_queries", beir_queries),
    ("bench_toml", bench_toml),
    ("candidates", candidates),
    ("cases", cases),
    ("families", families),
    ("intervals", intervals),
    ("leaderboard", leaderboard),
    ("measures", measures),
    ("method_card", method_card),
    ("metrics", metrics),
    ("qrels", qrels),
    ("queries", queries),
    ("ranks", ranks),
    ("skill_jsonl", skill_jsonl),
    ("skill_md", skill_md),
    ("sr_agents", sr_agents),
    ("trec_run", trec_run),
    ("unit", unit),
];

/// What a reader took, if it did. A refusal has reasons.
fn taken<T, E: Display>(result: Result<T, Vec<E>>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            one_line(&errors);
            None
        }
    }
}

/// As [`taken`], for readers that stop at the first violation.
fn taken_one<T, E: Display>(result: Result<T, E>) -> Option<T> {
    taken(result.map_err(|error| vec![error]))
}

/// Every message is one line.
fn one_line<E: Display>(messages: &[E]) {
    for message in messages {
        let text = message.to_string();
        assert!(!text.trim().is_empty(), "an empty message");
        assert!(!text.contains(['\n', '\r']), "more than one line: {text:?}");
    }
}
