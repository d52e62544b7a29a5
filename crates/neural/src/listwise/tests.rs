//! A listwise reranker over models that say what a test has them say.

use std::sync::atomic::{AtomicUsize, Ordering};

use cleanhit_core::{Candidate, Message, Pool, Reply, Speaker, TieRule};
use proptest::prelude::*;

use super::*;
use crate::{prepare::Layout, text::Truncation};

const SPEC: ListwiseSpec = ListwiseSpec {
    form: Form::RankGpt,
    window: 20,
    stride: 10,
    max_query_tokens: 50,
    max_document_tokens: 3,
    max_reply_tokens: 60,
    temperature: 0.0,
    seed: 7,
    retries: 0,
};

const WHOLE: TextSpec = TextSpec {
    document: Layout::Text,
    query_characters: None,
    description_characters: None,
    body_characters: None,
};

/// Replies with what `say` makes of the talk and the decoding.
struct Scripted<F> {
    say: F,
    asked: AtomicUsize,
}

fn scripted<F: Fn(&[Message], &Decoding) -> String>(say: F) -> Scripted<F> {
    Scripted { say, asked: AtomicUsize::new(0) }
}

impl<F: Fn(&[Message], &Decoding) -> String + Send + Sync> ChatModel for Scripted<F> {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let text = (self.say)(messages, decoding);
        let words = |text: &str| text.split_whitespace().count();
        let prompt_tokens = messages.iter().map(|message| words(&message.text)).sum();
        let (reply_tokens, finished) = (words(&text), !text.ends_with('…'));
        Ok(Reply { text, finished, prompt_tokens, reply_tokens })
    }
}

/// Words are tokens.
struct Words;

impl Cut for Words {
    fn cut(&self, text: &str, max_tokens: usize) -> Result<(String, Truncation), BoxError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let kept = words.len().min(max_tokens);
        Ok((words[..kept].join(" "), Truncation { tokens: words.len(), kept }))
    }
}

fn pool(n: usize) -> Pool {
    let candidate = |i: usize| Candidate {
        id: format!("c{i:02}").as_str().into(),
        text: format!("skill {i:02} of many words"),
        name: None,
    };
    Pool::new("p", (0..n).map(candidate).collect()).unwrap()
}

/// The candidates in the order of their ids, as a first stage ranks them.
fn first(pool: &Pool, ties: &TieKeys) -> Ranking {
    let n = u32::try_from(pool.len()).unwrap();
    let hits = (0..n).map(|i| Hit {
        doc: pool.position(&format!("c{i:02}")).unwrap(),
        score: Score::new(f64::from(n - i) / 7.0).unwrap(),
    });
    Ranking::new(hits, Depth::of_len(pool.len()), ties)
}

fn reranked<M: ChatModel>(listwise: &Listwise<M, Words>, n: usize) -> (Vec<String>, Vec<f64>) {
    let pool = pool(n);
    let ties = TieKeys::new(TieRule::Hash, &"q".into(), &pool);
    let ranking = first(&pool, &ties);
    let found = listwise.rerank(QueryText::new("a query"), pool.corpus(), ranking, &ties).unwrap();
    let ids = found.hits().iter().map(|hit| pool.id(hit.doc).to_string()).collect();
    (ids, found.hits().iter().map(|hit| hit.score.get()).collect())
}

fn listwise<M: ChatModel>(model: M, spec: ListwiseSpec) -> Listwise<M, Words> {
    Listwise::new(model, Words, spec, WHOLE).unwrap()
}

#[test]
fn the_models_order_is_the_ranking_and_no_two_scores_are_equal() {
    let model = listwise(scripted(|_, _| "[3] > [1]".to_owned()), SPEC);
    let (ids, scores) = reranked(&model, 4);
    assert_eq!(ids, ["c02", "c00", "c01", "c03"]);
    assert_eq!(scores, [4.0, 3.0, 2.0, 1.0]);
    let counts = model.tally().counts();
    assert_eq!((counts.windows, counts.replies, counts.omitted), (1, 1, 2));
    assert_eq!((counts.repeats, counts.unknown, counts.non_answers), (0, 0, 0));
    assert_eq!(counts.reply_tokens, 3);
}

#[test]
fn texts_are_cut_and_counted_and_shown_in_first_stage_order() {
    let model = listwise(
        scripted(|talk: &[Message], _: &Decoding| {
            let shown: Vec<&str> = talk
                .iter()
                .filter(|turn| turn.speaker == Speaker::User && turn.text.starts_with('['))
                .map(|turn| turn.text.as_str())
                .collect();
            assert_eq!(shown, ["[1] skill 00 of", "[2] skill 01 of", "[3] skill 02 of"]);
            String::new()
        }),
        SPEC,
    );
    let (ids, _) = reranked(&model, 3);
    assert_eq!(ids, ["c00", "c01", "c02"], "no answer leaves the order");
    let counts = model.tally().counts();
    assert_eq!((counts.non_answers, counts.omitted), (1, 3));
    let documents = Seen { texts: 3, cut: 3, tokens: 15, tokens_lost: 6 };
    let queries = Seen { texts: 1, cut: 0, tokens: 2, tokens_lost: 0 };
    assert_eq!((counts.documents, counts.queries), (documents, queries));
}

#[test]
fn windows_slide_from_the_end() {
    let best = |talk: &[Message], _: &Decoding| {
        let best = talk.iter().find(|turn| turn.text.ends_with("skill 05 of"));
        best.unwrap().text.split(' ').next().unwrap().to_owned()
    };
    let spec = ListwiseSpec { window: 4, stride: 2, ..SPEC };
    let model = listwise(scripted(best), spec);
    let (ids, _) = reranked(&model, 6);
    assert_eq!(ids, ["c05", "c00", "c01", "c02", "c03", "c04"]);
    assert_eq!(model.tally().counts().windows, 2);
}

#[test]
fn one_candidate_asks_nothing() {
    let model = listwise(scripted(|_, _| "[1]".to_owned()), SPEC);
    assert_eq!(reranked(&model, 1).0, ["c00"]);
    assert_eq!(model.model.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn retries_change_the_seed_and_the_best_try_counts() {
    let spec = ListwiseSpec { form: Form::SrAgents, temperature: 0.7, retries: 3, ..SPEC };
    let say = |_: &[Message], decoding: &Decoding| match decoding.seed {
        7 => "none of them…".to_owned(),
        8 => "4, 4, 9".to_owned(),
        9 => "3".to_owned(),
        10 => "2 and…".to_owned(),
        seed => panic!("seed {seed}"),
    };
    let model = listwise(scripted(say), spec.clone());
    assert_eq!(reranked(&model, 4).0, ["c03", "c00", "c01", "c02"], "the first of equal tries");
    let counts = model.tally().counts();
    assert_eq!((counts.replies, counts.retries, counts.unfinished), (4, 3, 2));
    // The counts of what a reply says are those of the reply that is used.
    assert_eq!((counts.repeats, counts.unknown, counts.omitted), (1, 1, 3));
    assert_eq!(counts.windows, 1);
    // Half is enough: there is no retry.
    let model = listwise(scripted(|_, _| "4, 2".to_owned()), spec);
    assert_eq!(reranked(&model, 4).0, ["c03", "c01", "c00", "c02"]);
    assert_eq!(model.tally().counts().retries, 0);
}

#[test]
fn a_models_error_is_the_rerankers() {
    struct Broken;
    impl ChatModel for Broken {
        fn reply(&self, _: &[Message], _: &Decoding) -> Result<Reply, BoxError> {
            Err("the talk is too long".into())
        }
    }
    let pool = pool(3);
    let ties = TieKeys::new(TieRule::Hash, &"q".into(), &pool);
    let ranking = first(&pool, &ties);
    let model = listwise(Broken, SPEC);
    let err = model.rerank(QueryText::new("q"), pool.corpus(), ranking, &ties).unwrap_err();
    assert_eq!(err.to_string(), "the talk is too long");
}

#[test]
fn a_card_that_contradicts_itself_is_refused() {
    let refused = |spec, text| {
        let model = scripted(|_: &[Message], _: &Decoding| String::new());
        Listwise::new(model, Words, spec, text).err().unwrap().to_string()
    };
    let err = refused(ListwiseSpec { retries: 1, ..SPEC }, WHOLE);
    assert!(err.contains("field `retries` is 1"), "{err}");
    let err = refused(SPEC, TextSpec { body_characters: Some(1), ..WHOLE });
    assert!(err.contains("field `body_characters`"), "{err}");
}

proptest! {
    /// Whatever a model replies, the same candidates come out, in a strict order.
    #[test]
    fn hostile_replies_lose_and_add_nobody(
        reply in "[\\[\\]> ,0-9a-z]{0,40}", n in 1usize..30, form in any::<bool>(),
    ) {
        let form = if form { Form::RankGpt } else { Form::SrAgents };
        let spec = ListwiseSpec { form, window: 7, stride: 3, ..SPEC };
        let (mut ids, scores) = reranked(&listwise(scripted(|_, _| reply.clone()), spec), n);
        prop_assert!(scores.windows(2).all(|pair| pair[1] < pair[0]));
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..n).map(|i| format!("c{i:02}")).collect::<Vec<_>>());
    }
}
