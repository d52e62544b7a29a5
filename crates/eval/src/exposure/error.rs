//! Why rankings cannot be evaluated.

use cleanhit_core::{Cutoff, Depth, QueryId};

use crate::stats::{
    BootstrapError, CorrectionError, GroupsError, PairedError, QuantileError, StatisticError,
};

/// Why rankings cannot be evaluated, or evaluations cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The value would silently be that of a smaller cutoff.
    #[error(
        "a measure at cutoff {} needs as many candidates; pool `{pool}` has {pool_size} and the run keeps {}",
        .cutoff.0, .depth.0
    )]
    TooDeep {
        /// The cutoff asked for.
        cutoff: Cutoff,
        /// A pool in which it cannot be measured.
        pool: String,
        /// The pool's size.
        pool_size: usize,
        /// What the run kept.
        depth: Depth,
    },
    /// The rankings answer a query that the benchmark does not have.
    #[error("query `{0}` is ranked but is not in the benchmark")]
    ForeignQuery(QueryId),
    /// Labels, benchmark and rankings are not of the same frozen benchmark.
    #[error("the labels are of the benchmark with gate {labels}; expected {bench}")]
    OtherBenchmark {
        /// The gate of the labelled benchmark.
        labels: String,
        /// The gate of the benchmark at hand.
        bench: String,
    },
    /// Two evaluations were made at different cutoffs.
    #[error("one run was evaluated at the cutoffs {a}, the other at {b}; expected the same")]
    CutoffsDiffer {
        /// The cutoffs of the first.
        a: String,
        /// The cutoffs of the second.
        b: String,
    },
    /// The group holds no query.
    #[error("no query is in group `{0}`")]
    EmptyGroup(String),
    /// The queries cannot be grouped for drawing.
    #[error(transparent)]
    Groups(#[from] GroupsError),
    /// The values cannot be summed up by group.
    #[error(transparent)]
    Statistic(#[from] StatisticError),
    /// The statistics cannot be resampled.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// The interval does not exist, for example because the level is outside (0, 1).
    #[error(transparent)]
    Quantile(#[from] QuantileError),
    /// The scores cannot be subtracted.
    #[error(transparent)]
    Paired(#[from] PairedError),
    /// The p-values cannot be adjusted.
    #[error(transparent)]
    Correction(#[from] CorrectionError),
}
