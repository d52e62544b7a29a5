//! In what order does a language model put candidates that it sees together?
//!
//! The candidates are shown in windows from the end of the first stage's ranking to its start;
//! each window's answer reorders it before the next is shown. `spec` is what a card says,
//! `windows` which candidates are shown together, `prompt` how, and `answer` reads the reply.
//!
//! Architecture invariant: an answer moves candidates and does nothing else. Whatever a model
//! replies, every candidate is there once, and what a reply leaves out stays in the order it was
//! shown in. [`ListwiseCounts`] says how often that was needed.

mod answer;
mod cut;
mod prompt;
mod spec;
#[cfg(test)]
mod tests;
mod windows;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cleanhit_core::{
    BoxError, ChatModel, Corpus, Decoding, Depth, DocIx, Hit, QueryText, Ranking, Reranker, Role,
    Score, TieKeys,
};

pub use cut::Cut;
pub use spec::{Form, ListwiseSpec, MOST_RETRIES, MOST_SHOWN};

use crate::{lengths::Seen, prepare::TextSpec};
use answer::Answer;

/// A language model that orders candidates.
///
/// A candidate's score is the number of candidates from its own place to the end, so that no two
/// are equal and no rule of ties has a say.
pub struct Listwise<M, C> {
    model: M,
    cut: C,
    spec: ListwiseSpec,
    text: TextSpec,
    tally: Tally,
}

/// What a listwise reranker did: sums over all its queries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ListwiseCounts {
    /// Windows that were ordered.
    pub windows: usize,
    /// Replies, those to retries included.
    pub replies: usize,
    /// Replies to retries.
    pub retries: usize,
    /// Replies that were broken off.
    pub unfinished: usize,
    /// Windows whose reply names no candidate.
    pub non_answers: usize,
    /// Numbers that a window's reply repeats.
    pub repeats: usize,
    /// Numbers of no candidate in a window's reply.
    pub unknown: usize,
    /// Candidates that a window's reply leaves out.
    pub omitted: usize,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Tokens of all replies.
    pub reply_tokens: u64,
    /// What was seen of the queries.
    pub queries: Seen,
    /// What was seen of the candidates' texts, each once a query.
    pub documents: Seen,
}

/// Counts that can be read while, and after, a reranker works.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<Mutex<ListwiseCounts>>);

impl<M: ChatModel, C: Cut> Listwise<M, C> {
    /// Asks `model` as `spec` says, and shows it of each text what `text` says, cut by `cut`.
    ///
    /// # Errors
    ///
    /// If a field of the spec or of the text's is out of its range.
    pub fn new(
        model: M,
        cut: C,
        spec: ListwiseSpec,
        text: TextSpec,
    ) -> Result<Listwise<M, C>, BoxError> {
        spec.check()?;
        text.check()?;
        Ok(Listwise { model, cut, spec, text, tally: Tally::default() })
    }

    /// What it counts, from now on.
    pub fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// The order of a window's texts, best first.
    fn window(&self, query: &str, documents: &[&str]) -> Result<Vec<usize>, BoxError> {
        let talk = prompt::talk(self.spec.form, query, documents);
        let mut best: Option<Answer> = None;
        for attempt in 0..=self.spec.retries {
            let decoding = Decoding {
                max_tokens: self.spec.max_reply_tokens,
                temperature: self.spec.temperature,
                seed: self.spec.seed.wrapping_add(attempt),
            };
            let reply = self.model.reply(&talk, &decoding)?;
            let mut counts = self.tally.lock();
            counts.replies += 1;
            counts.retries += usize::from(0 < attempt);
            counts.unfinished += usize::from(!reply.finished);
            counts.prompt_tokens += reply.prompt_tokens as u64;
            counts.reply_tokens += reply.reply_tokens as u64;
            drop(counts);
            let answer = answer::read(self.spec.form, &reply.text, documents.len());
            let enough = answer.is_enough();
            // Of tries that name as many, the first.
            if best.as_ref().is_none_or(|best| best.named < answer.named) {
                best = Some(answer);
            }
            if enough {
                break;
            }
        }
        let Some(answer) = best else { return Ok((0..documents.len()).collect()) };
        let mut counts = self.tally.lock();
        counts.windows += 1;
        counts.non_answers += usize::from(answer.named == 0);
        counts.repeats += answer.repeats;
        counts.unknown += answer.unknown;
        counts.omitted += answer.omitted();
        Ok(answer.order)
    }
}

impl<M: ChatModel, C: Cut> Reranker for Listwise<M, C> {
    fn rerank(
        &self,
        query: QueryText<'_>,
        corpus: &Corpus,
        ranking: Ranking,
        ties: &TieKeys,
    ) -> Result<Ranking, BoxError> {
        let docs: Vec<DocIx> = ranking.hits().iter().map(|hit| hit.doc).collect();
        let query = self.text.of(Role::Query, query.as_str());
        let (query, seen) = self.cut.cut(&query, self.spec.max_query_tokens)?;
        let (mut queries, mut documents) = (Seen::default(), Seen::default());
        queries.count(seen);
        let mut texts: Vec<String> = Vec::with_capacity(docs.len());
        for &doc in &docs {
            let text = self.text.of(Role::Document, corpus.text(doc));
            let (text, seen) = self.cut.cut(&text, self.spec.max_document_tokens)?;
            documents.count(seen);
            texts.push(text);
        }
        let mut counts = self.tally.lock();
        counts.queries = counts.queries.plus(queries);
        counts.documents = counts.documents.plus(documents);
        drop(counts);
        let ListwiseSpec { window, stride, .. } = self.spec;
        let order = windows::ordered(docs.len(), window, stride, |shown| {
            let documents: Vec<&str> = shown.iter().map(|&i| texts[i].as_str()).collect();
            self.window(&query, &documents)
        })?;
        let depth = Depth::of_len(docs.len());
        let left = (1..=docs.len()).rev();
        let hits = order.iter().zip(left).map(|(&i, left)| {
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            Ok(Hit { doc: docs[i], score: Score::new(f64::from(left))? })
        });
        Ok(Ranking::new(hits.collect::<Result<Vec<Hit>, BoxError>>()?, depth, ties))
    }
}

impl Tally {
    /// The sums so far.
    pub fn counts(&self) -> ListwiseCounts {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, ListwiseCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
