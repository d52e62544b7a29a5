//! Pools, and the anonymous corpus that methods see.

use std::{fmt, hash::BuildHasher as _, sync::Arc};

use hashbrown::{HashTable, hash_table::Entry};
use rustc_hash::FxBuildHasher;
use sha2::{Digest as _, Sha256};

/// A candidate's identifier, as written in pool, rank and label files.
///
/// Lives at the edges only: no method is ever handed one.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CandidateId(Box<str>);

/// One candidate skill, rendered to the text that methods score.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate {
    /// Unique within the pool.
    pub id: CandidateId,
    /// The rendered text: what every method scores.
    pub text: String,
    /// The skill's name, where the source has one apart from the text.
    pub name: Option<String>,
}

/// A candidate's position in its corpus.
///
/// Positions follow the SHA-256 of the candidate id, so that neither a position nor an
/// order that follows it says anything about the candidate or about the file it came from.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DocIx(u32);

/// The fixed set of candidates that a query is answered from.
#[derive(Clone, Debug)]
pub struct Pool {
    name: Box<str>,
    ids: Arc<[CandidateId]>,
    index: Index,
    corpus: Arc<Corpus>,
}

/// A pool's texts, stripped of ids and of file order.
#[derive(Debug)]
pub struct Corpus {
    texts: Vec<Box<str>>,
    names: Vec<Option<Box<str>>>,
}

/// Why a pool cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// No candidates.
    #[error("pool `{0}` is empty; expected at least one candidate")]
    Empty(Box<str>),
    /// Two candidates share an id.
    #[error("pool `{pool}`: candidate id `{id}` occurs twice")]
    DuplicateId {
        /// The pool's name.
        pool: Box<str>,
        /// The repeated id.
        id: CandidateId,
    },
    /// More candidates than [`DocIx`] can number.
    #[error("pool `{0}` has more than 2^32 candidates")]
    TooLarge(Box<str>),
}

impl Pool {
    /// Builds a pool. Input order is irrelevant: candidates are put in hash order.
    ///
    /// # Errors
    ///
    /// If there are no candidates, or two share an id.
    pub fn new(name: &str, mut candidates: Vec<Candidate>) -> Result<Pool, PoolError> {
        let name: Box<str> = name.into();
        if candidates.is_empty() {
            return Err(PoolError::Empty(name));
        }
        if u32::try_from(candidates.len()).is_err() {
            return Err(PoolError::TooLarge(name));
        }
        candidates.sort_by_cached_key(|c| (Sha256::digest(c.id.0.as_bytes()), c.id.clone()));
        let mut index = Index::default();
        let mut ids = Vec::with_capacity(candidates.len());
        let mut texts = Vec::with_capacity(candidates.len());
        let mut names = Vec::with_capacity(candidates.len());
        for (candidate, i) in candidates.into_iter().zip(0u32..) {
            if !index.insert(&candidate.id.0, DocIx(i)) {
                return Err(PoolError::DuplicateId { pool: name, id: candidate.id });
            }
            ids.push(candidate.id);
            texts.push(candidate.text.into_boxed_str());
            names.push(candidate.name.map(String::into_boxed_str));
        }
        Ok(Pool { name, ids: ids.into(), index, corpus: Arc::new(Corpus { texts, names }) })
    }

    /// The pool's name, as written in rank files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of candidates. At least 1.
    #[expect(clippy::len_without_is_empty, reason = "a pool is never empty")]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// What methods see.
    pub fn corpus(&self) -> &Arc<Corpus> {
        &self.corpus
    }

    /// The id at `doc`. For writers and label readers, never for methods.
    pub fn id(&self, doc: DocIx) -> &CandidateId {
        &self.ids[doc.as_usize()]
    }

    /// The position of `id`, if it is in the pool.
    pub fn position(&self, id: &str) -> Option<DocIx> {
        self.index.get(id)
    }

    /// Lower-case hex SHA-256 over every id and text, in position order.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (id, text) in self.ids.iter().zip(&self.corpus.texts) {
            for part in [id.as_str(), text] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part.as_bytes());
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn ids(&self) -> &Arc<[CandidateId]> {
        &self.ids
    }
}

/// Positions by id.
///
/// The ids are held once more, in one string: where a reader left them they lie between texts,
/// and to compare with one is to wait for memory. Rank files ask for tens of thousands.
#[derive(Clone, Debug, Default)]
struct Index {
    table: HashTable<DocIx>,
    ids: String,
    /// Where each id ends in `ids`.
    ends: Vec<usize>,
}

impl Index {
    /// Adds the next id, which goes to position `doc`; false if it is there already.
    fn insert(&mut self, id: &str, doc: DocIx) -> bool {
        let Index { table, ids, ends } = self;
        let same = |&other: &DocIx| id_at(ids, ends, other) == id;
        let hash = |&other: &DocIx| FxBuildHasher.hash_one(id_at(ids, ends, other));
        match table.entry(FxBuildHasher.hash_one(id), same, hash) {
            Entry::Occupied(_) => return false,
            Entry::Vacant(free) => free.insert(doc),
        };
        ids.push_str(id);
        ends.push(ids.len());
        true
    }

    fn get(&self, id: &str) -> Option<DocIx> {
        let same = |&other: &DocIx| id_at(&self.ids, &self.ends, other) == id;
        self.table.find(FxBuildHasher.hash_one(id), same).copied()
    }
}

fn id_at<'a>(ids: &'a str, ends: &[usize], doc: DocIx) -> &'a str {
    let i = doc.as_usize();
    let start = i.checked_sub(1).map_or(0, |before| ends[before]);
    &ids[start..ends[i]]
}

impl Corpus {
    /// Number of candidates. At least 1.
    #[expect(clippy::len_without_is_empty, reason = "a corpus is never empty")]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text at `doc`. May be empty.
    pub fn text(&self, doc: DocIx) -> &str {
        &self.texts[doc.as_usize()]
    }

    /// All texts, in position order: `texts()[doc.as_usize()]` is the text at `doc`.
    pub fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(|text| &**text).collect()
    }

    /// The skill's name, or the first line of its text that is not blank. May be empty.
    pub fn title(&self, doc: DocIx) -> &str {
        match &self.names[doc.as_usize()] {
            Some(name) => name,
            None => {
                let mut lines = self.text(doc).lines().map(str::trim);
                lines.find(|line| !line.is_empty()).unwrap_or_default()
            }
        }
    }

    /// All positions, ascending.
    pub fn docs(&self) -> impl Iterator<Item = DocIx> + use<> {
        (0u32..).take(self.texts.len()).map(DocIx)
    }
}

impl DocIx {
    /// For indexing a slice parallel to the corpus.
    pub fn as_usize(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn from_u32(position: u32) -> DocIx {
        DocIx(position)
    }
}

impl CandidateId {
    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for CandidateId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CandidateId {
    fn from(s: &str) -> CandidateId {
        CandidateId(s.into())
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
