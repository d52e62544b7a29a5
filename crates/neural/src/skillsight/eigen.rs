//! Eigenvalues and eigenvectors of a symmetric matrix, in one order of sums.
//!
//! Householder's reduction to a tridiagonal matrix, then the QL algorithm with implicit shifts:
//! Golub and Van Loan, *Matrix Computations*, 4th edition, sections 8.3.1 and 8.3.5.

/// A symmetric matrix did not come to its eigenvalues: it holds a NaN or an infinity.
#[derive(Debug, thiserror::Error)]
#[error("the eigenvalues of a {0} by {0} matrix don't converge; expected finite values")]
pub(super) struct EigenError(usize);

/// Eigenvalues, largest first, and for each its eigenvector of unit length: row `i` of `[n, n]`.
#[derive(Debug)]
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Vec<f64>,
}

/// Decomposes `matrix`, `[n, n]`, row-major and symmetric.
pub(super) fn symmetric(n: usize, mut matrix: Vec<f64>) -> Result<Eigen, EigenError> {
    assert_eq!(matrix.len(), n * n, "a square matrix");
    let mut tridiagonal = reduce(n, &mut matrix);
    let mut rows = transposed(n, &tridiagonal.basis(n));
    tridiagonal.diagonalize(n, &mut rows)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| tridiagonal.diagonal[b].total_cmp(&tridiagonal.diagonal[a]));
    Ok(Eigen {
        values: order.iter().map(|&i| tridiagonal.diagonal[i]).collect(),
        vectors: order.iter().flat_map(|&i| &rows[i * n..(i + 1) * n]).copied().collect(),
    })
}

/// A tridiagonal matrix, and the reflections that led to it.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// `beside[i]` is between rows `i` and `i + 1`; the last one is 0.
    beside: Vec<f64>,
    /// Reflection `k` is `I - scale v vᵀ`, with `v` zero up to and including position `k`.
    reflections: Vec<(f64, Vec<f64>)>,
}

fn reduce(n: usize, matrix: &mut [f64]) -> Tridiagonal {
    let mut beside = vec![0.0; n];
    let mut reflections = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let mut v = matrix[k * n + k + 1..(k + 1) * n].to_vec();
        let length = dot(&v, &v).sqrt();
        let target = if v[0] < 0.0 { length } else { -length };
        v[0] -= target;
        beside[k] = target;
        let square = dot(&v, &v);
        if square <= 0.0 {
            beside[k] = 0.0;
            reflections.push((0.0, v));
            continue;
        }
        let scale = 2.0 / square;
        let row = |i: usize| (k + 1 + i) * n + k + 1..(k + 2 + i) * n;
        let p: Vec<f64> = (0..v.len()).map(|i| scale * dot(&matrix[row(i)], &v)).collect();
        let shift = scale / 2.0 * dot(&v, &p);
        let w: Vec<f64> = p.iter().zip(&v).map(|(p, v)| p - shift * v).collect();
        for i in 0..v.len() {
            let (vi, wi) = (v[i], w[i]);
            for (value, (v, w)) in matrix[row(i)].iter_mut().zip(v.iter().zip(&w)) {
                *value -= vi * w + wi * v;
            }
        }
        reflections.push((scale, v));
    }
    if 2 <= n {
        beside[n - 2] = matrix[(n - 2) * n + n - 1];
    }
    let diagonal = (0..n).map(|i| matrix[i * n + i]).collect();
    Tridiagonal { diagonal, beside, reflections }
}

impl Tridiagonal {
    /// The product of the reflections: `[n, n]`, whose columns are the basis.
    fn basis(&self, n: usize) -> Vec<f64> {
        let mut basis = vec![0.0; n * n];
        (0..n).for_each(|i| basis[i * n + i] = 1.0);
        for (k, (scale, v)) in self.reflections.iter().enumerate().rev() {
            let row = |i: usize| (k + 1 + i) * n + k + 1..(k + 2 + i) * n;
            let mut sums = vec![0.0; v.len()]; // vᵀ basis
            for (i, vi) in v.iter().enumerate() {
                for (sum, value) in sums.iter_mut().zip(&basis[row(i)]) {
                    *sum += vi * value;
                }
            }
            for (i, vi) in v.iter().enumerate() {
                for (value, sum) in basis[row(i)].iter_mut().zip(&sums) {
                    *value -= scale * vi * sum;
                }
            }
        }
        basis
    }

    /// Leaves the eigenvalues on the diagonal, and turns `rows` into the eigenvectors.
    fn diagonalize(&mut self, n: usize, rows: &mut [f64]) -> Result<(), EigenError> {
        for first in 0..n {
            for sweep in 0.. {
                let last = self.block_end(first, n);
                if last == first {
                    break;
                }
                if sweep == 64 {
                    return Err(EigenError(n));
                }
                self.sweep(first, last, n, rows);
            }
        }
        match self.diagonal.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(EigenError(n)),
        }
    }

    /// The last row of the block that starts at `first`: what is beside it is negligible.
    fn block_end(&self, first: usize, n: usize) -> usize {
        let negligible = |i: &usize| {
            let size = self.diagonal[*i].abs() + self.diagonal[i + 1].abs();
            self.beside[*i].abs() <= f64::EPSILON * size
        };
        (first..n - 1).find(negligible).unwrap_or(n - 1)
    }

    /// One step of the QL algorithm on the block.
    fn sweep(&mut self, first: usize, last: usize, n: usize, rows: &mut [f64]) {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let half = (d[first + 1] - d[first]) / (2.0 * e[first]);
        let root = libm::hypot(half, 1.0);
        let mut g = d[last] - d[first] + e[first] / (half + root.copysign(half));
        let (mut sine, mut cosine, mut p) = (1.0, 1.0, 0.0);
        for i in (first..last).rev() {
            let (f, b) = (sine * e[i], cosine * e[i]);
            let r = libm::hypot(f, g);
            e[i + 1] = r;
            if r <= 0.0 {
                d[i + 1] -= p;
                e[last] = 0.0;
                return;
            }
            (sine, cosine) = (f / r, g / r);
            g = d[i + 1] - p;
            let t = (d[i] - g) * sine + 2.0 * cosine * b;
            p = sine * t;
            d[i + 1] = g + p;
            g = cosine * t - b;
            let (upper, lower) = rows[i * n..(i + 2) * n].split_at_mut(n);
            for (x, y) in upper.iter_mut().zip(lower) {
                (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
            }
        }
        d[first] -= p;
        e[first] = g;
        e[last] = 0.0;
    }
}

fn transposed(n: usize, matrix: &[f64]) -> Vec<f64> {
    (0..n * n).map(|at| matrix[(at % n) * n + at / n]).collect()
}

/// Eight partial sums, then these in order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let (rest_a, rest_b) = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *sum += a * b;
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(n: usize, matrix: &[f64]) {
        let Eigen { values, vectors } = symmetric(n, matrix.to_vec()).unwrap();
        assert_eq!(values.len(), n);
        assert!(values.windows(2).all(|pair| pair[1] <= pair[0]), "{values:?}");
        let row = |i: usize| &vectors[i * n..(i + 1) * n];
        let size = matrix.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        for (i, value) in values.iter().enumerate() {
            for j in 0..n {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((dot(row(i), row(j)) - expected).abs() < 1e-10, "rows {i} and {j}");
                let product = dot(&matrix[j * n..(j + 1) * n], row(i));
                let error = (product - value * row(i)[j]).abs();
                assert!(error < 1e-10 * size * n as f64, "{error} at {i}, {j}");
            }
        }
    }

    #[test]
    fn small_matrices_by_hand() {
        let eigen = symmetric(2, vec![2.0, 1.0, 1.0, 2.0]).unwrap();
        assert!((eigen.values[0] - 3.0).abs() < 1e-14 && (eigen.values[1] - 1.0).abs() < 1e-14);
        assert_eq!(symmetric(1, vec![-4.0]).unwrap().values, [-4.0]);
        check(3, &[0.0; 9]);
        check(4, &[1.0; 16]);
        check(3, &[5.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 5.0]);
        assert!(symmetric(2, vec![f64::NAN, 0.0, 0.0, 1.0]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn decompositions_compose(n in 1usize..28, values in prop::collection::vec(-3.0f64..3.0, 28 * 28)) {
            let at = |i: usize, j: usize| values[i.min(j) * 28 + i.max(j)];
            let matrix: Vec<f64> = (0..n * n).map(|k| at(k / n, k % n)).collect();
            check(n, &matrix);
        }

        /// As a Gram matrix of few rows has many eigenvalues 0.
        #[test]
        fn low_ranks_decompose(n in 2usize..24, rows in prop::collection::vec(-1.0f64..1.0, 3 * 24)) {
            let gram = |i: usize, j: usize| (0..3).map(|r| rows[r * 24 + i] * rows[r * 24 + j]).sum::<f64>();
            let matrix: Vec<f64> = (0..n * n).map(|k| gram(k / n, k % n)).collect();
            check(n, &matrix);
            let values = symmetric(n, matrix).unwrap().values;
            prop_assert!(values.iter().skip(3).all(|value| value.abs() < 1e-12));
        }
    }
}
