//! A results folder as a whole: the experiment and the report follow from the methods' folders.

use std::path::{Path, PathBuf};

use cleanhit_core::Cutoff;
use cleanhit_eval::{Cases, Cutoffs, files::ResultStatus};
use cleanhit_io::{Benchmark, InputError, is_there, read_regular};

use super::{
    Findings,
    folders::Sound,
    remade::{self, Remade},
};
use crate::{
    cards,
    experiment::Experiment,
    locate, report,
    results::{self, Scoring},
    sight,
};

/// The experiment that a results folder is of.
pub(super) const EXPERIMENT: &str = "experiment.toml";

const REPORT: &str = "report.md";

/// What `run` wrote beside the methods' folders.
pub(super) struct Whole {
    path: PathBuf,
    experiment: Option<Experiment>,
    /// The experiment's methods, in its order; none where a card is not at hand.
    methods: Vec<Option<String>>,
}

impl Whole {
    /// Reads the experiment, and notes which of the files that `run` writes are missing. A
    /// leaderboard beside submissions may stand alone.
    pub(super) fn read(path: &Path, folders: &[PathBuf], found: &mut Findings) -> Whole {
        let mut whole = Whole { path: path.to_owned(), experiment: None, methods: Vec::new() };
        if folders == [path.to_owned()] {
            return whole;
        }
        let there = |name: &str| is_there(&path.join(name));
        let run = |folder: &PathBuf| {
            ["timing.json", "metrics.json"].iter().all(|name| is_there(&folder.join(name)))
        };
        let by_run = there(EXPERIMENT)
            || there(REPORT)
            || (there("leaderboard.tsv") && folders.iter().any(run));
        if !by_run {
            return whole;
        }
        for name in [EXPERIMENT, REPORT, "leaderboard.tsv"].into_iter().filter(|n| !there(n)) {
            let error = InputError::new(path.join(name).display(), "no such file");
            found.add(vec![error.expected("the file that `cleanhit run` wrote here")]);
        }
        let file = path.join(EXPERIMENT);
        if !there(EXPERIMENT) {
            return whole;
        }
        let read = read_regular(&file).map_err(anyhow::Error::from).and_then(|bytes| {
            let file = file.display().to_string();
            Experiment::parse(&file, cleanhit_io::utf8(&file, &bytes)?)
        });
        match read {
            Ok(experiment) => {
                let id = |name: &String| match cards::MethodCard::find(name) {
                    Ok(card) => Some(card.method_id),
                    Err(_) if locate::is_path(name) => None,
                    Err(_) => Some(name.clone()),
                };
                whole.methods = experiment.methods.iter().map(id).collect();
                whole.experiment = Some(experiment);
            }
            Err(error) => found.refuse(&error),
        }
        whole
    }

    /// Whether the experiment names a method.
    pub(super) fn lists(&self, method_id: &str) -> bool {
        self.methods.iter().flatten().any(|method| method == method_id)
    }

    /// The experiment against the receipts and intervals of its methods.
    pub(super) fn settings(&self, sound: &[Sound], bench: &Benchmark, found: &mut Findings) {
        let Some(experiment) = &self.experiment else { return };
        let file = self.path.join(EXPERIMENT);
        let mut errors: Vec<InputError> = Vec::new();
        let mut differ = |field: &str, stated: String, is: String, of: &str| {
            if stated != is && !errors.iter().any(|error| error.field.as_deref() == Some(field)) {
                let error = InputError::new(file.display(), format!("is {stated}")).field(field);
                errors.push(error.expected(format!("{is}, as {of}")));
            }
        };
        if !locate::is_path(&experiment.bench) {
            let (stated, is) = (format!("`{}`", experiment.bench), format!("`{}`", bench.name));
            differ("bench", stated, is, "the receipts have it");
        }
        for one in sound.iter().filter(|one| self.lists(&one.submission.card.method_id)) {
            let id = &one.submission.card.method_id;
            if let Some(receipt) = &one.receipt {
                let (settings, of) = (&receipt.settings, format!("the receipt of `{id}` has it"));
                differ("depth", experiment.depth.to_string(), settings.depth.to_string(), &of);
                let ties = [&experiment.ties, &settings.ties].map(|ties| format!("`{ties}`"));
                let [stated, is] = ties;
                differ("ties", stated, is, &of);
            }
            if let Some(intervals) = &one.submission.intervals {
                let (ours, theirs) = (&experiment.intervals, &intervals.settings);
                let of = format!("the intervals of `{id}` have it");
                for (field, stated, is) in [
                    ("replicates", ours.replicates.to_string(), theirs.replicates.to_string()),
                    ("seed", ours.seed.to_string(), theirs.seed.to_string()),
                    ("level", ours.level.to_string(), theirs.level.to_string()),
                ] {
                    differ(&format!("intervals.{field}"), stated, is, &of);
                }
            }
        }
        for method in self.methods.iter().flatten() {
            if !results::is_method(&self.path.join(method)) {
                let problem = format!("names `{method}`, which has no folder here");
                let error = InputError::new(file.display(), problem).field("methods");
                errors.push(error.expected("the methods that were run"));
            }
        }
        match errors.is_empty() {
            false => found.add(errors),
            true if found.violations.is_empty() => {
                found.held(&file, "as the receipts and intervals have it");
            }
            true => {}
        }
    }

    /// The report, made again from the folders; only where nothing else is wrong.
    pub(super) fn report(
        &self,
        sound: &[Sound],
        bench: &Benchmark,
        cases: &Cases,
        found: &mut Findings,
    ) -> anyhow::Result<()> {
        let file = self.path.join(REPORT);
        let Some(experiment) = &self.experiment else { return Ok(()) };
        if !found.violations.is_empty() {
            return Ok(());
        }
        let unchecked = |why: &str| format!("{}: not compared: {why}", file.display());
        let mut scoring = Scoring::stock(bench, cases);
        scoring.cutoffs = Cutoffs::new(experiment.cutoffs.iter().copied().map(Cutoff))?;
        let (mut scored, mut ledgers) = (Vec::new(), Vec::new());
        for method in &self.methods {
            let one = method.as_ref().and_then(|method| {
                sound.iter().find(|one| one.submission.card.method_id == *method)
            });
            let (Some(one), Some(method)) = (one, method) else {
                found.warnings.push(unchecked("a method's card is not at hand"));
                return Ok(());
            };
            let version = one.receipt.as_ref().map(|receipt| receipt.cleanhit.as_str());
            let intervals = one.submission.intervals.clone();
            let (Some(env!("CARGO_PKG_VERSION")), Some(intervals)) = (version, intervals) else {
                found.warnings.push(unchecked(&format!("another version ran `{method}`")));
                return Ok(());
            };
            let counts = one.receipt.as_ref().map(|receipt| receipt.counts.clone());
            ledgers.push((method.clone(), counts.unwrap_or_default()));
            let before = match &one.remade {
                Remade::Same(ranked) => ranked.before.as_ref(),
                Remade::Near => {
                    found.warnings.push(unchecked(&format!("another device ran `{method}`")));
                    return Ok(());
                }
                Remade::Not => None,
            };
            let (card, metrics) = (one.submission.card.clone(), one.submission.metrics.clone());
            let rankings = &one.submission.ranks.rankings;
            scored.push(scoring.known(card, metrics, intervals, rankings, before)?);
        }
        let board = results::leaderboard(&scored, ResultStatus::MetricRecomputed);
        let mut expected = report::markdown(bench, cases, &scored, &board);
        expected.push_str(&sight::markdown(bench, cases, &ledgers));
        match read_regular(&file) {
            Ok(bytes) if bytes == expected.as_bytes() => {
                found.held(&file, "follows from the folders")
            }
            Ok(bytes) => {
                let line = remade::first_difference(&bytes, expected.as_bytes());
                let error =
                    InputError::new(file.display(), "is not the report of the folders beside it");
                found.add(vec![error.line(line).expected("what `cleanhit run` writes of them")]);
            }
            Err(error) => found.add(vec![error]),
        }
        Ok(())
    }
}
