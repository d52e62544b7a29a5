//! Did the list hold the helpful skill, and did it hold the sibling that breaks the contract?
//!
//! Recall@K, HSR@K and CleanHit@K, and what follows from them. Everything is computed from two
//! numbers for each query ([`Observed`]): the rank of the helpful skill and that of its marked
//! sibling. They are counted as integers and divided once, so no result depends on an order
//! of summation.
//!
//! Source: *Right Family, Wrong Skill*, sections 3.3 and 4, appendix B.
//!
//! HSR is a rate of exposure to one annotated sibling in a fixed pool, before anything is run;
//! lower is better. It is no global rate of risk.

mod cutoffs;
mod error;
mod evaluation;
mod exclusion;
mod group;
mod measure;
mod observed;
mod selector;
mod summary;
#[cfg(test)]
mod tests;
mod ties;

pub use self::{
    cutoffs::{Cutoffs, CutoffsError},
    error::EvalError,
    evaluation::{Evaluation, ShortList},
    exclusion::{Excluded, Exclusions, Range},
    group::{By, Group, Scope},
    measure::Measure,
    observed::Observed,
    selector::SelectorAccount,
    summary::{Counts, PairCounts, RelativeOrder, Summary, THIN},
    ties::{Bounds, NEAR_TIE, TieCounts, TieReport},
};
