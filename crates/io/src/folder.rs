//! Where a benchmark's files are.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use crate::{
    error::{InputError, tick},
    files::{is_there, read_regular},
};

/// A folder on disk, or one inside the binary.
///
/// Paths are relative, with `/`. `..` is resolved lexically, so that a bench can name files
/// beside its own folder.
#[derive(Clone, Debug)]
pub enum Folder {
    /// A folder on disk.
    Disk(PathBuf),
    /// A virtual folder among files that are part of the binary.
    Bundled {
        /// What the files are called in messages.
        name: &'static str,
        /// The folder that paths are relative to; empty for the top.
        root: String,
        /// All files by path.
        files: Arc<BTreeMap<String, &'static [u8]>>,
    },
}

impl Folder {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// If `rel` is not relative, or there is no such file, or it cannot be read.
    pub fn read(&self, rel: &str) -> Result<Cow<'static, [u8]>, InputError> {
        if !is_relative(rel) {
            let problem = format!("path {} is not relative", tick(rel));
            return Err(InputError::new(self.show("."), problem).expected("a path relative to it"));
        }
        match self {
            Folder::Disk(dir) => read_regular(&lexical(&dir.join(rel))).map(Cow::Owned),
            Folder::Bundled { root, files, .. } => {
                match join(root, rel).and_then(|path| files.get(&path)) {
                    Some(&bytes) => Ok(Cow::Borrowed(bytes)),
                    None => {
                        let error = InputError::new(self.show(rel), "no such file");
                        Err(error.expected("a file that is there"))
                    }
                }
            }
        }
    }

    /// Whether there is anything of that name, be it readable or not.
    pub fn exists(&self, rel: &str) -> bool {
        is_relative(rel)
            && match self {
                Folder::Disk(dir) => is_there(&lexical(&dir.join(rel))),
                Folder::Bundled { root, files, .. } => {
                    join(root, rel).is_some_and(|path| files.contains_key(&path))
                }
            }
    }

    /// Where a file of a folder on disk is.
    pub(crate) fn path(&self, rel: &str) -> Option<PathBuf> {
        match self {
            Folder::Disk(dir) if is_relative(rel) => Some(lexical(&dir.join(rel))),
            _ => None,
        }
    }

    /// The path as shown to the user.
    pub fn show(&self, rel: &str) -> String {
        match self {
            Folder::Disk(dir) => lexical(&dir.join(rel)).display().to_string(),
            Folder::Bundled { name, root, .. } => match join(root, rel) {
                Some(path) if path.is_empty() => format!("<{name}>"),
                Some(path) => format!("<{name}>/{path}"),
                None => format!("<{name}>/{root}/{rel}"),
            },
        }
    }
}

fn is_relative(rel: &str) -> bool {
    !rel.is_empty() && !rel.starts_with('/') && Path::new(rel).is_relative()
}

/// `root/rel` without `.` and `..`; none if it leaves the top.
fn join(root: &str, rel: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in root.split('/').chain(rel.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The path without `.` and with each `..` taken against the name before it, if there is one.
fn lexical(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            (Component::ParentDir, Some(Component::RootDir)) => {}
            (part, _) => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => PathBuf::from("."),
        false => parts.iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundled(root: &str) -> Folder {
        let files = BTreeMap::from([("pools/p.jsonl".to_owned(), &b"pool"[..])]);
        Folder::Bundled { name: "kit", root: root.to_owned(), files: Arc::new(files) }
    }

    #[test]
    fn a_bundled_folder_resolves_parents_and_stays_inside() {
        let folder = bundled("queries/mini");
        assert_eq!(&*folder.read("../../pools/p.jsonl").unwrap(), b"pool");
        assert!(folder.exists("./../../pools//p.jsonl"));
        assert!(!folder.exists("../../../pools/p.jsonl"));
        assert!(!folder.exists("/pools/p.jsonl"));
        let error = folder.read("x.toml").unwrap_err();
        assert_eq!(
            error.to_string(),
            "<kit>/queries/mini/x.toml: no such file; expected a file that is there"
        );
    }

    #[test]
    fn a_disk_folder_resolves_parents_lexically() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("p.jsonl"), b"pool").unwrap();
        let folder = Folder::Disk(dir.path().join("no/such"));
        assert_eq!(&*folder.read("../../p.jsonl").unwrap(), b"pool");
        assert!(folder.exists("../../p.jsonl"));
        assert!(folder.read("/etc/hostname").is_err());
        assert!(folder.read("").is_err());
    }

    #[test]
    fn leading_parents_are_kept() {
        assert_eq!(lexical(Path::new("../a/./../b")), Path::new("../b"));
        assert_eq!(lexical(Path::new("a/../../b")), Path::new("../b"));
        assert_eq!(lexical(Path::new("/../b")), Path::new("/b"));
        assert_eq!(lexical(Path::new("a/..")), Path::new("."));
    }
}
