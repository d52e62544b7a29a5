//! The retrieval file of SR-Agents: a JSON document with the rankings and the gold skills.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::Value;

use super::{Judgement, Scored};
use crate::{
    error::{InputError, Violations, tick},
    rows::{AN_ID, check_id, json_problem, utf8},
};

/// Rankings and judgements; the file holds no texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SrAgents {
    /// What the file says of the run, as it says it.
    pub metadata: Value,
    /// The metrics it states, as it states them.
    pub metrics: Value,
    /// For each query its ranking, in file order, which is the order of the ranks.
    pub run: BTreeMap<String, Vec<Scored>>,
    /// The gold skills, each of grade 1.
    pub qrels: Vec<Judgement>,
    /// Queries without a gold skill, in file order: the judgements have no row for them.
    pub without_gold: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    metrics: Value,
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    instance_id: String,
    #[serde(default)]
    gold_skill_ids: Vec<String>,
    retrieved: Vec<Retrieved>,
}

/// Some files leave out the score: the order is what counts.
#[derive(Deserialize)]
struct Retrieved {
    skill_id: String,
    #[serde(default)]
    score: Option<f64>,
}

/// Reads `{metadata, metrics, results[{instance_id, gold_skill_ids, retrieved[{skill_id,
/// score}]}]}`. Other keys are ignored. A score that is not stated is the number of candidates
/// from this one to the end.
///
/// # Errors
///
/// If it is not such a document, with the line; else all violations: a query twice, a skill twice
/// in a ranking or among the gold skills, an empty id, no results.
pub fn parse_sr_agents(name: &str, bytes: &[u8]) -> Result<SrAgents, Vec<InputError>> {
    let text = utf8(name, bytes).map_err(|error| vec![error])?;
    let document: Document =
        serde_json::from_str(text).map_err(|error| vec![misshapen(name, &error)])?;
    let mut out = Violations::default();
    let Document { metadata, metrics, results } = document;
    let mut read = SrAgents { metadata, metrics, ..SrAgents::default() };
    if results.is_empty() {
        out.push(InputError::new(name, "no rows").field("results").expected("at least one"));
    }
    for (i, result) in results.into_iter().enumerate() {
        let at = |field: &str, problem: String| {
            InputError::new(name, problem).field(&format!("results[{i}].{field}"))
        };
        let Entry { instance_id: query, gold_skill_ids, retrieved } = result;
        if let Err(problem) = check_id(&query) {
            out.push(at("instance_id", problem.to_owned()).expected(AN_ID));
        }
        let mut seen = FxHashSet::default();
        if gold_skill_ids.is_empty() {
            read.without_gold.push(query.clone());
        }
        for candidate in gold_skill_ids {
            if !seen.insert(candidate.clone()) {
                out.push(at("gold_skill_ids", format!("{} occurs twice", tick(&candidate))));
            }
            if let Err(problem) = check_id(&candidate) {
                out.push(at("gold_skill_ids", problem.to_owned()).expected(AN_ID));
            }
            read.qrels.push(Judgement { query: query.clone(), candidate, grade: 1 });
        }
        seen.clear();
        let n = retrieved.len();
        let mut ranking = Vec::with_capacity(n);
        for (left, Retrieved { skill_id: candidate, score }) in (1..=n).rev().zip(retrieved) {
            if !seen.insert(candidate.clone()) {
                out.push(at("retrieved", format!("duplicate candidate {}", tick(&candidate))));
            }
            if let Err(problem) = check_id(&candidate) {
                out.push(at("retrieved", problem.to_owned()).expected(AN_ID));
            }
            ranking.push(Scored { candidate, score: score.unwrap_or(left as f64) });
        }
        if read.run.contains_key(&query) {
            out.push(at("instance_id", format!("query {} occurs twice", tick(&query))));
        }
        read.run.insert(query, ranking);
    }
    out.result(read)
}

/// A document that is no JSON, or of another shape.
fn misshapen(name: &str, error: &serde_json::Error) -> InputError {
    const SHAPE: &str = "an object with `results`, a list of objects with `instance_id`, a string, \
        `gold_skill_ids`, a list of strings, and `retrieved`, a list of objects with `skill_id`, a \
        string, and perhaps `score`, a number";
    let problem = json_problem(error);
    let line = error.line().max(1) as u64;
    if !error.is_data() {
        return InputError::new(name, problem).line(line);
    }
    // What the parser expected is a type of ours; a list of the wrong length stands for an object.
    let found = problem.split(", expected ").next().unwrap_or_default();
    let found = if found.starts_with("invalid length") { "a list, not an object" } else { found };
    let column = problem.rsplit_once(", at column ").map_or("", |(_, column)| column);
    let found = found.split(", at column ").next().unwrap_or_default();
    InputError::new(name, format!("{found}, at column {column}")).line(line).expected(SHAPE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::exchange::write_scored;

    fn messages(text: &str) -> Vec<String> {
        let errors = parse_sr_agents("f", text.as_bytes()).unwrap_err();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_document_is_read_in_its_order() {
        let text = r#"{"metadata": {"retriever": "bm25"}, "metrics": {"R@1": 0.5}, "results": [
            {"instance_id": "i1", "dataset": "d", "gold_skill_ids": ["s2"],
             "retrieved": [{"skill_id": "s2", "score": 1.5, "is_gold": true}, {"skill_id": "s1", "score": 1.5}]},
            {"instance_id": "i2", "gold_skill_ids": [], "retrieved": [{"skill_id": "s1"}, {"skill_id": "s2", "score": null}]},
            {"instance_id": "i3", "gold_skill_ids": ["s1"], "retrieved": []}]}"#;
        let read = parse_sr_agents("f", text.as_bytes()).unwrap();
        assert_eq!(read.metadata["retriever"], "bm25");
        assert_eq!(read.qrels.len(), 2);
        assert_eq!(read.without_gold, ["i2"]);
        assert!(read.run["i3"].is_empty(), "an empty list is legal");
        let run = String::from_utf8(write_scored("t", &read.run).unwrap()).unwrap();
        assert_eq!(run, "i1 Q0 s2 1 2 t\ni1 Q0 s1 2 1 t\ni2 Q0 s1 1 2 t\ni2 Q0 s2 2 1 t\n");
    }

    #[test]
    fn violations_say_where() {
        let text = r#"{"results": [
            {"instance_id": "i", "gold_skill_ids": ["s", "s"], "retrieved": [{"skill_id": "a"}, {"skill_id": "a"}]},
            {"instance_id": "i", "gold_skill_ids": [""], "retrieved": []}]}"#;
        assert_eq!(
            messages(text),
            [
                "f: field `results[0].gold_skill_ids`: `s` occurs twice",
                "f: field `results[0].retrieved`: duplicate candidate `a`",
                "f: field `results[1].gold_skill_ids`: the id is empty; expected an id without control characters",
                "f: field `results[1].instance_id`: query `i` occurs twice",
            ]
        );
        assert_eq!(
            messages("{\"results\": []}"),
            ["f: field `results`: no rows; expected at least one"]
        );
        let errors = messages("{\n\"results\": [{\"retrieved\": []}]}");
        let shape = "; expected an object with `results`, a list of objects with `instance_id`, a ";
        assert!(errors[0].starts_with("f:2: missing field `instance_id`, at column 29"));
        assert!(errors[0].contains(shape), "{errors:?}");
        for (text, found) in [
            ("[1, 2]", "f:1: "),
            ("[{}, {}]", "f:1: "),
            ("{\"results\": [[\"a\", []]]}", "f:1: a list, not an object, at column "),
            ("{\"results\": {}}", "f:1: invalid type: map, at column "),
        ] {
            let errors = messages(text);
            assert!(errors[0].starts_with(found) && errors[0].contains(shape), "{errors:?}");
            assert!(!errors[0].contains("struct"), "{errors:?}");
        }
        assert!(messages("{\"results\": [{\"instance_id\": \"i\", \"retrieved\": [{\"skill_id\": \"s\", \"score\": 1e999}]}]}")[0].contains("number out of range"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_sr_agents("f", &bytes);
        }

        #[test]
        fn rankings_read_back(run in prop::collection::btree_map("[a-z]{1,4}", prop::collection::btree_map("[a-z]{1,3}", -1e9f64..1e9, 0..5), 1..5)) {
            let results: Vec<Value> = run.iter().map(|(query, ranking)| {
                let retrieved: Vec<Value> = ranking.iter().map(|(id, score)| serde_json::json!({"skill_id": id, "score": score})).collect();
                serde_json::json!({"instance_id": query, "gold_skill_ids": [], "retrieved": retrieved})
            }).collect();
            let text = serde_json::json!({"metadata": {}, "metrics": {}, "results": results}).to_string();
            let read = parse_sr_agents("f", text.as_bytes()).unwrap().run;
            for (query, ranking) in run {
                let want: Vec<Scored> = ranking.into_iter().map(|(candidate, score)| Scored { candidate, score }).collect();
                prop_assert_eq!(&read[&query], &want);
            }
        }
    }
}
