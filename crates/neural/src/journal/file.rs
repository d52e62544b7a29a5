//! A journal's file, and the answers that are in it.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use super::{
    JournalError, Key, Subject, io_error,
    lines::{self, Answer},
};

/// What a folder's description is called.
pub(super) const SUBJECT: &str = "journal.json";

/// What the file of answers is called.
pub(super) const ANSWERS: &str = "answers.jsonl";

/// How the names of unfinished files begin.
pub(super) const TEMPORARY: &str = ".tmp-";

/// The answers of one model on one device, in memory and on disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Bytes read so far; they end with a line's end.
    read: u64,
    /// Lines read so far.
    lines: usize,
    known: HashMap<Key, Answer>,
}

/// A file that is locked, by this process and against others, until it is dropped.
pub(super) struct Locked<'a>(pub(super) &'a File);

impl Journal {
    /// Opens the journal about `subject` under `root`, or makes it. A torn last line is cut off.
    ///
    /// # Errors
    ///
    /// If a line but the last is damaged, the folder is another's, or the system refuses.
    pub fn open(root: &Path, subject: &Subject) -> Result<Journal, JournalError> {
        let folder = subject.folder(root);
        claim(&folder, subject)?;
        let path = folder.join(ANSWERS);
        let file = open(&path).map_err(io_error(&path, "open"))?;
        let mut state = State { file, read: 0, lines: 0, known: HashMap::new() };
        state.read_on(&path)?;
        Ok(Journal { path, state: Mutex::new(state) })
    }

    /// Answers known so far.
    pub fn len(&self) -> usize {
        self.state().known.len()
    }

    /// Whether no answer is known so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answer to a question, if this process or another has written it.
    pub(super) fn get(&self, key: &Key) -> Result<Option<Answer>, JournalError> {
        let mut state = self.state();
        if let Some(answer) = state.known.get(key) {
            return Ok(Some(answer.clone()));
        }
        let len = state.file.metadata().map_err(io_error(&self.path, "read"))?.len();
        if len != state.read {
            state.read_on(&self.path)?;
        }
        Ok(state.known.get(key).cloned())
    }

    /// Writes answers; the first that was written to a question stays. They are on the disk when
    /// this returns.
    pub(super) fn append(&self, answers: &[(Key, Answer)]) -> Result<(), JournalError> {
        let mut state = self.state();
        state.append(&self.path, answers)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reads what was written since the last time.
    fn read_on(&mut self, path: &Path) -> Result<(), JournalError> {
        let State { file, read, lines, known } = self;
        let _locked = Locked::new(file).map_err(io_error(path, "lock"))?;
        follow(file, path, read, lines, known)
    }

    fn append(&mut self, path: &Path, answers: &[(Key, Answer)]) -> Result<(), JournalError> {
        let State { file, read, lines, known } = self;
        let locked = Locked::new(file).map_err(io_error(path, "lock"))?;
        follow(file, path, read, lines, known)?;
        let mut text = String::new();
        let mut new: Vec<&(Key, Answer)> = Vec::new();
        for one in answers {
            if !known.contains_key(&one.0) && !new.iter().any(|(key, _)| *key == one.0) {
                text += &lines::write(&one.0, &one.1)
                    .map_err(|err| io_error(path, "write")(err.into()))?;
                new.push(one);
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        let mut at = locked.0;
        let written = at
            .seek(SeekFrom::Start(*read))
            .and_then(|_| at.write_all(text.as_bytes()))
            .and_then(|()| at.sync_data());
        if let Err(err) = written {
            // Half a line must not stand before the next one.
            let _ = at.set_len(*read);
            return Err(io_error(path, "write")(err));
        }
        *read += text.len() as u64;
        *lines += new.len();
        known.extend(new.into_iter().cloned());
        Ok(())
    }
}

/// Reads lines from byte `read` on, and cuts off a last one that has no end: who wrote it was
/// killed, because writers hold the lock.
fn follow(
    mut file: &File,
    path: &Path,
    read: &mut u64,
    lines: &mut usize,
    known: &mut HashMap<Key, Answer>,
) -> Result<(), JournalError> {
    let len = file.metadata().map_err(io_error(path, "read"))?.len();
    if len < *read {
        // Somebody made the file shorter: it is another now.
        (*read, *lines) = (0, 0);
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(*read))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(io_error(path, "read"))?;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let Some(whole) = line.strip_suffix(b"\n") else {
            file.set_len(*read).map_err(io_error(path, "write"))?;
            break;
        };
        let (key, answer) = lines::read(whole).map_err(|problem| JournalError::Damaged {
            path: path.to_owned(),
            line: *lines + 1,
            problem,
        })?;
        known.entry(key).or_insert(answer);
        *lines += 1;
        *read += line.len() as u64;
    }
    Ok(())
}

/// Opens a file of answers to read and to write, and makes it if it is not there.
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Makes sure that the folder is this subject's, and notes that it was used.
fn claim(folder: &Path, subject: &Subject) -> Result<(), JournalError> {
    let path = folder.join(SUBJECT);
    match fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice::<Subject>(&bytes) {
            Ok(found) if found.is_same(subject) => {
                // When it was last used is of use to `gc` alone, so a failure is no matter.
                if let Ok(file) = File::options().append(true).open(&path) {
                    let _ = file.set_modified(SystemTime::now());
                }
                Ok(())
            }
            _ => Err(JournalError::OtherSubject { path }),
        },
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            let failed = |source: io::Error| io_error(&path, "write")(source);
            fs::create_dir_all(folder).map_err(failed)?;
            let bytes = serde_json::to_vec_pretty(subject).map_err(|err| failed(err.into()))?;
            let file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder);
            let mut file = file.map_err(failed)?;
            file.write_all(&bytes).map_err(failed)?;
            file.as_file().sync_all().map_err(failed)?;
            file.persist(&path).map_err(|err| failed(err.error))?;
            Ok(())
        }
        Err(err) => Err(io_error(&path, "read")(err)),
    }
}

impl Locked<'_> {
    pub(super) fn new(file: &File) -> io::Result<Locked<'_>> {
        file.lock()?;
        Ok(Locked(file))
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file unlocks it too.
        let _ = self.0.unlock();
    }
}
