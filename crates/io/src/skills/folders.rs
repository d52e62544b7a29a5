//! `**/SKILL.md` under some folders.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use walkdir::WalkDir;

use super::{
    NotRead, Skill, SkillScan,
    note::{NoteKind, SkillNote},
    parse::{MAX_FILE, parse_skill_md},
};
use crate::error::tick;

const NAME: &str = "SKILL.md";

/// How folders are walked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScanOptions {
    /// Whether links to folders and files are followed. No folder is read twice, so that a loop
    /// of links ends.
    pub follow_links: bool,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { follow_links: true }
    }
}

/// Reads every `SKILL.md` under `roots`, in the order of their ids. `.git` is left out; other
/// hidden folders are read, since agents keep skills in them.
///
/// A skill's id is its folder relative to the root. A file that cannot be read, and a second
/// skill with an id that was there, is refused with a note; the rest is read.
pub fn read_skill_folders(roots: &[PathBuf], options: ScanOptions) -> SkillScan {
    let mut walk = Walk { options, ..Walk::default() };
    for root in roots {
        walk.root(root);
    }
    walk.links();
    let not_read = walk.not_read();
    let Walk { files, mut notes, .. } = walk;
    let mut found: Vec<Found> = choose(files, &mut notes);
    found.sort_by(|a, b| a.id.cmp(&b.id)); // stable: among equal ids, the first root's first
    let read: Vec<_> = found.par_iter().map(read_file).collect();
    let mut scan = SkillScan { not_read, ..SkillScan::default() };
    let mut ids: FxHashMap<String, &str> = FxHashMap::default();
    let mut names: FxHashMap<String, &str> = FxHashMap::default();
    for (file, result) in found.iter().zip(read) {
        let (skill, of_file) = match result {
            Ok(read) => read,
            Err(refusal) => {
                notes.push(refusal);
                continue;
            }
        };
        if let Some(other) = ids.get(&skill.id) {
            let detail = format!("its id {} is that of {other}", tick(&skill.id));
            notes.push(SkillNote::new(NoteKind::DuplicateId, &file.shown, detail));
            continue;
        }
        ids.insert(skill.id.clone(), &file.shown);
        notes.extend(of_file);
        if let Some(other) = names.get(&skill.name) {
            let detail = format!("its name {} is that of {other}", tick(&skill.name));
            notes.push(SkillNote::new(NoteKind::DuplicateName, &file.shown, detail));
        } else {
            names.insert(skill.name.clone(), &file.shown);
        }
        scan.skills.push(skill);
    }
    notes.sort_by(|a, b| a.file.cmp(&b.file));
    scan.notes = notes;
    scan
}

/// A file to read.
struct Found {
    path: PathBuf,
    shown: String,
    id: String,
}

#[derive(Default)]
struct Walk {
    options: ScanOptions,
    /// Real paths of the folders that were entered.
    entered: HashSet<PathBuf>,
    /// Links to folders, with the ids they stand for; followed after the real folders, so that a
    /// skill has the id of its real place.
    linked: Vec<(PathBuf, String)>,
    /// Files called `SKILL.md` in any case, by the path of their folder.
    files: BTreeMap<(usize, PathBuf), Vec<Found>>,
    /// Other files that may hold skills, by walk.
    others: Vec<(usize, PathBuf)>,
    /// Which walk a folder was found in: roots in their order, then links.
    walks: usize,
    notes: Vec<SkillNote>,
}

impl Walk {
    fn root(&mut self, root: &Path) {
        match fs::canonicalize(root) {
            Ok(real) if real.is_dir() => {
                let name = real.file_name().and_then(|name| name.to_str()).unwrap_or("root");
                self.folder(root, &real, "", &encoded(name));
            }
            Ok(_) => self.unreadable(root, "not a folder"),
            Err(error) => self.unreadable(root, &error.to_string()),
        }
    }

    /// Follows the links found so far and those found on the way.
    fn links(&mut self) {
        let mut again = Vec::new();
        while !self.linked.is_empty() {
            for (path, id) in std::mem::take(&mut self.linked) {
                let Ok(real) = fs::canonicalize(&path) else { continue };
                match self.entered.contains(&real) {
                    true => again.push((path, real)),
                    false => self.folder(&path, &real, &id, &id),
                }
            }
        }
        if again.is_empty() {
            return;
        }
        // Only worth a note where there are skills. What is below a folder sorts right after it.
        let folders = self.files.values().flatten().filter_map(|file| file.path.parent());
        let mut folders: Vec<PathBuf> = folders.filter_map(|f| fs::canonicalize(f).ok()).collect();
        folders.sort_unstable();
        for (path, real) in again {
            let next = folders.partition_point(|folder| *folder < real);
            if folders.get(next).is_some_and(|folder| folder.starts_with(&real)) {
                self.again(&path, &real);
            }
        }
    }

    /// Walks the folder at `path`, whose real path is `real`. `prefix` is its id, and `own` the
    /// id of a skill right in it.
    fn folder(&mut self, path: &Path, real: &Path, prefix: &str, own: &str) {
        self.walks += 1;
        let mut entries = WalkDir::new(path).sort_by_file_name().max_open(64).into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let at = error.path().unwrap_or(path).to_owned();
                    let problem = error.io_error().map_or("a loop".to_owned(), |e| e.to_string());
                    self.unreadable(&at, &problem);
                    continue;
                }
            };
            let below = entry.path().strip_prefix(path).unwrap_or(Path::new(""));
            let is_skill = entry.file_name().to_str().is_some_and(|n| n.eq_ignore_ascii_case(NAME));
            if entry.depth() == 0 || entry.file_type().is_dir() {
                let real = match entry.depth() {
                    0 => real.to_owned(),
                    _ => real.join(below),
                };
                if entry.depth() != 0 && entry.file_name() == ".git" {
                    entries.skip_current_dir();
                } else if !self.entered.insert(real.clone()) {
                    self.again(entry.path(), &real);
                    entries.skip_current_dir();
                }
                continue;
            }
            let link = entry.path_is_symlink();
            if link && !self.options.follow_links {
                continue;
            }
            if link && entry.path().is_dir() {
                match id(prefix, below) {
                    Some(id) => self.linked.push((entry.path().to_owned(), id)),
                    None => self.not_utf8(entry.path()),
                }
            } else if is_skill {
                let folder = below.parent().unwrap_or(Path::new(""));
                match id(prefix, folder) {
                    Some(id) => {
                        let id = if folder.as_os_str().is_empty() { own.to_owned() } else { id };
                        let shown = entry.path().display().to_string();
                        let found = Found { path: entry.path().to_owned(), shown, id };
                        let key = (self.walks, path.join(folder));
                        self.files.entry(key).or_default().push(found);
                    }
                    None => self.not_utf8(entry.path()),
                }
            } else if ending(entry.path()).is_some() {
                self.others.push((self.walks, entry.path().to_owned()));
            }
        }
    }

    /// How many other files there are outside the skills' folders.
    fn not_read(&self) -> NotRead {
        let mut count = NotRead::default();
        for (walk, path) in &self.others {
            let of_a_skill = |folder: &Path| self.files.contains_key(&(*walk, folder.to_owned()));
            match ending(path) {
                _ if path.ancestors().skip(1).any(of_a_skill) => {}
                Some(Ending::Markdown) => count.markdown += 1,
                Some(Ending::Jsonl) => count.jsonl += 1,
                None => {}
            }
        }
        count
    }

    fn unreadable(&mut self, path: &Path, problem: &str) {
        let shown = path.display().to_string();
        self.notes.push(SkillNote::new(NoteKind::Unreadable, &shown, problem));
    }

    fn not_utf8(&mut self, path: &Path) {
        let shown = path.display().to_string();
        self.notes.push(SkillNote::new(NoteKind::PathNotUtf8, &shown, "the path is not UTF-8"));
    }

    fn again(&mut self, path: &Path, real: &Path) {
        let detail = format!("{} was already read", real.display());
        let shown = path.display().to_string();
        self.notes.push(SkillNote::new(NoteKind::FolderAgain, &shown, detail));
    }
}

/// What a file that may hold skills ends in.
enum Ending {
    Markdown,
    Jsonl,
}

fn ending(path: &Path) -> Option<Ending> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let plain = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed));
    if name.ends_with(".md") {
        Some(Ending::Markdown)
    } else if plain.unwrap_or(&name).ends_with(".jsonl") {
        Some(Ending::Jsonl)
    } else {
        None
    }
}

/// One file for each folder: `SKILL.md` itself, if it is there.
fn choose(files: BTreeMap<(usize, PathBuf), Vec<Found>>, notes: &mut Vec<SkillNote>) -> Vec<Found> {
    let mut chosen = Vec::new();
    for mut folder in files.into_values() {
        let exact = |file: &Found| file.path.file_name().is_some_and(|name| name == NAME);
        let best = folder.iter().position(exact).unwrap_or(0);
        let best = folder.swap_remove(best);
        if !exact(&best) {
            let detail = format!("the file is not called `{NAME}`");
            notes.push(SkillNote::new(NoteKind::FileNameCase, &best.shown, detail));
        }
        for other in folder {
            let detail = format!("not read: {} is in the same folder", best.shown);
            notes.push(SkillNote::new(NoteKind::FileNameCase, &other.shown, detail));
        }
        chosen.push(best);
    }
    chosen
}

fn read_file(file: &Found) -> Result<(Skill, Vec<SkillNote>), SkillNote> {
    let refuse = |kind, detail: String| SkillNote::new(kind, &file.shown, detail);
    let unreadable = |error: std::io::Error| refuse(NoteKind::Unreadable, error.to_string());
    let metadata = fs::metadata(&file.path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(refuse(NoteKind::Unreadable, "not a regular file".to_owned()));
    }
    if MAX_FILE < metadata.len() {
        let detail = format!("the file has {} bytes; at most {MAX_FILE} are read", metadata.len());
        return Err(refuse(NoteKind::TooLarge, detail));
    }
    let mut bytes = Vec::new();
    let open = fs::File::open(&file.path).map_err(unreadable)?;
    // The file may grow.
    open.take(MAX_FILE).read_to_end(&mut bytes).map_err(unreadable)?;
    parse_skill_md(&file.shown, &file.id, &bytes)
}

/// The id of the folder `below` that of id `prefix`.
fn id(prefix: &str, below: &Path) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    if !prefix.is_empty() {
        parts.push(prefix.to_owned());
    }
    for part in below.components() {
        parts.push(encoded(part.as_os_str().to_str()?));
    }
    Some(parts.join("/"))
}

/// White space and control characters as `%XX`, so that an id is one word in any format.
fn encoded(part: &str) -> String {
    let mut id = String::with_capacity(part.len());
    for c in part.chars() {
        match c.is_whitespace() || c.is_control() {
            true => {
                let mut bytes = [0; 4];
                let bytes = c.encode_utf8(&mut bytes).bytes();
                id.extend(bytes.map(|byte| format!("%{byte:02X}")));
            }
            false => id.push(c),
        }
    }
    id
}

#[cfg(test)]
mod tests;
