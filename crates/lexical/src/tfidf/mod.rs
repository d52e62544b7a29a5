//! TF-IDF with cosine similarity, over words or characters.

mod build;
mod features;
mod index;
mod part;

pub use features::Features;
pub use index::Tfidf;

use crate::analysis::Analyser;

/// What a TF-IDF counts, and what the counts weigh.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TfidfParams {
    /// What is counted.
    pub features: Features,
    /// What the counts weigh.
    pub weighting: Weighting,
}

/// What counts weigh, with `N` documents of which `df` hold the feature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weighting {
    /// `(1 + ln tf)·(ln((1 + N)/(1 + df)) + 1)`: scikit-learn's `sublinear_tf` and `smooth_idf`.
    Sublinear,
    /// `tf/length·ln(N/(1 + df))`, as SR-Agents does. A feature of all documents but one weighs
    /// nothing, and one of all documents a little less than nothing, in both vectors.
    Relative,
}

/// A TF-IDF index cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TfidfError {
    /// The lengths of runs or n-grams.
    #[error("features of {shortest} to {longest}; expected {expected}")]
    Range {
        /// The shortest asked for.
        shortest: usize,
        /// The longest asked for.
        longest: usize,
        /// What may be asked for.
        expected: &'static str,
    },
}

impl TfidfParams {
    /// Words and pairs of words, as scikit-learn splits and weighs them.
    pub fn words() -> TfidfParams {
        TfidfParams {
            features: Features::Words { analyser: Analyser::Word, longest: 2 },
            weighting: Weighting::Sublinear,
        }
    }

    /// Character n-grams of three to five inside words, as scikit-learn's `char_wb`.
    pub fn characters() -> TfidfParams {
        TfidfParams {
            features: Features::Characters { shortest: 3, longest: 5 },
            weighting: Weighting::Sublinear,
        }
    }

    /// The TF-IDF of SR-Agents: single words `\w+`, relative frequencies.
    pub fn sr_agents() -> TfidfParams {
        TfidfParams {
            features: Features::Words { analyser: Analyser::WordAll, longest: 1 },
            weighting: Weighting::Relative,
        }
    }
}

impl Weighting {
    /// The weight of a count, but for the idf and for what the norm cancels.
    pub(crate) fn of_count(self, count: u32) -> f64 {
        match self {
            Weighting::Sublinear => 1.0 + libm::log(f64::from(count)),
            // A vector's norm cancels the document's length.
            Weighting::Relative => f64::from(count),
        }
    }

    /// The inverse document frequency.
    pub fn idf(self, df: usize, n: usize) -> f64 {
        let (df, n) = (df as f64, n as f64);
        match self {
            Weighting::Sublinear => libm::log((1.0 + n) / (1.0 + df)) + 1.0,
            Weighting::Relative => libm::log(n / (1.0 + df)),
        }
    }
}
