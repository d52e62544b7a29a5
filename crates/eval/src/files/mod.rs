//! The files that results are published in.
//!
//! Four are the public benchmark's formats: `metrics.json`, `method_card.json`,
//! `leaderboard.tsv` and `adapter_receipt.json`. One is this project's: `intervals.json`, since
//! the public metrics schema has no place for intervals. [`check_submission`] reads a whole
//! folder and computes every number in it again.
//!
//! Numbers have 9 decimals; what is undefined is null.
//!
//! Architecture invariant: a file is written by the type that reads it, and a reader lists
//! every violation that it can find.

mod card;
mod intervals;
mod json;
mod leaderboard;
mod metrics;
mod rates;
mod receipt;
mod setting;
mod submission;
#[cfg(test)]
mod tests;

pub use self::{
    card::{CARD_SCHEMA, MethodCard},
    intervals::{GroupIntervalsJson, INTERVALS_SCHEMA, IntervalsFile, SettingsJson},
    json::json_differences,
    leaderboard::{Leaderboard, LeaderboardRow, ResultStatus, StatusError, Value},
    metrics::{
        Breakdown, GroupMetrics, METRICS_COMPLETE, METRICS_SCHEMA, MetricsFile, RankFileEntry,
        Scopes, metric_definition,
    },
    rates::{PairRates, Rates, TripleRates, round9},
    receipt::{AdapterReceipt, RUN_SCHEMA},
    setting::{InformationSetting, SettingError},
    submission::{Submission, check_results, check_submission},
};
