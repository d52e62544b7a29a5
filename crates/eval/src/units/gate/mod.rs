//! Is this set fit to be a benchmark? The rules of admission, one function each.
//!
//! Every rule returns all of its violations, with file, line and field. `docs/authoring.md`
//! lists the rules for authors; `authoring.toml` holds their limits.
//!
//! Architecture invariant: a rule looks at what is authored and nothing else. The learned
//! query-blind audit sees labels and text at once and is therefore `cleanhit-train`'s; it adds
//! its [`Check`]s to the report.

mod background;
mod contrast;
mod cues;
mod evidence;
mod form;
mod labels;
mod likeness;
#[cfg(test)]
mod tests;

use std::fmt;

use cleanhit_io::{InputError, counted};
use serde::{Serialize, Serializer, ser::SerializeSeq as _};

pub(super) use self::cues::left_of_skeleton;
pub use self::{
    background::background,
    contrast::{contrast, length_balance, pair_lengths},
    cues::{CUES, cues, placeholders},
    evidence::evidence,
    form::{queries, skills},
    labels::{lineage, minimum, roles, spans, taxonomy},
    likeness::{duplicates, near_duplicates},
};
use super::{authoring::Authoring, freeze};

/// One rule, and what it found.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The rule.
    pub name: &'static str,
    /// Whether it holds: whether there are no violations.
    pub passed: bool,
    /// What was looked at, with its figures.
    pub detail: String,
    /// Everything that breaks it.
    #[serde(serialize_with = "violations")]
    pub violations: Vec<InputError>,
}

/// What every rule found.
#[derive(Clone, Debug, Serialize)]
pub struct GateReport {
    /// The rules, in the order of the documentation.
    pub checks: Vec<Check>,
}

/// Every rule, and whether the frozen files are those of this set.
pub fn check(authoring: &Authoring) -> GateReport {
    let mut report = structural(authoring);
    report.checks.push(frozen(authoring));
    report
}

/// Every rule that needs no frozen file: what `freeze` asks for.
pub fn structural(authoring: &Authoring) -> GateReport {
    let rules: [fn(&Authoring) -> Check; 17] = [
        readable,
        taxonomy,
        roles,
        spans,
        placeholders,
        cues,
        queries,
        skills,
        contrast,
        pair_lengths,
        length_balance,
        lineage,
        evidence,
        background,
        duplicates,
        near_duplicates,
        minimum,
    ];
    GateReport { checks: rules.iter().map(|rule| rule(authoring)).collect() }
}

/// Every file can be read.
pub fn readable(authoring: &Authoring) -> Check {
    let (units, background) = (authoring.units.len(), authoring.background.len());
    let detail =
        format!("{} and {} read", counted(units, "unit"), counted(background, "background skill"));
    Check::new("readable", detail, authoring.unreadable.clone())
}

/// The frozen files are those that a fresh freeze would write, or there is none yet.
pub fn frozen(authoring: &Authoring) -> Check {
    match freeze::compute(authoring) {
        Ok(fresh) if fresh.is_new(authoring) => {
            let dir = authoring.dir.display();
            let detail = format!("not frozen yet; run `cleanhit bench freeze {dir}`");
            Check::new("frozen", detail, Vec::new())
        }
        Ok(fresh) => {
            let detail = counted(fresh.files().len(), "file");
            Check::new("frozen", detail, fresh.stale(authoring))
        }
        Err(error) => Check::new("frozen", "not compared".to_owned(), vec![error]),
    }
}

impl Check {
    /// A rule that holds if there are no violations; of equal ones the first is kept.
    pub fn new(name: &'static str, detail: String, violations: Vec<InputError>) -> Check {
        let violations = each_once(violations);
        Check { name, passed: violations.is_empty(), detail, violations }
    }
}

/// The errors, each once: a unit may hold a word twice, and several texts are of one field.
fn each_once(errors: Vec<InputError>) -> Vec<InputError> {
    let mut once: Vec<InputError> = Vec::new();
    for error in errors {
        if !once.contains(&error) {
            once.push(error);
        }
    }
    once
}

impl GateReport {
    /// Whether every rule holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}

impl fmt::Display for GateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            let mark = if check.passed { "ok  " } else { "FAIL" };
            writeln!(f, "{mark}  {:<16} {}", check.name, check.detail)?;
            for violation in &check.violations {
                writeln!(f, "      {violation}")?;
            }
        }
        let held = self.checks.iter().filter(|check| check.passed).count();
        write!(f, "{held} of {} checks passed", self.checks.len())
    }
}

/// One violation, in JSON.
#[derive(Serialize)]
struct Violation<'a> {
    file: &'a str,
    line: Option<u64>,
    field: Option<&'a str>,
    problem: &'a str,
    expected: Option<&'a str>,
}

fn violations<S: Serializer>(list: &[InputError], to: S) -> Result<S::Ok, S::Error> {
    let mut seq = to.serialize_seq(Some(list.len()))?;
    for error in list {
        seq.serialize_element(&Violation {
            file: &error.file,
            line: error.line,
            field: error.field.as_deref(),
            problem: &error.problem,
            expected: error.expected.as_deref(),
        })?;
    }
    seq.end()
}
