//! `metrics.json`: the public benchmark's frozen evaluation.

use std::collections::BTreeMap;

use cleanhit_io::{FileDigest, InputError};
use serde::{Deserialize, Serialize};

use crate::{
    exposure::{By, Counts, Evaluation, Scope, Summary},
    files::{PairRates, Rates, json},
    labels::Cases,
};

/// The schema's name.
pub const METRICS_SCHEMA: &str = "samecaprisk.frozen-evaluation.v1";

/// The only status there is.
pub const METRICS_COMPLETE: &str = "METRICS_COMPLETE";

/// The whole file.
///
/// A rate at a cutoff that was not evaluated (a pool of 12 has none at 20) is null.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsFile {
    /// [`METRICS_SCHEMA`].
    pub schema: String,
    /// [`METRICS_COMPLETE`].
    pub status: String,
    /// The method.
    pub method_id: String,
    /// SHA-256 of the benchmark's gate.
    pub gate_sha256: String,
    /// The rank files that were evaluated.
    pub rank_files: Vec<RankFileEntry>,
    /// The five scopes.
    pub scopes: Scopes,
    /// The queries that count, by three columns of the label file.
    pub main_breakdown: Breakdown,
    /// What each number means.
    pub metric_definition: BTreeMap<String, String>,
}

/// A rank file and its digest.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RankFileEntry {
    /// Its path.
    pub path: String,
    /// Lower-case hex SHA-256 of its bytes.
    pub sha256: String,
}

/// The five scopes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scopes {
    /// Every query that counts.
    pub main_comparison: GroupMetrics,
    /// The single-query stratum of it.
    pub main_core: GroupMetrics,
    /// The paired stratum of it.
    pub main_hard: GroupMetrics,
    /// Every query.
    pub all_query_census: GroupMetrics,
    /// The development queries.
    pub development_only: GroupMetrics,
}

/// The queries that count, by mechanism, type and source.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// By mechanism.
    pub primary_category: BTreeMap<String, GroupMetrics>,
    /// By conflict type.
    pub conflict_type: BTreeMap<String, GroupMetrics>,
    /// By source.
    pub domain: BTreeMap<String, GroupMetrics>,
}

/// One scope or group.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GroupMetrics {
    /// Queries.
    pub queries: u64,
    /// Units.
    pub units: u64,
    /// Every query counts the same.
    pub query_micro: Rates,
    /// The mean within a unit, then over units.
    pub unit_macro: Rates,
    /// Units whose two queries both succeed; only where every query is paired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired_unit_success: Option<PairRates>,
}

impl MetricsFile {
    /// Reads a metrics file.
    ///
    /// # Errors
    ///
    /// If it is not of this schema, or is not complete.
    pub fn read(file: &str, bytes: &[u8]) -> Result<MetricsFile, InputError> {
        let metrics: MetricsFile = json::typed(file, bytes)?;
        let fixed = [
            ("schema", &metrics.schema, METRICS_SCHEMA),
            ("status", &metrics.status, METRICS_COMPLETE),
        ];
        for (field, found, expected) in fixed {
            if found != expected {
                let error = InputError::new(file, format!("is `{found}`")).field(field);
                return Err(error.expected(format!("`{expected}`")));
            }
        }
        Ok(metrics)
    }

    /// The file's bytes.
    pub fn write(&self) -> Vec<u8> {
        json::write(self)
    }
}

impl Scopes {
    /// One of them.
    pub fn get(&self, scope: Scope) -> &GroupMetrics {
        match scope {
            Scope::MainComparison => &self.main_comparison,
            Scope::MainCore => &self.main_core,
            Scope::MainHard => &self.main_hard,
            Scope::AllQueryCensus => &self.all_query_census,
            Scope::DevelopmentOnly => &self.development_only,
        }
    }
}

impl GroupMetrics {
    fn new(summary: &Summary) -> GroupMetrics {
        GroupMetrics {
            queries: summary.queries,
            units: summary.units,
            query_micro: Rates::new(summary, Counts::micro),
            unit_macro: Rates::new(summary, Counts::unit_macro),
            paired_unit_success: PairRates::new(summary),
        }
    }
}

impl Evaluation<'_> {
    /// The public metrics file of this run.
    ///
    /// `gate_sha256` is the benchmark's, `rank_files` what was evaluated.
    pub fn metrics_file(
        &self,
        method_id: &str,
        gate_sha256: &str,
        rank_files: &[FileDigest],
    ) -> MetricsFile {
        let scope = |scope| GroupMetrics::new(&self.summary(scope));
        let entry = |file: &FileDigest| RankFileEntry {
            path: file.path.clone(),
            sha256: file.sha256.clone(),
        };
        MetricsFile {
            schema: METRICS_SCHEMA.to_owned(),
            status: METRICS_COMPLETE.to_owned(),
            method_id: method_id.to_owned(),
            gate_sha256: gate_sha256.to_owned(),
            rank_files: rank_files.iter().map(entry).collect(),
            scopes: Scopes {
                main_comparison: scope(Scope::MainComparison),
                main_core: scope(Scope::MainCore),
                main_hard: scope(Scope::MainHard),
                all_query_census: scope(Scope::AllQueryCensus),
                development_only: scope(Scope::DevelopmentOnly),
            },
            main_breakdown: Breakdown {
                primary_category: self.breakdown(By::Mechanism),
                conflict_type: self.breakdown(By::ConflictType),
                domain: self.breakdown(By::Source),
            },
            metric_definition: metric_definition(),
        }
    }

    fn breakdown(&self, by: By) -> BTreeMap<String, GroupMetrics> {
        let cases: &Cases = self.cases();
        let groups = self.by(by).into_iter();
        groups.map(|s| (s.group.name(cases).to_owned(), GroupMetrics::new(&s))).collect()
    }
}

/// What each number of a metrics file means.
pub fn metric_definition() -> BTreeMap<String, String> {
    let definitions = [
        ("recall_at_k", "share of queries whose first k candidates hold the helpful skill"),
        ("hsr_at_k", "share of queries whose first k candidates hold the marked risky sibling"),
        (
            "cleanhit_at_k",
            "share of queries whose first k candidates hold the helpful skill and not the marked risky sibling",
        ),
        ("query_micro", "every query counts the same"),
        ("unit_macro", "the mean within each unit, then the mean over units"),
        (
            "paired_recall_at_k",
            "share of paired units whose two queries both hold their helpful skill",
        ),
        (
            "paired_cleanhit_at_k",
            "share of paired units whose two queries both hold it without the marked risky sibling",
        ),
    ];
    definitions.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())).into()
}
