//! Records of a tab-separated table, and the lines they start on.

use crate::{error::InputError, rows::check_lines};

/// Hands each record, with its line counted from 1, to `each`, which says whether to go on.
///
/// Fields may be quoted as in RFC 4180 and lines may end in CRLF; empty lines are no records. A
/// text in which no field is quoted is split where it stands. `file` is for messages.
///
/// # Errors
///
/// If the text is not a table: a line above 64 MiB, a quote that is never closed, a line that
/// ends in a carriage return alone.
pub fn each_record(
    file: &str,
    text: &str,
    each: impl FnMut(u64, &[&str]) -> bool,
) -> Result<(), InputError> {
    check_lines(file, text.as_bytes())?;
    if is_plain(text.as_bytes()) {
        split(text, each);
        return Ok(());
    }
    if let Some((line, problem, expected)) = broken(text.as_bytes()) {
        return Err(InputError::new(file, problem).line(line).expected(expected));
    }
    parse(text.as_bytes(), each).map_err(|error| {
        let failed = InputError::new(file, format!("cannot be read as a table: {error}"));
        match error.position() {
            Some(position) => failed.line(position.line()),
            None => failed,
        }
    })
}

/// Whether nothing is quoted, and a carriage return only ends a line with its line feed.
fn is_plain(bytes: &[u8]) -> bool {
    memchr::memchr2_iter(b'"', b'\r', bytes).all(|at| bytes[at..].starts_with(b"\r\n"))
}

/// What the CSV reader would take for something else: the line, what is wrong, what is right.
fn broken(bytes: &[u8]) -> Option<(u64, &'static str, &'static str)> {
    let mut line = 1;
    // Where the open quote is, if there is one.
    let mut quoted = None;
    let mut starts = true;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match (byte, quoted) {
            (b'"', Some(_)) if next == Some(&b'"') => at += 1,
            (b'"', Some(_)) => quoted = None,
            (b'"', None) if starts => quoted = Some(line),
            (b'\r', None) if next != Some(&b'\n') => {
                return Some((line, "ends in a carriage return alone", "LF or CRLF"));
            }
            _ => {}
        }
        starts = quoted.is_none() && matches!(byte, b'\t' | b'\n');
        line += u64::from(byte == b'\n');
        at += 1;
    }
    quoted.map(|line| (line, "has a quote that is never closed", "another `\"`"))
}

fn split(text: &str, mut each: impl FnMut(u64, &[&str]) -> bool) {
    let mut fields: Vec<&str> = Vec::new();
    let (mut start, mut line) = (0, 1);
    let ends = memchr::memchr2_iter(b'\t', b'\n', text.as_bytes()).chain([text.len()]);
    for end in ends {
        let field = &text[start..end];
        start = end + 1;
        if text.as_bytes().get(end) == Some(&b'\t') {
            fields.push(field);
            continue;
        }
        fields.push(field.strip_suffix('\r').unwrap_or(field));
        if fields != [""] && !each(line, &fields) {
            return;
        }
        fields.clear();
        line += 1;
    }
}

fn parse(bytes: &[u8], mut each: impl FnMut(u64, &[&str]) -> bool) -> Result<(), csv::Error> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(b'\t').has_headers(false).flexible(true);
    let mut reader = reader.from_reader(bytes);
    let mut record = csv::ByteRecord::new();
    let mut lines = Lines { bytes, at: 0, line: 1 };
    while reader.read_byte_record(&mut record)? {
        // Fields of a text end at ASCII bytes, so they are text.
        let text = |field| std::str::from_utf8(field).unwrap_or_default();
        let fields: Vec<&str> = record.iter().map(text).collect();
        if !each(lines.of(&record), &fields) {
            break;
        }
    }
    Ok(())
}

/// On which line a record starts. The CSV reader's own count is one short after a CRLF.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// Records are asked for in order.
    fn of(&mut self, record: &csv::ByteRecord) -> u64 {
        let start = record.position().map_or(0, csv::Position::byte);
        let start = usize::try_from(start).unwrap_or(self.at).clamp(self.at, self.bytes.len());
        let ends = self.bytes[start..].iter().take_while(|&&b| b == b'\r' || b == b'\n').count();
        let start = start + ends;
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..start]).count() as u64;
        self.at = start;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Records = Vec<(u64, Vec<String>)>;

    fn owned(line: u64, fields: &[&str], into: &mut Records) -> bool {
        into.push((line, fields.iter().map(|field| (*field).to_owned()).collect()));
        true
    }

    proptest! {
        /// A text without quotes is split as the CSV reader would.
        #[test]
        fn to_split_is_to_parse(text in "([ab\u{fc}]|\t|\n|\r\n){0,40}") {
            prop_assert!(is_plain(text.as_bytes()));
            let (mut split_up, mut parsed) = (Vec::new(), Vec::new());
            split(&text, |line, fields| owned(line, fields, &mut split_up));
            parse(text.as_bytes(), |line, fields| owned(line, fields, &mut parsed)).unwrap();
            prop_assert_eq!(split_up, parsed);
        }
    }

    #[test]
    fn what_is_no_table_is_named_by_its_line() {
        let read = |text: &str| each_record("t", text, |_, _| true).map_err(|e| e.to_string());
        for (text, says) in [
            (
                "a\tb\n\"x\ny\"\t1\nz\t\"open\n2\t3\n",
                "t:4: has a quote that is never closed; expected another `\"`",
            ),
            (
                "a\"\tb\n1\t\"2\"\"\n",
                "t:2: has a quote that is never closed; expected another `\"`",
            ),
            ("a\tb\r1\t2\r", "t:1: ends in a carriage return alone; expected LF or CRLF"),
            ("a\tb\r\n1\t2\r", "t:2: ends in a carriage return alone; expected LF or CRLF"),
        ] {
            assert_eq!(read(text).unwrap_err(), says, "{text:?}");
        }
        for text in ["a\tb\"\n", "\"a\rb\"\t\"\"\r\n", "\"a\"\"b\"\n\"c\"", "\"x\"y\tz\n"] {
            assert_eq!(read(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn quotes_and_lone_carriage_returns_go_to_the_csv_reader() {
        for (text, plain) in
            [("a\tb\r\n", true), ("\"a\"\n", false), ("a\rb\n", false), ("\r", false)]
        {
            assert_eq!(is_plain(text.as_bytes()), plain, "{text:?}");
        }
    }
}
