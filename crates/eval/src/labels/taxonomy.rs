//! What a breakdown asks of the taxonomy, and how label files write it.
//!
//! Source: *Right Family, Wrong Skill*, section 3.2 (Conflict taxonomy) and appendix A.2. The
//! paper names one of the five evidence-role types; the names of the other four are this
//! project's, and a foreign bundle may have others.

use std::fmt;

pub use crate::units::{ConflictType, Mechanism, Stratum};

/// The two halves of the taxonomy that the paper reports apart (section 4.3).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// Resource, procedure, applicability and output contracts.
    Operational,
    /// Evidence role: what the retrieved material can establish.
    Evidence,
}

impl Role {
    /// Both, operational first.
    pub const ALL: &'static [Role] = &[Role::Operational, Role::Evidence];

    /// The name as written in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Operational => "operational",
            Role::Evidence => "evidence_role",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Mechanism {
    /// The half of the taxonomy that it is in.
    pub fn role(self) -> Role {
        match self {
            Mechanism::EvidenceRole => Role::Evidence,
            _ => Role::Operational,
        }
    }

    /// Reads a label that may be written as in the paper's text: `Output behavior`.
    pub fn from_label(label: &str) -> Option<Mechanism> {
        normalized(label).parse().ok()
    }
}

impl ConflictType {
    /// Reads a label that may be written as in the paper's text: `Normative vs. empirical`.
    pub fn from_label(label: &str) -> Option<ConflictType> {
        normalized(label).parse().ok()
    }
}

impl Stratum {
    /// Reads a label: the name in case files, or the one in authoring files.
    pub fn from_label(label: &str) -> Option<Stratum> {
        let known = |stratum: &&Stratum| [stratum.frozen_name(), stratum.as_str()].contains(&label);
        Stratum::ALL.iter().find(known).copied()
    }
}

/// Lower case, each run of other characters than letters and digits one underscore.
fn normalized(label: &str) -> String {
    let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<String>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_and_parse_as_the_same_text() {
        for mechanism in Mechanism::ALL {
            assert_eq!(mechanism.to_string().parse().as_ref(), Ok(mechanism));
        }
        for conflict in ConflictType::ALL {
            assert_eq!(conflict.to_string().parse().as_ref(), Ok(conflict));
        }
        assert!("Procedure".parse::<Mechanism>().is_err());
    }

    #[test]
    fn the_types_are_spread_over_the_mechanisms_as_in_the_paper() {
        let counts: Vec<usize> = Mechanism::ALL.iter().map(|m| m.types().count()).collect();
        assert_eq!(counts, [2, 2, 1, 2, 5]);
        let role = |conflict: &ConflictType| conflict.mechanism().role();
        let operational = ConflictType::ALL.iter().filter(|&c| role(c) == Role::Operational);
        assert_eq!(operational.count(), 7);
    }

    #[test]
    fn labels_may_be_written_as_in_the_text() {
        let read = ConflictType::from_label;
        let side_effect = read("Return / exception / side effect");
        assert_eq!(side_effect, Some(ConflictType::ReturnExceptionSideEffect));
        assert_eq!(read("Normative vs. empirical"), Some(ConflictType::NormativeVsEmpirical));
        assert_eq!(read("Precondition mismatch"), Some(ConflictType::PreconditionMismatch));
        assert_eq!(read("style"), None);
        assert_eq!(Mechanism::from_label("Output behavior"), Some(Mechanism::OutputBehavior));
        assert_eq!(Stratum::from_label("hard_role_flip"), Some(Stratum::Paired));
        assert_eq!(Stratum::from_label("single"), Some(Stratum::Single));
    }
}
