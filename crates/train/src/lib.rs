//! What may see labels and text at once.
//!
//! [`blind`] is the query-blind audit: can the helpful skill be told from its sibling by
//! anything that never sees the query?
//!
//! Architecture invariant: nothing that ranks under a public setting depends on this crate.
//! `tests/tidy.rs` checks it.

pub mod blind;
