//! One file a command: its arguments, whose docs are the help, and its wiring.

pub(crate) mod bench;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod embed;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod leaderboard;
pub(crate) mod models;
pub(crate) mod pool;
pub(crate) mod rank;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod submit;

/// How a command that could be carried out ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Exit code 0.
    Done,
    /// A check or a gate failed: exit code 1.
    Failed,
}
