//! What can a sibling break, and where does a unit belong?
//!
//! Five mechanisms hold twelve conflict types. The smallest single correction that repairs the
//! sibling decides the type; `docs/authoring.md` has the boundaries.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Why a name stands for nothing here.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{got}` is not one of {known}")]
pub struct UnknownName {
    /// What was given.
    got: Box<str>,
    /// Every name there is.
    known: String,
}

/// An enum whose variants have one written name each.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every variant, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The name as written in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(s: &str) -> Result<$name, UnknownName> {
                match s {
                    $($text => Ok($name::$variant),)+
                    _ => Err(UnknownName { got: s.into(), known: [$(concat!("`", $text, "`"),)+].join(", ") }),
                }
            }
        }
    };
}

named! {
    /// How a unit's queries are built.
    Stratum {
        /// One query; the sibling breaks one contract that it states.
        Single = "single",
        /// Two queries that exchange the roles of two well-formed skills.
        Paired = "paired",
    }
}

named! {
    /// What a unit may be used for.
    Split {
        /// Counted in the main evaluation.
        Heldout = "heldout",
        /// For tuning; never counted.
        Development = "development",
    }
}

named! {
    /// One of a unit's two skills.
    Side {
        /// The skill written out first.
        A = "a",
        /// The other one.
        B = "b",
    }
}

named! {
    /// Where the broken contract sits.
    Mechanism {
        /// Which object or field.
        ResourceBinding = "resource_binding",
        /// Which computation or branch.
        Procedure = "procedure",
        /// When it is valid.
        Applicability = "applicability",
        /// What it returns or changes.
        OutputBehavior = "output_behavior",
        /// What the material can establish.
        EvidenceRole = "evidence_role",
    }
}

named! {
    /// What exactly the sibling breaks.
    ConflictType {
        /// The wrong object, table, file, endpoint or version.
        ResourceIdentity = "resource_identity",
        /// The wrong field, column or parameter of the right object.
        FieldParameterBinding = "field_parameter_binding",
        /// The wrong formula.
        ComputationRule = "computation_rule",
        /// The wrong branch, order or stopping rule.
        ControlFlowSelection = "control_flow_selection",
        /// A condition, runtime or dependency that the query rules out, or one it demands skipped.
        PreconditionMismatch = "precondition_mismatch",
        /// The right content in the wrong shape or encoding.
        RepresentationSchema = "representation_schema",
        /// Computed correctly, but returns, raises or writes the wrong thing.
        ReturnExceptionSideEffect = "return_exception_side_effect",
        /// Criteria that should govern, against a record of what happened.
        NormativeVsEmpirical = "normative_vs_empirical",
        /// A plan or schedule, against a log of what was done.
        PlannedVsOccurred = "planned_vs_occurred",
        /// Measured values, against assumed ones.
        MeasuredVsAssumed = "measured_vs_assumed",
        /// A specification, against traces.
        IntendedVsObserved = "intended_vs_observed",
        /// The state now, against a proposed change.
        CurrentVsProposed = "current_vs_proposed",
    }
}

impl ConflictType {
    /// The one mechanism that the type belongs to.
    pub fn mechanism(self) -> Mechanism {
        match self {
            ConflictType::ResourceIdentity | ConflictType::FieldParameterBinding => {
                Mechanism::ResourceBinding
            }
            ConflictType::ComputationRule | ConflictType::ControlFlowSelection => {
                Mechanism::Procedure
            }
            ConflictType::PreconditionMismatch => Mechanism::Applicability,
            ConflictType::RepresentationSchema | ConflictType::ReturnExceptionSideEffect => {
                Mechanism::OutputBehavior
            }
            ConflictType::NormativeVsEmpirical
            | ConflictType::PlannedVsOccurred
            | ConflictType::MeasuredVsAssumed
            | ConflictType::IntendedVsObserved
            | ConflictType::CurrentVsProposed => Mechanism::EvidenceRole,
        }
    }

    /// The stratum in which the type is authored: evidence roles in pairs, the others single.
    pub fn stratum(self) -> Stratum {
        match self.mechanism() {
            Mechanism::EvidenceRole => Stratum::Paired,
            _ => Stratum::Single,
        }
    }
}

impl Mechanism {
    /// The mechanism's types, in the order of the documentation.
    pub fn types(self) -> impl Iterator<Item = ConflictType> {
        ConflictType::ALL.iter().copied().filter(move |kind| kind.mechanism() == self)
    }
}

impl Stratum {
    /// The name in frozen case files.
    pub fn frozen_name(self) -> &'static str {
        match self {
            Stratum::Single => "core_local_contract",
            Stratum::Paired => "hard_role_flip",
        }
    }

    /// How many queries a unit has.
    pub fn n_queries(self) -> usize {
        match self {
            Stratum::Single => 1,
            Stratum::Paired => 2,
        }
    }
}

impl Split {
    /// The name in frozen case files.
    pub fn frozen_name(self) -> &'static str {
        match self {
            Split::Heldout => "heldout",
            Split::Development => "development_only",
        }
    }
}

impl Side {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_types_in_five_mechanisms() {
        let counts: Vec<usize> = Mechanism::ALL.iter().map(|m| m.types().count()).collect();
        assert_eq!(counts, [2, 2, 1, 2, 5]);
        assert!(ConflictType::ALL.iter().all(|t| t.as_str().parse() == Ok(*t)));
        let error = "both".parse::<Stratum>().unwrap_err();
        assert_eq!(error.to_string(), "`both` is not one of `single`, `paired`");
    }
}
