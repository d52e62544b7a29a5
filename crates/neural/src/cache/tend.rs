//! Looking at a cache, and tidying it.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    CacheError, Key, Space,
    index::{SPACE, files},
    io_error,
    segment::{self, Segment},
};

/// Merged files are not larger than this many bytes of vectors.
const MERGED: usize = 64 << 20;

/// A temporary file that is older was left by a process that is gone.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// One space of a cache.
#[derive(Clone, Debug)]
pub struct SpaceStat {
    /// Its folder.
    pub folder: PathBuf,
    /// What its vectors depend on.
    pub space: Space,
    /// Files of vectors that are whole.
    pub files: usize,
    /// Files of vectors that are damaged.
    pub damaged: usize,
    /// Vectors, with repeats counted once.
    pub vectors: usize,
    /// Size of all its files.
    pub bytes: u64,
    /// When it was last opened by a method.
    pub used: SystemTime,
}

/// What [`gc`] did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct GcReport {
    /// Spaces that are left.
    pub spaces: usize,
    /// Spaces removed because they were not used for long.
    pub removed_spaces: usize,
    /// Files merged into larger ones.
    pub merged_files: usize,
    /// Damaged files and damaged vectors removed.
    pub damaged: usize,
    /// Temporary files removed.
    pub abandoned: usize,
    /// Size before.
    pub bytes_before: u64,
    /// Size after.
    pub bytes_after: u64,
}

/// Every space under `root`, by folder. No folder is an empty cache; what is not a space is
/// passed over.
///
/// # Errors
///
/// If a folder or a file can't be read.
pub fn stat(root: &Path) -> Result<Vec<SpaceStat>, CacheError> {
    let mut stats = Vec::new();
    for folder in folders(root)? {
        let path = folder.join(SPACE);
        let Some(space) = fs::read(&path).ok().and_then(|b| serde_json::from_slice(&b).ok()) else {
            continue;
        };
        let used =
            fs::metadata(&path).and_then(|m| m.modified()).map_err(io_error(&path, "read"))?;
        let bytes = size(&folder)?;
        let mut stat = SpaceStat { folder, space, files: 0, damaged: 0, vectors: 0, bytes, used };
        let mut seen: HashSet<Key> = HashSet::new();
        for (_, segment) in segments(&stat.folder, &stat.space)? {
            match segment {
                Some(segment) => {
                    stat.files += 1;
                    seen.extend((0..segment.rows()).map(|row| segment.key(row)));
                }
                None => stat.damaged += 1,
            }
        }
        stat.vectors = seen.len();
        stats.push(stat);
    }
    Ok(stats)
}

/// Merges files, removes what is damaged, left over, or in a space that was not used for
/// `unused`. Safe while methods run: what they have open stays as it is.
///
/// # Errors
///
/// If something can't be read, written or removed; what was not merged is still there.
pub fn gc(root: &Path, unused: Option<Duration>) -> Result<GcReport, CacheError> {
    let now = SystemTime::now();
    let mut report = GcReport { bytes_before: size(root)?, ..GcReport::default() };
    for stat in stat(root)? {
        let idle = now.duration_since(stat.used).unwrap_or_default();
        if unused.is_some_and(|unused| unused <= idle) {
            fs::remove_dir_all(&stat.folder).map_err(io_error(&stat.folder, "remove"))?;
            report.removed_spaces += 1;
            continue;
        }
        report.spaces += 1;
        report.abandoned += remove_abandoned(&stat.folder, now)?;
        merge(&stat, &mut report)?;
    }
    report.bytes_after = size(root)?;
    Ok(report)
}

/// Writes the good vectors of a space again, together, and removes the files they were in.
fn merge(stat: &SpaceStat, report: &mut GcReport) -> Result<(), CacheError> {
    let (digest, dim) = (stat.space.digest(), stat.space.dim);
    let mut seen: HashSet<Key> = HashSet::new();
    let mut rows: Vec<(Key, Vec<f32>)> = Vec::new();
    let (mut old, mut new) = (Vec::new(), HashSet::new());
    let mut write = |rows: &mut Vec<(Key, Vec<f32>)>| -> Result<(), CacheError> {
        if !rows.is_empty() {
            let parts: Vec<(Key, &[f32])> = rows.iter().map(|(k, v)| (*k, &v[..])).collect();
            new.insert(segment::write(&stat.folder, &digest, dim, &parts)?);
            rows.clear();
        }
        Ok(())
    };
    let mut good_files = 0;
    for (path, segment) in segments(&stat.folder, &stat.space)? {
        old.push(path);
        let Some(segment) = segment else {
            report.damaged += 1;
            continue;
        };
        good_files += 1;
        for row in 0..segment.rows() {
            let key = segment.key(row);
            let mut vector = Vec::with_capacity(dim);
            if seen.contains(&key) {
                continue;
            }
            match segment.read(row, &mut vector) {
                true => {
                    seen.insert(key);
                    rows.push((key, vector));
                }
                false => report.damaged += 1,
            }
            if MERGED <= rows.len() * dim * 4 {
                write(&mut rows)?;
            }
        }
    }
    write(&mut rows)?;
    if new.len() < good_files {
        report.merged_files += good_files;
    }
    for path in old.iter().filter(|path| !new.contains(*path)) {
        match fs::remove_file(path) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(path, "remove")(err));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The files of a space; none in place of one that is damaged. Files that go away meanwhile are
/// left out.
fn segments(folder: &Path, space: &Space) -> Result<Vec<(PathBuf, Option<Segment>)>, CacheError> {
    let digest = space.digest();
    let mut segments = Vec::new();
    for path in files(folder)? {
        match Segment::open(&path, &digest, space.dim) {
            Ok(segment) => segments.push((path, segment)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(io_error(&path, "read")(err)),
        }
    }
    Ok(segments)
}

fn remove_abandoned(folder: &Path, now: SystemTime) -> Result<usize, CacheError> {
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(io_error(folder, "read"))?.flatten() {
        let temporary = entry.file_name().to_string_lossy().starts_with(segment::TEMPORARY);
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if temporary && age.is_some_and(|age| ABANDONED <= age) {
            fs::remove_file(entry.path()).map_err(io_error(&entry.path(), "remove"))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The folders in a folder, by name.
fn folders(root: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(io_error(root, "read")(err)),
    };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    Ok(folders)
}

/// Bytes in a folder and the folders in it.
fn size(folder: &Path) -> Result<u64, CacheError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(err) => return Err(io_error(folder, "read")(err)),
    };
    let mut bytes = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        bytes += match path.is_dir() {
            true => size(&path)?,
            false => entry.metadata().map_or(0, |metadata| metadata.len()),
        };
    }
    Ok(bytes)
}
