//! Where are a model's files? A folder of the user's, the hub's cache, or the hub.
//!
//! Offline first: the network is asked only for what neither folder holds, and never when
//! `HF_HUB_OFFLINE` says so. A revision names what is fetched, and SHA-256 what was.

mod fetch;
mod settings;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use fetch::{FetchProgress, Fetched, fetch};
pub use settings::HubSettings;

/// What a card says of a model's files.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSource {
    /// The repository on the hub, as `owner/name`.
    pub repository: String,
    /// A commit, so that the files can't change; or a branch, which they can.
    pub revision: String,
    /// SHA-256 of files, in hexadecimal, by their paths in the repository. A file that is not
    /// named may be anything.
    pub sha256: BTreeMap<String, String>,
}

/// A model's folder, laid out as on the hub.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Located {
    /// The folder.
    pub folder: PathBuf,
    /// Where that is.
    pub place: Place,
}

/// Where a model's folder was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// `<models>/<card>/`.
    Models,
    /// The hub's cache.
    HubCache,
}

/// Why a model's files are not there, or are not the right ones. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// No folder holds them, and the hub was not or could not be asked.
    #[error(transparent)]
    Absent(Box<Absent>),
    /// The hub knows no such repository, revision or file.
    #[error(
        "{repository}: the hub has no revision `{revision}` of it (HTTP 404); expected one that was not removed"
    )]
    NotFound {
        /// The repository.
        repository: String,
        /// The revision.
        revision: String,
    },
    /// The hub wants to know who asks.
    #[error(
        "{repository}: the hub refuses it (HTTP {status}); expected HF_TOKEN to hold a token that may read it"
    )]
    Refused {
        /// The repository.
        repository: String,
        /// 401 or 403.
        status: u16,
    },
    /// The hub can't be asked.
    #[error("{repository}: cannot be fetched from {endpoint}: {problem}")]
    Network {
        /// The repository.
        repository: String,
        /// The hub.
        endpoint: String,
        /// What went wrong.
        problem: String,
    },
    /// The repository holds no weights in a form that is read.
    #[error("{repository}: revision `{revision}` has no {expected}")]
    NoWeights {
        /// The repository.
        repository: String,
        /// The revision.
        revision: String,
        /// What was looked for.
        expected: &'static str,
    },
    /// A file has other bytes than it should.
    #[error("{}: sha256 is {got}; expected {expected}{}", .path.display(), if *.removed { "; the file was removed" } else { "" })]
    Sha256 {
        /// The file.
        path: PathBuf,
        /// Of its bytes.
        got: String,
        /// As the card, the record of an earlier fetch or the hub says.
        expected: String,
        /// Whether it was just fetched, and thrown away.
        removed: bool,
    },
    /// A fetched file is shorter or longer than the hub said.
    #[error("{file}: {got} bytes came; expected {expected}; run the command again to resume")]
    Length {
        /// The file's path in the repository.
        file: String,
        /// Bytes fetched.
        got: u64,
        /// Bytes announced.
        expected: u64,
    },
    /// A card names a repository or a file that can't be one.
    #[error("field `{field}`: `{got}`; expected {expected}")]
    Source {
        /// The field.
        field: &'static str,
        /// Its value.
        got: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A file can't be read or written.
    #[error("{}: cannot {what}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// A model that is nowhere.
#[derive(Debug, thiserror::Error)]
#[error(
    "model `{card}`: no weights in {} or the hub's cache {}, and {why}; run `cleanhit models fetch` with the card where there is a network, or put {files} of {repository} at {revision} into the first folder",
    .models.display(),
    .cache.display()
)]
pub struct Absent {
    /// The card's folder.
    pub card: String,
    /// The folder looked into first.
    pub models: PathBuf,
    /// The hub's cache.
    pub cache: PathBuf,
    /// What is missing: the files that the card has a hash of, or all.
    pub files: String,
    /// The repository.
    pub repository: String,
    /// The revision.
    pub revision: String,
    /// Why the hub gave nothing.
    pub why: String,
}

/// What was fetched for a card, as the file beside the card's folder keeps it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Record {
    repository: String,
    revision: String,
    commit: String,
    sha256: BTreeMap<String, String>,
}

impl ModelSource {
    /// # Errors
    ///
    /// If the repository is not `owner/name`, the revision is empty, or a hash is not one.
    pub fn check(&self) -> Result<(), HubError> {
        let plain = |part: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !part.is_empty() && !part.starts_with('.') && part.chars().all(allowed)
        };
        let err = |field, got: &str, expected| {
            Err(HubError::Source { field, got: got.to_owned(), expected })
        };
        match self.repository.split_once('/') {
            Some((owner, name)) if plain(owner) && plain(name) => {}
            _ => return err("repository", &self.repository, "`owner/name`"),
        }
        if !self.revision.split('/').all(plain) {
            return err("revision", &self.revision, "a commit or a branch");
        }
        for (file, hash) in &self.sha256 {
            if !is_inside(file) {
                return err("sha256", file, "a path inside the repository");
            }
            if hash.len() != 64 || !hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                return err("sha256", hash, "64 hexadecimal digits in lower case");
            }
        }
        Ok(())
    }

    /// Its files, for an error: by name where the weights are one file that has a hash.
    fn files(&self) -> String {
        let mut gguf = self.sha256.keys().filter(|file| is_gguf(file));
        match (gguf.next(), gguf.next()) {
            (Some(file), None) => format!("`{file}`"),
            _ => "the files".to_owned(),
        }
    }

    /// Whether the revision is a commit.
    pub fn is_pinned(&self) -> bool {
        self.revision.len() == 40 && self.revision.bytes().all(|b| b.is_ascii_hexdigit())
    }
}

/// Finds a card's files without the network: in `<models>/<card>/`, then in the hub's cache.
/// The files with a known SHA-256, from the card or from the record of a fetch, are checked.
///
/// # Errors
///
/// If a file has other bytes than it should.
pub fn locate(
    card: &str,
    source: &ModelSource,
    models: &Path,
    settings: &HubSettings,
) -> Result<Option<Located>, HubError> {
    source.check()?;
    let own = models.join(card);
    if has_weights(&own, source) {
        check_files(&own, &source.sha256)?;
        return Ok(Some(Located { folder: own, place: Place::Models }));
    }
    let Some(folder) = cached(source, settings) else { return Ok(None) };
    if !has_weights(&folder, source) {
        return Ok(None);
    }
    let mut known = source.sha256.clone();
    if let Some(record) = read_record(&record_path(models, card))?
        && (&record.repository, &record.revision) == (&source.repository, &source.revision)
    {
        for (file, hash) in record.sha256 {
            known.entry(file).or_insert(hash);
        }
    }
    check_files(&folder, &known)?;
    Ok(Some(Located { folder, place: Place::HubCache }))
}

/// Finds a card's files, and fetches them if no folder holds them.
///
/// # Errors
///
/// If they are nowhere, or have other bytes than they should.
pub fn locate_or_fetch(
    card: &str,
    source: &ModelSource,
    models: &Path,
    settings: &HubSettings,
    progress: &dyn FetchProgress,
) -> Result<Located, HubError> {
    if let Some(located) = locate(card, source, models, settings)? {
        return Ok(located);
    }
    let absent = |why: String| {
        let (repository, revision) = (source.repository.clone(), source.revision.clone());
        let (models, cache) = (models.join(card), settings.cache.clone());
        HubError::Absent(Box::new(Absent {
            card: card.to_owned(),
            models,
            cache,
            files: source.files(),
            repository,
            revision,
            why,
        }))
    };
    if settings.offline {
        return Err(absent("HF_HUB_OFFLINE is set".to_owned()));
    }
    match fetch(card, source, models, settings, progress) {
        Ok(fetched) => Ok(Located { folder: fetched.folder, place: Place::HubCache }),
        Err(HubError::Network { endpoint, problem, .. }) => {
            Err(absent(format!("{endpoint} cannot be asked ({problem})")))
        }
        Err(err) => Err(err),
    }
}

/// The snapshot's folder in the hub's cache, if it is there.
fn cached(source: &ModelSource, settings: &HubSettings) -> Option<PathBuf> {
    let repository =
        settings.cache.join(format!("models--{}", source.repository.replace('/', "--")));
    let direct = repository.join("snapshots").join(&source.revision);
    if direct.is_dir() {
        return Some(direct);
    }
    let commit = fs::read_to_string(repository.join("refs").join(&source.revision)).ok()?;
    let folder = repository.join("snapshots").join(commit.trim());
    (is_inside(commit.trim()) && folder.is_dir()).then_some(folder)
}

/// Whether a folder holds weights in a form that is read: the GGUF files that the card has a hash
/// of, if there are any. Which files exactly a model needs is its loader's to say.
fn has_weights(folder: &Path, source: &ModelSource) -> bool {
    let mut named = source.sha256.keys().filter(|file| is_gguf(file)).peekable();
    if named.peek().is_some() {
        return named.all(|file| folder.join(file).is_file());
    }
    let plain = ["model.safetensors", "model.safetensors.index.json"];
    plain.iter().any(|file| folder.join(file).is_file())
        || fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().any(|entry| is_gguf(&entry.file_name().to_string_lossy()))
        })
}

/// Whether a file holds a whole model in GGUF, by its name.
fn is_gguf(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending == "gguf")
}

/// Checks the files of a folder that have a known hash; one that is not there is the loader's
/// to miss.
fn check_files(folder: &Path, known: &BTreeMap<String, String>) -> Result<(), HubError> {
    for (file, expected) in known {
        let path = folder.join(file);
        if path.is_file() {
            let got = sha256_of(&path)?;
            if got != *expected {
                let expected = expected.clone();
                return Err(HubError::Sha256 { path, got, expected, removed: false });
            }
        }
    }
    Ok(())
}

fn sha256_of(path: &Path) -> Result<String, HubError> {
    let failed = |source: io::Error| io_error(path, "read")(source);
    let mut file = fs::File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut buffer).map_err(failed)? {
            0 => return Ok(hex::encode(hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// Whether a path stays inside the folder it is joined to.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn record_path(models: &Path, card: &str) -> PathBuf {
    models.join(format!("{card}.fetched.json"))
}

fn read_record(path: &Path) -> Result<Option<Record>, HubError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|err| io_error(path, "read")(io::Error::new(io::ErrorKind::InvalidData, err))),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(io_error(path, "read")(err)),
    }
}

fn io_error(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> HubError {
    let path = path.to_owned();
    move |source| HubError::Io { path, what, source }
}
