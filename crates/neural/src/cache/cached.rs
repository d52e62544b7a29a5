//! An embedding model that embeds nothing twice.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role, embed_checked};
use rayon::prelude::*;

use super::{CacheError, Key, Space, index::Index, key};

/// Texts handed to the model at once. Each handful is written before the next is begun, so that
/// a kill loses one.
const CHUNK: usize = 512;

/// Vectors that calls with a single text may leave unwritten.
const PENDING: usize = 256;

type Progress = Box<dyn Fn(usize, usize) + Send + Sync>;

/// A model, and the vectors it gave before.
pub struct Cached<M> {
    model: M,
    root: PathBuf,
    digest: String,
    device: String,
    query: Mutex<Option<Index>>,
    document: Mutex<Option<Index>>,
    progress: Option<Progress>,
    found: AtomicUsize,
    embedded: AtomicUsize,
}

/// What a cache did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheCounts {
    /// Vectors that were read.
    pub found: usize,
    /// Texts that the model embedded.
    pub embedded: usize,
}

impl<M: EmbeddingModel> Cached<M> {
    /// Keeps the vectors of `model` under `root`. `digest` names everything that decides them:
    /// the model's files, prefixes, pooling, limits. `device` is where they are computed.
    pub fn new(model: M, digest: &str, device: &str, root: &Path) -> Cached<M> {
        Cached {
            model,
            root: root.to_owned(),
            digest: digest.to_owned(),
            device: device.to_owned(),
            query: Mutex::new(None),
            document: Mutex::new(None),
            progress: None,
            found: AtomicUsize::new(0),
            embedded: AtomicUsize::new(0),
        }
    }

    /// Calls `progress` with the texts embedded so far and those to embed, before the first and
    /// after each handful.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// What was read and what was embedded so far.
    pub fn counts(&self) -> CacheCounts {
        let get = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        CacheCounts { found: get(&self.found), embedded: get(&self.embedded) }
    }

    /// Writes what calls with a single text left unwritten.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn flush(&self) -> Result<(), CacheError> {
        for role in [Role::Query, Role::Document] {
            if let Some(index) = self.lock(role).as_mut() {
                index.flush()?;
            }
        }
        Ok(())
    }

    fn lock(&self, role: Role) -> MutexGuard<'_, Option<Index>> {
        let index = match role {
            Role::Query => &self.query,
            Role::Document => &self.document,
        };
        index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `f` on the role's vectors, which are opened first if they are not.
    fn with<T>(
        &self,
        role: Role,
        f: impl FnOnce(&mut Index) -> Result<T, CacheError>,
    ) -> Result<T, CacheError> {
        let mut guard = self.lock(role);
        let index = match guard.take() {
            Some(index) => guard.insert(index),
            None => {
                let (model, device) = (self.digest.clone(), self.device.clone());
                let dim = self.model.dim();
                let space = Space { model, role: role.into(), device, dim };
                guard.insert(Index::open(&self.root, &space)?)
            }
        };
        f(index)
    }

    /// Embeds what is missing, keeps the vectors, and hands each to `place`.
    fn embed_missing(
        &self,
        role: Role,
        missing: &[(Key, Missing<'_>)],
        mut place: impl FnMut(&[usize], &[f32]),
    ) -> Result<(), BoxError> {
        let say = |done| self.progress.iter().for_each(|progress| progress(done, missing.len()));
        say(0);
        let mut done = 0;
        for chunk in missing.chunks(CHUNK) {
            let texts: Vec<&str> = chunk.iter().map(|(_, missing)| missing.text).collect();
            // Without the lock: another thread may read meanwhile.
            let vectors = embed_checked(&self.model, role, &texts)?;
            self.with(role, |index| {
                for (i, (key, missing)) in chunk.iter().enumerate() {
                    index.keep(*key, vectors.row(i));
                    place(&missing.rows, vectors.row(i));
                }
                match 1 < chunk.len() || PENDING <= index.pending() {
                    true => index.flush(),
                    false => Ok(()),
                }
            })?;
            done += chunk.len();
            self.embedded.fetch_add(chunk.len(), Ordering::Relaxed);
            say(done);
        }
        Ok(())
    }
}

/// A text without a vector, and the rows that wait for it.
struct Missing<'a> {
    text: &'a str,
    rows: Vec<usize>,
}

impl<M: EmbeddingModel> EmbeddingModel for Cached<M> {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let dim = self.dim();
        let keys: Vec<Key> = texts.par_iter().map(|text| key(text)).collect();
        let mut values = Vec::with_capacity(texts.len() * dim);
        let mut missing: HashMap<Key, Missing<'_>> = HashMap::new();
        self.with(role, |index| {
            for (row, (key, text)) in keys.iter().zip(texts).enumerate() {
                if !index.read(key, &mut values) {
                    values.extend(std::iter::repeat_n(0.0, dim));
                    let missing = missing.entry(*key);
                    missing.or_insert_with(|| Missing { text, rows: Vec::new() }).rows.push(row);
                }
            }
            Ok(())
        })?;
        self.found.fetch_add(texts.len() - missing.len(), Ordering::Relaxed);
        if !missing.is_empty() {
            // Texts of like length together: no time is lost on padding.
            let mut missing: Vec<(Key, Missing<'_>)> = missing.into_iter().collect();
            missing.sort_unstable_by_key(|(key, missing)| (missing.text.len(), *key));
            self.embed_missing(role, &missing, |rows, vector| {
                for row in rows {
                    values[row * dim..(row + 1) * dim].copy_from_slice(vector);
                }
            })?;
        }
        Ok(Embeddings::new(dim, values)?)
    }
}

impl<M> Drop for Cached<M> {
    fn drop(&mut self) {
        for index in [&mut self.query, &mut self.document] {
            if let Ok(Some(index)) = index.get_mut() {
                // A vector that could not be written is embedded again.
                let _ = index.flush();
            }
        }
    }
}
