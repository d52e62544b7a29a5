//! Which queries are reported together.

use std::fmt;

use crate::labels::{Case, Cases, Mechanism, Role, Stratum};

/// The scopes of the public metrics file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scope {
    /// Every query that counts: the benchmark's main result.
    MainComparison,
    /// The single-query stratum of it.
    MainCore,
    /// The paired stratum of it.
    MainHard,
    /// Every query, development queries included.
    AllQueryCensus,
    /// The development queries alone.
    DevelopmentOnly,
}

/// What the queries that count are split by.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum By {
    /// Single-query or paired.
    Stratum,
    /// The five mechanisms.
    Mechanism,
    /// The conflict types.
    ConflictType,
    /// Where a unit came from (the column `domain`).
    Source,
    /// Operational contracts, or evidence role.
    Role,
}

/// A set of queries that are reported together.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Group {
    /// A scope.
    Scope(Scope),
    /// Of the queries that count, those of a stratum.
    Stratum(Stratum),
    /// Of the queries that count, those of a mechanism.
    Mechanism(Mechanism),
    /// Of the queries that count, those of a conflict type.
    ConflictType(Box<str>),
    /// Of the queries that count, those of a source.
    Source(Box<str>),
    /// Of the queries that count, those of one half of the taxonomy.
    Role(Role),
    /// Of the single queries that count, those of every source but one.
    WithoutSource(Box<str>),
}

impl Scope {
    /// All five, in the order of the metrics file.
    pub const ALL: [Scope; 5] = [
        Scope::MainComparison,
        Scope::MainCore,
        Scope::MainHard,
        Scope::AllQueryCensus,
        Scope::DevelopmentOnly,
    ];

    /// As the metrics file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::MainComparison => "main_comparison",
            Scope::MainCore => "main_core",
            Scope::MainHard => "main_hard",
            Scope::AllQueryCensus => "all_query_census",
            Scope::DevelopmentOnly => "development_only",
        }
    }
}

impl By {
    /// Every breakdown.
    pub const ALL: [By; 5] = [By::Stratum, By::Mechanism, By::ConflictType, By::Source, By::Role];

    /// As files and `--json` write it.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Stratum => "stratum",
            By::Mechanism => "primary_category",
            By::ConflictType => "conflict_type",
            By::Source => "domain",
            By::Role => "role",
        }
    }

    /// The groups that hold at least one query that counts: enumerations in their own order,
    /// sources by name.
    pub fn groups(self, cases: &Cases) -> Vec<Group> {
        let all: Vec<Group> = match self {
            By::Stratum => Stratum::ALL.iter().copied().map(Group::Stratum).collect(),
            By::Mechanism => Mechanism::ALL.iter().copied().map(Group::Mechanism).collect(),
            By::ConflictType => cases
                .conflict_types()
                .into_iter()
                .map(|name| Group::ConflictType(name.into()))
                .collect(),
            By::Source => {
                cases.sources().into_iter().map(|name| Group::Source(name.into())).collect()
            }
            By::Role => Role::ALL.iter().copied().map(Group::Role).collect(),
        };
        all.into_iter().filter(|group| cases.iter().any(|case| group.holds(case))).collect()
    }
}

impl Group {
    /// The breakdown it is a group of; none for a scope and for an exclusion.
    pub fn by(&self) -> Option<By> {
        match self {
            Group::Scope(_) | Group::WithoutSource(_) => None,
            Group::Stratum(_) => Some(By::Stratum),
            Group::Mechanism(_) => Some(By::Mechanism),
            Group::ConflictType(_) => Some(By::ConflictType),
            Group::Source(_) => Some(By::Source),
            Group::Role(_) => Some(By::Role),
        }
    }

    /// Whether a query is in the group.
    pub fn holds(&self, case: &Case) -> bool {
        match self {
            Group::Scope(Scope::MainComparison) => case.counted,
            Group::Scope(Scope::MainCore) => case.counted && case.stratum == Stratum::Single,
            Group::Scope(Scope::MainHard) => case.counted && case.stratum == Stratum::Paired,
            Group::Scope(Scope::AllQueryCensus) => true,
            Group::Scope(Scope::DevelopmentOnly) => case.development,
            Group::Stratum(stratum) => case.counted && case.stratum == *stratum,
            Group::Mechanism(mechanism) => case.counted && case.mechanism == *mechanism,
            Group::ConflictType(name) => case.counted && case.conflict_type == *name,
            Group::Source(name) => case.counted && case.domain == *name,
            Group::Role(role) => case.counted && case.mechanism.role() == *role,
            Group::WithoutSource(name) => {
                case.counted && case.stratum == Stratum::Single && case.domain != *name
            }
        }
    }

    /// The group's name within its breakdown, as the label file writes it.
    pub fn name<'a>(&'a self, cases: &'a Cases) -> &'a str {
        match self {
            Group::Scope(scope) => scope.as_str(),
            Group::Stratum(stratum) => stratum.as_str(),
            Group::Mechanism(mechanism) => cases.mechanism_label(*mechanism),
            Group::ConflictType(name) | Group::Source(name) | Group::WithoutSource(name) => name,
            Group::Role(role) => role.as_str(),
        }
    }

    /// Places of the group's queries among the cases.
    pub(crate) fn members(&self, cases: &Cases) -> Vec<usize> {
        let members = cases.iter().enumerate().filter(|(_, case)| self.holds(case));
        members.map(|(place, _)| place).collect()
    }
}

impl From<Scope> for Group {
    fn from(scope: Scope) -> Group {
        Group::Scope(scope)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Group {
    /// The breakdown and the name, for example `primary_category=procedure`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Group::Scope(scope) => write!(f, "{scope}"),
            Group::Stratum(stratum) => write!(f, "{}={stratum}", By::Stratum),
            Group::Mechanism(mechanism) => write!(f, "{}={mechanism}", By::Mechanism),
            Group::ConflictType(name) => write!(f, "{}={name}", By::ConflictType),
            Group::Source(name) => write!(f, "{}={name}", By::Source),
            Group::Role(role) => write!(f, "{}={role}", By::Role),
            Group::WithoutSource(name) => write!(f, "{}!={name}", By::Source),
        }
    }
}
