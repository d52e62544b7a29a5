//! Common terms, as one number for each document.

use std::ops::Range;

use rayon::prelude::*;

use crate::counts::TermCounts;

/// The terms that many documents hold. To add one to every score is to go along an array.
///
/// A column holds its term's counts, from which contributions are exact, and contributions
/// rounded down to a byte, from which bounds on many scores are quick.
#[derive(Debug)]
pub(crate) struct Columns {
    /// What a term's contribution tends to as its count grows.
    weights: Vec<f64>,
    counts: Vec<Vec<u16>>,
    /// The same by document, up to 255: one document's counts are close together.
    rows: Vec<u8>,
    /// Contributions as whole multiples of `step`, rounded down.
    coarse: Vec<Vec<u8>>,
    step: f64,
    /// `k1·(1 - b + b·l/avgdl)` for each document, above 0.
    saturation: Vec<f64>,
}

/// A column, and how often its term counts in the query.
pub(crate) type Counted = (usize, u32);

/// Contributions of a byte that 16 bits can sum.
const FULL: u16 = u16::MAX / 255;

/// What a term that is `count` times in a document adds to its score. `saturation` is above 0.
pub(crate) fn impact(weight: f64, count: u32, saturation: f64) -> f64 {
    let count = f64::from(count);
    weight * (count / (count + saturation))
}

impl Columns {
    /// Columns of `terms`, none of which is more than 65,535 times in a document.
    pub(crate) fn new(
        counts: &TermCounts,
        terms: Range<u32>,
        weights: &[f64],
        saturation: Vec<f64>,
    ) -> Columns {
        let weights = weights[terms.start as usize..terms.end as usize].to_vec();
        let of_terms: Vec<Vec<u16>> = terms
            .into_par_iter()
            .map(|term| {
                let mut column = vec![0; saturation.len()];
                for at in counts.range(term) {
                    column[counts.docs[at] as usize] =
                        u16::try_from(counts.counts[at]).unwrap_or(u16::MAX);
                }
                column
            })
            .collect();
        let rows = rows(&of_terms, saturation.len());
        let mut columns =
            Columns { weights, counts: of_terms, rows, coarse: Vec::new(), step: 0.0, saturation };
        let largest = (0..columns.len())
            .into_par_iter()
            .map(|column| columns.impacts(column).fold(0.0, f64::max));
        columns.step = largest.reduce(|| 0.0, f64::max) / 255.0;
        columns.coarse = (0..columns.len())
            .into_par_iter()
            .map(|column| columns.impacts(column).map(|x| byte(x / columns.step)).collect())
            .collect();
        columns
    }

    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// What column `column` adds to document `doc`.
    pub(crate) fn impact(&self, column: usize, doc: usize) -> f64 {
        let count = match self.rows[doc * self.len() + column] {
            u8::MAX => u32::from(self.counts[column][doc]),
            count => u32::from(count),
        };
        impact(self.weights[column], count, self.saturation[doc])
    }

    /// Adds columns to every score, one after another.
    pub(crate) fn add(&self, scores: &mut [f64], columns: &[Counted]) {
        for &(column, times) in columns {
            let times = f64::from(times);
            for (score, impact) in scores.iter_mut().zip(self.impacts(column)) {
                *score += times * impact;
            }
        }
    }

    /// Sets `below[i]` to `scores[i]` and the columns' contributions rounded down. Returns how far
    /// it can be below the sum. `sums` is scratch.
    pub(crate) fn bound(
        &self,
        below: &mut Vec<f64>,
        scores: &[f64],
        columns: &[Counted],
        sums: &mut Vec<u16>,
    ) -> f64 {
        below.clear();
        below.extend_from_slice(scores);
        sums.clear();
        sums.resize(scores.len(), 0);
        // How many more contributions a sum can take before it could overflow.
        let mut room = FULL;
        for &(column, times) in columns {
            let mut left = times;
            while 0 < left {
                if room == 0 {
                    self.carry(below, sums);
                    room = FULL;
                }
                let now = u16::try_from(left).map_or(room, |left| left.min(room));
                for (sum, &coarse) in sums.iter_mut().zip(&self.coarse[column]) {
                    *sum += now * u16::from(coarse);
                }
                room -= now;
                left -= u32::from(now);
            }
        }
        self.carry(below, sums);
        let total: f64 = columns.iter().map(|&(_, times)| f64::from(times)).sum();
        total * self.step
    }

    fn carry(&self, below: &mut [f64], sums: &mut [u16]) {
        for (below, sum) in below.iter_mut().zip(sums) {
            *below += self.step * f64::from(std::mem::take(sum));
        }
    }

    fn impacts(&self, column: usize) -> impl Iterator<Item = f64> {
        let weight = self.weights[column];
        let counts = self.counts[column].iter().zip(&self.saturation);
        counts.map(move |(&count, &saturation)| impact(weight, u32::from(count), saturation))
    }
}

/// Columns as rows.
fn rows(columns: &[Vec<u16>], documents: usize) -> Vec<u8> {
    /// Rows that are filled together.
    const TILE: usize = 64;
    let width = columns.len();
    let mut rows = vec![0; documents * width];
    rows.par_chunks_mut((TILE * width).max(1)).enumerate().for_each(|(tile, rows)| {
        for (at, column) in columns.iter().enumerate() {
            let of_tile = column[tile * TILE..].iter().zip(rows[at..].iter_mut().step_by(width));
            for (&count, cell) in of_tile {
                *cell = u8::try_from(count).unwrap_or(u8::MAX);
            }
        }
    });
    rows
}

/// The whole part of a number from 0 to 255.
fn byte(x: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let byte = x as u8;
    byte
}
