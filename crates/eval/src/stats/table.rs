//! How does one draw serve many statistics?
//!
//! Their sums by group lie side by side, so a draw touches each drawn group once.

use super::{
    bootstrap::BootstrapError,
    groups::{Groups, Statistic},
};

/// The statistics of one call, laid out so that a draw touches each drawn group once.
pub(super) struct Table {
    /// `[groups, width]`: the numerators, then the distinct denominators.
    cells: Vec<f64>,
    pub(super) width: usize,
    /// The column of each statistic's denominator.
    denominator: Vec<usize>,
}

impl Table {
    /// Checks that every statistic was made for as many groups as are drawn.
    pub(super) fn new(groups: &Groups, statistics: &[Statistic]) -> Result<Table, BootstrapError> {
        let groups = groups.count();
        for (statistic, Statistic { numerators, .. }) in statistics.iter().enumerate() {
            if numerators.len() != groups {
                let got = numerators.len();
                return Err(BootstrapError::GroupsDiffer { statistic, groups, got });
            }
        }
        let mut columns: Vec<&[f64]> = statistics.iter().map(|s| &s.numerators[..]).collect();
        let mut denominator = Vec::with_capacity(statistics.len());
        for Statistic { denominators, .. } in statistics {
            // Most measures divide by the same count of queries: one column serves them all.
            let known =
                columns[statistics.len()..].iter().position(|column| column == denominators);
            denominator.push(known.map_or(columns.len(), |place| statistics.len() + place));
            if known.is_none() {
                columns.push(denominators);
            }
        }
        let cells = (0..groups).flat_map(|g| columns.iter().map(move |column| column[g])).collect();
        Ok(Table { cells, width: columns.len(), denominator })
    }

    /// Each statistic's value with every group drawn once.
    pub(super) fn points(&self) -> Result<Vec<f64>, BootstrapError> {
        let mut sums = vec![0.0; self.width];
        let groups = self.cells.len().checked_div(self.width).unwrap_or_default();
        self.add_up(&vec![1; groups], &mut sums);
        let value = |statistic| match self.value(&sums, statistic) {
            value if value.is_nan() => Err(BootstrapError::Undefined { statistic }),
            value => Ok(value),
        };
        (0..self.denominator.len()).map(value).collect()
    }

    /// Sets `sums`, `[width]`, to the columns' sums with group `g` taken `counts[g]` times.
    ///
    /// In the groups' order, whatever the order of the draw.
    pub(super) fn add_up(&self, counts: &[u32], sums: &mut [f64]) {
        sums.fill(0.0);
        if self.width == 0 {
            return;
        }
        for (&count, row) in counts.iter().zip(self.cells.chunks_exact(self.width)) {
            if count != 0 {
                let count = f64::from(count);
                sums.iter_mut().zip(row).for_each(|(sum, cell)| *sum += count * cell);
            }
        }
    }

    /// A statistic's value from the columns' sums; NaN where the denominator is 0.
    pub(super) fn value(&self, sums: &[f64], statistic: usize) -> f64 {
        let denominator = sums[self.denominator[statistic]];
        if 0.0 < denominator { sums[statistic] / denominator } else { f64::NAN }
    }
}
