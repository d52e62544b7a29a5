//! BEIR folders: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`, each plain, gzip or zstd.

use std::{fs, path::Path};

use cleanhit_core::{Candidate, Query};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::{Collection, Judgement};
use crate::{
    counted::counted,
    error::{InputError, Violations, tick},
    files::{read_regular, unreadable},
    rows::{AN_ID, Problem, check_id, kind, lines, object, utf8},
    unpack::{MAX_UNPACKED, unpack},
};

/// Reads a BEIR folder. Each file in `qrels/` is a split of that name.
///
/// Judgements of queries or documents that are not there are kept, with a warning.
///
/// # Errors
///
/// If a file is missing, and all violations of those that are there, with their lines.
pub fn read_beir(folder: &Path) -> Result<Collection, Vec<InputError>> {
    let mut out = Violations::default();
    let mut collection = Collection::default();
    match file(folder, "corpus.jsonl").and_then(|(n, bytes)| parse_beir_corpus(&n, &bytes)) {
        Ok(candidates) => collection.candidates = candidates,
        Err(errors) => out.extend(errors),
    }
    match file(folder, "queries.jsonl").and_then(|(n, bytes)| parse_beir_queries(&n, &bytes)) {
        Ok(queries) => collection.queries = queries,
        Err(errors) => out.extend(errors),
    }
    for split in splits(&folder.join("qrels")).map_err(|error| vec![error])? {
        let name = format!("qrels/{split}.tsv");
        match file(folder, &name).and_then(|(n, bytes)| parse_beir_qrels(&n, &bytes)) {
            Ok(judgements) => {
                collection.warnings.extend(strangers(&name, &judgements, &collection));
                collection.qrels.insert(split, judgements);
            }
            Err(errors) => out.extend(errors),
        }
    }
    out.result(collection)
}

/// Reads `corpus.jsonl`: `_id`, `text` and perhaps `title`. A candidate's text is title, blank
/// and text, without blanks at its ends, as BEIR's own models see it; the title is its name.
///
/// # Errors
///
/// All violations with their lines.
pub fn parse_beir_corpus(name: &str, bytes: &[u8]) -> Result<Vec<Candidate>, Vec<InputError>> {
    let rows = rows(name, bytes, ["_id", "text", "title"])?;
    let candidate = |[id, text, title]: [Option<String>; 3]| {
        let title = title.unwrap_or_default();
        let text = format!("{title} {}", text.unwrap_or_default());
        Candidate {
            id: id.unwrap_or_default().as_str().into(),
            text: text.trim().to_owned(),
            name: Some(title).filter(|title| !title.is_empty()),
        }
    };
    Ok(rows.into_iter().map(candidate).collect())
}

/// Reads `queries.jsonl`: `_id` and `text`.
///
/// # Errors
///
/// All violations with their lines.
pub fn parse_beir_queries(name: &str, bytes: &[u8]) -> Result<Vec<Query>, Vec<InputError>> {
    let rows = rows(name, bytes, ["_id", "text"])?;
    let query = |[id, text]: [Option<String>; 2]| Query {
        id: id.unwrap_or_default().as_str().into(),
        text: text.unwrap_or_default(),
    };
    Ok(rows.into_iter().map(query).collect())
}

/// Reads a qrels file: `query-id`, `corpus-id` and `score`, with tabs between them and perhaps a
/// header.
///
/// # Errors
///
/// All violations with their lines: other than three columns, a grade that is not a whole number,
/// a document judged twice for a query, alike or not.
pub fn parse_beir_qrels(name: &str, bytes: &[u8]) -> Result<Vec<Judgement>, Vec<InputError>> {
    let bytes = unpack(name, bytes, MAX_UNPACKED).map_err(|error| vec![error])?;
    let text = utf8(name, &bytes).map_err(|error| vec![error])?;
    let mut out = Violations::default();
    let mut judgements = Vec::new();
    let mut seen: FxHashMap<(&str, &str), (u64, i64)> = FxHashMap::default();
    for (line, text) in lines(text) {
        if text.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
        let &[query, candidate, grade] = fields.as_slice() else {
            let problem = format!("the row has {}", counted(fields.len(), "column"));
            let error = InputError::new(name, problem).line(line);
            out.push(error.expected("query-id, corpus-id and score, with tabs between them"));
            continue;
        };
        let grade = match grade.parse() {
            Ok(grade) => grade,
            Err(_) if line == 1 => continue,
            Err(_) => {
                let problem = format!("grade {} is not a whole number", tick(grade));
                out.push(InputError::new(name, problem).line(line).field("score"));
                continue;
            }
        };
        if let Some((other, before)) = seen.insert((query, candidate), (line, grade)) {
            let how = match before == grade {
                true => "is judged twice",
                false => "has two different grades",
            };
            let (query, candidate) = (tick(query), tick(candidate));
            let problem = format!("{candidate} {how} for query {query}, also on line {other}");
            out.push(InputError::new(name, problem).line(line));
        }
        let (query, candidate) = (query.to_owned(), candidate.to_owned());
        judgements.push(Judgement { query, candidate, grade });
    }
    out.result(judgements)
}

/// A file, perhaps packed, and what errors call it.
fn file(folder: &Path, name: &str) -> Result<(String, Vec<u8>), Vec<InputError>> {
    let paths = ["", ".gz", ".zst"].map(|ending| folder.join(format!("{name}{ending}")));
    let path = paths.iter().find(|path| path.exists()).unwrap_or(&paths[0]);
    let bytes = read_regular(path).map_err(|error| vec![error])?;
    Ok((path.display().to_string(), bytes))
}

/// Rows of `keys`, of which the first two must be there; other keys are ignored.
fn rows<const N: usize>(
    name: &str,
    bytes: &[u8],
    keys: [&'static str; N],
) -> Result<Vec<[Option<String>; N]>, Vec<InputError>> {
    let bytes = unpack(name, bytes, MAX_UNPACKED).map_err(|error| vec![error])?;
    let text = utf8(name, &bytes).map_err(|error| vec![error])?;
    let mut out = Violations::default();
    let mut rows = Vec::new();
    let mut ids: FxHashMap<String, u64> = FxHashMap::default();
    for (line, text) in lines(text).filter(|(_, line)| !line.trim().is_empty()) {
        let row = match row(text, keys) {
            Ok(row) => row,
            Err(problem) => {
                out.push(problem.at(name, line));
                continue;
            }
        };
        let id = row[0].clone().unwrap_or_default();
        if let Some(other) = ids.insert(id, line) {
            let id = tick(row[0].as_deref().unwrap_or_default());
            let problem = format!("id {id} is also on line {other}");
            out.push(InputError::new(name, problem).line(line).field(keys[0]));
        }
        rows.push(row);
    }
    if rows.is_empty() && out.is_empty() {
        out.push(InputError::new(name, "no rows").expected("at least one"));
    }
    out.result(rows)
}

fn row<const N: usize>(
    line: &str,
    keys: [&'static str; N],
) -> Result<[Option<String>; N], Problem> {
    let seen = object(line, keys)?;
    let mut texts = [const { None }; N];
    for (i, (value, key)) in seen.values.into_iter().zip(keys).enumerate() {
        texts[i] = match value {
            Some(Value::String(text)) => Some(text),
            None | Some(Value::Null) if 2 <= i => None,
            None => return Err(Problem::new("the key is missing").field(key)),
            Some(other) => {
                let problem = Problem::new(format!("is {}", kind(&other))).field(key);
                return Err(problem.expected("a string"));
            }
        };
    }
    check_id(texts[0].as_deref().unwrap_or_default())
        .map_err(|p| Problem::new(p).field(keys[0]).expected(AN_ID))?;
    Ok(texts)
}

/// Names of the files in `qrels/`, without endings.
fn splits(folder: &Path) -> Result<Vec<String>, InputError> {
    let failed = |error: std::io::Error| unreadable(folder.display(), &error);
    let mut splits = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let split = name.to_str().and_then(|name| name.split_once(".tsv"));
        splits.extend(split.map(|(split, _)| split.to_owned()));
    }
    splits.sort_unstable();
    splits.dedup();
    match splits.is_empty() {
        false => Ok(splits),
        true => Err(InputError::new(folder.display(), "no judgements").expected("`*.tsv` in it")),
    }
}

fn strangers(name: &str, judgements: &[Judgement], collection: &Collection) -> Option<String> {
    let candidates: FxHashSet<&str> =
        collection.candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    let queries: FxHashSet<&str> =
        collection.queries.iter().map(|query| query.id.as_str()).collect();
    let strange = judgements.iter().filter(|judgement| {
        !candidates.contains(judgement.candidate.as_str())
            || !queries.contains(judgement.query.as_str())
    });
    let mut strange = strange.peekable();
    let first = strange.peek().map(|first| (tick(&first.query), tick(&first.candidate)))?;
    let strange = counted(strange.count(), "judgement");
    let (query, candidate) = first;
    Some(format!(
        "{name}: {strange} of queries or documents that are not there, as of query \
         {query} and {candidate}"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages<T>(result: Result<T, Vec<InputError>>) -> Vec<String> {
        let errors = result.err().unwrap();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_folder_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join("qrels")).unwrap();
        put(
            "corpus.jsonl",
            "{\"_id\":\"d1\",\"title\":\"T\",\"text\":\"x\",\"metadata\":{}}\n{\"_id\":\"q1\",\"text\":\" y \"}\n",
        );
        put("queries.jsonl", "{\"_id\":\"q1\",\"text\":\"one\",\"metadata\":{}}\n");
        put("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\tq1\t1\r\nq1\td9\t0\n");
        put("qrels/dev.tsv", "q1\td1\t2\n");
        let read = read_beir(dir.path()).unwrap();
        let texts: Vec<&str> = read.candidates.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["T x", "y"]);
        assert_eq!(read.candidates[0].name.as_deref(), Some("T"));
        assert_eq!(read.queries[0].text, "one");
        assert_eq!(read.qrels.keys().collect::<Vec<_>>(), ["dev", "test"]);
        assert_eq!(read.qrels["test"].len(), 2, "a document with the id of the query is kept");
        assert_eq!(read.warnings.len(), 1);
        assert!(read.warnings[0].ends_with("as of query `q1` and `d9`"));
        fs::remove_file(dir.path().join("queries.jsonl")).unwrap();
        put("corpus.jsonl", "{}");
        let errors = messages(read_beir(dir.path()));
        assert!(
            errors[0].ends_with("corpus.jsonl:1: field `_id`: the key is missing"),
            "{errors:?}"
        );
        assert!(
            errors[1].ends_with("queries.jsonl: no such file; expected a file that is there"),
            "{errors:?}"
        );
    }

    #[test]
    fn each_violation_has_its_line() {
        let text = b"{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":1,\"text\":\"x\"}\n{\"_id\":\"b\"}\n{\"_id\":\"\",\"text\":\"x\"}\n";
        assert_eq!(
            messages(parse_beir_corpus("c", text)),
            [
                "c:2: field `_id`: id `a` is also on line 1",
                "c:3: field `_id`: is a number; expected a string",
                "c:4: field `text`: the key is missing",
                "c:5: field `_id`: the id is empty; expected an id without control characters",
            ]
        );
        assert_eq!(messages(parse_beir_queries("q", b"\n")), ["q: no rows; expected at least one"]);
        assert_eq!(
            messages(parse_beir_qrels("r", b"h\th\th\nq\td\t1\nq\td\t1\nq\td\t2\nq\td\nq\te\tx\n")),
            [
                "r:3: `d` is judged twice for query `q`, also on line 2",
                "r:4: `d` has two different grades for query `q`, also on line 3",
                "r:5: the row has 2 columns; expected query-id, corpus-id and score, with tabs between them",
                "r:6: field `score`: grade `x` is not a whole number",
            ]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_beir_corpus("f", &bytes);
            let _ = parse_beir_queries("f", &bytes);
            let _ = parse_beir_qrels("f", &bytes);
        }

        #[test]
        fn qrels_read_back(rows in prop::collection::btree_map(("[a-z]{1,3}", "[!-~]{1,3}"), -2i64..4, 0..9)) {
            let text: String = rows.iter().map(|((q, d), g)| format!("{q}\t{d}\t{g}\n")).collect();
            let read = parse_beir_qrels("f", text.as_bytes()).unwrap();
            let read: std::collections::BTreeMap<_, _> =
                read.into_iter().map(|j| ((j.query, j.candidate), j.grade)).collect();
            prop_assert_eq!(read, rows);
        }
    }
}
