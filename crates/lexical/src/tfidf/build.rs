//! From texts to postings.

use cleanhit_core::Corpus;
use rayon::prelude::*;

use crate::{
    analysis::Analyser,
    counts::TermCounts,
    dictionary::narrow,
    tfidf::{
        features::{Features, Padded},
        part::Part,
    },
};

/// The range of fingerprints is cut in so many parts of equal width, built in parallel.
pub(crate) const PARTS: usize = 16;

/// The part that a fingerprint is in.
pub(crate) fn part_of(fingerprint: u64) -> usize {
    usize::from((fingerprint >> 60) as u8)
}

/// All parts, in order, and how many tokens the analyser dropped.
pub(crate) fn build(corpus: &Corpus, features: Features) -> (Vec<Part>, u64) {
    match features {
        Features::Words { .. } => words(corpus, features),
        Features::Characters { shortest, longest } => characters(corpus, shortest, longest),
    }
}

/// The postings of a word that so few documents hold are copied rather than looked up.
const FEW: usize = 2;

/// A feature of a document.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Counted {
    fingerprint: u64,
    doc: u32,
    count: u32,
}

/// Lists each document's features, then sorts the lists.
fn words(corpus: &Corpus, features: Features) -> (Vec<Part>, u64) {
    let texts = corpus.texts();
    let size = texts.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let lists: Vec<(Vec<Vec<Counted>>, u64)> = texts
        .par_chunks(size)
        .enumerate()
        .map(|(chunk, texts)| {
            let mut lists = vec![Vec::new(); PARTS];
            let mut found = Vec::new();
            let mut dropped = 0;
            for (text, doc) in texts.iter().zip(narrow(chunk * size)..) {
                found.clear();
                dropped += features.of(text, |fingerprint| found.push(fingerprint));
                found.sort_unstable();
                for same in found.chunk_by(|a, b| a == b) {
                    let (fingerprint, count) = (same[0], narrow(same.len()));
                    lists[part_of(fingerprint)].push(Counted { fingerprint, doc, count });
                }
            }
            (lists, dropped)
        })
        .collect();
    let dropped = lists.iter().map(|(_, dropped)| dropped).sum();
    let mut by_part: Vec<Vec<Vec<Counted>>> = (0..PARTS).map(|_| Vec::new()).collect();
    for (of_chunk, _) in lists {
        for (part, list) in by_part.iter_mut().zip(of_chunk) {
            part.push(list);
        }
    }
    let parts = by_part.into_par_iter().map(|lists| {
        let mut list = lists.concat();
        drop(lists);
        list.sort_unstable();
        let mut part = Part::default();
        let mut postings = Vec::new();
        for same in list.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
            postings.clear();
            postings.extend(same.iter().map(|counted| (counted.doc, counted.count)));
            part.push(same[0].fingerprint, &postings);
        }
        part.finish()
    });
    (parts.collect(), dropped)
}

/// Counts words, then adds up the words that have an n-gram in common: a word is taken apart
/// once for each part, however often it occurs.
fn characters(corpus: &Corpus, shortest: usize, longest: usize) -> (Vec<Part>, u64) {
    let counts = TermCounts::new(corpus, Analyser::WhitespaceLower);
    let terms = 0..narrow(counts.dictionary.len());
    let parts = (0..PARTS).into_par_iter().map(|part| {
        let mut list: Vec<Counted> = Vec::new();
        let mut padded = Padded::default();
        for word in terms.clone() {
            let range = counts.range(word);
            padded.set(counts.dictionary.term(word));
            padded.grams(shortest, longest, |fingerprint| {
                if part_of(fingerprint) != part {
                    return;
                }
                if range.len() <= FEW {
                    list.extend(range.clone().map(|at| Counted {
                        fingerprint,
                        doc: counts.docs[at],
                        count: counts.counts[at],
                    }));
                } else {
                    // Looked up when it is added.
                    list.push(Counted { fingerprint, doc: word, count: 0 });
                }
            });
        }
        list.sort_unstable();
        add_up(&list, &counts)
    });
    (parts.collect(), counts.dropped)
}

/// The part of `list`, in which a count of 0 stands for a word's postings.
fn add_up(list: &[Counted], counts: &TermCounts) -> Part {
    let mut part = Part::default();
    let mut sums = vec![0u32; counts.lengths.len()];
    let (mut docs, mut postings) = (Vec::new(), Vec::new());
    for same in list.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
        let mut add = |doc: u32, count: u32| {
            let sum = &mut sums[doc as usize];
            if *sum == 0 {
                docs.push(doc);
            }
            *sum += count;
        };
        for counted in same {
            match counted.count {
                0 => {
                    counts.range(counted.doc).for_each(|at| add(counts.docs[at], counts.counts[at]))
                }
                count => add(counted.doc, count),
            }
        }
        docs.sort_unstable();
        postings.clear();
        postings.extend(docs.drain(..).map(|doc| (doc, std::mem::take(&mut sums[doc as usize]))));
        part.push(same[0].fingerprint, &postings);
    }
    part.finish()
}
