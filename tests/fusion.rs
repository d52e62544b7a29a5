//! Fusion against golden values: exact fractions, and the fixtures of another toolkit.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};

use cleanhit_core::{
    Candidate, Depth, Fusion, Hit, Normalize, Pool, Ranking, Rrf, Score, TieKeys, TieRule, Weighted,
};
use serde_json::Value;

use crate::shared;

type Lists = BTreeMap<String, Vec<(String, f64)>>;

fn pool(ids: &BTreeSet<&str>) -> Pool {
    let candidate = |id: &&str| Candidate { id: (*id).into(), text: String::new(), name: None };
    Pool::new("p", ids.iter().map(candidate).collect()).unwrap()
}

/// Fuses the lists of one query, under the golden files' tie rule.
fn fuse(fusion: &dyn Fusion, lists: &[&[(String, f64)]]) -> Vec<(String, f64)> {
    let ids = lists.iter().flat_map(|list| list.iter().map(|(id, _)| id.as_str())).collect();
    let pool = pool(&ids);
    let ties = TieKeys::new(TieRule::IdAsc, &"q".into(), &pool);
    let rankings: Vec<Ranking> = lists
        .iter()
        .map(|list| {
            Ranking::recorded(list.iter().map(|(id, score)| Hit {
                doc: pool.position(id).unwrap(),
                score: Score::new(*score).unwrap(),
            }))
        })
        .collect();
    let depth = Depth(NonZeroU32::new(1000).unwrap());
    let fused = fusion.fuse(&rankings, depth, &ties);
    fused.hits().iter().map(|hit| (pool.id(hit.doc).to_string(), hit.score.get())).collect()
}

fn golden_lists(run: &Value) -> Lists {
    let ids = |list: &Value| {
        let ids = list.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned());
        ids.zip((1..=1000).rev().map(f64::from)).collect()
    };
    run.as_object().unwrap().iter().map(|(query, list)| (query.clone(), ids(list))).collect()
}

#[test]
fn rrf_equals_the_golden_fractions() {
    let Some(bytes) = shared::read("golden/ir/c11_rrf/expected.json") else { return };
    let golden: Value = serde_json::from_slice(&bytes).unwrap();
    let runs: Vec<Lists> =
        ["lex", "dense", "ce"].iter().map(|name| golden_lists(&golden["runs"][*name])).collect();
    for (name, c, weights) in [
        ("k60", 60.0, vec![]),
        ("k1", 1.0, vec![]),
        ("k60_weights_lex2", 60.0, vec![2.0, 1.0, 1.0]),
    ] {
        let rrf = Rrf { c, weights };
        for (query, expected) in golden["expected"][name].as_object().unwrap() {
            let empty = Vec::new();
            let lists: Vec<&[(String, f64)]> =
                runs.iter().map(|run| run.get(query).unwrap_or(&empty).as_slice()).collect();
            let got = fuse(&rrf, &lists);
            let expected = expected.as_array().unwrap();
            assert_eq!(got.len(), expected.len(), "{name} {query}");
            for ((id, score), row) in got.iter().zip(expected) {
                assert_eq!(id, row[0].as_str().unwrap(), "{name} {query}");
                let (p, q) = row[2].as_str().unwrap().split_once('/').unwrap();
                let exact = p.parse::<f64>().unwrap() / q.parse::<f64>().unwrap();
                assert!((score - exact).abs() < 1e-15, "{name} {query} {id}: {score} {exact}");
            }
        }
    }
}

fn trec(name: &str) -> Option<Lists> {
    let bytes = shared::read(&format!("data/ir/pyserini/{name}"))?;
    let mut lists = Lists::new();
    for line in String::from_utf8(bytes).unwrap().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let row = (fields[2].to_owned(), fields[4].parse().unwrap());
        lists.entry(fields[0].to_owned()).or_default().push(row);
    }
    Some(lists)
}

#[test]
fn weighted_sums_equal_another_toolkits() {
    let Some(a) = trec("simple_trec_run_fusion_1.txt") else { return };
    let b = trec("simple_trec_run_fusion_2.txt").unwrap();
    let empty = Vec::new();
    for (weights, verify) in [
        (vec![0.5, 0.5], "simple_trec_run_average_verify.txt"),
        (vec![0.4, 0.6], "simple_trec_run_interpolation_verify.txt"),
    ] {
        let fusion = Weighted { normalize: Normalize::None, weights };
        for (query, expected) in trec(verify).unwrap() {
            let lists = [a.get(&query).unwrap_or(&empty), b.get(&query).unwrap_or(&empty)];
            let got = fuse(&fusion, &lists.map(Vec::as_slice));
            assert_eq!(got.len(), expected.len());
            for ((id, score), (expected_id, expected)) in got.iter().zip(&expected) {
                assert_eq!(id, expected_id);
                assert!((score - expected).abs() < 1e-12, "{verify} {query} {id}");
            }
        }
    }
}

#[test]
fn min_max_takes_a_list_to_0_and_1() {
    let list = [("a".to_owned(), 24.0), ("b".to_owned(), 13.0)];
    let fusion = Weighted { normalize: Normalize::MinMax, weights: vec![] };
    assert_eq!(fuse(&fusion, &[&list]), [("a".to_owned(), 1.0), ("b".to_owned(), 0.0)]);
    let fusion = Weighted { normalize: Normalize::ZScore, weights: vec![] };
    assert_eq!(fuse(&fusion, &[&list]), [("a".to_owned(), 1.0), ("b".to_owned(), -1.0)]);
    // Equal scores say nothing, on any scale.
    let equal = [("a".to_owned(), 7.0), ("b".to_owned(), 7.0)];
    assert_eq!(fuse(&fusion, &[&equal]), [("a".to_owned(), 0.0), ("b".to_owned(), 0.0)]);
}
