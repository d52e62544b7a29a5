//! What users of other tools reported, one tiny input each. Rows of `spec/traps.md`.

use cleanhit_core::{Pool, QueryText, Retriever, TieRule};
use cleanhit_lexical::{Bm25Exact, Bm25Params, Bm25Tantivy, TantivyParams, Tfidf, TfidfParams};

use crate::data::{ids, numbered, ranked, ranking};

/// Every lexical method, with its name.
pub(crate) fn methods(pool: &Pool) -> Vec<(&'static str, Box<dyn Retriever>)> {
    let corpus = pool.corpus();
    vec![
        ("bm25", Box::new(Bm25Tantivy::new(corpus, TantivyParams::default()).unwrap())),
        ("bm25_exact", Box::new(Bm25Exact::new(corpus, Bm25Params::default()).unwrap())),
        ("bm25_okapi", Box::new(Bm25Exact::new(corpus, Bm25Params::sr_agents()).unwrap())),
        ("tfidf_word", Box::new(Tfidf::new(corpus, TfidfParams::words()).unwrap())),
        ("tfidf_char", Box::new(Tfidf::new(corpus, TfidfParams::characters()).unwrap())),
        ("tfidf_sr", Box::new(Tfidf::new(corpus, TfidfParams::sr_agents()).unwrap())),
    ]
}

/// xhluca/bm25s#127.
#[test]
fn a_matching_document_scores_above_zero() {
    let pool = numbered(&["foo", "dog", "baz", "quick god", "quick fox"]);
    for (name, method) in methods(&pool) {
        let found = ranked(&*method, &pool, "quick", 5);
        let mut order: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
        if name.starts_with("bm25") {
            assert!(found[0].1.total_cmp(&found[1].1).is_eq(), "{name}: {found:?}");
        } else {
            // Norms are sums in order of fingerprint, which may round apart.
            order[..2].sort_unstable();
        }
        assert_eq!(order, ["c0003", "c0004", "c0000", "c0001", "c0002"], "{name}");
        assert!(0.0 < found[1].1, "{name}: {found:?}");
        assert!(found[2..].iter().all(|(_, score)| score.total_cmp(&0.0).is_eq()), "{name}");
    }
}

/// xhluca/bm25s#60 and #67, deepset-ai/haystack#11598.
#[test]
fn empty_pools_rank_in_the_documented_order() {
    for texts in [&["", "", ""][..], &["", " \n", "!!"], &[""]] {
        let pool = numbered(texts);
        for (name, method) in methods(&pool) {
            for query in ["", "anything", "..."] {
                let found = ranked(&*method, &pool, query, 20);
                let expected: Vec<(String, f64)> =
                    (0..texts.len()).map(|i| (format!("c{i:04}"), 0.0)).collect();
                assert_eq!(found, expected, "{name}: `{query}`");
            }
        }
    }
}

/// quickwit-oss/tantivy#2637, #5 and #2631, tantivy-py#70.
#[test]
fn queries_are_never_parsed() {
    let pool = numbered(&["a b", "x", "foo and", "1 to", "https x y 25"]);
    for (name, method) in methods(&pool) {
        for (query, first) in [
            ("a:b", Some("c0000")),
            ("-x", Some("c0001")),
            ("\"", None),
            ("foo AND", Some("c0002")),
            ("[1 TO", Some("c0003")),
            ("https://x", Some("c0004")),
            ("y+(y+25)", Some("c0004")),
            ("following:", None),
            ("NOT", None),
            ("*", None),
            ("\\", None),
        ] {
            let found = ranked(&*method, &pool, query, 5);
            assert_eq!(found.len(), 5, "{name}: `{query}`");
            // Words of one character, signs and parts of words are another matter in TF-IDF.
            if let (Some(first), true) = (first, name.starts_with("bm25")) {
                assert_eq!(found[0].0, first, "{name}: `{query}`");
                assert!(0.0 < found[0].1, "{name}: `{query}`");
            }
        }
    }
}

/// quickwit-oss/tantivy#2775.
#[test]
fn equal_scores_are_cut_by_the_rule() {
    let texts = vec!["the same words"; 500];
    let pool = numbered(&texts);
    for (name, method) in methods(&pool) {
        for rule in [TieRule::Hash, TieRule::IdAsc, TieRule::Trec] {
            let all = ids(&ranking(&*method, &pool, "same words", 500, rule), &pool);
            let top = ids(&ranking(&*method, &pool, "same words", 20, rule), &pool);
            assert_eq!(top, all[..20], "{name} {rule}");
            let expected = |i: usize| match rule {
                TieRule::IdAsc => Some(format!("c{i:04}")),
                TieRule::Trec => Some(format!("c{:04}", 499 - i)),
                TieRule::Hash => None,
            };
            for (i, (id, _)) in top.iter().enumerate() {
                assert!(expected(i).is_none_or(|expected| *id == expected), "{name} {rule} {id}");
            }
        }
    }
}

/// quickwit-oss/tantivy#856: there is one segment however many documents there are.
#[test]
fn many_documents_are_scored_as_one_segment() {
    let texts: Vec<String> =
        (0..3000).map(|i| format!("w{} w{} {}", i % 7, i % 11, "pad ".repeat(i % 90))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pool = numbered(&texts);
    let tantivy = Bm25Tantivy::new(pool.corpus(), TantivyParams::default()).unwrap();
    let exact = Bm25Exact::new(
        pool.corpus(),
        Bm25Params { norms: cleanhit_lexical::Norms::LuceneByte, ..Bm25Params::default() },
    );
    let exact = exact.unwrap();
    for query in ["w1 w2", "w6 w10 pad pad"] {
        let query = QueryText::new(query);
        let (a, b) = (tantivy.scores(query).unwrap(), exact.scores(query));
        // tantivy's factor `k1 + 1`, and single precision.
        assert!(a.iter().zip(&b).all(|(a, b)| crate::data::close(*a, 2.2 * b, 2e-6)));
    }
    let (a, b) = (tantivy.stats(), exact.stats());
    assert_eq!((a.tokens, a.vocabulary), (b.tokens, b.vocabulary));
}
