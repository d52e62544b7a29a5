//! `cleanhit check`: does a file or a folder hold up?

mod file;
mod folders;
mod near;
mod remade;
mod whole;

use std::path::{Path, PathBuf};

use anyhow::bail;
use cleanhit_eval::{Cases, Families};
use cleanhit_io::{Benchmark, Folder, InputError, counted, printable};
use serde_json::json;

use super::Verdict;
use crate::{Registry, ui::Ui};

/// Validate a benchmark, rank file, submission, card or results folder
///
/// Every violation is reported, with its file and line; exit code 1 if there is one. Of a
/// method's folder the metrics and intervals are computed again and the hashes compared;
/// with a receipt, the ranks are made again and compared byte for byte, and so is the receipt.
/// A model's ranks may differ by the rounding of another device, which is a warning.
///
/// Examples:
///   cleanhit check cleanhit-out/samecap-mini
///   cleanhit check submission -b ./my-bench
///   cleanhit check my-ranks.tsv
///   cleanhit check ./my-bench
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// What to check
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// A bundled benchmark's name, or a folder [default: what the receipt names]
    #[arg(short, long, value_name = "BENCH")]
    bench: Option<String>,
}

/// What was checked and what was found.
#[derive(Default)]
struct Findings {
    /// One line for each thing that holds up.
    held: Vec<String>,
    violations: Vec<String>,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Args, registry: &Registry, ui: &Ui) -> anyhow::Result<Verdict> {
    let path = &args.path;
    if !path.exists() {
        bail!("{}: no such file or folder", path.display());
    }
    let mut found = Findings::default();
    let asked = args.bench.as_deref();
    if path.is_dir() {
        if path.join("bench.toml").is_file() || path.join("benchmark/FREEZE_GATE.json").is_file() {
            bench(path, &mut found);
        } else {
            folders::check(path, asked, registry, ui, &mut found)?;
        }
    } else {
        file::check(path, asked, registry, &mut found)?;
    }
    for warning in &found.warnings {
        ui.warn(warning);
    }
    if ui.json {
        ui.out_json(&json!({
            "path": path,
            "ok": found.violations.is_empty(),
            "held": found.held,
            "warnings": found.warnings,
            "violations": found.violations,
        }))?;
    } else {
        let lines = found.held.iter().map(|line| format!("ok    {line}\n"));
        let lines = lines.chain(found.violations.iter().map(|line| format!("FAIL  {line}\n")));
        ui.out(&lines.collect::<String>())?;
        if !found.violations.is_empty() {
            ui.note(&counted(found.violations.len(), "violation"));
        }
    }
    Ok(if found.violations.is_empty() { Verdict::Done } else { Verdict::Failed })
}

impl Findings {
    fn add(&mut self, errors: Vec<InputError>) {
        self.violations.extend(errors.iter().map(ToString::to_string));
    }

    fn refuse(&mut self, error: &anyhow::Error) {
        self.violations.push(printable(&format!("{error:#}")));
    }

    fn held(&mut self, path: &Path, what: impl std::fmt::Display) {
        self.held.push(format!("{}: {what}", path.display()));
    }
}

fn bench(path: &Path, found: &mut Findings) {
    let bench = match Benchmark::check(Folder::Disk(path.to_owned())) {
        Ok(bench) => bench,
        Err(errors) => return found.add(errors),
    };
    found.add(bench.verify_all());
    if bench.labels.is_some()
        && let Err(errors) = Cases::read(&bench)
    {
        found.add(errors);
    }
    if bench.families.is_some()
        && let Err(errors) = Families::read(&bench)
    {
        found.add(errors);
    }
    if found.violations.is_empty() {
        let pools = counted(bench.pools.len(), "pool");
        let queries = counted(bench.n_queries(), "query");
        found.held(path, format!("benchmark `{}`, {pools}, {queries}", bench.name));
    }
}
