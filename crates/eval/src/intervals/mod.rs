//! How sure is a rate, and is a difference between two runs more than chance?
//!
//! The group bootstrap of *Right Family, Wrong Skill*, section 5 (Uncertainty) and appendix B.4:
//! 5,000 replicates that draw whole lineage groups, seed 20260910, the same draw for both
//! methods of a difference. A group of queries is resampled over its own lineage groups.
//!
//! Runs of different information settings have different types, and do not compare:
//!
//! ```compile_fail
//! use cleanhit_core::{ReleasedFamily, Run, TextOnly};
//! use cleanhit_eval::{Cases, CompareOptions, paired};
//! use cleanhit_io::Benchmark;
//!
//! fn unfair(a: &Run<TextOnly>, b: &Run<ReleasedFamily>, cases: &Cases, bench: &Benchmark) {
//!     let _ = paired(a, b, cases, bench, &CompareOptions::default());
//! }
//! ```
//!
//! Those of one setting do:
//!
//! ```
//! use cleanhit_core::{Run, TextOnly};
//! use cleanhit_eval::{Cases, CompareOptions, paired};
//! use cleanhit_io::Benchmark;
//!
//! fn fair(a: &Run<TextOnly>, b: &Run<TextOnly>, cases: &Cases, bench: &Benchmark) {
//!     let _ = paired(a, b, cases, bench, &CompareOptions::default());
//! }
//! ```

mod compare;
mod estimate;
#[cfg(test)]
mod tests;
mod verdict;

pub use self::{
    compare::{CompareOptions, Comparison, Difference, adjust, adjust_families, paired},
    estimate::{
        AtCutoff, BootstrapSettings, FEW_GROUPS, GroupIntervals, Intervals, ResamplingUnit,
    },
    verdict::{Adjusted, TieVerdict},
};
