//! From a unit's TOML to a [`Unit`], or to everything that keeps it from being one.

use std::{collections::BTreeMap, ops::Range};

use cleanhit_io::InputError;
use serde::Deserialize;
use toml::Spanned;

use super::{
    taxonomy::{ConflictType, Mechanism, Side, Split, Stratum},
    unit::{Evidence, Kind, Skill, Unit, UnitQuery},
};

/// The format that this version reads and writes.
pub(crate) const FORMAT: u64 = 1;

type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitFile {
    format: Spanned<u64>,
    unit_id: Text,
    stratum: Spanned<Stratum>,
    mechanism: Spanned<Mechanism>,
    conflict_type: Spanned<ConflictType>,
    domain: Text,
    lineage_group: Text,
    split: Spanned<Split>,
    correction: Option<Text>,
    a: SkillTable,
    b: Spanned<SiblingTable>,
    query: Vec<QueryTable>,
    evidence: EvidenceTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillTable {
    name: Text,
    description: Text,
    body: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SiblingTable {
    name: Option<Text>,
    description: Option<Text>,
    body: Option<Text>,
    edits: Option<Spanned<Vec<Edit>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    #[serde(default, rename = "in")]
    part: Part,
    from: Text,
    to: Text,
}

#[derive(Clone, Copy, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Part {
    Name,
    Description,
    #[default]
    Body,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryTable {
    text: Text,
    requirement: Text,
    helpful: Spanned<Side>,
    helpful_span: Text,
    sibling_span: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceTable {
    kind: Spanned<Kind>,
    statement: Text,
    tests: Option<Text>,
    binds: Option<Text>,
}

impl Unit {
    /// Reads a unit and applies its edits.
    ///
    /// `file` is the name that errors give; its stem must be the unit's id.
    ///
    /// # Errors
    ///
    /// Everything that keeps the file from being a unit, each with line and field. Text that
    /// isn't TOML, or lacks a field, ends the search at once.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Unit, Vec<InputError>> {
        let text = utf8(file, bytes).map_err(|error| vec![error])?;
        let table: UnitFile =
            toml::from_str(text).map_err(|error| vec![toml_error(file, text, &error)])?;
        let mut reader = Reader { file, source: text, lines: BTreeMap::new(), errors: Vec::new() };
        let unit = reader.unit(table);
        match (unit, reader.errors.is_empty()) {
            (Some(unit), true) => Ok(Unit { lines: reader.lines, ..unit }),
            _ => Err(reader.errors),
        }
    }
}

/// Checks values on their way out of the tables, and remembers their lines.
struct Reader<'a> {
    file: &'a str,
    source: &'a str,
    lines: BTreeMap<String, u64>,
    errors: Vec<InputError>,
}

impl Reader<'_> {
    fn unit(&mut self, table: UnitFile) -> Option<Unit> {
        let format = self.take("format", table.format);
        if format != FORMAT {
            self.wrong("format", format!("is {format}"), FORMAT.to_string());
        }
        let id = self.slug("unit_id", table.unit_id);
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        if name.strip_suffix(".toml").unwrap_or(name) != id {
            let expected = format!("the file's stem, as in `{id}.toml`");
            self.wrong("unit_id", format!("`{id}` names another file"), expected);
        }
        let stratum = self.take("stratum", table.stratum);
        let correction = table.correction.map(|text| self.text("correction", text));
        if correction.is_none() && stratum == Stratum::Single {
            let expected = "the smallest correction that repairs the sibling";
            self.wrong("correction", "is missing from a single unit", expected);
        }
        let a = Skill {
            name: self.slug("a.name", table.a.name),
            description: self.text("a.description", table.a.description),
            body: self.text("a.body", table.a.body),
        };
        let b = self.sibling(stratum, &a, table.b);
        let queries = table.query.into_iter().enumerate();
        Some(Unit {
            file: self.file.to_owned(),
            id,
            stratum,
            mechanism: self.take("mechanism", table.mechanism),
            conflict_type: self.take("conflict_type", table.conflict_type),
            domain: self.slug("domain", table.domain),
            lineage_group: self.slug("lineage_group", table.lineage_group),
            split: self.take("split", table.split),
            correction,
            a,
            queries: queries.map(|(i, query)| self.query(i, query)).collect(),
            evidence: self.evidence(table.evidence),
            lines: BTreeMap::new(),
            b: b?,
        })
    }

    /// `[b]`: edits in a single unit, the whole skill in a paired one.
    fn sibling(&mut self, stratum: Stratum, a: &Skill, b: Spanned<SiblingTable>) -> Option<Skill> {
        self.note("b", b.span());
        let b = b.into_inner();
        match (stratum, b.name, b.description, b.body, b.edits) {
            (Stratum::Single, None, None, None, Some(edits)) => {
                self.note("b.edits", edits.span());
                self.edited(a, edits.into_inner())
            }
            (Stratum::Single, ..) => {
                self.wrong("b", "is not written as edits of `[a]`", "`edits` and nothing else");
                None
            }
            (Stratum::Paired, Some(name), Some(description), Some(body), None) => Some(Skill {
                name: self.slug("b.name", name),
                description: self.text("b.description", description),
                body: self.text("b.body", body),
            }),
            (Stratum::Paired, ..) => {
                let expected = "`name`, `description` and `body`, and no `edits`";
                self.wrong("b", "is not a skill written out in full", expected);
                None
            }
        }
    }

    /// Applies edits. All of them are found in `a` itself, so their order is irrelevant.
    fn edited(&mut self, a: &Skill, edits: Vec<Edit>) -> Option<Skill> {
        let before = self.errors.len();
        if edits.is_empty() {
            self.wrong("b.edits", "is empty", "at least one edit");
        }
        let mut found: Vec<(Part, Range<usize>, String, usize)> = Vec::new();
        for (i, edit) in edits.into_iter().enumerate() {
            let from = self.text(&format!("b.edits[{i}].from"), edit.from);
            let to = self.take(&format!("b.edits[{i}].to"), edit.to);
            self.line_ends(&format!("b.edits[{i}].to"), &to);
            let field = format!("b.edits[{i}].from");
            if from == to {
                self.wrong(&field, "is what `to` says", "a change");
            }
            let part = edit.part;
            let mut places = occurrences(part.of(a), &from);
            match (places.next(), places.next()) {
                (Some(at), None) => found.push((part, at..at + from.len(), to, i)),
                (None, _) => {
                    self.wrong(&field, format!("does not occur in `a.{}`", part.name()), "once");
                }
                (Some(_), Some(_)) => {
                    let problem = format!("occurs more than once in `a.{}`", part.name());
                    self.wrong(&field, problem, "once: quote more of the text around it");
                }
            }
        }
        let mut b = a.clone();
        for part in [Part::Name, Part::Description, Part::Body] {
            let mut here: Vec<_> = found.iter().filter(|(p, ..)| *p == part).collect();
            here.sort_by_key(|(_, range, ..)| range.start);
            for pair in here.windows(2) {
                if let [(_, first, _, i), (_, second, _, j)] = pair
                    && second.start < first.end
                {
                    let problem = format!("overlaps with edit {i}");
                    self.wrong(&format!("b.edits[{j}].from"), problem, "edits side by side");
                }
            }
            if self.errors.len() == before {
                // From the end, so that the places of earlier edits stay true.
                for (_, range, to, _) in here.into_iter().rev() {
                    part.of_mut(&mut b).replace_range(range.clone(), to);
                }
            }
        }
        (self.errors.len() == before).then_some(b)
    }

    fn query(&mut self, i: usize, query: QueryTable) -> UnitQuery {
        let field = |name: &str| format!("query[{i}].{name}");
        UnitQuery {
            text: self.text(&field("text"), query.text),
            requirement: self.text(&field("requirement"), query.requirement),
            helpful: self.take(&field("helpful"), query.helpful),
            helpful_span: self.text(&field("helpful_span"), query.helpful_span),
            sibling_span: self.text(&field("sibling_span"), query.sibling_span),
        }
    }

    fn evidence(&mut self, evidence: EvidenceTable) -> Evidence {
        let kind = self.take("evidence.kind", evidence.kind);
        let tests = evidence.tests.map(|text| self.text("evidence.tests", text));
        match (kind, &tests) {
            (Kind::Runnable, None) => {
                self.wrong("evidence.tests", "is missing from runnable evidence", "asserts");
            }
            (Kind::Statement, Some(_)) => {
                let expected = "`kind = \"runnable\"`, or no tests";
                self.wrong("evidence.tests", "never runs: the evidence is a statement", expected);
            }
            _ => {}
        }
        Evidence {
            kind,
            statement: self.text("evidence.statement", evidence.statement),
            tests,
            binds: evidence.binds.map(|text| self.take("evidence.binds", text)),
        }
    }

    fn note(&mut self, field: &str, span: Range<usize>) {
        self.lines.insert(field.to_owned(), line_of(self.source, span.start));
    }

    fn take<T>(&mut self, field: &str, value: Spanned<T>) -> T {
        self.note(field, value.span());
        value.into_inner()
    }

    /// Text with something in it.
    fn text(&mut self, field: &str, value: Text) -> String {
        let text = self.take(field, value);
        if text.trim().is_empty() {
            self.wrong(field, "is empty", "text");
        }
        self.line_ends(field, &text);
        text
    }

    /// A hash over text must not depend on how a checkout writes line ends.
    fn line_ends(&mut self, field: &str, text: &str) {
        if text.contains('\r') {
            self.wrong(field, "holds a carriage return", "lines that end in LF alone");
        }
    }

    /// A name in kebab case: what fits a file name, a table cell and a sentence.
    fn slug(&mut self, field: &str, value: Text) -> String {
        let text = self.take(field, value);
        if !is_slug(&text) {
            let problem = format!("`{text}` is not in kebab case");
            self.wrong(field, problem, "lower-case letters, digits and single hyphens");
        }
        text
    }

    fn wrong(&mut self, field: &str, problem: impl Into<String>, expected: impl Into<String>) {
        let error = InputError::new(self.file, problem).field(field).expected(expected);
        self.errors.push(match self.lines.get(field) {
            Some(&line) => error.line(line),
            None => error,
        });
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Name => "name",
            Part::Description => "description",
            Part::Body => "body",
        }
    }

    fn of(self, skill: &Skill) -> &str {
        match self {
            Part::Name => &skill.name,
            Part::Description => &skill.description,
            Part::Body => &skill.body,
        }
    }

    fn of_mut(self, skill: &mut Skill) -> &mut String {
        match self {
            Part::Name => &mut skill.name,
            Part::Description => &mut skill.description,
            Part::Body => &mut skill.body,
        }
    }
}

/// Whether a text is lower-case words and digits joined by single hyphens.
pub(crate) fn is_slug(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(word)
}

/// The text of a TOML file.
pub(crate) fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, InputError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() as u64;
        InputError::new(file, "is not UTF-8").line(line).expected("UTF-8")
    })
}

/// What the TOML reader says, with line and field.
pub(crate) fn toml_error(file: &str, source: &str, error: &toml::de::Error) -> InputError {
    let found = InputError::new(file, error.message().trim_end());
    let Some(span) = error.span() else { return found };
    let start = span.start.min(source.len());
    let found = found.line(line_of(source, start));
    match field_at(source, start) {
        Some(field) => found.field(&field),
        None => found,
    }
}

/// The line of a byte of `source`, counted from 1.
pub(crate) fn line_of(source: &str, at: usize) -> u64 {
    let before = &source.as_bytes()[..at.min(source.len())];
    1 + memchr::memchr_iter(b'\n', before).count() as u64
}

/// The key on the line of a byte, after the name of its table; read off the text, since the
/// TOML reader keeps no path.
fn field_at(source: &str, at: usize) -> Option<String> {
    let bytes = source.as_bytes();
    let start = memchr::memrchr(b'\n', bytes.get(..at)?).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
    let header = |line: &str| {
        let name = line.trim_end().trim_matches(['[', ']']);
        line.starts_with('[').then(|| name.to_owned()).filter(|name| is_slug(name))
    };
    let (above, line) = (source.get(..start)?, source.get(start..end)?);
    if let Some(table) = header(line) {
        return Some(table);
    }
    let key = line.split('=').next().unwrap_or_default().trim();
    let key = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then_some(key)?;
    match above.lines().rev().find_map(header) {
        Some(table) if !key.is_empty() => Some(format!("{table}.{key}")),
        None if !key.is_empty() => Some(key.to_owned()),
        table => table,
    }
}

/// Where `needle` occurs, overlapping places too.
fn occurrences<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(move |&at| !needle.is_empty() && text[at..].starts_with(needle))
}
