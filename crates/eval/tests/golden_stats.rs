//! The statistics against values that other programs made.
//!
//! The numbers below are a copy of a shared golden file, so they are always checked; where the
//! file is at hand it is checked that they are still its numbers.

use std::{fs, num::NonZeroU32, path::PathBuf};

use cleanhit_eval::stats::{
    Groups, Interval, Plan, Sampling, Spread, Statistic, Tally, Tukey, benjamini_hochberg,
    bonferroni, bootstrap, differences, exact, holm, mcnemar, paired_t, randomization_test,
    sign_test, tukey_one_way, tukey_two_way, wilcoxon, wilson,
};
use serde_json::{Value, from_str};

const SAMPLING: Sampling = Sampling { samples: NonZeroU32::MIN, seed: 0 };
const PAIRS: [(&str, usize, usize); 3] = [("A-B", 0, 1), ("A-C", 0, 2), ("B-C", 1, 2)];

/// The shared file at `path`, or none, with the reason printed.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn shared(path: &str) -> Option<Value> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let root = std::env::var_os("CLEANHIT_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join(path);
    match fs::read_to_string(&path) {
        Ok(text) => from_str(&text).ok(),
        Err(err) => {
            eprintln!("skipped: {}: {err}", path.display());
            None
        }
    }
}

fn golden() -> Value {
    from_str(GOLDEN).unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|values| values.iter().map(number).collect()).unwrap_or_default()
}

/// The scores of A, B and C.
fn scores() -> [Vec<f64>; 3] {
    ["A", "B", "C"].map(|system| numbers(&golden()["scores"][system]))
}

#[track_caller]
fn assert_close(got: f64, want: &Value, tolerance: f64) {
    let want = number(want);
    assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
}

#[track_caller]
fn assert_interval(got: Interval, want: &Value, tolerance: f64) {
    assert_close(got.low, &want["q0.025_inverted_cdf"], tolerance);
    assert_close(got.high, &want["q0.975_inverted_cdf"], tolerance);
}

#[test]
fn the_copy_below_is_the_golden_file() {
    if let Some(file) = shared("golden/ir/c10_stats/expected.json") {
        let copy = golden();
        assert_eq!(copy["scores"], file["scores"]);
        assert_contains(&file["expected"], &copy["expected"]);
    }
}

fn assert_contains(file: &Value, copy: &Value) {
    match copy.as_object() {
        Some(fields) => fields.iter().for_each(|(key, value)| assert_contains(&file[key], value)),
        None => assert_eq!(file, copy),
    }
}

#[test]
fn paired_tests_match_scipy() {
    let (golden, scores) = (golden(), scores());
    for (name, a, b) in PAIRS {
        let want = &golden["expected"][name];
        let diffs = differences(&scores[a], &scores[b]).unwrap();
        let t_test = paired_t(&diffs).unwrap();
        assert_close(t_test.mean, &want["mean_diff"], 1e-15);
        let Spread::Varied { t, p, dz } = t_test.spread else { panic!("{name}: {t_test:?}") };
        assert_close(t, &want["t"], 1e-12);
        assert_close(p, &want["t_p"], 1e-12);
        assert_close(dz, &want["cohen_dz"], 1e-12);
        let randomization = randomization_test(&diffs, SAMPLING).unwrap();
        assert_close(randomization.p, &want["exact_randomization_p"], 0.0);
        assert_close(wilcoxon(&diffs).unwrap().p, &want["wilcoxon_p_auto"], 0.0);
        let tally = Tally::new(&diffs).unwrap();
        let counts = [tally.wins, tally.ties, tally.losses];
        assert_eq!(counts.map(Value::from), ["win", "tie", "loss"].map(|key| want[key].clone()));
        assert_close(sign_test(tally), &want["sign_test_p"], 0.0);
    }
    let tally = Tally { wins: 7, ties: 0, losses: 0 };
    assert_close(sign_test(tally), &golden["expected"]["sign_test_7_0"], 0.0);
}

#[test]
fn degenerate_differences_are_defined() {
    let (golden, scores) = (golden(), scores());
    let none = differences(&scores[0], &scores[0]).unwrap();
    assert_eq!(paired_t(&none).unwrap().p(), Some(1.0));
    let p = randomization_test(&none, SAMPLING).unwrap().p;
    assert_close(p, &Value::from(1.0), 0.0);
    let want = &golden["expected"]["degenerate"]["constant_shift_8"];
    let x = numbers(&want["x"]);
    let shifted: Vec<f64> = x.iter().map(|x| x + number(&want["shift"])).collect();
    let shift = differences(&x, &shifted).unwrap();
    assert_eq!(paired_t(&shift).unwrap().spread, Spread::Constant);
    let p = randomization_test(&shift, SAMPLING).unwrap().p;
    assert_close(p, &want["exact_randomization_p"], 0.0);
}

#[test]
fn corrections_match_statsmodels() {
    let golden = golden();
    let column = |key: &str| PAIRS.map(|(name, ..)| golden["expected"][name][key].clone());
    let p = column("t_p").map(|p| number(&p));
    let cases = [
        (bonferroni(&p), "bonferroni_p"),
        (holm(&p), "holm_p"),
        (benjamini_hochberg(&p), "bh_fdr_p"),
    ];
    for (got, key) in cases {
        for (got, want) in got.unwrap().into_iter().zip(&column(key)) {
            assert_close(got, want, 1e-15);
        }
    }
}

#[test]
fn tukey_matches_scipy() {
    let (golden, [a, b, c]) = (golden(), scores());
    let assert_pairs = |got: &Tukey, want: &Value| {
        for (pair, (name, first, second)) in got.pairs.iter().zip(PAIRS) {
            assert_eq!((pair.first, pair.second), (first, second));
            assert_close(pair.p.unwrap(), &want[name], 1e-10);
        }
    };
    let expected = &golden["expected"];
    let one_way = tukey_one_way(&[&a, &b, &c]).unwrap();
    assert_pairs(&one_way, &expected["tukey_hsd_one_way"]);
    let two_way = tukey_two_way(&[&a, &b, &c]).unwrap();
    assert_pairs(&two_way, &expected["tukey_hsd_two_way"]);
    assert_close(two_way.mse, &expected["tukey_mse_two_way"], 1e-16);
    assert_eq!((one_way.freedom, two_way.freedom), (27, 18));
}

#[test]
fn the_listed_bootstrap_matches() {
    let golden = golden();
    let want = &golden["expected"]["exact_bootstrap_n5"];
    let diffs = numbers(&want["diffs"]);
    let groups = Groups::singletons(diffs.len()).unwrap();
    let statistic = Statistic::micro(&groups, &diffs).unwrap();
    let listed = &exact(&groups, &[statistic]).unwrap()[0];
    assert_eq!(Value::from(listed.draws()), want["n_resamples"]);
    assert_close(listed.point(), &want["mean"], 1e-15);
    assert_interval(listed.interval(0.95).unwrap(), want, 1e-15);
    assert_close(listed.share_at_most(0.0, 1e-12), &want["p_le_0"], 0.0);
}

#[test]
fn the_listed_group_bootstrap_matches() {
    let golden = golden();
    let want = &golden["expected"]["exact_group_bootstrap_4"];
    let (mut ids, mut hits) = (Vec::new(), Vec::new());
    for (group, values) in want["groups"].as_object().unwrap() {
        let values = numbers(values);
        ids.extend(values.iter().map(|_| group.as_str()));
        hits.extend(values);
    }
    let groups = Groups::new(&ids).unwrap();
    let statistic = Statistic::micro(&groups, &hits).unwrap();
    let listed = &exact(&groups, std::slice::from_ref(&statistic)).unwrap()[0];
    assert_eq!(Value::from(listed.draws()), want["n_resamples"]);
    assert_close(listed.point(), &want["point_micro"], 1e-15);
    assert_interval(listed.interval(0.95).unwrap(), want, 0.0);
    // Few values, so the sampled ends are the listed ones.
    let sampled = &bootstrap(&groups, &[statistic], Plan::default()).unwrap()[0];
    assert_interval(sampled.interval(0.95).unwrap(), want, 0.0);
}

#[test]
fn wilson_intervals_match() {
    let golden = golden();
    for (successes, name) in [(7, "7/16"), (0, "0/16")] {
        let want = &golden["expected"]["wilson_95"][name];
        let got = wilson(successes, 16, 0.95).unwrap();
        assert_close(got.low, &want[0], 1e-15);
        assert_close(got.high, &want[1], 1e-15);
    }
}

#[test]
fn the_tables_of_paired_agent_runs_match() {
    let Some(file) = shared("golden/rae_tables.json") else { return };
    for want in file["stats"]["mcnemar"].as_array().unwrap() {
        let got = mcnemar(want["b"].as_u64().unwrap(), want["c"].as_u64().unwrap());
        assert_close(got.exact, &want["p_exact"], 1e-13);
        assert_close(got.mid, &want["p_midp"], 1e-13);
    }
    for want in file["stats"]["wilson"].as_array().unwrap() {
        let (k, n) = (want["k"].as_u64().unwrap(), want["n"].as_u64().unwrap());
        let got = wilson(k, n, 0.95).unwrap();
        assert_close(got.low, &want["ci95"][0], 1e-14);
        assert_close(got.high, &want["ci95"][1], 1e-14);
    }
    let want = &file["stats"]["cluster_bootstrap_enumerated"];
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    for (cluster, members) in want["clusters"].as_object().unwrap() {
        let members = numbers(members);
        ids.extend(members.iter().map(|_| cluster.as_str()));
        values.extend(members);
    }
    let groups = Groups::new(&ids).unwrap();
    let statistic = Statistic::micro(&groups, &values).unwrap();
    let listed = &exact(&groups, &[statistic]).unwrap()[0];
    let in_full = listed.support().iter().flat_map(|&(value, n)| (0..n).map(move |_| value));
    assert_eq!(in_full.collect::<Vec<f64>>(), numbers(&want["sorted_values"]));
    for (share, want) in want["quantile_inverse_cdf"].as_object().unwrap() {
        assert_close(listed.quantile(share.parse().unwrap()).unwrap(), want, 0.0);
    }
}

#[test]
fn a_published_paired_bootstrap_is_reproduced() {
    let path = "data/skill_retrieval/paired_scores/scifact_ndcg10_pairs.json";
    let Some(file) = shared(path) else { return };
    let pairs = file.as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    for pair in pairs {
        let (a, b) = (numbers(&pair["a"]), numbers(&pair["b"]));
        let diffs = differences(&a, &b).unwrap();
        let published = &pair["published"];
        let points = |x: f64, digits: f64| (x * 100.0 * digits).round() / digits;
        let t_test = paired_t(&diffs).unwrap();
        assert_close(points(t_test.mean, 1000.0), &published["delta_pp"], 1e-9);
        assert_close(points(t_test.standard_error, 1000.0), &published["paired_se"], 1e-9);

        let groups = Groups::singletons(a.len()).unwrap();
        let of = |scores: &[f64]| Statistic::micro(&groups, scores).unwrap();
        let plan = Plan { replicates: NonZeroU32::new(10_000).unwrap(), ..Plan::default() };
        let resampled = bootstrap(&groups, &[of(&a), of(&b)], plan).unwrap();
        assert_close(points(resampled[0].point(), 100.0), &published["mean_a"], 1e-9);
        assert_close(points(resampled[1].point(), 100.0), &published["mean_b"], 1e-9);
        let interval = resampled[1].minus(&resampled[0]).unwrap().interval(0.95).unwrap();
        // The seed and the generator differ: the ends' sampling error is about 0.02 points.
        assert_close(100.0 * interval.low, &published["ci95"][0], 0.06);
        assert_close(100.0 * interval.high, &published["ci95"][1], 0.06);
    }
}

/// `cargo test --release -p cleanhit-eval --test golden_stats -- --ignored --nocapture`
#[test]
#[ignore = "prints a time"]
fn how_long_the_published_bootstrap_takes() {
    let ids: Vec<usize> = (0..1258).map(|query| query * 450 / 1258).collect();
    let groups = Groups::new(&ids).unwrap();
    let hits = |k: usize| (0..1258).map(|q| f64::from((q * k % 7 < 3) as u8)).collect::<Vec<f64>>();
    for (threads, measures) in [(1, 3), (2, 3), (1, 60)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let start = std::time::Instant::now();
        let of = |k: usize| Statistic::micro(&groups, &hits(k + 1)).unwrap();
        let statistics: Vec<Statistic> = (0..measures).map(of).collect();
        let resampled = pool.install(|| bootstrap(&groups, &statistics, Plan::default())).unwrap();
        let interval = resampled[0].interval(0.95).unwrap();
        println!("{threads} thread(s), {measures} measures: {:?}, {interval:?}", start.elapsed());
    }
    let start = std::time::Instant::now();
    let scores: Vec<Vec<f64>> = (1..=20).map(hits).collect();
    let systems: Vec<&[f64]> = scores.iter().map(|scores| &scores[..]).collect();
    let pairs = tukey_two_way(&systems).unwrap().pairs.len();
    println!("Tukey, {pairs} pairs: {:?}", start.elapsed());
}

/// The parts of `golden/ir/c10_stats/expected.json` that are checked here.
const GOLDEN: &str = r#"{
  "scores": {
    "A": [0.1, 0.35, 0.0, 0.8, 0.55, 0.2, 0.9, 0.4, 0.65, 0.3],
    "B": [0.15, 0.3, 0.2, 0.95, 0.6, 0.2, 1.0, 0.5, 0.6, 0.45],
    "C": [0.05, 0.25, 0.1, 0.7, 0.5, 0.1, 0.85, 0.45, 0.55, 0.25]
  },
  "expected": {
    "A-B": {
      "mean_diff": 0.06999999999999998,
      "t": 2.5849213105659867,
      "t_p": 0.029457853822895327,
      "exact_randomization_p": 0.05078125,
      "wilcoxon_p_auto": 0.0625,
      "sign_test_p": 0.1796875,
      "win": 7,
      "tie": 1,
      "loss": 2,
      "cohen_dz": 0.8174238913695988,
      "bonferroni_p": 0.08837356146868598,
      "holm_p": 0.058915707645790655,
      "bh_fdr_p": 0.04418678073434299
    },
    "A-C": {
      "mean_diff": -0.04500000000000001,
      "t": -2.0769230769230775,
      "t_p": 0.0676014630570555,
      "exact_randomization_p": 0.109375,
      "wilcoxon_p_auto": 0.078125,
      "sign_test_p": 0.109375,
      "win": 2,
      "tie": 0,
      "loss": 8,
      "cohen_dz": -0.656780744804202,
      "bonferroni_p": 0.2028043891711665,
      "holm_p": 0.0676014630570555,
      "bh_fdr_p": 0.0676014630570555
    },
    "B-C": {
      "mean_diff": -0.11499999999999999,
      "t": -5.4379618030497925,
      "t_p": 0.00041207399676333105,
      "exact_randomization_p": 0.001953125,
      "wilcoxon_p_auto": 0.001953125,
      "sign_test_p": 0.001953125,
      "win": 0,
      "tie": 0,
      "loss": 10,
      "cohen_dz": -1.7196345126633321,
      "bonferroni_p": 0.0012362219902899933,
      "holm_p": 0.0012362219902899933,
      "bh_fdr_p": 0.0012362219902899933
    },
    "tukey_hsd_one_way": {
      "A-B": 0.8530391352069947,
      "A-C": 0.936186683337119,
      "B-C": 0.6541998303664829
    },
    "tukey_hsd_two_way": {
      "A-B": 0.020646464183228797,
      "A-C": 0.16214002597668398,
      "B-C": 0.0003213418458396511
    },
    "tukey_mse_two_way": 0.0027500000000000007,
    "exact_bootstrap_n5": {
      "diffs": [0.05, -0.05, 0.2, 0.15, 0.05],
      "n_resamples": 3125,
      "mean": 0.07999999999999999,
      "q0.025_inverted_cdf": 0.009999999999999998,
      "q0.975_inverted_cdf": 0.16,
      "p_le_0": 0.01952
    },
    "exact_group_bootstrap_4": {
      "groups": {
        "g1": [1, 1],
        "g2": [0],
        "g3": [1, 0, 0],
        "g4": [1]
      },
      "point_micro": 0.5714285714285714,
      "n_resamples": 256,
      "q0.025_inverted_cdf": 0.25,
      "q0.975_inverted_cdf": 1.0
    },
    "wilson_95": {
      "7/16": [0.23098652405492354, 0.6682144360118811],
      "0/16": [0.0, 0.1936076805344365]
    },
    "sign_test_7_0": 0.015625,
    "degenerate": {
      "constant_shift_8": {
        "x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        "shift": 0.05,
        "exact_randomization_p": 0.0078125
      }
    }
  }
}"#;
