//! One violation, and a list of them that does not grow without bound.

use std::fmt;

use crate::counted::counted;

/// What is wrong with an input: where, what, and what was expected.
///
/// Prints as ``FILE:LINE: field `F`: PROBLEM; expected WHAT`` without the absent parts. Always
/// one line: control and invisible characters, which an input chooses, are printed escaped.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InputError {
    /// The file's name, as shown to the user.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The field, column or key.
    pub field: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub expected: Option<String>,
}

/// Violations in the order they were found; those beyond the first hundred are only counted.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    list: Vec<InputError>,
    more: u64,
}

/// Violations kept; more than anybody reads.
const KEPT: usize = 100;

impl InputError {
    /// A problem with `file` as a whole; the other methods say where in it.
    pub fn new(file: impl fmt::Display, problem: impl Into<String>) -> InputError {
        InputError {
            file: file.to_string(),
            line: None,
            field: None,
            problem: problem.into(),
            expected: None,
        }
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> InputError {
        self.line = Some(line);
        self
    }

    /// The field, column or key.
    #[must_use]
    pub fn field(mut self, field: &str) -> InputError {
        self.field = Some(field.to_owned());
        self
    }

    /// What would be right.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> InputError {
        self.expected = Some(expected.into());
        self
    }
}

impl std::error::Error for InputError {}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_line(f, &self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(field) = &self.field {
            f.write_str("field `")?;
            one_line(f, field)?;
            f.write_str("`: ")?;
        }
        one_line(f, &self.problem)?;
        match &self.expected {
            Some(expected) => {
                f.write_str("; expected ")?;
                one_line(f, expected)
            }
            None => Ok(()),
        }
    }
}

impl Violations {
    pub(crate) fn push(&mut self, error: InputError) {
        match self.list.len() < KEPT {
            true => self.list.push(error),
            false => self.more += 1,
        }
    }

    pub(crate) fn extend(&mut self, errors: impl IntoIterator<Item = InputError>) {
        errors.into_iter().for_each(|error| self.push(error));
    }

    /// Puts what is kept in order; equal keys stay as they were found.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&InputError) -> K) {
        self.list.sort_by_key(key);
    }

    /// Adds another list behind this one.
    pub(crate) fn append(&mut self, other: Violations) {
        self.extend(other.list);
        self.more += other.more;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The violations; the last one says how many were left out, if any were.
    pub(crate) fn into_list(mut self) -> Vec<InputError> {
        if let (1.., Some(last)) = (self.more, self.list.last()) {
            let more = format!("{} not listed", counted(self.more, "more violation"));
            self.list.push(InputError::new(last.file.clone(), more));
        }
        self.list
    }

    /// `value` if nothing was violated.
    pub(crate) fn result<T>(self, value: T) -> Result<T, Vec<InputError>> {
        match self.is_empty() {
            true => Ok(value),
            false => Err(self.into_list()),
        }
    }
}

/// The first violation of a list that has one.
pub(crate) fn first(mut errors: Vec<InputError>) -> InputError {
    match errors.is_empty() {
        true => InputError::new("input", "refused for no stated reason"),
        false => errors.swap_remove(0),
    }
}

/// A value from an input, in backticks, cut to a length that fits a message.
pub(crate) fn tick(value: &str) -> String {
    const SHOWN: usize = 80;
    match value.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("`{}…`", &value[..cut]),
        None => format!("`{value}`"),
    }
}

/// `text` as one line that a terminal shows as it is: line ends are blanks; other control
/// characters, and those that are invisible or change the direction of text, are escaped.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    // Writing to a string does not fail.
    let _ = one_line(&mut line, text);
    line
}

/// Whether a character takes no room, or changes the direction of what follows.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

fn one_line(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '\n' => f.write_str(" ")?,
            '\u{2028}' | '\u{2029}' => write!(f, "{}", c.escape_unicode())?,
            c if c.is_control() || is_invisible(c) => write!(f, "{}", c.escape_default())?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_leaves_out_what_is_absent() {
        let error = InputError::new("a.tsv", "rank `x` is not a number");
        assert_eq!(error.to_string(), "a.tsv: rank `x` is not a number");
        let error = error.line(3).field("rank").expected("1, 2, …");
        assert_eq!(
            error.to_string(),
            "a.tsv:3: field `rank`: rank `x` is not a number; expected 1, 2, …"
        );
        let hostile = InputError::new("a\nb", "\u{1b}[31mred\u{202e}\r\n\u{2028}x");
        assert_eq!(hostile.to_string(), "a b: \\u{1b}[31mred\\u{202e}\\r \\u{2028}x");
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let mut list = Violations::default();
        list.extend((0..250).map(|i| InputError::new("f", format!("{i}"))));
        let list = list.into_list();
        assert_eq!(list.len(), 101);
        assert_eq!(list[100].to_string(), "f: 150 more violations not listed");
    }

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        assert_eq!(tick("ü"), "`ü`");
        assert_eq!(tick(&"ü".repeat(81)), format!("`{}…`", "ü".repeat(80)));
    }
}
