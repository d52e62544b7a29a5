//! The order of rankings, ties, fusion and selection: properties that hold for every input.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc};

use cleanhit_core::*;
use proptest::prelude::*;

fn pool(n: usize, reverse: bool) -> Pool {
    let mut candidates: Vec<Candidate> = (0..n)
        .map(|i| Candidate {
            id: format!("c{i}").as_str().into(),
            text: format!("text {i}"),
            name: None,
        })
        .collect();
    if reverse {
        candidates.reverse();
    }
    Pool::new("p", candidates).unwrap()
}

fn depth(k: usize) -> Depth {
    Depth(NonZeroU32::new(u32::try_from(k).unwrap()).unwrap())
}

fn keys(rule: TieRule, pool: &Pool) -> TieKeys {
    TieKeys::new(rule, &"q".into(), pool)
}

fn ids(pool: &Pool, ranking: &Ranking) -> Vec<String> {
    ranking.hits().iter().map(|hit| pool.id(hit.doc).to_string()).collect()
}

fn hits(pool: &Pool, scores: &[f64]) -> Vec<Hit> {
    let docs = pool.corpus().docs().zip(scores);
    docs.map(|(doc, &s)| Hit { doc, score: Score::new(s).unwrap() }).collect()
}

/// A ranking of `pool` whose order is that of the named candidates.
fn listed(pool: &Pool, order: &[&str]) -> Ranking {
    let docs = order.iter().map(|id| pool.position(id).unwrap());
    let scores = (0..order.len()).rev().map(|s| Score::new(s as f64).unwrap());
    let hits = docs.zip(scores).map(|(doc, score)| Hit { doc, score });
    Ranking::new(hits, depth(order.len()), &keys(TieRule::IdAsc, pool))
}

proptest! {
    /// File order never reaches a method: neither as positions nor through ties.
    #[test]
    fn pool_order_is_irrelevant(n in 1usize..50) {
        let (a, b) = (pool(n, false), pool(n, true));
        prop_assert_eq!(a.corpus().texts(), b.corpus().texts());
        prop_assert_eq!(a.digest(), b.digest());
        let zeros = vec![0.0; n];
        let rank = |p: &Pool| ids(p, &Ranking::of_scores(&zeros, depth(n), &keys(TieRule::Hash, p)).unwrap());
        prop_assert_eq!(rank(&a), rank(&b));
    }

    /// Ties, duplicates and input order do not change a ranking, and both constructors agree
    /// with a plain sort by the documented order.
    #[test]
    fn a_ranking_is_a_function_of_the_set_of_hits(
        scores in proptest::collection::vec(-3i8..3, 1..60),
        seed in any::<u64>(),
        k in 1usize..70,
    ) {
        let pool = pool(scores.len(), false);
        let ties = keys(TieRule::Hash, &pool);
        let scores: Vec<f64> = scores.iter().map(|&s| f64::from(s) / 2.0).collect();
        let hits = hits(&pool, &scores);
        let mut shuffled = hits.clone();
        let n = shuffled.len();
        for i in 0..n {
            shuffled.swap(i, usize::try_from(seed.rotate_left(u32::try_from(i).unwrap()) % n as u64).unwrap());
        }
        shuffled.extend(hits.clone());
        let ranking = Ranking::new(hits, depth(k), &ties);
        prop_assert_eq!(&ranking, &Ranking::new(shuffled, depth(k), &ties));
        prop_assert_eq!(&ranking, &Ranking::of_scores(&scores, depth(k), &ties).unwrap());
        let full = Ranking::of_scores(&scores, depth(n), &ties).unwrap();
        prop_assert_eq!(ranking.hits(), &full.hits()[..k.min(n)]);
        for pair in full.hits().windows(2) {
            prop_assert!(pair[1].score <= pair[0].score);
        }
    }

    /// Fusion does not depend on the order of the systems, not even in the last bit.
    #[test]
    fn sums_are_symmetric(orders in proptest::collection::vec(Just((0..9).collect::<Vec<usize>>()).prop_shuffle(), 1..6)) {
        let pool = pool(9, false);
        let ties = keys(TieRule::Hash, &pool);
        let mut rankings: Vec<Ranking> = orders.iter().map(|order| {
            let scores: Vec<f64> = order.iter().map(|&i| -(i as f64)).collect();
            Ranking::of_scores(&scores, depth(9), &ties).unwrap()
        }).collect();
        for fusion in [&Rrf { c: 60.0, weights: vec![] } as &dyn Fusion,
                       &Weighted { normalize: Normalize::MinMax, weights: vec![] },
                       &Weighted { normalize: Normalize::ZScore, weights: vec![] }] {
            let forward = fusion.fuse(&rankings, depth(9), &ties);
            rankings.reverse();
            prop_assert_eq!(forward, fusion.fuse(&rankings, depth(9), &ties));
        }
    }

    /// A selector keeps a subsequence with each family once, and the first of all hits.
    #[test]
    fn a_selector_keeps_the_first_of_each_family(
        scores in proptest::collection::vec(-5i8..5, 1..40),
        groups in proptest::collection::vec(0u32..8, 40),
    ) {
        let pool = pool(scores.len(), false);
        let scores: Vec<f64> = scores.iter().copied().map(f64::from).collect();
        let full = Ranking::of_scores(&scores, depth(scores.len()), &keys(TieRule::Hash, &pool)).unwrap();
        let families = Partition::new(pool.corpus(), groups[..scores.len()].to_vec());
        let kept = Representative.select(full.clone(), &families);
        let mut expected: Vec<Hit> = Vec::new();
        for &hit in full.hits() {
            if !expected.iter().any(|h| families.group(h.doc) == families.group(hit.doc)) {
                expected.push(hit);
            }
        }
        prop_assert_eq!(kept.hits(), &expected[..]);
    }
}

#[test]
fn equal_scores_follow_the_documented_hash() {
    use sha2::{Digest as _, Sha256};
    let pool = pool(500, false);
    let ranking = Ranking::of_scores(&[1.0; 500], depth(20), &keys(TieRule::Hash, &pool)).unwrap();
    let key = |id: &str| {
        let digest = Sha256::digest([b"q".as_slice(), b"\0", id.as_bytes()].concat());
        u64::from_be_bytes(digest[..8].try_into().unwrap())
    };
    let mut expected: Vec<String> = (0..500).map(|i| format!("c{i}")).collect();
    expected.sort_by_key(|id| (std::cmp::Reverse(key(id)), id.clone()));
    assert_eq!(ids(&pool, &ranking), expected[..20]);
}

#[test]
fn other_tie_rules_follow_the_ids() {
    let pool = pool(4, false);
    let rank =
        |rule| ids(&pool, &Ranking::of_scores(&[0.0; 4], depth(4), &keys(rule, &pool)).unwrap());
    assert_eq!(rank(TieRule::IdAsc), ["c0", "c1", "c2", "c3"]);
    assert_eq!(rank(TieRule::Trec), ["c3", "c2", "c1", "c0"]);
}

#[test]
fn a_score_is_finite_and_has_one_zero() {
    assert!(Score::new(f64::NAN).is_err());
    assert!(Score::new(f64::INFINITY).is_err());
    assert_eq!(Score::new(-0.0).unwrap(), Score::new(0.0).unwrap());
    let pool = pool(3, false);
    let err = Ranking::of_scores(&[0.0, f64::NAN, 0.0], depth(1), &keys(TieRule::Hash, &pool));
    assert!(
        matches!(err, Err(ScoreError::NotFinite { doc: Some(doc), .. }) if doc.as_usize() == 1)
    );
}

#[test]
fn a_pool_refuses_duplicates_and_emptiness() {
    let candidate = |id: &str| Candidate { id: id.into(), text: String::new(), name: None };
    let err = |c: Vec<Candidate>| Pool::new("p", c).unwrap_err().to_string();
    assert_eq!(err(vec![]), "pool `p` is empty; expected at least one candidate");
    assert_eq!(
        err(vec![candidate("a"), candidate("a")]),
        "pool `p`: candidate id `a` occurs twice"
    );
}

#[test]
fn round_robin_takes_turns() {
    let pool = pool(5, false);
    let (a, b) = (listed(&pool, &["c0", "c1", "c2"]), listed(&pool, &["c1", "c3", "c0"]));
    let fused = RoundRobin.fuse(&[a, b], depth(9), &keys(TieRule::Hash, &pool));
    assert_eq!(ids(&pool, &fused), ["c0", "c1", "c3", "c2"]);
}

#[test]
fn rrf_matches_the_formula_by_hand() {
    let pool = pool(4, false);
    let (a, b) = (listed(&pool, &["c0", "c1"]), listed(&pool, &["c1", "c2"]));
    let fused = Rrf { c: 60.0, weights: vec![2.0, 1.0] }.fuse(
        &[a, b],
        depth(9),
        &keys(TieRule::Hash, &pool),
    );
    let got: Vec<(String, f64)> =
        fused.hits().iter().map(|h| (pool.id(h.doc).to_string(), h.score.get())).collect();
    let expected = [
        ("c1".to_owned(), 1.0 / 61.0 + 2.0 / 62.0),
        ("c0".to_owned(), 2.0 / 61.0),
        ("c2".to_owned(), 1.0 / 62.0),
    ];
    assert_eq!(got, expected);
}

struct Overlap;

impl Scorer for Overlap {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let words: Vec<&str> = query.as_str().split_whitespace().collect();
        let overlap = |t: &&str| words.iter().filter(|w| t.contains(**w)).count() as f64;
        Ok(texts.iter().map(overlap).collect())
    }
}

struct Broken(f64);

impl Scorer for Broken {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        match query.as_str() {
            "bad" => Ok(vec![self.0; texts.len()]),
            "short" => Ok(vec![]),
            "fails" => Err("no answer".into()),
            _ => Ok(vec![0.0; texts.len()]),
        }
    }
}

fn query(id: &str, text: &str) -> Query {
    Query { id: id.into(), text: text.into() }
}

fn options(k: usize) -> RunOptions<'static> {
    RunOptions { depth: depth(k), ties: TieRule::Hash, progress: None, keep_families: false }
}

#[test]
fn the_runner_names_the_query_and_the_candidate() {
    let pool = pool(3, false);
    let exhaustive = Exhaustive { corpus: Arc::clone(pool.corpus()), scorer: Broken(f64::NAN) };
    let method = Method::new(exhaustive, Candidates::All);
    let err = |text: &str| {
        let queries = [query("q1", "good"), query("q2", text)];
        method.run(&queries, &pool, &(), &options(2)).unwrap_err().to_string()
    };
    let first = pool.id(pool.corpus().docs().next().unwrap());
    assert_eq!(err("bad"), format!("query `q2`, candidate `{first}`: score NaN is not finite"));
    assert_eq!(err("short"), "query `q2`: expected 3 scores, one for each text, got 0");
    assert_eq!(err("fails"), "query `q2`: no answer");
}

#[test]
fn a_selected_run_keeps_one_of_each_family_and_fills_the_ranks_it_must() {
    let pool = pool(4, false);
    let queries = [query("q", "text 0 1")];
    let groups = pool
        .corpus()
        .docs()
        .map(|d| {
            u32::from(matches!(pool.id(d).as_str(), "c2" | "c3"))
                + 10 * u32::from(pool.id(d).as_str() == "c1")
        })
        .collect();
    let families = Partition::new(pool.corpus(), groups);
    let method = || {
        Method::new(
            Exhaustive { corpus: Arc::clone(pool.corpus()), scorer: Overlap },
            Candidates::All,
        )
    };
    let outcome = method()
        .select::<ReleasedFamily>(Released)
        .run(&queries, &pool, &families, &options(3))
        .unwrap();
    let q = QueryId::from("q");
    let after = outcome.run.rankings().get(&q).unwrap();
    assert_eq!(ids(&pool, after).len(), 3);
    assert_eq!(outcome.padded, 0);
    assert_eq!(outcome.run.setting(), "released_family");
    let whole = method()
        .select::<ReleasedFamily>(Released)
        .run(&queries, &pool, &families, &options(4))
        .unwrap();
    assert_eq!(whole.padded, 1);
    assert_eq!(whole.run.rankings().get(&q).unwrap().hits().len(), 4);
    assert_eq!(&whole.run.rankings().get(&q).unwrap().hits()[..3], after.hits());
    // A bounded list of another's rankings is selected from as it is.
    let recorded =
        Rankings::new(depth(2), BTreeMap::from([(q.clone(), listed(&pool, &["c2", "c3"]))]));
    let method = Method::<ReleasedFamily>::recorded(Arc::new(recorded), Some(Box::new(Released)));
    let bounded = method.run(&queries, &pool, &families, &options(2)).unwrap();
    assert_eq!(
        (bounded.padded, ids(&pool, bounded.run.rankings().get(&q).unwrap())),
        (1, vec!["c2".to_owned(), "c3".to_owned()])
    );
}

#[test]
fn threads_do_not_change_a_run() {
    let pool = pool(60, false);
    let queries: Vec<Query> =
        (0..300).map(|i| query(&format!("q{i}"), &format!("{} {}", i % 7, i % 3))).collect();
    let run = |threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| {
            let method = Method::new(
                Exhaustive { corpus: Arc::clone(pool.corpus()), scorer: Overlap },
                Candidates::All,
            );
            method.run(&queries, &pool, &(), &options(20)).unwrap().run.into_rankings()
        })
    };
    assert_eq!(run(1), run(8));
}

#[test]
fn the_contract_accepts_a_sound_scorer_and_refuses_the_others() {
    use contract::{ContractError, check_retriever, check_scorer};
    let (queries, texts) = (["text 1", "", "é 漢"], ["", "text 1", "text 2", "é", "same", "same"]);
    check_scorer(&Overlap, &queries, &texts).unwrap();
    check_scorer(&Constant, &queries, &texts).unwrap();
    check_scorer(&ByLength, &queries, &texts).unwrap();
    check_retriever(|c| Ok(Random::new(7, c)), &queries, &texts).unwrap();
    struct Positional;
    impl Scorer for Positional {
        fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
            Ok((0..texts.len()).map(|i| i as f64).collect())
        }
    }
    let breach = check_scorer(&Positional, &queries, &texts).unwrap_err();
    assert!(matches!(breach, ContractError::Batch { .. }), "{breach}");
    let breach = check_scorer(&Broken(f64::INFINITY), &["bad"], &texts).unwrap_err();
    assert!(matches!(breach, ContractError::NotFinite { .. }), "{breach}");
}

#[test]
fn what_follows_the_reordered_head_keeps_its_order_below_it() {
    /// The shortest text is the best, on a scale where a step of 1 may be none.
    struct Shortest(f64);
    impl Scorer for Shortest {
        fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
            Ok(texts.iter().map(|text| self.0 - text.len() as f64 * self.0.abs() / 64.0).collect())
        }
    }
    let pool = pool(12, false);
    let ties = keys(TieRule::Hash, &pool);
    let order = ["c11", "c10", "c1", "c2", "c9", "c0", "c8"];
    let first = listed(&pool, &order);
    for scale in [1.0, -3.0, 1e300] {
        let head = Head { top: depth(3), reranker: Rescore(Shortest(scale)) };
        let rank =
            |ranking| head.rerank(QueryText::new("q"), pool.corpus(), ranking, &ties).unwrap();
        let found = rank(first.clone());
        assert_eq!(ids(&pool, &found)[0], "c1", "the reranker has its say: {scale}");
        assert_eq!(ids(&pool, &found)[3..], order[3..], "{scale}");
        let below = found.hits()[2..].windows(2).all(|pair| pair[1].score < pair[0].score);
        assert!(below, "no tie mixes the two: {:?}", found.hits());
        // A head that is all of it is the reranker's own ranking.
        let all = listed(&pool, &order[..3]);
        let alone =
            Rescore(Shortest(scale)).rerank(QueryText::new("q"), pool.corpus(), all.clone(), &ties);
        assert_eq!(rank(all), alone.unwrap());
    }
}
