//! One line of a journal.

use cleanhit_core::Reply;
use serde::{Deserialize, Serialize};

use super::{Key, digest};

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Reply(Reply),
    /// Finite.
    Score(f64),
}

/// As it is written: `key`, one of `reply` and `score`, and `check`, the first 8 bytes of the
/// SHA-256 over the others.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<ReplyLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    check: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ReplyLine {
    text: String,
    finished: bool,
    prompt_tokens: usize,
    reply_tokens: usize,
}

/// The line of an answer, with its line end.
pub(super) fn write(key: &Key, answer: &Answer) -> Result<String, serde_json::Error> {
    let (reply, score) = match answer {
        Answer::Score(score) => (None, Some(*score)),
        Answer::Reply(Reply { text, finished, prompt_tokens, reply_tokens }) => {
            let reply = ReplyLine {
                text: text.clone(),
                finished: *finished,
                prompt_tokens: *prompt_tokens,
                reply_tokens: *reply_tokens,
            };
            (Some(reply), None)
        }
    };
    let check = check(key, answer);
    let mut line = serde_json::to_string(&Line { key: hex::encode(key), reply, score, check })?;
    line.push('\n');
    Ok(line)
}

/// The key and the answer of a line, or what is wrong with it.
pub(super) fn read(line: &[u8]) -> Result<(Key, Answer), String> {
    let line: Line = serde_json::from_slice(line).map_err(|err| err.to_string())?;
    let mut key = Key::default();
    hex::decode_to_slice(&line.key, &mut key).map_err(|err| format!("field `key`: {err}"))?;
    let answer = match (line.reply, line.score) {
        (Some(ReplyLine { text, finished, prompt_tokens, reply_tokens }), None) => {
            Answer::Reply(Reply { text, finished, prompt_tokens, reply_tokens })
        }
        (None, Some(score)) => Answer::Score(score),
        _ => return Err("neither a `reply` nor a `score` alone".to_owned()),
    };
    match check(&key, &answer) == line.check {
        true => Ok((key, answer)),
        false => Err("its `check` is of another answer".to_owned()),
    }
}

fn check(key: &Key, answer: &Answer) -> String {
    let digest = match answer {
        Answer::Score(score) => digest([&key[..], b"score", &score.to_bits().to_be_bytes()]),
        Answer::Reply(Reply { text, finished, prompt_tokens, reply_tokens }) => digest([
            &key[..],
            b"reply",
            text.as_bytes(),
            &[u8::from(*finished)],
            &(*prompt_tokens as u64).to_be_bytes(),
            &(*reply_tokens as u64).to_be_bytes(),
        ]),
    };
    hex::encode(&digest[..8])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_what_its_documentation_says() {
        let line = write(&[7; 32], &Answer::Score(-1.5)).unwrap();
        let key = "07".repeat(32);
        assert_eq!(
            line,
            format!(
                "{{\"key\":\"{key}\",\"score\":-1.5,\"check\":\"{}\"}}\n",
                check(&[7; 32], &Answer::Score(-1.5))
            )
        );
    }

    #[test]
    fn a_changed_line_is_noticed() {
        let reply = Reply {
            text: "[2] > [1]\n\"é\u{1}".into(),
            finished: true,
            prompt_tokens: 300,
            reply_tokens: 9,
        };
        for answer in [Answer::Reply(reply), Answer::Score(0.1)] {
            let line = write(&[9; 32], &answer).unwrap();
            assert_eq!(read(line.trim_end().as_bytes()), Ok(([9; 32], answer)));
            let bytes = line.trim_end().as_bytes();
            for at in 0..bytes.len() {
                let mut changed = bytes.to_vec();
                changed[at] ^= 1;
                let same = read(&changed) == read(bytes);
                // A letter of a key or a check may change its case and no more.
                assert!(!same || changed[at].eq_ignore_ascii_case(&bytes[at]), "byte {at}");
            }
            for end in 0..bytes.len() {
                read(&bytes[..end]).unwrap_err();
            }
        }
    }

    proptest! {
        /// Scores and texts come back bit for bit.
        #[test]
        fn answers_survive(bits in any::<u64>(), text in any::<String>(), tokens in any::<u32>()) {
            let score = f64::from_bits(bits);
            let mut answers = vec![Answer::Reply(Reply {
                text, finished: tokens % 2 == 0, prompt_tokens: tokens as usize, reply_tokens: 0,
            })];
            if score.is_finite() {
                answers.push(Answer::Score(score));
            }
            for answer in answers {
                let line = write(&[1; 32], &answer).unwrap();
                prop_assert!(line.ends_with('\n') && line.lines().count() == 1);
                let (_, read) = read(line.as_bytes()).unwrap();
                match (&read, &answer) {
                    (Answer::Score(a), Answer::Score(b)) => prop_assert_eq!(a.to_bits(), b.to_bits()),
                    _ => prop_assert_eq!(&read, &answer),
                }
            }
        }
    }
}
