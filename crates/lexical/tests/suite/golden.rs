//! Lucene's and tantivy's scores, and the formulas' (`golden/ir/c8_bm25`).

use std::collections::BTreeMap;

use cleanhit_core::{Pool, Retriever};
use cleanhit_lexical::{
    Analyser, Bm25Exact, Bm25Params, Bm25Tantivy, EmptyDocuments, Norms, QueryTerms, TantivyParams,
};
use serde_json::Value;

use crate::data::{close, pool, ranked, shared, shared_json, shared_texts};

const FOLDER: &str = "golden/ir/c8_bm25";

/// A name, a pool, and queries by id and text.
type Set = (&'static str, Pool, Vec<(String, String)>);

/// The two sets of documents, with the queries, or none.
fn sets() -> Option<Vec<Set>> {
    let queries = shared_texts(&format!("{FOLDER}/queries.jsonl"), "id", "contents")?;
    let sets = ["docs", "docs_with_empty"].into_iter().map(|set| {
        let docs = shared_texts(&format!("{FOLDER}/{set}.jsonl"), "id", "contents").unwrap();
        let docs = docs.iter().map(|(id, text)| (id.as_str(), text.as_str()));
        (set, pool(docs), queries.clone())
    });
    Some(sets.collect())
}

/// Checks that the documents with a score above 0 are those expected, with their scores.
fn check(
    name: &str,
    retriever: &dyn Retriever,
    pool: &Pool,
    query: &str,
    expected: &BTreeMap<String, f64>,
    tolerance: f64,
) {
    let found = ranked(retriever, pool, query, pool.len());
    assert_eq!(found.len(), pool.len(), "{name}: every document has a place");
    let found: BTreeMap<String, f64> =
        found.into_iter().filter(|(_, score)| 0.0 < *score).collect();
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{name}: `{query}`"
    );
    for (id, &score) in &found {
        assert!(
            close(score, expected[id], tolerance),
            "{name}: `{query}`, {id}: {score}, expected {}",
            expected[id]
        );
    }
}

fn scores(value: &Value) -> BTreeMap<String, f64> {
    let scores = value.as_object().unwrap().iter();
    scores.map(|(id, score)| (id.clone(), score.as_f64().unwrap())).collect()
}

#[test]
fn exact_scores_are_the_formulas() {
    let Some(expected) = shared_json(&format!("{FOLDER}/expected.json")) else { return };
    let plain = Bm25Params { analyser: Analyser::Whitespace, ..Bm25Params::default() };
    let lucene = Bm25Params {
        norms: Norms::LuceneByte,
        empty_documents: EmptyDocuments::Excluded,
        ..plain.clone()
    };
    let methods = [
        ("bm25s_lucene_k1.2_exact_norms", plain),
        ("lucene_k0.9_b0.4", Bm25Params { k1: 0.9, b: 0.4, ..lucene.clone() }),
        ("lucene_k1.2_b0.75", lucene),
    ];
    for (set, pool, queries) in sets().unwrap() {
        for (method, params) in &methods {
            let index = Bm25Exact::new(pool.corpus(), params.clone()).unwrap();
            for (id, query) in &queries {
                let expected = scores(&expected["expected"][set][id][method]);
                check(method, &index, &pool, query, &expected, 1e-12);
            }
        }
    }
}

#[test]
fn exact_order_is_anserinis() {
    let Some(sets) = sets() else { return };
    for (set, pool, queries) in sets {
        for (k1, b) in [(0.9, 0.4), (1.2, 0.75)] {
            let run = shared(&format!("{FOLDER}/anserini_{set}_k{k1}_b{b}.trec")).unwrap();
            let run = String::from_utf8(run).unwrap();
            let params = Bm25Params { k1, b, ..Bm25Params::anserini(Analyser::Whitespace) };
            let index = Bm25Exact::new(pool.corpus(), params).unwrap();
            for (id, query) in &queries {
                let rows = run.lines().map(|line| line.split(' ').collect::<Vec<&str>>());
                let rows: Vec<Vec<&str>> = rows.filter(|row| row[0] == id).collect();
                // Lucene leaves out what matches nothing, and breaks ties by docid, which are
                // in order of insertion: by id ascending.
                let found = ranked(&index, &pool, query, 20);
                let found: Vec<_> = found.into_iter().filter(|(_, s)| 0.0 < *s).collect();
                let order: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
                let expected: Vec<&str> = rows.iter().map(|row| row[2]).collect();
                assert_eq!(order, expected, "{set} k1 {k1} b {b} {id}");
                for ((_, score), row) in found.iter().zip(&rows) {
                    assert!(close(*score, row[4].parse().unwrap(), 6e-5), "{set} {id} {row:?}");
                }
            }
        }
    }
}

#[test]
fn tantivy_scores_are_tantivys() {
    let Some(sets) = sets() else { return };
    for (set, pool, queries) in sets {
        let recorded = shared_json(&format!("{FOLDER}/tantivy_{set}.json")).unwrap();
        let formula = shared_json(&format!("{FOLDER}/expected.json")).unwrap();
        for (query_terms, list, method) in [
            (QueryTerms::Count, "bag_boost", "tantivy_0.27"),
            (QueryTerms::Count, "dup_clauses", "tantivy_0.27"),
            (QueryTerms::Binary, "bag_dedup", "tantivy_0.27_query_parser_dedup"),
        ] {
            let params = TantivyParams { analyser: Analyser::Whitespace, query_terms };
            let index = Bm25Tantivy::new(pool.corpus(), params).unwrap();
            for (id, query) in &queries {
                let expected = recorded[id][list].as_array().unwrap().iter();
                let expected = expected
                    .map(|hit| (hit[0].as_str().unwrap().to_owned(), hit[1].as_f64().unwrap()));
                check(list, &index, &pool, query, &expected.collect(), 5e-7);
                let expected = scores(&formula["expected"][set][id][method]);
                check(method, &index, &pool, query, &expected, 1e-6);
            }
        }
    }
}
