//! One file: a rank file, a card, an experiment, a declaration, a receipt, a leaderboard, a TREC
//! run or qrels, or JSON lines.

use std::path::Path;

use anyhow::anyhow;
use cleanhit_core::{Candidate, Depth, Pool};
use cleanhit_eval::{
    files::{Leaderboard, MethodCard},
    plain,
};
use cleanhit_io::{
    Expect, counted, parse_candidates, parse_queries, parse_skill_jsonl, read_ranks,
};

use super::Findings;
use crate::{
    Registry,
    bundled::DEFAULT_BENCH,
    cards::{self, build_resolver, build_retriever, made_of_labels},
    commands::submit,
    experiment::Experiment,
    locate,
    ranking::DEEP_FILE,
    receipt::{self, Receipt},
};

pub(super) fn check(
    path: &Path,
    asked: Option<&str>,
    registry: &Registry,
    found: &mut Findings,
) -> anyhow::Result<()> {
    let name = path.display().to_string();
    let bytes = locate::read_packed(path)?;
    let extension = extension(path);
    let starts = |text: &str| bytes.starts_with(text.as_bytes());
    match extension.as_str() {
        "toml" if path.file_name().is_some_and(|name| name == "bench.toml") => {
            super::bench(path.parent().unwrap_or(Path::new(".")), found);
        }
        "toml" if is_experiment(&bytes) => match Experiment::read(path) {
            Ok(experiment) => {
                let methods = counted(experiment.methods.len(), "method");
                found.held(path, format!("experiment of {methods} on `{}`", experiment.bench));
            }
            Err(err) => found.refuse(&err),
        },
        "toml" if is_declaration(&bytes) => match submit::check_declaration(path) {
            Ok(name) => found.held(path, format!("declaration of `{name}`, for `submit --card`")),
            Err(err) => found.refuse(&err),
        },
        "toml" => {
            let argument = if locate::is_path(&name) { name.clone() } else { format!("./{name}") };
            match cards::Card::find(&argument).and_then(|card| {
                let select = card.select.as_ref().map(build_resolver).transpose();
                select.map_err(|error| card.source.at("select", error))?;
                // A parameter is checked by building the method over the least pool there is.
                if let Some(stage) =
                    card.retrieve.as_ref().filter(|s| made_of_labels(&s.kind).is_none())
                {
                    build_retriever(stage, &one_candidate()?, registry)
                        .map_err(|error| card.source.at("retrieve", error))?;
                }
                if card.rerank.is_some() {
                    // The tables of language models are read before weights are looked for.
                    cards::weights_of(&card).map_err(|error| card.source.at("rerank", error))?;
                }
                Ok(card)
            }) {
                Ok(card) => found.held(path, format!("method card `{}`", card.name)),
                Err(err) => found.refuse(&err),
            }
        }
        "json" if path.file_name().is_some_and(|name| name == "receipt.json") => {
            let text = String::from_utf8_lossy(&bytes);
            match Receipt::parse(path, &text) {
                Ok(receipt) => found.held(path, format!("receipt of `{}`", receipt.method_id)),
                Err(error) => found.add(vec![error]),
            }
        }
        "json" => match MethodCard::read(&name, &bytes) {
            Ok(card) => found.held(path, format!("method card of `{}`", card.method_id)),
            Err(errors) => found.add(errors),
        },
        "jsonl" => jsonl(path, &bytes, found),
        "run" | "trec" => match &plain::Run::check(&bytes)[..] {
            [] => found.held(path, "TREC run"),
            errors => found.violations.extend(errors.iter().map(|err| format!("{name}: {err}"))),
        },
        "qrels" => match &plain::Qrels::check(&bytes)[..] {
            [] => found.held(path, "TREC qrels"),
            errors => found.violations.extend(errors.iter().map(|err| format!("{name}: {err}"))),
        },
        _ if starts("setting\t") => match Leaderboard::read(&name, &bytes) {
            Ok(board) => found
                .held(path, format!("leaderboard of {}", counted(board.rows().len(), "method"))),
            Err(errors) => found.add(errors),
        },
        "tsv" => {
            let folder = path.parent().unwrap_or(Path::new("."));
            let named = receipt::bench_name(folder);
            let bench = locate::bench(asked.or(named.as_deref()).unwrap_or(DEFAULT_BENCH))?;
            let receipt = receipt::read(folder).and_then(Result::ok);
            let deep = path.file_name().is_some_and(|name| name == DEEP_FILE);
            let expect = match receipt.filter(|_| deep) {
                Some((receipt, _)) => Expect::Depth(Depth(receipt.settings.depth)),
                None => Expect::Submission,
            };
            match read_ranks(&name, &bytes, &bench, expect) {
                Ok(ranks) => {
                    let queries = counted(ranks.rankings.iter().len(), "query");
                    found.held(path, format!("rank file of `{}`, {queries}", ranks.method_id));
                    found.warnings.extend(ranks.warnings);
                }
                Err(errors) => found.add(errors),
            }
        }
        _ => {
            return Err(anyhow!(
                "{name}: not a file that `check` knows; expected a folder, .tsv, .json, .jsonl, .toml, .run, .trec or .qrels"
            ));
        }
    }
    Ok(())
}

/// Candidates, queries or skills, whichever the keys of the first row say; candidates if none.
fn jsonl(path: &Path, bytes: &[u8], found: &mut Findings) {
    let name = path.display().to_string();
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let row: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(first).unwrap_or_default();
    let has = |keys: &[&str]| keys.iter().any(|&key| row.contains_key(key));
    let read = if has(&["query_case_id"]) {
        parse_queries(&name, bytes).map(|queries| counted(queries.len(), "query"))
    } else if has(&["id", "skill_id", "name", "description", "body", "content", "skill_md"]) {
        parse_skill_jsonl(&name, bytes).map(|scan| counted(scan.skills.len(), "skill"))
    } else {
        parse_candidates(&name, bytes, "pool").map(|pool| counted(pool.len(), "candidate"))
    };
    match read {
        Ok(rows) => found.held(path, rows),
        Err(errors) => found.add(errors),
    }
}

/// What kind of file the name says, in lower case: of `my.run.gz` it is `run`.
fn extension(path: &Path) -> String {
    let of = |path: &Path| {
        path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    match of(path).as_str() {
        "gz" | "zst" => of(&path.with_extension("")),
        extension => extension.to_owned(),
    }
}

/// Whether a TOML file has one of these keys at its top, by its lines: it may be broken.
fn has_key(bytes: &[u8], keys: &[&str]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let top = text.lines().take_while(|line| !line.trim_start().starts_with('['));
    let mut found = top.filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim());
    found.any(|key| keys.contains(&key))
}

/// An experiment has a benchmark and methods, and a method card has neither.
fn is_experiment(bytes: &[u8]) -> bool {
    has_key(bytes, &["bench", "methods"])
}

/// What a submission declares is in no method card's top.
fn is_declaration(bytes: &[u8]) -> bool {
    has_key(bytes, &["method_name", "information_setting", "code_commit"])
}

fn one_candidate() -> anyhow::Result<Pool> {
    let candidate = Candidate { id: "c".into(), text: "text".into(), name: None };
    Ok(Pool::new("one", vec![candidate])?)
}
