//! Laws that hold for any scores.

use std::num::NonZeroU32;

use proptest::{collection::vec, prelude::*};
use rayon::ThreadPoolBuilder;

use super::{
    Groups, Plan, Resampled, Sampling, Statistic, benjamini_hochberg, bonferroni, bootstrap, exact,
    holm, paired_t, randomization::Method, randomization_test, sign::Tally, sign_test,
    studentized_range_sf, tukey_two_way, wilcoxon, wilson,
};

const PLAN: Plan = Plan { replicates: NonZeroU32::new(200).unwrap(), seed: 20_260_910 };
const SAMPLING: Sampling = Sampling { samples: NonZeroU32::new(500).unwrap(), seed: 1 };

/// A group id and a score for each query.
fn queries() -> impl Strategy<Value = Vec<(u8, f64)>> {
    vec((0_u8..12, -1.0..1.0), 1..60)
}

/// Bootstrap the mean of scores with their group ids.
fn micro(queries: &[(u8, f64)]) -> Resampled {
    let (ids, scores): (Vec<u8>, Vec<f64>) = queries.iter().copied().unzip();
    let groups = Groups::new(&ids).unwrap();
    let statistic = Statistic::micro(&groups, &scores).unwrap();
    bootstrap(&groups, &[statistic], PLAN).unwrap().remove(0)
}

fn bits(resampled: &Resampled) -> Vec<u64> {
    resampled.values().iter().map(|value| value.to_bits()).collect()
}

proptest! {
    /// Replicates are functions of seed and index: threads and query order never show.
    #[test]
    fn the_bootstrap_ignores_threads_and_query_order(queries in queries(), by in 0_usize..60) {
        let expected = bits(&micro(&queries));
        for threads in [1, 4] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            prop_assert_eq!(&pool.install(|| bits(&micro(&queries))), &expected);
        }
        let mut other = queries.clone();
        other.rotate_left(by % queries.len());
        prop_assert_eq!(bits(&micro(&other)), expected);
    }

    /// Sampled sign flips as well.
    #[test]
    fn sampled_flips_ignore_threads_and_query_order(diffs in vec(-1.0..1.0, 25..200)) {
        let test = |diffs: &[f64]| randomization_test(diffs, SAMPLING).unwrap();
        let expected = test(&diffs);
        prop_assert_eq!(expected.method, Method::Sampled);
        for threads in [1, 4] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            prop_assert_eq!(pool.install(|| test(&diffs)), expected);
        }
        let reversed: Vec<f64> = diffs.iter().rev().copied().collect();
        prop_assert_eq!(test(&reversed), expected);
        let swapped: Vec<f64> = diffs.iter().map(|d| -d).collect();
        prop_assert!(0.0 < test(&swapped).p);
    }

    /// Two queries of a unit that cancel out cancel in every replicate.
    #[test]
    fn a_paired_unit_is_never_parted(scores in vec(-1.0_f64..1.0, 1..40)) {
        let ids: Vec<usize> = (0..2 * scores.len()).map(|query| query / 2).collect();
        let values: Vec<f64> = scores.iter().flat_map(|&score| [score, -score]).collect();
        let groups = Groups::new(&ids).unwrap();
        let statistics = [
            Statistic::micro(&groups, &values).unwrap(),
            Statistic::unit_macro(&groups, &ids, &values).unwrap(),
        ];
        for resampled in bootstrap(&groups, &statistics, PLAN).unwrap() {
            prop_assert!(resampled.values().iter().all(|&value| value == 0.0));
        }
    }

    /// Values that mirror around 0 have an interval around 0.
    #[test]
    fn the_interval_of_symmetric_data_contains_the_point(
        scores in vec(0.01_f64..1.0, 10..40),
        level in 0.8_f64..0.99,
    ) {
        let mirrored = scores.iter().flat_map(|&score| [score, -score]);
        let values: Vec<f64> = mirrored.collect();
        let groups = Groups::singletons(values.len()).unwrap();
        let statistic = Statistic::micro(&groups, &values).unwrap();
        let resampled = &bootstrap(&groups, &[statistic], PLAN).unwrap()[0];
        let interval = resampled.interval(level).unwrap();
        prop_assert!(interval.low <= resampled.point() && resampled.point() <= interval.high);
    }

    /// A difference of two statistics is the statistic of the differences.
    #[test]
    fn differences_are_paired(scores in vec((-1.0_f64..1.0, -1.0_f64..1.0), 1..40)) {
        let groups = Groups::singletons(scores.len()).unwrap();
        let of = |score: fn(&(f64, f64)) -> f64| {
            Statistic::micro(&groups, &scores.iter().map(score).collect::<Vec<_>>()).unwrap()
        };
        let statistics = [of(|s| s.0), of(|s| s.1), of(|s| s.1 - s.0)];
        let [a, b, difference] = &bootstrap(&groups, &statistics, PLAN).unwrap()[..] else {
            return Err(TestCaseError::fail("three statistics"));
        };
        let minus = b.minus(a).unwrap();
        for (got, want) in minus.values().iter().zip(difference.values()) {
            prop_assert!((got - want).abs() < 1e-12);
        }
    }

    /// Sampling comes near the listed distribution, and only takes its values.
    #[test]
    fn samples_lie_in_the_exact_support(queries in vec((0_u8..5, 0_u8..2), 2..20)) {
        let (ids, scores): (Vec<u8>, Vec<f64>) =
            queries.iter().map(|&(id, hit)| (id, f64::from(hit))).unzip();
        let groups = Groups::new(&ids).unwrap();
        let statistics = [Statistic::micro(&groups, &scores).unwrap()];
        let listed = &exact(&groups, &statistics).unwrap()[0];
        let n = u32::try_from(groups.count()).unwrap();
        prop_assert_eq!(listed.draws(), u64::from(n).pow(n));
        for value in bootstrap(&groups, &statistics, PLAN).unwrap()[0].values() {
            prop_assert!(listed.support().iter().any(|&(known, _)| known == *value));
        }
    }

    /// Every test gives a probability, whatever the differences.
    #[test]
    fn p_values_are_probabilities(diffs in vec(-3_i8..4, 2..60), scale in 0.1_f64..2.0) {
        let diffs: Vec<f64> = diffs.into_iter().map(|d| f64::from(d) * scale).collect();
        let other: Vec<f64> = diffs.iter().map(|d| d * d - 1.0).collect();
        let mut p = vec![
            sign_test(Tally::new(&diffs).unwrap()),
            randomization_test(&diffs, SAMPLING).unwrap().p,
            wilcoxon(&diffs).unwrap().p,
        ];
        p.extend(paired_t(&diffs).unwrap().p());
        p.extend(tukey_two_way(&[&diffs, &other]).unwrap().pairs[0].p);
        prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", p);
    }

    /// raw <= Benjamini-Hochberg <= Holm <= Bonferroni <= 1
    #[test]
    fn corrections_are_ordered(p in vec(0.0_f64..=1.0, 0..30)) {
        let (bh, holm) = (benjamini_hochberg(&p).unwrap(), holm(&p).unwrap());
        let bonferroni = bonferroni(&p).unwrap();
        for i in 0..p.len() {
            prop_assert!(p[i] <= bh[i] * (1.0 + 1e-12) && bh[i] <= holm[i] * (1.0 + 1e-12));
            prop_assert!(holm[i] <= bonferroni[i] && bonferroni[i] <= 1.0);
        }
    }

    /// The rate lies in its interval, and the interval in [0, 1].
    #[test]
    fn the_wilson_interval_holds_the_rate(k in 0_u64..100, more in 0_u64..100) {
        let n = (k + more).max(1);
        let interval = wilson(k, n, 0.95).unwrap();
        let rate = k as f64 / n as f64;
        prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
        prop_assert!(interval.low <= rate && rate <= interval.high);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A wider range is rarer, and more means make it less so.
    #[test]
    fn the_studentized_range_is_monotone(
        q in 0.0_f64..10.0,
        more in 0.01_f64..2.0,
        means in 2_u32..12,
        freedom in 1_u64..200,
    ) {
        let sf = |q, means| studentized_range_sf(q, means, freedom).unwrap();
        prop_assert!(sf(q + more, means) <= sf(q, means) + 1e-12);
        prop_assert!(sf(q, means) <= sf(q, means + 1) + 1e-12);
    }
}
