//! Does what separates other pairs separate this one too?
//!
//! L2-regularised logistic regression over differences `helpful - sibling`, with C = 1 and no
//! intercept. A pair has no order, so an intercept would mean nothing, and every difference is an
//! example of the same class. Solved in its kernel form by Newton's method, which for the few
//! pairs and many features here is a small dense system.
//!
//! Own code rather than a library: `linfa-logistic` brings 63 packages with it, a second
//! `ndarray` among them, and stops its L-BFGS at a tolerance; twenty lines of Newton give the
//! same bytes on every machine.
//!
//! Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 3.1
//! with the logistic likelihood, whose mode is that of this regression.

use std::collections::BTreeSet;

use rayon::prelude::*;

/// Newton's method doubles its digits with each step; more steps than this are never needed.
const STEPS: usize = 100;
const CLOSE: f64 = 1e-10;

/// How far each pair is on the right side of the classifier that the other groups train: above 0
/// is right, 0 a tie.
///
/// `kernel`, `[pairs, pairs]`: the scalar products of the differences. `groups`: each pair's.
pub(super) fn leave_group_out(kernel: &[Vec<f64>], groups: &[&str]) -> Vec<f64> {
    let names: BTreeSet<&str> = groups.iter().copied().collect();
    let names: Vec<&str> = names.into_iter().collect();
    let parts: Vec<Vec<(usize, f64)>> = names
        .par_iter()
        .map(|name| {
            let inside = |&i: &usize| groups[i] == *name;
            let (test, train): (Vec<usize>, Vec<usize>) = (0..groups.len()).partition(inside);
            let rows = train.iter().map(|&i| train.iter().map(|&j| kernel[i][j]).collect());
            let weights = fit(&rows.collect::<Vec<Vec<f64>>>());
            let score = |i: usize| train.iter().zip(&weights).map(|(&j, w)| w * kernel[i][j]).sum();
            test.into_iter().map(|i| (i, score(i))).collect()
        })
        .collect();
    let mut scores = vec![0.0; groups.len()];
    for (i, score) in parts.into_iter().flatten() {
        scores[i] = score;
    }
    scores
}

/// The weight of each training pair at the optimum. `kernel`: `[n, n]`, symmetric.
fn fit(kernel: &[Vec<f64>]) -> Vec<f64> {
    let n = kernel.len();
    let (mut weights, mut f) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..STEPS {
        let gradient: Vec<f64> = f.iter().map(|f| 1.0 / (1.0 + libm::exp(*f))).collect();
        let curvature: Vec<f64> = gradient.iter().map(|g| g * (1.0 - g)).collect();
        let root: Vec<f64> = curvature.iter().map(|c| c.sqrt()).collect();
        let entry =
            |i: usize, j: usize| f64::from(u8::from(i == j)) + root[i] * kernel[i][j] * root[j];
        let lower = cholesky(n, entry);
        let b: Vec<f64> = (0..n).map(|i| curvature[i] * f[i] + gradient[i]).collect();
        let mut c: Vec<f64> = product(kernel, &b).iter().zip(&root).map(|(x, r)| x * r).collect();
        solve(&lower, &mut c);
        weights = (0..n).map(|i| b[i] - root[i] * c[i]).collect();
        let next = product(kernel, &weights);
        let moved = f.iter().zip(&next).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
        f = next;
        if moved < CLOSE {
            break;
        }
    }
    weights
}

fn product(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

/// The lower triangle whose product with its transpose is the matrix: identity plus a positive
/// semidefinite one, so every pivot is at least 1 but for rounding.
fn cholesky(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for (j, above) in lower.iter().enumerate() {
            let done: f64 = row.iter().zip(above).map(|(a, b)| a * b).sum();
            row.push((entry(i, j) - done) / above[j]);
        }
        let done: f64 = row.iter().map(|a| a * a).sum();
        row.push((entry(i, i) - done).max(f64::EPSILON).sqrt());
        lower.push(row);
    }
    lower
}

/// Solves `lower · lowerᵀ · x = vector` in place.
fn solve(lower: &[Vec<f64>], vector: &mut [f64]) {
    for i in 0..lower.len() {
        let done: f64 = lower[i].iter().zip(vector.iter()).take(i).map(|(a, b)| a * b).sum();
        vector[i] = (vector[i] - done) / lower[i][i];
    }
    for i in (0..lower.len()).rev() {
        let done: f64 = (i + 1..lower.len()).map(|k| lower[k][i] * vector[k]).sum();
        vector[i] = (vector[i] - done) / lower[i][i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optimum_is_the_regressions() {
        // Differences (1, 0), (1, 1), (0, -1): at the optimum, weight i is 1 / (1 + exp(f i)).
        let points = [[1.0, 0.0], [1.0, 1.0], [0.0, -1.0]];
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let kernel: Vec<Vec<f64>> =
            points.iter().map(|&a| points.iter().map(|&b| dot(a, b)).collect()).collect();
        let weights = fit(&kernel);
        for (i, f) in product(&kernel, &weights).iter().enumerate() {
            assert!((weights[i] - 1.0 / (1.0 + f.exp())).abs() < 1e-9, "{i}");
        }
        assert_eq!(fit(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_shared_direction_is_learned_and_a_private_one_is_not() {
        // Pairs 0 to 3 share a direction; pair 4 has one of its own; pair 5 none at all.
        let entry = |i: usize, j: usize| match (i, j) {
            (0..4, 0..4) if i != j => 0.5,
            (0..5, _) if i == j => 1.0,
            _ => 0.0,
        };
        let kernel: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| entry(i, j)).collect()).collect();
        let groups = ["a", "b", "c", "d", "e", "f"];
        let scores = leave_group_out(&kernel, &groups);
        assert!(scores[..4].iter().all(|score| 0.0 < *score));
        assert_eq!(scores[4..], [0.0, 0.0]);
        // In one group, they teach each other nothing.
        let scores = leave_group_out(&kernel, &["a", "a", "a", "a", "e", "f"]);
        assert_eq!(scores, [0.0; 6]);
    }
}
