//! Is it more than a coin toss which of two runs wins a query?
//!
//! The exact sign test, and McNemar's test, which is the sign test of 0/1 outcomes. Sources:
//! Dixon and Mood, JASA 1946; McNemar, Psychometrika 1947; for the mid-p, Fagerland, Lydersen
//! and Laake, BMC Medical Research Methodology 13:91, 2013.

use super::paired::{PairedError, check};

/// How many queries a run wins, ties and loses against its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Differences above 0.
    pub wins: u64,
    /// Differences of 0.
    pub ties: u64,
    /// Differences below 0.
    pub losses: u64,
}

impl Tally {
    /// Counts the signs of `differences`; those of [`differences`](super::differences) have
    /// float noise set to 0.
    ///
    /// # Errors
    ///
    /// If there are none, or one is not finite.
    pub fn new(differences: &[f64]) -> Result<Tally, PairedError> {
        check(differences, 1)?;
        let count = |keep: fn(f64) -> bool| differences.iter().filter(|&&d| keep(d)).count() as u64;
        Ok(Tally {
            wins: count(|d| 0.0 < d),
            ties: count(|d| d == 0.0),
            losses: count(|d| d < 0.0),
        })
    }
}

/// The exact two-sided p-value of wins against losses; ties are dropped.
///
/// In (0, 1]; 1 where everything ties.
pub fn sign_test(tally: Tally) -> f64 {
    mcnemar(tally.wins, tally.losses).exact
}

/// The two p-values of McNemar's test, each in (0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// Twice the binomial tail at 1/2 up to the smaller count, at most 1.
    pub exact: f64,
    /// Twice the tail, less the probability of the counts seen: less conservative.
    pub mid: f64,
}

/// Tests `b` flips one way against `c` flips the other.
///
/// Both p-values are 1 where `b == c`, 0 and 0 as well. Below the least float they are 0.
pub fn mcnemar(b: u64, c: u64) -> McNemar {
    if b == c {
        return McNemar { exact: 1.0, mid: 1.0 };
    }
    let (tail, last) = lower_tail(b + c, b.min(c));
    McNemar { exact: (2.0 * tail).min(1.0), mid: (2.0 * tail - last).min(1.0) }
}

/// The probability of at most `m` heads in `n` fair tosses, and that of exactly `m`.
///
/// `m <= n`. Products only, so the same bits on every platform; exact while the binomials fit
/// 53 bits.
fn lower_tail(n: u64, m: u64) -> (f64, f64) {
    // binomial(n, m) / 2^n, halved as it grows so that neither factor leaves the range.
    let mut last = 1.0;
    let mut halvings = n;
    for j in 1..=m {
        last = last * (n - m + j) as f64 / j as f64;
        while 1e200 < last && 0 < halvings {
            last /= 2.0;
            halvings -= 1;
        }
    }
    while 0 < halvings && last != 0.0 {
        last /= 2.0;
        halvings -= 1;
    }
    let (mut tail, mut term) = (last, last);
    for heads in (1..=m).rev() {
        term = term * heads as f64 / (n - heads + 1) as f64;
        if term <= tail * f64::EPSILON / 64.0 {
            break;
        }
        tail += term;
    }
    (tail, last)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_matches_the_paper_tables() {
        // (b, c, exact, mid), from statsmodels.
        let cases = [
            (0, 0, 1.0, 1.0),
            (4, 4, 1.0, 1.0),
            (1, 0, 1.0, 0.5),
            (0, 5, 0.0625, 0.03125),
            (1, 7, 0.0703125, 0.0390625),
            (3, 10, 0.092_285_156_25, 0.057_373_046_875),
            (8, 45, 2.368_351_377_235_455_9e-7, 1.384_335_497_345_292_5e-7),
            (13, 2, 0.007_385_253_906_25, 0.004_180_908_203_125),
            (500, 400, 0.000_956_444_136_918_946_1, 0.000_854_195_536_197_708_8),
        ];
        for (b, c, exact, mid) in cases {
            let got = mcnemar(b, c);
            assert!((got.exact / exact - 1.0).abs() < 1e-13, "{b} {c}: {got:?}");
            assert!((got.mid / mid - 1.0).abs() < 1e-13, "{b} {c}: {got:?}");
        }
    }

    #[test]
    fn the_tail_holds_where_two_to_the_n_does_not() {
        // scipy.stats.binom(5000, 0.5).cdf(2400) and pmf(2400)
        let (tail, last) = lower_tail(5000, 2400);
        assert!((tail / 0.002_441_824_868_758_747 - 1.0).abs() < 1e-11, "{tail}");
        assert!((last / 0.000_206_604_387_580_431_2 - 1.0).abs() < 1e-11, "{last}");
        assert_eq!(mcnemar(0, 100_000).exact, 0.0);
    }

    #[test]
    fn ties_are_dropped() {
        let tally = Tally::new(&[0.5, 0.0, -0.1, 0.2]).unwrap();
        assert_eq!(tally, Tally { wins: 2, ties: 1, losses: 1 });
        assert_eq!(sign_test(Tally { wins: 7, ties: 9, losses: 0 }), 0.015625);
        assert_eq!(sign_test(Tally { wins: 0, ties: 9, losses: 0 }), 1.0);
        assert!(Tally::new(&[f64::NAN]).is_err());
    }
}
