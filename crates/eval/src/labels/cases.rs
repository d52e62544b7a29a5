//! The labelled queries of a benchmark.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cleanhit_core::{DocIx, QueryId};

use crate::labels::{ConflictType, Mechanism, Stratum};

/// One query and its labels.
///
/// The label is relational: neither skill is said to be good or bad apart from this query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Case {
    /// The query.
    pub query: QueryId,
    /// Its pool, as an index into the benchmark's pools.
    pub pool: usize,
    /// The unit: one query, or two that exchange the same two skills' roles.
    pub unit: Box<str>,
    /// The skill that satisfies the query.
    pub helpful: DocIx,
    /// The marked sibling, which breaks a contract that the query states. Another skill of the
    /// same pool.
    pub sibling: DocIx,
    /// Whether the main evaluation counts it. Never true of a development query.
    pub counted: bool,
    /// Single-query or paired.
    pub stratum: Stratum,
    /// Whether it may be used for development.
    pub development: bool,
    /// Where the violated contract lies.
    pub mechanism: Mechanism,
    /// What exactly conflicts: the id of a [`ConflictType`], or a foreign bundle's own name.
    pub conflict_type: Box<str>,
    /// Where the unit came from: the source that breakdowns and exclusions go by.
    pub domain: Box<str>,
    /// What the bootstrap draws together; the unit, where the file has no such column.
    pub lineage_group: Box<str>,
}

/// The labels of every query of a benchmark, in the benchmark's order of queries.
///
/// The order of the label file is gone: no result can depend on it.
#[derive(Clone, Debug)]
pub struct Cases {
    pub(super) cases: Vec<Case>,
    pub(super) index: HashMap<QueryId, usize>,
    /// By case: the place of its unit, and of its lineage group, in the order of their ids.
    pub(super) units: Vec<usize>,
    pub(super) lineages: Vec<usize>,
    pub(super) n_units: usize,
    /// How this file writes each mechanism.
    pub(super) mechanism_labels: BTreeMap<Mechanism, Box<str>>,
    pub(super) lineage_known: bool,
    pub(super) sha256: String,
    pub(super) gate_sha256: String,
}

impl Cases {
    /// The cases: pools in the benchmark's order, queries in the order of their file.
    pub fn iter(&self) -> std::slice::Iter<'_, Case> {
        self.cases.iter()
    }

    /// The labels of a query.
    pub fn get(&self, query: &str) -> Option<&Case> {
        self.index.get(query).map(|&case| &self.cases[case])
    }

    /// A query's place among the cases.
    pub(crate) fn index(&self, query: &str) -> Option<usize> {
        self.index.get(query).copied()
    }

    /// Number of labelled queries.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether the benchmark has no query at all.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.n_units
    }

    /// Whether the file names lineage groups. If not, each unit is a group of its own.
    pub fn lineage_known(&self) -> bool {
        self.lineage_known
    }

    /// Lower-case hex SHA-256 of the label file.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The gate of the benchmark that was labelled.
    pub fn gate_sha256(&self) -> &str {
        &self.gate_sha256
    }

    /// A mechanism as the label file writes it; its id, where the file has none of it.
    pub fn mechanism_label(&self, mechanism: Mechanism) -> &str {
        self.mechanism_labels.get(&mechanism).map_or(mechanism.as_str(), |label| label)
    }

    /// The distinct conflict types: those of the taxonomy in its order, then others by name.
    pub fn conflict_types(&self) -> Vec<&str> {
        let place = |name: &str| {
            let known = ConflictType::from_label(name);
            let place = ConflictType::ALL.iter().position(|conflict| Some(*conflict) == known);
            place.unwrap_or(usize::MAX)
        };
        let mut names = distinct(self.cases.iter().map(|case| &*case.conflict_type));
        names.sort_by_cached_key(|name| (place(name), *name));
        names
    }

    /// The distinct sources, by name.
    pub fn sources(&self) -> Vec<&str> {
        distinct(self.cases.iter().map(|case| &*case.domain))
    }

    pub(crate) fn as_slice(&self) -> &[Case] {
        &self.cases
    }

    /// The place of a case's unit in the order of unit ids.
    pub(crate) fn unit_of(&self, case: usize) -> usize {
        self.units[case]
    }

    /// The place of a case's lineage group in the order of group ids.
    pub(crate) fn lineage_of(&self, case: usize) -> usize {
        self.lineages[case]
    }
}

impl<'a> IntoIterator for &'a Cases {
    type Item = &'a Case;
    type IntoIter = std::slice::Iter<'a, Case>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The distinct names, in order.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.collect::<BTreeSet<&str>>().into_iter().collect()
}
