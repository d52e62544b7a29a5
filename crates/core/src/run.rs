//! Queries, and the rankings a method gave for them.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use crate::{
    ranking::{Depth, Ranking},
    setting::Setting,
};

/// A query's identifier.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct QueryId(Box<str>);

/// A query as stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    /// Unique within its benchmark.
    pub id: QueryId,
    /// What the user asked.
    pub text: String,
}

/// A query as a method sees it: text, and nothing that could identify it.
#[derive(Clone, Copy, Debug)]
pub struct QueryText<'a>(&'a str);

/// A ranking for each query, and how deep they are. Says nothing of how they were made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rankings {
    depth: Depth,
    by_query: BTreeMap<QueryId, Ranking>,
}

/// Rankings, and the information setting they were made under.
#[derive(Debug)]
pub struct Run<S> {
    rankings: Rankings,
    setting: PhantomData<S>,
}

impl Query {
    /// The part of a query that methods may see.
    pub fn as_text(&self) -> QueryText<'_> {
        QueryText(&self.text)
    }
}

impl<'a> QueryText<'a> {
    /// A query that was never stored: for tests and for calling a method directly.
    pub fn new(text: &'a str) -> QueryText<'a> {
        QueryText(text)
    }

    /// The text itself.
    pub fn as_str(self) -> &'a str {
        self.0
    }
}

impl Rankings {
    /// Rankings of which each holds at most `depth` hits.
    pub fn new(depth: Depth, by_query: BTreeMap<QueryId, Ranking>) -> Rankings {
        Rankings { depth, by_query }
    }

    /// How many hits were kept for each query, where its pool had as many.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The ranking for `query`, if there is one.
    pub fn get(&self, query: &QueryId) -> Option<&Ranking> {
        self.by_query.get(query)
    }

    /// Every query that has a ranking, in id order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&QueryId, &Ranking)> {
        self.by_query.iter()
    }

    /// Adds the rankings of another pool's queries. Keeps the smaller depth.
    pub fn merge(&mut self, other: Rankings) {
        self.depth = self.depth.min(other.depth);
        self.by_query.extend(other.by_query);
    }
}

impl<S: Setting> Run<S> {
    /// Declares the setting that `rankings` were made under. For the runner, and for readers
    /// of rank files, who have it from the method card.
    pub fn declared(rankings: Rankings) -> Run<S> {
        Run { rankings, setting: PhantomData }
    }

    /// The rankings.
    pub fn rankings(&self) -> &Rankings {
        &self.rankings
    }

    /// The rankings, without the setting.
    pub fn into_rankings(self) -> Rankings {
        self.rankings
    }

    /// The setting's name, as method cards write it. Follows from the type.
    pub fn setting(&self) -> &'static str {
        S::NAME
    }

    /// Adds the run of the same method over another pool.
    pub fn merge(&mut self, other: Run<S>) {
        self.rankings.merge(other.rankings);
    }
}

impl QueryId {
    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for QueryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for QueryId {
    fn from(s: &str) -> QueryId {
        QueryId(s.into())
    }
}

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
