//! The integration suite: one binary, a module for each concern.

// `cfg(test)` marks helpers as test code too, so that they may unwrap.
#[cfg(test)]
mod checking;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod fusion;
#[cfg(test)]
mod fuzz_smoke;
#[cfg(test)]
mod hints;
#[cfg(test)]
mod language;
#[cfg(test)]
mod models;
#[cfg(test)]
mod neural;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod slices;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tidy;
