//! What mutations of good files do to the parsers of cards, experiments and receipts: a value or
//! an error of one line, and no panic.

use std::path::Path;

use proptest::{prelude::*, sample::Index};

use crate::{bundled, cards::Card, experiment::Experiment, receipt::Receipt};

/// Pieces that parsers trip over.
const PIECES: [&str; 20] = [
    "",
    "\n",
    "\"",
    "'",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "0",
    "-1",
    "1e999",
    "nan",
    "18446744073709551616",
    "null",
    "\u{0}",
    "\u{feff}",
];

/// A place, how many characters go there, and what comes in their stead.
type Edit = (Index, usize, usize);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((any::<Index>(), 0..30usize, 0..PIECES.len()), 1..4)
}

fn mutated(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, gone, piece) in edits {
        let start = at.index(chars.len() + 1);
        let end = (start + gone).min(chars.len());
        chars.splice(start..end, PIECES[*piece].chars());
    }
    chars.into_iter().collect()
}

fn one_line(error: &anyhow::Error) {
    let text = format!("{error:#}");
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}

proptest! {
    #[test]
    fn a_card_is_read_or_refused(card in any::<Index>(), edits in edits()) {
        let names = bundled::card_names();
        let text = bundled::card(&names[card.index(names.len())]).unwrap();
        match Card::parse("card.toml", None, &mutated(text, &edits)) {
            // What was read can be written and reads back as itself.
            Ok(card) => {
                let again = toml::to_string(&card).unwrap();
                let back = Card::parse("again.toml", None, &again).unwrap();
                prop_assert_eq!(toml::to_string(&back).unwrap(), again);
            }
            Err(error) => one_line(&error),
        }
    }

    #[test]
    fn an_experiment_is_read_or_refused(edits in edits()) {
        let text = Experiment::stock().unwrap().to_text().unwrap();
        match Experiment::parse("experiment.toml", &mutated(&text, &edits)) {
            Ok(read) => {
                let again = read.to_text().unwrap();
                let back = Experiment::parse("again.toml", &again).unwrap();
                prop_assert_eq!(back.to_text().unwrap(), again);
            }
            Err(error) => one_line(&error),
        }
    }

    #[test]
    fn a_receipt_is_read_or_refused(edits in edits()) {
        let text = include_str!("../../results/samecap-mini/rrf+released/receipt.json");
        match Receipt::parse(Path::new("receipt.json"), &mutated(text, &edits)) {
            Ok(read) => {
                let again = serde_json::to_string(&read).unwrap();
                prop_assert_eq!(Receipt::parse(Path::new("again.json"), &again).unwrap(), read);
            }
            Err(error) => one_line(&error.into()),
        }
    }
}

#[test]
fn the_methods_that_flags_add_are_bundled_and_each_is_there_once() {
    let mut experiment = Experiment::stock().unwrap();
    experiment.use_all_methods();
    experiment.add_neural_methods();
    let cards = crate::cards::find_all(&experiment.methods).unwrap();
    assert_eq!(cards.len(), experiment.methods.len());
    assert!(cards.iter().any(|card| card.method_id == "smollm2-yes-no"));
}
