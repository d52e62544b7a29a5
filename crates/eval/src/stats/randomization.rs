//! How often does flipping the signs of the differences give a mean as large?
//!
//! Fisher's randomization test on paired differences, two-sided. If the two runs were
//! interchangeable, each difference could as well have had the other sign.
//!
//! Sources: Fisher, "The Design of Experiments", 1935, section 21; Smucker, Allan and Carterette,
//! CIKM 2007; for the + 1 of the sampled test, Phipson and Smyth, 2010.

use std::num::NonZeroU32;

use rayon::prelude::*;

use super::{
    paired::{PairedError, by_magnitude, check},
    rng::Counter,
    sign::mcnemar,
};

/// The most differences other than 0 whose signs are listed in full.
pub const MOST_LISTED: usize = 20;

/// The most steps that counting whole-number sums may take before signs are sampled.
const MOST_STEPS: f64 = 1e8;

/// A sum this much smaller, as a share of the sum of magnitudes, still counts as large as the
/// one seen: sums that are equal on paper differ by rounding.
const NOISE: f64 = 1e-10;

/// Which sign flips are drawn where they can't be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The number of sign flips drawn.
    pub samples: NonZeroU32,
    /// The seed of the generator, [`GENERATOR`](super::rng::GENERATOR).
    pub seed: u64,
}

/// How a p-value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All differences have one magnitude, so the flips are coin tosses: exact.
    Binomial,
    /// All sign flips were listed: exact.
    Listed,
    /// The differences are whole numbers, so the sums were counted: exact.
    Counted,
    /// Sign flips were drawn; an estimate.
    Sampled,
}

/// A randomization test's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Randomization {
    /// The two-sided p-value, in (0, 1].
    pub p: f64,
    /// How it came about.
    pub method: Method,
}

/// The share of sign flips whose sum is at least as far from 0 as that of `differences`.
///
/// `differences`: `[queries]`, finite; those of 0 don't matter. Exact where they have one
/// magnitude (such as -1 and 1), are at most [`MOST_LISTED`], or are whole numbers; else
/// `sampling` is used, with p = (hits + 1) / (samples + 1). Sums within 1e-10 of the sum of
/// magnitudes count as equal. Does not depend on the order of the differences nor on threads.
///
/// # Errors
///
/// If there are no differences or one is not finite.
pub fn randomization_test(
    differences: &[f64],
    sampling: Sampling,
) -> Result<Randomization, PairedError> {
    check(differences, 1)?;
    let kept = by_magnitude(differences);
    let total: f64 = kept.iter().map(|d| d.abs()).sum();
    let needed = kept.iter().sum::<f64>().abs() - NOISE * total;
    let steps = kept.len() as f64 * total;
    let whole = kept.iter().all(|d| d.fract() == 0.0) && steps <= MOST_STEPS;
    let (p, method) = match kept.as_slice() {
        [] => (1.0, Method::Binomial),
        [first, .., last] if last.abs() <= first.abs() => {
            let wins = kept.iter().filter(|&&d| 0.0 < d).count() as u64;
            (mcnemar(wins, kept.len() as u64 - wins).exact, Method::Binomial)
        }
        _ if kept.len() <= MOST_LISTED => (listed(&kept, needed), Method::Listed),
        _ if whole => (counted(&kept, needed), Method::Counted),
        _ => (sampled(&kept, needed, sampling), Method::Sampled),
    };
    Ok(Randomization { p: p.min(1.0), method })
}

/// For whole numbers: the distribution of the flipped sum by dynamic programming.
///
/// `shares[t]` is the probability that the magnitudes with a minus sum to `t`; the flipped sum
/// is then `total - 2 t`. Every share and sum is a multiple of 2^-n, exact for small n.
fn counted(kept: &[f64], needed: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and the total is bounded")]
    #[expect(clippy::cast_sign_loss, reason = "a magnitude")]
    let magnitudes: Vec<usize> = kept.iter().map(|d| d.abs() as usize).collect();
    let total: usize = magnitudes.iter().sum();
    let mut shares = vec![0.0; total + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for magnitude in magnitudes {
        reached += magnitude;
        for t in (0..=reached).rev() {
            let flipped = if t < magnitude { 0.0 } else { shares[t - magnitude] };
            shares[t] = (shares[t] + flipped) / 2.0;
        }
    }
    let sum = |t: usize| (total as f64 - 2.0 * t as f64).abs();
    shares.iter().enumerate().filter(|&(t, _)| needed <= sum(t)).map(|(_, share)| share).sum()
}

/// All sign flips, as every sum of one half with every sum of the other.
fn listed(kept: &[f64], needed: f64) -> f64 {
    let (left, right) = kept.split_at(kept.len() / 2);
    let (left, right) = (flips(left), flips(right));
    let hits = |&l: &f64| right.iter().filter(|&&r| needed <= (l + r).abs()).count();
    let hits: usize = left.iter().map(hits).sum();
    hits as f64 / (left.len() * right.len()) as f64
}

/// The sums of every sign flip: `[2^n]`.
fn flips(differences: &[f64]) -> Vec<f64> {
    differences.iter().fold(vec![0.0], |sums, d| sums.iter().flat_map(|s| [s + d, s - d]).collect())
}

/// Sample `s` reads stream `s`, one bit for each difference.
fn sampled(kept: &[f64], needed: f64, sampling: Sampling) -> f64 {
    let counter = Counter::new(sampling.seed);
    let hit = |sample: &u64| {
        let mut words = counter.stream(*sample);
        let mut sum = 0.0;
        for chunk in kept.chunks(64) {
            let signs = words.word();
            for (bit, d) in chunk.iter().enumerate() {
                // The bit becomes the float's sign bit: no branch to mispredict.
                sum += f64::from_bits(d.to_bits() ^ (signs >> bit << 63));
            }
        }
        needed <= sum.abs()
    };
    let samples = sampling.samples.get();
    let hits = (0..u64::from(samples)).into_par_iter().filter(hit).count();
    (hits as f64 + 1.0) / (f64::from(samples) + 1.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const SAMPLING: Sampling =
        Sampling { samples: NonZeroU32::new(20_000).expect("not 0"), seed: 20_260_910 };

    fn test(differences: &[f64]) -> Randomization {
        randomization_test(differences, SAMPLING).unwrap()
    }

    #[test]
    fn degenerate_differences_have_a_p() {
        assert_eq!(test(&[0.0; 5]), Randomization { p: 1.0, method: Method::Binomial });
        // A constant shift, as floats give it: 2 of 2^8 flips.
        let x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        assert_eq!(test(&x.map(|x| (x + 0.05) - x)).p, 0.0078125);
    }

    #[test]
    fn the_method_follows_the_differences() {
        assert_eq!(test(&[0.5, -0.5, 0.5, 0.0]).method, Method::Binomial);
        assert_eq!(test(&[0.5, -0.25, 0.0]).method, Method::Listed);
        let many: Vec<f64> = (1..=21).map(f64::from).collect();
        assert_eq!(test(&many).method, Method::Counted);
        let sevenths: Vec<f64> = many.iter().map(|d| d / 7.0).collect();
        assert_eq!(test(&sevenths).method, Method::Sampled);
        assert!(randomization_test(&[], SAMPLING).is_err());
    }

    #[test]
    fn sampling_is_near_the_exact_value() {
        let differences: Vec<f64> = (1..=40).map(|i| f64::from(i % 9 - 3)).collect();
        let exact = test(&differences);
        assert_eq!(exact.method, Method::Counted);
        let kept = by_magnitude(&differences);
        let needed = kept.iter().sum::<f64>().abs() - 1e-9;
        let estimate = sampled(&kept, needed, SAMPLING);
        // Four standard errors.
        let allowed = 4.0 * (exact.p * (1.0 - exact.p) / 20_000.0).sqrt();
        assert!((estimate - exact.p).abs() < allowed, "{estimate} {}", exact.p);
    }
    #[test]
    fn many_coin_tosses_are_exact() {
        // 0/1 outcomes: 60 wins and 40 losses among 10,000 queries.
        let mut differences = vec![0.0; 10_000];
        differences[..60].fill(1.0);
        differences[60..100].fill(-1.0);
        let result = test(&differences);
        assert_eq!(result, Randomization { p: mcnemar(60, 40).exact, method: Method::Binomial });
    }

    proptest! {
        /// The three exact ways agree wherever two of them apply.
        #[test]
        fn counting_equals_listing(differences in vec(-3_i8..4, 1..13), unit in any::<bool>()) {
            let sign = |d: i8| if unit { d.signum() } else { d };
            let differences: Vec<f64> = differences.into_iter().map(|d| f64::from(sign(d))).collect();
            let kept = by_magnitude(&differences);
            let needed = kept.iter().sum::<f64>().abs() - 1e-9;
            let p = listed(&kept, needed);
            prop_assert!((counted(&kept, needed) - p).abs() < 1e-15);
            prop_assert!((test(&differences).p - p).abs() < 1e-15);
        }
    }
}
