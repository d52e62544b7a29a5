//! Are two candidates, or two queries, the same or nearly so?

use std::collections::{BTreeMap, HashMap};

use cleanhit_io::{InputError, counted};
use rayon::prelude::*;

use super::Check;
use crate::units::{authoring::Authoring, taxonomy::Side, unit::Skill};

/// Words in a row that are compared.
const GRAM: usize = 5;

/// A candidate of a pool, and where it comes from.
struct Candidate<'a> {
    /// The unit, for its two skills; none for background.
    unit: Option<&'a str>,
    /// How it is named in messages.
    shown: String,
    skill: &'a Skill,
    error: InputError,
}

/// No text, name or query occurs twice. The two skills of one unit may share a name.
pub fn duplicates(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let candidates = candidates(authoring);
    let mut names: BTreeMap<&str, &Candidate<'_>> = BTreeMap::new();
    let mut texts: BTreeMap<String, &Candidate<'_>> = BTreeMap::new();
    for candidate in &candidates {
        let name = candidate.skill.name.as_str();
        let first = names.entry(name).or_insert(candidate);
        if !std::ptr::eq(*first, candidate)
            && (first.unit.is_none() || first.unit != candidate.unit)
        {
            let problem = format!("its name `{name}` is also that of {}", first.shown);
            out.push(repeated(candidate, problem, "distinct names"));
        }
        let first = texts.entry(normal(&candidate.skill.rendered())).or_insert(candidate);
        if !std::ptr::eq(*first, candidate) {
            let problem = format!("its text is also that of {}", first.shown);
            out.push(repeated(candidate, problem, "distinct texts"));
        }
    }
    let mut queries = BTreeMap::new();
    for unit in &authoring.units {
        for (i, query) in unit.queries.iter().enumerate() {
            let place = (unit.id.as_str(), i);
            let first = *queries.entry(normal(&query.text)).or_insert(place);
            if first != place {
                let problem = format!("is also query {} of unit `{}`", first.1, first.0);
                let error = unit.error(&format!("query[{i}].text"), problem);
                out.push(error.expected("distinct queries"));
            }
        }
    }
    let detail =
        format!("{}, {}", counted(candidates.len(), "candidate"), counted(queries.len(), "query"));
    Check::new("duplicates", detail, out)
}

/// A share, and the candidate it is shared with.
type Overlap = (f64, usize);

/// No two candidates overlap too far, but for the two of a unit.
pub fn near_duplicates(authoring: &Authoring) -> Check {
    let limit = authoring.config.limits.near_duplicate;
    let candidates = candidates(authoring);
    let mut ids = HashMap::new();
    let grams: Vec<Vec<u32>> =
        candidates.iter().map(|c| grams(&c.skill.rendered(), &mut ids)).collect();
    let rows: Vec<(Vec<Overlap>, Option<Overlap>)> = (0..candidates.len())
        .into_par_iter()
        .map(|i| {
            let others = (0..i).filter(|&j| {
                let (a, b) = (candidates[i].unit, candidates[j].unit);
                a.is_none() || a != b
            });
            let all: Vec<(f64, usize)> =
                others.map(|j| (jaccard(&grams[i], &grams[j]), j)).collect();
            let most = all.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
            (all.into_iter().filter(|(share, _)| limit < *share).collect(), most)
        })
        .collect();
    let mut out = Vec::new();
    let mut widest: Option<(f64, usize, usize)> = None;
    for (i, (over, most)) in rows.into_iter().enumerate() {
        for (share, j) in over {
            let problem =
                format!("its text overlaps with that of {} by {share:.2}", candidates[j].shown);
            out.push(repeated(&candidates[i], problem, &format!("at most {limit}")));
        }
        if let Some((share, j)) = most.filter(|(share, _)| widest.is_none_or(|(w, ..)| w < *share))
        {
            widest = Some((share, i, j));
        }
    }
    let detail = match widest {
        Some((share, i, j)) => format!(
            "overlap of word {GRAM}-grams {share:.3} at most ({} and {})",
            candidates[j].shown, candidates[i].shown
        ),
        None => "fewer than two candidates".to_owned(),
    };
    Check::new("near_duplicates", detail, out)
}

/// Every candidate: units' skills first, then the background.
fn candidates(authoring: &Authoring) -> Vec<Candidate<'_>> {
    let mut all = Vec::new();
    for unit in &authoring.units {
        for &side in Side::ALL {
            all.push(Candidate {
                unit: Some(&unit.id),
                shown: format!("skill `{side}` of unit `{}`", unit.id),
                skill: unit.skill(side),
                error: unit.error(side.as_str(), ""),
            });
        }
    }
    for skill in &authoring.background {
        all.push(Candidate {
            unit: None,
            shown: format!("background skill `{}`", skill.slug),
            skill: &skill.skill,
            error: InputError::new(&skill.file, ""),
        });
    }
    all
}

fn repeated(candidate: &Candidate<'_>, problem: String, expected: &str) -> InputError {
    InputError { problem, ..candidate.error.clone() }.expected(expected)
}

/// A text without what no reader sees: case and white space.
fn normal(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The distinct runs of five words, each as a number, sorted. A shorter text is one run.
fn grams(text: &str, ids: &mut HashMap<Vec<String>, u32>) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let mut grams = Vec::new();
    for gram in words.windows(GRAM.min(words.len()).max(1)) {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        grams.push(*ids.entry(gram.to_vec()).or_insert(next));
    }
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// The share of the numbers in either sorted list that are in both.
fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0_usize);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        both += usize::from(x == y);
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    let either = a.len() + b.len() - both;
    both as f64 / either.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_the_share_of_five_word_runs() {
        let mut ids = HashMap::new();
        let a = grams("one two three four five six", &mut ids);
        let b = grams("Two three, four five six seven", &mut ids);
        assert_eq!((a.len(), b.len()), (2, 2));
        let close = |share: f64, want: f64| assert!((share - want).abs() < 1e-12, "{share}");
        close(jaccard(&a, &b), 1.0 / 3.0);
        close(jaccard(&grams("a b", &mut ids), &grams("A, b", &mut ids)), 1.0);
        close(jaccard(&grams("", &mut ids), &a), 0.0);
    }
}
