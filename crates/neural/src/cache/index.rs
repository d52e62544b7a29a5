//! One space: its files, and the vectors that are not in a file yet.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use super::{CacheError, Key, Space, io_error, segment, segment::Segment};

/// The vectors of one space.
#[derive(Debug)]
pub(super) struct Index {
    folder: PathBuf,
    digest: [u8; 32],
    dim: usize,
    segments: Vec<Segment>,
    places: HashMap<Key, Place>,
    pending: Vec<(Key, Vec<f32>)>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Row of a file.
    Written {
        segment: usize,
        row: usize,
    },
    Pending(usize),
}

/// What a folder's `space.json` is called.
pub(super) const SPACE: &str = "space.json";

impl Index {
    /// Opens a space, or makes it. Damaged files are as if they were not there.
    pub(super) fn open(root: &Path, space: &Space) -> Result<Index, CacheError> {
        let folder = space.folder(root);
        claim(&folder, space)?;
        let digest = space.digest();
        let mut index = Index {
            folder,
            digest,
            dim: space.dim,
            segments: Vec::new(),
            places: HashMap::new(),
            pending: Vec::new(),
        };
        index.scan()?;
        Ok(index)
    }

    /// Opens all files; again if one is gone meanwhile, because another process merged it.
    fn scan(&mut self) -> Result<(), CacheError> {
        for _ in 0..8 {
            self.segments.clear();
            self.places.clear();
            let opened = files(&self.folder)?.iter().try_for_each(|path| self.add(path));
            match opened {
                Ok(()) => return Ok(()),
                Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(err) => return Err(err),
            }
        }
        // Files that keep going away are no reason to fail: their vectors are embedded again.
        Ok(())
    }

    fn add(&mut self, path: &Path) -> Result<(), CacheError> {
        let opened = Segment::open(path, &self.digest, self.dim).map_err(io_error(path, "read"))?;
        if let Some(opened) = opened {
            let segment = self.segments.len();
            for row in 0..opened.rows() {
                self.places.insert(opened.key(row), Place::Written { segment, row });
            }
            self.segments.push(opened);
        }
        Ok(())
    }

    /// Appends the vector of `key`; false if it is not known, or damaged.
    pub(super) fn read(&self, key: &Key, values: &mut Vec<f32>) -> bool {
        match self.places.get(key) {
            None => false,
            // A file may hold again what is damaged in another.
            Some(&Place::Written { segment, row }) => {
                self.segments[segment].read(row, values)
                    || self
                        .segments
                        .iter()
                        .any(|s| s.find(key).is_some_and(|row| s.read(row, values)))
            }
            Some(&Place::Pending(i)) => {
                values.extend(&self.pending[i].1);
                true
            }
        }
    }

    /// Keeps a vector; [`Index::flush`] writes it.
    pub(super) fn keep(&mut self, key: Key, vector: &[f32]) {
        self.places.insert(key, Place::Pending(self.pending.len()));
        self.pending.push((key, vector.to_vec()));
    }

    /// Vectors that are not written yet.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Writes what is pending.
    pub(super) fn flush(&mut self) -> Result<(), CacheError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let rows: Vec<(Key, &[f32])> = self.pending.iter().map(|(k, v)| (*k, &v[..])).collect();
        let path = segment::write(&self.folder, &self.digest, self.dim, &rows)?;
        self.pending.clear();
        match self.add(&path) {
            // Merged away by another process already: its vectors are in the merged file.
            Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.scan()
            }
            other => other,
        }
    }
}

/// The vector files of a space, by name.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error(folder, "read"))? {
        let path = entry.map_err(io_error(folder, "read"))?.path();
        if path.extension().is_some_and(|ending| ending == segment::ENDING) {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Makes sure that the folder is this space's, and notes that it was used.
fn claim(folder: &Path, space: &Space) -> Result<(), CacheError> {
    let path = folder.join(SPACE);
    match fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice::<Space>(&bytes) {
            Ok(found) if found == *space => {
                touch(&path);
                Ok(())
            }
            _ => Err(CacheError::OtherSpace { path }),
        },
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            let failed = |source: io::Error| io_error(&path, "write")(source);
            fs::create_dir_all(folder).map_err(failed)?;
            let bytes = serde_json::to_vec_pretty(space).map_err(|err| failed(err.into()))?;
            let file = tempfile::Builder::new().prefix(segment::TEMPORARY).tempfile_in(folder);
            let mut file = file.map_err(failed)?;
            io::Write::write_all(&mut file, &bytes).map_err(failed)?;
            file.as_file().sync_all().map_err(failed)?;
            file.persist(&path).map_err(|err| failed(err.error))?;
            Ok(())
        }
        Err(err) => Err(io_error(&path, "read")(err)),
    }
}

/// When the space was last used is of use to [`super::gc`] alone, so a failure is no matter.
fn touch(path: &Path) {
    if let Ok(file) = fs::File::options().append(true).open(path) {
        let _ = file.set_modified(std::time::SystemTime::now());
    }
}
