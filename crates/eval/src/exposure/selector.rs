//! Where does the exposure that is left after selection come from?
//!
//! Source: *Right Family, Wrong Skill*, appendix B.5 (Selector accounting), equation 4.

use cleanhit_core::Cutoff;

use crate::exposure::{Measure, Observed, summary::ratio};

/// Exposed queries before and after selection: the sets `B` and `A` of equation 4, counted.
///
/// Selection removes siblings, and it moves the global cutoff, which can expose others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SelectorAccount {
    /// The cutoff.
    pub cutoff: Cutoff,
    /// Queries in the group: `n`.
    pub queries: u64,
    /// Exposed before: `|B|`.
    pub before: u64,
    /// Exposed after: `|A|`.
    pub after: u64,
    /// Exposed before and no longer: `|B \ A|`.
    pub resolved: u64,
    /// Newly exposed: `|A \ B|`.
    pub promoted: u64,
    /// Exposed before and after: `|A ∩ B|`.
    pub remaining: u64,
}

impl SelectorAccount {
    pub(super) fn new(
        cutoff: Cutoff,
        members: &[usize],
        before: &[Observed],
        after: &[Observed],
    ) -> SelectorAccount {
        let exposed = |observed: Observed| observed.satisfies(Measure::Hsr, cutoff);
        let pairs = members.iter().map(|&case| (exposed(before[case]), exposed(after[case])));
        let count =
            |keep: fn((bool, bool)) -> bool| pairs.clone().filter(|&p| keep(p)).count() as u64;
        let account = SelectorAccount {
            cutoff,
            queries: members.len() as u64,
            before: count(|(b, _)| b),
            after: count(|(_, a)| a),
            resolved: count(|(b, a)| b && !a),
            promoted: count(|(b, a)| !b && a),
            remaining: count(|(b, a)| b && a),
        };
        let by_equation = account.before - account.resolved + account.promoted;
        assert_eq!(by_equation, account.after, "equation 4, times n");
        account
    }

    /// The share of exposed queries that selection resolves: `p_B`, 0 if none was exposed.
    pub fn resolved_share(&self) -> f64 {
        ratio(self.resolved, self.before).unwrap_or(0.0)
    }

    /// The share of all queries that selection newly exposes: `μ`. `None` without queries.
    pub fn promoted_share(&self) -> Option<f64> {
        ratio(self.promoted, self.queries)
    }

    /// HSR before selection. `None` without queries.
    pub fn hsr_before(&self) -> Option<f64> {
        ratio(self.before, self.queries)
    }

    /// HSR after selection, by equation 4: `|B|/n · (1 − p_B) + μ`.
    ///
    /// Multiplied by `n` the equation is between whole numbers, `|B| − |B \ A| + |A \ B| = |A|`,
    /// and is asserted there; this is their quotient.
    pub fn hsr_after(&self) -> Option<f64> {
        ratio(self.before - self.resolved + self.promoted, self.queries)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    const THREE: Cutoff = Cutoff(NonZeroU32::new(3).unwrap());

    fn at(sibling: Option<u32>) -> Observed {
        Observed { helpful: None, sibling }
    }

    #[test]
    fn the_published_trace_adds_up() {
        // Appendix B.5: of 1,258 queries 448 exposed, 290 resolved, 13 promoted, 171 left.
        let before: Vec<Observed> = (0..1258).map(|i| at((i < 448).then_some(1))).collect();
        let after: Vec<Observed> =
            (0..1258).map(|i| at((290..461).contains(&i).then_some(3))).collect();
        let members: Vec<usize> = (0..1258).collect();
        let account = SelectorAccount::new(THREE, &members, &before, &after);
        assert_eq!((account.before, account.resolved, account.promoted), (448, 290, 13));
        assert_eq!((account.remaining, account.after), (158, 171));
        assert_eq!(account.hsr_after(), Some(171.0 / 1258.0));
        let equation = account.hsr_before().unwrap() * (1.0 - account.resolved_share())
            + account.promoted_share().unwrap();
        assert!((equation - 171.0 / 1258.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_exposed_has_nothing_to_resolve() {
        let account = SelectorAccount::new(THREE, &[0], &[at(Some(4))], &[at(Some(2))]);
        let shares = (account.resolved_share(), account.promoted_share(), account.hsr_after());
        assert_eq!(shares, (0.0, Some(1.0), Some(1.0)));
        assert_eq!(SelectorAccount::new(THREE, &[], &[], &[]).hsr_after(), None);
    }

    proptest! {
        /// Equation 4 gives the exposure that is measured after selection.
        #[test]
        fn the_equation_gives_the_measured_rate(ranks in prop::collection::vec((0u32..6, 0u32..6), 1..60)) {
            let rank = |rank: u32| at((rank != 0).then_some(rank));
            let before: Vec<Observed> = ranks.iter().map(|&(b, _)| rank(b)).collect();
            let after: Vec<Observed> = ranks.iter().map(|&(_, a)| rank(a)).collect();
            let members: Vec<usize> = (0..ranks.len()).collect();
            let account = SelectorAccount::new(THREE, &members, &before, &after);
            let exposed = ranks.iter().filter(|(_, a)| (1..=3).contains(a)).count();
            prop_assert_eq!(account.hsr_after(), Some(exposed as f64 / ranks.len() as f64));
            let n = ranks.len() as f64;
            let equation = account.before as f64 / n * (1.0 - account.resolved_share())
                + account.promoted_share().unwrap();
            prop_assert!((equation - exposed as f64 / n).abs() < 1e-12);
        }
    }
}
