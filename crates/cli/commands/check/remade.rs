//! A receipt's method, run again: its ranks and the receipt itself compared.
//!
//! What a model computed comes out the same on the same device only. Made again on another, it
//! may differ as [`near`] allows, and then what follows from the last bits isn't compared.

use std::collections::BTreeSet;

use cleanhit_core::{Depth, QueryId, TieRule};
use cleanhit_eval::files::json_differences;
use cleanhit_io::{
    InputError, counted, is_there, read_ranks, read_regular, sha256_hex, write_ranks,
};
use serde_json::Value;

use super::{Findings, folders::Against, near::near};
use crate::{
    cards::MethodCard,
    folder::MethodFolder,
    locate,
    method::{Job, Ranked},
    ranking,
    receipt::{Receipt, is_version},
    results::Scoring,
};

/// What came of running a receipt's method again.
pub(super) enum Remade {
    /// It wasn't run, or what came of it is among the errors.
    Not,
    /// The same bytes.
    Same(Box<Ranked>),
    /// The same but for the rounding of another device.
    Near,
}

/// Runs the receipt's method again and compares what follows from it. `made_here`: `rank` or `run` wrote the folder, so that its card follows too.
pub(super) fn check(
    against: &Against<'_>,
    folder: &MethodFolder<'_>,
    made_here: bool,
    errors: &mut Vec<InputError>,
    found: &mut Findings,
) -> Remade {
    let Some((receipt, text)) = &folder.receipt else { return Remade::Not };
    let file = folder.path.join("receipt.json").display().to_string();
    let card = match receipt.method_card() {
        Ok(card) => card,
        Err(error) => {
            errors.push(at(&file, text, InputError::new(&file, error.to_string()).field("card")));
            return Remade::Not;
        }
    };
    errors.extend(version(&file, receipt, found).map(|error| at(&file, text, error)));
    named(&file, text, receipt, &card, errors, found);
    let depth = folder.depth.unwrap_or(Depth(receipt.settings.depth));
    // A rule that is none is reported below, as a difference.
    let ties = receipt.settings.ties.parse().unwrap_or(TieRule::Hash);
    let only: Option<BTreeSet<QueryId>> = receipt
        .settings
        .only
        .as_ref()
        .map(|only| only.iter().map(|id| QueryId::from(id.as_str())).collect());
    let job = Job { only: only.as_ref(), ..against.job(depth, ties) };
    let ranked = match job.rank(&card) {
        Ok(ranked) => ranked,
        // A plug-in that is not registered here can't be run here.
        Err(error) if !receipt.is_exact() => {
            found.warnings.push(format!("{file}: the method can't be run again: {error:#}"));
            return Remade::Not;
        }
        Err(error) => {
            let problem = format!("the method can't be run again: {error:#}");
            errors.push(InputError::new(&file, problem));
            return Remade::Not;
        }
    };
    let differ = match receipt.is_exact() {
        true => None,
        false => rounded(against, folder, &card, &ranked),
    };
    if let Some(differ) = differ {
        let queries = counted(differ, "query");
        found.warnings.push(format!(
            "{file}: made again here, the ranks of {queries} differ by rounding, as between two devices"
        ));
    } else {
        compare(against, folder, &card, &ranked, ties, errors);
    }
    if made_here && errors.is_empty() {
        errors.extend(card_differences(folder, &card, &ranked, ties));
        errors.extend(selection_missing(folder, &ranked));
    }
    match differ {
        Some(_) => Remade::Near,
        None => Remade::Same(Box::new(ranked)),
    }
}

/// How many queries' ranks are other bytes than those made here, where rounding explains it. None
/// where they are the same, or where it doesn't.
fn rounded(
    against: &Against<'_>,
    folder: &MethodFolder<'_>,
    card: &MethodCard,
    ranked: &Ranked,
) -> Option<usize> {
    let ranks = folder.path.join(&folder.ranks);
    let bytes = read_regular(&ranks).ok()?;
    if bytes == write_ranks(&card.method_id, against.bench, &ranked.rankings) {
        return None;
    }
    // What can't be read has been reported.
    let name = ranks.display().to_string();
    let found = read_ranks(&name, &bytes, against.bench, folder.rows()).ok()?;
    near(&found.rankings, &ranked.rankings).filter(|&differ| 0 < differ)
}

impl Against<'_> {
    fn job(&self, depth: Depth, ties: TieRule) -> Job<'_> {
        Job {
            registry: self.registry,
            bench: self.bench,
            cases: self.cases,
            depth,
            ties,
            only: None,
            keep_families: false,
            ui: self.ui,
        }
    }
}

/// Ranks, receipt and the selector's account against what they are now.
fn compare(
    against: &Against<'_>,
    folder: &MethodFolder<'_>,
    card: &MethodCard,
    ranked: &Ranked,
    ties: TieRule,
    errors: &mut Vec<InputError>,
) {
    let Some((receipt, text)) = &folder.receipt else { return };
    let file = folder.path.join("receipt.json").display().to_string();
    let depth = folder.depth.unwrap_or(Depth(receipt.settings.depth));
    let bytes = write_ranks(&card.method_id, against.bench, &ranked.rankings);
    let ranks = folder.path.join(&folder.ranks);
    match read_regular(&ranks) {
        Ok(found) if found == bytes => {}
        Ok(found) => {
            let line = first_difference(&found, &bytes);
            let error = InputError::new(ranks.display(), "is not what the receipt's method gives");
            errors.push(error.line(line));
        }
        Err(error) => errors.push(error),
    }
    let sha256 = sha256_hex(&bytes);
    let expected = Receipt::new(card, against.bench, ranked, depth, ties, &sha256);
    let values =
        expected.map(|expected| Receipt { cleanhit: receipt.cleanhit.clone(), ..expected });
    let values = values.and_then(|expected| {
        Ok((serde_json::from_str::<Value>(text)?, serde_json::to_value(expected)?))
    });
    match values {
        Ok((found, expected)) => {
            let differences = json_differences(&file, &found, &expected);
            errors.extend(differences.into_iter().map(|error| at(&file, text, error)));
        }
        Err(error) => errors.push(InputError::new(&file, error.to_string())),
    }
    let Some(cases) = against.cases else { return };
    let scoring = Scoring::stock(against.bench, cases);
    let before = ranked.before.as_ref();
    match scoring.check_selection(folder.path, &card.method_id, &ranked.rankings, before) {
        Ok(more) => errors.extend(more),
        Err(error) => errors.push(InputError::new(&file, format!("{error:#}"))),
    }
}

/// Where the method card differs from the one that `rank` writes of the receipt's card.
fn card_differences(
    folder: &MethodFolder<'_>,
    card: &MethodCard,
    ranked: &Ranked,
    ties: TieRule,
) -> Vec<InputError> {
    let path = folder.path.join("method_card.json");
    let file = path.display().to_string();
    let Some((receipt, _)) = &folder.receipt else { return Vec::new() };
    let read = read_regular(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = match read {
        Ok(text) => text,
        Err(error) => return vec![error],
    };
    let (ranks, ties) = (&folder.ranks, ties.to_string());
    let expected = ranking::method_card(card, ranked, ranks, &receipt.ranks_sha256, &ties);
    match (serde_json::from_str::<Value>(&text), serde_json::to_value(expected)) {
        (Ok(found), Ok(expected)) => json_differences(&file, &found, &expected)
            .into_iter()
            .map(|error| at(&file, &text, error))
            .collect(),
        (Err(error), _) | (_, Err(error)) => vec![locate::json_error(&path, &text, &error)],
    }
}

/// A method with a selector that was scored has an account of what the selector did.
fn selection_missing(folder: &MethodFolder<'_>, ranked: &Ranked) -> Option<InputError> {
    let scored = is_there(&folder.path.join("metrics.json"));
    let path = folder.path.join("selection.json");
    (scored && ranked.before.is_some() && !is_there(&path))
        .then(|| InputError::new(path.display(), "no such file").expected("a file that is there"))
}

/// The version that ranked can't be told from the ranks; it is shown where it is another.
fn version(file: &str, receipt: &Receipt, found: &mut Findings) -> Option<InputError> {
    let (theirs, ours) = (&receipt.cleanhit, env!("CARGO_PKG_VERSION"));
    if !is_version(theirs) {
        let error = InputError::new(file, format!("is `{theirs}`")).field("cleanhit");
        return Some(error.expected(format!("a version, such as `{ours}`")));
    }
    if theirs != ours {
        found.warnings.push(format!("{file}: ranked by cleanhit {theirs}; checked by {ours}"));
    }
    None
}

/// A receipt of a bundled method says of it what the bundled cards say.
fn named(
    file: &str,
    text: &str,
    receipt: &Receipt,
    card: &MethodCard,
    errors: &mut Vec<InputError>,
    found: &mut Findings,
) {
    let Some(mut bundled) = MethodCard::bundled(&card.method_id) else { return };
    if receipt.cleanhit != env!("CARGO_PKG_VERSION") {
        bundled.declare.code_commit.clone_from(&card.declare.code_commit);
    }
    let (Ok(found_card), Ok(bundled)) =
        (serde_json::to_value(card), serde_json::to_value(&bundled))
    else {
        return;
    };
    let stages = |card: &Value| ["retrieve", "rerank", "select"].map(|stage| card[stage].clone());
    if stages(&found_card) != stages(&bundled) {
        let method = &card.method_id;
        found.warnings.push(format!("{file}: `{method}` is not the bundled method of that name"));
        return;
    }
    let differences = json_differences(file, &found_card, &bundled);
    errors.extend(differences.into_iter().map(|mut error| {
        error.field = error.field.map(|field| format!("card.{field}"));
        at(file, text, error)
    }));
}

/// The error with the line of its field.
fn at(file: &str, text: &str, error: InputError) -> InputError {
    let line = error.field.as_deref().and_then(|field| locate::json_line(text, field));
    match line {
        Some(line) if error.file == file => error.line(line),
        _ => error,
    }
}

/// The first line that differs, counted from 1.
pub(super) fn first_difference(found: &[u8], expected: &[u8]) -> u64 {
    let lines = found.split(|&b| b == b'\n').zip(expected.split(|&b| b == b'\n'));
    lines.take_while(|(a, b)| a == b).count() as u64 + 1
}
