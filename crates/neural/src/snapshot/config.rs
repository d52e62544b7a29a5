//! A model's JSON files, read field by field.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::NeuralError;

/// A JSON object and the file it is in.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    path: PathBuf,
    fields: Map<String, Value>,
}

/// Sizes beyond this are not believed.
const LARGEST: u64 = 1 << 24;

impl Config {
    /// Reads a file that must be there.
    ///
    /// # Errors
    ///
    /// If it can't be read or is not a JSON object.
    pub(crate) fn read(path: &Path) -> Result<Config, NeuralError> {
        let bytes = std::fs::read(path)
            .map_err(|source| NeuralError::Read { path: path.to_owned(), source })?;
        let fields = serde_json::from_slice(&bytes)
            .map_err(|source| NeuralError::Json { path: path.to_owned(), source })?;
        Ok(Config { path: path.to_owned(), fields })
    }

    /// Fields that were read from another form of file.
    pub(crate) fn of_fields(path: &Path, fields: Map<String, Value>) -> Config {
        Config { path: path.to_owned(), fields }
    }

    /// An object inside another.
    pub(crate) fn object(&self, field: &str) -> Result<Option<Config>, NeuralError> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::Object(fields)) => {
                Ok(Some(Config { path: self.path.clone(), fields: fields.clone() }))
            }
            Some(_) => Err(self.wrong(field, "an object")),
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// A field's value; null is absent.
    pub(crate) fn value(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    /// A whole number from 1 to 2^24.
    pub(crate) fn size(&self, field: &str) -> Result<usize, NeuralError> {
        self.size_if(field)?.ok_or_else(|| self.wrong(field, "a whole number"))
    }

    /// As [`Config::size`], for a field that may be absent.
    pub(crate) fn size_if(&self, field: &str) -> Result<Option<usize>, NeuralError> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let size = value.as_u64().filter(|n| (1..=LARGEST).contains(n));
        match size.and_then(|n| usize::try_from(n).ok()) {
            Some(size) => Ok(Some(size)),
            None => Err(self.wrong(field, "a whole number from 1 to 16777216")),
        }
    }

    /// A whole number from 0, for a field that may be absent.
    pub(crate) fn id(&self, field: &str) -> Result<Option<u32>, NeuralError> {
        let Some(value) = self.value(field) else { return Ok(None) };
        match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
            Some(id) => Ok(Some(id)),
            None => Err(self.wrong(field, "a token id")),
        }
    }

    /// A positive number.
    pub(crate) fn positive(&self, field: &str) -> Result<f64, NeuralError> {
        self.positive_if(field)?.ok_or_else(|| self.wrong(field, "a positive number"))
    }

    /// As [`Config::positive`], for a field that may be absent.
    pub(crate) fn positive_if(&self, field: &str) -> Result<Option<f64>, NeuralError> {
        let Some(value) = self.value(field) else { return Ok(None) };
        match value.as_f64().filter(|x| x.is_finite() && 0.0 < *x) {
            Some(x) => Ok(Some(x)),
            None => Err(self.wrong(field, "a positive number")),
        }
    }

    /// A text, for a field that may be absent.
    pub(crate) fn text(&self, field: &str) -> Result<Option<&str>, NeuralError> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "a text")),
        }
    }

    /// True or false, for a field that may be absent.
    pub(crate) fn flag(&self, field: &str) -> Result<Option<bool>, NeuralError> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.wrong(field, "true or false")),
        }
    }

    /// Refuses any value of `field` but `only`; an absent field is `only`.
    pub(crate) fn only_flag(&self, field: &str, only: bool) -> Result<(), NeuralError> {
        match self.flag(field)? {
            Some(flag) if flag != only => Err(self.wrong(field, &format!("{only}"))),
            _ => Ok(()),
        }
    }

    /// As [`Config::wrong`] of a field that is too long to show.
    pub(crate) fn mismatched(&self, field: &str, expected: &str) -> NeuralError {
        let got = match self.fields.get(field) {
            None => "absent".to_owned(),
            Some(Value::Array(list)) => format!("a list of {}", list.len()),
            Some(_) => "no list".to_owned(),
        };
        NeuralError::Field {
            path: self.path.clone(),
            field: field.to_owned(),
            got,
            expected: expected.to_owned(),
        }
    }

    /// The error that `field` is not what was expected.
    pub(crate) fn wrong(&self, field: &str, expected: &str) -> NeuralError {
        let got = match self.fields.get(field) {
            None => "absent".to_owned(),
            Some(Value::String(text)) => format!("`{}`", short(text)),
            Some(value) => short(&value.to_string()),
        };
        NeuralError::Field {
            path: self.path.clone(),
            field: field.to_owned(),
            got,
            expected: expected.to_owned(),
        }
    }
}

/// The first characters of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    short_of(text, 80)
}

/// The first `kept` characters of a text, on one line.
pub(crate) fn short_of(text: &str, kept: usize) -> String {
    let escaped = text.escape_debug().to_string();
    match escaped.char_indices().nth(kept) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped,
    }
}
