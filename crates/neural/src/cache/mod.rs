//! Which vectors are known already? A cache on disk, addressed by what the vectors are made of.
//!
//! ```text
//! <root>/<space>/space.json      the model, the role and the device: what a vector depends on
//!               /<name>.vectors  texts' digests and vectors; written once, never changed
//! ```
//!
//! A vector is found by its space and the SHA-256 of the text that was embedded, so that a pool
//! with one changed skill embeds one skill. A card's template and caps are in the text, and its
//! prefixes, pooling and limits are in the model's digest.
//!
//! Architecture invariant: no file is changed after it has its name. Writers write under a
//! temporary name, flush, and rename to a name that follows from the content, so that two
//! processes need no lock and a kill leaves at most a temporary file, which [`gc`] removes.
//! Readers check each file's table when they open it and each vector when they read it: what is
//! damaged is embedded again.

mod cached;
mod index;
mod segment;
mod tend;

#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use cleanhit_core::Role;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use cached::{CacheCounts, Cached};
pub use tend::{GcReport, SpaceStat, gc, stat};

/// What a vector depends on besides its text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// The model's digest: its files and everything in its card that changes a vector.
    pub model: String,
    /// `query` or `document`: models prefix and cut the two differently.
    pub role: SpaceRole,
    /// Where the numbers were computed: `cpu`, `cuda` or `metal`.
    pub device: String,
    /// Values in a vector.
    pub dim: usize,
}

/// A role, as the cache writes it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpaceRole {
    /// What is looked for.
    Query,
    /// What is found.
    Document,
}

/// Why vectors can't be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The system refused.
    #[error("cache {}: cannot {what}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A folder holds vectors of something else than its name says.
    #[error("cache {}: is not the space it is named for; expected to find what `cleanhit` wrote there; remove it", .path.display())]
    OtherSpace {
        /// The folder's `space.json`.
        path: PathBuf,
    },
    /// More vectors or values than the format can number.
    #[error("{0} vectors at once; expected fewer than 2^32")]
    TooMany(usize),
}

/// SHA-256 of a text.
pub(crate) type Key = [u8; 32];

pub(crate) fn key(text: &str) -> Key {
    Sha256::digest(text.as_bytes()).into()
}

impl Space {
    /// The space's folder under `root`.
    fn folder(&self, root: &Path) -> PathBuf {
        root.join(hex::encode(&self.digest()[..16]))
    }

    /// SHA-256 over all fields, each with its length before it.
    fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let dim = self.dim.to_string();
        for part in [&self.model, self.role.name(), &self.device, &dim] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into()
    }
}

impl SpaceRole {
    fn name(self) -> &'static str {
        match self {
            SpaceRole::Query => "query",
            SpaceRole::Document => "document",
        }
    }
}

impl From<Role> for SpaceRole {
    fn from(role: Role) -> SpaceRole {
        match role {
            Role::Query => SpaceRole::Query,
            Role::Document => SpaceRole::Document,
        }
    }
}

fn io_error(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io { path, what, source }
}
