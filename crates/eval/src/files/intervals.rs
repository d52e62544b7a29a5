//! `intervals.json`: the intervals that the public metrics file has no place for.

use std::{collections::BTreeMap, num::NonZeroU32};

use cleanhit_io::InputError;
use serde::{Deserialize, Serialize};

use crate::{
    exposure::{By, Evaluation, Group, Measure, Scope, Summary},
    files::{TripleRates, json, round9},
    intervals::{BootstrapSettings, GroupIntervals, Intervals},
    stats::{Plan, rng::GENERATOR},
};

/// The schema's name.
pub const INTERVALS_SCHEMA: &str = "cleanhit.intervals.v1";

/// The whole file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalsFile {
    /// [`INTERVALS_SCHEMA`].
    pub schema: String,
    /// The method.
    pub method_id: String,
    /// SHA-256 of the benchmark's gate.
    pub gate_sha256: String,
    /// How the intervals were made.
    pub settings: SettingsJson,
    /// The five scopes, by name.
    pub scopes: BTreeMap<String, GroupIntervalsJson>,
    /// The queries that count: breakdown, then group.
    pub main_breakdown: BTreeMap<String, BTreeMap<String, GroupIntervalsJson>>,
}

/// How intervals were made.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsJson {
    /// Draws.
    pub replicates: NonZeroU32,
    /// The generator's seed.
    pub seed: u64,
    /// The generator and its version.
    pub generator: String,
    /// The level.
    pub level: f64,
    /// Which of the sampled values the ends are.
    pub quantile: String,
    /// `lineage_group` or `unit`.
    pub resampling_unit: String,
}

/// One scope or group.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GroupIntervalsJson {
    /// Queries.
    pub queries: u64,
    /// Units.
    pub units: u64,
    /// Lineage groups, or units, that were drawn from.
    pub resampled_groups: u64,
    /// Around the query-micro rates; empty without queries.
    pub query_micro: TripleRates,
    /// Around the unit-macro rates; empty without queries.
    pub unit_macro: TripleRates,
}

impl IntervalsFile {
    /// Puts intervals beside the rates they are around. Groups that `intervals` lacks are left
    /// out.
    pub fn new(
        method_id: &str,
        gate_sha256: &str,
        evaluation: &Evaluation<'_>,
        intervals: &Intervals,
    ) -> IntervalsFile {
        let group = |group: &Group| {
            let found = intervals.get(group.clone())?;
            Some(GroupIntervalsJson::new(&evaluation.summary(group.clone()), found))
        };
        let scopes = Scope::ALL
            .into_iter()
            .filter_map(|scope| Some((scope.as_str().to_owned(), group(&Group::Scope(scope))?)));
        let breakdown = |by: By| {
            let groups = by.groups(evaluation.cases()).into_iter();
            let named =
                groups.filter_map(|g| Some((g.name(evaluation.cases()).to_owned(), group(&g)?)));
            (by.as_str().to_owned(), named.collect())
        };
        IntervalsFile {
            schema: INTERVALS_SCHEMA.to_owned(),
            method_id: method_id.to_owned(),
            gate_sha256: gate_sha256.to_owned(),
            settings: SettingsJson {
                replicates: intervals.settings.plan.replicates,
                seed: intervals.settings.plan.seed,
                generator: GENERATOR.to_owned(),
                level: round9(intervals.settings.level),
                quantile: "inverted_cdf".to_owned(),
                resampling_unit: intervals.resampling_unit.as_str().to_owned(),
            },
            scopes: scopes.collect(),
            main_breakdown: By::ALL.into_iter().map(breakdown).collect(),
        }
    }

    /// Reads an intervals file.
    ///
    /// # Errors
    ///
    /// If it is not of this schema.
    pub fn read(file: &str, bytes: &[u8]) -> Result<IntervalsFile, InputError> {
        let intervals: IntervalsFile = json::typed(file, bytes)?;
        if intervals.schema != INTERVALS_SCHEMA {
            let error = InputError::new(file, format!("is `{}`", intervals.schema)).field("schema");
            return Err(error.expected(format!("`{INTERVALS_SCHEMA}`")));
        }
        Ok(intervals)
    }

    /// The file's bytes.
    pub fn write(&self) -> Vec<u8> {
        json::write(self)
    }
}

impl SettingsJson {
    /// The settings that make the same intervals again.
    pub fn bootstrap(&self) -> BootstrapSettings {
        let plan = Plan { replicates: self.replicates, seed: self.seed };
        BootstrapSettings { plan, level: self.level }
    }
}

impl GroupIntervalsJson {
    fn new(summary: &Summary, intervals: &GroupIntervals) -> GroupIntervalsJson {
        let mut json = GroupIntervalsJson {
            queries: summary.queries,
            units: summary.units,
            resampled_groups: intervals.lineage_groups,
            query_micro: TripleRates::default(),
            unit_macro: TripleRates::default(),
        };
        for (counts, at) in summary.at.iter().zip(&intervals.at) {
            for measure in Measure::ALL {
                let (cutoff, micro, unit_macro) =
                    (at.cutoff, counts.micro(measure), counts.unit_macro(measure));
                if let (Some(micro), Some(unit_macro)) = (micro, unit_macro) {
                    json.query_micro.insert(measure, cutoff, micro, at.micro(measure));
                    json.unit_macro.insert(measure, cutoff, unit_macro, at.unit_macro(measure));
                }
            }
        }
        json
    }
}
