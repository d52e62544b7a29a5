//! What "BM25" leaves open.

use crate::{analysis::Analyser, dictionary::narrow};

/// Every choice that changes a BM25 score.
///
/// A term that is `f` times in a document of `l` tokens adds
/// `idf · f / (f + k1·(1 - b + b·l/avgdl))`, times `k1 + 1` under the idf forms that say so.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25Params {
    /// How slowly a term's weight saturates with its frequency. Not negative.
    pub k1: f64,
    /// How much a document's length counts. From 0 to 1.
    pub b: f64,
    /// The form of the inverse document frequency.
    pub idf: Idf,
    /// How a document's length is stored.
    pub norms: Norms,
    /// What a repeated query term counts.
    pub query_terms: QueryTerms,
    /// How texts and queries become tokens.
    pub analyser: Analyser,
    /// Whether documents without a token are in `N` and in the average length.
    pub empty_documents: EmptyDocuments,
}

/// The form of the inverse document frequency, with `N` documents of which `df` hold the term.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Idf {
    /// `ln(1 + (N - df + 0.5)/(df + 0.5))`: always positive.
    Lucene,
    /// `ln((N - df + 0.5)/(df + 0.5))`, or 0 where that is negative: a term in half of the
    /// documents and more says nothing.
    Robertson,
    /// `ln(N/df)`, and the factor `k1 + 1`.
    Atire,
    /// As [`Robertson`](Idf::Robertson), and the factor `k1 + 1`.
    Okapi,
}

/// How a document's length is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Norms {
    /// As it is.
    Exact,
    /// As Lucene and tantivy store it, in one byte: exact to 40 tokens, then rounded down to
    /// four significant binary digits. The average length is that of the exact lengths.
    LuceneByte,
}

/// What a repeated query term counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum QueryTerms {
    /// Each time.
    #[default]
    Count,
    /// Once.
    Binary,
}

/// Whether documents without a token are in `N` and in the average length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmptyDocuments {
    /// They are, as in tantivy and bm25s.
    Counted,
    /// They are not, as in Lucene. They still have a place in every ranking.
    Excluded,
}

/// A BM25 index cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Bm25Error {
    /// Scores would not be finite, or would grow with a document's length.
    #[error("`{name}` is {value}; expected {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// tantivy's own error.
    #[error("tantivy: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
}

impl Default for Bm25Params {
    /// k1 1.2, b 0.75, idf `Lucene`, exact norms, counted query terms, all documents.
    fn default() -> Bm25Params {
        Bm25Params {
            k1: 1.2,
            b: 0.75,
            idf: Idf::Lucene,
            norms: Norms::Exact,
            query_terms: QueryTerms::Count,
            analyser: Analyser::Default,
            empty_documents: EmptyDocuments::Counted,
        }
    }
}

impl Bm25Params {
    /// The BM25 of SR-Agents: k1 1.5, b 0.75, idf `Okapi`, each query term once, tokens `\w+`.
    pub fn sr_agents() -> Bm25Params {
        Bm25Params {
            k1: 1.5,
            idf: Idf::Okapi,
            query_terms: QueryTerms::Binary,
            analyser: Analyser::WordAll,
            ..Bm25Params::default()
        }
    }

    /// Anserini's defaults: k1 0.9, b 0.4, one-byte norms, empty documents left out. Anserini's
    /// analyser stems and removes stop words, which none of ours does.
    pub fn anserini(analyser: Analyser) -> Bm25Params {
        Bm25Params {
            k1: 0.9,
            b: 0.4,
            norms: Norms::LuceneByte,
            analyser,
            empty_documents: EmptyDocuments::Excluded,
            ..Bm25Params::default()
        }
    }

    /// Checks `k1` and `b`.
    pub(crate) fn check(&self) -> Result<(), Bm25Error> {
        if !(self.k1.is_finite() && 0.0 <= self.k1) {
            let expected = "a finite number that is not negative";
            return Err(Bm25Error::Parameter { name: "k1", value: self.k1, expected });
        }
        if !(0.0..=1.0).contains(&self.b) {
            let expected = "a number from 0 to 1";
            return Err(Bm25Error::Parameter { name: "b", value: self.b, expected });
        }
        Ok(())
    }
}

impl Idf {
    /// The weight of a term that `df` of `n` documents hold. Never negative.
    pub fn weight(self, df: usize, n: usize) -> f64 {
        let (df, n) = (df as f64, n as f64);
        let odds = (n - df + 0.5) / (df + 0.5);
        match self {
            Idf::Lucene => libm::log(1.0 + odds),
            Idf::Robertson | Idf::Okapi => libm::log(odds.max(1.0)),
            Idf::Atire => libm::log(n / df),
        }
    }

    /// What multiplies every contribution.
    pub(crate) fn factor(self, k1: f64) -> f64 {
        match self {
            Idf::Lucene | Idf::Robertson => 1.0,
            Idf::Atire | Idf::Okapi => k1 + 1.0,
        }
    }
}

impl Norms {
    /// The length that is reckoned with for a document of `length` tokens.
    pub fn length(self, length: u32) -> u32 {
        match self {
            Norms::Exact => length,
            Norms::LuceneByte => lucene_byte(length),
        }
    }
}

impl QueryTerms {
    /// How often a query term that occurs `times` times counts.
    pub(crate) fn counted(self, times: usize) -> u32 {
        match self {
            QueryTerms::Count => narrow(times),
            QueryTerms::Binary => 1,
        }
    }
}

/// What Lucene's `SmallFloat.byte4ToInt(intToByte4(length))` gives: of what is above 24, the
/// highest four binary digits.
fn lucene_byte(length: u32) -> u32 {
    const FREE: u32 = 24;
    if length < FREE {
        return length;
    }
    let above = length - FREE;
    let lost = (u32::BITS - above.leading_zeros()).saturating_sub(4);
    FREE + (above >> lost << lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_norms_are_exact_to_forty_tokens() {
        for length in 0..=40 {
            assert_eq!(Norms::LuceneByte.length(length), length);
        }
        // From the table in tantivy's `fieldnorm/code.rs`, which is Lucene's.
        for (length, stored) in
            [(41, 40), (42, 42), (43, 42), (55, 54), (56, 56), (59, 56), (60, 60), (1000, 984)]
        {
            assert_eq!(Norms::LuceneByte.length(length), stored, "{length}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let error =
            |k1, b| Bm25Params { k1, b, ..Bm25Params::default() }.check().unwrap_err().to_string();
        assert_eq!(error(-1.0, 0.5), "`k1` is -1; expected a finite number that is not negative");
        assert_eq!(error(1.0, 1.5), "`b` is 1.5; expected a number from 0 to 1");
        assert!(error(f64::NAN, 0.5).starts_with("`k1` is NaN"));
    }

    #[test]
    fn a_term_in_most_documents_says_nothing_under_two_forms() {
        assert!(0.0 < Idf::Lucene.weight(10, 10));
        assert!(Idf::Robertson.weight(5, 10).abs() < f64::MIN_POSITIVE);
        assert!(Idf::Okapi.weight(9, 10).abs() < f64::MIN_POSITIVE);
        assert!(Idf::Atire.weight(10, 10).abs() < f64::MIN_POSITIVE);
    }
}
