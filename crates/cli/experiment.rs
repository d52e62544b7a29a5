//! The experiment file: everything that changes a result, spelled out.

use std::{num::NonZeroU32, path::Path};

use anyhow::{Context as _, bail};
use cleanhit_io::Benchmark;
use serde::{Deserialize, Serialize};

use crate::{bundled::DEFAULT_BENCH, locate};

/// The methods of the main job, in the order of its table.
const STOCK_METHODS: [&str; 13] = [
    "bm25",
    "bm25_exact",
    "tfidf_word",
    "tfidf_char",
    "rrf",
    "rrf+text_cluster",
    "rrf+released",
    "constant",
    "random",
    "id_order",
    "length",
    "oracle",
    "anti_oracle",
];

/// First stages that `--all` adds to the stock ones.
const MORE_METHODS: [&str; 4] = ["bm25_okapi", "tfidf_sr", "round_robin", "weighted"];

/// Methods that `--neural` adds.
const NEURAL_METHODS: [&str; 4] = ["all-minilm-l6-v2", "skillsight", "hybrid", "smollm2-yes-no"];

/// More replicates than this take memory and tell nothing.
pub(crate) const MOST_REPLICATES: u32 = 100_000;

/// Selectors that `--all` puts after every method.
const SELECTORS: [&str; 4] = ["title", "text_cluster", "text_cluster_pool", "released"];

/// An experiment. Unknown keys are errors, and no key has a default: flags choose where a
/// result goes, the file chooses what it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// Version of this format: 1.
    pub(crate) format: u32,
    /// A bundled benchmark's name, or a path to a folder.
    pub(crate) bench: String,
    /// Cards' names, paths to cards, or METHOD+SELECTOR.
    pub(crate) methods: Vec<String>,
    /// Hits kept for each query.
    pub(crate) depth: NonZeroU32,
    /// `hash`, `id-asc` or `trec`.
    pub(crate) ties: String,
    /// The K of Recall@K, HSR@K and CleanHit@K.
    pub(crate) cutoffs: Vec<NonZeroU32>,
    pub(crate) intervals: Intervals,
}

/// The group bootstrap.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intervals {
    /// Resamples of the lineage groups.
    pub(crate) replicates: NonZeroU32,
    /// The same seed draws the same groups.
    pub(crate) seed: u64,
    /// Coverage, such as 0.95.
    pub(crate) level: f64,
}

impl Experiment {
    /// The main job.
    pub(crate) fn stock() -> anyhow::Result<Experiment> {
        Ok(Experiment {
            format: 1,
            bench: DEFAULT_BENCH.into(),
            methods: STOCK_METHODS.map(str::to_owned).to_vec(),
            depth: NonZeroU32::new(20).context("20 is not 0")?,
            ties: "hash".into(),
            cutoffs: [1, 3, 5, 20].into_iter().filter_map(NonZeroU32::new).collect(),
            intervals: Intervals {
                replicates: NonZeroU32::new(5000).context("5000 is not 0")?,
                seed: 20_260_910,
                level: 0.95,
            },
        })
    }

    /// Names a benchmark, and leaves out what does not fit it: cutoffs deeper than its pools, and
    /// selectors by released families where it discloses none.
    pub(crate) fn use_bench(&mut self, named: &str, bench: &Benchmark) {
        named.clone_into(&mut self.bench);
        let least = bench.least_pool();
        self.cutoffs.retain(|cutoff| cutoff.get() as usize <= least);
        if bench.families.is_none() {
            self.methods.retain(|method| !method.ends_with("+released"));
        }
    }

    /// Every built-in method, alone and followed by every selector.
    pub(crate) fn use_all_methods(&mut self) {
        let stock = STOCK_METHODS.iter().filter(|name| !name.contains('+'));
        let plain: Vec<&str> = stock.chain(&MORE_METHODS).copied().collect();
        self.methods = plain.iter().map(|&name| name.to_owned()).collect();
        for name in plain {
            self.methods.extend(SELECTORS.map(|selector| format!("{name}+{selector}")));
        }
    }

    /// Adds the neural methods whose weights are small.
    pub(crate) fn add_neural_methods(&mut self) {
        self.methods.extend(NEURAL_METHODS.map(str::to_owned));
    }

    /// Reads an experiment file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Experiment> {
        let text = locate::read_text(path, "an experiment file; `cleanhit init` writes one")?;
        Experiment::parse(&path.display().to_string(), &text)
    }

    /// Reads an experiment; `file` is for messages.
    pub(crate) fn parse(file: &str, text: &str) -> anyhow::Result<Experiment> {
        let experiment: Experiment =
            toml::from_str(text).map_err(|err| locate::toml_error(file, text, &err))?;
        let refuse = |field: &str, got: &str, expected: &str| -> anyhow::Result<Experiment> {
            bail!("{file}: field `{field}`: {got}; expected {expected}")
        };
        let Experiment { format, methods, cutoffs, depth, intervals, ties, .. } = &experiment;
        if *format != 1 {
            return refuse("format", &format.to_string(), "1");
        }
        if methods.is_empty() {
            return refuse("methods", "empty", "at least one method");
        }
        if cutoffs.is_empty() {
            return refuse("cutoffs", "empty", "at least one cutoff");
        }
        if let Some(deep) = cutoffs.iter().find(|&cutoff| depth < cutoff) {
            return refuse("cutoffs", &deep.to_string(), &format!("at most the depth, {depth}"));
        }
        for (i, cutoff) in cutoffs.iter().enumerate() {
            if cutoffs[..i].contains(cutoff) {
                return refuse("cutoffs", &format!("{cutoff} is there twice"), "each cutoff once");
            }
        }
        if !(0.5..=0.9999).contains(&intervals.level) {
            return refuse("intervals.level", &intervals.level.to_string(), "from 0.5 to 0.9999");
        }
        if MOST_REPLICATES < intervals.replicates.get() {
            let got = intervals.replicates.to_string();
            return refuse("intervals.replicates", &got, &format!("at most {MOST_REPLICATES}"));
        }
        if ties.parse::<cleanhit_core::TieRule>().is_err() {
            return refuse("ties", &format!("`{ties}`"), "`hash`, `id-asc` or `trec`");
        }
        Ok(experiment)
    }

    /// The file's text, with a comment above each setting.
    pub(crate) fn to_text(&self) -> anyhow::Result<String> {
        let body = toml::to_string_pretty(self).context("cannot write the experiment")?;
        let notes = [
            ("format", "Version of this format."),
            ("bench", "A bundled benchmark's name, or a path to a folder that holds bench.toml."),
            ("methods", "Method cards: names, paths, or METHOD+SELECTOR."),
            ("depth", "Hits kept for each query. Leaderboard rank files keep 20."),
            ("ties", "The order of equal scores: hash, id-asc or trec."),
            (
                "cutoffs",
                "The K of Recall@K, HSR@K and CleanHit@K. Whatever they are, 1, 3, 5 and 20 are shown \
                 too:\n# the table, the leaderboard and the report's breakdowns are at 3.",
            ),
            ("[intervals]", "The group bootstrap over lineage groups."),
        ];
        let mut text = String::from("# A cleanhit experiment: run it with `cleanhit run FILE`.\n");
        for line in body.lines() {
            let note = notes.iter().find(|(key, _)| {
                line == *key || line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" ="))
            });
            if let Some((_, note)) = note {
                text.push_str(&format!("\n# {note}\n"));
            }
            if !line.is_empty() {
                text.push_str(line);
                text.push('\n');
            }
        }
        Ok(text)
    }
}
