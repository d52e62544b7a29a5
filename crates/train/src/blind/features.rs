//! What does one text of a pair have that the other hasn't?

use std::collections::BTreeMap;

use cleanhit_lexical::Analyser;

use super::Pair;

/// How a text is cut into features.
#[derive(Clone, Copy)]
pub(super) enum View {
    /// Words and pairs of neighbouring words.
    Words,
    /// Runs of three to five characters of the lower-cased text, white space counting as one.
    Characters,
}

impl View {
    /// How often each feature is in a text.
    fn counts(self, text: &str) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        let mut add = |feature: String| *counts.entry(feature).or_insert(0) += 1;
        match self {
            View::Words => {
                let words = Analyser::WordAll.tokens(text);
                words.windows(2).for_each(|pair| add(pair.join(" ")));
                words.into_iter().for_each(add);
            }
            View::Characters => {
                let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
                let characters: Vec<char> = words.join(" ").chars().collect();
                for n in 3..=5 {
                    characters.windows(n).for_each(|run| add(run.iter().collect()));
                }
            }
        }
        counts
    }
}

/// The scalar products of the pairs' differences, `[pairs, pairs]`.
///
/// A text is its counts, `1 + ln count`, times `1 + ln((1 + n) / (1 + df))` over all texts of the
/// pairs, scaled to unit length. A difference is scaled to unit length again, so that a unit
/// with long edits teaches no more than one with short ones; it is 0 where the texts are equal.
pub(super) fn kernel(pairs: &[Pair], view: View) -> Vec<Vec<f64>> {
    let counts: Vec<[BTreeMap<String, u32>; 2]> = pairs
        .iter()
        .map(|pair| [&pair.helpful, &pair.sibling].map(|text| view.counts(text)))
        .collect();
    let mut documents: BTreeMap<&str, u32> = BTreeMap::new();
    for feature in counts.iter().flatten().flat_map(BTreeMap::keys) {
        *documents.entry(feature).or_insert(0) += 1;
    }
    let n = 2.0 * pairs.len() as f64;
    let weigh = |counts: &BTreeMap<String, u32>| -> BTreeMap<String, f64> {
        let weight = |feature: &str, count: u32| {
            let df = f64::from(documents.get(feature).copied().unwrap_or(0));
            (1.0 + libm::log(f64::from(count))) * (1.0 + libm::log((1.0 + n) / (1.0 + df)))
        };
        scaled(counts.iter().map(|(f, &count)| (f.clone(), weight(f, count))).collect())
    };
    let differences: Vec<BTreeMap<String, f64>> = counts
        .iter()
        .map(|[helpful, sibling]| {
            let mut difference = weigh(helpful);
            for (feature, weight) in weigh(sibling) {
                *difference.entry(feature).or_insert(0.0) -= weight;
            }
            scaled(difference)
        })
        .collect();
    differences.iter().map(|a| differences.iter().map(|b| dot(a, b)).collect()).collect()
}

/// The vector at unit length; without its zeros.
fn scaled(mut vector: BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let length = vector.values().map(|x| x * x).sum::<f64>().sqrt();
    vector.retain(|_, x| *x != 0.0);
    vector.values_mut().for_each(|x| *x /= length);
    vector
}

/// In the order of the features' names, so the same sum each time.
fn dot(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    a.iter().filter_map(|(feature, x)| Some(x * b.get(feature)?)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_words_their_pairs_and_runs_of_characters() {
        let words: Vec<String> = View::Words.counts("Take a  take").into_keys().collect();
        assert_eq!(words, ["a", "a take", "take", "take a"]);
        let runs: Vec<String> = View::Characters.counts("Ab\n c").into_keys().collect();
        assert_eq!(runs, ["ab ", "ab c", "b c"]);
    }

    #[test]
    fn a_pair_and_its_mirror_image_point_apart() {
        let pair = |a: &str, b: &str| Pair { helpful: a.to_owned(), sibling: b.to_owned() };
        let text = "divide the sum by";
        let one = pair(&format!("{text} n"), &format!("{text} n less one"));
        let other = pair(&format!("{text} n less one"), &format!("{text} n"));
        let same = pair("equal", "equal");
        for view in [View::Words, View::Characters] {
            let kernel = kernel(
                &[
                    pair(&one.helpful, &one.sibling),
                    pair(&other.helpful, &other.sibling),
                    pair(&same.helpful, &same.sibling),
                ],
                view,
            );
            assert!((kernel[0][0] - 1.0).abs() < 1e-12);
            assert!((kernel[0][1] + 1.0).abs() < 1e-12);
            assert_eq!(kernel[2], [0.0; 3]);
        }
    }
}
