//! Is the mean difference large against its standard error?
//!
//! The paired t-test, two-sided. Source: Student, Biometrika 1908; for dz, Cohen,
//! "Statistical Power Analysis for the Behavioral Sciences", 1988, section 2.3.5.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{
    paired::{PairedError, check},
    sum_sorted,
};

/// A paired t-test's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// How many differences there are; at least 2.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation over the square root of `n`.
    pub standard_error: f64,
    /// The test, where the spread allows one.
    pub spread: Spread,
}

/// Whether the differences vary, and what follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// They vary, so there is a test.
    Varied {
        /// The mean over its standard error.
        t: f64,
        /// The two-sided p-value, with n - 1 degrees of freedom.
        p: f64,
        /// Cohen's dz: the mean over the standard deviation.
        dz: f64,
    },
    /// All are 0: the two runs are the same.
    Identical,
    /// All are the same number other than 0, up to float noise: t would be noise.
    Constant,
}

impl TTest {
    /// The p-value: 1 for identical runs, none for a constant shift.
    pub fn p(&self) -> Option<f64> {
        match self.spread {
            Spread::Varied { p, .. } => Some(p),
            Spread::Identical => Some(1.0),
            Spread::Constant => None,
        }
    }
}

/// Tests whether the mean of `differences`, `[queries]`, is 0.
///
/// A standard deviation below 1e-9 of the mean is taken for float noise. The p-value is within
/// 1e-11 of itself up to 10,000 queries.
///
/// # Errors
///
/// If there are fewer than two differences or one is not finite.
pub fn paired_t(differences: &[f64]) -> Result<TTest, PairedError> {
    check(differences, 2)?;
    let n = differences.len();
    let mean = sum_sorted(differences.iter().copied()) / n as f64;
    let squares = sum_sorted(differences.iter().map(|d| (d - mean) * (d - mean)));
    let deviation = (squares / (n - 1) as f64).sqrt();
    let standard_error = deviation / (n as f64).sqrt();
    let spread = if differences.iter().all(|&d| d == 0.0) {
        Spread::Identical
    } else if deviation <= 1e-9 * mean.abs() {
        Spread::Constant
    } else {
        let t = mean / standard_error;
        Spread::Varied { t, p: two_sided(t, (n - 1) as f64), dz: mean / deviation }
    };
    Ok(TTest { n, mean, standard_error, spread })
}

/// The probability of a t at least as far from 0.
fn two_sided(t: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(distribution) => (2.0 * distribution.sf(t.abs())).min(1.0),
        Err(_) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_spread_is_reported() {
        let identical = paired_t(&[0.0; 8]).unwrap();
        assert_eq!((identical.spread, identical.p()), (Spread::Identical, Some(1.0)));
        let x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        let shift = paired_t(&x.map(|x| (x + 0.05) - x)).unwrap();
        assert_eq!((shift.spread, shift.p()), (Spread::Constant, None));
        assert!((shift.mean - 0.05).abs() < 1e-15);
    }

    #[test]
    fn a_mean_of_zero_is_no_evidence() {
        assert_eq!(paired_t(&[1.0, -1.0]).unwrap().p(), Some(1.0));
    }

    #[test]
    fn one_difference_is_too_few() {
        let err = paired_t(&[1.0]).unwrap_err().to_string();
        assert_eq!(err, "at least 2 differences are needed, got 1");
    }
}
