//! Rules about the source itself, so that they hold without anybody remembering them.

mod commands;
mod edges;
mod markdown;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file of the project that is text.
struct Text {
    /// Relative to the project, with `/`.
    path: String,
    content: String,
}

impl Text {
    fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }

    /// Whether the file lies in one of `folders`, which end in `/`.
    fn is_in(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
}

/// Every text file that belongs to the project: build output, caches, the version control's
/// own files and other people's checkouts beside the sources are left out.
fn texts() -> Vec<Text> {
    let mut found = Vec::new();
    walk(root(), &mut found);
    assert!(50 < found.len(), "the walk found only {} files", found.len());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn walk(folder: &Path, found: &mut Vec<Text>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || is_foreign(&name, &path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found);
        } else if let Some(content) = fs::read(&path).ok().and_then(|b| String::from_utf8(b).ok()) {
            let path = path.strip_prefix(root()).expect("below the root");
            let path = path.to_string_lossy().replace('\\', "/");
            found.push(Text { path, content });
        }
    }
}

fn is_foreign(name: &str, path: &Path) -> bool {
    const NAMES: [&str; 7] =
        ["target", ".git", "cleanhit-out", "__pycache__", ".venv", "corpus", "artifacts"];
    let at_root = path.parent() == Some(root());
    // A build folder of any name carries the tag that build tools leave in it.
    NAMES.contains(&name)
        || path.join("CACHEDIR.TAG").exists()
        || (at_root && ["shared", ".idea", ".vscode"].contains(&name))
        || [".tmp", ".swp", ".snap.new", ".pyc"].iter().any(|end| name.ends_with(end))
}

/// Fails with every breach, one a line.
fn none(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

/// Files below `folder`, relative to the project, that have this extension.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths
}
