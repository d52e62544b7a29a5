//! Words of a corpus, their weights, and which of them are generic.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::LazyLock,
};

use cleanhit_core::Corpus;

/// Common English words, one a line.
static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("stop_words.txt").lines().collect());

/// The words of a corpus, numbered in byte order.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    numbers: BTreeMap<Box<str>, usize>,
    /// The documents that hold each word, ascending.
    postings: Vec<Vec<u32>>,
    generic: Vec<bool>,
    documents: usize,
}

impl Lexicon {
    pub(super) fn new(corpus: &Corpus) -> Lexicon {
        let mut by_word: BTreeMap<Box<str>, Vec<u32>> = BTreeMap::new();
        for (document, text) in (0u32..).zip(corpus.texts()) {
            for word in words(text) {
                by_word.entry(word.into()).or_default().push(document);
            }
        }
        let documents = corpus.len();
        let (words, postings): (Vec<Box<str>>, Vec<Vec<u32>>) = by_word.into_iter().unzip();
        let frequencies: Vec<usize> = postings.iter().map(Vec::len).collect();
        let least = generic_from(&frequencies, documents);
        let generic =
            frequencies.iter().map(|&df| least.is_some_and(|least| least <= df)).collect();
        let numbers = words.into_iter().zip(0..).collect();
        Lexicon { numbers, postings, generic, documents }
    }

    /// Words that are generic.
    pub(super) fn generic(&self) -> impl Iterator<Item = usize> {
        self.generic.iter().enumerate().filter(|(_, generic)| **generic).map(|(word, _)| word)
    }

    /// The documents that hold a word, ascending.
    pub(super) fn holders(&self, word: usize) -> &[u32] {
        &self.postings[word]
    }

    /// For each document, the share of the query's specific words that it holds, by weight: 0 if
    /// the query has none. A word is specific if the corpus holds it and it is not generic.
    pub(super) fn overlap(&self, query: &str, beta: f64) -> Vec<f64> {
        let mut shares = vec![0.0; self.documents];
        let mut total = 0.0;
        // In byte order: addition does not associate.
        for word in words(query) {
            let Some(&number) = self.numbers.get(word.as_str()) else { continue };
            if self.generic[number] {
                continue;
            }
            let df = self.postings[number].len();
            let rare = 1.0 - df as f64 / self.documents as f64;
            let weight = idf(df, self.documents) * libm::pow(rare, beta);
            total += weight;
            for &document in &self.postings[number] {
                shares[document as usize] += weight;
            }
        }
        if 0.0 < total {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        shares
    }

    #[cfg(test)]
    pub(super) fn generic_words(&self) -> Vec<&str> {
        let all = self.numbers.iter().filter(|(_, number)| self.generic[**number]);
        all.map(|(word, _)| &**word).collect()
    }
}

/// A text's distinct words: runs of ASCII letters, digits and `_`, in lower case, of 2 to 40
/// characters, without stop words.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| (2..=40).contains(&word.len()))
        .map(str::to_ascii_lowercase)
        .filter(|word| !STOP_WORDS.contains(word.as_str()))
        .collect()
}

fn idf(df: usize, documents: usize) -> f64 {
    libm::log((documents as f64 + 1.0) / (df as f64 + 1.0)) + 1.0
}

/// The least document frequency of a generic word; none if no threshold splits the words.
///
/// Words in two documents and more are split by their idf where the variance between the two
/// sides is largest (Otsu, IEEE TSMC 1979, over the distinct values); each word counts as often
/// as it has documents. Of equal splits the one with fewer generic words is taken.
fn generic_from(frequencies: &[usize], documents: usize) -> Option<usize> {
    // Document frequency -> documents counted over its words; idf falls as it rises.
    let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
    for &df in frequencies.iter().filter(|df| 2 <= **df) {
        *counts.entry(df).or_default() += df as f64;
    }
    let values: Vec<(usize, f64, f64)> =
        counts.iter().rev().map(|(&df, &count)| (df, idf(df, documents), count)).collect();
    let count: f64 = values.iter().map(|(_, _, count)| count).sum();
    let sum: f64 = values.iter().map(|(_, value, count)| value * count).sum();
    let (mut low_count, mut low_sum) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (df, value, n) in values.iter().take(values.len().saturating_sub(1)) {
        low_count += n;
        low_sum += value * n;
        let high_count = count - low_count;
        let apart = low_sum / low_count - (sum - low_sum) / high_count;
        let between = low_count * high_count * apart * apart;
        if best.is_none_or(|(most, _)| most < between) {
            best = Some((between, *df));
        }
    }
    best.map(|(_, df)| df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ascii_runs_without_stop_words() {
        let long = "x".repeat(41);
        let found = words(&format!("The quick_fox, a QUICK_FOX's v2 naïve 7 {long}"));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["na", "quick_fox", "v2", "ve"]);
    }

    #[test]
    fn the_split_is_where_the_sides_are_farthest_apart() {
        // Two words everywhere, many in two documents each.
        let mut frequencies = vec![100, 90];
        frequencies.extend([2; 60]);
        assert_eq!(generic_from(&frequencies, 100), Some(90));
        assert_eq!(generic_from(&[1, 1, 1], 3), None);
        assert_eq!(generic_from(&[2, 2, 2], 3), None, "one value can't be split");
        assert_eq!(generic_from(&[], 3), None);
    }

    #[test]
    fn stop_words_are_sorted_and_distinct() {
        let words: Vec<&str> = include_str!("stop_words.txt").lines().collect();
        assert!(words.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase())));
    }
}
