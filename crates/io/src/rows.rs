//! JSON lines, read strictly: UTF-8 without a byte order mark, one object a line, exactly the
//! keys asked for.

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{InputError, Violations, tick};

/// The longest line a reader takes, in bytes.
pub(crate) const MAX_LINE: usize = 64 << 20;

/// The text of a file.
///
/// # Errors
///
/// If it starts with a byte order mark or is not UTF-8, with the line.
pub fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, InputError> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let error = InputError::new(file, "starts with a byte order mark").line(1);
        return Err(error.expected("UTF-8 without one"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64;
        let problem = format!("byte {at} of the file is not UTF-8");
        InputError::new(file, problem).line(line).expected("UTF-8")
    })
}

/// Refuses a line of more than 64 MiB, the most that any reader takes.
///
/// # Errors
///
/// If there is one, with its number.
pub fn check_lines(file: &str, bytes: &[u8]) -> Result<(), InputError> {
    if bytes.len() <= MAX_LINE {
        return Ok(());
    }
    match bytes.split(|&byte| byte == b'\n').zip(1u64..).find(|(line, _)| MAX_LINE < line.len()) {
        None => Ok(()),
        Some((line, number)) => {
            let problem = format!("the line has {} bytes", line.len());
            let error = InputError::new(file, problem).line(number);
            Err(error.expected(format!("at most {MAX_LINE}")))
        }
    }
}

/// Lines with their numbers, without line ends; a last line needs none.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let none = text.is_empty();
    lines.zip(1u64..).map(|(line, number)| (number, line)).filter(move |_| !none)
}

/// The values of `keys` in each row, all text. A bad row is left out and its violation noted.
pub(crate) fn exact_rows<const N: usize>(
    file: &str,
    bytes: &[u8],
    keys: [&'static str; N],
    out: &mut Violations,
) -> Vec<(u64, [String; N])> {
    let text = match utf8(file, bytes) {
        Ok(text) => text,
        Err(error) => {
            out.push(error);
            return Vec::new();
        }
    };
    let mut rows = Vec::new();
    for (number, line) in lines(text) {
        match exact_row(line, keys) {
            Ok(row) => rows.push((number, row)),
            Err(problem) => {
                let mut error = problem.at(file, number);
                let object = || format!("an object with {}", names(&keys));
                error.expected.get_or_insert_with(object);
                out.push(error);
            }
        }
    }
    rows
}

/// What is wrong with one row.
pub(crate) struct Problem {
    text: String,
    field: Option<String>,
    expected: Option<String>,
}

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Problem {
        Problem { text: text.into(), field: None, expected: None }
    }

    pub(crate) fn field(mut self, field: &str) -> Problem {
        self.field = Some(field.to_owned());
        self
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Problem {
        self.expected = Some(expected.into());
        self
    }

    pub(crate) fn at(self, file: &str, line: u64) -> InputError {
        let mut error = InputError::new(file, self.text).line(line);
        (error.field, error.expected) = (self.field, self.expected);
        error
    }
}

fn exact_row<const N: usize>(line: &str, keys: [&'static str; N]) -> Result<[String; N], Problem> {
    if line.trim().is_empty() {
        return Err(Problem::new("the line is blank"));
    }
    let row = object(line, keys)?;
    if let Some(key) = &row.repeated {
        return Err(Problem::new("the key occurs twice").field(key));
    }
    if let Some(key) = &row.unknown {
        return Err(Problem::new("unknown key").field(key));
    }
    let mut texts = [const { String::new() }; N];
    for ((text, value), key) in texts.iter_mut().zip(row.values).zip(keys) {
        match value {
            Some(Value::String(value)) => *text = value,
            Some(other) => {
                let problem = Problem::new(format!("is {}", kind(&other))).field(key);
                return Err(problem.expected("a string"));
            }
            None => return Err(Problem::new("the key is missing").field(key)),
        }
    }
    Ok(texts)
}

/// One line as a JSON object: the values of `keys`, and which others there are.
pub(crate) fn object<const N: usize>(
    line: &str,
    keys: [&'static str; N],
) -> Result<Seen<N>, Problem> {
    if MAX_LINE < line.len() {
        let problem = Problem::new(format!("the line has {} bytes", line.len()));
        return Err(problem.expected(format!("at most {MAX_LINE}")));
    }
    let mut json = serde_json::Deserializer::from_str(line);
    let row = json.deserialize_any(Row(keys)).and_then(|row| json.end().map(|()| row));
    row.map_err(|error| Problem::new(json_problem(&error)))
}

/// `line 1 column 7` without the line, which a caller knows better.
pub(crate) fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match (error.classify(), error.column()) {
        (serde_json::error::Category::Data, column) => format!("{text}, at column {column}"),
        (_, 0) => format!("not valid JSON: {text}"),
        (_, column) => format!("not valid JSON at column {column}: {text}"),
    }
}

/// What a JSON value is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What an id must be, for messages.
pub(crate) const AN_ID: &str = "an id without control characters";

/// An id that every format can hold: not empty, no control characters.
pub(crate) fn check_id(id: &str) -> Result<(), &'static str> {
    match id {
        "" => Err("the id is empty"),
        id if id.chars().any(char::is_control) => Err("the id holds a control character"),
        _ => Ok(()),
    }
}

fn names(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| tick(key)).collect();
    match keys.len() {
        1 => format!("exactly the key {}", keys[0]),
        _ => format!("exactly the keys {}", keys.join(", ")),
    }
}

/// Visits one object; problems with keys are recorded, so that they can be told apart from
/// problems with JSON.
struct Row<const N: usize>([&'static str; N]);

/// The object of one line.
pub(crate) struct Seen<const N: usize> {
    /// The values of the known keys.
    pub(crate) values: [Option<Value>; N],
    /// The first key that is not known.
    pub(crate) unknown: Option<String>,
    /// The first known key that occurs twice.
    pub(crate) repeated: Option<String>,
}

impl<'de, const N: usize> Visitor<'de> for Row<N> {
    type Value = Seen<N>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Seen<N>, A::Error> {
        let mut seen = Seen { values: [const { None }; N], unknown: None, repeated: None };
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match self.0.iter().position(|&known| known == key) {
                Some(i) if seen.values[i].is_none() => seen.values[i] = Some(map.next_value()?),
                Some(_) => {
                    map.next_value::<IgnoredAny>()?;
                    seen.repeated.get_or_insert(key.into_owned());
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                    seen.unknown.get_or_insert(key.into_owned());
                }
            }
        }
        Ok(seen)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, _: A) -> Result<Seen<N>, A::Error> {
        Err(A::Error::custom("found an array"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, [String; 2])>, String> {
        let mut out = Violations::default();
        let rows = exact_rows("p.jsonl", text.as_bytes(), ["id", "text"], &mut out);
        match out.into_list().first() {
            Some(error) => Err(error.to_string()),
            None => Ok(rows),
        }
    }

    #[test]
    fn rows_keep_their_line_numbers_and_crlf_is_accepted() {
        let rows =
            read("{\"text\":\"A\",\"id\":\"a\"}\r\n{\"id\":\"b\",\"text\":\"\\u00fc\"}").unwrap();
        let row = |id: &str, text: &str| [id.to_owned(), text.to_owned()];
        assert_eq!(rows, [(1, row("a", "A")), (2, row("b", "ü"))]);
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn each_problem_names_line_and_field() {
        let good = "{\"id\":\"a\",\"text\":\"A\"}\n";
        let cases = [
            (
                "{\"id\":\"a\"}",
                "p.jsonl:2: field `text`: the key is missing; expected an object with exactly the keys `id`, `text`",
            ),
            (
                "{\"id\":\"a\",\"text\":\"\",\"x\":1}",
                "p.jsonl:2: field `x`: unknown key; expected an object with exactly the keys `id`, `text`",
            ),
            (
                "{\"id\":\"a\",\"id\":\"b\",\"text\":\"\"}",
                "p.jsonl:2: field `id`: the key occurs twice; expected an object with exactly the keys `id`, `text`",
            ),
            ("{\"id\":7,\"text\":\"\"}", "p.jsonl:2: field `id`: is a number; expected a string"),
            ("{\"id\":null,\"text\":\"\"}", "p.jsonl:2: field `id`: is null; expected a string"),
            (
                "\n",
                "p.jsonl:2: the line is blank; expected an object with exactly the keys `id`, `text`",
            ),
            (
                "[1]",
                "p.jsonl:2: found an array, at column 1; expected an object with exactly the keys `id`, `text`",
            ),
        ];
        for (line, message) in cases {
            assert_eq!(read(&format!("{good}{line}\n")).unwrap_err(), message, "{line}");
        }
        for line in ["{", "{\"id\":\"a\",\"text\":\"A\"} x", "{\"id\":\"\\ud800\",\"text\":\"\"}"] {
            let error = read(&format!("{good}{line}\n")).unwrap_err();
            assert!(error.starts_with("p.jsonl:2: not valid JSON"), "{line}: {error}");
        }
    }

    #[test]
    fn marks_and_bytes_that_are_not_utf8_are_refused() {
        assert_eq!(
            read("\u{feff}{}").unwrap_err(),
            "p.jsonl:1: starts with a byte order mark; expected UTF-8 without one"
        );
        let error = utf8("f", b"ok\n\xff").unwrap_err();
        assert_eq!(error.to_string(), "f:2: byte 3 of the file is not UTF-8; expected UTF-8");
    }

    #[test]
    fn a_line_of_more_than_64_mib_is_refused() {
        let long = format!("{{\"id\":\"a\",\"text\":\"{}\"}}", "x".repeat(MAX_LINE - 19));
        let Err(error) = read(&long) else { panic!("the line was accepted") };
        assert_eq!(error, "p.jsonl:1: the line has 67108865 bytes; expected at most 67108864");
    }

    #[test]
    fn a_line_separator_inside_text_does_not_end_a_line() {
        assert_eq!(read("{\"id\":\"a\",\"text\":\"x\u{2028}y\u{0085}z\"}").unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            exact_rows("f", &bytes, ["id", "text"], &mut Violations::default());
        }
    }
}
