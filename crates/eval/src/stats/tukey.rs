//! Which of several systems differ, with one error rate for all pairs?
//!
//! Tukey's honestly significant differences. The two-way form takes the queries as blocks and
//! is the one for runs over the same queries; the one-way form leaves the queries' difficulty
//! in the error. Sources: Tukey, "The Problem of Multiple Comparisons", 1953; Carterette, ACM
//! TOIS 30(1), 2012, for its use on retrieval runs.

use cleanhit_io::counted;

use super::{
    studentized_range::{RangeError, studentized_range_sf},
    sum_sorted,
};

/// The comparison of all pairs of systems.
#[derive(Clone, Debug, PartialEq)]
pub struct Tukey {
    /// The mean square of the error.
    pub mse: f64,
    /// Its degrees of freedom.
    pub freedom: u64,
    /// Every pair `(i, j)` with `i < j`, by `i` and then `j`.
    pub pairs: Vec<TukeyPair>,
}

/// The comparison of one pair of systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TukeyPair {
    /// The first system's place.
    pub first: usize,
    /// The second system's place.
    pub second: usize,
    /// The second system's mean minus the first's.
    pub difference: f64,
    /// The family-wise p-value. Where the error is 0 up to float noise it is 1 for equal means,
    /// and there is none for others.
    pub p: Option<f64>,
}

/// Why systems cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TukeyError {
    /// There must be a pair, and a spread.
    #[error("at least 2 systems and 2 queries are needed, got {systems} and {queries}")]
    TooFew {
        /// How many systems there are.
        systems: usize,
        /// How many queries the first has.
        queries: usize,
    },
    /// The systems answer the same queries.
    #[error("system {system} has {}, the first {queries}", counted(*.got, "score"))]
    LengthMismatch {
        /// Which system.
        system: usize,
        /// How many scores it has.
        got: usize,
        /// How many the first has.
        queries: usize,
    },
    /// NaN and infinities have no mean.
    #[error("the score of system {system} on query {query} is {value}, not a finite number")]
    NotFinite {
        /// Which system.
        system: usize,
        /// Which query.
        query: usize,
        /// Its score.
        value: f64,
    },
    /// The distribution cannot be evaluated.
    #[error(transparent)]
    Range(#[from] RangeError),
}

/// Compares all pairs with queries as blocks.
///
/// `systems`: `[systems][queries]`, finite. The error has (systems - 1)(queries - 1) degrees of
/// freedom.
///
/// # Errors
///
/// If there are fewer than two systems or queries, lengths differ, or a score is not finite.
pub fn tukey_two_way(systems: &[&[f64]]) -> Result<Tukey, TukeyError> {
    let queries = check(systems)?;
    let of_query = |q: usize| mean(systems.iter().map(move |scores| scores[q]));
    let of_queries: Vec<f64> = (0..queries).map(of_query).collect();
    let blocks: Vec<&[f64]> = vec![&of_queries; systems.len()];
    compare(systems, &blocks, (systems.len() - 1) * (queries - 1))
}

/// Compares all pairs as if each system had answered queries of its own.
///
/// `systems`: `[systems][queries]`, finite. The error has systems × (queries - 1) degrees of
/// freedom.
///
/// # Errors
///
/// If there are fewer than two systems or queries, lengths differ, or a score is not finite.
pub fn tukey_one_way(systems: &[&[f64]]) -> Result<Tukey, TukeyError> {
    let queries = check(systems)?;
    let none = vec![0.0; queries];
    let blocks: Vec<&[f64]> = vec![&none; systems.len()];
    compare(systems, &blocks, systems.len() * (queries - 1))
}

/// The error is what each score has left after its block's part and its system's mean.
fn compare(systems: &[&[f64]], blocks: &[&[f64]], freedom: usize) -> Result<Tukey, TukeyError> {
    let queries = systems[0].len();
    let means: Vec<f64> = systems.iter().map(|scores| mean(scores.iter().copied())).collect();
    let squares = systems.iter().zip(blocks).flat_map(|(scores, block)| {
        let rest: Vec<f64> = scores.iter().zip(*block).map(|(score, part)| score - part).collect();
        let centre = mean(rest.iter().copied());
        rest.into_iter().map(move |rest| (rest - centre) * (rest - centre))
    });
    let mse = sum_sorted(squares) / freedom as f64;
    let largest = systems.iter().flat_map(|s| s.iter()).fold(0.0_f64, |most, s| most.max(s.abs()));
    let noise = 1e-12 * largest;
    let count = u32::try_from(systems.len()).unwrap_or(u32::MAX);
    let mut pairs = Vec::new();
    for first in 0..systems.len() {
        for second in first + 1..systems.len() {
            let difference = means[second] - means[first];
            let p = if noise * noise < mse {
                let q = difference.abs() / (mse / queries as f64).sqrt();
                Some(studentized_range_sf(q, count, freedom as u64)?)
            } else {
                (difference.abs() <= noise).then_some(1.0)
            };
            pairs.push(TukeyPair { first, second, difference, p });
        }
    }
    Ok(Tukey { mse, freedom: freedom as u64, pairs })
}

/// The same for any order of the values, which are not empty.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    sum_sorted(values) / n
}

/// The number of queries, if every system has as many finite scores.
fn check(systems: &[&[f64]]) -> Result<usize, TukeyError> {
    let queries = systems.first().map_or(0, |scores| scores.len());
    if systems.len() < 2 || queries < 2 {
        return Err(TukeyError::TooFew { systems: systems.len(), queries });
    }
    for (system, scores) in systems.iter().enumerate() {
        if scores.len() != queries {
            return Err(TukeyError::LengthMismatch { system, got: scores.len(), queries });
        }
        if let Some(query) = scores.iter().position(|score| !score.is_finite()) {
            return Err(TukeyError::NotFinite { system, query, value: scores[query] });
        }
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_without_error_have_no_test() {
        let (a, b) = ([0.1, 0.2, 0.3], [0.15, 0.25, 0.35]);
        let result = tukey_two_way(&[&a, &a, &b]).unwrap();
        let p: Vec<Option<f64>> = result.pairs.iter().map(|pair| pair.p).collect();
        assert_eq!(p, [Some(1.0), None, None]);
    }

    #[test]
    fn two_systems_in_blocks_are_a_paired_t_test() {
        let (a, b) = ([0.1, 0.35, 0.0, 0.8, 0.55], [0.15, 0.3, 0.2, 0.95, 0.6]);
        let tukey = tukey_two_way(&[&a, &b]).unwrap().pairs[0].p.unwrap();
        let t = super::super::paired_t(&super::super::differences(&a, &b).unwrap()).unwrap();
        assert!((tukey - t.p().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn bad_input_is_named() {
        let err = |systems: &[&[f64]]| tukey_two_way(systems).unwrap_err().to_string();
        let few = "at least 2 systems and 2 queries are needed, got 1 and 2";
        assert_eq!(err(&[&[1.0, 2.0]]), few);
        assert_eq!(err(&[&[1.0, 2.0], &[1.0]]), "system 1 has 1 score, the first 2");
        let nan = "the score of system 1 on query 0 is NaN, not a finite number";
        assert_eq!(err(&[&[1.0, 2.0], &[f64::NAN, 2.0]]), nan);
    }
}
