//! Skills as JSON lines, plain or packed.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{
    Skill, SkillScan,
    note::{NoteKind, SkillNote},
    parse::check_skill,
};
use crate::{
    error::{InputError, Violations, tick},
    files::read_file,
    rows::{AN_ID, Problem, check_id, kind, lines, object, utf8},
    unpack::{MAX_UNPACKED, unpack},
};

const KEYS: [&str; 9] = [
    "id",
    "skill_id",
    "candidate_id",
    "name",
    "description",
    "body",
    "content",
    "skill_md",
    "text",
];

/// Reads a file of skills, as [`parse_skill_jsonl`] does.
///
/// # Errors
///
/// If the file cannot be read, and as [`parse_skill_jsonl`].
pub fn read_skill_jsonl(path: &Path) -> Result<SkillScan, Vec<InputError>> {
    let bytes = read_file(path).map_err(|error| vec![error])?;
    parse_skill_jsonl(&path.display().to_string(), &bytes)
}

/// Reads skills, one JSON object a line, from plain, gzip or zstd bytes.
///
/// The id is `id`, `skill_id` or `candidate_id`, the body `body`, `content`, `skill_md` or
/// `text`: the first that is there and not null. Other keys are ignored, and blank lines too.
/// Texts are kept as they are, line ends included.
///
/// # Errors
///
/// All violations with their lines: no id, an id that occurs twice, a value that is not text, a
/// file that does not unpack or that unpacks to more than [`MAX_UNPACKED`].
pub fn parse_skill_jsonl(file: &str, bytes: &[u8]) -> Result<SkillScan, Vec<InputError>> {
    let bytes = unpack(file, bytes, MAX_UNPACKED).map_err(|error| vec![error])?;
    let text = utf8(file, &bytes).map_err(|error| vec![error])?;
    let lines: Vec<(u64, &str)> = lines(text).filter(|(_, line)| !line.trim().is_empty()).collect();
    let rows: Vec<_> =
        lines.par_iter().map(|&(line, text)| (line, row(file, line, text))).collect();
    let mut out = Violations::default();
    let mut scan = SkillScan::default();
    let mut ids: FxHashMap<String, u64> = FxHashMap::default();
    let mut names: FxHashMap<String, u64> = FxHashMap::default();
    for (line, row) in rows {
        let (skill, notes) = match row {
            Ok(row) => row,
            Err(problem) => {
                out.push(problem.at(file, line));
                continue;
            }
        };
        if let Some(other) = ids.get(&skill.id) {
            let problem = format!("id {} is also on line {other}", tick(&skill.id));
            out.push(InputError::new(file, problem).line(line).expected("distinct ids"));
            continue;
        }
        ids.insert(skill.id.clone(), line);
        scan.notes.extend(notes);
        if let Some(other) = names.get(&skill.name) {
            let detail = format!("name {} is also on line {other}", tick(&skill.name));
            scan.notes.push(SkillNote::new(NoteKind::DuplicateName, file, detail).line(line));
        } else {
            names.insert(skill.name.clone(), line);
        }
        scan.skills.push(skill);
    }
    out.result(scan)
}

/// Rows that [`parse_skill_jsonl`] reads back.
pub fn write_skill_jsonl(skills: &[Skill]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Skill { id, name, description, body, skill_md } in skills {
        let mut row = serde_json::json!({
            "id": id, "name": name, "description": description, "body": body,
        });
        if let Some(skill_md) = skill_md {
            row["skill_md"] = skill_md.as_str().into();
        }
        bytes.extend(row.to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn row(file: &str, line: u64, text: &str) -> Result<(Skill, Vec<SkillNote>), Problem> {
    let seen = object(text, KEYS)?;
    if let Some(key) = &seen.repeated {
        return Err(Problem::new("the key occurs twice").field(key));
    }
    // As written for this row; null counts as absent.
    let mut texts: [Option<String>; KEYS.len()] = [const { None }; KEYS.len()];
    let structured = seen.values[3].is_some() || seen.values[4].is_some();
    for ((text, value), key) in texts.iter_mut().zip(seen.values).zip(KEYS) {
        *text = match value {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                let problem = Problem::new(format!("is {}", kind(&other))).field(key);
                return Err(problem.expected("a string or null"));
            }
        };
    }
    let [id, skill_id, candidate_id, name, description, body, content, skill_md, text] = texts;
    let Some(id) = id.or(skill_id).or(candidate_id) else {
        return Err(Problem::new("no id").expected("`id`, `skill_id` or `candidate_id`"));
    };
    check_id(&id).map_err(|problem| Problem::new(problem).expected(AN_ID))?;
    let plain = !structured && body.is_none() && content.is_none() && skill_md.is_none();
    let body = body.or(content).or_else(|| skill_md.clone()).or(text).unwrap_or_default();
    let trimmed = |text: Option<String>| text.map_or(String::new(), |text| text.trim().to_owned());
    let skill =
        Skill { id, name: trimmed(name), description: trimmed(description), body, skill_md };
    let mut notes = Vec::new();
    let skill = check_skill(file, Some(line), skill, &mut notes);
    if plain {
        // One text for each candidate: there is no name or description to miss.
        let missed = [NoteKind::NameMissing, NoteKind::DescriptionMissing];
        notes.retain(|note| !missed.contains(&note.kind));
    }
    Ok((skill, notes))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<SkillScan, Vec<String>> {
        parse_skill_jsonl("s.jsonl", text.as_bytes())
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_spelling_of_a_row_is_read() {
        let text = "{\"id\":\"a\",\"name\":\"a\",\"description\":\"d\",\"body\":\"b\",\"stars\":[1]}\r\n\n\
                    {\"skill_id\":\"b\",\"name\":\"b\",\"description\":\"d\",\"content\":\"c\"}\n\
                    {\"candidate_id\":\"c\",\"name\":\"c\",\"description\":\"d\",\"skill_md\":\"m\"}\n\
                    {\"candidate_id\":\"d\",\"text\":\"t\"}\n\
                    {\"id\":\"e\",\"name\":null,\"description\":null,\"body\":\"b\",\"skill_md\":\"m\"}";
        let scan = read(text).unwrap();
        let bodies: Vec<&str> = scan.skills.iter().map(|skill| skill.body.as_str()).collect();
        assert_eq!(bodies, ["b", "c", "m", "t", "b"]);
        assert_eq!(scan.skills[4].skill_md.as_deref(), Some("m"));
        let notes: Vec<String> = scan.notes.iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "s.jsonl:6: name_missing: no name; `e` is taken",
                "s.jsonl:6: description_missing: no description",
            ]
        );
    }

    #[test]
    fn each_violation_has_its_line() {
        let text = "{\"name\":\"a\"}\n{\"id\":\"a\"}\n{\"id\":\"a\"}\n{\"id\":7}\n{\"id\":\"b\",\"body\":[]}\n\
                    {\"id\":\"\"}\n{\"id\":\"c\",\"id\":\"d\"}\nx\n[]\n";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "s.jsonl:1: no id; expected `id`, `skill_id` or `candidate_id`",
                "s.jsonl:3: id `a` is also on line 2; expected distinct ids",
                "s.jsonl:4: field `id`: is a number; expected a string or null",
                "s.jsonl:5: field `body`: is an array; expected a string or null",
                "s.jsonl:6: the id is empty; expected an id without control characters",
                "s.jsonl:7: field `id`: the key occurs twice",
                "s.jsonl:8: not valid JSON at column 1: expected value",
                "s.jsonl:9: found an array, at column 2",
            ]
        );
        assert!(read("\u{feff}{}").unwrap_err()[0].contains("byte order mark"));
    }

    #[test]
    fn equal_names_are_noted() {
        let row = |id: &str| {
            format!("{{\"id\":\"{id}\",\"name\":\"n\",\"description\":\"d\",\"body\":\"b\"}}\n")
        };
        let scan = read(&(row("a") + &row("b"))).unwrap();
        assert_eq!(scan.summary().into_iter().collect::<Vec<_>>(), [(NoteKind::DuplicateName, 1)]);
        assert_eq!(scan.notes[0].detail, "name `n` is also on line 1");
    }

    #[test]
    fn packed_files_are_read_up_to_a_limit() {
        let text = b"{\"id\":\"a\",\"text\":\"t\"}\n";
        let gzip = |text: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text).unwrap();
            out.finish().unwrap()
        };
        let zstd = |text: &[u8]| zstd::encode_all(text, 3).unwrap();
        for packed in [gzip(text), zstd(text)] {
            let scan = parse_skill_jsonl("s", &packed).unwrap();
            assert_eq!(scan, parse_skill_jsonl("s", text).unwrap());
            let torn = parse_skill_jsonl("s", &packed[..packed.len() - 5]).unwrap_err();
            assert!(torn[0].to_string().starts_with("s: does not unpack as "), "{}", torn[0]);
            let twice = [&packed[..], &packed[..]].concat();
            assert_eq!(parse_skill_jsonl("s", &twice).unwrap_err().len(), 1, "the second copy");
        }
        for bomb in [gzip(&vec![b' '; 1 << 20]), zstd(&vec![b' '; 1 << 20])] {
            assert_eq!(unpack("s", &bomb, 1 << 20).unwrap().len(), 1 << 20);
            let error = unpack("s", &bomb, (1 << 20) - 1).unwrap_err().to_string();
            assert_eq!(error, "s: unpacks to more than 1048575 bytes; expected at most 1048575");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), gz: bool) {
            let magic: &[u8] = if gz { &[0x1f, 0x8b, 8, 0] } else { &[0x28, 0xb5, 0x2f, 0xfd] };
            let _ = parse_skill_jsonl("s", &bytes);
            let _ = unpack("s", &[magic, &bytes].concat(), 1 << 16);
        }

        #[test]
        fn skills_read_back(
            parts in prop::collection::btree_map("[a-z/]{1,6}", ("[A-z]{1,5}", "[!-~]{0,9}", any::<String>(), any::<bool>()), 0..6)
        ) {
            let skills: Vec<Skill> = parts.into_iter().map(|(id, (name, description, body, md))| {
                let skill_md = md.then(|| format!("---\n{body}"));
                Skill { id, name, description, body, skill_md }
            }).collect();
            prop_assert_eq!(parse_skill_jsonl("s", &write_skill_jsonl(&skills)).unwrap().skills, skills);
        }
    }
}
