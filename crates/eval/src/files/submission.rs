//! A submission folder, with every number in it computed again.

use cleanhit_io::{Benchmark, Expect, FileDigest, Folder, InputError, RankFile, read_ranks};
use serde_json::{Map, Value};

use crate::{
    exposure::{Cutoffs, Evaluation},
    files::{AdapterReceipt, IntervalsFile, MethodCard, MetricsFile, json},
    labels::Cases,
};

const CARD: &str = "method_card.json";
const INTERVALS: &str = "intervals.json";
const RECEIPT: &str = "receipt.json";
const ADAPTER_RECEIPT: &str = "adapter_receipt.json";

/// More draws than this are not repeated to check a file.
const MOST_REPLICATES: u32 = 200_000;

/// A submission that holds up.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Its card.
    pub card: MethodCard,
    /// Its metrics: those that its ranks give.
    pub metrics: MetricsFile,
    /// Its intervals, where it has them.
    pub intervals: Option<IntervalsFile>,
    /// Its ranks.
    pub ranks: RankFile,
    /// What is odd and harmless.
    pub warnings: Vec<String>,
}

/// Checks a submission folder against the benchmark.
///
/// The card, the rank file and the metrics file it names are required; `intervals.json`,
/// `receipt.json` and `adapter_receipt.json` are checked where they are. Of the metrics
/// `method_id`, `gate_sha256`, `scopes`, `main_breakdown` and `metric_definition` are computed
/// again and compared, numbers to the last of 9 decimals; intervals are resampled with the
/// settings they state.
///
/// # Errors
///
/// Every violation, with its file and, where there is one, its line or its path of keys.
pub fn check_submission(
    dir: &Folder,
    bench: &Benchmark,
    cases: &Cases,
) -> Result<Submission, Vec<InputError>> {
    check_results(dir, bench, cases, Expect::Submission)
}

/// As [`check_submission`], of a rank file of another depth or with queries missing.
///
/// # Errors
///
/// As [`check_submission`].
pub fn check_results(
    dir: &Folder,
    bench: &Benchmark,
    cases: &Cases,
    expect: Expect,
) -> Result<Submission, Vec<InputError>> {
    let mut check = Check { dir, bench, expect, errors: Vec::new() };
    let card = check.card();
    // Without a readable card, the names that the public layout uses.
    let (rank_file, metrics_file) = match &card {
        Some(card) => (card.rank_file.clone(), card.metrics_file.clone()),
        None => ("top20.tsv".to_owned(), "metrics.json".to_owned()),
    };
    let ranks = check.ranks(&rank_file, card.as_ref());
    let metrics = check.object(&metrics_file);
    let intervals = check.optional(INTERVALS);
    let receipt = check.optional(RECEIPT);
    let adapter = check.adapter();
    if let Some(receipt) = receipt {
        check.receipt(receipt, card.as_ref(), ranks.as_ref());
    }
    let Some(ranks) = ranks else { return Err(check.errors) };
    if let Some(adapter) = adapter {
        let rows = ranks.rankings.iter().map(|(_, ranking)| ranking.hits().len() as u64).sum();
        let file = dir.show(ADAPTER_RECEIPT);
        let wrong = adapter.check(&file, bench, &ranks.method_id, &ranks.sha256, rows);
        check.errors.extend(wrong);
    }
    let (cutoffs, too_deep) = Cutoffs::default().that_fit(ranks.rankings.depth(), bench);
    let evaluation = match Evaluation::new(cases, bench, &ranks.rankings, &cutoffs) {
        Ok(evaluation) => evaluation,
        Err(error) => {
            check.errors.push(InputError::new(dir.show(&rank_file), error.to_string()));
            return Err(check.errors);
        }
    };
    let files = [FileDigest { path: rank_file, sha256: ranks.sha256.clone() }];
    let expected = evaluation.metrics_file(&ranks.method_id, &bench.gate_sha256, &files);
    if let Some(metrics) = metrics {
        check.metrics(&metrics_file, metrics, &expected);
    }
    let intervals =
        intervals.and_then(|found| check.intervals(found, &evaluation, &ranks.method_id));
    let mut warnings = ranks.warnings.clone();
    warnings.extend(evaluation.warnings());
    warnings.extend(
        too_deep
            .into_iter()
            .map(|k| format!("a pool has fewer than {} candidates: measures there are null", k.0)),
    );
    match (card, check.errors.is_empty()) {
        (Some(card), true) => {
            Ok(Submission { card, metrics: expected, intervals, ranks, warnings })
        }
        _ => Err(check.errors),
    }
}

struct Check<'a> {
    dir: &'a Folder,
    bench: &'a Benchmark,
    expect: Expect,
    errors: Vec<InputError>,
}

impl Check<'_> {
    /// A file's bytes; an error if it is not there.
    fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        match self.dir.read(name) {
            Ok(bytes) => Some(bytes.into_owned()),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        let bytes = self.bytes(name)?;
        match json::object(&self.dir.show(name), &bytes) {
            Ok(map) => Some(map),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn optional(&mut self, name: &str) -> Option<Map<String, Value>> {
        if self.dir.exists(name) { self.object(name) } else { None }
    }

    fn card(&mut self) -> Option<MethodCard> {
        let bytes = self.bytes(CARD)?;
        match MethodCard::read(&self.dir.show(CARD), &bytes) {
            Ok(card) => Some(card),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        }
    }

    fn ranks(&mut self, name: &str, card: Option<&MethodCard>) -> Option<RankFile> {
        let bytes = self.bytes(name)?;
        let file = self.dir.show(name);
        let ranks = match read_ranks(&file, &bytes, self.bench, self.expect) {
            Ok(ranks) => ranks,
            Err(errors) => {
                self.errors.extend(errors);
                if let Some(card) = card {
                    let sha256 = cleanhit_io::sha256_hex(&bytes);
                    self.same(CARD, "rank_sha256", &card.rank_sha256, &sha256);
                }
                return None;
            }
        };
        if let Some(card) = card {
            self.same(CARD, "rank_sha256", &card.rank_sha256, &ranks.sha256);
            self.same(CARD, "method_id", &card.method_id, &ranks.method_id);
        }
        Some(ranks)
    }

    fn adapter(&mut self) -> Option<AdapterReceipt> {
        if !self.dir.exists(ADAPTER_RECEIPT) {
            return None;
        }
        let bytes = self.bytes(ADAPTER_RECEIPT)?;
        match AdapterReceipt::read(&self.dir.show(ADAPTER_RECEIPT), &bytes) {
            Ok(receipt) => Some(receipt),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Our own receipt: the gate and the digest of the ranks, wherever in it they stand; the
    /// method and its setting.
    fn receipt(
        &mut self,
        receipt: Map<String, Value>,
        card: Option<&MethodCard>,
        ranks: Option<&RankFile>,
    ) {
        let receipt = Value::Object(receipt);
        let mut expected = vec![("gate_sha256", self.bench.gate_sha256.clone())];
        if let Some(ranks) = ranks {
            expected.push(("ranks_sha256", ranks.sha256.clone()));
            expected.push(("rank_sha256", ranks.sha256.clone()));
        }
        for (key, expected) in expected {
            let mut stated = Vec::new();
            stated_in("", &receipt, key, &mut stated);
            for (path, found) in stated {
                self.same(RECEIPT, &path, &found, &expected);
            }
        }
        let stated = |key: &str| receipt[key].as_str();
        if let (Some(found), Some(ranks)) = (stated("method_id"), ranks) {
            self.same(RECEIPT, "method_id", found, &ranks.method_id);
        }
        let setting = card.and_then(MethodCard::setting);
        if let (Some(found), Some(setting)) = (stated("information_setting"), setting) {
            self.same(RECEIPT, "information_setting", found, setting.card());
        }
    }

    fn metrics(&mut self, name: &str, found: Map<String, Value>, expected: &MetricsFile) {
        let file = self.dir.show(name);
        let mut expected = object_of(expected);
        // Paths are the submitter's own; digests are not.
        let rank_files = found.get("rank_files").cloned().unwrap_or(Value::Null);
        let ours = expected.insert("rank_files".to_owned(), rank_files.clone());
        let (found, expected) = (Value::Object(found), Value::Object(expected));
        json::differences(&file, "", &found, &expected, &mut self.errors);
        let digests = |files: &Value| {
            let files = files.as_array().into_iter().flatten();
            files.map(|file| file["sha256"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        if ours.is_some_and(|ours| digests(&ours) != digests(&rank_files)) {
            let error = InputError::new(file, "is not the digest of the rank file");
            self.errors.push(error.field("rank_files").expected("its path and sha256"));
        }
    }

    fn intervals(
        &mut self,
        found: Map<String, Value>,
        evaluation: &Evaluation<'_>,
        method_id: &str,
    ) -> Option<IntervalsFile> {
        let file = self.dir.show(INTERVALS);
        let bytes = serde_json::to_vec(&found).unwrap_or_default();
        let stated = match IntervalsFile::read(&file, &bytes) {
            Ok(stated) => stated,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        let replicates = stated.settings.replicates.get();
        if MOST_REPLICATES < replicates {
            let error = InputError::new(file, format!("is {replicates}"));
            let error = error.field("settings.replicates");
            self.errors.push(error.expected(format!("at most {MOST_REPLICATES}")));
            return None;
        }
        let computed = match evaluation.intervals(&stated.settings.bootstrap()) {
            Ok(computed) => computed,
            Err(error) => {
                let error = InputError::new(file, error.to_string()).field("settings");
                self.errors.push(error);
                return None;
            }
        };
        let gate = &self.bench.gate_sha256;
        let expected = IntervalsFile::new(method_id, gate, evaluation, &computed);
        let expected = Value::Object(object_of(&expected));
        json::differences(&file, "", &Value::Object(found), &expected, &mut self.errors);
        Some(stated)
    }

    fn same(&mut self, name: &str, field: &str, found: &str, expected: &str) {
        if found != expected {
            let error = InputError::new(self.dir.show(name), format!("is `{found}`")).field(field);
            self.errors.push(error.expected(format!("`{expected}`")));
        }
    }
}

/// Every text that stands under `key`, with its path.
fn stated_in(path: &str, value: &Value, key: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match value {
                    Value::String(text) if name == key => out.push((path, text.clone())),
                    value => stated_in(&path, value, key, out),
                }
            }
        }
        Value::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                stated_in(&format!("{path}[{i}]"), value, key, out);
            }
        }
        _ => {}
    }
}

fn object_of<T: serde::Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
