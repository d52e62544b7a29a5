use std::{num::NonZeroU32, time::Instant};

use cleanhit_core::{Depth, Run, TextOnly, TieRule};
use cleanhit_io::Benchmark;

use super::*;
use crate::{
    exposure::{By, Evaluation, Group, Measure, Scope},
    labels::{Cases, Stratum},
    sanity::{Sanity, sanity},
    stats::{Interval, Plan, Tally},
    testing::{CASES, FAMILIES, Fixture, HEADER, cutoff, pool, write},
};

/// The run of `exposure::tests`.
const RUN: &str = "
    q1 a,b,c,d,e\nq2 c,b,e,f,a\nq3 d,e,c,f,g\nq4 d,a,b,e,f
    q5 p,t,u,r,q\nq6 t,q,p,u,r\nq7 s,t,r,u,p\nq8 t,u,p,q,s";

fn options(cutoffs: &str) -> CompareOptions {
    CompareOptions { cutoffs: cutoffs.parse().unwrap(), ..CompareOptions::default() }
}

fn run(fixture: &Fixture, lines: &str) -> Run<TextOnly> {
    Run::declared(fixture.rankings(lines))
}

#[test]
fn an_interval_draws_lineage_groups_of_its_own_group() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let rankings = fixture.rankings(RUN);
    let run = Evaluation::new(&cases, &fixture.bench, &rankings, &"1,3".parse().unwrap()).unwrap();
    let intervals = run.intervals(&BootstrapSettings::default()).unwrap();
    assert_eq!(intervals.resampling_unit, ResamplingUnit::LineageGroup);
    // Five scopes, two strata, three mechanisms, four types, three sources, two roles.
    assert_eq!(intervals.groups.len(), 19);
    let main = intervals.get(Scope::MainComparison).unwrap();
    assert_eq!((main.lineage_groups, main.has_few_groups()), (3, true));
    // Recall@3 by lineage group: g1 2 of 2, g2 1 of 1, g4 3 of 4. All draws of three groups
    // lie between the least and the largest of their rates.
    let recall = main.at(cutoff(3)).unwrap().micro(Measure::Recall);
    assert_eq!(recall, Interval { low: 0.75, high: 1.0 });
    // One group: every draw is the whole group.
    let hard = intervals.get(Scope::MainHard).unwrap();
    let point = |low: f64| Interval { low, high: low };
    assert_eq!(hard.at(cutoff(3)).unwrap().micro(Measure::Recall), point(0.75));
    assert_eq!(hard.at(cutoff(3)).unwrap().unit_macro(Measure::CleanHit), point(0.25));
    let stratum = intervals.get(Group::Stratum(Stratum::Paired)).unwrap();
    assert_eq!(stratum.at, hard.at);
    assert!(main.at(cutoff(5)).is_none());
    let level = BootstrapSettings { level: 1.0, ..BootstrapSettings::default() };
    assert_eq!(run.intervals(&level).unwrap_err().to_string(), "a level must be in (0, 1), got 1");
}

#[test]
fn a_group_without_queries_has_no_intervals() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let rankings = fixture.rankings(RUN);
    let run = Evaluation::new(&cases, &fixture.bench, &rankings, &"3".parse().unwrap()).unwrap();
    let none = [Group::Source("nowhere".into())];
    let intervals = run.intervals_of(&none, &BootstrapSettings::default()).unwrap();
    assert_eq!((intervals.groups[0].lineage_groups, intervals.groups[0].at.len()), (0, 0));
}

#[test]
fn neither_threads_nor_the_order_of_queries_change_an_interval() {
    let fixture = Fixture::fixed();
    let reversed: Vec<&str> = CASES.lines().rev().collect();
    let reversed = format!("{HEADER}{}\n", reversed.join("\n"));
    let pools = [
        pool("paired", &["u", "t", "s", "r", "q", "p"], &["q8", "q6", "q7", "q5"]),
        pool("single", &["h", "g", "f", "e", "d", "c", "b", "a"], &["q3", "q4", "q1", "q2"]),
    ];
    let other = write(&pools, &reversed, FAMILIES);
    let with = |fixture: &Fixture, threads: usize| {
        let cases = fixture.cases();
        let rankings = fixture.rankings(RUN);
        let cutoffs = "1,3,5".parse().unwrap();
        let run = Evaluation::new(&cases, &fixture.bench, &rankings, &cutoffs).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run.intervals(&BootstrapSettings::default()).unwrap())
    };
    let one = with(&fixture, 1);
    assert_eq!(one, with(&fixture, 3));
    assert_eq!(one, with(&other, 2));
}

#[test]
fn a_paired_difference_is_that_computed_by_hand() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let baseline = run(&fixture, RUN);
    // q1 loses the sibling, q7 finds the helpful skill first; q2 loses its helpful skill.
    let treated = run(
        &fixture,
        "
        q1 a,c,d,e,b\nq2 c,e,f,b,a\nq3 d,e,c,f,g\nq4 d,a,b,e,f
        q5 p,t,u,r,q\nq6 t,q,p,u,r\nq7 r,t,u,s,p\nq8 t,u,p,q,s",
    );
    let compared = paired(&baseline, &treated, &cases, &fixture.bench, &options("3")).unwrap();
    assert_eq!(compared.warnings, [""; 0]);
    let main = compared.get(Scope::MainComparison, Measure::CleanHit, cutoff(3)).unwrap();
    assert_eq!((main.queries, main.units, main.lineage_groups), (7, 5, 3));
    assert_eq!((main.baseline, main.treated), (2.0 / 7.0, 3.0 / 7.0));
    // CleanHit: q1 +1, q2 −1, q7 +1.
    assert_eq!((main.micro, main.unit_macro), (1.0 / 7.0, 0.1));
    assert_eq!((main.tally, main.p), (Tally { wins: 2, ties: 2, losses: 1 }, 1.0));
    let hsr = compared.get(Scope::MainComparison, Measure::Hsr, cutoff(3)).unwrap();
    let tally = Tally { wins: 0, ties: 3, losses: 2 };
    assert_eq!((hsr.micro, hsr.tally, hsr.p), (-2.0 / 7.0, tally, 0.5));
    // g1 −1 of 2, g2 0 of 1, g4 −1 of 4.
    assert_eq!(hsr.micro_interval, Interval { low: -0.5, high: 0.0 });
    assert_eq!((hsr.ties.low, hsr.ties.high, hsr.ties.survives), (-2.0 / 7.0, -2.0 / 7.0, true));
    assert_eq!(hsr.warnings().len(), 2);
    // The main comparison is a family of one; the three mechanisms are one of three.
    let adjusted = hsr.adjusted.unwrap();
    assert_eq!((adjusted.family, adjusted.holm), (1, 0.5));
    let group = By::Mechanism.groups(&cases)[0].clone();
    let mechanism = compared.get(group, Measure::Hsr, cutoff(3)).unwrap();
    assert_eq!(mechanism.adjusted.unwrap().family, 3);
    assert_eq!(compared.differences.len(), 3 * (1 + 2 + 2 + 3 + 4));
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let same = run(&fixture, RUN);
    let compared = paired(&same, &same, &cases, &fixture.bench, &options("1,3")).unwrap();
    for difference in &compared.differences {
        assert_eq!((difference.micro, difference.unit_macro, difference.p), (0.0, 0.0, 1.0));
        assert_eq!(difference.micro_interval, Interval { low: 0.0, high: 0.0 });
        assert_eq!(difference.adjusted.map(|adjusted| adjusted.bonferroni), Some(1.0));
    }
}

#[test]
fn families_span_the_comparisons_given() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let compare = |a: &str, b: &str| {
        let (a, b) = (run(&fixture, a), run(&fixture, b));
        paired(&a, &b, &cases, &fixture.bench, &options("3")).unwrap()
    };
    let worse = "q1 e,f,g\nq2 e,f,g\nq3 e,f,g\nq5 t,u,r\nq6 t,u,r\nq7 t,u,p\nq8 t,u,p";
    let mut comparisons = [compare(RUN, worse), compare(worse, RUN)];
    adjust_families(&mut comparisons).unwrap();
    let main = comparisons[0].get(Scope::MainComparison, Measure::Recall, cutoff(3)).unwrap();
    assert_eq!((main.tally.losses, main.p), (5, 0.0625));
    let adjusted = main.adjusted.unwrap();
    assert_eq!((adjusted.family, adjusted.holm, adjusted.benjamini_hochberg), (2, 0.125, 0.0625));
    // Lists of three: what follows is not known.
    assert_eq!(
        comparisons[0].warnings,
        ["treated: 1 query without a ranking, counted 0, first `q4`"]
    );
}

#[test]
fn a_difference_that_ties_could_turn_is_marked() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let baseline = run(&fixture, "q1 e,f,g,a\nq2 e,f,g,b\nq3 e,f,g,c");
    let tied = run(&fixture, "q1 e:2,f:1,a:1,g:1\nq2 e,f,g,b\nq3 e,f,g,c");
    let near = run(&fixture, "q1 e:2,f:1,a:0.5,g:0.4999999\nq2 e,f,g,b\nq3 e,f,g,c");
    let firm = run(&fixture, "q1 e,a,f,g\nq2 e,f,g,b\nq3 e,f,g,c");
    let verdict = |treated: &Run<TextOnly>| {
        let compared = paired(&baseline, treated, &cases, &fixture.bench, &options("3")).unwrap();
        compared.get(Scope::MainCore, Measure::Recall, cutoff(3)).map(|d| d.ties);
        compared.get(Scope::MainComparison, Measure::Recall, cutoff(3)).unwrap().ties
    };
    let tied = verdict(&tied);
    assert_eq!(
        (tied.low, tied.high, tied.survives, tied.survives_near),
        (0.0, 1.0 / 7.0, false, false)
    );
    let near = verdict(&near);
    assert_eq!((near.survives, near.survives_near), (true, false));
    let firm = verdict(&firm);
    assert_eq!((firm.survives, firm.survives_near), (true, true));
}

/// The paper's shape: 553 single-query units of 438 + 69 lineage groups over eight sources, and
/// 387 paired units of 10 groups.
fn of_paper_size() -> (Fixture, Cases) {
    let single: Vec<String> = (0..1106).map(|i| format!("s{i}")).collect();
    let paired: Vec<String> = (0..774).map(|i| format!("p{i}")).collect();
    let queries: Vec<String> = (0..553).map(|i| format!("a{i}")).collect();
    let pairs: Vec<String> = (0..774).map(|i| format!("b{i}")).collect();
    let operational = [
        "resource_binding\tresource_identity",
        "procedure\tcomputation_rule",
        "applicability\tprecondition_mismatch",
        "output_behavior\trepresentation_schema",
    ];
    let evidence = ["normative_vs_empirical", "planned_vs_occurred", "measured_vs_assumed"];
    let mut cases = HEADER.to_owned();
    for i in 0..553 {
        let (main, split, lineage) = match i < 69 {
            true => ("no", "development_only", 1000 + i),
            false => ("yes", "heldout", i % 438),
        };
        let contract = operational[i % 4];
        cases.push_str(&format!("a{i}\tu{i}\ts{}\ts{}\t{main}\tcore_local_contract\t{split}\t{contract}\tsource{}\tg{lineage}\n", 2 * i, 2 * i + 1, i % 8));
    }
    for i in 0..774 {
        let (unit, other) = (i / 2, i ^ 1);
        let contract = evidence[unit % 3];
        cases.push_str(&format!("b{i}\tv{unit}\tp{i}\tp{other}\tyes\thard_role_flip\theldout\tevidence_role\t{contract}\tcontrolled\th{}\n", unit % 10));
    }
    let pools = [pool("single", &single, &queries), pool("paired", &paired, &pairs)];
    let fixture = write(&pools, &cases, FAMILIES.lines().next().unwrap());
    let cases = fixture.cases();
    (fixture, cases)
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    done
}

fn noisy(cases: &Cases, bench: &Benchmark, odd: usize) -> cleanhit_core::Rankings {
    let oracle = sanity(Sanity::Oracle, cases, bench, Some(Depth::of_len(20)), TieRule::Hash);
    let anti = sanity(Sanity::AntiOracle, cases, bench, Some(Depth::of_len(20)), TieRule::Hash);
    let mixed = oracle.iter().zip(anti.iter()).enumerate().map(|(i, (good, bad))| {
        let (query, ranking) = if i % odd == 0 { bad } else { good };
        (query.clone(), ranking.clone())
    });
    cleanhit_core::Rankings::new(Depth::of_len(20), mixed.collect())
}

#[test]
fn a_run_of_the_papers_size_is_resampled() {
    let (fixture, cases) = of_paper_size();
    let (a, b) = (noisy(&cases, &fixture.bench, 3), noisy(&cases, &fixture.bench, 4));
    let cutoffs = "1,3,5,20".parse().unwrap();
    let run = timed("evaluation", || {
        let run = Evaluation::new(&cases, &fixture.bench, &a, &cutoffs).unwrap();
        let summaries =
            run.scopes().len() + By::ALL.map(|by| run.by(by).len()).iter().sum::<usize>();
        assert_eq!(summaries, 30);
        run
    });
    let main = run.summary(Scope::MainComparison);
    assert_eq!((main.queries, main.units, main.lineage_groups), (1258, 871, 448));
    assert_eq!(run.summary(Scope::AllQueryCensus).queries, 1327);
    let replicates = NonZeroU32::new(500).unwrap();
    let few = BootstrapSettings { plan: Plan { replicates, ..Plan::default() }, level: 0.95 };
    let intervals = timed("intervals, 500 replicates", || run.intervals(&few).unwrap());
    let recall =
        intervals.get(Scope::MainComparison).unwrap().at(cutoff(3)).unwrap().micro(Measure::Recall);
    let point = main.at(cutoff(3)).unwrap().micro(Measure::Recall).unwrap();
    assert!(recall.low < point && point < recall.high);
    let (a, b) = (Run::<TextOnly>::declared(a), Run::<TextOnly>::declared(b));
    let options = CompareOptions { bootstrap: few, ..CompareOptions::default() };
    let compared = timed("comparison, 500 replicates", || {
        paired(&a, &b, &cases, &fixture.bench, &options).unwrap()
    });
    let recall = compared.get(Scope::MainComparison, Measure::Recall, cutoff(3)).unwrap();
    assert!(0.0 < recall.micro && recall.p < 0.05 && recall.warnings().is_empty());
}

#[test]
#[ignore = "prints times; run it with --release --run-ignored all --no-capture"]
fn how_long_the_papers_intervals_take() {
    let (fixture, cases) = of_paper_size();
    let a = noisy(&cases, &fixture.bench, 3);
    let cutoffs = "1,3,5,20".parse().unwrap();
    for _ in 0..3 {
        let run =
            timed("evaluation", || Evaluation::new(&cases, &fixture.bench, &a, &cutoffs).unwrap());
        timed("summaries", || (run.scopes(), By::ALL.map(|by| run.by(by))));
        timed("intervals", || run.intervals(&BootstrapSettings::default()).unwrap());
        timed("reading labels", || Cases::read(&fixture.bench).unwrap());
    }
}
