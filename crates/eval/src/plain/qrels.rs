//! TREC qrels: `qid iter docid rel`.

use crate::plain::{
    error::{ReadError, excerpt},
    groups::{Builder, Groups, Keyed, duplicates, hash},
    lines::{Report, each_row},
    run::collect,
};

const COLUMNS: &str = "the 4 of `qid iter docid rel`";

/// One judgement: a document and its grade for a query.
#[derive(Clone, Copy, Debug)]
pub struct Judgement<'a> {
    document: &'a str,
    line: usize,
    hash: u32,
    grade: i32,
}

impl<'a> Judgement<'a> {
    /// The document's id.
    pub fn document(&self) -> &'a str {
        self.document
    }

    /// The grade as in the file.
    pub fn grade(&self) -> i32 {
        self.grade
    }

    /// The grade as measures use it: a negative one counts 0.
    pub fn gain(&self) -> u32 {
        u32::try_from(self.grade).unwrap_or(0)
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl<'a> Keyed<'a> for Judgement<'a> {
    fn document(&self) -> &'a str {
        self.document
    }

    fn hash(&self) -> u32 {
        self.hash
    }
}

/// Qrels, borrowed from the bytes of their file. A query judges each document at most once.
#[derive(Clone, Debug)]
pub struct Qrels<'a> {
    groups: Groups<'a, Judgement<'a>>,
}

impl<'a> Qrels<'a> {
    /// Reads qrels. Fields, lines and comments are as in [`Run::parse`](crate::plain::Run::parse).
    ///
    /// # Errors
    ///
    /// If the file is empty, is not UTF-8 or begins with a byte-order mark; if a line has more
    /// or fewer than 4 columns or more than [`MAX_LINE`](crate::plain::MAX_LINE) bytes, or a
    /// grade that is not a whole number; or if a query judges a document twice, alike or not.
    /// The error is the first by line, except that duplicates are looked for last.
    pub fn parse(bytes: &'a [u8]) -> Result<Qrels<'a>, ReadError> {
        Qrels::read(bytes, &mut Err)
    }

    /// All that [`parse`](Qrels::parse) would refuse, by line.
    pub fn check(bytes: &[u8]) -> Vec<ReadError> {
        collect(|report| Qrels::read(bytes, report).map(drop))
    }

    /// Qrels of queries and their `(document, grade)`, which may be none.
    ///
    /// # Errors
    ///
    /// If a query judges a document twice.
    pub fn from_queries<J>(
        queries: impl IntoIterator<Item = (&'a str, J)>,
    ) -> Result<Qrels<'a>, ReadError>
    where
        J: IntoIterator<Item = (&'a str, i32)>,
    {
        let mut builder = Builder::with_capacity(0);
        let mut line = 0;
        for (query, judgements) in queries {
            builder.open(query);
            for (document, grade) in judgements {
                line += 1;
                builder.push(query, Judgement { document, line, hash: hash(document), grade });
            }
        }
        Qrels::finish(builder, &mut Err)
    }

    fn read(bytes: &'a [u8], report: &mut Report<'_>) -> Result<Qrels<'a>, ReadError> {
        // Common lines have 16 bytes or more; a wrong guess costs a copy.
        let mut builder = Builder::with_capacity(bytes.len() / 16);
        each_row(bytes, COLUMNS, report, |line, [query, _, document, grade]| {
            let grade = grade.parse().map_err(|_| ReadError::Field {
                line,
                field: "grade",
                expected: "a whole number of 32 bits",
                got: excerpt(grade),
            })?;
            builder.push(query, Judgement { document, line, hash: hash(document), grade });
            Ok(())
        })?;
        Qrels::finish(builder, report)
    }

    fn finish(
        builder: Builder<'a, Judgement<'a>>,
        report: &mut Report<'_>,
    ) -> Result<Qrels<'a>, ReadError> {
        let groups = builder.finish();
        duplicates(&groups, |query, earlier, later| {
            let (line, first) = (later.line, earlier.line);
            let (query, document) = (query.to_owned(), later.document.to_owned());
            let (expected, got) = (earlier.grade, later.grade);
            report(match expected == got {
                true => ReadError::Duplicate { line, first, query, document },
                false => {
                    ReadError::ConflictingGrades { line, first, query, document, expected, got }
                }
            })
        })?;
        Ok(Qrels { groups })
    }

    /// The number of judgements.
    pub fn rows(&self) -> usize {
        self.groups.rows()
    }

    /// The queries, in the order of their ids' bytes, and their judgements in the order of lines.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = (&'a str, &[Judgement<'a>])> {
        self.groups.iter()
    }

    /// A query's judgements in the order of lines.
    pub fn query(&self, id: &str) -> Option<&[Judgement<'a>]> {
        self.groups.get(id)
    }
}
