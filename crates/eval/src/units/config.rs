//! `authoring.toml`: what a benchmark is called, where its files go, and its gate's limits.
//!
//! Nothing has a default: what decides whether a unit is admitted stands in the file.

use cleanhit_io::InputError;
use serde::Deserialize;

use super::{
    parse::{FORMAT, is_slug, toml_error, utf8},
    taxonomy::Stratum,
};

/// More folds than a benchmark has units tell nothing.
const MOST_FOLDS: u32 = 1000;

/// An authoring folder's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// 1.
    format: u64,
    /// The benchmark's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What its texts may be used under, as an SPDX expression.
    pub licence: String,
    /// Where the pools and the family relation go; relative to this folder, with `/`.
    pub pools: String,
    /// The folder of background skills; relative to this folder, with `/`.
    pub background: String,
    /// Into how many folds the held-out single units are dealt.
    pub folds: u32,
    /// The pools' ids.
    pub pool: PoolIds,
    /// What makes an arbitrary choice the same each time.
    pub seeds: Seeds,
    /// How many there must be.
    pub minimum: Minimum,
    /// What the gate lets pass.
    pub limits: Limits,
}

/// The id of each stratum's pool, as in rank files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolIds {
    /// The pool of the single units.
    pub single: String,
    /// The pool of the paired units.
    pub paired: String,
}

/// What makes an arbitrary choice the same each time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Of the order in which lineage groups are dealt into folds.
    pub folds: u64,
}

/// How many there must be at least.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minimum {
    /// Held-out units of each single type.
    pub single_heldout: usize,
    /// Development units of each single type.
    pub single_development: usize,
    /// Units of each paired type.
    pub paired: usize,
    /// Background skills.
    pub background: usize,
}

/// What the gate lets pass.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Words of a query, least and most.
    pub query_words: [usize; 2],
    /// Sentences of a query, least and most.
    pub query_sentences: [usize; 2],
    /// Words of a skill's body, least and most.
    pub skill_words: [usize; 2],
    /// The most words in a row that a query has in common with a skill of its unit.
    pub shared_words: usize,
    /// By how much the longer text of a unit may exceed the shorter, as a share of the longer.
    pub length_difference: f64,
    /// The share of a single unit's words that its edits may change.
    pub changed_words: f64,
    /// The level of the balance tests: the helpful text is the longer one about half the time.
    pub balance_level: f64,
    /// The most that two candidates of different units may overlap: Jaccard of word 5-grams.
    pub near_duplicate: f64,
}

impl Config {
    /// Reads an `authoring.toml`.
    ///
    /// # Errors
    ///
    /// If it isn't TOML, lacks a setting, has one that isn't known, or one out of range.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Config, InputError> {
        let text = utf8(file, bytes)?;
        let config: Config = toml::from_str(text).map_err(|e| toml_error(file, text, &e))?;
        match config.problem() {
            None => Ok(config),
            Some((field, problem, expected)) => {
                Err(InputError::new(file, problem).field(field).expected(expected))
            }
        }
    }

    /// The pool of a stratum.
    pub fn pool_id(&self, stratum: Stratum) -> &str {
        match stratum {
            Stratum::Single => &self.pool.single,
            Stratum::Paired => &self.pool.paired,
        }
    }

    /// The first setting out of range, with what is wrong and what was expected.
    fn problem(&self) -> Option<(&'static str, String, &'static str)> {
        if self.format != FORMAT {
            return Some(("format", format!("is {}", self.format), "1"));
        }
        let names = [
            ("name", &self.name),
            ("pool.single", &self.pool.single),
            ("pool.paired", &self.pool.paired),
        ];
        if let Some((field, name)) = names.into_iter().find(|(_, name)| !is_slug(name)) {
            let expected = "lower-case letters, digits and single hyphens";
            return Some((field, format!("`{name}` is not in kebab case"), expected));
        }
        if self.pool.single == self.pool.paired {
            return Some(("pool.paired", "is the pool of the single units".to_owned(), "another"));
        }
        let texts = [
            ("version", &self.version),
            ("licence", &self.licence),
            ("pools", &self.pools),
            ("background", &self.background),
        ];
        if let Some((field, _)) = texts.into_iter().find(|(_, text)| text.trim().is_empty()) {
            return Some((field, "is empty".to_owned(), "text"));
        }
        let folders = [("pools", &self.pools), ("background", &self.background)];
        let absolute = |path: &str| path.starts_with('/') || path.contains(['\\', ':']);
        if let Some((field, path)) = folders.into_iter().find(|(_, path)| absolute(path)) {
            return Some((field, format!("is `{path}`"), "a relative path with `/`"));
        }
        if !(2..=MOST_FOLDS).contains(&self.folds) {
            return Some(("folds", format!("is {}", self.folds), "from 2 to 1000"));
        }
        let limits = &self.limits;
        let ranges = [
            ("limits.query_words", limits.query_words),
            ("limits.query_sentences", limits.query_sentences),
            ("limits.skill_words", limits.skill_words),
        ];
        if let Some((field, [least, most])) = ranges.into_iter().find(|(_, [a, b])| b < a) {
            return Some((field, format!("is [{least}, {most}]"), "the smaller number first"));
        }
        let shares = [
            ("limits.length_difference", limits.length_difference),
            ("limits.changed_words", limits.changed_words),
            ("limits.balance_level", limits.balance_level),
            ("limits.near_duplicate", limits.near_duplicate),
        ];
        let (field, share) = shares.into_iter().find(|(_, x)| !(0.0..=1.0).contains(x))?;
        Some((field, format!("is {share}"), "a share from 0 to 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::CONFIG;

    #[test]
    fn a_setting_that_is_missing_unknown_or_out_of_range_is_named() {
        assert!(Config::parse("authoring.toml", CONFIG.as_bytes()).is_ok());
        let err = |from: &str, to: &str| {
            let text = CONFIG.replacen(from, to, 1);
            assert_ne!(text, CONFIG);
            Config::parse("authoring.toml", text.as_bytes()).unwrap_err().to_string()
        };
        let unknown = err("folds = 5", "folds = 5\nfold = 6");
        assert!(unknown.starts_with("authoring.toml:8: field `fold`: unknown field"), "{unknown}");
        let missing = err("folds = 5\n", "");
        assert!(missing.contains("missing field `folds`"), "{missing}");
        assert_eq!(
            err("near_duplicate = 0.5", "near_duplicate = nan"),
            "authoring.toml: field `limits.near_duplicate`: is NaN; expected a share from 0 to 1"
        );
        assert_eq!(
            err("folds = 5", "folds = 1"),
            "authoring.toml: field `folds`: is 1; expected from 2 to 1000"
        );
        assert!(err("folds = 5", "folds = 4294967295").contains("expected from 2 to 1000"));
        assert!(err("\"paired\"", "\"single\"").contains("is the pool of the single units"));
        assert!(err("[15, 90]", "[90, 15]").contains("the smaller number first"));
        assert!(err("\"pools\"", "\"/tmp\"").contains("a relative path"));
    }
}
