//! Families, and the selector that keeps one representative of each.

use std::{collections::HashSet, marker::PhantomData, sync::Arc};

use crate::{
    pool::{Corpus, DocIx},
    ranking::Ranking,
    scorer::BoxError,
    setting::{Diagnostic, ReleasedFamily, Setting},
};

/// A grouping of a corpus: one family number for each candidate. Cheap to clone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Partition(Arc<[u32]>);

/// Says which candidates are of one family, for one query.
pub trait Resolver<S: Setting>: Send + Sync {
    /// The families of the whole corpus, singletons included, given the query's ranking and
    /// what the setting discloses.
    ///
    /// # Errors
    ///
    /// Whatever the resolver reports; the runner adds the query.
    fn families(
        &self,
        corpus: &Corpus,
        ranking: &Ranking,
        side: &S::Side,
    ) -> Result<Partition, BoxError>;
}

/// Chooses which hits to keep, given the families.
pub trait Selector: Send + Sync {
    /// A subsequence of `ranking`: its scores and its order are unchanged.
    fn select(&self, ranking: Ranking, families: &Partition) -> Ranking;
}

/// Keeps the highest-ranked member of each family.
///
/// Source: *Right Family, Wrong Skill*, appendix B.5, Algorithm 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Representative;

/// The families that the benchmark discloses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Released;

/// A public resolver applied to a sanity method, which stays a sanity method.
pub struct Diagnosed<S, R>(R, PhantomData<fn() -> S>);

/// A released-family selector was run without the family relation.
#[derive(Debug, thiserror::Error)]
#[error("the benchmark discloses no family relation; expected `families.tsv` beside its pools")]
struct NotDisclosed;

impl Partition {
    /// `groups[i]` is the family of the candidate at position `i`.
    ///
    /// # Panics
    ///
    /// If there is not one family for each candidate.
    pub fn new(corpus: &Corpus, groups: Vec<u32>) -> Partition {
        assert_eq!(corpus.len(), groups.len(), "one family for each candidate");
        Partition(groups.into())
    }

    /// Every candidate a family of its own.
    pub fn singletons(corpus: &Corpus) -> Partition {
        Partition((0u32..).take(corpus.len()).collect())
    }

    /// The family of `doc`.
    pub fn group(&self, doc: DocIx) -> u32 {
        self.0[doc.as_usize()]
    }

    /// The family of each candidate, in position order.
    pub fn groups(&self) -> &[u32] {
        &self.0
    }
}

impl Selector for Representative {
    fn select(&self, ranking: Ranking, families: &Partition) -> Ranking {
        let mut seen = HashSet::new();
        ranking.filter(|hit| seen.insert(families.group(hit.doc)))
    }
}

impl Resolver<ReleasedFamily> for Released {
    fn families(&self, _: &Corpus, _: &Ranking, side: &Partition) -> Result<Partition, BoxError> {
        Ok(side.clone())
    }
}

impl Resolver<Diagnostic> for Released {
    fn families(
        &self,
        _: &Corpus,
        _: &Ranking,
        side: &Option<Partition>,
    ) -> Result<Partition, BoxError> {
        side.clone().ok_or_else(|| NotDisclosed.into())
    }
}

impl<S, R> Diagnosed<S, R> {
    /// Wraps a resolver that needs nothing disclosed.
    pub fn new(resolver: R) -> Diagnosed<S, R> {
        Diagnosed(resolver, PhantomData)
    }
}

impl<S: Setting<Side = ()>, R: Resolver<S>> Resolver<Diagnostic> for Diagnosed<S, R> {
    fn families(
        &self,
        corpus: &Corpus,
        ranking: &Ranking,
        _: &Option<Partition>,
    ) -> Result<Partition, BoxError> {
        self.0.families(corpus, ranking, &())
    }
}

impl<S: Setting, R: Resolver<S> + ?Sized> Resolver<S> for Box<R> {
    fn families(
        &self,
        corpus: &Corpus,
        ranking: &Ranking,
        side: &S::Side,
    ) -> Result<Partition, BoxError> {
        (**self).families(corpus, ranking, side)
    }
}
