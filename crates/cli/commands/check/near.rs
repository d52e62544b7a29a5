//! A model's ranks, made on two devices: do they differ by rounding alone?

use cleanhit_core::{Hit, Ranking, Rankings};

/// The most that rounding moves a score, as the README says. Beyond 1 it grows with the score.
const DISTANCE: f64 = 1e-3;

/// How many queries' rankings differ, documents or scores, where rounding explains all of it.
///
/// Rounding swaps candidates of nearly one score, and at the end of a ranking lets one of them in
/// for another. None where a score is farther from its counterpart, at its own rank or of its own
/// document.
pub(super) fn near(found: &Rankings, made: &Rankings) -> Option<usize> {
    if found.iter().len() != made.iter().len() {
        return None;
    }
    let mut differ = 0;
    for (query, found) in found.iter() {
        let made = made.get(query)?;
        if !alike(found, made) {
            return None;
        }
        differ += usize::from(found.hits() != made.hits());
    }
    Some(differ)
}

fn alike(found: &Ranking, made: &Ranking) -> bool {
    let (found, made) = (found.hits(), made.hits());
    let by_rank = || found.iter().zip(made).all(|(a, b)| close(a, b));
    found.len() == made.len() && by_rank() && contained(found, made) && contained(made, found)
}

/// Whether each hit has nearly its own score in `other`, or is near the last that was let in.
fn contained(hits: &[Hit], other: &[Hit]) -> bool {
    hits.iter().all(|hit| {
        let same = other.iter().find(|other| other.doc == hit.doc);
        same.or(other.last()).is_some_and(|other| close(hit, other))
    })
}

fn close(a: &Hit, b: &Hit) -> bool {
    let (a, b) = (a.score.get(), b.score.get());
    (a - b).abs() <= DISTANCE * a.abs().max(b.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cleanhit_core::{Candidate, Depth, Pool, QueryId, Score};

    use super::*;

    /// One query's ranking of candidates of a pool of ten, in the order given.
    fn ranks(hits: &[(usize, f64)]) -> Rankings {
        let candidate =
            |i| Candidate { id: format!("c{i}").as_str().into(), text: String::new(), name: None };
        let pool = Pool::new("p", (0..10).map(candidate).collect()).unwrap();
        let docs: Vec<_> = pool.corpus().docs().collect();
        let hit = |&(doc, score): &(usize, f64)| Hit {
            doc: docs[doc],
            score: Score::new(score).unwrap(),
        };
        let ranking = Ranking::recorded(hits.iter().map(hit));
        Rankings::new(Depth::of_len(hits.len()), BTreeMap::from([(QueryId::from("q"), ranking)]))
    }

    #[test]
    fn rounding_swaps_neighbours_of_nearly_one_score() {
        let made = ranks(&[(1, 0.9), (2, 0.5), (3, 0.4999)]);
        assert_eq!(near(&made, &made), Some(0));
        assert_eq!(near(&ranks(&[(1, 0.9), (3, 0.50001), (2, 0.49995)]), &made), Some(1));
        assert_eq!(near(&ranks(&[(1, 0.9001), (2, 0.5), (3, 0.4999)]), &made), Some(1));
        assert_eq!(near(&ranks(&[(2, 0.9), (1, 0.5), (3, 0.4999)]), &made), None);
        assert_eq!(near(&ranks(&[(1, 0.902), (2, 0.5), (3, 0.4999)]), &made), None);
    }

    #[test]
    fn rounding_lets_another_in_at_the_end_only() {
        let made = ranks(&[(1, 0.9), (2, 0.5), (3, 0.4)]);
        assert_eq!(near(&ranks(&[(1, 0.9), (2, 0.5), (7, 0.4)]), &made), Some(1));
        assert_eq!(near(&ranks(&[(1, 0.9), (7, 0.5), (3, 0.4)]), &made), None);
        assert_eq!(near(&ranks(&[(1, 0.9), (2, 0.5)]), &made), None);
    }

    #[test]
    fn the_distance_grows_with_the_score() {
        let made = ranks(&[(1, 900.0), (2, 500.0)]);
        assert_eq!(near(&ranks(&[(1, 900.5), (2, 500.0)]), &made), Some(1));
        assert_eq!(near(&ranks(&[(1, 901.0), (2, 500.0)]), &made), None);
    }
}
