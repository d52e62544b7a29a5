//! One writer at a time in a folder.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use crate::{
    error::InputError,
    files::{check_target, is_same_open},
};

/// The lock's file. Readers of folders leave it out; without its owner it does no harm.
const NAME: &str = ".cleanhit.lock";

/// Holds a folder for as long as it lives, so that two runs don't mix their files in it.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    /// Locked until it is closed, also when the process is killed.
    file: File,
    /// Folders that were not there before, the deepest first.
    made: Vec<PathBuf>,
}

impl FolderLock {
    /// Locks a folder, which is created with its parents. Where the file system has no locks,
    /// nothing is locked.
    ///
    /// # Errors
    ///
    /// If another process holds it, or it cannot be written.
    pub fn take(folder: &Path) -> Result<FolderLock, InputError> {
        let failed = |error: std::io::Error| {
            InputError::new(folder.display(), format!("cannot write: {error}"))
        };
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let made = folder.ancestors().take_while(missing).map(Path::to_owned).collect();
        fs::create_dir_all(folder).map_err(failed)?;
        let path = folder.join(NAME);
        loop {
            check_target(&path)?;
            let mut options = File::options();
            let file = options.create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(failed)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let error = InputError::new(folder.display(), "another run is writing here");
                    return Err(error.expected("its end, or another output folder"));
                }
                Err(TryLockError::Error(error))
                    if error.kind() != std::io::ErrorKind::Unsupported =>
                {
                    return Err(failed(error));
                }
                // Whoever held it may have removed the file between the two calls.
                Ok(()) if !is_same_open(&file, &path) => {}
                _ => return Ok(FolderLock { path, file, made }),
            }
        }
    }
}

impl Drop for FolderLock {
    /// Removes the file while it is still locked, and the folders that it made and that stayed
    /// empty. What cannot be removed does no harm.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer_and_no_trace_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        let lock = FolderLock::take(&folder).unwrap();
        let error = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "a/b: another run is writing here; expected its end, or another output folder"
            ),
            "{error}"
        );
        drop(lock);
        assert!(!dir.path().join("a").exists(), "empty folders are gone");
        let lock = FolderLock::take(&folder).unwrap();
        fs::write(folder.join("kept"), b"x").unwrap();
        drop(lock);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        // What a killed run left is nobody's.
        fs::write(folder.join(NAME), b"").unwrap();
        drop(FolderLock::take(&folder).unwrap());
        assert!(!folder.join(NAME).exists());
    }
}
