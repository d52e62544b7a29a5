//! How is a benchmark authored, admitted and frozen?
//!
//! A benchmark is written as one TOML file a unit and one folder a background skill
//! (`docs/authoring.md`). From there:
//!
//! 1. [`Authoring::load`] reads a folder with an `authoring.toml`; what it cannot read it
//!    lists, so that one bad unit doesn't hide the others.
//! 2. [`gate::check`] says whether every rule of admission holds, [`gate::structural`] the
//!    same without looking at frozen files.
//! 3. [`bind()`](bind()) writes the evidence hash into a unit that somebody has read.
//! 4. [`freeze`](freeze()) makes the frozen files: pools, queries, cases, families, manifest. Ids in
//!    them are hashes of the texts, so nothing in an inference file tells a role.
//!
//! Architecture invariant: nothing here is random and nothing depends on the order in which
//! a folder is listed: the same sources give the same bytes.
//!
//! Architecture invariant: no evidence is executed here. `bench/verify_evidence.py` does.

mod authoring;
mod background;
mod bind;
mod config;
mod families;
mod folds;
mod freeze;
pub mod gate;
mod parse;
mod skeleton;
mod taxonomy;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod unit;

pub use self::{
    authoring::Authoring,
    background::Background,
    bind::{Bound, bind, evidence_sha256},
    config::{Config, Limits, Minimum, PoolIds, Seeds},
    freeze::{FreezeError, Frozen, FrozenFile, freeze},
    skeleton::new_unit,
    taxonomy::{ConflictType, Mechanism, Side, Split, Stratum},
    unit::{Evidence, Kind, Skill, Unit, UnitQuery},
};
