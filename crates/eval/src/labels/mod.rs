//! What each query is labelled with: its helpful skill, its risky sibling, and how they differ.
//!
//! Source: *Right Family, Wrong Skill*, sections 3.1 and 3.2, appendix A.
//!
//! A label file is read whole or not at all: every violation is listed with its line.
//!
//! Architecture invariant: the released family relation leaves this crate through
//! [`Families::disclose`] only. A method of setting `public_text_only` has nowhere to put it:
//!
//! ```compile_fail
//! use cleanhit_core::{Method, Pool, Query, RunOptions, TextOnly};
//! use cleanhit_eval::Families;
//!
//! fn leak(m: &Method<TextOnly>, q: &[Query], pool: &Pool, f: &Families, o: &RunOptions<'_>) {
//!     let _ = m.run(q, pool, f.disclose(0), o); // expected `&()`, found `&Partition`
//! }
//! ```

mod cases;
mod check;
mod families;
mod read;
mod taxonomy;
#[cfg(test)]
mod tests;

pub use self::{
    cases::{Case, Cases},
    families::Families,
    taxonomy::{ConflictType, Mechanism, Role, Stratum},
};
