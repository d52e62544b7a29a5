//! The three measures.

use std::fmt;

/// What is asked of each list. Equations 1 to 3.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Measure {
    /// Holds the helpful skill.
    Recall,
    /// Harmful sibling rate: holds the marked sibling. Lower is better.
    Hsr,
    /// Holds the helpful skill and not the marked sibling.
    CleanHit,
}

impl Measure {
    /// All three, in the paper's order.
    pub const ALL: [Measure; 3] = [Measure::Recall, Measure::Hsr, Measure::CleanHit];

    /// As reports write it, without the cutoff.
    pub fn as_str(self) -> &'static str {
        match self {
            Measure::Recall => "Recall",
            Measure::Hsr => "HSR",
            Measure::CleanHit => "CleanHit",
        }
    }

    /// As file formats write it, without the cutoff: `recall`, `hsr`, `cleanhit`.
    pub fn key(self) -> &'static str {
        match self {
            Measure::Recall => "recall",
            Measure::Hsr => "hsr",
            Measure::CleanHit => "cleanhit",
        }
    }

    /// Whether a lower value is the better one.
    pub fn lower_is_better(self) -> bool {
        self == Measure::Hsr
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Measure::Recall => 0,
            Measure::Hsr => 1,
            Measure::CleanHit => 2,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
