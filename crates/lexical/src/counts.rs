//! Which term is in which document, and how often.

use cleanhit_core::Corpus;
use rayon::prelude::*;

use crate::{
    analysis::Analyser,
    dictionary::{Dictionary, narrow},
    stats::IndexStats,
};

/// A corpus as term counts, by term.
///
/// Terms are numbered from the rarest to the most common, and by their bytes where as many
/// documents hold them: an order that depends on neither the order of the documents nor the
/// number of threads. A sum over ascending term numbers is therefore always the same sum.
#[derive(Debug)]
pub(crate) struct TermCounts {
    /// The terms.
    pub(crate) dictionary: Dictionary,
    /// Where each term's postings start; one more entry says where the last ones end.
    pub(crate) starts: Vec<usize>,
    /// The documents of each term, ascending.
    pub(crate) docs: Vec<u32>,
    /// How often the term is in that document. At least 1.
    pub(crate) counts: Vec<u32>,
    /// Tokens of each document.
    pub(crate) lengths: Vec<u32>,
    /// Tokens that the analyser dropped.
    pub(crate) dropped: u64,
}

/// Consecutive documents, counted by one thread, with terms in order of appearance.
struct Chunk {
    dictionary: Dictionary,
    /// Documents of each term.
    frequencies: Vec<u32>,
    listed: Listed,
}

/// Consecutive documents' terms.
#[derive(Default)]
struct Listed {
    /// For each document, its terms and their counts.
    pairs: Vec<(u32, u32)>,
    /// Where each document's pairs end.
    ends: Vec<usize>,
    lengths: Vec<u32>,
    dropped: u64,
    /// What each term of the chunk is called elsewhere.
    numbers: Vec<u32>,
}

impl TermCounts {
    /// Counts `corpus`, in parallel.
    pub(crate) fn new(corpus: &Corpus, analyser: Analyser) -> TermCounts {
        let texts = corpus.texts();
        let pieces = rayon::current_num_threads().clamp(1, 16);
        let size = texts.len().div_ceil(pieces).max(1);
        let chunks: Vec<Chunk> =
            texts.par_chunks(size).map(|texts| Chunk::new(texts, analyser)).collect();
        TermCounts::merge(chunks)
    }

    /// Number of documents that hold a term.
    pub(crate) fn frequency(&self, term: u32) -> usize {
        self.starts[term as usize + 1] - self.starts[term as usize]
    }

    /// The positions of a term's postings.
    pub(crate) fn range(&self, term: u32) -> std::ops::Range<usize> {
        self.starts[term as usize]..self.starts[term as usize + 1]
    }

    /// For receipts.
    pub(crate) fn stats(&self) -> IndexStats {
        IndexStats {
            documents: self.lengths.len(),
            empty_documents: self.lengths.iter().filter(|&&length| length == 0).count(),
            vocabulary: self.dictionary.len(),
            tokens: self.lengths.iter().map(|&length| u64::from(length)).sum(),
            dropped_tokens: self.dropped,
        }
    }

    fn merge(chunks: Vec<Chunk>) -> TermCounts {
        let (mut dictionary, frequencies, listed) = union(chunks);
        let mut order: Vec<(u32, u64, u32)> = (0..narrow(dictionary.len()))
            .map(|id| (frequencies[id as usize], prefix(dictionary.term(id)), id))
            .collect();
        order.par_sort_unstable_by(|&(f, p, id), &(g, q, other)| {
            let terms = || dictionary.term(id).cmp(dictionary.term(other));
            (f, p).cmp(&(g, q)).then_with(terms)
        });
        let mut renumbered = vec![0; dictionary.len()];
        let mut starts = Vec::with_capacity(dictionary.len() + 1);
        starts.push(0);
        let mut total = 0;
        for (&(frequency, _, id), new) in order.iter().zip(0u32..) {
            renumbered[id as usize] = new;
            total += frequency as usize;
            starts.push(total);
        }
        dictionary.reorder(&order.iter().map(|&(_, _, id)| id).collect::<Vec<u32>>());

        let (mut docs, mut counts) = (vec![0; total], vec![0; total]);
        let mut next = starts.clone();
        let mut lengths = Vec::new();
        let mut dropped = 0;
        for mut list in listed {
            for id in &mut list.numbers {
                *id = renumbered[*id as usize];
            }
            let mut start = 0;
            for (&end, &length) in list.ends.iter().zip(&list.lengths) {
                let doc = narrow(lengths.len());
                for &(local, count) in &list.pairs[start..end] {
                    let at = &mut next[list.numbers[local as usize] as usize];
                    (docs[*at], counts[*at]) = (doc, count);
                    *at += 1;
                }
                lengths.push(length);
                start = end;
            }
            dropped += list.dropped;
        }
        TermCounts { dictionary, starts, docs, counts, lengths, dropped }
    }
}

impl Chunk {
    fn new(texts: &[&str], analyser: Analyser) -> Chunk {
        let (mut dictionary, mut frequencies) = (Dictionary::new(), Vec::new());
        let mut listed = Listed::default();
        // How often each term is in the document at hand, and which terms it has.
        let mut counts: Vec<u32> = Vec::new();
        let mut present: Vec<u32> = Vec::new();
        for text in texts {
            let mut length = 0;
            listed.dropped += analyser.analyse(text, |token| {
                let term = dictionary.add(token.as_bytes());
                if counts.len() <= term as usize {
                    counts.push(0);
                }
                let count = &mut counts[term as usize];
                if *count == 0 {
                    present.push(term);
                }
                *count += 1;
                length += 1;
            });
            frequencies.resize(counts.len(), 0);
            for term in present.drain(..) {
                let count = std::mem::take(&mut counts[term as usize]);
                listed.pairs.push((term, count));
                frequencies[term as usize] += 1;
            }
            listed.ends.push(listed.pairs.len());
            listed.lengths.push(length);
        }
        Chunk { dictionary, frequencies, listed }
    }
}

/// All chunks' terms, how many documents hold each, and the chunks' lists with each of their
/// terms' number in the union.
fn union(chunks: Vec<Chunk>) -> (Dictionary, Vec<u32>, Vec<Listed>) {
    let mut chunks = chunks.into_iter();
    let Some(first) = chunks.next() else {
        return (Dictionary::new(), Vec::new(), Vec::new());
    };
    let numbers = (0..narrow(first.dictionary.len())).collect();
    let (mut union, mut frequencies) = (first.dictionary, first.frequencies);
    let mut listed = vec![Listed { numbers, ..first.listed }];
    for chunk in chunks {
        let terms = 0..narrow(chunk.dictionary.len());
        let numbers: Vec<u32> = terms.map(|id| union.add(chunk.dictionary.term(id))).collect();
        frequencies.resize(union.len(), 0);
        for (&id, &frequency) in numbers.iter().zip(&chunk.frequencies) {
            frequencies[id as usize] += frequency;
        }
        listed.push(Listed { numbers, ..chunk.listed });
    }
    (union, frequencies, listed)
}

/// The first eight bytes, which order as the term does, but for ties.
fn prefix(term: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = term.len().min(8);
    bytes[..len].copy_from_slice(&term[..len]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use cleanhit_core::{Candidate, Pool};

    use super::*;

    fn counts(texts: &[&str]) -> TermCounts {
        let candidate = |(i, text): (usize, &&str)| Candidate {
            id: format!("{i}").as_str().into(),
            text: (*text).to_owned(),
            name: None,
        };
        let pool = Pool::new("test", texts.iter().enumerate().map(candidate).collect()).unwrap();
        TermCounts::new(pool.corpus(), Analyser::Default)
    }

    #[test]
    fn terms_go_from_rare_to_common() {
        let counts = counts(&["b a c a", "c b", "c d", ""]);
        let terms: Vec<&[u8]> = (0..4).map(|id| counts.dictionary.term(id)).collect();
        assert_eq!(terms, [b"a", b"d", b"b", b"c"]);
        assert_eq!((0..4).map(|id| counts.frequency(id)).collect::<Vec<_>>(), [1, 1, 2, 3]);
        assert_eq!(counts.counts[counts.range(0)], [2]);
        assert!(counts.docs[counts.range(3)].is_sorted());
        let stats = counts.stats();
        assert_eq!((stats.documents, stats.empty_documents), (4, 1));
        assert_eq!((stats.vocabulary, stats.tokens, stats.dropped_tokens), (4, 8, 0));
    }

    #[test]
    fn threads_change_nothing() {
        let texts: Vec<String> = (0..97).map(|i| format!("x{} y{} z{i}", i % 7, i % 3)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| counts(&texts))
        };
        let (one, four) = (with(1), with(4));
        assert_eq!((one.starts, one.docs), (four.starts, four.docs));
        assert_eq!((one.counts, one.lengths), (four.counts, four.lengths));
    }
}
