//! A folder of units, with its settings and its background.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cleanhit_io::{InputError, read_file};

use super::{background::Background, config::Config, unit::Unit};

/// The settings' file name.
const CONFIG: &str = "authoring.toml";
/// The units' folder.
const UNITS: &str = "units";

/// Everything that a benchmark is made of, as authored.
#[derive(Clone, Debug)]
pub struct Authoring {
    /// The folder.
    pub dir: PathBuf,
    /// Its settings.
    pub config: Config,
    /// The units that could be read, by id.
    pub units: Vec<Unit>,
    /// The background skills that could be read, by folder name.
    pub background: Vec<Background>,
    /// What could not be read, and why.
    pub unreadable: Vec<InputError>,
}

impl Authoring {
    /// Reads `authoring.toml`, `units/*.toml` and the background folder.
    ///
    /// A unit or a background skill that cannot be read is listed in
    /// [`unreadable`](Authoring::unreadable), where the gate finds it.
    ///
    /// # Errors
    ///
    /// If the settings cannot be read, or a folder cannot be listed.
    pub fn load(dir: &Path) -> Result<Authoring, InputError> {
        let path = dir.join(CONFIG);
        let config = Config::parse(&path.display().to_string(), &read_file(&path)?)?;
        let mut unreadable = Vec::new();
        let mut units = Vec::new();
        for path in list(&dir.join(UNITS))? {
            let file = path.display().to_string();
            if path.extension().is_none_or(|extension| extension != "toml") {
                let error = InputError::new(file, "is no unit");
                unreadable.push(error.expected("files that end in `.toml`"));
                continue;
            }
            let unit = read_file(&path).map_err(|error| vec![error]);
            match unit.and_then(|bytes| Unit::parse(&file, &bytes)) {
                Ok(unit) => units.push(unit),
                Err(errors) => unreadable.extend(errors),
            }
        }
        let mut background = Vec::new();
        for folder in list(&join(dir, &config.background))? {
            match Background::read(&folder) {
                Ok(skill) => background.push(skill),
                Err(error) => unreadable.push(error),
            }
        }
        Ok(Authoring { dir: dir.to_owned(), config, units, background, unreadable })
    }

    /// Where a path of `authoring.toml` or of a frozen file is.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        join(&self.dir, relative)
    }

    /// A violation of the set as a whole.
    pub fn error(&self, field: &str, problem: impl Into<String>) -> InputError {
        InputError::new(self.path(CONFIG).display(), problem).field(field)
    }
}

/// A folder's entries in the order of their names; those that start with a dot are left out.
fn list(dir: &Path) -> Result<Vec<PathBuf>, InputError> {
    let failed =
        |error: std::io::Error| InputError::new(dir.display(), format!("cannot list: {error}"));
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// `dir/relative` with `..` taken against the name before it, as [`cleanhit_io::Folder`] does.
fn join(dir: &Path, relative: &str) -> PathBuf {
    let mut path = dir.to_owned();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if path.file_name().is_some() => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}
