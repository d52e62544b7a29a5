//! What can be odd about a skill.

use std::fmt;

use crate::error::InputError;

/// Something odd about a skill, or why it was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillNote {
    /// What kind of oddity.
    pub kind: NoteKind,
    /// The file.
    pub file: String,
    /// The line, counted from 1, where one can be named.
    pub line: Option<u64>,
    /// What was found and what was done about it.
    pub detail: String,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A kind of oddity. Prints as a stable name.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum NoteKind {
            $($(#[$doc])* $variant,)*
        }

        impl NoteKind {
            /// Every kind.
            pub const ALL: &[NoteKind] = &[$(NoteKind::$variant,)*];

            /// The stable name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(NoteKind::$variant => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Refused: cannot be read.
    Unreadable = "unreadable",
    /// Refused: its path is not UTF-8.
    PathNotUtf8 = "path_not_utf8",
    /// Refused: over 64 MiB.
    TooLarge = "too_large",
    /// Refused: no text.
    EmptyFile = "empty_file",
    /// Refused: not UTF-8.
    NotUtf8 = "not_utf8",
    /// Refused: holds a NUL byte.
    NulByte = "nul_byte",
    /// Refused: its id is that of an earlier skill.
    DuplicateId = "duplicate_id",
    /// A byte order mark, which was dropped.
    Bom = "bom",
    /// CRLF line ends throughout.
    Crlf = "crlf",
    /// More than one kind of line end.
    MixedLineEnds = "mixed_line_ends",
    /// Blank lines before the front matter.
    BlankBeforeFrontMatter = "blank_before_front_matter",
    /// The front matter is not closed, so that the whole text is the body.
    UnclosedFrontMatter = "unclosed_front_matter",
    /// Text before the front matter, so that the whole text is the body.
    FrontMatterNotAtTop = "front_matter_not_at_top",
    /// No front matter.
    NoFrontMatter = "no_front_matter",
    /// The front matter is not YAML; name and description were taken from its lines.
    InvalidYaml = "invalid_yaml",
    /// A key occurs twice in the front matter; the last one counts.
    DuplicateKey = "duplicate_key",
    /// No name; the folder's, or the end of the id, was taken.
    NameMissing = "name_missing",
    /// The name is not lower-case letters, digits and single hyphens.
    NameOffSpec = "name_off_spec",
    /// The name has more than 64 characters.
    NameOver64 = "name_over_64",
    /// The name is not the folder's.
    NameNotFolder = "name_not_folder",
    /// The name is that of another skill too.
    DuplicateName = "duplicate_name",
    /// No description.
    DescriptionMissing = "description_missing",
    /// The description has more than 1,024 characters.
    DescriptionOver1024 = "description_over_1024",
    /// No text after the front matter.
    EmptyBody = "empty_body",
    /// Over 256 KiB.
    Huge = "huge",
    /// Zero-width or direction-changing characters, which were kept.
    InvisibleCharacters = "invisible_characters",
    /// The file's name is `SKILL.md` but for case.
    FileNameCase = "file_name_case",
    /// A link or a second root leads to a folder that was already read.
    FolderAgain = "folder_again",
}

impl NoteKind {
    /// Whether the file gave no skill.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            NoteKind::Unreadable
                | NoteKind::PathNotUtf8
                | NoteKind::TooLarge
                | NoteKind::EmptyFile
                | NoteKind::NotUtf8
                | NoteKind::NulByte
                | NoteKind::DuplicateId
        )
    }

    /// Whether a strict caller takes it for an error: refusals, and what the format forbids or
    /// what made the reader guess. Encoding marks, line ends, size and links are not.
    pub fn is_error_under_strict(self) -> bool {
        !matches!(
            self,
            NoteKind::Bom
                | NoteKind::Crlf
                | NoteKind::MixedLineEnds
                | NoteKind::Huge
                | NoteKind::FolderAgain
        )
    }
}

impl SkillNote {
    pub(super) fn new(kind: NoteKind, file: &str, detail: impl Into<String>) -> SkillNote {
        SkillNote { kind, file: file.to_owned(), line: None, detail: detail.into() }
    }

    pub(super) fn line(mut self, line: u64) -> SkillNote {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&SkillNote> for InputError {
    fn from(note: &SkillNote) -> InputError {
        let mut error = InputError::new(&note.file, format!("{}: {}", note.kind, note.detail));
        error.line = note.line;
        error
    }
}

impl fmt::Display for SkillNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        InputError::from(self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_every_refusal_is_an_error() {
        let mut names: Vec<&str> = NoteKind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NoteKind::ALL.len());
        let refusals = NoteKind::ALL.iter().filter(|kind| kind.is_refusal());
        assert!(refusals.clone().all(|kind| kind.is_error_under_strict()));
        assert_eq!(refusals.count(), 7);
    }

    #[test]
    fn a_note_prints_on_one_line() {
        let note = SkillNote::new(NoteKind::InvalidYaml, "a/SKILL.md", "mapping\nvalues").line(3);
        assert_eq!(note.to_string(), "a/SKILL.md:3: invalid_yaml: mapping values");
    }
}
