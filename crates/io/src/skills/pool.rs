//! Pools of skills.

use std::path::Path;

use cleanhit_core::{Candidate, Pool, PoolError};

use super::{
    Skill,
    render::{Template, render},
};
use crate::{
    bench::jsonl,
    error::{InputError, tick},
    files::{sha256_hex, write_atomic},
    rows::{AN_ID, check_id},
};

/// What was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrittenPool {
    /// SHA-256 of the file.
    pub sha256: String,
    /// Candidates.
    pub rows: u64,
}

/// Writes a pool file: one row of exactly `candidate_id` and `text` for each skill, by id.
///
/// # Errors
///
/// If there are no skills, two share an id, an id is not one, or the file cannot be written.
pub fn write_pool(
    skills: &[Skill],
    template: Template,
    path: &Path,
) -> Result<WrittenPool, InputError> {
    let error = |problem: String| InputError::new(path.display(), problem);
    if skills.is_empty() {
        return Err(error("no skills to write".to_owned()).expected("at least one"));
    }
    let mut rows: Vec<(&str, String)> =
        skills.iter().map(|skill| (skill.id.as_str(), render(template, skill))).collect();
    rows.sort_unstable();
    for (id, _) in &rows {
        check_id(id)
            .map_err(|problem| error(format!("id {}: {problem}", tick(id))).expected(AN_ID))?;
    }
    if let Some(pair) = rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let problem = format!("two skills have the id {}", tick(pair[0].0));
        return Err(error(problem).expected("distinct ids"));
    }
    let (bytes, rows) = jsonl("candidate_id", rows.iter().map(|(id, text)| (*id, text.as_str())));
    write_atomic(path, &bytes)?;
    Ok(WrittenPool { sha256: sha256_hex(&bytes), rows })
}

/// A pool of rendered skills, which keeps their names.
///
/// # Errors
///
/// If there are no skills, or two share an id.
pub fn pool_of_skills(name: &str, skills: &[Skill], template: Template) -> Result<Pool, PoolError> {
    let candidate = |skill: &Skill| Candidate {
        id: skill.id.as_str().into(),
        text: render(template, skill),
        name: Some(skill.name.clone()).filter(|name| !name.is_empty()),
    };
    Pool::new(name, skills.iter().map(candidate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::parse_candidates;

    fn skill(id: &str) -> Skill {
        Skill {
            id: id.into(),
            name: format!("name {id}"),
            description: "d".into(),
            body: "b\u{2028}\"".into(),
            ..Skill::default()
        }
    }

    #[test]
    fn a_written_pool_is_sorted_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.jsonl");
        let skills = [skill("b/x"), skill("a"), skill("b")];
        let written = write_pool(&skills, Template::NameDescBody, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((written.sha256, written.rows), (sha256_hex(&bytes), 3));
        let ids: Vec<&[u8]> =
            bytes.split(|&b| b == b'\n').map(|row| row.get(17..20).unwrap_or(&[])).collect();
        assert_eq!(ids, [&b"a\","[..], b"b\",", b"b/x", b""]);
        let pool = parse_candidates("p", &bytes, "p").unwrap();
        let same = pool_of_skills("p", &skills, Template::NameDescBody).unwrap();
        assert_eq!(pool.digest(), same.digest());
        assert_eq!(same.corpus().title(same.position("b/x").unwrap()), "name b/x");
    }

    #[test]
    fn a_pool_needs_skills_with_distinct_ids() {
        let dir = tempfile::tempdir().unwrap();
        let error = |skills: &[Skill]| {
            let path = dir.path().join("p.jsonl");
            let error = write_pool(skills, Template::Text, &path).unwrap_err().to_string();
            assert!(!path.exists());
            error.rsplit("p.jsonl: ").next().unwrap().to_owned()
        };
        assert_eq!(error(&[]), "no skills to write; expected at least one");
        assert_eq!(
            error(&[skill("a"), skill("a")]),
            "two skills have the id `a`; expected distinct ids"
        );
        assert_eq!(
            error(&[skill("")]),
            "id ``: the id is empty; expected an id without control characters"
        );
    }
}
