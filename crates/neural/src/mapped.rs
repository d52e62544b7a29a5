//! Files as memory. The one file that maps them.

use std::{fs::File, io, ops::Deref, path::Path};

/// A whole file, mapped read-only. Derefs to its bytes.
#[derive(Debug)]
pub(crate) struct Mapped(memmap2::Mmap);

impl Mapped {
    /// Maps a file. What maps must not be changed in place while it is mapped: the files of this
    /// crate's caches are written under another name and renamed, and a model's weights are read
    /// as they were installed.
    pub(crate) fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        #[expect(unsafe_code, reason = "mapping a file has no safe form")]
        // SAFETY: the bytes stay valid as long as nobody shortens or rewrites the file. Removing
        // or replacing it by a rename leaves the mapped bytes as they are.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Mapped(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
