//! What an identical re-run reproduces, and what it does not.

use std::{collections::BTreeMap, num::NonZeroU32, path::Path, time::Duration};

use cleanhit_core::{Depth, TieRule};
use cleanhit_io::{Benchmark, FileDigest, InputError, is_there, read_regular};
use serde::{Deserialize, Serialize};

use crate::{
    cards::{MethodCard, Notes},
    locate,
    method::Ranked,
};

const SCHEMA: &str = "cleanhit.receipt.v1";

/// The file's name.
const FILE: &str = "receipt.json";

/// The repeatability of every kind there is: the same bytes on any machine.
const EXACT: &str = "exact";

/// `receipt.json`: everything that decides the bytes beside it. Comparable byte for byte.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Receipt {
    /// `cleanhit.receipt.v1`.
    pub(crate) schema: String,
    /// The version that ranked.
    pub(crate) cleanhit: String,
    pub(crate) method_id: String,
    /// As method cards write it.
    pub(crate) information_setting: String,
    /// `exact`: the same bytes on any machine. `device`: the same bytes with one build on one
    /// device, because a model computed.
    pub(crate) repeatability: String,
    pub(crate) bench: BenchReceipt,
    /// Files read, label files never among them.
    pub(crate) inputs: Vec<FileReceipt>,
    /// The whole card, every parameter spelled out.
    pub(crate) card: serde_json::Value,
    pub(crate) settings: Settings,
    /// Pool by pool.
    pub(crate) counts: BTreeMap<String, Notes>,
    pub(crate) ranks_sha256: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchReceipt {
    pub(crate) name: String,
    pub(crate) gate_sha256: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileReceipt {
    pub(crate) path: String,
    pub(crate) sha256: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Hits kept for each query.
    pub(crate) depth: NonZeroU32,
    /// The order of ties.
    pub(crate) ties: String,
    /// `full_pool` or `bounded_top20`; none without a selector.
    #[serde(default)]
    pub(crate) selection_over: Option<String>,
    /// Queries whose representatives were fewer than the ranks to fill.
    pub(crate) padded_queries: usize,
    /// Of a slice, the queries that were answered, in the order of their ids; none of a full run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<Vec<String>>,
}

/// `timing.json`: what no comparison reads.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    pub(crate) queries_per_second: f64,
    pub(crate) threads: usize,
    pub(crate) device: String,
    pub(crate) os: String,
    pub(crate) arch: String,
}

impl Receipt {
    pub(crate) fn new(
        card: &MethodCard,
        bench: &Benchmark,
        ranked: &Ranked,
        depth: Depth,
        ties: TieRule,
        ranks_sha256: &str,
    ) -> anyhow::Result<Receipt> {
        let mut inputs: Vec<FileReceipt> =
            bench.inputs.iter().chain(&ranked.side_inputs).map(FileReceipt::new).collect();
        inputs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let over = match &card.rerank {
            Some(rerank) => format!("bounded_top{}", Depth(rerank.top).max(depth).get()),
            None => "full_pool".to_owned(),
        };
        Ok(Receipt {
            schema: SCHEMA.into(),
            cleanhit: env!("CARGO_PKG_VERSION").into(),
            method_id: card.method_id.clone(),
            information_setting: ranked.setting.card().into(),
            repeatability: match ranked.notes.values().all(|notes| notes.models.is_empty()) {
                true => EXACT.into(),
                false => "device".into(),
            },
            bench: BenchReceipt {
                name: bench.name.clone(),
                gate_sha256: bench.gate_sha256.clone(),
            },
            inputs,
            card: serde_json::to_value(card)?,
            settings: Settings {
                depth: depth.0,
                ties: ties.to_string(),
                selection_over: card.select.as_ref().map(|_| over),
                padded_queries: ranked.padded,
                only: ranked
                    .only
                    .as_ref()
                    .map(|only| only.iter().map(ToString::to_string).collect()),
            },
            counts: ranked.notes.clone(),
            ranks_sha256: ranks_sha256.into(),
        })
    }
}

impl Receipt {
    /// Reads a receipt; an unknown field or schema is an error.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Receipt, InputError> {
        let receipt: Receipt =
            serde_json::from_str(text).map_err(|err| locate::json_error(path, text, &err))?;
        if receipt.schema != SCHEMA {
            let error = InputError::new(path.display(), format!("is `{}`", receipt.schema));
            let line = locate::json_line(text, "schema").unwrap_or(1);
            return Err(error.line(line).field("schema").expected(format!("`{SCHEMA}`")));
        }
        Ok(receipt)
    }

    /// The method that made the ranks.
    pub(crate) fn method_card(&self) -> Result<MethodCard, serde_json::Error> {
        serde_json::from_value(self.card.clone())
    }

    /// What it is a slice of, if it is no full run: `a slice of 10 of 65 queries`.
    pub(crate) fn slice(&self, bench: &Benchmark) -> Option<String> {
        let only = self.settings.only.as_ref()?;
        Some(format!("a slice of {} of {} queries, no full run", only.len(), bench.n_queries()))
    }

    /// Whether it says that the same bytes come of the method on any machine.
    pub(crate) fn is_exact(&self) -> bool {
        self.repeatability == EXACT
    }
}

/// The receipt in a folder, and its text; none if there is none.
pub(crate) fn read(folder: &Path) -> Option<Result<(Receipt, String), InputError>> {
    let path = folder.join(FILE);
    is_there(&path).then(|| {
        let bytes = read_regular(&path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| InputError::new(path.display(), "is not UTF-8").expected("JSON"))?;
        Ok((Receipt::parse(&path, &text)?, text))
    })
}

/// The benchmark that a folder's receipt names, whatever else is wrong with it.
pub(crate) fn bench_name(folder: &Path) -> Option<String> {
    let bytes = read_regular(&folder.join(FILE)).ok()?;
    let receipt: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    receipt["bench"]["name"].as_str().map(str::to_owned)
}

/// Whether a text is a version: three numbers, and perhaps more after a `-` or a `+`.
pub(crate) fn is_version(text: &str) -> bool {
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    let number = |part: &str| part.parse::<u32>().is_ok() && !part.starts_with('+');
    numbers.split('.').count() == 3
        && numbers.split('.').all(number)
        && !text.chars().any(|c| c.is_control() || c.is_whitespace())
}

impl FileReceipt {
    fn new(digest: &FileDigest) -> FileReceipt {
        // The file's own name: where a benchmark lies is no part of what it is.
        let name = Path::new(&digest.path).file_name();
        let path = name.map_or(digest.path.clone(), |name| name.to_string_lossy().into_owned());
        FileReceipt { path, sha256: digest.sha256.clone() }
    }
}

impl Timing {
    pub(crate) fn new(elapsed: Duration, queries: usize) -> Timing {
        let seconds = elapsed.as_secs_f64();
        Timing {
            seconds,
            queries_per_second: queries as f64 / seconds.max(1e-9),
            threads: rayon::current_num_threads(),
            device: crate::neural::shared().device().to_string(),
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
        }
    }
}
