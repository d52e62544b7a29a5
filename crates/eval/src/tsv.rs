//! Tab-separated tables with a header: strict about what is asked for, silent about the rest.

use cleanhit_io::{InputError, counted, each_record, utf8};

/// Whether a table may lack a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    Required,
    Optional,
}

/// One line's values of the columns asked for; empty for an optional column that is absent.
#[derive(Debug)]
pub(crate) struct Row<const N: usize> {
    /// Counted from 1; the header is line 1.
    pub(crate) line: u64,
    pub(crate) fields: [String; N],
}

/// The columns asked for.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    /// The header as written.
    pub(crate) header: Vec<String>,
    /// Whether each column is there.
    pub(crate) present: [bool; N],
    pub(crate) rows: Vec<Row<N>>,
}

/// Reads `columns` of a table, RFC 4180 quoting with tabs. Other columns are ignored.
///
/// Rows that cannot be read are noted in `errors` and left out; none if the header is bad.
pub(crate) fn read<const N: usize>(
    file: &str,
    bytes: &[u8],
    columns: [(&str, Need); N],
    errors: &mut Vec<InputError>,
) -> Table<N> {
    let mut table = Table { header: Vec::new(), present: [false; N], rows: Vec::new() };
    let text = match utf8(file, bytes) {
        Ok(text) => text,
        Err(error) => {
            errors.push(error);
            return table;
        }
    };
    let mut found = None;
    let read = each_record(file, text, |line, record| {
        let Some(places) = found else {
            table.header = record.iter().map(|&name| name.to_owned()).collect();
            found = places(file, &table.header, columns, errors);
            return found.is_some();
        };
        if record.len() != table.header.len() {
            let error =
                InputError::new(file, format!("has {}", counted(record.len(), "field"))).line(line);
            errors.push(error.expected(table.header.len().to_string()));
            return true;
        }
        let value = |place: Option<usize>| place.map_or("", |place| record[place]).to_owned();
        table.rows.push(Row { line, fields: places.map(value) });
        true
    });
    errors.extend(read.err());
    table.present = found.unwrap_or([None; N]).map(|place: Option<usize>| place.is_some());
    if table.header.is_empty() && errors.is_empty() {
        errors.push(InputError::new(file, "is empty").expected("a header line"));
    }
    table
}

/// Where each column is; `None` if one is missing or occurs twice.
fn places<const N: usize>(
    file: &str,
    header: &[String],
    columns: [(&str, Need); N],
    errors: &mut Vec<InputError>,
) -> Option<[Option<usize>; N]> {
    let known = errors.len();
    let places = columns.map(|(name, need)| {
        let mut found = header.iter().enumerate().filter(|(_, column)| *column == name);
        let place = found.next().map(|(place, _)| place);
        if found.next().is_some() {
            let error = InputError::new(file, "the column occurs twice").line(1).field(name);
            errors.push(error.expected("each column once"));
        } else if place.is_none() && need == Need::Required {
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let error = InputError::new(file, "the column is missing").line(1).field(name);
            errors.push(error.expected(format!("the columns {}", names.join(", "))));
        }
        place
    });
    (errors.len() == known).then_some(places)
}

/// Writes a table: tabs, LF, quotes only where a field needs them.
pub(crate) fn write<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Vec<u8> {
    let quote = |field: &str| match field.contains(['\t', '\n', '\r', '"']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    };
    let mut text = header.join("\t");
    text.push('\n');
    for row in rows {
        text.push_str(&row.map(|field| quote(&field)).join("\t"));
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(&str, Need); 2] = [("a", Need::Required), ("b", Need::Optional)];

    fn parse(bytes: &[u8]) -> (Table<2>, Vec<String>) {
        let mut errors = Vec::new();
        let table = read("t.tsv", bytes, COLUMNS, &mut errors);
        (table, errors.iter().map(InputError::to_string).collect())
    }

    #[test]
    fn columns_are_found_by_name_and_quoted_fields_may_hold_lines() {
        let (table, errors) = parse(b"x\tb\ta\r\n\"two\nlines\"\tB\tA\r\nx\t\t\"t\tq\"\"\"\r\n");
        assert_eq!(errors, [""; 0]);
        let rows: Vec<(u64, &[String; 2])> =
            table.rows.iter().map(|r| (r.line, &r.fields)).collect();
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(rows, [(2, &row("A", "B")), (4, &row("t\tq\"", ""))]);
        assert_eq!(table.present, [true, true]);
        let written = write(["a", "b"], table.rows.into_iter().map(|row| row.fields));
        assert_eq!(written, b"a\tb\nA\tB\n\"t\tq\"\"\"\t\n");
    }

    #[test]
    fn every_problem_names_its_line() {
        let (table, errors) = parse(b"a\n1\n2\t3\n4\t5\n6\n");
        assert_eq!(
            errors,
            ["t.tsv:3: has 2 fields; expected 1", "t.tsv:4: has 2 fields; expected 1",]
        );
        assert_eq!(table.rows.len(), 2);
        assert_eq!(
            parse(b"b\n1\n").1,
            ["t.tsv:1: field `a`: the column is missing; expected the columns a, b"]
        );
        assert_eq!(
            parse(b"a\ta\n").1,
            ["t.tsv:1: field `a`: the column occurs twice; expected each column once"]
        );
        assert_eq!(parse(b"").1, ["t.tsv: is empty; expected a header line"]);
        assert_eq!(
            parse(b"a\n1\n\xff\n").1,
            ["t.tsv:3: byte 4 of the file is not UTF-8; expected UTF-8"]
        );
        let (_, errors) = parse(b"\xef\xbb\xbfa\n");
        assert_eq!(errors, ["t.tsv:1: starts with a byte order mark; expected UTF-8 without one"]);
    }
}
