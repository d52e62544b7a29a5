//! Information settings: what a method may know besides text, as a type.

use crate::select::Partition;

/// What a method may know besides text. Sealed: the six below are all there are.
///
/// A method's setting is not declared. It follows from what the method was built of.
pub trait Setting: sealed::Sealed + 'static {
    /// The disclosed information. `()` discloses nothing.
    type Side: Sync;
    /// As method cards write it (`information_setting`).
    const NAME: &'static str;
    /// As the leaderboard writes it.
    const LEADERBOARD: &'static str;
}

/// Texts only; families, if any, from titles.
#[derive(Debug)]
pub enum TextOnly {}

/// Texts only, with families clustered from the public texts.
#[derive(Debug)]
pub enum TextCluster {}

/// The benchmark's own family relation is disclosed. Never relevance.
#[derive(Debug)]
pub enum ReleasedFamily {}

/// Trained on the benchmark's labels, on folds it is not scored on.
#[derive(Debug)]
pub enum BenchmarkTrained {}

/// What a submission declares that none of the others describes.
#[derive(Debug)]
pub enum OtherDeclared {}

/// A sanity method: shown in every table, never ranked. May be made of labels.
#[derive(Debug)]
pub enum Diagnostic {}

impl Setting for TextOnly {
    type Side = ();
    const NAME: &'static str = "public_text_only";
    const LEADERBOARD: &'static str = "public_text_only";
}

impl Setting for TextCluster {
    type Side = ();
    const NAME: &'static str = "public_text_cluster";
    const LEADERBOARD: &'static str = "public_text_cluster";
}

impl Setting for ReleasedFamily {
    type Side = Partition;
    const NAME: &'static str = "released_family";
    const LEADERBOARD: &'static str = "released_family_control";
}

impl Setting for BenchmarkTrained {
    type Side = ();
    const NAME: &'static str = "benchmark_trained";
    const LEADERBOARD: &'static str = "benchmark_trained";
}

impl Setting for OtherDeclared {
    type Side = ();
    const NAME: &'static str = "other_declared";
    const LEADERBOARD: &'static str = "other_declared";
}

impl Setting for Diagnostic {
    type Side = Option<Partition>;
    const NAME: &'static str = "diagnostic_not_ranked";
    const LEADERBOARD: &'static str = "diagnostic_not_ranked";
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::TextOnly {}
    impl Sealed for super::TextCluster {}
    impl Sealed for super::ReleasedFamily {}
    impl Sealed for super::BenchmarkTrained {}
    impl Sealed for super::OtherDeclared {}
    impl Sealed for super::Diagnostic {}
}
