//! A rank file and what it scores: shared by the commands that read rank files.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use cleanhit_core::{Cutoff, Depth};
use cleanhit_eval::{By, Cases, Cutoffs, EvalError, Evaluation, plain};
use cleanhit_io::{Benchmark, Expect, InputError, RankFile, is_there, read_ranks, read_regular};

use crate::{locate, receipt::Receipt, ui::Ui};

/// A rank file as read.
pub(crate) struct Ranks {
    pub(crate) path: PathBuf,
    pub(crate) file: RankFile,
    /// As method cards write it; none where no card lies beside the file.
    pub(crate) setting: Option<String>,
    /// The receipt beside it, if there is one.
    pub(crate) receipt: Option<Receipt>,
}

impl Ranks {
    /// Reads a rank file or a method's folder. `partial` accepts missing queries and rows.
    pub(crate) fn read(
        argument: &Path,
        bench: &Benchmark,
        partial: bool,
        ui: &Ui,
    ) -> anyhow::Result<Ranks> {
        let path = locate::rank_file(argument)?;
        let bytes = locate::read(&path)?;
        if is_trec_run(&bytes) {
            bail!(
                "{}: is a TREC run, which `score --qrels FILE` and `compare --qrels FILE` read; \
                 expected a rank file, which `cleanhit import trec` makes of a run",
                path.display()
            );
        }
        let receipt = beside(&path, "receipt.json")?
            .map(|text| Receipt::parse(&path.with_file_name("receipt.json"), &text))
            .transpose()?;
        let slice = receipt.as_ref().and_then(|receipt| receipt.slice(bench));
        match slice {
            Some(slice) if partial => ui.warn(&format!("{}: is {slice}", path.display())),
            Some(slice) => bail!(
                "{}: is {slice}; expected every query, which `cleanhit rank` answers without `--queries` and `--only`",
                path.display()
            ),
            None => {}
        }
        let expect = match (&receipt, partial) {
            (_, true) => Expect::Any,
            (Some(receipt), false) => Expect::Depth(Depth(receipt.settings.depth)),
            (None, false) => Expect::Submission,
        };
        let name = path.display().to_string();
        let file =
            read_ranks(&name, &bytes, bench, expect).map_err(|errors| locate::first(&errors))?;
        match &file.warnings[..] {
            [] => {}
            [only] => ui.warn(only),
            [first, rest @ ..] => ui.warn(&format!("{first} (and {} more)", rest.len())),
        }
        let setting = match &receipt {
            Some(receipt) => Some(receipt.information_setting.clone()),
            None => declared_setting(&path)?,
        };
        Ok(Ranks { path, file, setting, receipt })
    }

    /// The file's scores.
    pub(crate) fn evaluate<'a>(
        &self,
        cases: &'a Cases,
        bench: &Benchmark,
        cutoffs: &Cutoffs,
    ) -> anyhow::Result<Evaluation<'a>> {
        Evaluation::new(cases, bench, &self.file.rankings, cutoffs).map_err(|err| {
            let path = self.path.display();
            match &err {
                EvalError::TooDeep { cutoff, pool_size, depth, .. } => {
                    let most = depth.get().min(*pool_size);
                    anyhow!("`-k {}`: {path}: {err}; expected at most {most}", cutoff.0)
                }
                _ => anyhow!("{path}: {err}"),
            }
        })
    }
}

/// Whether a file is a TREC run, by its first line, whatever it is packed in.
fn is_trec_run(bytes: &[u8]) -> bool {
    let plain = cleanhit_io::unpacked("", bytes.to_vec()).unwrap_or_default();
    let line = plain.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [_, _, _, rank, score, _] => rank.parse::<i64>().is_ok() && score.parse::<f64>().is_ok(),
        _ => false,
    }
}

/// The text of a file beside `path`, if there is one.
fn beside(path: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let path = path.with_file_name(name);
    if !is_there(&path) {
        return Ok(None);
    }
    let text = String::from_utf8(read_regular(&path)?);
    let text =
        text.map_err(|_| InputError::new(path.display(), "is not UTF-8").expected("text"))?;
    Ok(Some(text))
}

fn declared_setting(ranks: &Path) -> anyhow::Result<Option<String>> {
    let path = ranks.with_file_name("method_card.json");
    if !is_there(&path) {
        return Ok(None);
    }
    let bytes = read_regular(&path)?;
    let card = cleanhit_eval::files::MethodCard::read(&path.display().to_string(), &bytes)
        .map_err(|errors| locate::first(&errors))?;
    Ok(Some(card.information_setting.to_string()))
}

/// The measures asked for, each once.
pub(crate) fn measures(list: &str) -> anyhow::Result<Vec<plain::Measure>> {
    let measures = plain::Measure::parse_list(list).map_err(|err| anyhow!("`-M {list}`: {err}"))?;
    for (i, measure) in measures.iter().enumerate() {
        if measures[..i].contains(measure) {
            bail!("`-M {list}`: {measure} is asked for twice; expected each measure once");
        }
    }
    Ok(measures)
}

/// The cutoffs asked for, each once.
pub(crate) fn cutoffs(k: &[std::num::NonZeroU32]) -> anyhow::Result<Cutoffs> {
    for (i, cutoff) in k.iter().enumerate() {
        if k[..i].contains(cutoff) {
            bail!("`-k`: {cutoff} is asked for twice; expected each cutoff once");
        }
    }
    Cutoffs::new(k.iter().copied().map(Cutoff)).map_err(|err| anyhow!("{err}"))
}

/// The breakdown a flag names.
pub(crate) fn breakdown(by: crate::commands::score::By) -> By {
    match by {
        crate::commands::score::By::Stratum => By::Stratum,
        crate::commands::score::By::Mechanism => By::Mechanism,
        crate::commands::score::By::Type => By::ConflictType,
        crate::commands::score::By::Source => By::Source,
    }
}
