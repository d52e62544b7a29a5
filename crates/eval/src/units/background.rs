//! A background skill: a candidate that no query asks for.

use std::path::Path;

use cleanhit_io::{InputError, parse_skill_md, read_file};

use super::unit::Skill;

/// The one file of a skill's folder.
const FILE: &str = "SKILL.md";

/// A published skill, read from `<slug>/SKILL.md`.
#[derive(Clone, Debug)]
pub struct Background {
    /// The file, as shown to the user.
    pub file: String,
    /// The folder's name.
    pub slug: String,
    /// The skill. Its body has no blank lines at either end, and ends its last line: so it looks
    /// like a unit's, whatever the file's own edges.
    pub skill: Skill,
    /// What the reader of skills found odd.
    pub(crate) odd: Vec<InputError>,
}

impl Background {
    /// Reads a skill's folder.
    ///
    /// # Errors
    ///
    /// If there is no `SKILL.md`, or no text to be had from it.
    pub fn read(folder: &Path) -> Result<Background, InputError> {
        let path = folder.join(FILE);
        let slug = folder.file_name().unwrap_or_default().to_string_lossy();
        Background::parse(&path.display().to_string(), &slug, &read_file(&path)?)
    }

    /// Reads the text of a `SKILL.md` in the folder `slug`.
    ///
    /// # Errors
    ///
    /// If there is no text to be had from it.
    pub fn parse(file: &str, slug: &str, bytes: &[u8]) -> Result<Background, InputError> {
        let (read, notes) =
            parse_skill_md(file, slug, bytes).map_err(|note| InputError::from(&note))?;
        let body = read.body.trim_matches(['\n', ' ']);
        let skill =
            Skill { name: read.name, description: read.description, body: format!("{body}\n") };
        let odd = notes.iter().map(InputError::from).collect();
        Ok(Background { file: file.to_owned(), slug: slug.to_owned(), skill, odd })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_the_body_are_those_of_a_unit() {
        let text = b"---\nname: a-b\ndescription: \"Does: it.\"\n---\n\n\n# A\n\n---\nx\n\n";
        let read = Background::parse("a-b/SKILL.md", "a-b", text).unwrap();
        assert_eq!(read.skill.rendered(), "a-b\nDoes: it.\n\n# A\n\n---\nx\n");
        assert_eq!(read.odd, []);
    }

    #[test]
    fn what_is_odd_is_kept_and_what_is_no_text_refused() {
        let odd = |text: &str| Background::parse("f", "a", text.as_bytes()).unwrap().odd;
        assert_eq!(odd("---\nname: a\ndescription: b\n---\nx\n"), []);
        assert_eq!(odd("---\nname: b\ndescription: b\n---\nx\n").len(), 1);
        assert_eq!(odd("---\nname: a\n---\nx\n").len(), 1);
        assert!(!odd("# A\n").is_empty());
        assert!(Background::parse("f", "a", b"\xff").is_err());
    }
}
