use std::{path::PathBuf, sync::Arc};

use cleanhit_core::{
    Constant, Depth, Exhaustive, Representative, Retriever, Selector, TieKeys, TieRule,
};
use cleanhit_io::{Expect, read_ranks};
use proptest::prelude::*;

use super::*;
use crate::{
    labels::{Mechanism, Role, Stratum},
    sanity::{Sanity, sanity},
    testing::{FAMILIES, Fixture, HEADER, cutoff, pool, write},
};

/// Helpful and sibling ranks: q1 1 2, q2 2 5, q3 3 1, q4 1 –, q5 1 5, q6 2 3, q7 3 1, q8 5 –.
pub(crate) const RUN: &str = "
    q1 a,b,c,d,e
    q2 c,b,e,f,a
    q3 d,e,c,f,g
    q4 d,a,b,e,f
    q5 p,t,u,r,q
    q6 t,q,p,u,r
    q7 s,t,r,u,p
    q8 t,u,p,q,s";

fn rates(counts: &Counts, rate: fn(&Counts, Measure) -> Option<f64>) -> [Option<f64>; 3] {
    Measure::ALL.map(|measure| rate(counts, measure))
}

#[test]
fn the_rates_are_those_computed_by_hand() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings(RUN);
    let run = Evaluation::new(&cases, &fixture.bench, &run, &"1,3,5".parse().unwrap()).unwrap();
    assert_eq!(run.warnings(), [""; 0]);
    assert_eq!(run.observed("q2"), Some(Observed { helpful: Some(2), sibling: Some(5) }));
    let main = run.summary(Scope::MainComparison);
    assert_eq!((main.queries, main.units, main.lineage_groups), (7, 5, 3));
    let at = |k| main.at(cutoff(k)).unwrap();
    assert_eq!(rates(at(1), Counts::micro), [2.0, 2.0, 2.0].map(|n| Some(n / 7.0)));
    assert_eq!(rates(at(3), Counts::micro), [6.0, 4.0, 2.0].map(|n| Some(n / 7.0)));
    assert_eq!(rates(at(5), Counts::micro), [7.0, 6.0, 1.0].map(|n| Some(n / 7.0)));
    assert_eq!(rates(at(3), Counts::unit_macro), [0.9, 0.6, 0.3].map(Some));
    assert_eq!((at(3).both, at(3).both_rate()), (4, Some(4.0 / 7.0)));
    assert_eq!(at(3).conditional_co_exposure(), Some(4.0 / 6.0));
    assert_eq!((main.first_rank().unwrap().helpful, at(3).pairs), (2, None));
    let order = RelativeOrder { queries: 7, listed: 6, sibling_first: 2 };
    assert_eq!((main.order, order.sibling_first_rate()), (order, Some(2.0 / 6.0)));
    assert!(main.is_thin());
}

#[test]
fn scopes_and_groups_split_the_queries() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings(RUN);
    let run = Evaluation::new(&cases, &fixture.bench, &run, &"3,5".parse().unwrap()).unwrap();
    let queries: Vec<u64> = run.scopes().values().map(|summary| summary.queries).collect();
    assert_eq!(queries, [7, 3, 4, 8, 1]);
    let hard = run.summary(Scope::MainHard);
    let pairs = |k| hard.at(cutoff(k)).unwrap().pairs.unwrap();
    assert_eq!(pairs(3), PairCounts { units: 2, both_recalled: 1, both_clean: 0 });
    assert_eq!(pairs(5), PairCounts { units: 2, both_recalled: 2, both_clean: 0 });
    assert_eq!((pairs(3).recall(), pairs(5).clean_hit()), (Some(0.5), Some(0.0)));
    assert_eq!(run.summary(Scope::MainCore).at[0].pairs, None);
    let groups = |by: By| {
        let summaries = run.by(by).into_iter();
        summaries.map(|s| (s.group.to_string(), s.queries, s.at[0].clean)).collect::<Vec<_>>()
    };
    let group = |name: &str, queries, clean| (name.to_owned(), queries, clean);
    assert_eq!(
        groups(By::Mechanism),
        [
            group("primary_category=resource_binding", 2, 1),
            group("primary_category=procedure", 1, 0),
            group("primary_category=evidence_role", 4, 1),
        ]
    );
    assert_eq!(
        groups(By::Role),
        [group("role=operational", 3, 1), group("role=evidence_role", 4, 1)]
    );
    assert_eq!(groups(By::Stratum)[1], group("stratum=paired", 4, 1));
    assert_eq!(groups(By::Source)[0], group("domain=controlled", 4, 1));
    assert_eq!(groups(By::ConflictType)[3], group("conflict_type=planned_vs_occurred", 2, 0));
    let paired = Group::Stratum(Stratum::Paired);
    assert_eq!(Group::Role(Role::Evidence).members(&cases), paired.members(&cases));
    assert_eq!(
        run.summary(Group::Mechanism(Mechanism::Applicability)).at[0].micro(Measure::Hsr),
        None
    );
}

#[test]
fn each_source_is_left_out_in_turn() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings(RUN);
    let run = Evaluation::new(&cases, &fixture.bench, &run, &"3".parse().unwrap()).unwrap();
    let exclusions = run.without_each_source();
    let rows: Vec<(&str, u64, u64, u64)> = exclusions
        .rows
        .iter()
        .map(|row| (&*row.source, row.rest.queries, row.rest.units, row.rest.lineage_groups))
        .collect();
    assert_eq!(rows, [("math", 1, 1, 1), ("web", 2, 2, 1)]);
    let range = |min, max| Some(Range { min, max });
    assert_eq!(exclusions.range(Measure::Hsr, cutoff(3)), range(0.5, 1.0));
    assert_eq!(exclusions.range(Measure::Recall, cutoff(3)), range(1.0, 1.0));
    assert_eq!(exclusions.conditional_range(cutoff(3)), range(0.5, 1.0));
    assert_eq!(exclusions.range(Measure::Hsr, cutoff(1)), None);
}

#[test]
fn a_missing_query_counts_nothing_and_is_listed() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings("q2 c,b,e\nq1 a");
    let run = Evaluation::new(&cases, &fixture.bench, &run, &"1,3".parse().unwrap()).unwrap();
    assert_eq!((run.missing().len(), run.missing()[0].as_str()), (6, "q3"));
    let short = [ShortList { query: "q1".into(), listed: 1, expected: 3 }];
    assert_eq!(run.short(), short);
    assert_eq!(
        run.warnings(),
        [
            "6 queries without a ranking, counted 0, first `q3`",
            "1 short ranking, first that of `q1`: 1 of 3 candidates",
        ]
    );
    let main = run.summary(Scope::MainComparison);
    assert_eq!((main.queries, main.at[1].helpful, main.at[1].sibling), (7, 2, 0));
    let hard = run.summary(Scope::MainHard);
    assert_eq!(hard.at[0].conditional_co_exposure(), None);
    assert_eq!(hard.order.sibling_first_rate(), None);
}

#[test]
fn a_cutoff_that_cannot_be_measured_is_refused() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings(RUN);
    let error = Evaluation::new(&cases, &fixture.bench, &run, &Cutoffs::default()).unwrap_err();
    let message =
        "a measure at cutoff 20 needs as many candidates; pool `single` has 8 and the run keeps 5";
    assert_eq!(error.to_string(), message);
    let (fit, too_deep) = Cutoffs::default().that_fit(run.depth(), &fixture.bench);
    assert_eq!((fit.to_string(), too_deep), ("1,3,5".to_owned(), vec![cutoff(20)]));
    let deep = sanity(Sanity::Oracle, &cases, &fixture.bench, None, TieRule::Hash);
    let error = Evaluation::new(&cases, &fixture.bench, &deep, &"7".parse().unwrap()).unwrap_err();
    assert!(error.to_string().contains("pool `paired` has 6 and the run keeps 8"), "{error}");
}

#[test]
fn another_benchmarks_rankings_are_refused() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let other = write(&[pool("single", &["a", "b"], &["x1"])], HEADER, FAMILIES);
    let run = other.rankings("x1 a");
    let cutoffs: Cutoffs = "1".parse().unwrap();
    let error = Evaluation::new(&cases, &fixture.bench, &run, &cutoffs).unwrap_err();
    assert_eq!(error.to_string(), "query `x1` is ranked but is not in the benchmark");
    let error = Evaluation::new(&cases, &other.bench, &run, &cutoffs).unwrap_err();
    assert!(matches!(error, EvalError::OtherBenchmark { .. }));
}

#[test]
fn ties_bound_the_measures() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    // q1: the sibling is inside a tie of ranks 2 to 4. q2: both are inside a tie that reaches the
    // end. q3: a gap of 1e-7 at the cutoff, with the helpful skill below it.
    let run =
        fixture.rankings("q1 a:3,c:2,b:2,d:2\nq2 c:9,e:1,b:1,a:1\nq3 d:3,e:2,f:1,c:0.9999999");
    let run = Evaluation::new(&cases, &fixture.bench, &run, &"3,4".parse().unwrap()).unwrap();
    let report = run.ties(Group::Stratum(Stratum::Single))[0];
    assert_eq!((report.queries, report.unrecorded), (3, 0));
    assert_eq!((report.exact.tied, report.exact.open), (2, 2));
    assert_eq!((report.near.tied, report.near.open), (3, 3));
    let bounds =
        |counts: &TieCounts| Measure::ALL.map(|m| (counts.bounds(m).low, counts.bounds(m).high));
    // Recall: q1 always, q2 perhaps. HSR: q1 perhaps, q2 perhaps, q3 always.
    assert_eq!(bounds(&report.exact), [(1, 2), (1, 3), (0, 2)]);
    assert_eq!(bounds(&report.near), [(1, 3), (1, 3), (0, 2)]);
    assert_eq!(report.exact_range(Measure::CleanHit), Some((0.0, 2.0 / 3.0)));
    assert_eq!((report.exact.best(Measure::Hsr), report.exact.worst(Measure::Hsr)), (1, 3));
    // At 4 the lists end: nothing is known of what follows.
    let report = run.ties(Group::Stratum(Stratum::Single))[1];
    assert_eq!((report.unrecorded, report.exact.tied), (3, 0));
}

#[test]
fn selection_is_accounted_for() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let run = fixture.rankings(RUN);
    let families = fixture.families();
    let selected = run.iter().map(|(query, ranking)| {
        let (pool, _) = fixture.bench.find_query(query.as_str()).unwrap();
        (query.clone(), Representative.select(ranking.clone(), families.disclose(pool)))
    });
    let selected = cleanhit_core::Rankings::new(run.depth(), selected.collect());
    let cutoffs: Cutoffs = "3".parse().unwrap();
    let before = Evaluation::new(&cases, &fixture.bench, &run, &cutoffs).unwrap();
    let after = Evaluation::new(&cases, &fixture.bench, &selected, &cutoffs).unwrap();
    let account = before.selection(&after, Scope::MainComparison).unwrap()[0];
    // q1 and q6 lose the sibling, q3 and q7 keep it as the representative.
    assert_eq!((account.before, account.resolved, account.promoted, account.after), (4, 2, 0, 2));
    assert_eq!(account.hsr_after(), after.summary(Scope::MainComparison).at[0].micro(Measure::Hsr));
    assert_eq!(after.summary(Scope::MainComparison).at[0].both, 0);
    let other = Evaluation::new(&cases, &fixture.bench, &run, &"1".parse().unwrap()).unwrap();
    let error = before.selection(&other, Scope::MainComparison).unwrap_err().to_string();
    assert_eq!(error, "one run was evaluated at the cutoffs 3, the other at 1; expected the same");
}

#[test]
fn a_leaderboard_file_is_evaluated_where_its_pools_allow() {
    let shared = std::env::var_os("CLEANHIT_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join("golden/ir/c13_leaderboard/valid_top20.tsv");
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {} is absent", path.display());
        return;
    };
    let a: Vec<String> = (0..22).map(|i| format!("a{i:02}")).collect();
    let b: Vec<String> = (0..5).map(|i| format!("b{i}")).collect();
    let cases = "qa\tu1\ta00\ta01\tyes\tcore_local_contract\theldout\tprocedure\tcomputation_rule\tx\tg1\n\
                 qb\tu2\tb0\tb1\tyes\tcore_local_contract\theldout\tprocedure\tcomputation_rule\tx\tg2\n";
    let pools = [pool("poolA", &a, &["qa".to_owned()]), pool("poolB", &b, &["qb".to_owned()])];
    let fixture = write(&pools, &format!("{HEADER}{cases}"), FAMILIES);
    let ranks = read_ranks("top20.tsv", &bytes, &fixture.bench, Expect::Submission).unwrap();
    let (cutoffs, too_deep) = Cutoffs::default().that_fit(ranks.rankings.depth(), &fixture.bench);
    assert_eq!(too_deep, [cutoff(20)]);
    let cases = fixture.cases();
    let run = Evaluation::new(&cases, &fixture.bench, &ranks.rankings, &cutoffs).unwrap();
    // All five of pool B are listed, so both of its marked skills are.
    let main = run.summary(Scope::MainComparison);
    assert!(1 <= main.at(cutoff(5)).unwrap().both);
    let metrics = run.metrics_file("m", &fixture.bench.gate_sha256, &[]);
    assert_eq!(metrics.scopes.main_core.query_micro.get(Measure::Recall, 20), None);
    assert!(metrics.scopes.main_core.query_micro.get(Measure::Recall, 5).is_some());
}

/// Full rankings of the fixed benchmark by these scores.
fn ranked(fixture: &Fixture, scores: &[u8]) -> cleanhit_core::Rankings {
    let mut scores = scores.iter().cycle();
    let ranked = fixture.bench.pools.iter().flat_map(|bench_pool| {
        let pool = &bench_pool.pool;
        bench_pool.queries.iter().map(move |query| (pool, query))
    });
    let ranked = ranked.map(|(pool, query)| {
        let scores: Vec<f64> =
            (0..pool.len()).map(|_| f64::from(scores.next().copied().unwrap_or(0))).collect();
        let keys = TieKeys::new(TieRule::Hash, &query.id, pool);
        let ranking = cleanhit_core::Ranking::of_scores(&scores, Depth::of_len(8), &keys).unwrap();
        (query.id.clone(), ranking)
    });
    cleanhit_core::Rankings::new(Depth::of_len(8), ranked.collect())
}

#[test]
fn the_oracle_is_perfect_and_a_constant_is_not() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let cutoffs: Cutoffs = "1,3,5".parse().unwrap();
    let rates = |rankings: &cleanhit_core::Rankings, k: usize| {
        let run = Evaluation::new(&cases, &fixture.bench, rankings, &cutoffs).unwrap();
        let counts = &run.summary(Scope::AllQueryCensus).at[k];
        Measure::ALL.map(|measure| counts.micro(measure))
    };
    let of = |kind| sanity(kind, &cases, &fixture.bench, Some(Depth::of_len(5)), TieRule::Hash);
    assert_eq!(rates(&of(Sanity::Oracle), 2), [1.0, 0.0, 1.0].map(Some));
    assert_eq!(rates(&of(Sanity::AntiOracle), 2), [0.0, 1.0, 0.0].map(Some));
    let mut constant: Option<cleanhit_core::Rankings> = None;
    for bench_pool in &fixture.bench.pools {
        let method = Exhaustive { corpus: Arc::clone(bench_pool.pool.corpus()), scorer: Constant };
        let queries: Vec<_> = bench_pool
            .queries
            .iter()
            .map(|q| (q.as_text(), TieKeys::new(TieRule::Hash, &q.id, &bench_pool.pool)))
            .collect();
        let rankings = method.retrieve(&queries, Depth::of_len(5)).unwrap();
        let ids = bench_pool.queries.iter().map(|q| q.id.clone());
        let rankings = cleanhit_core::Rankings::new(Depth::of_len(5), ids.zip(rankings).collect());
        match &mut constant {
            Some(all) => all.merge(rankings),
            None => constant = Some(rankings),
        }
    }
    let constant = constant.unwrap();
    for k in 0..3 {
        let (constant, oracle) = (rates(&constant, k), rates(&of(Sanity::Oracle), k));
        assert!(constant[2] < oracle[2] && oracle[1] <= constant[1], "{constant:?}");
    }
    // All candidates tie, so any value is possible where the cutoff is inside the list.
    let run = Evaluation::new(&cases, &fixture.bench, &constant, &cutoffs).unwrap();
    let ties = run.ties(Scope::AllQueryCensus);
    assert_eq!((ties[1].exact.tied, ties[2].unrecorded), (8, 8));
    let listed =
        cases.iter().filter(|case| run.observed(case.query.as_str()).unwrap().helpful.is_some());
    let most = listed.count() as f64 / 8.0;
    assert_eq!(ties[1].exact_range(Measure::Recall), Some((0.0, most)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Recall = CleanHit + both-hit; no run beats the oracle or is worse than the anti-oracle;
    /// and the measured value is within the bounds of its ties.
    #[test]
    fn the_measures_hang_together(scores in prop::collection::vec(0u8..4, 1..60)) {
        let fixture = Fixture::fixed();
        let cases = fixture.cases();
        let cutoffs: Cutoffs = "1,2,3,5".parse().unwrap();
        let evaluate = |r: &cleanhit_core::Rankings| Evaluation::new(&cases, &fixture.bench, r, &cutoffs).unwrap();
        let run = evaluate(&ranked(&fixture, &scores));
        let oracle = evaluate(&sanity(Sanity::Oracle, &cases, &fixture.bench, None, TieRule::Hash));
        let anti = evaluate(&sanity(Sanity::AntiOracle, &cases, &fixture.bench, None, TieRule::Hash));
        for scope in Scope::ALL {
            let (run_at, ties) = (run.summary(scope).at, run.ties(scope));
            for ((counts, report), (best, worst)) in run_at.iter().zip(ties).zip(oracle.summary(scope).at.iter().zip(&anti.summary(scope).at)) {
                prop_assert_eq!(counts.helpful, counts.clean + counts.both);
                prop_assert!(counts.helpful <= best.helpful && worst.helpful <= counts.helpful);
                prop_assert!(counts.clean <= best.clean && worst.clean <= counts.clean);
                prop_assert!(best.sibling <= counts.sibling && counts.sibling <= worst.sibling);
                for measure in Measure::ALL {
                    let bounds = report.exact.bounds(measure);
                    prop_assert!(bounds.low <= counts.count(measure) && counts.count(measure) <= bounds.high);
                    let near = report.near.bounds(measure);
                    prop_assert!(near.low <= bounds.low && bounds.high <= near.high);
                }
            }
        }
    }

    /// Released families hold every marked pair, so after selection no list has both, and
    /// equation 4 gives the exposure that is left.
    #[test]
    fn selection_over_released_families_leaves_no_pair(scores in prop::collection::vec(0u8..9, 1..60)) {
        let fixture = Fixture::fixed();
        let (cases, families) = (fixture.cases(), fixture.families());
        let run = ranked(&fixture, &scores);
        let selected = run.iter().map(|(query, ranking)| {
            let (pool, _) = fixture.bench.find_query(query.as_str()).unwrap();
            (query.clone(), Representative.select(ranking.clone(), families.disclose(pool)))
        });
        // Four families in the smaller pool: to depth 4 nothing is padded.
        let selected = cleanhit_core::Rankings::new(Depth::of_len(4), selected.collect());
        let cutoffs: Cutoffs = "1,3,4".parse().unwrap();
        let before = Evaluation::new(&cases, &fixture.bench, &run, &cutoffs).unwrap();
        let after = Evaluation::new(&cases, &fixture.bench, &selected, &cutoffs).unwrap();
        for scope in Scope::ALL {
            let accounts = before.selection(&after, scope).unwrap();
            for (counts, account) in after.summary(scope).at.iter().zip(accounts) {
                prop_assert_eq!(counts.helpful, counts.clean);
                prop_assert_eq!(account.hsr_after(), counts.micro(Measure::Hsr));
            }
        }
    }
}
