//! The laws that every lexical method keeps to.

use std::{collections::BTreeMap, sync::Arc};

use cleanhit_core::{
    BoxError, Corpus, Pool, QueryText, Retriever, TieRule, contract::check_retriever,
};
use cleanhit_lexical::{
    Analyser, Bm25Exact, Bm25Params, Bm25Tantivy, EmptyDocuments, Features, Idf, Norms, QueryTerms,
    TantivyParams, Tfidf, TfidfParams,
};
use proptest::prelude::*;

use crate::{
    data::{ids, numbered, pool, ranking},
    traps::methods,
};

const QUERIES: &[&str] = &[
    "merge pdf files",
    "CSV csv csv table",
    "",
    "…!?",
    "nothing of the kind",
    "Größe ΟΔΟΣ 日本語 emoji 🦀",
    "a:b -x \" foo AND [1 TO",
];
const TEXTS: &[&str] = &[
    "Merge PDF files, split pdf pages",
    "csv table csv header",
    "",
    "",
    "",
    " \t\n",
    "größe und maß",
    "οδος ΟΔΟΣ",
    "日本語 のテキスト",
    "🦀 crab emoji",
    "merge csv files",
    "merge csv files",
    "x",
];

#[test]
fn every_method_keeps_the_contract() {
    let pools = [TEXTS, &["one skill"], &[""], &["", "", ""], &["a", "a", "b", "b"]];
    for texts in pools {
        let check = |name: &str, index: &dyn Fn(&Arc<Corpus>) -> Box<dyn Retriever>| {
            let index = |corpus: &Arc<Corpus>| -> Result<_, BoxError> { Ok(index(corpus)) };
            if let Err(breach) = check_retriever(index, QUERIES, texts) {
                panic!("{name}: {breach}");
            }
        };
        for analyser in Analyser::ALL {
            let name = analyser.name();
            let params = TantivyParams { analyser, query_terms: QueryTerms::Count };
            check(name, &|corpus| Box::new(Bm25Tantivy::new(corpus, params.clone()).unwrap()));
            for idf in [Idf::Lucene, Idf::Robertson, Idf::Atire, Idf::Okapi] {
                let params = Bm25Params { analyser, idf, ..Bm25Params::default() };
                check(name, &|corpus| Box::new(Bm25Exact::new(corpus, params.clone()).unwrap()));
            }
            let features = Features::Words { analyser, longest: 2 };
            let params = TfidfParams { features, ..TfidfParams::words() };
            check(name, &|corpus| Box::new(Tfidf::new(corpus, params).unwrap()));
        }
        for params in [TfidfParams::characters(), TfidfParams::sr_agents()] {
            check("tfidf", &|corpus| Box::new(Tfidf::new(corpus, params).unwrap()));
        }
        let excluded = Bm25Params {
            k1: 0.0,
            b: 1.0,
            empty_documents: EmptyDocuments::Excluded,
            norms: Norms::LuceneByte,
            ..Bm25Params::default()
        };
        check("k1 0", &|corpus| Box::new(Bm25Exact::new(corpus, excluded.clone()).unwrap()));
    }
}

/// A pool of made-up texts: enough documents for every shortcut, with common and rare terms.
fn synthetic(n: usize, seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..n)
        .map(|_| {
            let length = random(120);
            // Squared, so that low numbers are common.
            let word = |r: u64, s: u64| format!("w{} ", r * s / 60);
            (0..length).map(|_| word(random(60), random(60))).collect()
        })
        .collect()
}

fn bits(scores: Vec<f64>) -> Vec<u64> {
    scores.into_iter().map(f64::to_bits).collect()
}

#[test]
fn a_shallow_ranking_is_the_start_of_a_full_one() {
    let texts = synthetic(1500, 7);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pool = numbered(&texts);
    let long = synthetic(40, 11);
    let repeated = "w0 ".repeat(300) + "w1 w2 w0 w59";
    let queries = long.iter().map(String::as_str).chain([repeated.as_str(), "w0", "w58", ""]);
    for (name, method) in methods(&pool) {
        for query in queries.clone() {
            let full = ranking(&*method, &pool, query, pool.len(), TieRule::Hash);
            for depth in [1, 3, 20, 90, 200, 1499] {
                let top = ranking(&*method, &pool, query, depth, TieRule::Hash);
                assert_eq!(top.hits(), &full.hits()[..depth], "{name} {depth}: `{query}`");
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let texts = synthetic(700, 3);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pool = numbered(&texts);
    let queries = synthetic(10, 5);
    let with = |threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| {
            let mut all = Vec::new();
            for (_, method) in methods(&pool) {
                for query in &queries {
                    let ranking = ranking(&*method, &pool, query, 700, TieRule::Hash);
                    all.push(ids(&ranking, &pool));
                }
            }
            all
        })
    };
    assert_eq!(with(1), with(4));
}

/// Each document's score, by id.
fn by_id(pool: &Pool, scores: Vec<f64>) -> BTreeMap<String, u64> {
    let docs = pool.corpus().docs();
    docs.map(|doc| (pool.id(doc).to_string(), scores[doc.as_usize()].to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A document's score depends on the texts, not on where they are.
    #[test]
    fn the_order_of_documents_changes_no_bit(
        texts in prop::collection::vec("([a-f]|[A-F]|é|[g-p]{1,3}| |, ){0,40}", 1..30),
        query in "([a-p]| ){0,30}",
        shift in 1usize..100,
    ) {
        // The same texts under other ids are at other positions.
        let name = |i: usize, salt: usize| format!("{salt}-{i}");
        let (ours, theirs): (Vec<String>, Vec<String>) =
            (0..texts.len()).map(|i| (name(i, 0), name(i, shift))).unzip();
        let pool_of = |ids: &[String]| {
            pool(ids.iter().map(String::as_str).zip(texts.iter().map(String::as_str)))
        };
        let (a, b) = (pool_of(&ours), pool_of(&theirs));
        let renamed = |scores: BTreeMap<String, u64>| -> BTreeMap<String, u64> {
            let back = |id: &str| format!("0-{}", id.split_once('-').unwrap().1);
            scores.into_iter().map(|(id, score)| (back(&id), score)).collect()
        };
        let query = QueryText::new(&query);
        for params in [TfidfParams::words(), TfidfParams::characters(), TfidfParams::sr_agents()] {
            let scores = |pool: &Pool| {
                by_id(pool, Tfidf::new(pool.corpus(), params).unwrap().scores(query))
            };
            prop_assert_eq!(scores(&a), renamed(scores(&b)));
        }
        for params in [Bm25Params::default(), Bm25Params::sr_agents()] {
            let scores = |pool: &Pool| {
                by_id(pool, Bm25Exact::new(pool.corpus(), params.clone()).unwrap().scores(query))
            };
            prop_assert_eq!(scores(&a), renamed(scores(&b)));
        }
        let scores = |pool: &Pool| {
            let bm25 = Bm25Tantivy::new(pool.corpus(), TantivyParams::default()).unwrap();
            by_id(pool, bm25.scores(query).unwrap())
        };
        prop_assert_eq!(scores(&a), renamed(scores(&b)));
    }

    /// Scores are within their bounds, and more of a query term never lowers a cosine's sign.
    #[test]
    fn scores_are_within_bounds(
        texts in prop::collection::vec("([a-f]{1,2} ){0,20}", 1..20),
        query in "([a-f]{1,2} ){0,20}",
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pool = numbered(&texts);
        let q = QueryText::new(&query);
        for params in [TfidfParams::words(), TfidfParams::characters(), TfidfParams::sr_agents()] {
            let index = Tfidf::new(pool.corpus(), params).unwrap();
            for score in index.scores(q) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&score), "{}", score);
            }
        }
        for idf in [Idf::Lucene, Idf::Robertson, Idf::Atire, Idf::Okapi] {
            let index =
                Bm25Exact::new(pool.corpus(), Bm25Params { idf, ..Bm25Params::default() }).unwrap();
            // A term adds no more than its weight, each time it is in the query.
            let n = pool.len();
            let tokens = Analyser::Default.tokens(&query).len() as f64;
            let most = idf.weight(1, n) * 2.2 * tokens;
            prop_assert!(index.scores(q).iter().all(|score| (0.0..=most).contains(score)));
        }
    }

    /// The quick path for a few hits adds as the slow path for all does.
    #[test]
    fn scores_and_rankings_agree(seed in 0u64..1000, words in 1usize..60) {
        let texts = synthetic(400, seed);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pool = numbered(&texts);
        let query: String = synthetic(4, seed + 1).concat();
        let query: Vec<&str> = query.split(' ').take(words).collect();
        let query = query.join(" ");
        let index = Bm25Exact::new(pool.corpus(), Bm25Params::default()).unwrap();
        let scores = index.scores(QueryText::new(&query));
        for hit in ranking(&index, &pool, &query, 10, TieRule::Hash).hits() {
            prop_assert_eq!(bits(vec![hit.score.get()]), bits(vec![scores[hit.doc.as_usize()]]));
        }
    }
}

#[test]
fn receipts_know_what_was_indexed() {
    let long = "x".repeat(50);
    let text = format!("{long} two words");
    let pool = numbered(&[&text, "", "words words"]);
    let query = QueryText::new("words words absent two");
    let tantivy = Bm25Tantivy::new(pool.corpus(), TantivyParams::default()).unwrap();
    let exact = Bm25Exact::new(pool.corpus(), Bm25Params::default()).unwrap();
    assert_eq!(tantivy.stats(), exact.stats());
    let stats = exact.stats();
    assert_eq!((stats.documents, stats.empty_documents), (3, 1));
    assert_eq!((stats.vocabulary, stats.tokens, stats.dropped_tokens), (2, 4, 1));
    assert_eq!(tantivy.query_terms_in_pool(query).unwrap(), 2);
    assert_eq!(exact.query_terms_in_pool(query), 2);
    let words = Tfidf::new(pool.corpus(), TfidfParams::sr_agents()).unwrap();
    assert_eq!(words.query_terms_in_pool(query), 2);
    let stats = words.stats();
    assert_eq!((stats.documents, stats.empty_documents, stats.vocabulary), (3, 1, 3));
    assert_eq!((stats.tokens, stats.dropped_tokens), (5, 0));
}

/// A count that no byte holds, and one that 16 bits don't.
#[test]
fn large_counts_count() {
    let (many, most) = ("w ".repeat(300) + "v", "w ".repeat(70_000));
    let pool = numbered(&[&many, "w v", "v", &most]);
    let bm25 = Bm25Exact::new(pool.corpus(), Bm25Params { b: 0.0, ..Bm25Params::default() });
    let scores = bm25.unwrap().scores(QueryText::new("w"));
    let idf = Idf::Lucene.weight(3, 4);
    for (id, f) in [("c0000", 300.0), ("c0001", 1.0), ("c0003", 70_000.0)] {
        let score = scores[pool.position(id).unwrap().as_usize()];
        assert!(crate::data::close(score, idf * f / (f + 1.2), 1e-15), "{id}");
    }
    let features = Features::Words { analyser: Analyser::WordAll, longest: 1 };
    let params = TfidfParams { features, ..TfidfParams::words() };
    let scores = Tfidf::new(pool.corpus(), params).unwrap().scores(QueryText::new("w"));
    let score = scores[pool.position("c0000").unwrap().as_usize()];
    // `w` 300 times and `v` once; both are in three documents of four.
    let w = 1.0 + 300f64.ln();
    assert!(crate::data::close(score, w / w.hypot(1.0), 1e-12), "{score}");
}
