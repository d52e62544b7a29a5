//! Labels, and what they say about runs.
//!
//! - [`Cases`] and [`Families`] are the label files.
//! - [`Evaluation`] is one run against them: Recall, HSR and CleanHit, by scope and group.
//! - [`BootstrapSettings`] and [`paired`] say how sure a rate or a difference is.
//! - [`files`] are the public formats: metrics, cards, leaderboard, submissions.
//! - [`plain`] has the measures that need no pool, [`stats`] the tests, [`units`] authoring.
//!
//! Architecture invariant: this is the only crate that reads label files, and no crate that
//! implements a method depends on it. `tests/tidy.rs` checks the second half.

pub mod exposure;
pub mod files;
pub mod intervals;
pub mod labels;
pub mod plain;
mod sanity;
pub mod stats;
#[cfg(test)]
mod testing;
mod tsv;
pub mod units;

pub use self::{
    exposure::{By, Cutoffs, EvalError, Evaluation, Group, Measure, Observed, Scope, Summary},
    intervals::{
        BootstrapSettings, CompareOptions, Comparison, Difference, Intervals, adjust_families,
        paired,
    },
    labels::{Case, Cases, ConflictType, Families, Mechanism, Role, Stratum},
    sanity::{Sanity, SanityError, sanity},
};
