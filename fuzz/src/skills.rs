//! Skills as people keep them.

use cleanhit_eval::units::Background;
use cleanhit_io::{Skill, Template, parse_skill_jsonl, parse_skill_md, render, write_skill_jsonl};

use super::{one_line, taken, taken_one};

/// A `SKILL.md`, as a pool's reader takes it and as authoring does.
pub fn skill_md(bytes: &[u8]) -> bool {
    taken_one(Background::parse("SKILL.md", "slug", bytes));
    let read = taken_one(parse_skill_md("SKILL.md", "folder/slug", bytes));
    if let Some((skill, notes)) = &read {
        one_line(notes);
        check(skill);
    }
    read.is_some()
}

/// Skills, one JSON object a line, packed or not. What is written is read as the same.
pub fn skill_jsonl(bytes: &[u8]) -> bool {
    let scan = taken(parse_skill_jsonl("f.jsonl", bytes));
    if let Some(scan) = &scan {
        one_line(&scan.notes);
        scan.skills.iter().for_each(check);
        let again = parse_skill_jsonl("f.jsonl", &write_skill_jsonl(&scan.skills));
        assert_eq!(again.expect("as written").skills, scan.skills);
    }
    scan.is_some()
}

fn check(skill: &Skill) {
    assert!(!skill.id.is_empty() && !skill.name.is_empty(), "{skill:?}");
    assert!(Template::ALL.iter().all(|&t| render(t, skill).len() <= 3 * size(skill) + 64));
}

fn size(skill: &Skill) -> usize {
    let whole = skill.skill_md.as_deref().unwrap_or_default();
    [&skill.name, &skill.description, &skill.body, whole].iter().map(|text| text.len()).sum()
}
