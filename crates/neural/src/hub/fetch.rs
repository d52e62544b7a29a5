//! Fetching from the hub into its cache, with the hub's own client.

use std::{
    collections::BTreeMap,
    fs, io,
    net::{TcpStream, ToSocketAddrs as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hf_hub::{
    Cache, Repo, RepoType,
    api::{
        Progress,
        sync::{ApiBuilder, ApiError, ApiRepo},
    },
};

use super::{
    HubError, HubSettings, ModelSource, Record, io_error, is_inside, record_path, sha256_of,
};

/// Hears how a fetch goes. All calls come from the thread that fetches.
pub trait FetchProgress {
    /// A file begins, of so many bytes.
    fn begin(&self, file: &str, bytes: u64);
    /// So many bytes more are here.
    fn advance(&self, bytes: u64);
    /// The file is here.
    fn end(&self);
}

/// A model that was fetched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetched {
    /// Its folder in the hub's cache.
    pub folder: PathBuf,
    /// The commit that the revision names.
    pub commit: String,
    /// SHA-256 of each file, by its path in the repository.
    pub sha256: BTreeMap<String, String>,
}

/// Nobody listens.
impl FetchProgress for () {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}

/// How long to wait for the hub to answer at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fetches the files that a model needs, checks them, and records their hashes beside the
/// models' folders. What an interrupted fetch left is resumed; a file with wrong bytes is removed.
///
/// # Errors
///
/// If the hub can't be asked, refuses, has no such revision or no weights; if a file has other
/// bytes than the card, an earlier fetch of the same revision or the hub itself says.
pub fn fetch(
    card: &str,
    source: &ModelSource,
    models: &Path,
    settings: &HubSettings,
    progress: &dyn FetchProgress,
) -> Result<Fetched, HubError> {
    source.check()?;
    reach(source, settings)?;
    let failed = |err: ApiError| api_error(source, settings, &err);
    let repository = || {
        let (id, revision) = (source.repository.clone(), source.revision.clone());
        Repo::with_revision(id, RepoType::Model, revision)
    };
    let api = ApiBuilder::from_cache(Cache::new(settings.cache.clone()))
        .with_endpoint(settings.endpoint.clone())
        .with_token(settings.token.clone())
        .with_progress(false)
        .with_retries(2)
        .build()
        .map_err(failed)?;
    let api = api.repo(repository());
    let info = api.info().map_err(failed)?;
    let listed: Vec<String> = info.siblings.into_iter().map(|file| file.rfilename).collect();
    let files = needed(source, &listed)?;
    let mut sha256 = BTreeMap::new();
    let mut folder = None;
    for file in &files {
        let path = download(&api, source, settings, file, progress)?;
        let got = sha256_of(&path)?;
        if let Some(expected) = expected(source, file, &path)
            && expected != got
        {
            discard(&path)?;
            return Err(HubError::Sha256 { path, got, expected, removed: true });
        }
        folder.get_or_insert_with(|| above(&path, file));
        sha256.insert(file.clone(), got);
    }
    let folder = folder.ok_or_else(|| HubError::NoWeights {
        repository: source.repository.clone(),
        revision: source.revision.clone(),
        expected: "file that a model needs",
    })?;
    let record = Record {
        repository: source.repository.clone(),
        revision: source.revision.clone(),
        commit: info.sha.clone(),
        sha256: sha256.clone(),
    };
    write_record(&record_path(models, card), &record)?;
    Ok(Fetched { folder, commit: info.sha, sha256 })
}

/// The files of a repository that a model needs.
fn needed(source: &ModelSource, listed: &[String]) -> Result<Vec<String>, HubError> {
    const PLAIN: [&str; 9] = [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "modules.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
        "generation_config.json",
        "chat_template.jinja",
    ];
    // A repository has a model in GGUF many times over: the card's hash says which is meant.
    let gguf: Vec<&String> = source.sha256.keys().filter(|file| super::is_gguf(file)).collect();
    let whole = listed.iter().any(|file| file == "model.safetensors");
    let is_shard = |file: &str| {
        let rest = file.strip_prefix("model-").and_then(|rest| rest.strip_suffix(".safetensors"));
        rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b"-of".contains(&b)))
    };
    let weights = |file: &str| match whole {
        _ if !gguf.is_empty() => gguf.iter().any(|named| *named == file),
        true => file == "model.safetensors",
        false => file == "model.safetensors.index.json" || is_shard(file),
    };
    // `1_Pooling/config.json` and the folders of other modules.
    let module = |file: &str| match file.split_once('/') {
        Some((folder, rest)) => {
            let numbered = folder.split_once('_').is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            });
            numbered && ["config.json", "model.safetensors"].contains(&rest)
        }
        None => false,
    };
    if !listed.iter().any(|file| weights(file)) {
        return Err(HubError::NoWeights {
            repository: source.repository.clone(),
            revision: source.revision.clone(),
            expected: match gguf.is_empty() {
                true => "`model.safetensors`, whole or in shards",
                false => "GGUF file of which the card has a hash",
            },
        });
    }
    let wanted = |file: &&String| {
        is_inside(file) && (PLAIN.contains(&file.as_str()) || weights(file) || module(file))
    };
    // Small files first: a model that will be refused is refused before its weights come.
    let mut files: Vec<String> = listed.iter().filter(wanted).cloned().collect();
    files.sort_by_key(|file| (weights(file), file.clone()));
    files.dedup();
    Ok(files)
}

/// Fetches a file, unless it is in the cache.
fn download(
    api: &ApiRepo,
    source: &ModelSource,
    settings: &HubSettings,
    file: &str,
    progress: &dyn FetchProgress,
) -> Result<PathBuf, HubError> {
    if let Some(path) = super::cached(source, settings).map(|folder| folder.join(file))
        && path.is_file()
    {
        return Ok(path);
    }
    let expected = Arc::new(AtomicU64::new(0));
    let listener = Listener { progress, expected: Arc::clone(&expected) };
    let path = match api.download_with_progress(file, listener) {
        // What an earlier fetch left is longer than the file: it is of no use.
        Err(ApiError::InvalidResume) => {
            remove_parts(source, settings)?;
            let listener = Listener { progress, expected: Arc::clone(&expected) };
            api.download_with_progress(file, listener)
        }
        other => other,
    }
    .map_err(|err| api_error(source, settings, &err))?;
    let got = fs::metadata(&path).map_err(io_error(&path, "read"))?.len();
    let expected = expected.load(Ordering::Relaxed);
    if got != expected {
        discard(&path)?;
        return Err(HubError::Length { file: file.to_owned(), got, expected });
    }
    Ok(path)
}

/// What the file's bytes should hash to: as the card says, or as the hub's cache names large
/// files, which is by their SHA-256.
fn expected(source: &ModelSource, file: &str, path: &Path) -> Option<String> {
    if let Some(expected) = source.sha256.get(file) {
        return Some(expected.clone());
    }
    let blob = fs::canonicalize(path).ok()?;
    let name = blob.file_name()?.to_str()?;
    (name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| name.to_ascii_lowercase())
}

/// Removes a file of the cache, and what it links to.
fn discard(path: &Path) -> Result<(), HubError> {
    let blob = fs::canonicalize(path).map_err(io_error(path, "read"))?;
    for path in [path, &blob] {
        match fs::remove_file(path) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(path, "remove")(err));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes what interrupted fetches of a repository left.
fn remove_parts(source: &ModelSource, settings: &HubSettings) -> Result<(), HubError> {
    let name = format!("models--{}", source.repository.replace('/', "--"));
    let blobs = settings.cache.join(name).join("blobs");
    for entry in fs::read_dir(&blobs).map_err(io_error(&blobs, "read"))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "part") {
            fs::remove_file(&path).map_err(io_error(&path, "remove"))?;
        }
    }
    Ok(())
}

/// The snapshot's folder, from the path of a file in it.
fn above(path: &Path, file: &str) -> PathBuf {
    let depth = file.split('/').count();
    path.ancestors().nth(depth).unwrap_or(path).to_owned()
}

fn write_record(path: &Path, record: &Record) -> Result<(), HubError> {
    let failed = |source: io::Error| io_error(path, "write")(source);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let bytes = serde_json::to_vec_pretty(record).map_err(|err| failed(err.into()))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    io::Write::write_all(&mut file, &bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|err| failed(err.error))?;
    Ok(())
}

/// Whether the hub answers: the client itself would wait for ever.
fn reach(source: &ModelSource, settings: &HubSettings) -> Result<(), HubError> {
    if settings.proxied {
        return Ok(());
    }
    let failed = |problem: String| HubError::Network {
        repository: source.repository.clone(),
        endpoint: settings.endpoint.clone(),
        problem,
    };
    let endpoint = settings.endpoint.as_str();
    let (rest, port) = match endpoint.split_once("://") {
        Some(("https", rest)) => (rest, "443"),
        Some(("http", rest)) => (rest, "80"),
        _ => {
            return Err(failed(
                "expected HF_ENDPOINT to start with `http://` or `https://`".into(),
            ));
        }
    };
    let host = rest.split('/').next().unwrap_or_default();
    let with_port = match host.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host.to_owned(),
        _ => format!("{host}:{port}"),
    };
    let addresses = with_port.to_socket_addrs().map_err(|err| failed(err.to_string()))?;
    let mut last = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(err) => last = err.to_string(),
        }
    }
    Err(failed(last))
}

fn api_error(source: &ModelSource, settings: &HubSettings, err: &ApiError) -> HubError {
    let (repository, revision) = (source.repository.clone(), source.revision.clone());
    match err {
        ApiError::TooManyRetries(inner) => api_error(source, settings, inner),
        ApiError::RequestError(request) => match **request {
            ureq::Error::StatusCode(404) => HubError::NotFound { repository, revision },
            ureq::Error::StatusCode(status @ (401 | 403)) => {
                HubError::Refused { repository, status }
            }
            ref other => network(source, settings, other),
        },
        ApiError::IoError(err) => match err.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::PermissionDenied => HubError::Io {
                path: settings.cache.clone(),
                what: "write",
                source: io::Error::new(err.kind(), err.to_string()),
            },
            _ => network(source, settings, err),
        },
        other => network(source, settings, other),
    }
}

fn network(
    source: &ModelSource,
    settings: &HubSettings,
    problem: &dyn std::fmt::Display,
) -> HubError {
    HubError::Network {
        repository: source.repository.clone(),
        endpoint: settings.endpoint.clone(),
        problem: problem.to_string().replace('\n', " "),
    }
}

/// The client's calls in our terms.
struct Listener<'a> {
    progress: &'a dyn FetchProgress,
    expected: Arc<AtomicU64>,
}

impl Progress for Listener<'_> {
    fn init(&mut self, size: usize, file: &str) {
        self.expected.store(size as u64, Ordering::Relaxed);
        self.progress.begin(file, size as u64);
    }

    fn update(&mut self, size: usize) {
        self.progress.advance(size as u64);
    }

    fn finish(&mut self) {
        self.progress.end();
    }
}
