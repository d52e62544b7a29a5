//! What a TF-IDF counts: 64-bit fingerprints of words, word pairs and character n-grams.
//!
//! A vocabulary of character n-grams takes more room than the texts it comes from, so no
//! feature is kept as text. Two of a million features share a fingerprint with a probability
//! below 10⁻⁷; they would then count as one.

use crate::{analysis::Analyser, tfidf::TfidfError};

/// What a TF-IDF counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Features {
    /// An analyser's tokens, and runs of up to `longest` consecutive ones.
    Words {
        /// How texts and queries become tokens.
        analyser: Analyser,
        /// Tokens in the longest run: 1 or 2.
        longest: usize,
    },
    /// Character n-grams of the lower-cased text inside words, which are what stands between
    /// white space, with a blank before and after. As scikit-learn's `char_wb`: a word that is
    /// shorter than an n-gram counts once, whole.
    Characters {
        /// Characters in the shortest n-gram. At least 1.
        shortest: usize,
        /// Characters in the longest n-gram. At most 16.
        longest: usize,
    },
}

impl Features {
    /// Checks the lengths.
    pub(crate) fn check(self) -> Result<(), TfidfError> {
        match self {
            Features::Words { longest: 1..=2, .. } => Ok(()),
            Features::Words { longest, .. } => {
                Err(TfidfError::Range { shortest: 1, longest, expected: "runs of 1 or 2 words" })
            }
            Features::Characters { shortest, longest }
                if 1 <= shortest && shortest <= longest && longest <= 16 =>
            {
                Ok(())
            }
            Features::Characters { shortest, longest } => Err(TfidfError::Range {
                shortest,
                longest,
                expected: "a range of lengths from 1 to 16 characters",
            }),
        }
    }

    /// Hands the fingerprint of each feature of `text` to `emit`, with repeats. Returns how many
    /// tokens the analyser dropped.
    pub(crate) fn of(self, text: &str, mut emit: impl FnMut(u64)) -> u64 {
        match self {
            Features::Words { analyser, longest } => {
                let mut before = None;
                analyser.analyse(text, |token| {
                    let word = fingerprint(token.as_bytes());
                    emit(word);
                    if let Some(before) = before.filter(|_| longest == 2) {
                        emit(pair(before, word));
                    }
                    before = Some(word);
                })
            }
            Features::Characters { shortest, longest } => {
                let mut padded = Padded::default();
                Analyser::WhitespaceLower.analyse(text, |word| {
                    padded.set(word.as_bytes());
                    padded.grams(shortest, longest, &mut emit);
                })
            }
        }
    }
}

/// A word between blanks.
#[derive(Debug, Default)]
pub(crate) struct Padded {
    bytes: Vec<u8>,
    /// Where each character starts, and where the last one ends.
    bounds: Vec<usize>,
}

impl Padded {
    /// Makes it the padded `word`, which is UTF-8.
    pub(crate) fn set(&mut self, word: &[u8]) {
        self.bytes.clear();
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(word);
        self.bytes.push(b' ');
        self.bounds.clear();
        let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
        let starts = self.bytes.iter().enumerate().filter(|&(_, &byte)| !continues(byte));
        self.bounds.extend(starts.map(|(at, _)| at));
        self.bounds.push(self.bytes.len());
    }

    /// Hands the fingerprint of each n-gram to `emit`, with repeats.
    pub(crate) fn grams(&self, shortest: usize, longest: usize, mut emit: impl FnMut(u64)) {
        let characters = self.bounds.len() - 1;
        if characters <= longest {
            emit(fingerprint(&self.bytes));
        }
        // The n-grams that start at a character are hashed on the way to the longest.
        for start in 0..(characters + 1).saturating_sub(shortest) {
            let (mut hash, mut at) = (FNV, self.bounds[start]);
            for (&end, n) in self.bounds[start + 1..].iter().zip(1..=longest) {
                hash = fnv(hash, &self.bytes[at..end]);
                at = end;
                if shortest <= n && n < characters {
                    emit(mix(hash));
                }
            }
        }
    }
}

/// FNV-1a, then mixed, so that fingerprints are spread evenly: they are searched by
/// interpolation. The same on every platform.
fn fingerprint(bytes: &[u8]) -> u64 {
    mix(fnv(FNV, bytes))
}

/// What FNV-1a starts from.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of what led to `hash` and `bytes`.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(hash, step)
}

/// Of two consecutive words.
fn pair(first: u64, second: u64) -> u64 {
    mix(first.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second)
}

/// The finalizer of SplitMix64: a bijection.
fn mix(mut n: u64) -> u64 {
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(word: &str) -> Vec<String> {
        let mut padded = Padded::default();
        padded.set(word.as_bytes());
        let mut found = Vec::new();
        let mut all = Vec::new();
        padded.grams(3, 5, |fingerprint| found.push(fingerprint));
        // Every substring, by fingerprint.
        let text = format!(" {word} ");
        for (start, _) in text.char_indices() {
            for (len, _) in text[start..].char_indices().chain([(text.len() - start, ' ')]) {
                all.push(&text[start..start + len]);
            }
        }
        let name = |&f: &u64| all.iter().find(|s| fingerprint(s.as_bytes()) == f).unwrap();
        let mut grams: Vec<String> = found.iter().map(|f| (*name(f)).to_owned()).collect();
        grams.sort_unstable();
        grams
    }

    fn sorted<const N: usize>(mut grams: [&str; N]) -> [&str; N] {
        grams.sort_unstable();
        grams
    }

    #[test]
    fn grams_are_char_wbs() {
        // `CountVectorizer(analyzer="char_wb", ngram_range=(3, 5))._char_wb_ngrams` in Python.
        assert_eq!(grams("a"), [" a "]);
        assert_eq!(grams("ab"), sorted([" ab", "ab ", " ab "]));
        assert_eq!(grams("abc"), sorted([" ab", "abc", "bc ", " abc", "abc ", " abc "]));
        assert_eq!(
            grams("añçd"),
            sorted([" añ", "añç", "ñçd", "çd ", " añç", "añçd", "ñçd ", " añçd", "añçd "])
        );
        let a = "a".repeat(20);
        assert_eq!(grams(&a).len(), 20 + 19 + 18);
    }

    #[test]
    fn runs_of_words_are_counted_once_each() {
        let of = |longest| {
            let mut n = 0;
            let features = Features::Words { analyser: Analyser::Word, longest };
            features.of("ab cd ab cd", |_| n += 1);
            n
        };
        assert_eq!((of(1), of(2)), (4, 7));
    }

    #[test]
    fn lengths_out_of_range_are_refused() {
        let error = |features: Features| features.check().unwrap_err().to_string();
        assert_eq!(
            error(Features::Words { analyser: Analyser::Word, longest: 3 }),
            "features of 1 to 3; expected runs of 1 or 2 words"
        );
        assert_eq!(
            error(Features::Characters { shortest: 5, longest: 3 }),
            "features of 5 to 3; expected a range of lengths from 1 to 16 characters"
        );
    }
}
