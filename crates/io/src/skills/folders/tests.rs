use std::fs;

use super::*;
use crate::error::InputError;

const TIDY: &str = "---\nname: NAME\ndescription: d\n---\nB\n";

struct Library(tempfile::TempDir);

impl Library {
    fn new(files: &[(&str, &str)]) -> Library {
        let library = Library(tempfile::tempdir().unwrap());
        for (path, text) in files {
            library.put(path, text);
        }
        library
    }

    fn put(&self, path: &str, text: &str) {
        let folder = Path::new(path).parent().and_then(|p| p.file_name()).and_then(|p| p.to_str());
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("NAME", folder.unwrap_or("x"))).unwrap();
    }

    fn scan(&self, roots: &[&str]) -> (Vec<String>, Vec<String>) {
        let roots: Vec<PathBuf> = roots.iter().map(|root| self.0.path().join(root)).collect();
        let scan = read_skill_folders(&roots, ScanOptions::default());
        let root = format!("{}/", self.0.path().display());
        let real = format!("{}/", fs::canonicalize(self.0.path()).unwrap().display());
        let ids = scan.skills.into_iter().map(|skill| skill.id).collect();
        let notes =
            scan.notes.iter().map(|note| note.to_string().replace(&real, "").replace(&root, ""));
        (ids, notes.collect())
    }
}

#[test]
fn skills_are_found_at_any_depth_in_id_order() {
    let library = Library::new(&[
        ("r/b/SKILL.md", TIDY),
        ("r/a/deep/er/SKILL.md", TIDY),
        ("r/.claude/skills/c/SKILL.md", TIDY),
        ("r/.git/d/SKILL.md", TIDY),
        ("r/a/README.md", TIDY),
        ("r/a/SKILL.md.bak", TIDY),
    ]);
    let (ids, notes) = library.scan(&["r"]);
    assert_eq!(ids, [".claude/skills/c", "a/deep/er", "b"]);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn a_skill_right_in_the_root_has_the_roots_name() {
    let library = Library::new(&[("my skill/SKILL.md", "---\nname: x\ndescription: d\n---\nB")]);
    let (ids, notes) = library.scan(&["my skill"]);
    assert_eq!(ids, ["my%20skill"]);
    assert_eq!(
        notes,
        ["my skill/SKILL.md: name_not_folder: name `x` is not that of its folder, `my%20skill`"]
    );
}

#[test]
fn white_space_in_a_path_is_encoded() {
    let library = Library::new(&[("r/a b/c\u{a0}\u{3000}d/SKILL.md", TIDY)]);
    assert_eq!(library.scan(&["r"]).0, ["a%20b/c%C2%A0%E3%80%80d"]);
}

#[test]
fn a_file_name_in_another_case_is_noted_and_the_exact_one_preferred() {
    let library = Library::new(&[
        ("r/a/skill.md", TIDY),
        ("r/b/Skill.md", "not read"),
        ("r/b/SKILL.md", TIDY),
    ]);
    let (ids, notes) = library.scan(&["r"]);
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(
        notes,
        [
            "r/a/skill.md: file_name_case: the file is not called `SKILL.md`",
            "r/b/Skill.md: file_name_case: not read: r/b/SKILL.md is in the same folder",
        ]
    );
}

#[test]
fn equal_ids_and_names_name_both_files() {
    let library =
        Library::new(&[("r/a/SKILL.md", TIDY), ("s/a/SKILL.md", TIDY), ("s/x/a/SKILL.md", TIDY)]);
    let (ids, notes) = library.scan(&["r", "s"]);
    assert_eq!(ids, ["a", "x/a"]);
    assert_eq!(
        notes,
        [
            "s/a/SKILL.md: duplicate_id: its id `a` is that of r/a/SKILL.md",
            "s/x/a/SKILL.md: duplicate_name: its name `a` is that of r/a/SKILL.md",
        ]
    );
}

#[test]
fn a_folder_is_read_once_though_roots_overlap() {
    let library = Library::new(&[("r/s/a/SKILL.md", TIDY)]);
    let (ids, notes) = library.scan(&["r", "r/s"]);
    assert_eq!(ids, ["s/a"]);
    assert_eq!(notes, ["r/s: folder_again: r/s was already read"]);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let library =
        Library::new(&[("r/a/SKILL.md", TIDY), ("r/b/SKILL.md", ""), ("r/c/SKILL.md", "\0")]);
    fs::create_dir_all(library.0.path().join("r/d/SKILL.md")).unwrap();
    let (ids, notes) = library.scan(&["none", "r", "r/a/SKILL.md"]);
    assert_eq!(ids, ["a"]);
    assert_eq!(
        notes,
        [
            "none: unreadable: No such file or directory (os error 2)",
            "r/a/SKILL.md: unreadable: not a folder",
            "r/b/SKILL.md: empty_file: the file holds no text",
            "r/c/SKILL.md:1: nul_byte: byte 0 of the file is NUL",
        ]
    );
}

#[test]
fn a_file_over_64_mib_is_refused_without_being_read() {
    let library = Library::new(&[("r/a/SKILL.md", TIDY)]);
    let path = library.0.path().join("r/a/SKILL.md");
    fs::File::options().write(true).open(path).unwrap().set_len(MAX_FILE + 1).unwrap();
    let (ids, notes) = library.scan(&["r"]);
    assert_eq!(ids, [""; 0]);
    assert_eq!(
        notes,
        ["r/a/SKILL.md: too_large: the file has 67108865 bytes; at most 67108864 are read"]
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

    use super::*;

    #[test]
    fn links_are_followed_once_and_loops_end() {
        let library = Library::new(&[("r/b/SKILL.md", TIDY), ("other/c/SKILL.md", TIDY)]);
        let at = |path: &str| library.0.path().join(path);
        symlink("b", at("r/a")).unwrap(); // sorts before the real folder
        symlink("..", at("r/b/up")).unwrap();
        symlink(at("other"), at("r/out")).unwrap();
        symlink(at("r"), at("other/back")).unwrap();
        symlink("nowhere", at("r/broken")).unwrap();
        fs::create_dir_all(at("r/e")).unwrap();
        symlink("nowhere", at("r/e/SKILL.md")).unwrap();
        fs::create_dir_all(at("empty")).unwrap();
        symlink(at("empty"), at("r/f")).unwrap();
        symlink(at("empty"), at("r/g")).unwrap();
        let (ids, notes) = library.scan(&["r"]);
        assert_eq!(ids, ["b", "out/c"]);
        assert_eq!(
            notes,
            [
                "r/a: folder_again: r/b was already read",
                "r/b/up: folder_again: r was already read".replace("/r was", "r was").as_str(),
                "r/e/SKILL.md: unreadable: No such file or directory (os error 2)",
                "r/out/back: folder_again: r was already read",
            ]
        );
        let roots = [library.0.path().join("r")];
        let scan = read_skill_folders(&roots, ScanOptions { follow_links: false });
        assert_eq!((scan.skills.len(), scan.notes.len()), (1, 0));
    }

    /// Two links to the next folder at each of 40 steps make 2^40 paths.
    #[test]
    fn many_paths_to_a_folder_are_one() {
        let library = Library::new(&[("d40/SKILL.md", TIDY)]);
        for i in 0..40 {
            let folder = library.0.path().join(format!("d{i}"));
            fs::create_dir_all(&folder).unwrap();
            for name in ["x", "y"] {
                symlink(format!("../d{}", i + 1), folder.join(name)).unwrap();
            }
        }
        let scan = read_skill_folders(&[library.0.path().join("d0")], ScanOptions::default());
        assert_eq!(scan.skills.len(), 1);
    }

    #[test]
    fn a_path_that_is_not_utf8_is_refused() {
        let library = Library::new(&[("r/a/SKILL.md", TIDY)]);
        let bad = library.0.path().join("r").join(std::ffi::OsStr::from_bytes(b"b\xff"));
        fs::create_dir_all(&bad).unwrap();
        fs::write(bad.join("SKILL.md"), TIDY).unwrap();
        let roots = [library.0.path().join("r")];
        let scan = read_skill_folders(&roots, ScanOptions::default());
        assert_eq!(scan.skills.len(), 1);
        let kinds: Vec<NoteKind> = scan.refused().map(|note| note.kind).collect();
        assert_eq!(kinds, [NoteKind::PathNotUtf8]);
        assert!(InputError::from(&scan.notes[0]).to_string().contains("path_not_utf8"));
    }

    #[test]
    fn a_pipe_is_not_read() {
        let library = Library::new(&[("r/a/SKILL.md", TIDY), ("r/b/x", "")]);
        let pipe = library.0.path().join("r/b/SKILL.md");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: no mkfifo");
            return;
        }
        let (ids, notes) = library.scan(&["r"]);
        assert_eq!(ids, ["a"]);
        assert_eq!(notes, ["r/b/SKILL.md: unreadable: not a regular file"]);
    }
}
