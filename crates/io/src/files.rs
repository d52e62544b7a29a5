//! Reading, hashing and replacing files.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use tempfile::Builder;

use crate::error::InputError;

/// What a receipt says of a file: where it was and what was in it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct FileDigest {
    /// The path, relative to whatever names the file, with `/`.
    pub path: String,
    /// Lower-case hex SHA-256 of the bytes.
    pub sha256: String,
}

/// Lower-case hex SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The most bytes that a file may have to be read whole: 4 GiB.
pub const MAX_FILE: u64 = 4 << 30;

/// Reads a file of at most [`MAX_FILE`] bytes. A pipe will do, a device won't.
///
/// # Errors
///
/// If there is none, it has more bytes, or it cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>, InputError> {
    read_at_most(path, MAX_FILE)
}

/// As [`read_file`], of a regular file or a link to one: a pipe of that name is never opened,
/// so that nobody waits for its writer.
///
/// # Errors
///
/// As [`read_file`], and if it is something else.
pub fn read_regular(path: &Path) -> Result<Vec<u8>, InputError> {
    let found = fs::metadata(path).map_err(|error| unreadable(path.display(), &error))?;
    if !found.is_file() && !found.is_dir() {
        return Err(InputError::new(path.display(), IRREGULAR).expected("a file"));
    }
    read_file(path)
}

/// Whether there is anything of that name: a file, a folder, a pipe, a link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

const IRREGULAR: &str = "is not a regular file";

/// Devices have no end, or do something when they are opened.
#[cfg(unix)]
fn is_device(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_char_device() || found.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, InputError> {
    let failed = |error: std::io::Error| unreadable(path.display(), &error);
    let too_large = || {
        let error = InputError::new(path.display(), format!("has more than {most} bytes"));
        error.expected("a smaller file")
    };
    if is_device(&fs::metadata(path).map_err(failed)?) {
        return Err(InputError::new(path.display(), "is a device").expected("a file"));
    }
    let file = fs::File::open(path).map_err(failed)?;
    let stated = file.metadata().map_err(failed)?.len();
    if most < stated {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let room = usize::try_from(stated).unwrap_or(usize::MAX).saturating_add(1);
    bytes.try_reserve_exact(room).map_err(|error| failed(error.into()))?;
    // A pipe states no length, and a file may grow.
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if most < bytes.len() as u64 { Err(too_large()) } else { Ok(bytes) }
}

/// Refuses to write where that would replace a file that is read: the same path, or another name
/// of the same file.
///
/// # Errors
///
/// If `output` is one of `inputs`, or cannot be a file's path.
pub fn refuse_overwrite<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), InputError> {
    check_target(output)?;
    match inputs.into_iter().find(|input| is_same_file(output, input)) {
        None => Ok(()),
        Some(input) => {
            let problem = format!("would replace the input `{}`", input.display());
            Err(InputError::new(output.display(), problem).expected("another output"))
        }
    }
}

/// Writes a file so that whoever reads it sees the old bytes or all the new ones: under a
/// temporary name in the same folder, flushed to the disk, then renamed. Parent folders are
/// created. The temporary name is `.NAME.XXXXXX.tmp`; those that a killed process left behind are
/// removed by a write of the same file an hour later, when they can't be a living writer's.
///
/// # Errors
///
/// If `path` is a link or something other than a file, or a folder or the file cannot be written.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), InputError> {
    write_atomic_with(path, |file| file.write_all(bytes).map_err(|e| not_written(path, &e)))
}

/// As [`write_atomic`], for what is written part by part: `write` gets an empty file, which takes
/// the place of `path` when `write` is done and vanishes when it fails.
///
/// # Errors
///
/// Those of [`write_atomic`] and of `write`.
pub fn write_atomic_with<T, E: From<InputError>>(
    path: &Path,
    write: impl FnOnce(&mut fs::File) -> Result<T, E>,
) -> Result<T, E> {
    let failed = |error: &std::io::Error| not_written(path, error);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    check_target(path)?;
    fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    let prefix = temporary_prefix(path);
    remove_stale(folder, &prefix);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY);
    let mut file = shared(&mut builder).tempfile_in(folder).map_err(|e| failed(&e))?;
    let written = write(file.as_file_mut())?;
    file.as_file().sync_all().map_err(|e| failed(&e))?;
    file.persist(path).map_err(|e| failed(&e.error))?;
    Ok(written)
}

/// What is said of a file that could not be written.
fn not_written(path: &Path, error: &std::io::Error) -> InputError {
    InputError::new(path.display(), format!("cannot write: {}", cause(error)))
}

/// An error without the temporary name that it may end in, which is nothing to the user.
fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" at path ").next().unwrap_or_default().to_owned()
}

/// Only a regular file is replaced: not a folder, a pipe or a device, nor a link, whose name
/// would then no longer lead where it did.
pub(crate) fn check_target(path: &Path) -> Result<(), InputError> {
    let problem = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            let target = fs::read_link(path).unwrap_or_default();
            format!("is a link to `{}`", target.display())
        }
        Ok(found) if found.is_dir() => "is a folder".to_owned(),
        Ok(found) if !found.is_file() => IRREGULAR.to_owned(),
        _ => return Ok(()),
    };
    Err(InputError::new(path.display(), problem).expected("a file to write"))
}

/// Whether two paths lead to the same file, which is there.
#[cfg(unix)]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether two paths lead to the same file, which is there.
#[cfg(not(unix))]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Whether an open file is the one that has this name now.
#[cfg(unix)]
pub(crate) fn is_same_open(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether an open file is the one that has this name now, as far as names tell.
#[cfg(not(unix))]
pub(crate) fn is_same_open(_: &fs::File, path: &Path) -> bool {
    path.exists()
}

/// How temporary names end; readers of folders leave names with a dot in front out.
const TEMPORARY: &str = ".tmp";

/// A temporary file this old has no writer any more.
const STALE: Duration = Duration::from_secs(3600);

fn temporary_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A long name leaves no room for what is added.
    let name: String = name.chars().take(50).collect();
    format!(".{name}.")
}

/// Removes what killed writers of the same file left. What cannot be removed does no harm.
fn remove_stale(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(TEMPORARY));
        let ours = random.is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let modified = entry.metadata().ok().filter(fs::Metadata::is_file).map(|m| m.modified());
        let age = modified.and_then(Result::ok).and_then(|time| time.elapsed().ok());
        if ours && age.is_some_and(|age| STALE < age) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The error for a file that cannot be read.
pub(crate) fn unreadable(file: impl std::fmt::Display, error: &std::io::Error) -> InputError {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            InputError::new(file, "no such file").expected("a file that is there")
        }
        std::io::ErrorKind::IsADirectory => InputError::new(file, "is a folder").expected("a file"),
        _ => InputError::new(file, format!("cannot read: {error}")),
    }
}

/// Temporary files are private to the user; a result is as readable as the user's other files.
#[cfg(unix)]
fn shared<'a, 'b>(builder: &'a mut Builder<'b, 'b>) -> &'a mut Builder<'b, 'b> {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666)) // less the user's mask
}

#[cfg(not(unix))]
fn shared<'a, 'b>(builder: &'a mut Builder<'b, 'b>) -> &'a mut Builder<'b, 'b> {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_creates_folders_replaces_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c.txt");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(read_file(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_neither_read_nor_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let error = write_atomic(dir.path(), b"x").unwrap_err();
        assert!(error.to_string().ends_with("is a folder; expected a file to write"), "{error}");
        assert!(read_file(dir.path()).is_err());
        let error = read_file(&dir.path().join("none")).unwrap_err();
        assert!(
            error.to_string().ends_with("none: no such file; expected a file that is there"),
            "{error}"
        );
    }

    #[test]
    fn a_file_above_the_bound_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_at_most(&path, 5).unwrap(), b"12345");
        let error = read_at_most(&path, 4).unwrap_err().to_string();
        assert!(error.ends_with("f: has more than 4 bytes; expected a smaller file"), "{error}");
    }

    #[test]
    fn an_input_is_not_replaced_by_any_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("in"), b"x").unwrap();
        fs::write(at("other"), b"x").unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        let input = at("in");
        let refuse = |output: &Path| refuse_overwrite(output, [&*input]);
        assert!(refuse(&at("other")).is_ok());
        assert!(refuse(&at("new")).is_ok());
        for output in [at("in"), at("./in"), at("hard")] {
            let error = refuse(&output).unwrap_err().to_string();
            assert!(error.contains("would replace the input"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_inputs_and_devices_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("in"), b"x").unwrap();
        std::os::unix::fs::symlink(at("in"), at("soft")).unwrap();
        std::os::unix::fs::symlink("/dev/null", at("device")).unwrap();
        assert!(refuse_overwrite(&at("soft"), [&*at("in")]).is_err());
        std::os::unix::fs::symlink(at("new"), at("dangling")).unwrap();
        for (name, target) in
            [("soft", at("in")), ("device", "/dev/null".into()), ("dangling", at("new"))]
        {
            let error = write_atomic(&at(name), b"x").unwrap_err().to_string();
            let says = format!("is a link to `{}`; expected a file to write", target.display());
            assert!(error.ends_with(&says), "{error}");
            assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
        }
        assert_eq!(fs::read(at("in")).unwrap(), b"x");
        assert!(!at("new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_read_and_pipes_only_where_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(is_there(&fifo) && !is_there(&dir.path().join("none")));
        let error = read_regular(&fifo).unwrap_err().to_string();
        assert!(error.ends_with("fifo: is not a regular file; expected a file"), "{error}");
        for device in ["/dev/null", "/dev/zero"] {
            let error = read_file(Path::new(device)).unwrap_err().to_string();
            assert_eq!(error, format!("{device}: is a device; expected a file"));
        }
        let writer = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::write(fifo, b"through a pipe").unwrap()
        });
        assert_eq!(read_file(&fifo).unwrap(), b"through a pipe");
        writer.join().unwrap();
    }

    #[test]
    fn an_error_names_the_target() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), b"x").unwrap();
        let error = write_atomic(&dir.path().join("f/g.tsv"), b"x").unwrap_err().to_string();
        assert!(error.contains("f/g.tsv: cannot write: "), "{error}");
        let error = Builder::new().prefix("private").tempfile_in(dir.path().join("none"));
        let error = error.unwrap_err();
        assert!(error.to_string().contains("private"), "{error}");
        assert!(!cause(&error).contains("private") && !cause(&error).is_empty(), "{error}");
    }

    #[test]
    fn only_what_a_dead_writer_of_the_same_file_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let old = std::time::SystemTime::now() - 2 * STALE;
        for name in [".a.tsv.Ab12Cd.tmp", ".b.tsv.Ab12Cd.tmp", ".a.tsv.notes.tmp"] {
            let file = fs::File::create(at(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        fs::write(at(".a.tsv.Ef34Gh.tmp"), b"being written").unwrap();
        write_atomic(&at("a.tsv"), b"x").unwrap();
        assert!(!at(".a.tsv.Ab12Cd.tmp").exists());
        for kept in ["a.tsv", ".b.tsv.Ab12Cd.tmp", ".a.tsv.notes.tmp", ".a.tsv.Ef34Gh.tmp"] {
            assert!(at(kept).exists(), "{kept}");
        }
        write_atomic(&at(&"n".repeat(250)), b"x").unwrap();
    }

    #[test]
    fn sha256_of_nothing_is_known() {
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        write_atomic(&path, b"one").unwrap();
        let failed = write_atomic_with(&path, |file| {
            file.write_all(b"half").unwrap();
            Err::<(), _>(InputError::new("texts", "bad".to_owned()))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let n = write_atomic_with(&path, |file| {
            file.write_all(b"two").map_err(|e| not_written(&path, &e))?;
            Ok::<usize, InputError>(3)
        });
        assert_eq!((n.unwrap(), fs::read(&path).unwrap()), (3, b"two".to_vec()));
    }
}
