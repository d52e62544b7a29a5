//! Families from texts, against scikit-learn's similarities.

use cleanhit_core::{Depth, Pool, Query, Ranking, Resolver, TextCluster, TieKeys, TieRule};
use cleanhit_lexical::{ClusterParams, Scope, TextClusters, similar_pairs};
use proptest::prelude::*;

use crate::data::{close, numbered};

/// Positions by name, best first.
fn ranking(pool: &Pool, order: &[&str]) -> Ranking {
    let mut scores = vec![0.0; pool.len()];
    for (i, id) in order.iter().rev().enumerate() {
        scores[pool.position(id).unwrap().as_usize()] = 1.0 + i as f64;
    }
    let query = Query { id: "q".into(), text: String::new() };
    let ties = TieKeys::new(TieRule::Hash, &query.id, pool);
    Ranking::of_scores(&scores, Depth::of_len(pool.len()), &ties).unwrap()
}

const TEXTS: [&str; 7] = [
    "extract tables from pdf files",
    "extract tables from pdf documents",
    "extract figures from pdf documents",
    "extract figures from word documents",
    "merge csv rows",
    "",
    "",
];

#[test]
fn similarities_are_cosines() {
    // `TfidfVectorizer(sublinear_tf=True)` of scikit-learn 1.9.1 on the seven texts.
    let expected = [
        ("c0000", "c0001", 0.724_975_680_444_192_1),
        ("c0001", "c0002", 0.719_315_805_446_757),
        ("c0002", "c0003", 0.724_975_680_444_192),
    ];
    let pool = numbered(&TEXTS);
    let params = ClusterParams { threshold: 0.6, ..ClusterParams::default() };
    let pairs = similar_pairs(pool.corpus(), &params).unwrap();
    assert_eq!(pairs.len(), expected.len());
    for (a, b, similarity) in expected {
        let (a, b) = (pool.position(a).unwrap(), pool.position(b).unwrap());
        let pair = pairs.iter().find(|p| (p.first, p.second) == (a.max(b), a.min(b))).unwrap();
        assert!(close(pair.similarity, similarity, 1e-12), "{pair:?}");
    }
}

#[test]
fn neighbours_of_neighbours_are_of_one_family() {
    let pool = numbered(&TEXTS);
    let clusters =
        TextClusters::new(pool.corpus(), &ClusterParams::default(), Scope::Pool).unwrap();
    let order = ranking(&pool, &[]);
    let families: cleanhit_core::Partition =
        Resolver::<TextCluster>::families(&clusters, pool.corpus(), &order, &()).unwrap();
    let group = |id: &str| families.group(pool.position(id).unwrap());
    assert_eq!([group("c0001"), group("c0002"), group("c0003")], [group("c0000"); 3]);
    let mut groups = ["c0000", "c0004", "c0005", "c0006"].map(group).to_vec();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), 4, "texts without words are like no other");
}

#[test]
fn only_the_active_are_clustered() {
    let pool = numbered(&TEXTS);
    let clusters =
        TextClusters::new(pool.corpus(), &ClusterParams::default(), Scope::Active { top: 3 });
    let clusters = clusters.unwrap();
    // The second text, which connects the first and the third, is not among the first three.
    let order = ranking(&pool, &["c0003", "c0002", "c0000"]);
    let families = clusters.families(pool.corpus(), &order, &()).unwrap();
    let group = |id: &str| families.group(pool.position(id).unwrap());
    assert_eq!(group("c0002"), group("c0003"));
    assert_ne!(group("c0000"), group("c0002"));
    assert_ne!(group("c0001"), group("c0000"));
    assert_ne!(group("c0001"), group("c0002"));
    // The whole pool is clustered whatever the scope.
    let whole = clusters.partition(pool.corpus());
    assert_eq!(
        whole.group(pool.position("c0000").unwrap()),
        whole.group(pool.position("c0003").unwrap())
    );
}

#[test]
fn what_cannot_be_clustered_is_refused() {
    let (pool, other) = (numbered(&TEXTS), numbered(&["one"]));
    for threshold in [0.0, -1.0, 1.5, f64::NAN] {
        let params = ClusterParams { threshold, ..ClusterParams::default() };
        assert!(similar_pairs(pool.corpus(), &params).is_err(), "{threshold}");
    }
    let clusters =
        TextClusters::new(pool.corpus(), &ClusterParams::default(), Scope::default()).unwrap();
    let error = clusters.families(other.corpus(), &ranking(&other, &[]), &()).unwrap_err();
    assert_eq!(error.to_string(), "neighbours were found among 7 candidates, but the corpus has 1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The families of the whole ranking are those of the pool, and identical texts with words
    /// are always of one family.
    #[test]
    fn all_active_is_the_pool(texts in prop::collection::vec("([a-e]{2} ){0,6}", 1..30)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pool = numbered(&texts);
        let params = ClusterParams::default();
        let all = Scope::Active { top: pool.len() };
        let active = TextClusters::new(pool.corpus(), &params, all).unwrap();
        let whole = TextClusters::new(pool.corpus(), &params, Scope::Pool).unwrap();
        let order = ranking(&pool, &[]);
        let families = active.families(pool.corpus(), &order, &()).unwrap();
        prop_assert_eq!(&families, &whole.families(pool.corpus(), &order, &()).unwrap());
        for a in pool.corpus().docs() {
            for b in pool.corpus().docs() {
                let text = pool.corpus().text(a);
                if !text.trim().is_empty() && text == pool.corpus().text(b) {
                    prop_assert_eq!(families.group(a), families.group(b));
                }
            }
        }
    }
}
