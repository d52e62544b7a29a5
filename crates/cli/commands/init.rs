//! `cleanhit init`: an experiment file with every setting spelled out.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::Verdict;
use crate::{experiment::Experiment, locate, ranking, ui::Ui};

/// Write an experiment file with every setting spelled out
///
/// Examples:
///   cleanhit init
///   cleanhit init my-experiment.toml --bench ./my-bench
///   cleanhit run my-experiment.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The file to write; `-` writes to stdout
    #[arg(value_name = "FILE", default_value = "experiment.toml")]
    file: PathBuf,
    /// The benchmark it names
    #[arg(short, long, value_name = "BENCH")]
    bench: Option<String>,
    /// Name every built-in method, alone and with every selector
    #[arg(long)]
    all: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let mut experiment = Experiment::stock()?;
    if args.all {
        experiment.use_all_methods();
    }
    if let Some(named) = &args.bench {
        experiment.use_bench(named, &locate::bench(named)?);
    }
    let text = experiment.to_text()?;
    if args.file.as_os_str() == "-" {
        match ui.json {
            true => ui.out_json(&json!({ "experiment": text }))?,
            false => ui.out_file(&text)?,
        }
        return Ok(Verdict::Done);
    }
    if args.file.exists() && !args.force {
        bail!("{}: exists already; `--force` replaces it", args.file.display());
    }
    ranking::write(&args.file, text.as_bytes())?;
    ui.note(&format!("wrote {0}; run it with `cleanhit run {0}`", args.file.display()));
    if ui.json {
        ui.out_json(&json!({ "output": args.file, "experiment": text }))?;
    }
    Ok(Verdict::Done)
}
