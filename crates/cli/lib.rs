//! The `cleanhit` command line, as a library, so that a plug-in can ship its own binary.
//!
//! Architecture invariant: no retrieval, measure or grading logic here. This crate reads
//! requests, wires the other crates together, and writes what they return.

mod args;
mod bundled;
mod cards;
mod commands;
mod experiment;
mod folder;
mod locate;
mod method;
mod neural;
mod ranking;
mod receipt;
mod registry;
mod report;
mod results;
mod scored;
mod sight;
mod tables;
#[cfg(test)]
mod tests;
mod ui;
mod words;

pub use neural::embedder;
pub use registry::Registry;

use std::process::ExitCode;

/// Runs the command line with the methods of `registry` beside the built-in ones.
///
/// Exit codes: 0 done, 1 a check or a gate failed, 2 the request or its input is wrong.
pub fn run(registry: Registry) -> ExitCode {
    args::run(&registry)
}
