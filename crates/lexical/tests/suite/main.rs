//! The lexical methods against the values of other programs, the traps their users fell into,
//! and the laws that every method keeps to.
//!
//! Shared data is looked for in `$CLEANHIT_SHARED`, else in `shared` beside the repository;
//! without it those tests say so and pass. The rest runs everywhere.

// `cfg(test)` marks helpers as test code too, so that they may unwrap.
#[cfg(test)]
mod clusters;
#[cfg(test)]
mod data;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod skillsbench;
#[cfg(test)]
mod traps;
