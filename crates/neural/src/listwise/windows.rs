//! Which candidates are shown together, and in what order?

use std::ops::Range;

/// Windows over `n` candidates, from the end to the start, each `stride` before the last.
///
/// One window where all fit; the last one starts at the first candidate. None for fewer than two
/// candidates: there is nothing to order. `stride` is from 1 to `size`.
pub(super) fn windows(n: usize, size: usize, stride: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if n < 2 {
        return found;
    }
    let mut end = n;
    loop {
        let start = end.saturating_sub(size);
        found.push(start..end);
        if start == 0 {
            return found;
        }
        // Not below the window: `stride` is at most `size`, and `start` is not 0.
        end -= stride;
    }
}

/// The order of `n` candidates after each window is ordered in turn.
///
/// `ask` gets the candidates of a window, as they stand, and gives the order of their places: a
/// permutation of `0..window.len()`.
///
/// # Errors
///
/// What `ask` reports.
pub(super) fn ordered<E>(
    n: usize,
    size: usize,
    stride: usize,
    mut ask: impl FnMut(&[usize]) -> Result<Vec<usize>, E>,
) -> Result<Vec<usize>, E> {
    let mut order: Vec<usize> = (0..n).collect();
    for window in windows(n, size, stride) {
        let shown = order[window.clone()].to_vec();
        let places = ask(&shown)?;
        for (at, place) in window.zip(places) {
            order[at] = shown[place];
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_go_from_the_end_to_the_start() {
        let check = |n, size, stride, expected: &[(usize, usize)]| {
            let found: Vec<(usize, usize)> =
                windows(n, size, stride).iter().map(|window| (window.start, window.end)).collect();
            assert_eq!(found, expected, "{n} in windows of {size} by {stride}");
        };
        check(40, 20, 10, &[(20, 40), (10, 30), (0, 20)]);
        check(25, 20, 10, &[(5, 25), (0, 15)]);
        check(20, 20, 10, &[(0, 20)]);
        check(5, 20, 10, &[(0, 5)]);
        check(4, 2, 2, &[(2, 4), (0, 2)]);
        check(3, 2, 1, &[(1, 3), (0, 2)]);
        check(1, 20, 10, &[]);
        check(0, 20, 10, &[]);
    }

    #[test]
    fn a_good_candidate_moves_up_through_the_windows() {
        // Of 6 in windows of 4, the last is the best: it is first after two windows.
        let best_first = |shown: &[usize]| {
            let mut places: Vec<usize> = (0..shown.len()).collect();
            places.sort_by_key(|&place| shown[place] != 5);
            Ok::<_, ()>(places)
        };
        assert_eq!(ordered(6, 4, 2, best_first), Ok(vec![5, 0, 1, 2, 3, 4]));
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(ordered(6, 4, 2, |_| Err::<Vec<usize>, _>("no")), Err("no"));
    }

    proptest! {
        /// Every candidate is in a window, and no window is larger than it may be.
        #[test]
        fn windows_cover_all(n in 0usize..90, size in 2usize..25, stride in 1usize..25) {
            let stride = stride.min(size);
            let found = windows(n, size, stride);
            if n <= size {
                prop_assert!(found.len() <= 1);
            }
            for at in 0..n {
                prop_assert!(n < 2 || found.iter().any(|window| window.contains(&at)));
            }
            for window in &found {
                prop_assert!(window.len() <= size && 2 <= window.len() + usize::from(size < n));
            }
        }

        /// Whatever is answered in the windows, nobody is lost and nobody is twice there.
        #[test]
        fn the_order_is_a_permutation(
            n in 0usize..60, size in 2usize..25, stride in 1usize..25, seed in any::<u64>(),
        ) {
            let order = ordered(n, size, stride.min(size), |shown| {
                let mut places: Vec<usize> = (0..shown.len()).collect();
                places.sort_by_key(|&p| seed.wrapping_mul(p as u64 * 2 + 1).rotate_left(17));
                Ok::<_, ()>(places)
            });
            let mut order = order.unwrap();
            order.sort_unstable();
            prop_assert_eq!(order, (0..n).collect::<Vec<_>>());
        }
    }
}
