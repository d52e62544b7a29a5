//! What the project reads and writes: benchmarks, rank files, skill folders, exchange formats.
//!
//! Every reader takes bytes and a name for them, so that a file, a file inside the binary and
//! a fuzz target go through the same code. Every writer is atomic. An error names the file, the
//! line, the field and what was expected, on one line.
//!
//! Architecture invariant: no label file is parsed here. A [`Benchmark`] says where its labels
//! are ([`Benchmark::labels`]) and opens with them absent; only `cleanhit-eval` reads them.

mod bench;
mod counted;
mod error;
mod exchange;
mod files;
mod folder;
mod lock;
mod ranks;
mod rows;
mod serde_words;
mod skills;
mod table;
#[cfg(test)]
mod testing;
mod unpack;

pub use bench::{
    BenchPool, Benchmark, FileRef, NewPool, parse_candidates, parse_queries, write_bench,
};
pub use counted::counted;
pub use error::{InputError, printable};
pub use exchange::{
    Collection, Judgement, RunOrder, Scored, SrAgents, TrecFile, parse_beir_corpus,
    parse_beir_qrels, parse_beir_queries, parse_sr_agents, parse_trec_run, read_beir, write_qrels,
    write_scored, write_trec_run,
};
pub use files::{
    FileDigest, MAX_FILE, is_same_file, is_there, read_file, read_regular, refuse_overwrite,
    sha256_hex, write_atomic, write_atomic_with,
};
pub use folder::Folder;
pub use lock::FolderLock;
pub use ranks::{
    Expect, RankFile, RankSet, SUBMISSION_DEPTH, read_rank_set, read_ranks, write_ranks,
};
pub use rows::{check_lines, utf8};
pub use serde_words::{Plain, plain_words};
pub use skills::{
    NotRead, NoteKind, ScanOptions, Skill, SkillNote, SkillScan, Template, TemplateError,
    WrittenPool, parse_skill_jsonl, parse_skill_md, pool_of_skills, read_skill_folders,
    read_skill_jsonl, render, write_pool, write_skill_jsonl,
};
pub use table::each_record;
pub use unpack::{MAX_UNPACKED, read_first_line, unpacked};
