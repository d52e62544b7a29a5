//! The two ranks that every measure follows from.

use cleanhit_core::{Cutoff, Ranking};

use crate::{exposure::Measure, labels::Case};

/// Where a list has a query's two marked skills: ranks from 1, `None` if it has not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Observed {
    /// The helpful skill's rank.
    pub helpful: Option<u32>,
    /// The marked sibling's rank.
    pub sibling: Option<u32>,
}

impl Observed {
    /// Looks both skills up in a ranking.
    pub fn new(case: &Case, ranking: &Ranking) -> Observed {
        let mut observed = Observed::default();
        for (hit, rank) in ranking.hits().iter().zip(1u32..) {
            if hit.doc == case.helpful {
                observed.helpful = Some(rank);
            } else if hit.doc == case.sibling {
                observed.sibling = Some(rank);
            }
        }
        observed
    }

    /// Whether the first `cutoff` hits satisfy the measure.
    pub fn satisfies(self, measure: Measure, cutoff: Cutoff) -> bool {
        match measure {
            Measure::Recall => within(self.helpful, cutoff),
            Measure::Hsr => within(self.sibling, cutoff),
            Measure::CleanHit => within(self.helpful, cutoff) && !within(self.sibling, cutoff),
        }
    }

    /// Whether both skills are among the first `cutoff` hits.
    pub fn both(self, cutoff: Cutoff) -> bool {
        within(self.helpful, cutoff) && within(self.sibling, cutoff)
    }

    /// Whether the sibling comes first, where the list has both.
    pub fn sibling_first(self) -> Option<bool> {
        Some(self.sibling? < self.helpful?)
    }
}

fn within(rank: Option<u32>, cutoff: Cutoff) -> bool {
    rank.is_some_and(|rank| rank <= cutoff.0.get())
}
