//! Looking at journals, and tidying them.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    JournalError, Subject,
    file::{ANSWERS, Locked, SUBJECT, TEMPORARY, open},
    io_error, lines,
};

/// An unfinished file that is older was left by a process that is gone.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// One journal.
#[derive(Clone, Debug)]
pub struct JournalStat {
    /// Its folder.
    pub folder: PathBuf,
    /// What its answers depend on.
    pub subject: Subject,
    /// Lines that are whole.
    pub answers: usize,
    /// Lines that are damaged, a torn last one among them.
    pub damaged: usize,
    /// Size of its file of answers.
    pub bytes: u64,
    /// When it was last opened by a method.
    pub used: SystemTime,
}

/// What [`gc`] did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JournalGc {
    /// Journals that are left.
    pub journals: usize,
    /// Journals removed because they were not used for long.
    pub removed: usize,
    /// Damaged lines dropped.
    pub damaged: usize,
    /// Size before.
    pub bytes_before: u64,
    /// Size after.
    pub bytes_after: u64,
}

/// Every journal under `root`, by folder. No folder is no journal; what is not a journal is
/// passed over.
///
/// # Errors
///
/// If a folder or a file can't be read.
pub fn stat(root: &Path) -> Result<Vec<JournalStat>, JournalError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(io_error(root, "read")(err)),
    };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort_unstable();
    let mut stats = Vec::new();
    for folder in folders {
        let path = folder.join(SUBJECT);
        let subject = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(subject) = subject else { continue };
        let used =
            fs::metadata(&path).and_then(|m| m.modified()).map_err(io_error(&path, "read"))?;
        let path = folder.join(ANSWERS);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(err) => return Err(io_error(&path, "read")(err)),
        };
        let (good, damaged) = sorted(&bytes);
        let (answers, bytes) = (good.len(), bytes.len() as u64);
        stats.push(JournalStat { folder, subject, answers, damaged, bytes, used });
    }
    Ok(stats)
}

/// Drops damaged lines, and removes journals that were not used for `unused`. What a method that
/// runs meanwhile is answered may be lost, and is asked again.
///
/// # Errors
///
/// If something can't be read, written or removed.
pub fn gc(root: &Path, unused: Option<Duration>) -> Result<JournalGc, JournalError> {
    let now = SystemTime::now();
    let mut report = JournalGc::default();
    for stat in stat(root)? {
        report.bytes_before += stat.bytes;
        let idle = now.duration_since(stat.used).unwrap_or_default();
        if unused.is_some_and(|unused| unused <= idle) {
            fs::remove_dir_all(&stat.folder).map_err(io_error(&stat.folder, "remove"))?;
            report.removed += 1;
            continue;
        }
        report.journals += 1;
        remove_abandoned(&stat.folder, now)?;
        if 0 < stat.damaged {
            report.damaged += mend(&stat.folder)?;
        }
        let path = stat.folder.join(ANSWERS);
        report.bytes_after += fs::metadata(&path).map_or(0, |metadata| metadata.len());
    }
    Ok(report)
}

/// Writes the good lines to a file of their own and puts it in the place of the other; how many
/// lines were not good.
fn mend(folder: &Path) -> Result<usize, JournalError> {
    let path = folder.join(ANSWERS);
    let mut file = open(&path).map_err(io_error(&path, "open"))?;
    let mut bytes = Vec::new();
    let held = file.try_clone().map_err(io_error(&path, "open"))?;
    let _locked = Locked::new(&held).map_err(io_error(&path, "lock"))?;
    file.read_to_end(&mut bytes).map_err(io_error(&path, "read"))?;
    let (good, damaged) = sorted(&bytes);
    let failed = |source: io::Error| io_error(&path, "write")(source);
    let new = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder);
    let mut new = new.map_err(failed)?;
    new.write_all(&good.concat()).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(&path).map_err(|err| failed(err.error))?;
    Ok(damaged)
}

/// The good lines, with their ends, and how many others there are.
fn sorted(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let all: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let is_good =
        |line: &&[u8]| line.strip_suffix(b"\n").is_some_and(|line| lines::read(line).is_ok());
    let good: Vec<&[u8]> = all.iter().copied().filter(is_good).collect();
    let damaged = all.len() - good.len();
    (good, damaged)
}

fn remove_abandoned(folder: &Path, now: SystemTime) -> Result<(), JournalError> {
    for entry in fs::read_dir(folder).map_err(io_error(folder, "read"))?.flatten() {
        let temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if temporary && age.is_some_and(|age| ABANDONED <= age) {
            fs::remove_file(entry.path()).map_err(io_error(&entry.path(), "remove"))?;
        }
    }
    Ok(())
}
