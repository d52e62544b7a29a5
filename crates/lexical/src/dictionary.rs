//! Terms and their numbers.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// Terms, numbered from 0 in the order they were added.
///
/// Open addressing. A term of up to 15 bytes is its own key, so that it is found in one step;
/// a longer one is keyed by its hash and compared. A key decides where a term is found, never
/// its number.
#[derive(Debug)]
pub(crate) struct Dictionary {
    slots: Vec<Slot>,
    /// Where each term ends in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Key,
    /// A free slot has `FREE`.
    id: u32,
}

/// Up to 15 bytes and their number, or a hash and `LONG`.
type Key = [u64; 2];

const FREE: u32 = u32::MAX;
const LONG: u64 = u64::MAX;

impl Dictionary {
    /// No terms yet.
    pub(crate) fn new() -> Dictionary {
        Dictionary { slots: free(1024), ends: Vec::new(), bytes: Vec::new() }
    }

    /// Number of terms.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of `term`, if it was added.
    pub(crate) fn get(&self, term: &[u8]) -> Option<u32> {
        self.find(term, key(term)).ok()
    }

    /// The number of `term`, which is added if it is new.
    pub(crate) fn add(&mut self, term: &[u8]) -> u32 {
        let key = key(term);
        match self.find(term, key) {
            Ok(id) => id,
            Err(at) => {
                let id = narrow(self.len());
                self.bytes.extend_from_slice(term);
                self.ends.push(self.bytes.len());
                self.slots[at] = Slot { key, id };
                if self.slots.len() < 2 * self.len() {
                    self.grow();
                }
                id
            }
        }
    }

    /// The term of a number.
    pub(crate) fn term(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[id]]
    }

    /// Renumbers all terms: `order[i]` is the old number of the term that becomes `i`.
    pub(crate) fn reorder(&mut self, order: &[u32]) {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut ends = Vec::with_capacity(self.ends.len());
        let mut new = vec![0; self.len()];
        for (&old, id) in order.iter().zip(0u32..) {
            bytes.extend_from_slice(self.term(old));
            ends.push(bytes.len());
            new[old as usize] = id;
        }
        (self.bytes, self.ends) = (bytes, ends);
        for slot in self.slots.iter_mut().filter(|slot| slot.id != FREE) {
            slot.id = new[slot.id as usize];
        }
    }

    /// The number of `term`, or the free slot it would take.
    fn find(&self, term: &[u8], key: Key) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = place(key) & mask;
        loop {
            let slot = self.slots[at];
            if slot.id == FREE {
                return Err(at);
            }
            if slot.key == key && (key[1] != LONG || self.term(slot.id) == term) {
                return Ok(slot.id);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let larger = free(2 * self.slots.len());
        let mask = larger.len() - 1;
        let old = std::mem::replace(&mut self.slots, larger);
        for slot in old.into_iter().filter(|slot| slot.id != FREE) {
            let mut at = place(slot.key) & mask;
            while self.slots[at].id != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}

/// A count or position as 32 bits.
///
/// # Panics
///
/// If it does not fit: no corpus that fits in memory has 2^32 different terms.
pub(crate) fn narrow(n: usize) -> u32 {
    match u32::try_from(n) {
        Ok(n) => n,
        Err(_) => unreachable!("{n} does not fit in 32 bits"),
    }
}

fn free(len: usize) -> Vec<Slot> {
    vec![Slot { key: [0; 2], id: FREE }; len]
}

fn key(term: &[u8]) -> Key {
    let mut bytes = [0; 16];
    match u8::try_from(term.len()) {
        Ok(len @ 0..16) => {
            bytes[..term.len()].copy_from_slice(term);
            bytes[15] = len;
            let (halves, _) = bytes.as_chunks::<8>();
            [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])]
        }
        _ => {
            let mut hasher = FxHasher::default();
            hasher.write(term);
            [hasher.finish(), LONG]
        }
    }
}

/// Where to look first.
fn place(key: Key) -> usize {
    let mixed = (key[0] ^ key[1].rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_keeps_its_number_as_the_table_grows() {
        let mut dictionary = Dictionary::new();
        let terms: Vec<String> = (0..5000).map(|i| format!("t{}", 3 * i * 7919 % 5000)).collect();
        let long: Vec<String> =
            terms.iter().map(|term| format!("{term} but much longer")).collect();
        let all = || terms.iter().chain(&long).zip(0..);
        for (term, id) in all() {
            assert_eq!(dictionary.add(term.as_bytes()), id);
        }
        for (term, id) in all() {
            assert_eq!(dictionary.add(term.as_bytes()), id);
            assert_eq!(dictionary.get(term.as_bytes()), Some(id));
            assert_eq!(dictionary.term(id), term.as_bytes());
        }
        assert_eq!(dictionary.get(b"absent"), None);
        assert_eq!(dictionary.len(), 10_000);
        dictionary.reorder(&(0..10_000).rev().collect::<Vec<u32>>());
        for (term, id) in all() {
            assert_eq!(dictionary.get(term.as_bytes()), Some(9_999 - id));
            assert_eq!(dictionary.term(9_999 - id), term.as_bytes());
        }
    }

    #[test]
    fn zero_bytes_and_no_bytes_are_terms() {
        let mut dictionary = Dictionary::new();
        assert_eq!(dictionary.get(b""), None);
        for (term, id) in
            [&b"x"[..], b"", b"\0", b"\0\0", b"x\0", b"\0\0\0\0\0\0\0"].iter().zip(0..)
        {
            assert_eq!(dictionary.add(term), id);
        }
        assert_eq!(dictionary.get(b""), Some(1));
    }
}
