//! Formats that other tools read and write.

mod beir;
mod sr_agents;
mod trec;

use std::collections::BTreeMap;

use cleanhit_core::{Candidate, Query};

pub use beir::{parse_beir_corpus, parse_beir_qrels, parse_beir_queries, read_beir};
pub use sr_agents::{SrAgents, parse_sr_agents};
pub use trec::{RunOrder, TrecFile, parse_trec_run, write_scored, write_trec_run};

use crate::error::{InputError, tick};

/// A collection from elsewhere. [`crate::write_bench`] makes a benchmark of its candidates and
/// queries; the judgements are written beside it by [`write_qrels`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Collection {
    /// The candidates, in file order.
    pub candidates: Vec<Candidate>,
    /// The queries, in file order.
    pub queries: Vec<Query>,
    /// Judgements by the name of their split.
    pub qrels: BTreeMap<String, Vec<Judgement>>,
    /// What is odd and harmless.
    pub warnings: Vec<String>,
}

/// How relevant a candidate is to a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judgement {
    /// The query's id.
    pub query: String,
    /// The candidate's id.
    pub candidate: String,
    /// The grade; 0 or less is not relevant.
    pub grade: i64,
}

/// One candidate of a ranking made elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The candidate's id.
    pub candidate: String,
    /// Its score. Finite.
    pub score: f64,
}

/// TREC qrels: `qid 0 docid grade`, in the order given.
///
/// # Errors
///
/// If an id has white space in it, which the format cannot hold.
pub fn write_qrels(name: &str, judgements: &[Judgement]) -> Result<Vec<u8>, InputError> {
    let mut out = String::new();
    for Judgement { query, candidate, grade } in judgements {
        let (query, candidate) = (word(name, query)?, word(name, candidate)?);
        out += &format!("{query} 0 {candidate} {grade}\n");
    }
    Ok(out.into_bytes())
}

/// `id`, if it is one word.
fn word<'a>(name: &str, id: &'a str) -> Result<&'a str, InputError> {
    match id.is_empty() || id.contains(|c: char| c.is_whitespace() || c.is_control()) {
        false => Ok(id),
        true => {
            let problem = format!("id {} is not one word", tick(id));
            Err(InputError::new(name, problem).expected("an id without white space"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_are_written_as_qrels() {
        let judgement = |query: &str, candidate: &str| Judgement {
            query: query.into(),
            candidate: candidate.into(),
            grade: 2,
        };
        let written = write_qrels("q", &[judgement("b", "c"), judgement("a", "é")]).unwrap();
        assert_eq!(written, "b 0 c 2\na 0 é 2\n".as_bytes());
        let error = write_qrels("q", &[judgement("a b", "c")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "q: id `a b` is not one word; expected an id without white space"
        );
    }
}
