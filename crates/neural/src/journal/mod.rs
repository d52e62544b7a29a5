//! Which questions has a model answered already? A journal on disk, addressed by the questions.
//!
//! ```text
//! <root>/<subject>/journal.json   what an answer depends on besides the question
//!                 /answers.jsonl  one line an answer, only ever appended to
//! ```
//!
//! A line holds the SHA-256 of the question, the answer and a check over both. A question is a
//! talk and its decoding, or a query and a document; the model's digest and the device name the
//! journal. A run that was killed finds what it had been answered, and a second run asks nothing.
//!
//! Architecture invariant: a line is whole and on the disk before its answer is used. Writers
//! hold the file's lock while they read on and append, so that two processes share a journal; a
//! last line that a kill left torn is cut off. A line that is damaged in any other place is an
//! error that names it: what was answered is not to be lost silently.

mod file;
mod journalled;
mod lines;
mod tend;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use file::Journal;
pub use journalled::{JournalCounts, Journalled, JournalledScorer};
pub use tend::{JournalGc, JournalStat, gc, stat};

/// What an answer depends on besides the question.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The model's name, for people.
    pub name: String,
    /// The model's digest: its files and everything in its card that changes an answer.
    pub model: String,
    /// Where the answers were computed: `cpu`, `cuda` or `metal`.
    pub device: String,
}

/// Why answers can't be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refused.
    #[error("journal {}: cannot {what}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A folder holds answers about something else than its name says.
    #[error("journal {}: is not the journal it is named for; expected what `cleanhit` wrote there; remove it", .path.display())]
    OtherSubject {
        /// The folder's `journal.json`.
        path: PathBuf,
    },
    /// A line is not what was written.
    #[error("journal {}:{line}: the line is damaged: {problem}; expected it as `cleanhit` wrote it; `cleanhit cache gc` drops it", .path.display())]
    Damaged {
        /// The file of answers.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// SHA-256 of a question.
pub(crate) type Key = [u8; 32];

impl Subject {
    /// The journal's folder under `root`. The name is for people and has no part in it.
    fn folder(&self, root: &Path) -> PathBuf {
        let digest = digest(["journal", &self.model, &self.device].map(str::as_bytes));
        root.join(hex::encode(&digest[..16]))
    }

    /// Whether the answers about one are those about the other.
    fn is_same(&self, other: &Subject) -> bool {
        (&self.model, &self.device) == (&other.model, &other.device)
    }
}

/// SHA-256 over parts, each with its length before it.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn io_error(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io { path, what, source }
}
