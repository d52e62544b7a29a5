//! One `SKILL.md`.

use super::{
    Skill,
    front::{Front, split},
    note::{NoteKind, SkillNote},
    yaml,
};
use crate::error::{is_invisible, tick};

/// Beyond this a file is refused.
pub(super) const MAX_FILE: u64 = 64 << 20;
const HUGE: usize = 256 << 10;

/// Reads one `SKILL.md`. `file` is what notes call it, and `id` the skill's id, whose last part
/// is its folder's name.
///
/// A byte order mark is dropped and line ends become LF; nothing else of the text changes.
///
/// # Errors
///
/// The refusal, if there is no text to be had: a NUL byte, no UTF-8, nothing but white space, or
/// over 64 MiB.
pub fn parse_skill_md(
    file: &str,
    id: &str,
    bytes: &[u8],
) -> Result<(Skill, Vec<SkillNote>), SkillNote> {
    let text = readable(file, bytes)?;
    let mut notes = Vec::new();
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => {
            notes.push(SkillNote::new(NoteKind::Bom, file, "a byte order mark was dropped"));
            text
        }
        None => text,
    };
    let text = line_ends(file, text, &mut notes);
    if text.trim().is_empty() {
        return Err(SkillNote::new(NoteKind::EmptyFile, file, "the file holds no text"));
    }
    let (meta, body) = match split(&text) {
        Front::Found { yaml, body, first_line } => {
            if first_line != 1 {
                let detail = format!("the front matter starts on line {first_line}");
                notes.push(SkillNote::new(NoteKind::BlankBeforeFrontMatter, file, detail));
            }
            (front_matter(file, yaml, first_line, &mut notes), body)
        }
        other => {
            notes.push(no_front_matter(file, other));
            (yaml::Meta::default(), &*text)
        }
    };
    let skill = Skill {
        id: id.to_owned(),
        name: meta.name.unwrap_or_default(),
        description: meta.description.unwrap_or_default(),
        body: body.to_owned(),
        skill_md: None,
    };
    let skill = check_skill(file, None, skill, &mut notes);
    let folder = last_part(id);
    if skill.name != folder {
        let (name, folder) = (tick(&skill.name), tick(folder));
        let detail = format!("name {name} is not that of its folder, {folder}");
        notes.push(SkillNote::new(NoteKind::NameNotFolder, file, detail));
    }
    Ok((Skill { skill_md: Some(text), ..skill }, notes))
}

/// What holds of a skill wherever it is from. A missing name becomes the last part of the id.
pub(super) fn check_skill(
    file: &str,
    line: Option<u64>,
    mut skill: Skill,
    notes: &mut Vec<SkillNote>,
) -> Skill {
    let mut note = |kind: NoteKind, detail: String| {
        notes.push(SkillNote { kind, file: file.to_owned(), line, detail });
    };
    if skill.name.is_empty() {
        skill.name = last_part(&skill.id).to_owned();
        note(NoteKind::NameMissing, format!("no name; {} is taken", tick(&skill.name)));
    } else if !is_spec_name(&skill.name) {
        let rule = "lower-case letters, digits and single hyphens";
        note(NoteKind::NameOffSpec, format!("name {} is not {rule}", tick(&skill.name)));
    }
    let long = skill.name.chars().count();
    if 64 < long {
        note(NoteKind::NameOver64, format!("the name has {long} characters"));
    }
    let long = skill.description.chars().count();
    if long == 0 {
        note(NoteKind::DescriptionMissing, "no description".to_owned());
    } else if 1024 < long {
        note(NoteKind::DescriptionOver1024, format!("the description has {long} characters"));
    }
    if skill.body.trim().is_empty() {
        note(NoteKind::EmptyBody, "no text after the front matter".to_owned());
    }
    let size = skill.name.len() + skill.description.len() + skill.body.len();
    if HUGE < size {
        note(NoteKind::Huge, format!("the text has {size} bytes"));
    }
    let parts = [("name", &skill.name), ("description", &skill.description), ("body", &skill.body)];
    let found = parts.iter().find_map(|(part, text)| Some((part, text.chars().find(invisible)?)));
    if let Some((part, c)) = found {
        note(NoteKind::InvisibleCharacters, format!("the {part} holds {}", c.escape_unicode()));
    }
    skill
}

/// The folder's name, of an id that is a path.
pub(super) fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

fn readable<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, SkillNote> {
    let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64;
    if MAX_FILE < bytes.len() as u64 {
        let detail = format!("the file has {} bytes; at most {MAX_FILE} are read", bytes.len());
        return Err(SkillNote::new(NoteKind::TooLarge, file, detail));
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        let detail = format!("byte {at} of the file is NUL");
        return Err(SkillNote::new(NoteKind::NulByte, file, detail).line(line(at)));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let detail = format!("byte {at} of the file is not UTF-8");
        SkillNote::new(NoteKind::NotUtf8, file, detail).line(line(at))
    })
}

/// CRLF and CR become LF.
fn line_ends(file: &str, text: &str, notes: &mut Vec<SkillNote>) -> String {
    let cr = memchr::memchr_iter(b'\r', text.as_bytes()).count();
    if cr == 0 {
        return text.to_owned();
    }
    let crlf = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
    let lf = memchr::memchr_iter(b'\n', text.as_bytes()).count() - crlf;
    let (kind, detail) = match (cr - crlf, lf) {
        (0, 0) => (NoteKind::Crlf, "CRLF line ends became LF".to_owned()),
        (cr, lf) => {
            let found = format!("{crlf} CRLF, {lf} LF and {cr} CR line ends became LF");
            (NoteKind::MixedLineEnds, found)
        }
    };
    notes.push(SkillNote::new(kind, file, detail));
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn front_matter(file: &str, yaml: &str, first_line: u64, notes: &mut Vec<SkillNote>) -> yaml::Meta {
    let meta = yaml::meta(yaml);
    if let Some((problem, line)) = &meta.invalid {
        let detail = format!("{problem}; name and description are taken from its lines");
        let note = SkillNote::new(NoteKind::InvalidYaml, file, detail);
        notes.push(note.line(first_line + line.unwrap_or(0)));
    }
    if meta.duplicate_key {
        let detail = "a key occurs twice; the last one counts";
        notes.push(SkillNote::new(NoteKind::DuplicateKey, file, detail).line(first_line));
    }
    meta
}

fn no_front_matter(file: &str, front: Front<'_>) -> SkillNote {
    match front {
        Front::Unclosed { first_line } => {
            let detail = "no second `---` closes the front matter; the whole text is the body";
            SkillNote::new(NoteKind::UnclosedFrontMatter, file, detail).line(first_line)
        }
        Front::NotAtTop { first_line } => {
            let detail = "text comes before the front matter; the whole text is the body";
            SkillNote::new(NoteKind::FrontMatterNotAtTop, file, detail).line(first_line)
        }
        Front::Absent | Front::Found { .. } => {
            let detail = "no front matter; the whole text is the body";
            SkillNote::new(NoteKind::NoFrontMatter, file, detail)
        }
    }
}

/// Lower-case ASCII letters, digits and single hyphens, none at either end.
fn is_spec_name(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    name.split('-').all(part)
}

fn invisible(c: &char) -> bool {
    is_invisible(*c) && *c != '\u{AD}'
}

#[cfg(test)]
mod tests;
