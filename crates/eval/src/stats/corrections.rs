//! What is a p-value worth as one of many?
//!
//! Adjusted p-values: compare each with the level as if it stood alone. Bonferroni and Holm keep
//! the chance of any false claim below the level, Benjamini-Hochberg the expected share of false
//! claims among those made.
//!
//! Sources: Dunn, JASA 1961; Holm, Scandinavian Journal of Statistics 1979; Benjamini and
//! Hochberg, JRSS B 1995.

/// Why p-values cannot be adjusted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CorrectionError {
    /// Not a probability.
    #[error("p-value {index} is {value}, outside [0, 1]")]
    OutOfRange {
        /// Which p-value.
        index: usize,
        /// What it is; possibly NaN.
        value: f64,
    },
}

/// Each p times their number, at most 1; in input order.
///
/// # Errors
///
/// If a p-value is outside [0, 1].
pub fn bonferroni(p: &[f64]) -> Result<Vec<f64>, CorrectionError> {
    check(p)?;
    let m = p.len() as f64;
    Ok(p.iter().map(|p| (p * m).min(1.0)).collect())
}

/// Holm's step-down adjustment, in input order. Not below `p`, not above Bonferroni's.
///
/// # Errors
///
/// If a p-value is outside [0, 1].
pub fn holm(p: &[f64]) -> Result<Vec<f64>, CorrectionError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut most: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        most = most.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = most;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's step-up adjustment, in input order. Not below `p`, not above Holm's.
///
/// # Errors
///
/// If a p-value is outside [0, 1].
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, CorrectionError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut least: f64 = 1.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        least = least.min(p[i] * p.len() as f64 / (rank + 1) as f64);
        adjusted[i] = least;
    }
    Ok(adjusted)
}

/// The places of the p-values, smallest first.
fn ascending(p: &[f64]) -> Result<Vec<usize>, CorrectionError> {
    check(p)?;
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    Ok(order)
}

fn check(p: &[f64]) -> Result<(), CorrectionError> {
    match p.iter().position(|p| !(0.0..=1.0).contains(p)) {
        Some(index) => Err(CorrectionError::OutOfRange { index, value: p[index] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_keep_the_input_order() {
        let p = [0.04, 0.01, 0.03];
        let close = |got: Vec<f64>, want: [f64; 3]| {
            assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-15), "{got:?}");
        };
        close(bonferroni(&p).unwrap(), [0.12, 0.03, 0.09]);
        close(holm(&p).unwrap(), [0.06, 0.03, 0.06]);
        close(benjamini_hochberg(&p).unwrap(), [0.04, 0.03, 0.04]);
        assert_eq!(holm(&[]), Ok(vec![]));
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        let err = holm(&[0.5, 1.5]).unwrap_err().to_string();
        assert_eq!(err, "p-value 1 is 1.5, outside [0, 1]");
        assert!(bonferroni(&[f64::NAN]).is_err());
    }
}
