//! All pairs of similar vectors.
//!
//! A vector's entries go from the rarest term to the most common. The end of a vector, as much
//! as has a norm below a part of the threshold, is not looked up: if two vectors are similar,
//! what they share before their ends makes up the rest of it. The common terms, of which most
//! pairs share many, are all but never before an end.
//!
//! Source: Bayardo, Ma and Srikant, *Scaling Up All Pairs Similarity Search*, WWW 2007, whose
//! bound is on the largest weights; with unit vectors, a bound on the norm is tighter.

use rayon::prelude::*;

use crate::{counts::TermCounts, dictionary::narrow, tfidf::Weighting};

/// Unit vectors, or empty ones; entries in order of term number.
#[derive(Debug)]
pub(crate) struct Vectors {
    /// Where each document's entries start; one more says where the last ones end.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    terms: usize,
}

/// A document that is similar to one after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Similar {
    pub(crate) doc: u32,
    pub(crate) cosine: f64,
}

/// The fronts of vectors, by term.
struct Fronts {
    /// Where each document's front ends among the entries, and the norm of what follows.
    ends: Vec<(usize, f64)>,
    /// Where each term's documents start; one more says where the last ones end.
    starts: Vec<usize>,
    postings: Vec<(u32, f32)>,
}

/// The norm of a vector's end is below this part of the threshold. More would compare more
/// vectors in full, less would meet more vectors.
const END: f64 = 0.85;

impl Vectors {
    /// Sublinear TF-IDF.
    pub(crate) fn new(counts: &TermCounts) -> Vectors {
        let n = counts.lengths.len();
        let mut starts = vec![0; n + 1];
        for &doc in &counts.docs {
            starts[doc as usize + 1] += 1;
        }
        running_sum(&mut starts);
        let mut next = starts.clone();
        let mut squares = vec![0.0; n];
        let mut entries = vec![(0, 0.0); counts.docs.len()];
        let terms = counts.dictionary.len();
        for term in 0..narrow(terms) {
            let idf = Weighting::Sublinear.idf(counts.frequency(term), n);
            for at in counts.range(term) {
                let doc = counts.docs[at] as usize;
                let weight = idf * Weighting::Sublinear.of_count(counts.counts[at]);
                entries[next[doc]] = (term, weight);
                next[doc] += 1;
                squares[doc] += weight * weight;
            }
        }
        for (doc, square) in squares.into_iter().enumerate() {
            let norm = f64::sqrt(square);
            for (_, weight) in &mut entries[starts[doc]..starts[doc + 1]] {
                *weight /= norm;
            }
        }
        Vectors { starts, entries, terms }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, doc: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[doc]..self.starts[doc + 1]]
    }
}

/// For each document, those before it with a cosine of at least `threshold`, ascending.
pub(crate) fn join(vectors: &Vectors, threshold: f64) -> Vec<Vec<Similar>> {
    let fronts = Fronts::new(vectors, END * threshold);
    let scratch = || (vec![0.0; vectors.len()], Vec::new());
    (0..vectors.len())
        .into_par_iter()
        .map_init(scratch, |(sums, met), doc| before(vectors, &fronts, threshold, doc, sums, met))
        .collect()
}

fn before(
    vectors: &Vectors,
    fronts: &Fronts,
    threshold: f64,
    doc: usize,
    sums: &mut [f64],
    met: &mut Vec<u32>,
) -> Vec<Similar> {
    let (end, norm) = fronts.ends[doc];
    for &(term, weight) in &vectors.entries[vectors.starts[doc]..end] {
        for &(other, of_other) in fronts.of(term) {
            if doc <= other as usize {
                break;
            }
            let sum = &mut sums[other as usize];
            if *sum <= 0.0 {
                met.push(other);
            }
            *sum += weight * f64::from(of_other);
        }
    }
    met.sort_unstable();
    let mut similar = Vec::new();
    for other in met.drain(..) {
        let shared = std::mem::take(&mut sums[other as usize]);
        // What is not in both fronts is in the end of the one whose front is shorter.
        let rest = norm.max(fronts.ends[other as usize].1);
        // Room for factors in single precision.
        if threshold <= shared + rest + 1e-6 {
            let cosine = dot(vectors.of(doc), vectors.of(other as usize));
            if threshold <= cosine {
                similar.push(Similar { doc: other, cosine });
            }
        }
    }
    similar
}

impl Fronts {
    fn new(vectors: &Vectors, norm: f64) -> Fronts {
        let ends: Vec<(usize, f64)> = (0..vectors.len())
            .map(|doc| {
                let (mut end, mut square) = (vectors.starts[doc + 1], 0.0);
                for &(_, weight) in vectors.of(doc).iter().rev() {
                    if norm * norm <= square + weight * weight {
                        break;
                    }
                    square += weight * weight;
                    end -= 1;
                }
                (end, square.sqrt())
            })
            .collect();
        let front = |doc: usize| &vectors.entries[vectors.starts[doc]..ends[doc].0];
        let mut starts = vec![0; vectors.terms + 1];
        for &(term, _) in (0..vectors.len()).flat_map(front) {
            starts[term as usize + 1] += 1;
        }
        running_sum(&mut starts);
        let mut next = starts.clone();
        let mut postings = vec![(0, 0.0f32); starts[vectors.terms]];
        for doc in 0..vectors.len() {
            for &(term, weight) in front(doc) {
                postings[next[term as usize]] = (narrow(doc), single(weight));
                next[term as usize] += 1;
            }
        }
        Fronts { ends, starts, postings }
    }

    /// Ascending documents.
    fn of(&self, term: u32) -> &[(u32, f32)] {
        &self.postings[self.starts[term as usize]..self.starts[term as usize + 1]]
    }
}

/// Sums in order of term, so that it is the same number for `(b, a)`.
fn dot(mut a: &[(u32, f64)], mut b: &[(u32, f64)]) -> f64 {
    let mut sum = 0.0;
    while let ([(s, x), a_rest @ ..], [(t, y), b_rest @ ..]) = (a, b) {
        if s == t {
            sum += x * y;
        }
        if s <= t {
            a = a_rest;
        }
        if t <= s {
            b = b_rest;
        }
    }
    sum
}

/// Rounded, for bounds.
fn single(x: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a bound has room for rounding")]
    let x = x as f32;
    x
}

fn running_sum(numbers: &mut [usize]) {
    let mut sum = 0;
    for number in numbers {
        sum += *number;
        *number = sum;
    }
}

#[cfg(test)]
mod tests {
    use cleanhit_core::{Candidate, Pool};
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::Analyser;

    proptest! {
        /// No similar pair is passed over.
        #[test]
        fn join_finds_what_brute_force_finds(
            texts in prop::collection::vec("([a-h] ){0,12}", 1..40),
            threshold in 0.05f64..1.0,
        ) {
            let candidates = texts.iter().enumerate().map(|(i, text)| Candidate {
                id: format!("{i}").as_str().into(),
                text: text.clone(),
                name: None,
            });
            let pool = Pool::new("test", candidates.collect()).unwrap();
            let vectors = Vectors::new(&TermCounts::new(pool.corpus(), Analyser::Default));
            let expected: Vec<Vec<Similar>> = (0..vectors.len())
                .map(|doc| {
                    let cosine = |other: u32| dot(vectors.of(other as usize), vectors.of(doc));
                    let all = (0..narrow(doc)).map(|doc| Similar { doc, cosine: cosine(doc) });
                    all.filter(|similar| threshold <= similar.cosine).collect()
                })
                .collect();
            prop_assert_eq!(join(&vectors, threshold), expected);
        }
    }
}
