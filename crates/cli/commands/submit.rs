//! `cleanhit submit`: a submission folder.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{Diagnostic, Setting as _};
use cleanhit_eval::files::{CARD_SCHEMA, InformationSetting, MethodCard, check_submission};
use cleanhit_io::sha256_hex;
use serde::Deserialize;

use super::Verdict;
use crate::{
    locate, ranking,
    results::{self, Scoring},
    scored::Ranks,
    ui::Ui,
};

/// Make a submission folder of a rank file and a declaration
///
/// The declaration is a JSON method card, or a TOML file with the same fields; fields that
/// follow from the rank file (schema, rank_file, rank_sha256, metrics_file) may be left
/// out. The folder holds top20.tsv, method_card.json, metrics.json, intervals.json and,
/// where there is one, the receipt, and passes `cleanhit check`.
///
/// Examples:
///   cleanhit submit out/rrf -o submission
///   cleanhit submit my-ranks.tsv --card my-card.toml -o submission
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// A rank file of depth 20, or a method's folder
    #[arg(value_name = "RANKS")]
    ranks: PathBuf,
    /// The declaration [default: method_card.json beside the rank file]
    #[arg(long, value_name = "CARD")]
    card: Option<PathBuf>,
    /// A bundled benchmark's name, or a folder [default: what the receipt names]
    #[arg(short, long, value_name = "BENCH")]
    bench: Option<String>,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// A declaration, with what follows from the rank file left open.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    schema: Option<String>,
    method_id: Option<String>,
    method_name: String,
    information_setting: String,
    code_url: String,
    code_commit: String,
    checkpoint: String,
    training_data: String,
    development_use: String,
    preprocessing: String,
    compute: String,
    rank_file: Option<String>,
    rank_sha256: Option<String>,
    metrics_file: Option<String>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let (bench, cases) = results::bench_and_cases_of(&args.ranks, args.bench.as_deref())?;
    let ranks = Ranks::read(&args.ranks, &bench, false, ui)?;
    if ranks.file.rankings.depth().get() != 20 {
        bail!(
            "{}: depth {}; a submission keeps 20 hits for each query",
            ranks.path.display(),
            ranks.file.rankings.depth().get()
        );
    }
    let bytes = locate::read(&ranks.path)?;
    let sha256 = sha256_hex(&bytes);
    let source = match &args.card {
        Some(card) => card.clone(),
        None => ranks.path.with_file_name("method_card.json"),
    };
    if !source.is_file() {
        bail!("{}: no such card; `--card` names one", source.display());
    }
    let card = declared(&source, &ranks.file.method_id, &sha256)?;
    if let Some(receipt) = &ranks.receipt
        && receipt.information_setting != card.information_setting
    {
        bail!(
            "{}: field `information_setting`: `{}`; expected `{}`, as {} has it",
            source.display(),
            card.information_setting,
            receipt.information_setting,
            ranks.path.with_file_name("receipt.json").display()
        );
    }
    let taken = match args.output.read_dir() {
        Ok(mut dir) => dir.next().is_some(),
        Err(_) => args.output.exists(),
    };
    if taken {
        bail!("{}: is there and not an empty folder; expected a new one", args.output.display());
    }
    let draft = draft_beside(&args.output)?;
    ranking::write(&draft.path().join(&card.rank_file), &bytes)?;
    ranking::write(&draft.path().join("method_card.json"), &card.write())?;
    if ranks.receipt.is_some() {
        let receipt = locate::read(&ranks.path.with_file_name("receipt.json"))?;
        ranking::write(&draft.path().join("receipt.json"), &receipt)?;
    }
    let scoring = Scoring::stock(&bench, &cases);
    scoring.score_to(draft.path(), card.clone(), &ranks.file.rankings, None)?;
    // What was written is read back as anyone else would read it; only then is it a submission.
    if let Err(mut errors) = check_submission(&results::on_disk(draft.path()), &bench, &cases) {
        for error in &mut errors {
            let name = Path::new(&error.file).file_name().map(|name| args.output.join(name));
            error.file = name.map_or(error.file.clone(), |name| name.display().to_string());
        }
        return Err(locate::first(&errors));
    }
    publish(draft, &args.output)?;
    ui.note(&format!("wrote {}; `cleanhit check {0}` accepts it", args.output.display()));
    if ui.json {
        ui.out_json(&card)?;
    }
    Ok(Verdict::Done)
}

/// A folder that is gone when it is dropped, on the same disk as `output`.
fn draft_beside(output: &Path) -> anyhow::Result<tempfile::TempDir> {
    let parent = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = || format!("cannot write {}", output.display());
    std::fs::create_dir_all(parent).with_context(failed)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".submission.").suffix(".tmp");
    // Temporary folders are private to the user; a submission is as readable as other folders.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o777)); // less the user's mask
    }
    builder.tempdir_in(parent).with_context(failed)
}

/// Gives the draft its name; an empty folder of that name makes room.
fn publish(draft: tempfile::TempDir, output: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", output.display());
    if output.is_dir() {
        std::fs::remove_dir(output).with_context(failed)?;
    }
    std::fs::rename(draft.path(), output).with_context(failed)?;
    // Its name is gone: there is nothing to remove.
    let _ = draft.keep();
    Ok(())
}

/// Checks a declaration by itself, before there is a rank file; returns the method's name.
pub(crate) fn check_declaration(source: &Path) -> anyhow::Result<String> {
    let found = read_declaration(source)?;
    let (id, sha256) = (found.method_id.clone(), found.rank_sha256.clone());
    let sha256 = sha256.unwrap_or_else(|| sha256_hex(b""));
    Ok(card_of(found, source, id.as_deref().unwrap_or("method"), &sha256)?.method_name)
}

fn declared(source: &Path, method_id: &str, sha256: &str) -> anyhow::Result<MethodCard> {
    card_of(read_declaration(source)?, source, method_id, sha256)
}

fn read_declaration(source: &Path) -> anyhow::Result<Declaration> {
    let file = source.display().to_string();
    let bytes = locate::read(source)?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("{file}: not UTF-8"))?;
    let is_json = source.extension().is_some_and(|extension| extension == "json");
    Ok(match is_json {
        true => {
            serde_json::from_str(&text).map_err(|err| locate::json_error(source, &text, &err))?
        }
        false => toml::from_str(&text).map_err(|err| locate::toml_error(&file, &text, &err))?,
    })
}

fn card_of(
    found: Declaration,
    source: &Path,
    method_id: &str,
    sha256: &str,
) -> anyhow::Result<MethodCard> {
    let file = source.display().to_string();
    let same = |field: &str, found: Option<String>, expected: &str| match found {
        Some(found) if found != expected => {
            bail!("{file}: field `{field}`: `{found}`; expected `{expected}`, or leave it out")
        }
        _ => Ok(expected.to_owned()),
    };
    let setting: InformationSetting =
        found.information_setting.parse().map_err(|err| anyhow!("{file}: {err}"))?;
    if setting.card() == Diagnostic::NAME {
        bail!(
            "{file}: a sanity method is no submission; expected an information setting that is ranked"
        );
    }
    let card = MethodCard {
        schema: same("schema", found.schema, CARD_SCHEMA)?,
        method_id: same("method_id", found.method_id, method_id)?,
        method_name: found.method_name,
        information_setting: setting.card().to_owned(),
        code_url: found.code_url,
        code_commit: found.code_commit,
        checkpoint: found.checkpoint,
        training_data: found.training_data,
        development_use: found.development_use,
        preprocessing: found.preprocessing,
        compute: found.compute,
        rank_file: same("rank_file", found.rank_file, "top20.tsv")?,
        rank_sha256: same("rank_sha256", found.rank_sha256, sha256)?,
        metrics_file: same("metrics_file", found.metrics_file, "metrics.json")?,
    };
    // Empty fields and the like are found by the reader of the finished card.
    MethodCard::read(&file, &card.write()).map_err(|errors| locate::first(&errors))
}
