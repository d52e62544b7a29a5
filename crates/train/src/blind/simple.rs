//! Which of two texts would somebody pick who knows nothing?

use cleanhit_eval::units::{Side, Unit};

use super::{Pair, Trial};

/// A figure of a text; the text with the higher one is picked.
type Figure = fn(&str) -> usize;

/// Each with its mirror image: the test is two-sided, so `longer` is also the audit of `shorter`.
const FIGURES: [(&str, Figure); 7] = [
    ("longer", |text| text.chars().count()),
    ("more words", |text| text.split_whitespace().count()),
    ("more lines", |text| text.lines().count()),
    ("more code", code),
    ("more digits", |text| text.chars().filter(char::is_ascii_digit).count()),
    ("more negations", negations),
    ("more emphasis", |text| text.matches(['*', '`', '!']).count()),
];

/// Every untrained scorer over the single units. `pairs`: the units' texts, in the same order.
pub(super) fn trials(units: &[&Unit], pairs: &[Pair]) -> Vec<Trial> {
    let figure = |figure: Figure| {
        move |pair: &Pair| figure(&pair.helpful) as f64 - figure(&pair.sibling) as f64
    };
    let mut trials: Vec<Trial> =
        FIGURES.iter().map(|(name, f)| Trial::count(name, pairs.iter().map(figure(*f)))).collect();
    let first = pairs.iter().map(|pair| match pair.helpful.cmp(&pair.sibling) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => -1.0,
    });
    trials.push(Trial::count("first in the alphabet", first));
    let queries = units.iter().filter_map(|unit| unit.queries.first());
    let written = queries.map(|query| match query.helpful {
        Side::A => 1.0,
        Side::B => -1.0,
    });
    trials.push(Trial::count("written out, not edited", written));
    trials
}

/// The characters inside fenced blocks.
fn code(text: &str) -> usize {
    let blocks = text.split("```").skip(1).step_by(2);
    blocks.map(|block| block.chars().count()).sum()
}

/// Words that forbid or restrict: a text that warns more may look the more careful one.
fn negations(text: &str) -> usize {
    const WORDS: [&str; 10] =
        ["not", "no", "never", "none", "without", "cannot", "only", "must", "unless", "except"];
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| WORDS.contains(word)).count() + text.matches("n't").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_counts() {
        assert_eq!(code("a\n```python\nx = 1\n```\nb ```c```"), "python\nx = 1\n".len() + 1);
        assert_eq!(negations("Never do it; don't, unless it cannot be helped. Knot."), 4);
    }
}
