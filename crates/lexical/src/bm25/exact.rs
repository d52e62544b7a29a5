//! BM25 on an index of finished contributions.

use std::{cell::RefCell, ops::Range};

use cleanhit_core::{
    BoxError, Corpus, Depth, DocIx, Hit, QueryText, Ranking, Retriever, Score, ScoreError, TieKeys,
    per_query,
};
use rayon::prelude::*;

use crate::{
    bm25::{
        columns::{Columns, Counted, impact},
        params::{Bm25Error, Bm25Params, EmptyDocuments},
        top::{at_least, kth_largest},
    },
    counts::TermCounts,
    dictionary::{Dictionary, narrow},
    stats::IndexStats,
};

/// BM25 on an index of finished contributions: to score is to add.
///
/// Scores are `f64`, and a score sums its terms from the rarest to the most common (by bytes
/// where as many documents hold them), so that it is the same number whatever the order of the
/// documents, the number of threads and the depth asked for. Every document has a place: one
/// that holds no query term scores 0.
#[derive(Debug)]
pub struct Bm25Exact {
    params: Bm25Params,
    dictionary: Dictionary,
    /// All documents, for making hits.
    docs: Vec<DocIx>,
    /// Terms before this one are postings, those from it on are columns.
    first_column: u32,
    blocks: Vec<Block>,
    columns: Columns,
    stats: IndexStats,
}

/// As many documents as 16 bits number.
const BLOCK: usize = 1 << 16;

/// A term that one in so many documents holds is a column.
const COLUMN: usize = 8;

/// The postings of documents `BLOCK·i` to `BLOCK·(i + 1)`.
///
/// The position of a document within its block is a `u16`, so that an array of `BLOCK` scores
/// is indexed without a bounds check.
#[derive(Debug)]
struct Block {
    /// Where each term's postings start; one more entry says where the last ones end.
    starts: Vec<usize>,
    docs: Vec<u16>,
    /// What the term adds to the score of the document beside it.
    impacts: Vec<f64>,
}

/// A query's terms that are in the pool and say something, from the rarest on.
#[derive(Debug, Default)]
struct Terms {
    /// Every term's number, ascending, with repeats.
    all: Vec<u32>,
    postings: Vec<Counted>,
    columns: Vec<Counted>,
}

/// What a thread keeps between queries.
#[derive(Debug, Default)]
struct Scratch {
    terms: Terms,
    /// A whole number of blocks.
    scores: Vec<f64>,
    below: Vec<f64>,
    sums: Vec<u16>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Bm25Exact {
    /// Indexes `corpus`, in parallel.
    ///
    /// # Errors
    ///
    /// If `k1` or `b` is out of its range.
    pub fn new(corpus: &Corpus, params: Bm25Params) -> Result<Bm25Exact, Bm25Error> {
        params.check()?;
        let counts = TermCounts::new(corpus, params.analyser);
        let stats = counts.stats();
        let n = match params.empty_documents {
            EmptyDocuments::Counted => stats.documents,
            EmptyDocuments::Excluded => stats.documents - stats.empty_documents,
        };
        // Terms are in order of document frequency, so the terms of a kind are a range.
        let weights: Vec<f64> = (0..narrow(stats.vocabulary))
            .map(|term| params.idf.weight(counts.frequency(term), n) * params.idf.factor(params.k1))
            .collect();
        let last = narrow(weights.partition_point(|&weight| 0.0 < weight));
        let rare = |&term: &u32| COLUMN * counts.frequency(term) < stats.documents;
        let fits = counts.counts.iter().all(|&count| count <= u32::from(u16::MAX));
        let first_column = match fits {
            true => narrow((0..last).take_while(rare).count()),
            false => last,
        };
        let saturation = saturation(&counts, &params, n);
        let blocks = (0..stats.documents)
            .step_by(BLOCK)
            .map(|start| {
                let docs = narrow(start)..narrow((start + BLOCK).min(stats.documents));
                Block::new(&counts, docs, &weights[..first_column as usize], &saturation)
            })
            .collect();
        Ok(Bm25Exact {
            params,
            docs: corpus.docs().collect(),
            first_column,
            blocks,
            columns: Columns::new(&counts, first_column..last, &weights, saturation),
            stats,
            dictionary: counts.dictionary,
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Bm25Params {
        &self.params
    }

    /// What was indexed, for receipts.
    pub fn stats(&self) -> IndexStats {
        self.stats
    }

    /// How many different terms of `query` are in the pool. At 0, every candidate scores 0.
    pub fn query_terms_in_pool(&self, query: QueryText<'_>) -> usize {
        let mut terms = Terms::default();
        self.read(query, &mut terms);
        terms.all.dedup();
        terms.all.len()
    }

    /// The score of every document, in position order.
    pub fn scores(&self, query: QueryText<'_>) -> Vec<f64> {
        SCRATCH.with_borrow_mut(|Scratch { terms, scores, .. }| {
            self.read(query, terms);
            self.add_postings(scores, &terms.postings);
            let scores = &mut scores[..self.docs.len()];
            self.columns.add(scores, &terms.columns);
            scores.to_vec()
        })
    }

    fn rank(
        &self,
        query: QueryText<'_>,
        depth: Depth,
        ties: &TieKeys,
    ) -> Result<Ranking, ScoreError> {
        SCRATCH.with_borrow_mut(|scratch| {
            self.read(query, &mut scratch.terms);
            self.add_postings(&mut scratch.scores, &scratch.terms.postings);
            if let Some(hits) = self.best(scratch, depth)? {
                return Ok(Ranking::new(hits, depth, ties));
            }
            let scores = &mut scratch.scores[..self.docs.len()];
            self.columns.add(scores, &scratch.terms.columns);
            Ranking::of_scores(scores, depth, ties)
        })
    }

    /// Hits among which are the best `depth`, given the sums of all postings, unless it is as
    /// well to add the columns to every score.
    ///
    /// A document whose score can't reach the `depth`-th largest of the scores rounded down is
    /// out, whatever the ties. To the others the columns are added as to any score.
    fn best(&self, scratch: &mut Scratch, depth: Depth) -> Result<Option<Vec<Hit>>, ScoreError> {
        let n = self.docs.len();
        let Scratch { terms, scores, below, sums } = scratch;
        if terms.columns.is_empty() || n < 16 * depth.get() {
            return Ok(None);
        }
        let room = self.columns.bound(below, &scores[..n], &terms.columns, sums);
        let least = kth_largest(below, depth.get());
        // Sums of the same numbers in another order differ by less than this.
        let floor = least - room - 1e-9 * (least + room);
        let may_win = at_least(below, floor);
        if n < 8 * may_win.len() {
            return Ok(None);
        }
        let mut hits = Vec::with_capacity(may_win.len());
        for doc in may_win {
            let mut score = scores[doc];
            for &(column, times) in &terms.columns {
                score += f64::from(times) * self.columns.impact(column, doc);
            }
            hits.push(Hit { doc: self.docs[doc], score: Score::new(score)? });
        }
        Ok(Some(hits))
    }

    /// Makes `scores` the sums of all postings of `terms`.
    fn add_postings(&self, scores: &mut Vec<f64>, terms: &[Counted]) {
        let needed = self.blocks.len() * BLOCK;
        if scores.len() < needed {
            *scores = vec![0.0; needed];
        }
        scores[..self.docs.len()].fill(0.0);
        let (arrays, _) = scores.as_chunks_mut::<BLOCK>();
        for (scores, block) in arrays.iter_mut().zip(&self.blocks) {
            for &(term, times) in terms {
                let times = f64::from(times);
                let range = block.starts[term]..block.starts[term + 1];
                let postings = block.docs[range.clone()].iter().zip(&block.impacts[range]);
                for (&doc, &impact) in postings {
                    scores[usize::from(doc)] += times * impact;
                }
            }
        }
    }

    fn read(&self, query: QueryText<'_>, terms: &mut Terms) {
        let Terms { all, postings, columns } = terms;
        all.clear();
        postings.clear();
        columns.clear();
        self.params.analyser.analyse(query.as_str(), |token| {
            all.extend(self.dictionary.get(token.as_bytes()));
        });
        all.sort_unstable();
        for same in all.chunk_by(|a, b| a == b) {
            let times = self.params.query_terms.counted(same.len());
            match same[0].checked_sub(self.first_column) {
                None => postings.push((same[0] as usize, times)),
                Some(column) if (column as usize) < self.columns.len() => {
                    columns.push((column as usize, times));
                }
                // So common that it says nothing.
                Some(_) => {}
            }
        }
    }
}

impl Retriever for Bm25Exact {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        per_query(queries, |query, ties| Ok(self.rank(query, depth, ties)?))
    }
}

impl Block {
    /// The postings within `docs` of the terms that have a weight.
    fn new(counts: &TermCounts, docs: Range<u32>, weights: &[f64], saturation: &[f64]) -> Block {
        // The positions of a term's postings in this block.
        let within = |term: u32| {
            let range = counts.range(term);
            let all = &counts.docs[range.clone()];
            let skipped = all.partition_point(|&doc| doc < docs.start);
            let end = all.partition_point(|&doc| doc < docs.end);
            range.start + skipped..range.start + end
        };
        let terms = 0..narrow(weights.len());
        let mut starts = vec![0];
        for term in terms.clone() {
            starts.push(starts[term as usize] + within(term).len());
        }
        let positions = || {
            let terms = terms.clone().into_par_iter();
            terms.flat_map_iter(|term| within(term).map(move |at| (term, at)))
        };
        let position = |at: usize| u16::try_from(counts.docs[at] - docs.start).unwrap_or_default();
        let of_docs = positions().map(|(_, at)| position(at)).collect();
        let impacts = positions()
            .map(|(term, at)| {
                let saturation = saturation[counts.docs[at] as usize];
                impact(weights[term as usize], counts.counts[at], saturation)
            })
            .collect();
        Block { starts, docs: of_docs, impacts }
    }
}

/// `k1·(1 - b + b·l/avgdl)` for each document, or a number so small that it adds nothing to a
/// count where that is 0, so that a count of 0 weighs 0 and no other case is special.
fn saturation(counts: &TermCounts, params: &Bm25Params, n: usize) -> Vec<f64> {
    let total: u64 = counts.lengths.iter().map(|&length| u64::from(length)).sum();
    let average = total as f64 / n as f64;
    let saturation = |&length: &u32| {
        let length = f64::from(params.norms.length(length));
        let saturation = params.k1 * ((1.0 - params.b) + params.b * length / average);
        saturation.max(f64::MIN_POSITIVE)
    };
    counts.lengths.iter().map(saturation).collect()
}
