//! Models that are asked nothing twice.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use cleanhit_core::{BoxError, ChatModel, Decoding, Message, QueryText, Reply, Scorer, Speaker};

use super::{Journal, Key, digest, lines::Answer};

/// Pairs scored before the next are begun: a kill loses no more.
const HANDFUL: usize = 32;

/// A language model, and the replies it gave before.
pub struct Journalled<M> {
    model: M,
    journal: Arc<Journal>,
    counts: Counts,
}

/// A scorer, and the scores it gave before. A pair's score must not depend on the other pairs it
/// is scored with.
pub struct JournalledScorer<S> {
    scorer: S,
    journal: Arc<Journal>,
    counts: Counts,
}

/// What a journal did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JournalCounts {
    /// Answers that were read.
    pub found: usize,
    /// Answers that the model gave.
    pub asked: usize,
}

#[derive(Default)]
struct Counts {
    found: AtomicUsize,
    asked: AtomicUsize,
}

impl Counts {
    fn get(&self) -> JournalCounts {
        let get = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        JournalCounts { found: get(&self.found), asked: get(&self.asked) }
    }
}

impl<M: ChatModel> Journalled<M> {
    /// Keeps the replies of `model` in `journal`, which is about it.
    pub fn new(model: M, journal: Arc<Journal>) -> Journalled<M> {
        Journalled { model, journal, counts: Counts::default() }
    }

    /// What was read and what was asked so far.
    pub fn counts(&self) -> JournalCounts {
        self.counts.get()
    }
}

impl<S: Scorer> JournalledScorer<S> {
    /// Keeps the scores of `scorer` in `journal`, which is about it.
    pub fn new(scorer: S, journal: Arc<Journal>) -> JournalledScorer<S> {
        JournalledScorer { scorer, journal, counts: Counts::default() }
    }

    /// What was read and what was asked so far.
    pub fn counts(&self) -> JournalCounts {
        self.counts.get()
    }
}

impl<M: ChatModel> ChatModel for Journalled<M> {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        let key = talk_key(messages, decoding);
        if let Some(Answer::Reply(reply)) = self.journal.get(&key)? {
            self.counts.found.fetch_add(1, Ordering::Relaxed);
            return Ok(reply);
        }
        let reply = self.model.reply(messages, decoding)?;
        self.counts.asked.fetch_add(1, Ordering::Relaxed);
        self.journal.append(&[(key, Answer::Reply(reply.clone()))])?;
        Ok(reply)
    }
}

impl<S: Scorer> Scorer for JournalledScorer<S> {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let mut scores = vec![0.0; texts.len()];
        let mut missing: Vec<(usize, Key)> = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            let key = digest([b"pair", query.as_str().as_bytes(), text.as_bytes()]);
            match self.journal.get(&key)? {
                Some(Answer::Score(score)) => scores[i] = score,
                _ => missing.push((i, key)),
            }
        }
        self.counts.found.fetch_add(texts.len() - missing.len(), Ordering::Relaxed);
        for handful in missing.chunks(HANDFUL) {
            let texts: Vec<&str> = handful.iter().map(|&(i, _)| texts[i]).collect();
            let found = self.scorer.score(query, &texts)?;
            if found.len() != texts.len() {
                // The runner says what is wrong with it.
                return Ok(found);
            }
            self.counts.asked.fetch_add(found.len(), Ordering::Relaxed);
            for (&(i, _), &score) in handful.iter().zip(&found) {
                scores[i] = score;
            }
            // What is not finite is for the runner to refuse.
            let finite = handful.iter().zip(found).filter(|(_, score)| score.is_finite());
            let answers: Vec<(Key, Answer)> =
                finite.map(|(&(_, key), score)| (key, Answer::Score(score))).collect();
            self.journal.append(&answers)?;
        }
        Ok(scores)
    }
}

/// SHA-256 of a talk and of how its reply is made.
fn talk_key(messages: &[Message], decoding: &Decoding) -> Key {
    let Decoding { max_tokens, temperature, seed } = decoding;
    // At temperature 0 nothing is drawn, so the seed changes nothing.
    let seed = if *temperature == 0.0 { 0 } else { *seed };
    let numbers = [*max_tokens as u64, temperature.to_bits(), seed].map(u64::to_be_bytes);
    let mut parts: Vec<&[u8]> = vec![b"talk"];
    parts.extend(numbers.iter().map(|number| &number[..]));
    for Message { speaker, text } in messages {
        parts.push(match speaker {
            Speaker::System => b"system",
            Speaker::User => b"user",
            Speaker::Assistant => b"assistant",
        });
        parts.push(text.as_bytes());
    }
    digest(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_question_is_in_its_key() {
        let decoding = Decoding { max_tokens: 9, temperature: 0.5, seed: 1 };
        let talk = vec![Message::new(Speaker::User, "ab"), Message::new(Speaker::Assistant, "c")];
        let key = talk_key(&talk, &decoding);
        let others = [
            talk_key(&talk, &Decoding { max_tokens: 8, ..decoding }),
            talk_key(&talk, &Decoding { temperature: 0.6, ..decoding }),
            talk_key(&talk, &Decoding { seed: 2, ..decoding }),
            talk_key(&talk[..1], &decoding),
            talk_key(&[talk[1].clone(), talk[0].clone()], &decoding),
            talk_key(&[Message::new(Speaker::System, "ab"), talk[1].clone()], &decoding),
            talk_key(
                &[Message::new(Speaker::User, "a"), Message::new(Speaker::Assistant, "bc")],
                &decoding,
            ),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_ne!(key, *other, "{i}");
        }
        assert_eq!(key, talk_key(&talk, &decoding));
        let greedy = |seed| talk_key(&talk, &Decoding { temperature: 0.0, seed, max_tokens: 9 });
        assert_eq!(greedy(1), greedy(2));
    }
}
