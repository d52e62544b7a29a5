//! A submission, or a results folder of several.

use std::path::{Path, PathBuf};

use cleanhit_eval::{
    Cases,
    files::{Leaderboard, LeaderboardRow, MethodCard, ResultStatus, Submission, check_results},
};
use cleanhit_io::{Benchmark, InputError, is_there, read_ranks, read_regular};

use super::{
    Findings,
    remade::{self, Remade},
    whole::{self, Whole},
};
use crate::{
    Registry, bundled::DEFAULT_BENCH, folder::MethodFolder, locate, receipt, receipt::Receipt,
    results, ui::Ui,
};

/// What every folder is checked against.
pub(super) struct Against<'a> {
    pub(super) registry: &'a Registry,
    pub(super) bench: &'a Benchmark,
    /// None where the benchmark has no labels.
    pub(super) cases: Option<&'a Cases>,
    pub(super) ui: &'a Ui,
}

/// A method's folder that holds up.
pub(super) struct Sound {
    pub(super) submission: Submission,
    pub(super) receipt: Option<Receipt>,
    /// What its method gave when it was run again.
    pub(super) remade: Remade,
}

impl Sound {
    /// Its row of the leaderboard, if it has one.
    fn row(&self) -> Option<LeaderboardRow> {
        let Submission { card, metrics, intervals, .. } = &self.submission;
        LeaderboardRow::new(card, metrics, intervals.as_ref(), VERIFIED)
    }
}

/// How far a row is verified that holds up here.
const VERIFIED: ResultStatus = ResultStatus::MetricRecomputed;

pub(super) fn check(
    path: &Path,
    asked: Option<&str>,
    registry: &Registry,
    ui: &Ui,
    found: &mut Findings,
) -> anyhow::Result<()> {
    let folders = results::method_folders(path)?;
    let bench = bench_of(&folders, asked, found)?;
    let cases = match &bench.labels {
        Some(_) => Some(Cases::read(&bench).map_err(|errors| locate::first(&errors))?),
        None => None,
    };
    let against = Against { registry, bench: &bench, cases: cases.as_ref(), ui };
    let whole = Whole::read(path, &folders, found);
    let mut sound: Vec<Sound> = Vec::new();
    let bar = ui.bar(folders.len(), "checking");
    for folder in &folders {
        sound.extend(against.folder(folder, path, &whole, found));
        bar.inc(1);
    }
    bar.finish_and_clear();
    whole.settings(&sound, &bench, found);
    let file = path.join("leaderboard.tsv");
    if is_there(&file) {
        let rows = sound.iter().filter_map(Sound::row).collect();
        leaderboard(&file, path, rows, &whole, found)?;
    }
    if let Some(cases) = &cases {
        whole.report(&sound, &bench, cases, found)?;
    }
    Ok(())
}

/// The benchmark that is asked for, else the first that a receipt names and that can be opened.
fn bench_of(
    folders: &[PathBuf],
    asked: Option<&str>,
    found: &mut Findings,
) -> anyhow::Result<Benchmark> {
    if let Some(asked) = asked {
        return locate::bench(asked);
    }
    let mut refused = None;
    for folder in folders {
        let Some(name) = receipt::bench_name(folder) else { continue };
        match locate::bench(&name) {
            Ok(bench) => return Ok(bench),
            Err(error) => refused = refused.or(Some((folder, name, error))),
        }
    }
    if let Some((folder, name, error)) = refused {
        let folder = folder.display();
        return Err(error.context(format!(
            "{folder}: its receipt names benchmark `{name}`; `-b` says where that is"
        )));
    }
    if folders.iter().any(|folder| is_there(&folder.join("receipt.json"))) {
        found.warnings.push(format!(
            "no receipt says which benchmark it is of; checked against `{DEFAULT_BENCH}`, `-b` names another"
        ));
    }
    locate::bench(DEFAULT_BENCH)
}

impl Against<'_> {
    /// Checks a folder of `top`; what is in it, if it holds up and has metrics.
    fn folder(
        &self,
        path: &Path,
        top: &Path,
        whole: &Whole,
        found: &mut Findings,
    ) -> Option<Sound> {
        let mut errors = Vec::new();
        let folder = MethodFolder::read(path, &mut errors);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let listed = path != top && whole.lists(&name);
        // A submission, which `submit` wrote, may declare what it wants and has no times.
        let made_here = listed || is_there(&path.join("timing.json"));
        errors.extend(missing(path, listed));
        let mut sound = None;
        let metrics = path.join("metrics.json");
        let how = match self.cases {
            // What `rank` writes is no submission.
            _ if folder.receipt.is_some() && !is_there(&metrics) => {
                self.ranks_alone(&folder, &mut errors, found);
                "ranks read"
            }
            None => {
                let error = InputError::new(metrics.display(), "cannot be computed again");
                errors.push(error.expected(format!("labels in {}", self.bench.manifest())));
                ""
            }
            Some(cases) => {
                let dir = results::on_disk(path);
                match check_results(&dir, self.bench, cases, folder.rows()) {
                    Err(more) => {
                        // A receipt that can't be read has been reported.
                        let known = errors.first().map(|error| error.file.clone());
                        let new = |error: &InputError| known.as_ref() != Some(&error.file);
                        errors.extend(more.into_iter().filter(new));
                    }
                    Ok(submission) => {
                        found.warnings.extend(submission.warnings.iter().cloned());
                        if folder.receipt.is_none() {
                            errors.extend(folder.setting_error(&submission.card));
                        }
                        sound = Some(submission);
                    }
                }
                "metrics computed again"
            }
        };
        let remade = remade::check(self, &folder, made_here, &mut errors, found);
        let id = &sound.as_ref().map_or(&*name, |submission| &submission.card.method_id);
        if made_here && path != top && *id != name {
            let error = InputError::new(path.display(), format!("is the folder of method `{id}`"));
            errors.push(error.expected(format!("`{id}` as its name")));
        }
        if !errors.is_empty() {
            found.add(errors);
            return None;
        }
        let slice = folder.receipt.as_ref().and_then(|(receipt, _)| receipt.slice(self.bench));
        found.warnings.extend(slice.map(|slice| format!("{}: is {slice}", path.display())));
        match &remade {
            Remade::Same(_) => found.held(path, "ranks made again, byte for byte"),
            Remade::Near => found.held(path, "ranks made again, but for rounding"),
            Remade::Not if folder.receipt.is_some() => {
                found.held(path, format!("{how}, not made again"));
            }
            Remade::Not => found.held(path, how),
        }
        let receipt = folder.receipt.map(|(receipt, _)| receipt);
        Some(Sound { submission: sound?, receipt, remade })
    }

    fn ranks_alone(
        &self,
        folder: &MethodFolder<'_>,
        errors: &mut Vec<InputError>,
        found: &mut Findings,
    ) {
        let card_file = folder.path.join("method_card.json");
        let card = read_regular(&card_file)
            .map_err(|error| vec![error])
            .and_then(|bytes| MethodCard::read(&card_file.display().to_string(), &bytes));
        let ranks_file = folder.path.join(&folder.ranks);
        let ranks = read_regular(&ranks_file).map_err(|error| vec![error]).and_then(|bytes| {
            read_ranks(&ranks_file.display().to_string(), &bytes, self.bench, folder.rows())
        });
        if let (Ok(card), Ok(ranks)) = (&card, &ranks) {
            for (field, stated, is) in [
                ("method_id", &card.method_id, &ranks.method_id),
                ("rank_sha256", &card.rank_sha256, &ranks.sha256),
            ] {
                if stated != is {
                    let error = InputError::new(card_file.display(), format!("is `{stated}`"));
                    errors.push(error.field(field).expected(format!("`{is}`")));
                }
            }
        }
        errors.extend(card.err().into_iter().flatten());
        match ranks {
            // The queries that a slice leaves out are no surprise.
            Ok(_) if folder.is_slice() => {}
            Ok(ranks) => found.warnings.extend(ranks.warnings),
            Err(more) => errors.extend(more),
        }
    }
}

/// Files that must be in a method's folder and are not. What `run` wrote has metrics, intervals
/// and a receipt; what `rank` wrote has a receipt alone.
fn missing(path: &Path, listed: bool) -> Vec<InputError> {
    let there = |name: &str| is_there(&path.join(name));
    let receipt = there("receipt.json");
    let scored = ["intervals.json", "selection.json"].into_iter().any(there);
    let mut names = Vec::new();
    if listed && !receipt {
        names.push("receipt.json");
    }
    if !there("metrics.json") && receipt && (listed || scored) {
        names.push("metrics.json");
    }
    if !there("intervals.json") && receipt && (listed || there("metrics.json")) {
        names.push("intervals.json");
    }
    let error = |name: &str| {
        let error = InputError::new(path.join(name).display(), "no such file");
        error.expected("a file that is there")
    };
    names.into_iter().map(error).collect()
}

/// A leaderboard follows from the folders that it lists. A folder that is not on it was there
/// before; one that the experiment beside it names must be on it.
fn leaderboard(
    file: &Path,
    path: &Path,
    mut rows: Vec<LeaderboardRow>,
    whole: &Whole,
    found: &mut Findings,
) -> anyhow::Result<()> {
    let read = read_regular(file).map_err(|error| vec![error]);
    let read =
        read.and_then(|bytes| Ok((Leaderboard::read(&file.display().to_string(), &bytes)?, bytes)));
    let (board, bytes) = match read {
        Ok(read) => read,
        Err(errors) => {
            found.add(errors);
            return Ok(());
        }
    };
    for row in board.rows().iter().filter(|row| VERIFIED < row.status) {
        let problem = format!("`{}` has status `{}`", row.method_id, row.status);
        let error = InputError::new(file.display(), problem).field("result_status");
        found.add(vec![error.expected(format!("at most `{VERIFIED}`, which is what was checked"))]);
    }
    if !found.violations.is_empty() {
        return Ok(());
    }
    let listed =
        |row: &LeaderboardRow| board.rows().iter().find(|other| other.method_id == row.method_id);
    let (on, off): (Vec<_>, Vec<_>) = rows.drain(..).partition(|row| listed(row).is_some());
    for row in &off {
        let what = format!("{}: does not list method `{}`", file.display(), row.method_id);
        match whole.lists(&row.method_id) {
            true => found.violations.push(format!("{what}; {} names it", whole::EXPERIMENT)),
            false => found.warnings.push(format!("{what}, which has a folder beside it")),
        }
    }
    // A board may say less of a row than was found here.
    let as_stated = |row: LeaderboardRow| match listed(&row).map(|other| other.status) {
        Some(status) => LeaderboardRow { status, ..row },
        None => row,
    };
    let expected = Leaderboard::new(on.into_iter().map(as_stated).collect()).write();
    if expected != bytes {
        let line = remade::first_difference(&bytes, &expected);
        found.violations.push(format!(
            "{}:{line}: is not the leaderboard of the folders beside it; expected what `cleanhit leaderboard {}` writes",
            file.display(),
            path.display()
        ));
    } else if found.violations.is_empty() {
        found.held(file, "follows from the folders");
    }
    Ok(())
}
