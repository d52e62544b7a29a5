//! `cleanhit bench`: authoring units, admitting them, freezing them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_eval::units::{
    Authoring, Bound, ConflictType, FreezeError, bind, freeze, gate, new_unit,
};
use serde_json::json;

use super::Verdict;
use crate::{bundled, locate, ranking, ui::Ui};

/// Author a benchmark: new units, the admission gate, frozen files
///
/// A benchmark's folder holds `authoring.toml` and `units/`. See docs/authoring.md.
///
/// Examples:
///   cleanhit bench new ./queries/mine --type computation_rule --id stats-sample-variance
///   cleanhit bench check ./queries/mine
///   cleanhit bench bind ./queries/mine/units/stats-sample-variance.toml
///   cleanhit bench freeze ./queries/mine
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// Write the skeleton of a unit; in an empty folder, of a benchmark too
    New {
        /// The benchmark's folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The conflict type, which decides mechanism and stratum
        #[arg(long = "type", value_name = "TYPE")]
        conflict_type: String,
        /// The unit's id, in kebab case
        #[arg(long, value_name = "ID")]
        id: String,
    },
    /// Run the admission gate; exit code 1 if a rule does not hold
    Check {
        /// The benchmark's folder [default: the bundled benchmark]
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Record that units were read as they now are: writes their evidence hash
    Bind {
        /// Unit files
        #[arg(value_name = "UNIT", required = true)]
        units: Vec<PathBuf>,
    },
    /// Write the frozen pools, queries, cases, families and bench.toml
    Freeze {
        /// The benchmark's folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::New { dir, conflict_type, id } => new(dir, conflict_type, id, ui),
        Command::Check { dir: Some(dir) } => check(dir, ui),
        Command::Check { dir: None } => {
            let unpacked = bundled::unpack_authoring()?;
            check(&unpacked.path().join("queries").join(bundled::DEFAULT_BENCH), ui)
        }
        Command::Bind { units } => bind_all(units, ui),
        Command::Freeze { dir } => freeze_to(dir, ui),
    }
}

fn load(dir: &Path) -> anyhow::Result<Authoring> {
    Authoring::load(dir).map_err(|err| anyhow!("{err}"))
}

fn new(dir: &Path, conflict_type: &str, id: &str, ui: &Ui) -> anyhow::Result<Verdict> {
    let conflict_type: ConflictType = conflict_type.parse().map_err(|err| anyhow!("{err}"))?;
    let slug = !id.is_empty()
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !id.starts_with('-')
        && !id.ends_with('-');
    if !slug {
        bail!("`--id {id}`: expected kebab case, such as `stats-sample-variance`");
    }
    let unit = dir.join("units").join(format!("{id}.toml"));
    if unit.exists() {
        bail!("{}: exists already; expected a new id", unit.display());
    }
    let config = dir.join("authoring.toml");
    if !config.exists() {
        let name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
        let text = bundled::starter_authoring(&name.context("expected a folder with a name")?)?;
        let background = dir.join("background");
        std::fs::create_dir_all(&background)
            .with_context(|| format!("cannot make {}", background.display()))?;
        ranking::write(&config, text.as_bytes())?;
        ui.note(&format!("wrote {}: name and limits are yours to set", config.display()));
    }
    let text = new_unit(conflict_type.stratum(), conflict_type, id);
    ranking::write(&unit, text.as_bytes())?;
    if ui.json {
        ui.out_json(&json!({ "unit": unit, "authoring": config }))?;
    }
    ui.note(&format!(
        "wrote {}; write it, then run `cleanhit bench check {}`",
        unit.display(),
        dir.display()
    ));
    Ok(Verdict::Done)
}

fn check(dir: &Path, ui: &Ui) -> anyhow::Result<Verdict> {
    let authoring = load(dir)?;
    let mut report = gate::check(&authoring);
    report.checks.extend(cleanhit_train::blind::audit(&authoring).checks(&authoring));
    match ui.json {
        true => ui.out_json(&report)?,
        false => ui.out(&format!("{report}\n"))?,
    }
    Ok(if report.passed() { Verdict::Done } else { Verdict::Failed })
}

fn bind_all(units: &[PathBuf], ui: &Ui) -> anyhow::Result<Verdict> {
    let mut bound = Vec::new();
    for unit in units {
        let hash = match bind(unit).map_err(|errors| locate::first(&errors))? {
            Bound::Now(hash) => {
                ui.note(&format!("{}: bound to {hash}", unit.display()));
                Some(hash)
            }
            Bound::Already => {
                ui.note(&format!("{}: bound already", unit.display()));
                None
            }
        };
        bound.push(json!({ "unit": unit, "bound_to": hash }));
    }
    if ui.json {
        ui.out_json(&json!({ "units": bound }))?;
    }
    Ok(Verdict::Done)
}

fn freeze_to(dir: &Path, ui: &Ui) -> anyhow::Result<Verdict> {
    let authoring = load(dir)?;
    let frozen = match freeze(&authoring) {
        Ok(frozen) => frozen,
        Err(FreezeError::Gate(report)) => {
            match ui.json {
                true => ui.out_json(&report)?,
                false => ui.out(&format!("{report}\n"))?,
            }
            ui.note("the gate refuses the set; nothing was written");
            return Ok(Verdict::Failed);
        }
        Err(err) => return Err(anyhow!("{err}")),
    };
    frozen.write(&authoring).map_err(|err| anyhow!("{err}"))?;
    for file in frozen.files() {
        ui.note(&format!("wrote {}", dir.join(&file.path).display()));
    }
    if ui.json {
        let files: Vec<_> = frozen.files().iter().map(|file| dir.join(&file.path)).collect();
        ui.out_json(&json!({ "files": files }))?;
    }
    Ok(Verdict::Done)
}
