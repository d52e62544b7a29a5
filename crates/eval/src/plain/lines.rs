//! Lines and fields of a TREC file.

use std::str;

use memchr::memchr;

use crate::plain::error::ReadError;

/// The bytes a line may have: 64 MiB.
pub const MAX_LINE: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What to do about a violation: `Err` stops the reading, `Ok` goes on to the next line.
pub(crate) type Report<'r> = dyn FnMut(ReadError) -> Result<(), ReadError> + 'r;

/// Calls `each` with the number and the `N` fields of each row.
///
/// Lines end in LF or CRLF; the last one needs no end. Blank lines are left out, and so are
/// comments, whose first character other than a blank is `#`. Reports other numbers of fields,
/// as not the `expected` ones, and what `each` refuses. A file without rows is empty.
pub(crate) fn each_row<'a, const N: usize>(
    bytes: &'a [u8],
    expected: &'static str,
    report: &mut Report<'_>,
    mut each: impl FnMut(usize, [&'a str; N]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        None => bytes,
        Some(rest) => {
            report(ReadError::ByteOrderMark)?;
            rest
        }
    };
    let mut rows = Rows { line: 0, any: false, expected };
    match str::from_utf8(bytes) {
        Ok(text) => rows.read(text, report, &mut each)?,
        Err(_) => {
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                match str::from_utf8(line) {
                    Ok(text) => rows.read(text, report, &mut each)?,
                    Err(_) => {
                        rows.line += 1;
                        rows.any = true;
                        report(ReadError::NotUtf8 { line: rows.line })?;
                    }
                }
            }
        }
    }
    match rows.any {
        true => Ok(()),
        false => report(ReadError::Empty { expected }),
    }
}

struct Rows {
    line: usize,
    /// Whether any line was neither blank nor a comment.
    any: bool,
    expected: &'static str,
}

impl Rows {
    #[inline]
    fn read<'a, const N: usize>(
        &mut self,
        text: &'a str,
        report: &mut Report<'_>,
        each: &mut impl FnMut(usize, [&'a str; N]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let bytes = text.as_bytes();
        let mut next = 0;
        while next < bytes.len() {
            self.line += 1;
            let mut fields = [""; N];
            let mut got = 0;
            let mut end = next;
            loop {
                while end < bytes.len() && bytes[end] != b'\n' && is_blank(bytes[end]) {
                    end += 1;
                }
                if end == bytes.len() || bytes[end] == b'\n' {
                    break;
                }
                if got == 0 && bytes[end] == b'#' {
                    end = memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |length| end + length);
                    break;
                }
                let start = end;
                end = field_end(bytes, start);
                match fields.get_mut(got) {
                    None => {}
                    Some(field) => *field = &text[start..end],
                }
                got += 1;
            }
            let length = end - next;
            next = end + 1;
            let line = self.line;
            self.any |= got != 0 || MAX_LINE < length;
            let row = match got {
                _ if MAX_LINE < length => Err(ReadError::LineTooLong { line, got: length }),
                0 => Ok(()),
                got if got == N => each(line, fields),
                got => Err(ReadError::Columns { line, expected: self.expected, got }),
            };
            match row {
                Ok(()) => {}
                Err(error) => report(error)?,
            }
        }
        Ok(())
    }
}

/// What separates fields: C's `isspace`, as in trec_eval; other Unicode blanks are part of an id.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The first blank at or after `at`, or the end. Looks at 8 bytes at a time.
///
/// Source: Mycroft's test for a byte below a bound; a borrow can only touch the bytes above
/// the first hit, so the first hit is one.
#[inline]
fn field_end(bytes: &[u8], mut at: usize) -> usize {
    const ABOVE_BLANK: u64 = 0x2121_2121_2121_2121;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*chunk);
        match word.wrapping_sub(ABOVE_BLANK) & !word & HIGH_BITS {
            0 => at += 8,
            hits => {
                at += (hits.trailing_zeros() / 8) as usize;
                // Any control character was a hit, but not all are blanks.
                if is_blank(bytes[at]) {
                    return at;
                }
                at += 1;
            }
        }
    }
    while at < bytes.len() && !is_blank(bytes[at]) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Lines<const N: usize> = (Vec<(usize, [String; N])>, Vec<String>);

    fn rows<const N: usize>(bytes: &[u8]) -> Lines<N> {
        let (mut rows, mut errors) = (Vec::new(), Vec::new());
        let mut report = |error: ReadError| {
            errors.push(error.to_string());
            Ok(())
        };
        each_row(bytes, "some", &mut report, |line, fields: [&str; N]| {
            rows.push((line, fields.map(str::to_owned)));
            Ok(())
        })
        .unwrap();
        (rows, errors)
    }

    #[test]
    fn blank_and_comment_lines_are_counted_but_not_read() {
        let (found, errors) = rows(b"# by hand\na b\r\n\n \t\r\n  # indented\nc#d \x0be");
        assert_eq!(
            found,
            [(2, ["a", "b"].map(str::to_owned)), (6, ["c#d", "e"].map(str::to_owned))]
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn every_line_that_is_not_utf8_is_named() {
        let (found, errors) = rows(b"a\xff\nb\n\xc3\n");
        assert_eq!(found, [(2, ["b".to_owned()])]);
        assert_eq!(errors, ["line 1: is not UTF-8", "line 3: is not UTF-8"]);
    }

    #[test]
    fn a_line_of_more_than_64_mib_is_refused() {
        let mut bytes = vec![b'x'; MAX_LINE + 1];
        bytes.extend_from_slice(b"\nshort");
        let (found, errors) = rows(&bytes);
        assert_eq!(found, [(2, ["short".to_owned()])]);
        assert_eq!(errors, ["line 1: has 67108865 bytes, expected at most 67108864"]);
    }

    #[test]
    fn a_wrong_number_of_fields_is_counted() {
        let (found, errors) = rows::<3>(b" a\tb  c\r\na b\na b c d e\nno\xc2\xa0break 2 3");
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].1[0], "no\u{a0}break");
        assert_eq!(
            errors,
            ["line 2: 2 columns, expected some", "line 3: 5 columns, expected some"]
        );
    }

    #[test]
    fn a_file_without_rows_is_empty() {
        for bytes in [&b""[..], b"\n \n", b"# only a remark"] {
            assert_eq!(rows::<1>(bytes).1, ["the file is empty: expected rows with some"]);
        }
    }

    proptest! {
        /// Reading 8 bytes at a time finds what reading one at a time finds.
        #[test]
        fn the_end_of_a_field_is_the_first_blank(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..0x40, Just(b'x')], 0..60),
            at in 0usize..70,
        ) {
            let at = at.min(bytes.len());
            let slow = bytes[at..].iter().position(|&byte| is_blank(byte));
            prop_assert_eq!(field_end(&bytes, at), slow.map_or(bytes.len(), |n| at + n));
        }
    }
}
