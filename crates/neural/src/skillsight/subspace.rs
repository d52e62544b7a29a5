//! The directions that documents share, and the projection onto the rest.

use cleanhit_core::{EmbeddingError, Embeddings};
use rayon::prelude::*;

use super::eigen::{Eigen, EigenError, symmetric};

/// A projection onto what is orthogonal to the common directions.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    dim: usize,
    rank: usize,
    /// `I - BBᵀ`: `[dim, dim]`.
    matrix: Vec<f64>,
}

/// Rounding must not raise a rank that is a whole number.
const WHOLE: f64 = 1e-9;

impl Projection {
    /// Estimates the common directions from the mean vectors of groups of documents and of all
    /// documents. Their number is the effective rank, the exponential of the entropy of the
    /// squared singular values' shares, rounded up.
    ///
    /// Source: Roy and Vetterli, EUSIPCO 2007, for the effective rank.
    pub(super) fn new(documents: &Embeddings, groups: &[&[u32]]) -> Result<Projection, EigenError> {
        let dim = documents.dim();
        let all: Vec<u32> = (0u32..).take(documents.len()).collect();
        let mut groups = groups.to_vec();
        groups.push(&all);
        let means: Vec<Vec<f64>> =
            groups.par_iter().map(|group| mean_direction(documents, group)).collect();
        // MᵀM, whose eigenvectors are the right singular vectors of M, and whose eigenvalues are
        // the squares of its singular values.
        let gram: Vec<f64> = (0..dim)
            .into_par_iter()
            .flat_map_iter(|i| {
                let mut row = vec![0.0; dim];
                for mean in &means {
                    for (value, x) in row.iter_mut().zip(mean) {
                        *value += mean[i] * x;
                    }
                }
                row
            })
            .collect();
        let Eigen { values, vectors } = symmetric(dim, gram)?;
        let rank = effective_rank(&values);
        let mut matrix = vec![0.0; dim * dim];
        matrix.par_chunks_exact_mut(dim).enumerate().for_each(|(i, row)| {
            row[i] = 1.0;
            for b in vectors.chunks_exact(dim).take(rank) {
                for (value, x) in row.iter_mut().zip(b) {
                    *value -= b[i] * x;
                }
            }
        });
        Ok(Projection { dim, rank, matrix })
    }

    /// Directions taken out: at least 1.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// The vectors without the common directions; not scaled again.
    ///
    /// # Errors
    ///
    /// If a vector is so long that its projection is not finite.
    ///
    /// # Panics
    ///
    /// If the vectors have another dimension.
    pub(super) fn apply(&self, vectors: &Embeddings) -> Result<Embeddings, EmbeddingError> {
        assert_eq!(vectors.dim(), self.dim, "vectors of one model");
        let values: Vec<f32> = vectors
            .values()
            .par_chunks_exact(self.dim)
            .flat_map_iter(|vector| {
                let wide: Vec<f64> = vector.iter().map(|&x| f64::from(x)).collect();
                let mut sums = vec![0.0; self.dim];
                // The matrix is symmetric: its rows are its columns.
                for (row, x) in self.matrix.chunks_exact(self.dim).zip(&wide) {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum += x * value;
                    }
                }
                sums.into_iter().map(narrow)
            })
            .collect();
        Embeddings::new(self.dim, values)
    }
}

/// The mean of some documents' vectors, scaled to unit length; zero if it is zero.
fn mean_direction(documents: &Embeddings, group: &[u32]) -> Vec<f64> {
    let mut mean = vec![0.0; documents.dim()];
    for &document in group {
        for (sum, &x) in mean.iter_mut().zip(documents.row(document as usize)) {
            *sum += f64::from(x);
        }
    }
    let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    if 0.0 < length {
        mean.iter_mut().for_each(|x| *x /= length);
    }
    mean
}

/// From eigenvalues, which rounding can leave below 0.
fn effective_rank(values: &[f64]) -> usize {
    let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
    let shares = values.iter().map(|value| value.max(0.0) / total).filter(|share| 0.0 < *share);
    let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
    let rank = (libm::exp(entropy) - WHOLE).ceil();
    // Counted, because a rank is a small whole number: no conversion can go wrong.
    (1..values.len()).take_while(|&n| (n as f64) < rank).count() + 1
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to the vectors' own precision")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_rank_is_the_number_of_equal_values() {
        assert_eq!(effective_rank(&[1.0, 0.0, 0.0]), 1);
        assert_eq!(effective_rank(&[2.0, 2.0, 0.0, 0.0]), 2);
        assert_eq!(effective_rank(&[1.0; 5]), 5);
        assert_eq!(effective_rank(&[9.0, 1.0, -1e-17]), 2);
        assert_eq!(effective_rank(&[0.0, 0.0]), 1, "nothing in common: the least there is");
    }
}
