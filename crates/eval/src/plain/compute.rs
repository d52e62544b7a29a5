//! The measures of one list, from grades in rank order.

use std::num::NonZeroU32;

use crate::plain::measure::Measure;

/// A document's grade as in the qrels, or `None` if they lack it. Ordered as a relevance: what
/// the qrels lack comes first, then negative grades, which count 0 and are judged all the same.
pub(crate) type Gain = Option<i32>;

/// What the measures of a query are computed from.
#[derive(Clone, Copy)]
pub(crate) struct Graded<'a> {
    /// Gains in rank order.
    pub(crate) ranked: &'a [Gain],
    /// The positive gains of the qrels, descending.
    pub(crate) ideal: &'a [u32],
    /// The judgements of the qrels whose grade is 0 or more.
    pub(crate) judged: usize,
    /// [`Discounts`] of at least the longer of the two.
    pub(crate) discounts: &'a Discounts,
}

/// log2(rank + 1) for ranks from 1. From `libm`, so that the bits are the same everywhere.
pub(crate) struct Discounts(Vec<f64>);

impl Discounts {
    pub(crate) fn up_to(rank: usize) -> Discounts {
        Discounts((0..rank).map(|n| libm::log2((n + 2) as f64)).collect())
    }

    /// Discounted cumulative gain. Sums from the first rank on; 0 for no gains.
    fn dcg(&self, gains: impl Iterator<Item = u32>) -> f64 {
        let mut sum = 0.0;
        for (gain, discount) in gains.zip(&self.0) {
            if gain != 0 {
                sum += f64::from(gain) / discount;
            }
        }
        sum
    }
}

impl Graded<'_> {
    /// The measure's value; 0 where its denominator is 0.
    pub(crate) fn value(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Ndcg { cutoff } => self.ndcg(cutoff),
            Measure::Ap { rel, cutoff } => self.ap(rel, cutoff),
            Measure::Rr { rel, cutoff } => match self.first(rel, cutoff) {
                None => 0.0,
                Some(before) => 1.0 / (before + 1) as f64,
            },
            Measure::P { rel, cutoff } => share(self.found(rel, Some(cutoff)), width(cutoff)),
            Measure::R { rel, cutoff } => share(self.found(rel, Some(cutoff)), self.relevant(rel)),
            Measure::Success { rel, cutoff } => match self.first(rel, Some(cutoff)) {
                None => 0.0,
                Some(_) => 1.0,
            },
            Measure::Rprec { rel } => {
                let relevant = self.relevant(rel);
                let top = &self.ranked[..relevant.min(self.ranked.len())];
                share(count(top, rel), relevant)
            }
            Measure::IPrec { rel, recall } => self.interpolated(rel, recall),
            Measure::Bpref { rel } => self.bpref(rel),
            Measure::InfAp { rel } => self.inferred(rel),
            Measure::Err { cutoff } => self.expected_rank(cutoff),
            Measure::Rbp { rel, p, cutoff } => self.rank_biased(rel, p.get(), cutoff),
            Measure::SetP { rel } => self.set_precision(rel),
            Measure::SetR { rel } => self.set_recall(rel),
            Measure::SetF { rel, beta } => {
                let (p, r, beta) = (self.set_precision(rel), self.set_recall(rel), beta.get());
                let by = r + beta * p;
                if by <= 0.0 { 0.0 } else { (beta + 1.0) * p * r / by }
            }
            Measure::SetAp { rel } => self.set_precision(rel) * self.set_recall(rel),
            Measure::Judged { cutoff } => {
                let top = self.top(Some(cutoff));
                share(top.iter().flatten().count(), top.len())
            }
            Measure::NumRet => self.ranked.len() as f64,
            Measure::NumRel { rel } => self.relevant(rel) as f64,
            Measure::NumRelRet { rel } => self.found(rel, None) as f64,
        }
    }

    /// Relevant documents in the qrels.
    pub(crate) fn relevant(&self, rel: NonZeroU32) -> usize {
        self.ideal.partition_point(|&gain| rel.get() <= gain)
    }

    fn ndcg(&self, cutoff: Option<NonZeroU32>) -> f64 {
        let best = match cutoff {
            None => self.ideal,
            Some(cutoff) => &self.ideal[..width(cutoff).min(self.ideal.len())],
        };
        let best = self.discounts.dcg(best.iter().copied());
        if best <= 0.0 {
            return 0.0;
        }
        let own = self.discounts.dcg(self.top(cutoff).iter().map(|&gain| positive(gain)));
        // Two sums of one value may round apart.
        (own / best).min(1.0)
    }

    fn ap(&self, rel: NonZeroU32, cutoff: Option<NonZeroU32>) -> f64 {
        let relevant = self.relevant(rel);
        let mut found = 0;
        let mut sum = 0.0;
        for (before, &gain) in self.top(cutoff).iter().enumerate() {
            if is_relevant(gain, rel) {
                found += 1;
                sum += f64::from(found) / (before + 1) as f64;
            }
        }
        match relevant {
            0 => 0.0,
            relevant => sum / relevant as f64,
        }
    }

    fn interpolated(&self, rel: NonZeroU32, recall: u8) -> f64 {
        // In the order of trec_eval 9, whose rounding is part of the definition.
        let needed = f64::from(recall) / 100.0 * self.relevant(rel) as f64 + 0.9;
        let mut found = 0usize;
        let mut best = 0.0f64;
        for (before, &gain) in self.ranked.iter().enumerate() {
            found += usize::from(is_relevant(gain, rel));
            if needed < (found + 1) as f64 {
                best = best.max(found as f64 / (before + 1) as f64);
            }
        }
        best
    }

    fn bpref(&self, rel: NonZeroU32) -> f64 {
        let relevant = self.relevant(rel);
        let limit = relevant.min(self.judged - relevant);
        let mut above = 0usize;
        let mut sum = 0.0;
        for &gain in self.ranked {
            match gain {
                None | Some(..0) => {}
                gain if is_relevant(gain, rel) => {
                    sum += 1.0 - share(above.min(relevant), limit);
                }
                _ => above += 1,
            }
        }
        if relevant == 0 { 0.0 } else { sum / relevant as f64 }
    }

    fn inferred(&self, rel: NonZeroU32) -> f64 {
        // Keeps the rate of relevant documents defined where none is judged above.
        const EPSILON: f64 = 0.00001;
        let relevant = self.relevant(rel);
        let (mut found, mut not, mut unjudged) = (0usize, 0usize, 0usize);
        let mut sum = 0.0;
        for (before, &gain) in self.ranked.iter().enumerate() {
            match gain {
                None => {}
                Some(..0) => unjudged += 1,
                gain if !is_relevant(gain, rel) => not += 1,
                _ if before == 0 => {
                    found = 1;
                    sum += 1.0;
                }
                _ => {
                    let pooled = (found + not + unjudged) as f64;
                    let rate = (found as f64 + EPSILON) / ((found + not) as f64 + 2.0 * EPSILON);
                    let (above, rank) = (before as f64, (before + 1) as f64);
                    sum += 1.0 / rank + above / rank * (pooled / above) * rate;
                    found += 1;
                }
            }
        }
        if relevant == 0 { 0.0 } else { sum / relevant as f64 }
    }

    fn expected_rank(&self, cutoff: NonZeroU32) -> f64 {
        let (mut sum, mut reached) = (0.0, 1.0);
        for (before, &gain) in self.top(Some(cutoff)).iter().enumerate() {
            let stops = f64::from((1u32 << positive(gain).min(4)) - 1) / 16.0;
            sum += stops * reached / (before + 1) as f64;
            reached *= 1.0 - stops;
        }
        sum
    }

    fn rank_biased(&self, rel: NonZeroU32, p: f64, cutoff: Option<NonZeroU32>) -> f64 {
        let (mut sum, mut weight) = (0.0, 1.0 - p);
        for &gain in self.top(cutoff) {
            if is_relevant(gain, rel) {
                sum += weight;
            }
            weight *= p;
        }
        sum
    }

    fn set_precision(&self, rel: NonZeroU32) -> f64 {
        share(self.found(rel, None), self.ranked.len())
    }

    fn set_recall(&self, rel: NonZeroU32) -> f64 {
        share(self.found(rel, None), self.relevant(rel))
    }

    /// The ranks before the first relevant document.
    fn first(&self, rel: NonZeroU32, cutoff: Option<NonZeroU32>) -> Option<usize> {
        self.top(cutoff).iter().position(|&gain| is_relevant(gain, rel))
    }

    fn found(&self, rel: NonZeroU32, cutoff: Option<NonZeroU32>) -> usize {
        count(self.top(cutoff), rel)
    }

    fn top(&self, cutoff: Option<NonZeroU32>) -> &[Gain] {
        match cutoff {
            None => self.ranked,
            Some(cutoff) => &self.ranked[..width(cutoff).min(self.ranked.len())],
        }
    }
}

/// A cutoff as a length.
pub(crate) fn width(cutoff: NonZeroU32) -> usize {
    usize::try_from(cutoff.get()).unwrap_or(usize::MAX)
}

/// A grade as measures use it: 0 where it is negative or there is none.
fn positive(gain: Gain) -> u32 {
    gain.map_or(0, |grade| u32::try_from(grade).unwrap_or(0))
}

fn is_relevant(gain: Gain, rel: NonZeroU32) -> bool {
    rel.get() <= positive(gain)
}

fn count(gains: &[Gain], rel: NonZeroU32) -> usize {
    gains.iter().filter(|&&gain| is_relevant(gain, rel)).count()
}

fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}
