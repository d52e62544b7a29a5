use std::{fs, path::Path};

use cleanhit_core::{Depth, TieRule};
use cleanhit_io::{FileDigest, Folder, sha256_hex, write_ranks};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::{
    exposure::{Cutoffs, Evaluation, Measure},
    intervals::BootstrapSettings,
    sanity::{Sanity, sanity},
    stats::Plan,
    testing::{CASES, FAMILIES, Fixture, HEADER, pool, texts, write},
};

/// The fixed benchmark with pools of at least twenty candidates, so that 20 is a cutoff.
fn fixture() -> Fixture {
    let filled = |known: &[&str]| {
        let fill = (0..20).map(|i| format!("{}{i}", known[0]));
        known.iter().map(|id| (*id).to_owned()).chain(fill).collect::<Vec<String>>()
    };
    let names = |ids: [&str; 4]| ids.map(str::to_owned);
    let pools = [
        pool("single", &filled(&["a", "b", "c", "d"]), &names(["q1", "q2", "q3", "q4"])),
        pool("paired", &filled(&["p", "q", "r", "s"]), &names(["q5", "q6", "q7", "q8"])),
    ];
    write(&pools, &format!("{HEADER}{CASES}"), FAMILIES)
}

/// Writes a submission of the oracle into `dir`.
fn submit(fixture: &Fixture, dir: &Path) -> Folder {
    let (bench, cases) = (&fixture.bench, fixture.cases());
    let rankings = sanity(Sanity::Oracle, &cases, bench, Some(Depth::of_len(20)), TieRule::Hash);
    let ranks = write_ranks("oracle", bench, &rankings);
    let rank_sha256 = sha256_hex(&ranks);
    let run = Evaluation::new(&cases, bench, &rankings, &Cutoffs::default()).unwrap();
    let files = [FileDigest { path: "top20.tsv".to_owned(), sha256: rank_sha256.clone() }];
    let metrics = run.metrics_file("oracle", &bench.gate_sha256, &files);
    let settings = BootstrapSettings {
        plan: Plan { replicates: 50.try_into().unwrap(), seed: 1 },
        level: 0.9,
    };
    let intervals = run.intervals(&settings).unwrap();
    let intervals = IntervalsFile::new("oracle", &bench.gate_sha256, &run, &intervals);
    let text = |text: &str| text.to_owned();
    let card = MethodCard {
        schema: text(CARD_SCHEMA),
        method_id: text("oracle"),
        method_name: text("The oracle"),
        information_setting: text("diagnostic_not_ranked"),
        code_url: text("none"),
        code_commit: text("none"),
        checkpoint: text("none"),
        training_data: text("the labels"),
        development_use: text("none"),
        preprocessing: text("none"),
        compute: text("cpu"),
        rank_file: text("top20.tsv"),
        rank_sha256: rank_sha256.clone(),
        metrics_file: text("metrics.json"),
    };
    let receipt = json!({
        "method_id": "oracle",
        "information_setting": "diagnostic_not_ranked",
        "bench": {"name": "small", "gate_sha256": bench.gate_sha256},
        "ranks_sha256": rank_sha256,
    });
    let inputs =
        ["single", "paired"].into_iter().zip(bench.inputs.chunks(2)).flat_map(|(pool, files)| {
            [("candidates", &files[0]), ("queries", &files[1])]
                .map(|(file, digest)| (format!("{pool}/{file}.jsonl"), digest.sha256.clone()))
        });
    let adapter = AdapterReceipt {
        schema: text(RUN_SCHEMA),
        method_id: text("oracle"),
        queries: 8,
        rank_rows: 160,
        input_sha256: inputs.collect(),
        adapter_sha256: "0".repeat(64),
        rank_sha256,
        scope: text("all queries"),
    };
    for (name, bytes) in [
        ("method_card.json", card.write()),
        ("top20.tsv", ranks),
        ("metrics.json", metrics.write()),
        ("intervals.json", intervals.write()),
        ("receipt.json", serde_json::to_vec(&receipt).unwrap()),
        ("adapter_receipt.json", adapter.write()),
    ] {
        fs::write(dir.join(name), bytes).unwrap();
    }
    Folder::Disk(dir.to_owned())
}

fn edit(dir: &Path, name: &str, edit: impl FnOnce(&mut Json)) {
    let path = dir.join(name);
    let mut value: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[test]
fn what_is_written_is_read_and_holds_up() {
    let fixture = fixture();
    let dir = tempfile::tempdir().unwrap();
    let folder = submit(&fixture, dir.path());
    let submission = check_submission(&folder, &fixture.bench, &fixture.cases())
        .map_err(|errors| texts(&errors))
        .unwrap();
    assert_eq!(submission.warnings, [""; 0]);
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let metrics = MetricsFile::read("metrics.json", &read("metrics.json")).unwrap();
    assert_eq!(metrics, submission.metrics);
    let intervals = IntervalsFile::read("intervals.json", &read("intervals.json")).unwrap();
    assert_eq!(Some(&intervals), submission.intervals.as_ref());
    let main = &metrics.scopes.main_comparison;
    assert_eq!((main.queries, main.units, main.paired_unit_success.is_none()), (7, 5, true));
    assert_eq!(main.query_micro.get(Measure::CleanHit, 3), Some(1.0));
    let hard = metrics.scopes.main_hard.paired_unit_success.as_ref().unwrap();
    assert_eq!((hard.recall(20), hard.clean_hit(1)), (Some(1.0), Some(1.0)));
    assert_eq!(metrics.main_breakdown.primary_category.len(), 3);
    let row = LeaderboardRow::new(
        &submission.card,
        &metrics,
        Some(&intervals),
        ResultStatus::MetricRecomputed,
    );
    let board = Leaderboard::new(vec![row.unwrap()]);
    assert_eq!((board.rows()[0].rank, board.rows()[0].hsr.point), (None, 0.0));
    assert_eq!(Leaderboard::read("leaderboard.tsv", &board.write()), Ok(board));
}

#[test]
fn the_metrics_file_is_that_of_the_public_schema() {
    let fixture = fixture();
    let dir = tempfile::tempdir().unwrap();
    submit(&fixture, dir.path());
    let text = fs::read_to_string(dir.path().join("metrics.json")).unwrap();
    let metrics: Json = serde_json::from_str(&text).unwrap();
    let keys = |value: &Json| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(
        keys(&metrics),
        [
            "schema",
            "status",
            "method_id",
            "gate_sha256",
            "rank_files",
            "scopes",
            "main_breakdown",
            "metric_definition",
        ]
    );
    assert_eq!(metrics["schema"], "samecaprisk.frozen-evaluation.v1");
    assert_eq!(metrics["status"], "METRICS_COMPLETE");
    assert_eq!(
        keys(&metrics["scopes"]),
        ["main_comparison", "main_core", "main_hard", "all_query_census", "development_only",]
    );
    assert_eq!(keys(&metrics["main_breakdown"]), ["primary_category", "conflict_type", "domain"]);
    let hard = &metrics["scopes"]["main_hard"];
    let blocks = ["queries", "units", "query_micro", "unit_macro", "paired_unit_success"];
    assert_eq!(keys(hard), blocks);
    assert_eq!(
        keys(&hard["query_micro"])[..4],
        ["recall_at_1", "hsr_at_1", "cleanhit_at_1", "recall_at_3"]
    );
    assert_eq!(
        keys(&hard["paired_unit_success"])[6..],
        ["paired_recall_at_20", "paired_cleanhit_at_20"]
    );
    assert_eq!(keys(&metrics["scopes"]["main_core"]), blocks[..4]);
    let error = MetricsFile::read("m", text.replace("METRICS_COMPLETE", "DRAFT").as_bytes());
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "m: field `status`: is `DRAFT`; expected `METRICS_COMPLETE`");
    assert!(
        MetricsFile::read("m", text.replacen("recall_at_1", "recall_at_2", 1).as_bytes()).is_err()
    );
}

#[test]
fn every_violation_of_a_submission_is_listed() {
    let fixture = fixture();
    let dir = tempfile::tempdir().unwrap();
    let folder = submit(&fixture, dir.path());
    edit(dir.path(), "metrics.json", |metrics| {
        metrics["scopes"]["main_core"]["query_micro"]["hsr_at_3"] = json!(0.25);
        metrics["gate_sha256"] = json!("0");
        metrics["rank_files"][0]["sha256"] = json!("1");
        metrics["extra"] = json!(1);
    });
    edit(dir.path(), "intervals.json", |intervals| {
        intervals["scopes"]["main_core"]["query_micro"]["recall_at_1"]["low"] = json!(0.5);
    });
    edit(dir.path(), "receipt.json", |receipt| {
        receipt["bench"]["gate_sha256"] = json!("2");
        receipt["ranks_sha256"] = json!("3");
        receipt["information_setting"] = json!("public_text_only");
    });
    edit(dir.path(), "adapter_receipt.json", |receipt| {
        receipt["rank_rows"] = json!(159);
        receipt["adapter_sha256"] = json!("x");
        receipt["input_sha256"]["paired/queries.jsonl"] = json!("4");
        receipt["input_sha256"].as_object_mut().unwrap().shift_remove("single/queries.jsonl");
    });
    edit(dir.path(), "method_card.json", |card| card["rank_sha256"] = json!("0".repeat(64)));
    let errors = check_submission(&folder, &fixture.bench, &fixture.cases()).unwrap_err();
    let prefix = format!("{}/", dir.path().display());
    let places: Vec<String> = texts(&errors)
        .iter()
        .map(|error| {
            let error = error.replace(&prefix, "");
            let (file, rest) = error.split_once(": field `").unwrap();
            format!("{file} {}", rest.split('`').next().unwrap())
        })
        .collect();
    assert_eq!(
        places,
        [
            "method_card.json rank_sha256",
            "receipt.json bench.gate_sha256",
            "receipt.json ranks_sha256",
            "receipt.json information_setting",
            "adapter_receipt.json rank_rows",
            "adapter_receipt.json adapter_sha256",
            "adapter_receipt.json input_sha256.paired/queries.jsonl",
            "adapter_receipt.json input_sha256",
            "metrics.json gate_sha256",
            "metrics.json scopes.main_core.query_micro.hsr_at_3",
            "metrics.json extra",
            "metrics.json rank_files",
            "intervals.json scopes.main_core.query_micro.recall_at_1.low",
        ]
    );
    assert!(errors[9].to_string().ends_with("is 0.25; expected 0.0"), "{}", errors[9]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A reader of a damaged file reports; it does not panic.
    #[test]
    fn damaged_files_are_reported(at in 0usize..4000, bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        let board = "setting\trank_within_setting\tresult_status\tdisplay_name\tmethod_id\trecall_at_3\trecall_ci95_low\trecall_ci95_high\thsr_at_3\thsr_ci95_low\thsr_ci95_high\tcleanhit_at_3\tcleanhit_ci95_low\tcleanhit_ci95_high\npublic_text_only\t1\taccepted\tA\ta\t0.5\t0.4\t0.6\t0.1\t\t\t0.5\t\t\n";
        prop_assert!(Leaderboard::read("l", board.as_bytes()).is_ok());
        for whole in [board.as_bytes(), VALID.as_bytes(), b"{\"a\": [0]}"] {
            let mut damaged = whole.to_vec();
            let at = at % damaged.len();
            let end = (at + bytes.len() / 2).min(damaged.len());
            damaged.splice(at..end, bytes.iter().copied());
            let _ = Leaderboard::read("l", &damaged);
            let _ = MethodCard::read("c", &damaged);
            let _ = MetricsFile::read("m", &damaged);
            let _ = IntervalsFile::read("i", &damaged);
            let _ = AdapterReceipt::read("r", &damaged);
        }
    }
}

/// A receipt; the other JSON readers refuse it whole.
const VALID: &str = r#"{"schema": "samecaprisk.method-run.v1", "method_id": "m", "queries": 1,
"rank_rows": 20, "input_sha256": {"a/b": "c"}, "adapter_sha256": "d", "rank_sha256": "e", "scope": "all"}"#;

#[test]
fn ranks_that_cannot_be_read_are_listed_with_the_rest() {
    let fixture = fixture();
    let dir = tempfile::tempdir().unwrap();
    let folder = submit(&fixture, dir.path());
    let path = dir.path().join("top20.tsv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\t1.0\n", "\tNaN\n", 2)).unwrap();
    fs::remove_file(dir.path().join("metrics.json")).unwrap();
    fs::write(dir.path().join("intervals.json"), "{").unwrap();
    let errors = texts(&check_submission(&folder, &fixture.bench, &fixture.cases()).unwrap_err());
    assert_eq!(errors.len(), 5, "{errors:#?}");
    assert!(errors[0].contains("top20.tsv:2: field `score`"), "{}", errors[0]);
    assert!(errors[2].contains("method_card.json: field `rank_sha256`"), "{}", errors[2]);
    assert!(errors[3].contains("metrics.json: no such file"), "{}", errors[3]);
    assert!(errors[4].contains("intervals.json:1: is not valid JSON"), "{}", errors[4]);
}
