//! Rows by query, and documents by hash.

use std::{hash::Hasher, ops::Range};

use rustc_hash::{FxHashMap, FxHasher};

/// A row that names a document.
pub(crate) trait Keyed<'a>: Copy {
    /// The document's id.
    fn document(&self) -> &'a str;
    /// [`hash`] of the document's id.
    fn hash(&self) -> u32;
}

/// Rows grouped by query. Queries are sorted by id, the rows of each are in file order.
#[derive(Clone, Debug)]
pub(crate) struct Groups<'a, R> {
    queries: Vec<Query<'a>>,
    rows: Vec<R>,
}

#[derive(Clone, Debug)]
struct Query<'a> {
    id: &'a str,
    rows: Range<usize>,
}

impl<'a, R> Groups<'a, R> {
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The queries and their rows, in the order of the ids' bytes.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &[R])> {
        self.queries.iter().map(|query| (query.id, &self.rows[query.rows.clone()]))
    }

    pub(crate) fn get(&self, id: &str) -> Option<&[R]> {
        let n = self.queries.binary_search_by(|query| query.id.cmp(id)).ok()?;
        Some(&self.rows[self.queries[n].rows.clone()])
    }
}

/// Collects rows that come in any order, with one look-up for each change of query.
pub(crate) struct Builder<'a, R> {
    ids: Vec<&'a str>,
    index: FxHashMap<&'a str, usize>,
    /// A stretch of rows of one query: the query's position in `ids`, and its first row.
    stretches: Vec<(usize, usize)>,
    /// The query of the last stretch, as its last row spells it: those bytes are at hand.
    current: Option<&'a str>,
    rows: Vec<R>,
}

impl<'a, R: Copy> Builder<'a, R> {
    pub(crate) fn with_capacity(rows: usize) -> Builder<'a, R> {
        Builder {
            ids: Vec::new(),
            index: FxHashMap::default(),
            stretches: Vec::new(),
            current: None,
            rows: Vec::with_capacity(rows),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, query: &'a str, row: R) {
        match self.current {
            Some(current) if current == query => self.current = Some(query),
            _ => self.open(query),
        }
        self.rows.push(row);
    }

    /// Starts a stretch of `query`, which may stay without rows.
    pub(crate) fn open(&mut self, query: &'a str) {
        let fresh = self.ids.len();
        let position = *self.index.entry(query).or_insert(fresh);
        if position == fresh {
            self.ids.push(query);
        }
        self.stretches.push((position, self.rows.len()));
        self.current = Some(query);
    }

    pub(crate) fn finish(self) -> Groups<'a, R> {
        let Builder { ids, stretches, mut rows, .. } = self;
        let ends = stretches.iter().skip(1).map(|&(_, start)| start).chain([rows.len()]);
        let stretches: Vec<(usize, Range<usize>)> =
            stretches.iter().zip(ends).map(|(&(query, start), end)| (query, start..end)).collect();
        let mut queries: Vec<Query<'a>> = ids.iter().map(|&id| Query { id, rows: 0..0 }).collect();
        if stretches.len() == ids.len() {
            for (query, range) in stretches {
                queries[query].rows = range;
            }
        } else {
            // Queries interleave: bring each one's stretches together, in file order.
            let mut of_query = vec![Vec::new(); ids.len()];
            for (query, range) in stretches {
                of_query[query].push(range);
            }
            let mut together = Vec::with_capacity(rows.len());
            for (query, ranges) in queries.iter_mut().zip(of_query) {
                let start = together.len();
                for range in ranges {
                    together.extend_from_slice(&rows[range]);
                }
                query.rows = start..together.len();
            }
            rows = together;
        }
        queries.sort_unstable_by_key(|query| query.id);
        Groups { queries, rows }
    }
}

/// A hash of a document's id, for [`Table`].
#[inline]
pub(crate) fn hash(document: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(document.as_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "the low half of a hash is a hash")]
    let half = hasher.finish() as u32;
    half
}

/// Documents of one query at a time, by open addressing; its memory serves query after query.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    mask: usize,
    /// Slots of another stamp are empty.
    stamp: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    stamp: u32,
    hash: u32,
    row: usize,
}

impl Table {
    /// Forgets all documents and makes room for `documents`.
    pub(crate) fn reset(&mut self, documents: usize) {
        let capacity = (documents * 2).next_power_of_two().max(16);
        if self.slots.len() < capacity {
            self.slots = vec![Slot::default(); capacity];
            self.stamp = 0;
        }
        self.mask = capacity - 1;
        self.stamp = match self.stamp.checked_add(1) {
            Some(stamp) => stamp,
            None => {
                self.slots.fill(Slot::default());
                1
            }
        };
    }

    /// Adds row `row` of `rows`, or returns the row that holds its document already.
    #[inline]
    pub(crate) fn insert<'a, R: Keyed<'a>>(&mut self, rows: &[R], row: usize) -> Option<usize> {
        let (hash, document) = (rows[row].hash(), rows[row].document());
        match self.probe(rows, hash, document) {
            Ok(earlier) => Some(earlier),
            Err(free) => {
                self.slots[free] = Slot { stamp: self.stamp, hash, row };
                None
            }
        }
    }

    /// The row of `rows` that holds the document.
    #[inline]
    pub(crate) fn find<'a, R: Keyed<'a>>(
        &self,
        rows: &[R],
        hash: u32,
        document: &str,
    ) -> Option<usize> {
        self.probe(rows, hash, document).ok()
    }

    /// The document's row, or else the free slot where it would go.
    #[inline]
    fn probe<'a, R: Keyed<'a>>(
        &self,
        rows: &[R],
        hash: u32,
        document: &str,
    ) -> Result<usize, usize> {
        let mut at = hash as usize & self.mask;
        loop {
            let slot = self.slots[at];
            if slot.stamp != self.stamp {
                return Err(at);
            }
            if slot.hash == hash && rows[slot.row].document() == document {
                return Ok(slot.row);
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// Calls `each` with the earlier and the later row of each document that is listed again.
pub(crate) fn duplicates<'a, R: Keyed<'a>, E>(
    groups: &Groups<'a, R>,
    mut each: impl FnMut(&'a str, R, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut table = Table::default();
    for (query, rows) in groups.iter() {
        table.reset(rows.len());
        for (n, row) in rows.iter().enumerate() {
            match table.insert(rows, n) {
                None => {}
                Some(earlier) => each(query, rows[earlier], *row)?,
            }
        }
    }
    Ok(())
}
