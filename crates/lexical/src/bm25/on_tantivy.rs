//! BM25 as tantivy computes it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use cleanhit_core::{BoxError, Corpus, Depth, QueryText, Ranking, Retriever, TieKeys, per_query};
use tantivy::{
    Index, InvertedIndexReader, ReloadPolicy, Searcher, SegmentReader, SingleSegmentIndexWriter,
    TantivyDocument, Term,
    directory::RamDirectory,
    query::{Bm25StatisticsProvider as _, Bm25Weight},
    schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager},
};

use crate::{
    analysis::Analyser,
    bm25::params::{Bm25Error, QueryTerms},
    stats::IndexStats,
};

/// BM25 as tantivy 0.27 computes it, on an index in memory.
///
/// k1 1.2, b 0.75, idf `ln(1 + (N - df + 0.5)/(df + 0.5))`, factor `k1 + 1`, one-byte lengths,
/// empty documents counted, single precision: constants of its source.
///
/// One segment, with documents in corpus order. A query is a union of terms, made of the
/// analyser's tokens and never parsed. Every document is scored, so that the order is ours and
/// not tantivy's; one that holds no query term scores 0.
pub struct Bm25Tantivy {
    params: TantivyParams,
    searcher: Searcher,
    field: Field,
    stats: IndexStats,
}

/// What tantivy leaves open.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TantivyParams {
    /// How texts and queries become tokens. A token above 65,530 bytes is dropped.
    pub analyser: Analyser,
    /// What a repeated query term counts.
    pub query_terms: QueryTerms,
}

/// The longest token that tantivy takes, in bytes.
const LONGEST: usize = 65_530;

/// The name our analyser has in tantivy's schema.
const TOKENIZER: &str = "cleanhit";

impl Bm25Tantivy {
    /// Indexes `corpus`, in one thread.
    ///
    /// # Errors
    ///
    /// tantivy's own.
    pub fn new(corpus: &Corpus, params: TantivyParams) -> Result<Bm25Tantivy, Bm25Error> {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let mut schema = Schema::builder();
        let options = TextOptions::default().set_indexing_options(indexing);
        let field = schema.add_text_field("text", options);
        let dropped = Arc::new(AtomicU64::new(0));
        let tokenizer = OurTokenizer::new(params.analyser, Arc::clone(&dropped));
        let tokenizers = TokenizerManager::new();
        tokenizers.register(TOKENIZER, TextAnalyzer::from(tokenizer));
        let mut writer: SingleSegmentIndexWriter = Index::builder()
            .schema(schema.build())
            .tokenizers(tokenizers)
            .single_segment_index_writer(RamDirectory::create(), 64 << 20)?;
        for doc in corpus.docs() {
            let mut document = TantivyDocument::new();
            document.add_text(field, corpus.text(doc));
            writer.add_document(document)?;
        }
        let index = writer.finalize()?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let mut tantivy = Bm25Tantivy {
            params,
            searcher: reader.searcher(),
            field,
            stats: IndexStats { documents: corpus.len(), ..IndexStats::default() },
        };
        tantivy.stats.dropped_tokens = dropped.load(Ordering::Relaxed);
        tantivy.count()?;
        Ok(tantivy)
    }

    /// The parameters.
    pub fn params(&self) -> &TantivyParams {
        &self.params
    }

    /// What was indexed, for receipts.
    pub fn stats(&self) -> IndexStats {
        self.stats
    }

    /// How many different terms of `query` are in the pool. At 0, every candidate scores 0.
    ///
    /// # Errors
    ///
    /// tantivy's own.
    pub fn query_terms_in_pool(&self, query: QueryText<'_>) -> Result<usize, Bm25Error> {
        let mut found = 0;
        for (_, inverted) in self.segments()? {
            for (term, _) in self.terms(query) {
                found += usize::from(inverted.doc_freq(&term).map_err(io)? != 0);
            }
        }
        Ok(found)
    }

    /// The score of every document, in position order.
    ///
    /// Term by term over blocks of postings, which gives the scores of tantivy's union of
    /// boosted term queries, bit for bit: it adds a document's terms in the same order. That
    /// union calls through a pointer for every posting as soon as one term is boosted.
    ///
    /// # Errors
    ///
    /// tantivy's own.
    pub fn scores(&self, query: QueryText<'_>) -> Result<Vec<f64>, Bm25Error> {
        let mut scores: Vec<f32> = vec![0.0; self.stats.documents];
        let terms = self.terms(query);
        let documents = self.searcher.total_num_docs()?;
        let average = self.searcher.total_num_tokens(self.field)? as f32 / documents as f32;
        for (segment, inverted) in self.segments()? {
            let norms = segment.get_fieldnorms_reader(self.field)?;
            for &(ref term, count) in &terms {
                let found = inverted.read_block_postings(term, IndexRecordOption::WithFreqs);
                let Some(mut postings) = found.map_err(io)? else { continue };
                let frequency = u64::from(postings.doc_freq());
                let weight =
                    Bm25Weight::for_one_term_without_explain(frequency, documents, average);
                let weight = match self.params.query_terms {
                    QueryTerms::Count => weight.boost_by(f32::from(count)),
                    QueryTerms::Binary => weight,
                };
                while !postings.docs().is_empty() {
                    for (&doc, &count) in postings.docs().iter().zip(postings.freqs()) {
                        scores[doc as usize] += weight.score(norms.fieldnorm_id(doc), count);
                    }
                    postings.advance();
                }
            }
        }
        Ok(scores.into_iter().map(f64::from).collect())
    }

    /// The query's different terms, ascending, and how often each occurs, up to 65,535.
    fn terms(&self, query: QueryText<'_>) -> Vec<(Term, u16)> {
        let mut tokens = Vec::new();
        self.params.analyser.analyse(query.as_str(), |token| {
            if token.len() <= LONGEST {
                tokens.push(token.to_owned());
            }
        });
        tokens.sort_unstable();
        tokens
            .chunk_by(|a, b| a == b)
            .map(|same| {
                let count = u16::try_from(same.len()).unwrap_or(u16::MAX);
                (Term::from_field_text(self.field, &same[0]), count)
            })
            .collect()
    }

    fn segments(&self) -> Result<Vec<(&SegmentReader, Arc<InvertedIndexReader>)>, Bm25Error> {
        let segments = self.searcher.segment_readers().iter();
        segments.map(|segment| Ok((segment, segment.inverted_index(self.field)?))).collect()
    }

    fn count(&mut self) -> Result<(), Bm25Error> {
        let (mut vocabulary, mut tokens, mut empty) = (0, 0, 0);
        for (segment, inverted) in self.segments()? {
            vocabulary += inverted.terms().num_terms();
            tokens += inverted.total_num_tokens();
            let norms = segment.get_fieldnorms_reader(self.field)?;
            empty += (0..segment.max_doc()).filter(|&doc| norms.fieldnorm_id(doc) == 0).count();
        }
        self.stats.vocabulary = vocabulary;
        self.stats.tokens = tokens;
        self.stats.empty_documents = empty;
        Ok(())
    }
}

impl Retriever for Bm25Tantivy {
    fn retrieve(
        &self,
        queries: &[(QueryText<'_>, TieKeys)],
        depth: Depth,
    ) -> Result<Vec<Ranking>, BoxError> {
        per_query(queries, |query, ties| Ok(Ranking::of_scores(&self.scores(query)?, depth, ties)?))
    }
}

fn io(error: std::io::Error) -> Bm25Error {
    Bm25Error::Tantivy(error.into())
}

/// Our analyser, as tantivy calls it.
#[derive(Clone)]
struct OurTokenizer {
    analyser: Analyser,
    dropped: Arc<AtomicU64>,
    /// The tokens of the text at hand, one after another.
    text: String,
    /// Where each token ends.
    ends: Vec<usize>,
    token: Token,
}

struct OurTokens<'a> {
    tokens: &'a mut OurTokenizer,
    next: usize,
}

impl OurTokenizer {
    fn new(analyser: Analyser, dropped: Arc<AtomicU64>) -> OurTokenizer {
        OurTokenizer {
            analyser,
            dropped,
            text: String::new(),
            ends: Vec::new(),
            token: Token::default(),
        }
    }
}

impl Tokenizer for OurTokenizer {
    type TokenStream<'a> = OurTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> OurTokens<'a> {
        self.text.clear();
        self.ends.clear();
        self.token.reset();
        let mut too_long = 0;
        let dropped = self.analyser.analyse(text, |token| {
            if LONGEST < token.len() {
                too_long += 1;
            } else {
                self.text.push_str(token);
                self.ends.push(self.text.len());
            }
        });
        self.dropped.fetch_add(dropped + too_long, Ordering::Relaxed);
        OurTokens { tokens: self, next: 0 }
    }
}

impl TokenStream for OurTokens<'_> {
    fn advance(&mut self) -> bool {
        let OurTokenizer { text, ends, token, .. } = &mut *self.tokens;
        let Some(&end) = ends.get(self.next) else {
            return false;
        };
        let start = self.next.checked_sub(1).map_or(0, |before| ends[before]);
        token.text.clear();
        token.text.push_str(&text[start..end]);
        token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.tokens.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens.token
    }
}

#[cfg(test)]
mod tests {
    use cleanhit_core::{Candidate, Pool};
    use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery};

    use super::*;

    /// What tantivy's own union of boosted term queries gives.
    fn union(bm25: &Bm25Tantivy, query: QueryText<'_>) -> Vec<f64> {
        let clauses = bm25.terms(query).into_iter().map(|(term, count)| {
            let term: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            let boosted: Box<dyn Query> = Box::new(BoostQuery::new(term, f32::from(count)));
            (Occur::Should, boosted)
        });
        let query = BooleanQuery::new(clauses.collect());
        let weight = query.weight(EnableScoring::enabled_from_searcher(&bm25.searcher)).unwrap();
        let mut scores = vec![0.0; bm25.stats.documents];
        for segment in bm25.searcher.segment_readers() {
            let mut set = |doc: u32, score: f32| scores[doc as usize] = f64::from(score);
            weight.for_each(segment, &mut set).unwrap();
        }
        scores
    }

    #[test]
    fn scores_are_those_of_a_union_bit_for_bit() {
        // Above the union's window of 4,096 documents, and above a block of postings.
        let text = |i: u32| -> String {
            let words = (0..30 + i % 50).map(|j| format!("w{} ", i.wrapping_mul(j * j + 7) % 97));
            words.collect()
        };
        let candidates = (0..5000).map(|i| {
            let id = format!("c{i}");
            Candidate { id: id.as_str().into(), text: text(i), name: None }
        });
        let pool = Pool::new("test", candidates.collect()).unwrap();
        let bm25 = Bm25Tantivy::new(pool.corpus(), TantivyParams::default()).unwrap();
        for query in ["w1 w2 w2 w3 w50 w50 w50", "w5", "absent", "", "w1 w96 absent w1"] {
            let query = QueryText::new(query);
            let bits = |scores: Vec<f64>| Vec::from_iter(scores.into_iter().map(f64::to_bits));
            assert_eq!(bits(bm25.scores(query).unwrap()), bits(union(&bm25, query)));
        }
    }
}
