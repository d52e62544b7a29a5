//! Postings of two bytes.

use crate::dictionary::narrow;

/// As many documents as a byte numbers.
pub(crate) const BLOCK: usize = 1 << 8;

/// A count of so many and more is kept apart.
pub(crate) const MANY: u8 = u8::MAX;

/// The features whose fingerprint is in one range, with their postings, which are many and
/// must be small.
///
/// A feature's postings are runs of documents of one block. A run is the block's number in two
/// bytes, the number of postings less 1, and two bytes a posting: the document within the
/// block, and its count.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Ascending.
    fingerprints: Vec<u64>,
    /// Where each feature's runs end.
    ends: Vec<u32>,
    runs: Vec<u8>,
    /// The counts that a byte can't hold: where the posting is among `runs`, ascending, and
    /// the count.
    many: Vec<(u32, u32)>,
}

/// A feature's postings within one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The block's number.
    pub(crate) block: usize,
    /// Document within the block, and its count up to `MANY`.
    pub(crate) postings: &'a [[u8; 2]],
    /// Where the postings are among the part's runs.
    start: usize,
}

impl Part {
    /// Adds a feature, whose fingerprint is above those before. Documents ascend; counts are at
    /// least 1.
    pub(crate) fn push(&mut self, fingerprint: u64, postings: &[(u32, u32)]) {
        let block = |doc: u32| doc as usize / BLOCK;
        for run in postings.chunk_by(|a, b| block(a.0) == block(b.0)) {
            let number = u16::try_from(block(run[0].0)).unwrap_or_else(|_| too_large());
            self.runs.extend_from_slice(&number.to_le_bytes());
            self.runs.push(u8::try_from(run.len() - 1).unwrap_or(u8::MAX));
            for &(doc, count) in run {
                let [within, ..] = doc.to_le_bytes();
                let byte = u8::try_from(count).unwrap_or(MANY);
                if byte == MANY {
                    self.many.push((narrow(self.runs.len()), count));
                }
                self.runs.extend_from_slice(&[within, byte]);
            }
        }
        self.fingerprints.push(fingerprint);
        self.ends.push(narrow(self.runs.len()));
    }

    /// Gives back what was reserved and not used.
    pub(crate) fn finish(mut self) -> Part {
        self.fingerprints.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.runs.shrink_to_fit();
        self.many.shrink_to_fit();
        self
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Where a feature is, if it is. Its fingerprint is in the range of the part, the `part`-th
    /// of `parts` of equal width.
    ///
    /// Fingerprints are evenly spread, so a value says about where it is: the guess is hardly
    /// ever off by more than the square root of their number.
    pub(crate) fn find(&self, fingerprint: u64, parts: usize) -> Option<usize> {
        let n = self.fingerprints.len();
        let within = (fingerprint >> 32).wrapping_mul(parts as u64) & 0xffff_ffff;
        let guess = usize::try_from((within * u64::from(narrow(n))) >> 32).unwrap_or_default();
        let mut reach = n.isqrt();
        let (mut low, mut high) = (guess.saturating_sub(reach), (guess + reach).min(n));
        while 0 < low && fingerprint < self.fingerprints[low] {
            reach *= 4;
            (low, high) = (low.saturating_sub(reach), low);
        }
        while high < n && self.fingerprints[high] <= fingerprint {
            reach *= 4;
            (low, high) = (high, (high + reach).min(n));
        }
        let found = self.fingerprints[low..high].binary_search(&fingerprint);
        found.ok().map(|at| low + at)
    }

    /// The runs of the `feature`-th feature.
    pub(crate) fn runs(&self, feature: usize) -> impl Iterator<Item = Run<'_>> {
        let start = feature.checked_sub(1).map_or(0, |before| self.ends[before]);
        let (mut at, end) = (start as usize, self.ends[feature] as usize);
        std::iter::from_fn(move || {
            let [low, high, last, rest @ ..] = &self.runs[at..end] else {
                return None;
            };
            let postings = &rest[..2 * (usize::from(*last) + 1)];
            let run = Run {
                block: usize::from(u16::from_le_bytes([*low, *high])),
                postings: postings.as_chunks().0,
                start: at + 3,
            };
            at += 3 + postings.len();
            Some(run)
        })
    }

    /// How many documents have the `feature`-th feature.
    pub(crate) fn frequency(&self, feature: usize) -> usize {
        self.runs(feature).map(|run| run.postings.len()).sum()
    }

    /// The count of the `at`-th posting of a run.
    pub(crate) fn count(&self, run: &Run<'_>, at: usize) -> u32 {
        let byte = run.postings[at][1];
        if byte < MANY {
            return u32::from(byte);
        }
        let position = narrow(run.start + 2 * at);
        match self.many.binary_search_by_key(&position, |&(position, _)| position) {
            Ok(found) => self.many[found].1,
            Err(_) => u32::from(byte),
        }
    }
}

fn too_large() -> u16 {
    unreachable!("a corpus of more than 2^24 documents")
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_map, prelude::*};

    use super::*;

    proptest! {
        /// What is pushed is found again, and nothing else.
        #[test]
        fn a_part_gives_back_what_it_was_given(
            features in btree_map(0u64..u64::MAX / 4, btree_map(0u32..2000, 1u32..600, 1..50), 0..40),
            other in 0u64..u64::MAX / 4,
        ) {
            let mut part = Part::default();
            for (&fingerprint, postings) in &features {
                let postings: Vec<(u32, u32)> = postings.iter().map(|(&d, &c)| (d, c)).collect();
                part.push(fingerprint, &postings);
            }
            let part = part.finish();
            prop_assert_eq!(part.len(), features.len());
            for (&fingerprint, postings) in &features {
                let feature = part.find(fingerprint, 4).unwrap();
                prop_assert_eq!(part.frequency(feature), postings.len());
                let mut found = Vec::new();
                for run in part.runs(feature) {
                    for (at, posting) in run.postings.iter().enumerate() {
                        let doc = run.block * BLOCK + usize::from(posting[0]);
                        found.push((narrow(doc), part.count(&run, at)));
                    }
                }
                let expected: Vec<(u32, u32)> = postings.iter().map(|(&d, &c)| (d, c)).collect();
                prop_assert_eq!(found, expected);
            }
            prop_assert_eq!(part.find(other, 4).is_some(), features.contains_key(&other));
        }
    }
}
