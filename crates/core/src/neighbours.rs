//! Families as what neighbourhoods connect.

use crate::{
    pool::Corpus,
    ranking::Ranking,
    scorer::BoxError,
    select::{Partition, Resolver},
    setting::TextCluster,
};

/// Which candidates are clustered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// For each query, the first so many of its ranking; all others are singletons.
    Active {
        /// Hits clustered.
        top: usize,
    },
    /// The whole pool, once.
    Pool,
}

/// Who is whose neighbour, by the texts alone. As a resolver, its families are the connected
/// components among the candidates in scope: single linkage.
#[derive(Clone, Debug)]
pub struct Neighbours {
    scope: Scope,
    /// For each candidate, where the neighbours before it end.
    ends: Vec<usize>,
    neighbours: Vec<u32>,
    whole: Option<Partition>,
}

/// The families are those of another corpus.
#[derive(Debug, thiserror::Error)]
#[error("neighbours were found among {expected} candidates, but the corpus has {got}")]
pub struct OtherCorpus {
    /// Candidates compared.
    pub expected: usize,
    /// Candidates asked about.
    pub got: usize,
}

impl Default for Scope {
    /// The paper's: the query's first 80.
    fn default() -> Scope {
        Scope::Active { top: 80 }
    }
}

impl Neighbours {
    /// `before` has, for each candidate of `corpus` in its order, the neighbours with lower
    /// positions.
    ///
    /// # Panics
    ///
    /// If there is not one list for each candidate.
    pub fn new(
        corpus: &Corpus,
        scope: Scope,
        before: impl IntoIterator<Item = Vec<u32>>,
    ) -> Neighbours {
        let mut neighbours = Vec::new();
        let ends: Vec<usize> = before
            .into_iter()
            .map(|before| {
                neighbours.extend(before);
                neighbours.len()
            })
            .collect();
        assert_eq!(corpus.len(), ends.len(), "one list for each candidate");
        let mut found = Neighbours { scope, ends, neighbours, whole: None };
        if scope == Scope::Pool {
            found.whole = Some(found.partition(corpus));
        }
        found
    }

    /// The families of the whole pool, whatever the scope.
    ///
    /// # Panics
    ///
    /// If `corpus` is not of the size of the one that was compared.
    pub fn partition(&self, corpus: &Corpus) -> Partition {
        match &self.whole {
            Some(whole) => whole.clone(),
            None => self.components(corpus, |_| true),
        }
    }

    /// The components among the candidates that are `active`; each is numbered by its first.
    fn components(&self, corpus: &Corpus, active: impl Fn(u32) -> bool) -> Partition {
        let mut parents: Vec<u32> = (0u32..).take(self.ends.len()).collect();
        for doc in (0u32..).take(self.ends.len()).filter(|&doc| active(doc)) {
            for &other in self.before(doc).iter().filter(|&&other| active(other)) {
                let (a, b) = (root(&mut parents, doc), root(&mut parents, other));
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let groups = (0u32..).take(self.ends.len()).map(|doc| root(&mut parents, doc));
        Partition::new(corpus, groups.collect())
    }

    /// The neighbours of `doc` that are before it.
    fn before(&self, doc: u32) -> &[u32] {
        let doc = doc as usize;
        let start = doc.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.neighbours[start..self.ends[doc]]
    }
}

impl Resolver<TextCluster> for Neighbours {
    fn families(&self, corpus: &Corpus, ranking: &Ranking, _: &()) -> Result<Partition, BoxError> {
        let (expected, got) = (self.ends.len(), corpus.len());
        if expected != got {
            return Err(OtherCorpus { expected, got }.into());
        }
        match self.scope {
            Scope::Pool => Ok(self.partition(corpus)),
            Scope::Active { top } => {
                let mut active = vec![false; expected];
                for hit in ranking.hits().iter().take(top) {
                    active[hit.doc.as_usize()] = true;
                }
                Ok(self.components(corpus, |doc| active[doc as usize]))
            }
        }
    }
}

/// The first of the component that `doc` is in; halves the way there.
fn root(parents: &mut [u32], mut doc: u32) -> u32 {
    while parents[doc as usize] != doc {
        let parent = parents[doc as usize];
        parents[doc as usize] = parents[parent as usize];
        doc = parents[doc as usize];
    }
    doc
}
