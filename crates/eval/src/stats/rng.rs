//! How can a sampled result be the same for any number of threads?
//!
//! By a counter-based generator: the word at a place is a function of (seed, stream, index),
//! so a replicate takes its own stream and no thread waits for another's state.
//!
//! Philox-2x64 with 10 rounds. Source: Salmon, Moraes, Dror and Shaw, "Parallel random
//! numbers: as easy as 1, 2, 3", SC 2011; tested against the authors' known answers.

use std::num::NonZeroU32;

/// The generator's name and version, for a receipt.
///
/// The version changes when the words change, or the way they become bounded integers.
pub const GENERATOR: &str = "philox2x64-10/1";

const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
const ROUNDS: u32 = 10;

/// A table of random words, indexed by stream and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    seed: u64,
}

impl Counter {
    /// The table that `seed` selects. Every seed is good, 0 as well.
    pub const fn new(seed: u64) -> Counter {
        Counter { seed }
    }

    /// Word `i` of `stream`, uniform over all of `u64`.
    pub fn at(self, stream: u64, i: u64) -> u64 {
        let [first, second] = philox(self.seed, [i / 2, stream]);
        if i.is_multiple_of(2) { first } else { second }
    }

    /// The words of `stream` in order, from word 0.
    pub const fn stream(self, stream: u64) -> Words {
        Words { seed: self.seed, stream, block: 0, second: None }
    }
}

/// Reads one stream of a [`Counter`] in order.
#[derive(Clone, Debug)]
pub struct Words {
    seed: u64,
    stream: u64,
    block: u64,
    second: Option<u64>,
}

impl Words {
    /// The next word, uniform over all of `u64`.
    #[inline]
    pub fn word(&mut self) -> u64 {
        match self.second.take() {
            Some(word) => word,
            None => {
                let [first, second] = philox(self.seed, [self.block, self.stream]);
                self.block = self.block.wrapping_add(1);
                self.second = Some(second);
                first
            }
        }
    }

    /// A whole number below `n`, each equally likely: no bias, however large `n`.
    ///
    /// Takes one word, and another for each one refused (fewer than one in 2^32).
    /// Source: Lemire, "Fast random integer generation in an interval", TOMACS 2019.
    #[inline]
    pub fn below(&mut self, n: NonZeroU32) -> u32 {
        let n = u64::from(n.get());
        let (mut high, mut low) = multiply(self.word(), n);
        if low < n {
            let refused = n.wrapping_neg() % n;
            while low < refused {
                (high, low) = multiply(self.word(), n);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "the high word is below `n`, a u32")]
        let below = high as u32;
        below
    }
}

/// One block: two words for each counter.
#[inline]
fn philox(key: u64, counter: [u64; 2]) -> [u64; 2] {
    let [mut left, mut right] = counter;
    let mut key = key;
    for _ in 0..ROUNDS {
        let (high, low) = multiply(left, MULTIPLIER);
        (left, right) = (high ^ key ^ right, low);
        key = key.wrapping_add(WEYL);
    }
    [left, right]
}

/// The high and the low word of `a * b`.
#[inline]
fn multiply(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two words are what is wanted")]
    let words = ((product >> 64) as u64, product as u64);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_match_the_authors_known_answers() {
        // Random123, `kat_vectors`, philox2x64 10.
        assert_eq!(philox(0, [0, 0]), [0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5]);
        let ones = u64::MAX;
        assert_eq!(philox(ones, [ones, ones]), [0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20]);
        let pi = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
        let expected = [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d];
        assert_eq!(philox(0xa409_3822_299f_31d0, pi), expected);
    }

    #[test]
    fn a_stream_read_in_order_is_the_table() {
        let counter = Counter::new(20_260_910);
        let mut words = counter.stream(7);
        for i in 0..100 {
            assert_eq!(words.word(), counter.at(7, i));
        }
        assert_ne!(counter.at(7, 0), counter.at(8, 0));
        assert_ne!(counter.at(7, 0), Counter::new(1).at(7, 0));
    }

    #[test]
    fn bounded_integers_are_uniform() {
        let mut counts = [0_u32; 7];
        let mut words = Counter::new(1).stream(0);
        let n = NonZeroU32::new(7).expect("7 is not 0");
        for _ in 0..70_000 {
            counts[words.below(n) as usize] += 1;
        }
        // Six degrees of freedom: above 30 once in 25,000 seeds.
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 30.0, "{counts:?}");
    }
}
