//! What models saw of texts, and which pairs they can't tell apart: a section of the report.

use std::{collections::BTreeMap, fmt::Write as _};

use cleanhit_eval::Cases;
use cleanhit_io::Benchmark;

use crate::{
    cards::{Cut, Notes},
    tables::{Format, Table},
};

/// One method's counts, pool by pool.
pub(crate) type Ledger = (String, BTreeMap<String, Notes>);

/// The section; empty if no method has a model.
pub(crate) fn markdown(bench: &Benchmark, cases: &Cases, ledgers: &[Ledger]) -> String {
    if ledgers.iter().all(|(_, notes)| notes.values().all(|notes| notes.models.is_empty())) {
        return String::new();
    }
    let mut table = Table::new(
        2,
        [
            "method",
            "model",
            "candidates cut",
            "queries cut",
            "pairs cut",
            "tokens lost",
            "queries whose pair looks the same",
        ],
    );
    for (method, notes) in ledgers {
        let mut models: BTreeMap<&str, [Option<Cut>; 3]> = BTreeMap::new();
        for truncated in notes.values().flat_map(|notes| &notes.truncation) {
            let sums = models.entry(&truncated.model).or_default();
            let counts = [truncated.documents, truncated.queries, truncated.pairs];
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = match (*sum, count) {
                    (Some(a), Some(b)) => Some(a.plus(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        for (model, counts) in models {
            let shown = |cut: Option<Cut>| match cut {
                Some(cut) => format!("{} of {}", cut.cut, cut.texts),
                None => "–".to_owned(),
            };
            let tokens: u64 = counts.iter().flatten().map(|cut| cut.tokens).sum();
            let lost: u64 = counts.iter().flatten().map(|cut| cut.tokens_lost).sum();
            let [documents, queries, pairs] = counts;
            let same = match documents.is_some() && notes.values().all(vectors_alone) {
                true => unseen(bench, cases, notes).to_string(),
                false => "–".to_owned(),
            };
            table.row([
                method.clone(),
                model.to_owned(),
                shown(documents),
                shown(queries),
                shown(pairs),
                format!("{lost} of {tokens}"),
                same,
            ]);
        }
    }
    let mut text = String::new();
    let _ = write!(text, "\n## What models saw\n\n{}", table.render(Format::Markdown));
    text.push_str(
        "\nA pair looks the same if the helpful skill and its sibling have one vector, because they \
         differ only beyond what the model reads.\n",
    );
    text.push_str(&orders(ledgers));
    text
}

/// Whether a method knows texts by one model's vectors only. A reranker and SkillSight see a pair by
/// other means too, and so does a fusion with words.
fn vectors_alone(notes: &Notes) -> bool {
    notes.models.len() == 1 && notes.vocabulary.is_none() && notes.calibration.is_none()
}

/// What was repaired of the orders that models gave; empty if no method asks for one.
fn orders(ledgers: &[Ledger]) -> String {
    let mut table = Table::new(
        1,
        [
            "method",
            "windows",
            "no order",
            "numbers twice",
            "numbers of none",
            "left out",
            "broken off",
            "asked again",
        ],
    );
    let mut any = false;
    for (method, notes) in ledgers {
        let lists = notes.values().filter_map(|notes| notes.listwise);
        let mut sums = [0; 7];
        for list in lists {
            any = true;
            let counts = [
                list.windows,
                list.non_answers,
                list.repeats,
                list.unknown,
                list.omitted,
                list.unfinished,
                list.retries,
            ];
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        if 0 < sums[0] {
            table.row(std::iter::once(method.clone()).chain(sums.map(|sum| sum.to_string())));
        }
    }
    if !any {
        return String::new();
    }
    format!(
        "\nOrders that a language model was asked for, window by window. What a reply leaves out follows in \
         the first stage's order.\n\n{}",
        table.render(Format::Markdown)
    )
}

/// Counted queries whose helpful skill and sibling have the same vector.
fn unseen(bench: &Benchmark, cases: &Cases, notes: &BTreeMap<String, Notes>) -> usize {
    let counted = cases.iter().filter(|case| case.counted);
    counted
        .filter(|case| {
            let pool = &bench.pools[case.pool].pool;
            let groups = notes.get(pool.name()).map(|notes| notes.alike.as_slice());
            let [helpful, sibling] = [case.helpful, case.sibling].map(|doc| pool.id(doc).as_str());
            let both = |group: &Vec<String>| {
                group.iter().any(|id| id == helpful) && group.iter().any(|id| id == sibling)
            };
            groups.unwrap_or_default().iter().any(both)
        })
        .count()
}
