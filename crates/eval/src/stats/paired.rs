//! What do two runs' scores of the same queries have in common with a list of differences?
//!
//! Nothing more is needed: every paired test here takes the differences.

use cleanhit_io::counted;

/// Why scores cannot be compared query by query.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairedError {
    /// Both runs need a score for each query.
    #[error("the baseline has {}, the other run {treated}", counted(*.baseline, "score"))]
    LengthMismatch {
        /// How many scores the baseline has.
        baseline: usize,
        /// How many scores the other run has.
        treated: usize,
    },
    /// The test needs more queries.
    #[error("at least {needed} differences are needed, got {got}")]
    TooFew {
        /// The least number.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// NaN and infinities cannot be compared.
    #[error("value {index} is {value}, not a finite number")]
    NotFinite {
        /// Which query.
        index: usize,
        /// The score or difference.
        value: f64,
    },
}

/// `treated - baseline` for each query: positive where `treated` is better.
///
/// - `baseline`, `treated`: `[queries]`, finite, in the same order
///
/// Returns `[queries]`. A difference below 1e-12 of the larger score is the noise of two sums
/// taken in another order: it becomes 0, a tie. Larger differences are left as they are.
///
/// # Errors
///
/// If the lengths differ, there are no queries, or a score is not finite.
pub fn differences(baseline: &[f64], treated: &[f64]) -> Result<Vec<f64>, PairedError> {
    if baseline.len() != treated.len() {
        let (baseline, treated) = (baseline.len(), treated.len());
        return Err(PairedError::LengthMismatch { baseline, treated });
    }
    check(baseline, 1)?;
    check(treated, 1)?;
    let difference = |(&a, &b): (&f64, &f64)| {
        let difference: f64 = b - a;
        if difference.abs() <= 1e-12 * a.abs().max(b.abs()) { 0.0 } else { difference }
    };
    Ok(baseline.iter().zip(treated).map(difference).collect())
}

/// Checks that there are at least `needed` values, all finite.
pub(super) fn check(values: &[f64], needed: usize) -> Result<(), PairedError> {
    if values.len() < needed {
        return Err(PairedError::TooFew { needed, got: values.len() });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(PairedError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// The differences other than 0, smallest magnitude first: one order whatever the input order.
pub(super) fn by_magnitude(differences: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    kept.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_a_tie() {
        let third = 1.0 / 3.0;
        let diffs = differences(&[0.1 + 0.2, 0.0, third], &[0.3, 0.5, third]).unwrap();
        assert_eq!(diffs, [0.0, 0.5, 0.0]);
    }

    #[test]
    fn bad_input_is_named() {
        let err = |a: &[f64], b: &[f64]| differences(a, b).unwrap_err().to_string();
        assert_eq!(err(&[1.0], &[]), "the baseline has 1 score, the other run 0");
        assert_eq!(err(&[], &[]), "at least 1 differences are needed, got 0");
        assert_eq!(err(&[1.0], &[f64::NAN]), "value 0 is NaN, not a finite number");
    }
}
