//! Does a text say of itself which role it plays?

use cleanhit_io::{InputError, counted};

use super::{Check, each_once};
use crate::units::{
    authoring::Authoring,
    taxonomy::{Side, Stratum},
    unit::{Skill, Unit},
};

/// Words and phrases that hint at a role. The one list of them; matched as whole words, in any
/// case, over line breaks and hyphens.
pub const CUES: &[&str] = &[
    "wrong",
    "wrongly",
    "incorrect",
    "incorrectly",
    "erroneous",
    "faulty",
    "flawed",
    "misleading",
    "outdated",
    "obsolete",
    "deprecated",
    "superseded",
    "do not use",
    "don't use",
    "not recommended",
    "unsafe",
    "risky",
    "harmful",
    "dangerous",
    "helpful",
    "sibling",
    "distractor",
    "decoy",
    "counterexample",
    "variant",
    "variants",
    "alternative version",
    "other version",
    "the other skill",
    "this skill instead",
    "unlike",
    "instead of the other",
    "in contrast to",
    "as opposed to",
];

/// No text of a unit says anything of its own or another's role.
pub fn cues(authoring: &Authoring) -> Check {
    let cues: Vec<(&str, Vec<String>)> = CUES.iter().map(|cue| (*cue, words(cue))).collect();
    let mut out = Vec::new();
    for unit in &authoring.units {
        for (field, text) in texts(unit) {
            let text = words(&text);
            for (cue, phrase) in &cues {
                if text.windows(phrase.len()).any(|window| window == phrase) {
                    let error = unit.error(&field, format!("says `{cue}`"));
                    out.push(error.expected("a neutral text, without role cues"));
                }
            }
        }
    }
    Check::new("cues", format!("{} words and phrases looked for", CUES.len()), out)
}

/// Nothing of a skeleton is left.
pub fn placeholders(authoring: &Authoring) -> Check {
    let out: Vec<InputError> = authoring.units.iter().flat_map(left_of_skeleton).collect();
    Check::new("placeholders", counted(authoring.units.len(), "unit"), out)
}

/// What of a unit is still as its skeleton has it.
pub(crate) fn left_of_skeleton(unit: &Unit) -> Vec<InputError> {
    let labels = [("domain", &unit.domain), ("evidence.statement", &unit.evidence.statement)];
    let labels = labels.into_iter().chain(unit.correction.as_ref().map(|c| ("correction", c)));
    let labels = labels.map(|(field, text)| (field.to_owned(), text.clone()));
    let holds_one = |text: &str| {
        // In the texts themselves `TODO` may be somebody's file format; only capitals count.
        text == "todo" || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "TODO")
    };
    let left = labels.chain(texts(unit)).filter(|(_, text)| holds_one(text));
    let left = left.map(|(field, _)| unit.error(&field, "holds a `TODO`"));
    each_once(left.map(|error| error.expected("text in its place")).collect())
}

/// Every text of a unit that a method may see, with its field. What a single unit's sibling has
/// in common with the skill it is made of comes once.
fn texts(unit: &Unit) -> Vec<(String, String)> {
    let parts = |skill: &Skill| {
        [
            ("name", skill.name.clone()),
            ("description", skill.description.clone()),
            ("body", skill.body.clone()),
        ]
    };
    let mut texts = Vec::new();
    for (part, text) in parts(unit.skill(Side::A)) {
        texts.push((format!("a.{part}"), text));
    }
    for (part, text) in parts(unit.skill(Side::B)) {
        match unit.stratum {
            Stratum::Paired => texts.push((format!("b.{part}"), text)),
            Stratum::Single => {
                let a = texts.iter().find(|(field, _)| field.ends_with(part));
                let shared = a.map(|(_, text)| text.clone()).unwrap_or_default();
                texts.push(("b.edits".to_owned(), added(&shared, &text)));
            }
        }
    }
    for (i, query) in unit.queries.iter().enumerate() {
        texts.push((format!("query[{i}].text"), query.text.clone()));
    }
    texts
}

/// The lines of `text` that are not lines of `base`.
fn added(base: &str, text: &str) -> String {
    let base: std::collections::BTreeSet<&str> = base.lines().collect();
    let new: Vec<&str> = text.lines().filter(|line| !base.contains(line)).collect();
    new.join("\n")
}

/// The words of a text in lower case; an apostrophe joins.
fn words(text: &str) -> Vec<String> {
    let text = text.replace('’', "'").to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.map(|word| word.trim_matches('\'')).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}
