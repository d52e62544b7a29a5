//! Which scorers and retrievers a method card can name besides the built-in kinds.

use std::{collections::BTreeMap, sync::Arc};

use cleanhit_core::{BoxError, Corpus, EmbeddingModel, Retriever, Scorer};
use serde::de::DeserializeOwned;

type BuildScorer = Box<dyn Fn(toml::Table) -> Result<Box<dyn Scorer>, BoxError> + Send + Sync>;
type BuildEmbedder =
    Box<dyn Fn(toml::Table) -> Result<Box<dyn EmbeddingModel>, BoxError> + Send + Sync>;
type BuildRetriever =
    Box<dyn Fn(&Arc<Corpus>, toml::Table) -> Result<Box<dyn Retriever>, BoxError> + Send + Sync>;

/// Named constructors of plug-ins. Explicit: nothing registers itself.
///
/// ```no_run
/// # use cleanhit_core::{BoxError, QueryText, Scorer};
/// #[derive(serde::Deserialize)]
/// struct Longest {}
/// impl Scorer for Longest {
///     fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
///         Ok(texts.iter().map(|text| text.len() as f64).collect())
///     }
/// }
/// cleanhit::run(cleanhit::Registry::default().scorer("longest", |params: Longest| Ok(params)));
/// ```
#[derive(Default)]
pub struct Registry {
    scorers: BTreeMap<&'static str, BuildScorer>,
    embedders: BTreeMap<&'static str, BuildEmbedder>,
    retrievers: BTreeMap<&'static str, BuildRetriever>,
}

impl Registry {
    /// Adds a scorer. `P` is its table in a method card, less `kind`.
    #[must_use]
    pub fn scorer<P, S>(
        mut self,
        kind: &'static str,
        build: fn(P) -> Result<S, BoxError>,
    ) -> Registry
    where
        P: DeserializeOwned + 'static,
        S: Scorer + 'static,
    {
        let build: BuildScorer = Box::new(move |params| Ok(Box::new(build(params.try_into()?)?)));
        self.scorers.insert(kind, build);
        self
    }

    /// Adds an embedder, by whose vectors' cosine a method of this kind ranks. `P` is its table in
    /// a method card, less `kind`.
    #[must_use]
    pub fn embedder<P, M>(
        mut self,
        kind: &'static str,
        build: fn(P) -> Result<M, BoxError>,
    ) -> Registry
    where
        P: DeserializeOwned + 'static,
        M: EmbeddingModel + 'static,
    {
        let build: BuildEmbedder = Box::new(move |params| Ok(Box::new(build(params.try_into()?)?)));
        self.embedders.insert(kind, build);
        self
    }

    /// Adds a retriever, which indexes a corpus. `P` is its table in a method card, less `kind`.
    #[must_use]
    pub fn retriever<P, R>(
        mut self,
        kind: &'static str,
        build: fn(&Arc<Corpus>, P) -> Result<R, BoxError>,
    ) -> Registry
    where
        P: DeserializeOwned + 'static,
        R: Retriever + 'static,
    {
        let build: BuildRetriever =
            Box::new(move |corpus, params| Ok(Box::new(build(corpus, params.try_into()?)?)));
        self.retrievers.insert(kind, build);
        self
    }

    /// The scorer `kind`, if there is one.
    pub(crate) fn build_scorer(
        &self,
        kind: &str,
        params: &toml::Table,
    ) -> Option<Result<Box<dyn Scorer>, BoxError>> {
        self.scorers.get(kind).map(|build| build(params.clone()))
    }

    /// The embedder `kind`, if there is one.
    pub(crate) fn build_embedder(
        &self,
        kind: &str,
        params: &toml::Table,
    ) -> Option<Result<Box<dyn EmbeddingModel>, BoxError>> {
        self.embedders.get(kind).map(|build| build(params.clone()))
    }

    /// The retriever `kind`, if there is one.
    pub(crate) fn build_retriever(
        &self,
        kind: &str,
        corpus: &Arc<Corpus>,
        params: &toml::Table,
    ) -> Option<Result<Box<dyn Retriever>, BoxError>> {
        self.retrievers.get(kind).map(|build| build(corpus, params.clone()))
    }

    /// Every registered kind.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.scorers.keys().chain(self.embedders.keys()).chain(self.retrievers.keys()).copied()
    }
}
