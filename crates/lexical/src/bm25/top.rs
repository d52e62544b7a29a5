//! The best of many scores.
//!
//! Most scores are passed over eight at a time: whether any of eight is large enough takes
//! about as long as whether one is.

/// The `k`-th largest of finite `values`; negative infinity if there are fewer. `k` is at least 1.
///
/// Keeps the best of what was seen in a buffer that is cut back when it is full.
pub(crate) fn kth_largest(values: &[f64], k: usize) -> f64 {
    if values.len() < k {
        return f64::NEG_INFINITY;
    }
    let descending = |a: &f64, b: &f64| b.total_cmp(a);
    let capacity = (2 * k).max(64);
    let mut best: Vec<f64> = Vec::with_capacity(capacity);
    let mut least = f64::NEG_INFINITY;
    let (eights, rest) = values.as_chunks::<8>();
    for group in eights.iter().map(<[f64; 8]>::as_slice).chain([rest]) {
        if !group.iter().fold(false, |any, &value| any | (least < value)) {
            continue;
        }
        for &value in group {
            if least < value {
                best.push(value);
                if best.len() == capacity {
                    least = *best.select_nth_unstable_by(k - 1, descending).1;
                    best.truncate(k);
                }
            }
        }
    }
    // Fewer than `k` are left only if all others equal the least of them.
    *best.select_nth_unstable_by(k - 1, descending).1
}

/// The positions of the `values` that are at least `floor`, ascending.
pub(crate) fn at_least(values: &[f64], floor: f64) -> Vec<usize> {
    let mut found = Vec::new();
    for (group, start) in values.chunks(8).zip((0..).step_by(8)) {
        if group.iter().fold(false, |any, &value| any | (floor <= value)) {
            found
                .extend((start..).zip(group).filter(|(_, value)| floor <= **value).map(|(i, _)| i));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As if all were sorted.
        #[test]
        fn kth_largest_is_the_kth_of_the_sorted(
            values in prop::collection::vec((0u8..20).prop_map(f64::from), 1..300),
            k in 1usize..100,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let expected = sorted.get(k - 1).copied().unwrap_or(f64::NEG_INFINITY);
            prop_assert!(kth_largest(&values, k).total_cmp(&expected).is_eq());
        }

        /// As if each were looked at.
        #[test]
        fn at_least_finds_all(
            values in prop::collection::vec((0u8..20).prop_map(f64::from), 1..100),
            floor in (0u8..22).prop_map(f64::from),
        ) {
            let expected: Vec<usize> = (0..values.len()).filter(|&i| floor <= values[i]).collect();
            prop_assert_eq!(at_least(&values, floor), expected);
        }
    }
}
