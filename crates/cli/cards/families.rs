//! The selectors' kinds: a card's table to a resolver of families.

use anyhow::bail;
use cleanhit_core::{Corpus, Resolver as Families, Scope, TextCluster};
use cleanhit_lexical::{ClusterParams, TextClusters};
use serde::Deserialize;

use super::{
    Stage,
    kinds::{Empty, analyser, table},
    neural,
};

/// A family resolver, built for each pool.
pub(crate) enum Resolver {
    Title,
    TextCluster(Clusters),
    Released,
}

/// Clusters of like candidates, among the query's active ones or in the whole pool.
pub(crate) struct Clusters {
    by: Likeness,
    scope: Scope,
}

/// What makes two candidates alike.
enum Likeness {
    Words(ClusterParams),
    Vectors { encoder: String, threshold: f64 },
}

/// Every kind a `[select]` table can name.
const RESOLVERS: [&str; 4] = ["title", "text_cluster", "embedding_cluster", "released"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterTable {
    scope: ScopeName,
    top: Option<usize>,
    threshold: f64,
    analyser: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VectorClusterTable {
    encoder: String,
    scope: ScopeName,
    top: Option<usize>,
    threshold: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScopeName {
    Active,
    Pool,
}

/// Reads a card's selector.
pub(crate) fn build_resolver(stage: &Stage) -> anyhow::Result<Resolver> {
    match stage.kind.as_str() {
        "title" => {
            table::<Empty>(stage)?;
            Ok(Resolver::Title)
        }
        "released" => {
            table::<Empty>(stage)?;
            Ok(Resolver::Released)
        }
        "text_cluster" => {
            let ClusterTable { scope, top, threshold, analyser: name } = table(stage)?;
            let params = ClusterParams { analyser: analyser(&name)?, threshold };
            let scope = clustered(scope, top)?;
            Ok(Resolver::TextCluster(Clusters { by: Likeness::Words(params), scope }))
        }
        "embedding_cluster" => {
            let VectorClusterTable { encoder, scope, top, threshold } = table(stage)?;
            let (by, scope) = (Likeness::Vectors { encoder, threshold }, clustered(scope, top)?);
            Ok(Resolver::TextCluster(Clusters { by, scope }))
        }
        kind => bail!("unknown selector kind `{kind}`; known: {}", RESOLVERS.join(", ")),
    }
}

fn clustered(scope: ScopeName, top: Option<usize>) -> anyhow::Result<Scope> {
    match (scope, top) {
        (ScopeName::Active, Some(0)) => bail!("field `select.top`: 0; expected at least 1"),
        (ScopeName::Active, Some(top)) => Ok(Scope::Active { top }),
        (ScopeName::Pool, None) => Ok(Scope::Pool),
        (ScopeName::Active, None) => {
            bail!("field `select.top` is missing; expected how many candidates are active")
        }
        (ScopeName::Pool, Some(_)) => {
            bail!("field `select.top`: expected none with scope `pool`")
        }
    }
}

impl Clusters {
    pub(crate) fn build(&self, corpus: &Corpus) -> anyhow::Result<Box<dyn Families<TextCluster>>> {
        match &self.by {
            Likeness::Words(params) => Ok(Box::new(TextClusters::new(corpus, params, self.scope)?)),
            Likeness::Vectors { encoder, threshold } => {
                neural::clusters(encoder, *threshold, self.scope, corpus)
            }
        }
    }
}
