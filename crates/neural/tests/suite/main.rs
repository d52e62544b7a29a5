//! Embedders and cross-encoders against the reference implementations, the laws they keep, and
//! what they refuse.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::print_stdout, reason = "distances, and why a test was skipped")]

mod chat;
mod chat_refusals;
mod chat_tensors;
mod golden;
mod laws;
mod packaged;
mod refusals;
mod support;
