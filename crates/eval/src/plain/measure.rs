//! Measures and their names.

use std::{
    fmt,
    hash::{Hash, Hasher},
    num::NonZeroU32,
};

use crate::plain::error::MeasureError;

/// A measure of one query's ranked list.
///
/// Prints and parses as in ir_measures: `nDCG@10`, `AP(rel=2)@100`. A document is relevant from
/// grade `rel` up, which is 1 unless the name says otherwise. Ranks beyond the list count as
/// not relevant, and where a denominator is 0 the value is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Normalised discounted cumulative gain, from 0 to 1: the sum of grade / log2(rank + 1)
    /// by that of the best order of all judged documents, both to the cutoff.
    ///
    /// Source: Järvelin and Kekäläinen, TOIS 2002; trec_eval's `ndcg` and `ndcg_cut`.
    Ndcg {
        /// The ranks counted; all without one.
        cutoff: Option<NonZeroU32>,
    },
    /// Average precision, from 0 to 1: precision at each relevant document found to the cutoff,
    /// summed, by the number of relevant documents in the qrels.
    Ap {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The ranks counted; all without one.
        cutoff: Option<NonZeroU32>,
    },
    /// Reciprocal rank of the first relevant document, or 0 if there is none to the cutoff.
    Rr {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The ranks counted; all without one.
        cutoff: Option<NonZeroU32>,
    },
    /// Precision: relevant documents to the cutoff, by the cutoff, however short the list.
    P {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The ranks counted.
        cutoff: NonZeroU32,
    },
    /// Recall: relevant documents to the cutoff, by the number in the qrels.
    R {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The ranks counted.
        cutoff: NonZeroU32,
    },
    /// 1 if any document to the cutoff is relevant, else 0.
    Success {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The ranks counted.
        cutoff: NonZeroU32,
    },
    /// Precision at the number of relevant documents in the qrels.
    Rprec {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// Interpolated precision: the greatest precision from the rank on at which the list has
    /// found the given share of the relevant documents, or 0 if it never has. Here `@` gives
    /// the share, in hundredths, and the number to find is it times theirs, plus 0.9, cut to a
    /// whole number.
    ///
    /// Source: trec_eval 9's `iprec_at_recall`; version 10 rounds the number to find.
    IPrec {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// Recall in hundredths, from 0 to 100.
        recall: u8,
    },
    /// Binary preference, from 0 to 1: over the relevant documents of the qrels, the mean of 1
    /// less the share of judged irrelevant documents above it, both counted up to the number of
    /// relevant ones. Documents without a judgement, or with a negative grade, are passed over.
    ///
    /// Source: Buckley and Voorhees, SIGIR 2004; trec_eval's `bpref`.
    Bpref {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// Inferred average precision. A negative grade says that a document was in the pool and was
    /// not judged: such documents count as relevant at the rate of the judged ones above. Equal
    /// to AP where no grade is negative.
    ///
    /// With negative grades the bounds over ties are those of two orders, not of all.
    ///
    /// Source: Yilmaz and Aslam, CIKM 2006; trec_eval's `infAP`.
    InfAp {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// Expected reciprocal rank, from 0 to 1: a reader goes down the list and stops at a
    /// document of grade g with probability (2^g - 1) / 16. Grades above 4 count as 4.
    ///
    /// Source: Chapelle et al., CIKM 2009, with the constants of TREC's gdeval, whose largest
    /// grade is 4.
    Err {
        /// The ranks counted.
        cutoff: NonZeroU32,
    },
    /// Rank-biased precision, from 0 to 1: the sum of (1 - p) p^(rank - 1) over the relevant
    /// documents.
    ///
    /// Source: Moffat and Zobel, TOIS 2008; cwl_eval's `RBP`.
    Rbp {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// The probability of going on to the next rank: above 0 and below 1.
        p: Real,
        /// The ranks counted; all without one.
        cutoff: Option<NonZeroU32>,
    },
    /// Relevant documents in the list, by the length of the list.
    SetP {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// Relevant documents in the list, by the number in the qrels.
    SetR {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// Of SetP p and SetR r: (beta + 1) p r / (r + beta p). Their harmonic mean where beta is 1.
    ///
    /// Source: trec_eval's `set_F`, whose parameter is not squared.
    SetF {
        /// The least relevant grade.
        rel: NonZeroU32,
        /// How much recall weighs: 0 or more.
        beta: Real,
    },
    /// SetP times SetR.
    ///
    /// Source: trec_eval's `set_map`.
    SetAp {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// The share of the list, to the cutoff, that the qrels name with any grade.
    Judged {
        /// The ranks counted.
        cutoff: NonZeroU32,
    },
    /// The number of documents in the list. Summed over queries.
    NumRet,
    /// The number of relevant documents in the qrels. Summed over queries.
    NumRel {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
    /// The number of relevant documents in the list. Summed over queries.
    /// Also read as `NumRet(rel=1)`, the name that ir_measures prints.
    NumRelRet {
        /// The least relevant grade.
        rel: NonZeroU32,
    },
}

/// A real parameter of a measure: finite. Equal bits are equal parameters.
#[derive(Clone, Copy, Debug)]
pub struct Real(f64);

impl Real {
    /// The persistence of RBP where none is given.
    pub(crate) const P: Real = Real(0.8);
    /// The beta of SetF where none is given.
    pub(crate) const BETA: Real = Real(1.0);

    /// The number, if it is finite. `-0` is `0`.
    pub fn new(value: f64) -> Option<Real> {
        value.is_finite().then_some(Real(value + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Real) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// Each measure as it is written, and what it is, for a help text.
pub const MEASURES: [(&str, &str); 20] = [
    ("nDCG, nDCG@10", "normalised discounted cumulative gain"),
    ("AP, AP@100", "average precision"),
    ("RR, RR@10", "reciprocal rank of the first relevant document"),
    ("P@5", "precision"),
    ("R@20", "recall"),
    ("Success@1", "whether any document is relevant"),
    ("Rprec", "precision at the number of relevant documents"),
    ("IPrec@0.1", "interpolated precision at a recall of 0.1"),
    ("Bpref", "binary preference over judged documents"),
    ("infAP", "average precision inferred for pooled documents without a judgement"),
    ("ERR@10", "expected reciprocal rank, grades to 4"),
    ("RBP, RBP(p=0.9)@10", "rank-biased precision, p 0.8 if not given"),
    ("SetP", "relevant share of the whole list"),
    ("SetR", "recall of the whole list"),
    ("SetF, SetF(beta=2)", "their harmonic mean"),
    ("SetAP", "their product"),
    ("Judged@10", "judged share of the list"),
    ("NumRet", "documents in the list, summed over queries"),
    ("NumRel", "relevant documents in the qrels, summed"),
    ("NumRelRet", "relevant documents in the list, summed"),
];

impl Measure {
    /// The deepest rank the measure looks at; `None` if it looks at all of the list.
    pub fn cutoff(self) -> Option<NonZeroU32> {
        match self {
            Measure::Ndcg { cutoff }
            | Measure::Ap { cutoff, .. }
            | Measure::Rr { cutoff, .. }
            | Measure::Rbp { cutoff, .. } => cutoff,
            Measure::P { cutoff, .. }
            | Measure::R { cutoff, .. }
            | Measure::Success { cutoff, .. }
            | Measure::Err { cutoff }
            | Measure::Judged { cutoff } => Some(cutoff),
            Measure::Rprec { .. }
            | Measure::IPrec { .. }
            | Measure::Bpref { .. }
            | Measure::InfAp { .. }
            | Measure::SetP { .. }
            | Measure::SetR { .. }
            | Measure::SetF { .. }
            | Measure::SetAp { .. }
            | Measure::NumRet
            | Measure::NumRel { .. }
            | Measure::NumRelRet { .. } => None,
        }
    }

    /// Whether the value over queries is a sum, not a mean.
    pub fn is_count(self) -> bool {
        matches!(self, Measure::NumRet | Measure::NumRel { .. } | Measure::NumRelRet { .. })
    }

    /// Reads measures separated by commas. Repeats are kept.
    ///
    /// # Errors
    ///
    /// If one is not a measure.
    pub fn parse_list(text: &str) -> Result<Vec<Measure>, MeasureError> {
        let mut depth = 0i32;
        text.split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth <= 0
        })
        .map(str::parse)
        .collect()
    }

    fn name(self) -> &'static str {
        match self {
            Measure::Ndcg { .. } => "nDCG",
            Measure::Ap { .. } => "AP",
            Measure::Rr { .. } => "RR",
            Measure::P { .. } => "P",
            Measure::R { .. } => "R",
            Measure::Success { .. } => "Success",
            Measure::Rprec { .. } => "Rprec",
            Measure::IPrec { .. } => "IPrec",
            Measure::Bpref { .. } => "Bpref",
            Measure::InfAp { .. } => "infAP",
            Measure::Err { .. } => "ERR",
            Measure::Rbp { .. } => "RBP",
            Measure::SetP { .. } => "SetP",
            Measure::SetR { .. } => "SetR",
            Measure::SetF { .. } => "SetF",
            Measure::SetAp { .. } => "SetAP",
            Measure::Judged { .. } => "Judged",
            Measure::NumRet => "NumRet",
            Measure::NumRel { .. } => "NumRel",
            Measure::NumRelRet { .. } => "NumRelRet",
        }
    }

    fn rel(self) -> Option<NonZeroU32> {
        match self {
            Measure::Ndcg { .. }
            | Measure::Err { .. }
            | Measure::Judged { .. }
            | Measure::NumRet => None,
            Measure::Ap { rel, .. }
            | Measure::Rr { rel, .. }
            | Measure::P { rel, .. }
            | Measure::R { rel, .. }
            | Measure::Success { rel, .. }
            | Measure::Rprec { rel }
            | Measure::IPrec { rel, .. }
            | Measure::Bpref { rel }
            | Measure::InfAp { rel }
            | Measure::Rbp { rel, .. }
            | Measure::SetP { rel }
            | Measure::SetR { rel }
            | Measure::SetF { rel, .. }
            | Measure::SetAp { rel }
            | Measure::NumRel { rel }
            | Measure::NumRelRet { rel } => Some(rel),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rel = match self.rel() {
            None | Some(NonZeroU32::MIN) => None,
            Some(rel) => Some(format!("rel={rel}")),
        };
        let real = match *self {
            Measure::Rbp { p, .. } if p != Real::P => Some(format!("p={}", p.get())),
            Measure::SetF { beta, .. } if beta != Real::BETA => {
                Some(format!("beta={}", beta.get()))
            }
            _ => None,
        };
        f.write_str(self.name())?;
        match (rel, real) {
            (None, None) => {}
            (Some(one), None) | (None, Some(one)) => write!(f, "({one})")?,
            (Some(rel), Some(real)) => write!(f, "({rel},{real})")?,
        }
        match (*self, self.cutoff()) {
            (Measure::IPrec { recall, .. }, _) => write!(f, "@{}", f64::from(recall) / 100.0),
            (_, None) => Ok(()),
            (_, Some(cutoff)) => write!(f, "@{cutoff}"),
        }
    }
}
