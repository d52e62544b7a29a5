//! What a method card says of a listwise reranker.

use serde::{Deserialize, Serialize};

use crate::error::NeuralError;

/// How a language model is asked for an order. No field has a default.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ListwiseSpec {
    /// How the candidates are shown and the answer is read.
    pub form: Form,
    /// Candidates shown at once, from 2 to [`MOST_SHOWN`].
    pub window: usize,
    /// How far each window lies before the last, from 1 to `window`.
    pub stride: usize,
    /// Tokens kept of the query, at least 1; the rest is cut off at the end.
    pub max_query_tokens: usize,
    /// Tokens kept of each candidate's text, at least 1; the rest is cut off at the end.
    pub max_document_tokens: usize,
    /// Tokens after which a reply is broken off, at least 1.
    pub max_reply_tokens: usize,
    /// What logits are divided by before a token is drawn, from 0 to 2. At 0 the likeliest token
    /// is taken.
    pub temperature: f64,
    /// Seeds the draws of the first try; each retry adds 1.
    pub seed: u64,
    /// How often the model is asked again while its reply names fewer than half of the
    /// candidates, up to [`MOST_RETRIES`]. 0 at temperature 0, where the reply would be the same.
    pub retries: u64,
}

/// How candidates are shown and an answer is read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A talk: the system's turn names the role, a turn of the user has each candidate as
    /// `[i] text` and the assistant acknowledges it, and the last turn asks for `[] > []` only.
    /// The answer's numbers are those in square brackets.
    ///
    /// Source: Sun et al., EMNLP 2023 (RankGPT).
    RankGpt,
    /// One turn of the user with a numbered list of the candidates, which asks for numbers with
    /// commas between them. The answer's numbers are all there are.
    SrAgents,
}

/// The most candidates shown at once.
pub const MOST_SHOWN: usize = 100;

/// The lowest temperature at which draws are numbers still.
const COLDEST: f64 = 0.01;

/// The most retries.
pub const MOST_RETRIES: u64 = 10;

impl ListwiseSpec {
    /// # Errors
    ///
    /// If a field is out of its range.
    pub fn check(&self) -> Result<(), NeuralError> {
        let within =
            |field, got: usize, least: usize, most: usize| match (least..=most).contains(&got) {
                true => Ok(()),
                false => refuse(field, &got, format!("{least} to {most}")),
            };
        within("window", self.window, 2, MOST_SHOWN)?;
        within("stride", self.stride, 1, self.window)?;
        for (field, got) in [
            ("max_query_tokens", self.max_query_tokens),
            ("max_document_tokens", self.max_document_tokens),
            ("max_reply_tokens", self.max_reply_tokens),
        ] {
            within(field, got, 1, 1 << 20)?;
        }
        let greedy = self.temperature.abs() <= 0.0;
        if !greedy && !(COLDEST..=2.0).contains(&self.temperature) {
            let expected = format!("0, or {COLDEST} to 2");
            return refuse("temperature", &self.temperature, expected);
        }
        match self.retries {
            1.. if greedy => {
                let expected = "0 at temperature 0, where a retry has the same reply";
                refuse("retries", &self.retries, expected.to_owned())
            }
            ..=MOST_RETRIES => Ok(()),
            _ => refuse("retries", &self.retries, format!("at most {MOST_RETRIES}")),
        }
    }
}

fn refuse(
    field: &'static str,
    got: &dyn std::fmt::Display,
    expected: String,
) -> Result<(), NeuralError> {
    Err(NeuralError::Spec { field, got: got.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: ListwiseSpec = ListwiseSpec {
        form: Form::SrAgents,
        window: 20,
        stride: 10,
        max_query_tokens: 256,
        max_document_tokens: 256,
        max_reply_tokens: 100,
        temperature: 0.7,
        seed: 1,
        retries: 3,
    };

    #[test]
    fn fields_out_of_range_are_refused_by_name() {
        GOOD.check().unwrap();
        let refused = |spec: ListwiseSpec, expected: &str| {
            assert_eq!(spec.check().unwrap_err().to_string(), expected);
        };
        let field = |field: &str, got: &str, expected: &str| {
            format!("card: field `{field}` is {got}; expected {expected}")
        };
        refused(ListwiseSpec { window: 1, ..GOOD }, &field("window", "1", "2 to 100"));
        refused(ListwiseSpec { stride: 0, ..GOOD }, &field("stride", "0", "1 to 20"));
        refused(ListwiseSpec { stride: 21, ..GOOD }, &field("stride", "21", "1 to 20"));
        refused(
            ListwiseSpec { max_document_tokens: 0, ..GOOD },
            &field("max_document_tokens", "0", "1 to 1048576"),
        );
        for temperature in [-0.1, 2.1, 1e-320, f64::NAN, f64::INFINITY] {
            let got = temperature.to_string();
            let expected = field("temperature", got.as_str(), "0, or 0.01 to 2");
            refused(ListwiseSpec { temperature, ..GOOD }, &expected);
        }
        refused(ListwiseSpec { retries: 11, ..GOOD }, &field("retries", "11", "at most 10"));
        let greedy = ListwiseSpec { temperature: 0.0, ..GOOD };
        assert!(greedy.check().unwrap_err().to_string().contains("expected 0 at temperature 0"));
        ListwiseSpec { retries: 0, ..greedy }.check().unwrap();
    }
}
