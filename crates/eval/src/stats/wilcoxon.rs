//! Do the larger differences all point one way?
//!
//! Wilcoxon's signed-rank test, two-sided, zeros dropped. Source: Wilcoxon, Biometrics Bulletin
//! 1945. The choice of method is that of scipy 1.17's `wilcoxon(method="auto")`, so that the
//! two print the same p-value.

use super::{
    normal,
    paired::{PairedError, by_magnitude, check},
};

/// How a p-value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// No tie, no zero, at most 50 differences: the exact distribution of the rank sum.
    Exact,
    /// A tie or a zero among at most 13 differences: every sign flip of the mean ranks, exact.
    Permutation,
    /// Else the normal approximation, corrected for ties and not for continuity.
    Normal,
}

/// A signed-rank test's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wilcoxon {
    /// The sum of the ranks of the differences above 0.
    pub above: f64,
    /// The sum of the ranks of the differences below 0.
    pub below: f64,
    /// The two-sided p-value, in [0, 1]; 1 where all differences are 0.
    pub p: f64,
    /// How it came about.
    pub method: Method,
}

/// Tests whether `differences`, `[queries]`, lie around 0.
///
/// Magnitudes tie where the floats are equal, as in scipy: `0.15 - 0.1` and `0.3 - 0.25` do
/// not. Round the differences first where such ties should count.
///
/// # Errors
///
/// If there are no differences or one is not finite.
pub fn wilcoxon(differences: &[f64]) -> Result<Wilcoxon, PairedError> {
    check(differences, 1)?;
    let kept = by_magnitude(differences);
    let Ranks { doubled, tied, tie_term } = Ranks::new(&kept);
    let above: u64 = doubled.iter().zip(&kept).filter(|&(_, &d)| 0.0 < d).map(|(r, _)| r).sum();
    let below = doubled.iter().sum::<u64>() - above;
    let untied = !tied && kept.len() == differences.len();
    let method = match differences.len() {
        ..=50 if untied => Method::Exact,
        ..=13 => Method::Permutation,
        _ => Method::Normal,
    };
    let p = match method {
        _ if kept.is_empty() => 1.0,
        Method::Exact | Method::Permutation => flipped(&doubled, above),
        Method::Normal => approximate(kept.len() as f64, tie_term, above as f64 / 2.0),
    };
    Ok(Wilcoxon { above: above as f64 / 2.0, below: below as f64 / 2.0, p, method })
}

/// The ranks of magnitudes; equal ones share their mean rank.
struct Ranks {
    /// Twice the ranks, which are whole numbers.
    doubled: Vec<u64>,
    tied: bool,
    /// The sum of t^3 - t over the groups of t tied magnitudes.
    tie_term: f64,
}

impl Ranks {
    /// `kept`: without zeros, smallest magnitude first.
    fn new(kept: &[f64]) -> Ranks {
        let mut ranks =
            Ranks { doubled: Vec::with_capacity(kept.len()), tied: false, tie_term: 0.0 };
        for tie in kept.chunk_by(|a, b| b.abs() <= a.abs()) {
            let (before, size) = (ranks.doubled.len() as u64, tie.len() as u64);
            ranks.doubled.extend(tie.iter().map(|_| 2 * before + size + 1));
            ranks.tied |= 1 < size;
            ranks.tie_term += (size as f64).powi(3) - size as f64;
        }
        ranks
    }
}

/// Twice the smaller tail of the rank sum over all sign flips, at most 1.
///
/// `doubled`: at most 50 doubled ranks, so the counts fit `u64`.
fn flipped(doubled: &[u64], above: u64) -> f64 {
    let total: u64 = doubled.iter().sum();
    let mut ways = std::collections::BTreeMap::from([(0_u64, 1_u64)]);
    for rank in doubled {
        let mut next = ways.clone();
        for (sum, count) in ways {
            *next.entry(sum + rank).or_default() += count;
        }
        ways = next;
    }
    // The distribution is symmetric: the upper tail from `above` is the lower one mirrored.
    let tail: u64 = ways.range(..=above.min(total - above)).map(|(_, count)| count).sum();
    let flips: u64 = ways.values().sum();
    (2.0 * tail as f64 / flips as f64).min(1.0)
}

/// The normal approximation for `n` differences other than 0.
fn approximate(n: f64, tie_term: f64, above: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - tie_term / 2.0) / 24.0;
    normal::two_sided((above - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(differences: &[f64]) -> (f64, Method) {
        let result = wilcoxon(differences).unwrap();
        (result.p, result.method)
    }

    #[test]
    fn the_method_follows_scipy() {
        assert_eq!(test(&[1.0, 2.0, 3.0, -4.0]), (0.875, Method::Exact));
        assert_eq!(test(&[0.0; 3]), (1.0, Method::Permutation));
        assert_eq!(test(&[0.0; 60]), (1.0, Method::Normal));
        // scipy.stats.wilcoxon of the same lists, 1.17.1
        let signed = |n: i32| (1..=n).map(|i| f64::from(if i % 3 == 0 { -i } else { i }));
        let check = |differences: Vec<f64>, p: f64, method| {
            let got = test(&differences);
            assert!((got.0 - p).abs() < 1e-13 && got.1 == method, "{got:?} {p}");
        };
        check(signed(14).collect(), 0.172_607_421_875, Method::Exact);
        check(signed(50).collect(), 0.026_166_968_171_196_46, Method::Exact);
        check(signed(51).collect(), 0.055_852_182_035_584_695, Method::Normal);
        check(
            signed(13).map(|d| (d / 2.0).round()).collect(),
            0.302_001_953_125,
            Method::Permutation,
        );
        check(
            signed(30).map(|d| (d / 4.0).round()).collect(),
            0.179_145_946_838_939_73,
            Method::Normal,
        );
    }
}
