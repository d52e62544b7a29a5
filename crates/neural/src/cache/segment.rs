//! One file of vectors.
//!
//! Little-endian: `magic [8]`, `dim u32`, `rows u32`, `space [32]`, `check [32]`, then a table of
//! `rows` keys of 32 bytes, ascending, a table of `rows` row checks of 8 bytes, and the vectors.
//! `check` is the SHA-256 of all before it and of both tables; a row's check is the start of the
//! SHA-256 of its key and its vector.

use std::{
    cmp::Ordering,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{CacheError, Key, io_error};
use crate::mapped::Mapped;

const MAGIC: [u8; 8] = *b"chvec\0\0\x01";
const HEADER: usize = 48;
const TABLE: usize = HEADER + 32;
const KEY: usize = 32;
const CHECK: usize = 8;

/// The ending of a file of vectors.
pub(super) const ENDING: &str = "vectors";
/// How the name of a file that is being written starts.
pub(super) const TEMPORARY: &str = ".tmp-";

/// A file whose table is whole.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Mapped,
    dim: usize,
    rows: usize,
}

impl Segment {
    /// Maps a file. None if it is damaged, or of another space.
    pub(super) fn open(path: &Path, space: &[u8; 32], dim: usize) -> io::Result<Option<Segment>> {
        if fs::metadata(path)?.len() < TABLE as u64 {
            return Ok(None);
        }
        let bytes = Mapped::open(path)?;
        let u32_at = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(four) as usize
        };
        let rows = u32_at(12);
        let expected =
            rows.checked_mul(KEY + CHECK + 4 * dim).and_then(|tables| tables.checked_add(TABLE));
        let whole = bytes[..8] == MAGIC
            && u32_at(8) == dim
            && bytes[16..HEADER] == *space
            && expected == Some(bytes.len())
            && bytes[HEADER..TABLE]
                == check(&bytes[..HEADER], &bytes[TABLE..][..rows * (KEY + CHECK)]);
        Ok(whole.then_some(Segment { bytes, dim, rows }))
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn key(&self, row: usize) -> Key {
        let mut key = [0; KEY];
        key.copy_from_slice(&self.bytes[TABLE + row * KEY..][..KEY]);
        key
    }

    /// The row of a key.
    pub(super) fn find(&self, key: &Key) -> Option<usize> {
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).cmp(key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Appends the vector of a row; false, and nothing appended, if it is damaged.
    pub(super) fn read(&self, row: usize, values: &mut Vec<f32>) -> bool {
        let checks = TABLE + self.rows * KEY;
        let vectors = checks + self.rows * CHECK;
        let vector = &self.bytes[vectors + row * 4 * self.dim..][..4 * self.dim];
        if self.bytes[checks + row * CHECK..][..CHECK] != row_check(&self.key(row), vector) {
            return false;
        }
        values.extend(vector.chunks_exact(4).map(|four| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(four);
            f32::from_le_bytes(bytes)
        }));
        true
    }
}

/// Writes rows, `(key, vector of dim values)`, to a new file in `folder`; returns its path.
/// Repeated keys are written once.
pub(super) fn write(
    folder: &Path,
    space: &[u8; 32],
    dim: usize,
    rows: &[(Key, &[f32])],
) -> Result<PathBuf, CacheError> {
    let mut rows: Vec<&(Key, &[f32])> = rows.iter().collect();
    rows.sort_by_key(|(key, _)| key);
    rows.dedup_by_key(|(key, _)| key);
    let narrow = |n: usize| u32::try_from(n).map_err(|_| CacheError::TooMany(n));
    let mut header = MAGIC.to_vec();
    header.extend(narrow(dim)?.to_le_bytes());
    header.extend(narrow(rows.len())?.to_le_bytes());
    header.extend(space);
    let mut tables = Vec::with_capacity(rows.len() * (KEY + CHECK));
    let mut vectors = Vec::with_capacity(rows.len() * dim * 4);
    tables.extend(rows.iter().flat_map(|(key, _)| key));
    for (key, vector) in &rows {
        let start = vectors.len();
        vectors.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        tables.extend(row_check(key, &vectors[start..]));
    }
    let check = check(&header, &tables);
    let path = folder.join(format!("{}.{ENDING}", hex::encode(&check[..16])));
    let failed = |source: io::Error| io_error(&path, "write")(source);
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file =
        tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder).map_err(failed)?;
    for part in [&header[..], &check, &tables, &vectors] {
        file.write_all(part).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|err| failed(err.error))?;
    Ok(path)
}

fn check(header: &[u8], tables: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(header).chain_update(tables).finalize().into()
}

fn row_check(key: &Key, vector: &[u8]) -> [u8; CHECK] {
    let digest = Sha256::new().chain_update(key).chain_update(vector).finalize();
    let mut start = [0; CHECK];
    start.copy_from_slice(&digest[..CHECK]);
    start
}
