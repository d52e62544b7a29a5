//! Scores as exact `f64`.

/// Powers of ten that `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Whole numbers up to here are exact in `f64`.
const MAX_EXACT: u64 = 1 << 53;

/// The finite number that `text` spells, correctly rounded; `-0` is `0`.
pub(crate) fn finite(text: &str) -> Option<f64> {
    let value = match short_decimal(text.as_bytes()) {
        Some(value) => value,
        None => text.parse().ok()?,
    };
    match value.is_finite() {
        true => Some(value + 0.0),
        false => None,
    }
}

/// The value of `[+-]digits[.digits]` where one correctly rounded operation gives it.
///
/// Both the digits as a whole number and the power of ten are exact in `f64`, so their
/// quotient is the nearest `f64`. Anything else is `None`, and left to the standard library.
///
/// Source: Clinger, PLDI 1990, section 4 (the fast path).
fn short_decimal(text: &[u8]) -> Option<f64> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    // 18 digits and a point: no overflow below.
    if 19 < text.len() {
        return None;
    }
    let mut digits = 0u64;
    let mut count = 0;
    let mut point = None;
    for &byte in text {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if point.is_none() => point = Some(count),
            _ => return None,
        }
    }
    if count == 0 || MAX_EXACT < digits {
        return None;
    }
    let decimals = point.map_or(0, |before| count - before);
    let value = digits as f64 / POWERS[decimals];
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_finite_numbers_are_scores() {
        assert_eq!(finite("2e0"), Some(2.0));
        assert_eq!(finite("-.5"), Some(-0.5));
        assert_eq!(finite("+7."), Some(7.0));
        assert_eq!(finite("-0").map(f64::to_bits), Some(0));
        assert_eq!(finite("0.50000000001"), Some(0.50000000001));
        for text in ["", ".", "-", "nan", "inf", "-Infinity", "1e999", "0x1p3", "1,5", "high"] {
            assert_eq!(finite(text), None, "{text}");
        }
    }

    proptest! {
        /// The fast path never changes a bit of what the standard library reads.
        #[test]
        fn the_fast_path_is_exact(text in "[+-]?[0-9]{0,20}\\.?[0-9]{0,20}(e-?[0-9]{1,3})?") {
            let slow = text.parse::<f64>().ok().filter(|value| value.is_finite());
            prop_assert_eq!(finite(&text).map(f64::to_bits), slow.map(|v| (v + 0.0).to_bits()));
        }
    }
}
