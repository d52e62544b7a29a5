//! A unit: two skills that differ in one contract, and who asks for which.

use std::collections::BTreeMap;

use cleanhit_io::{InputError, Template, render};

use super::taxonomy::{ConflictType, Mechanism, Side, Split, Stratum};

/// One authored unit, its edits applied.
///
/// Holds what the file says: only the gate says whether that makes a unit worth having.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The file's name, as shown to the user.
    pub file: String,
    /// The file's stem.
    pub id: String,
    /// Single or paired.
    pub stratum: Stratum,
    /// Where the broken contract sits.
    pub mechanism: Mechanism,
    /// What exactly the sibling breaks.
    pub conflict_type: ConflictType,
    /// The source column of reports.
    pub domain: String,
    /// Units written from one idea share one; the bootstrap resamples these.
    pub lineage_group: String,
    /// Held out, or for development.
    pub split: Split,
    /// The smallest correction that repairs the sibling; paired units may have none.
    pub correction: Option<String>,
    /// The skill written out first.
    pub a: Skill,
    /// The other skill; in a single unit, `a` with edits.
    pub b: Skill,
    /// One query in a single unit, two in a paired one.
    pub queries: Vec<UnitQuery>,
    /// Why the labels are true.
    pub evidence: Evidence,
    pub(crate) lines: BTreeMap<String, u64>,
}

/// A skill's three parts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skill {
    /// In kebab case.
    pub name: String,
    /// When to use it, in one or two sentences.
    pub description: String,
    /// Markdown.
    pub body: String,
}

/// A query, and the spans that make one skill helpful and the other its sibling.
#[derive(Clone, Debug)]
pub struct UnitQuery {
    /// What a person asks for.
    pub text: String,
    /// The clause of the text that only the helpful skill meets.
    pub requirement: String,
    /// The skill that meets it.
    pub helpful: Side,
    /// Where the helpful skill meets it.
    pub helpful_span: String,
    /// Where the sibling conflicts with it.
    pub sibling_span: String,
}

/// Why the labels are true.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// How it can be checked.
    pub kind: Kind,
    /// The reason in words.
    pub statement: String,
    /// Asserts over the skill's first python block, for runnable evidence.
    pub tests: Option<String>,
    /// The hash of what the evidence was accepted for, if it was.
    pub binds: Option<String>,
}

/// How evidence can be checked.
#[derive(Clone, Copy, Debug, serde::Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By running asserts.
    Runnable,
    /// By reading.
    Statement,
}

impl Unit {
    /// One of the two skills.
    pub fn skill(&self, side: Side) -> &Skill {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// The skill that meets `query`, of this unit, and its sibling.
    pub fn roles(&self, query: &UnitQuery) -> (&Skill, &Skill) {
        (self.skill(query.helpful), self.skill(query.helpful.other()))
    }

    /// A violation in this unit's file. `field` as in the file: `query[1].text`, `a.body`.
    pub(crate) fn error(&self, field: &str, problem: impl Into<String>) -> InputError {
        let error = InputError::new(&self.file, problem).field(field);
        match self.lines.get(field) {
            Some(&line) => error.line(line),
            None => error,
        }
    }
}

impl Skill {
    /// The text that methods score: the `name_desc_body` template.
    pub fn rendered(&self) -> String {
        let skill = cleanhit_io::Skill {
            name: self.name.clone(),
            description: self.description.clone(),
            body: self.body.clone(),
            ..cleanhit_io::Skill::default()
        };
        render(Template::NameDescBody, &skill)
    }

    /// The first fenced python block of the body, without its fences.
    pub fn python(&self) -> Option<&str> {
        let mut start = None;
        let mut at = 0;
        for line in self.body.split_inclusive('\n') {
            let end = at + line.len();
            match (start, line.trim_end()) {
                (None, "```python") => start = Some(end),
                (Some(start), "```") => return Some(&self.body[start..at]),
                _ => {}
            }
            at = end;
        }
        None
    }
}

impl Evidence {
    /// The tests, or nothing.
    pub fn tests(&self) -> &str {
        self.tests.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_python_block_is_the_skills_code() {
        let body = "x\n```bash\nls\n```\n```python\na = 1\n\nb = 2\n```\n```python\nc\n```\n";
        let skill = |body: &str| Skill {
            name: "n".to_owned(),
            description: "d".to_owned(),
            body: body.to_owned(),
        };
        assert_eq!(skill(body).python(), Some("a = 1\n\nb = 2\n"));
        assert_eq!(skill("```python\nopen").python(), None);
        assert_eq!(skill("b").rendered(), "n\nd\n\nb");
    }
}
