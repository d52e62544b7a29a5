//! Skills as their authors keep them: `SKILL.md` folders and skill JSONL.
//!
//! Real libraries are odd, and agents in the field accept what is odd. A reader here takes every
//! skill it can, says by a [`SkillNote`] what it had to overlook, and refuses a file only if there
//! is no text to be had from it.

mod folders;
mod front;
mod jsonl;
mod note;
mod parse;
mod pool;
mod render;
mod yaml;

use std::collections::BTreeMap;

pub use folders::{ScanOptions, read_skill_folders};
pub use jsonl::{parse_skill_jsonl, read_skill_jsonl, write_skill_jsonl};
pub use note::{NoteKind, SkillNote};
pub use parse::parse_skill_md;
pub use pool::{WrittenPool, pool_of_skills, write_pool};
pub use render::{Template, TemplateError, render};

/// One skill.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Skill {
    /// Its folder relative to the root, with `/` and with white space as `%XX`; in JSONL, its id.
    pub id: String,
    /// Its name; the last part of its id if it states none.
    pub name: String,
    /// Its description. May be empty.
    pub description: String,
    /// The text after the front matter, or the whole text if there is none.
    pub body: String,
    /// The whole file, front matter included, where the source has it.
    pub skill_md: Option<String>,
}

/// What was read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SkillScan {
    /// The skills, in the order of their paths or lines.
    pub skills: Vec<Skill>,
    /// What was odd about them and what was refused, in the same order.
    pub notes: Vec<SkillNote>,
    /// What lies in the folders beside the skills.
    pub not_read: NotRead,
}

/// Files in folders of skills that have another name than `SKILL.md` and belong to no skill: those
/// of a skill's own folder are its resources, and are not counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NotRead {
    /// Files that end in `.md`.
    pub markdown: usize,
    /// Files that end in `.jsonl`, or so before `.gz` and `.zst`.
    pub jsonl: usize,
}

impl SkillScan {
    /// How often each oddity occurs.
    pub fn summary(&self) -> BTreeMap<NoteKind, usize> {
        let mut counts = BTreeMap::new();
        for note in &self.notes {
            *counts.entry(note.kind).or_default() += 1;
        }
        counts
    }

    /// The files that gave no skill.
    pub fn refused(&self) -> impl Iterator<Item = &SkillNote> {
        self.notes.iter().filter(|note| note.kind.is_refusal())
    }

    /// What a strict caller takes for errors.
    pub fn strict_errors(&self) -> impl Iterator<Item = &SkillNote> {
        self.notes.iter().filter(|note| note.kind.is_error_under_strict())
    }
}

#[cfg(test)]
mod shared_tests;
