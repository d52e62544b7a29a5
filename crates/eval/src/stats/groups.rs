//! What is drawn together, and what is summed before the draw?
//!
//! Queries of one group (a lineage, a paired unit) are not independent, so a bootstrap draws
//! whole groups. A statistic is a ratio of two sums over queries; a group's part of each sum is
//! added up once, here, and a replicate then costs one step for each group.

use super::sum_sorted;

/// Which group each query belongs to, and which groups each stratum holds.
///
/// Groups are numbered by stratum and then by id, so the numbering, and with it every draw,
/// depends on the ids alone and not on the order of the queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of_query: Vec<usize>,
    strata: Vec<usize>,
}

/// Why queries cannot be grouped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupsError {
    /// Nothing to draw from.
    #[error("there are no queries to group")]
    Empty,
    /// Each query needs one stratum.
    #[error("{queries} queries have {strata} strata")]
    LengthMismatch {
        /// How many group ids were given.
        queries: usize,
        /// How many stratum ids were given.
        strata: usize,
    },
    /// A group is drawn as a whole, so it lies in one stratum.
    #[error("the group of query {query} lies in two strata")]
    Parted {
        /// The first query of such a group.
        query: usize,
    },
}

impl Groups {
    /// Groups the queries by `ids`, one for each query; equal ids are one group.
    ///
    /// # Errors
    ///
    /// If there are no queries.
    pub fn new<K: Ord>(ids: &[K]) -> Result<Groups, GroupsError> {
        Groups::stratified(ids, &vec![(); ids.len()])
    }

    /// The same, to be drawn within strata: each stratum keeps its number of groups.
    ///
    /// # Errors
    ///
    /// If there are no queries, the lengths differ, or a group lies in two strata.
    pub fn stratified<K: Ord, S: Ord>(ids: &[K], strata: &[S]) -> Result<Groups, GroupsError> {
        if ids.len() != strata.len() {
            let (queries, strata) = (ids.len(), strata.len());
            return Err(GroupsError::LengthMismatch { queries, strata });
        }
        if ids.is_empty() {
            return Err(GroupsError::Empty);
        }
        let (keys, of_query) = number(strata.iter().zip(ids));
        let mut names: Vec<&K> = keys.iter().map(|&(_, id)| id).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let query = ids.iter().position(|id| id == twice[0]).unwrap_or_default();
            return Err(GroupsError::Parted { query });
        }
        let strata = keys.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).collect();
        Ok(Groups { of_query, strata })
    }

    /// Every query a group of its own.
    ///
    /// # Errors
    ///
    /// If `queries` is 0.
    pub fn singletons(queries: usize) -> Result<Groups, GroupsError> {
        Groups::new(&Vec::from_iter(0..queries))
    }

    /// How many groups there are; at least one.
    pub fn count(&self) -> usize {
        self.strata.iter().sum()
    }

    /// How many queries there are; at least one for each group.
    pub fn queries(&self) -> usize {
        self.of_query.len()
    }

    /// How many groups each stratum holds; they are numbered one stratum after another.
    pub(super) fn strata(&self) -> &[usize] {
        &self.strata
    }
}

/// A ratio of two sums over queries, added up by group.
///
/// Its value over a draw is the sum of the drawn groups' numerators over the sum of their
/// denominators, a group drawn twice counting twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    pub(super) numerators: Vec<f64>,
    pub(super) denominators: Vec<f64>,
}

/// Why values do not make a statistic.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticError {
    /// Each query needs one value.
    #[error("{queries} queries have {got} values")]
    LengthMismatch {
        /// How many queries were grouped.
        queries: usize,
        /// How many values were given.
        got: usize,
    },
    /// NaN and infinities have no mean.
    #[error("the value of query {query} is {value}, not a finite number")]
    NotFinite {
        /// Which query.
        query: usize,
        /// Its value.
        value: f64,
    },
    /// A denominator counts something.
    #[error("the denominator of query {query} is {value}, below 0")]
    Negative {
        /// Which query.
        query: usize,
        /// Its denominator.
        value: f64,
    },
    /// A unit is drawn as a whole, so its queries share a group.
    #[error("the unit of query {query} lies in two groups")]
    UnitParted {
        /// A query of the unit whose group is another's.
        query: usize,
    },
}

impl Statistic {
    /// The query-micro mean: every query counts the same.
    ///
    /// `values`: `[queries]`, finite; 0 and 1 for a rate.
    ///
    /// # Errors
    ///
    /// If the length differs or a value is not finite.
    pub fn micro(groups: &Groups, values: &[f64]) -> Result<Statistic, StatisticError> {
        Statistic::ratio(groups, values, &vec![1.0; groups.queries()])
    }

    /// A ratio of sums, such as harmful hits over the queries that had a harmful candidate.
    ///
    /// - `numerators`: `[queries]`, finite
    /// - `denominators`: `[queries]`, finite and not negative; 0 leaves a query out
    ///
    /// # Errors
    ///
    /// If a length differs, a value is not finite, or a denominator is negative.
    pub fn ratio(
        groups: &Groups,
        numerators: &[f64],
        denominators: &[f64],
    ) -> Result<Statistic, StatisticError> {
        check(groups, numerators)?;
        check(groups, denominators)?;
        if let Some(query) = denominators.iter().position(|&value| value < 0.0) {
            return Err(StatisticError::Negative { query, value: denominators[query] });
        }
        let sums = |values| sums(&groups.of_query, groups.count(), values);
        Ok(Statistic { numerators: sums(numerators), denominators: sums(denominators) })
    }

    /// The unit-macro mean: the mean within each unit, then over units.
    ///
    /// - `units`: `[queries]`; equal ids are one unit, such as the two queries of a pair
    /// - `values`: `[queries]`, finite
    ///
    /// # Errors
    ///
    /// If a length differs, a value is not finite, or a unit lies in two groups.
    pub fn unit_macro<U: Ord>(
        groups: &Groups,
        units: &[U],
        values: &[f64],
    ) -> Result<Statistic, StatisticError> {
        check(groups, values)?;
        if units.len() != groups.queries() {
            let (queries, got) = (groups.queries(), units.len());
            return Err(StatisticError::LengthMismatch { queries, got });
        }
        let (keys, unit_of_query) = number(units.iter());
        let mut group_of_unit = vec![None; keys.len()];
        for (query, (&unit, &group)) in unit_of_query.iter().zip(&groups.of_query).enumerate() {
            if group != *group_of_unit[unit].get_or_insert(group) {
                return Err(StatisticError::UnitParted { query });
            }
        }
        let group_of_unit: Vec<usize> = group_of_unit.into_iter().flatten().collect();
        let counts = sums(&unit_of_query, keys.len(), &vec![1.0; values.len()]);
        let mut means = sums(&unit_of_query, keys.len(), values);
        means.iter_mut().zip(&counts).for_each(|(mean, count)| *mean /= count);
        let sums = |values| sums(&group_of_unit, groups.count(), values);
        Ok(Statistic { numerators: sums(&means), denominators: sums(&vec![1.0; keys.len()]) })
    }

    /// The value over all groups, each once; `None` where the denominator is 0.
    pub fn point(&self) -> Option<f64> {
        let denominator: f64 = self.denominators.iter().sum();
        let numerator: f64 = self.numerators.iter().sum();
        (0.0 < denominator).then(|| numerator / denominator)
    }
}

fn check(groups: &Groups, values: &[f64]) -> Result<(), StatisticError> {
    if values.len() != groups.queries() {
        let (queries, got) = (groups.queries(), values.len());
        return Err(StatisticError::LengthMismatch { queries, got });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(query) => Err(StatisticError::NotFinite { query, value: values[query] }),
        None => Ok(()),
    }
}

/// The distinct items in order, and for each item its place among them.
fn number<T: Ord>(items: impl Iterator<Item = T> + Clone) -> (Vec<T>, Vec<usize>) {
    let mut keys: Vec<T> = items.clone().collect();
    keys.sort_unstable();
    keys.dedup();
    let places = items.map(|item| keys.partition_point(|key| *key < item)).collect();
    (keys, places)
}

/// The sum of the values that fall to each of `n` bins; the same for any order of the values.
fn sums(bins: &[usize], n: usize, values: &[f64]) -> Vec<f64> {
    let mut members = vec![Vec::new(); n];
    for (&bin, &value) in bins.iter().zip(values) {
        members[bin].push(value);
    }
    members.into_iter().map(sum_sorted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn micro_counts_queries_and_macro_counts_units() {
        let groups = Groups::new(&["g1", "g1", "g1", "g2"]).unwrap();
        assert_eq!((groups.count(), groups.queries()), (2, 4));
        let values = [1.0, 0.0, 1.0, 0.0];
        let micro = Statistic::micro(&groups, &values).unwrap();
        assert_eq!(micro.point(), Some(0.5));
        // Units of 2, 1 and 1 queries: (0.5 + 1 + 0) / 3.
        let macro_ = Statistic::unit_macro(&groups, &["u", "u", "v", "w"], &values).unwrap();
        assert_eq!(macro_.point(), Some(0.5));
        assert_eq!((macro_.numerators, macro_.denominators), (vec![1.5, 0.0], vec![2.0, 1.0]));
        let none = Statistic::ratio(&groups, &values, &[0.0; 4]).unwrap();
        assert_eq!(none.point(), None);
    }

    #[test]
    fn strata_hold_whole_groups() {
        let groups = Groups::stratified(&["b", "a", "c"], &[2, 1, 2]).unwrap();
        assert_eq!((groups.strata(), &groups.of_query), (&[1, 2][..], &vec![1, 0, 2]));
        let parted = Groups::stratified(&["a", "b", "b"], &[1, 1, 2]).unwrap_err();
        assert_eq!(parted, GroupsError::Parted { query: 1 });
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(Groups::new::<&str>(&[]), Err(GroupsError::Empty));
        let groups = Groups::new(&["g1", "g2"]).unwrap();
        let short = Statistic::micro(&groups, &[1.0]).unwrap_err().to_string();
        assert_eq!(short, "2 queries have 1 values");
        let nan = Statistic::micro(&groups, &[1.0, f64::INFINITY]).unwrap_err().to_string();
        assert_eq!(nan, "the value of query 1 is inf, not a finite number");
        let negative = Statistic::ratio(&groups, &[1.0, 1.0], &[1.0, -1.0]).unwrap_err();
        assert_eq!(negative, StatisticError::Negative { query: 1, value: -1.0 });
        let parted = Statistic::unit_macro(&groups, &["u", "u"], &[1.0, 1.0]).unwrap_err();
        assert_eq!(parted, StatisticError::UnitParted { query: 1 });
    }
}
