//! The built-in kinds: a card's table to a thing that ranks.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{
    BoxError, ByLength, Constant, Depth, Exhaustive, Fused, Fusion, IdOrder, Normalize, Pool,
    QueryText, Random, Retriever, RoundRobin, Rrf, Weighted,
};
use cleanhit_eval::Sanity;
use cleanhit_lexical::{
    Analyser, Bm25Exact, Bm25Params, Bm25Tantivy, EmptyDocuments, Features, Idf, IndexStats, Norms,
    QueryTerms, TantivyParams, Tfidf, TfidfParams, Weighting,
};
use serde::{Deserialize, de::DeserializeOwned};

use super::{Card, Notes, Stage, language, neural, neural::BuiltScorer, notes::Running};
use crate::Registry;

/// A retriever over one pool, and what building it counted.
pub(crate) struct Built {
    pub(crate) retriever: Box<dyn Retriever>,
    pub(crate) notes: Notes,
    /// How many of a query's terms the pool holds, where the method has terms.
    pub(crate) terms_in_pool: Option<TermsInPool>,
    /// What is counted once the pool's queries are known.
    pub(crate) on_queries: Vec<OnQueries>,
}

type TermsInPool = Box<dyn Fn(QueryText<'_>) -> usize>;
pub(super) type OnQueries = Box<dyn Fn(&[&str], &mut Notes) -> Result<(), BoxError>>;

/// Every kind a `[retrieve]` table can name.
const KINDS: [&str; 14] = [
    "bm25",
    "bm25_exact",
    "tfidf_word",
    "tfidf_char",
    "tfidf_sr",
    "rrf",
    "round_robin",
    "weighted",
    "constant",
    "random",
    "id_order",
    "length",
    "oracle",
    "anti_oracle",
];

/// Kinds of sanity methods: shown in every table, never ranked.
const SANITY: [&str; 6] = ["constant", "random", "id_order", "length", "oracle", "anti_oracle"];

/// The largest weight of a fusion part.
const MOST_WEIGHT: f64 = 1e6;

pub(crate) fn is_sanity(kind: &str) -> bool {
    SANITY.contains(&kind)
}

/// The sanity methods that are made of labels.
pub(crate) fn made_of_labels(kind: &str) -> Option<Sanity> {
    kind.parse().ok()
}

/// Every kind, for an error.
pub(crate) fn known(registry: &Registry) -> String {
    let scorers = neural::SCORERS.into_iter().chain(language::SCORERS);
    let built_in = KINDS.into_iter().chain(neural::KINDS).chain(scorers);
    let kinds: Vec<&str> = built_in.chain(registry.kinds()).collect();
    format!("known: {}", kinds.join(", "))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bm25Table {
    k1: f64,
    b: f64,
    idf: IdfName,
    norms: NormsName,
    query_terms: QueryTermsName,
    analyser: String,
    empty_documents: EmptyName,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum IdfName {
    Lucene,
    Robertson,
    Atire,
    Okapi,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum NormsName {
    Exact,
    LuceneByte,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum QueryTermsName {
    Count,
    Binary,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EmptyName {
    Counted,
    Excluded,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordTable {
    longest: usize,
    analyser: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CharTable {
    shortest: usize,
    longest: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyserTable {
    analyser: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RrfTable {
    parts: Vec<String>,
    c: f64,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartsTable {
    parts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightedTable {
    parts: Vec<String>,
    normalize: NormalizeName,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum NormalizeName {
    MinMax,
    ZScore,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RandomTable {
    seed: u64,
}

/// Builds a card's first stage over a pool.
pub(crate) fn build_retriever(
    stage: &Stage,
    pool: &Pool,
    registry: &Registry,
) -> anyhow::Result<Built> {
    let corpus = pool.corpus();
    let Stage { kind, params } = stage;
    let plain = |retriever: Box<dyn Retriever>| Built {
        retriever,
        notes: Notes::of(pool),
        terms_in_pool: None,
        on_queries: Vec::new(),
    };
    if let Some(built) = neural::build(stage, pool)? {
        return Ok(built);
    }
    Ok(match kind.as_str() {
        "bm25" => {
            table::<Empty>(stage)?;
            let index = Bm25Tantivy::new(corpus, TantivyParams::default())?;
            counted(pool, index.stats(), index, |index, query| {
                // An index in memory that could be built can be read.
                index.query_terms_in_pool(query).unwrap_or(0)
            })
        }
        "bm25_exact" => {
            let index = Bm25Exact::new(corpus, bm25(table(stage)?)?)?;
            counted(pool, index.stats(), index, Bm25Exact::query_terms_in_pool)
        }
        "tfidf_word" | "tfidf_char" | "tfidf_sr" => {
            let index = Tfidf::new(corpus, tfidf(stage)?)?;
            counted(pool, index.stats(), index, Tfidf::query_terms_in_pool)
        }
        "rrf" => {
            let RrfTable { parts, c, weights } = table(stage)?;
            if !(0.0 <= c && c.is_finite()) {
                bail!("field `retrieve.c`: {c}; expected a number from 0");
            }
            check_weights(&weights, parts.len())?;
            fused(&parts, Box::new(Rrf { c, weights }), pool, registry)?
        }
        "round_robin" => {
            let PartsTable { parts } = table(stage)?;
            fused(&parts, Box::new(RoundRobin), pool, registry)?
        }
        "weighted" => {
            let WeightedTable { parts, normalize, weights } = table(stage)?;
            check_weights(&weights, parts.len())?;
            let normalize = match normalize {
                NormalizeName::MinMax => Normalize::MinMax,
                NormalizeName::ZScore => Normalize::ZScore,
                NormalizeName::None => Normalize::None,
            };
            fused(&parts, Box::new(Weighted { normalize, weights }), pool, registry)?
        }
        "constant" => {
            table::<Empty>(stage)?;
            plain(Box::new(Exhaustive { corpus: Arc::clone(corpus), scorer: Constant }))
        }
        "length" => {
            table::<Empty>(stage)?;
            plain(Box::new(Exhaustive { corpus: Arc::clone(corpus), scorer: ByLength }))
        }
        "random" => plain(Box::new(Random::new(table::<RandomTable>(stage)?.seed, corpus))),
        "id_order" => {
            table::<Empty>(stage)?;
            plain(Box::new(IdOrder::new(pool)))
        }
        _ => {
            if let Some(scorer) = registry.build_scorer(kind, params) {
                let scorer = scorer.map_err(|err| bad_table(kind, &err))?;
                return Ok(plain(Box::new(Exhaustive { corpus: Arc::clone(corpus), scorer })));
            }
            if let Some(model) = registry.build_embedder(kind, params) {
                let model = model.map_err(|err| bad_table(kind, &err))?;
                return neural::over_plug_in(model, pool);
            }
            match registry.build_retriever(kind, corpus, params) {
                Some(retriever) => plain(retriever.map_err(|err| bad_table(kind, &err))?),
                None => bail!("unknown kind `{kind}`; {}", known(registry)),
            }
        }
    })
}

impl Built {
    pub(super) fn neural(
        retriever: Box<dyn Retriever>,
        notes: Notes,
        on_queries: Vec<OnQueries>,
    ) -> Built {
        Built { retriever, notes, terms_in_pool: None, on_queries }
    }
}

/// Builds a reranker's scorer.
pub(super) fn build_scorer(stage: &Stage, registry: &Registry) -> anyhow::Result<BuiltScorer> {
    if let Some(built) = neural::build_scorer(stage)? {
        return Ok(built);
    }
    let Stage { kind, params } = stage;
    let scorer = registry.build_scorer(kind, params);
    let scorer = scorer.ok_or_else(|| anyhow!("unknown scorer `{kind}`; {}", known(registry)))?;
    let scorer = scorer.map_err(|err| anyhow!("scorer `{kind}`: {err}"))?;
    Ok(BuiltScorer { scorer, models: BTreeMap::new(), running: Running::default() })
}

/// Reads a stage's parameters.
pub(crate) fn table<T: DeserializeOwned>(stage: &Stage) -> anyhow::Result<T> {
    stage.params.clone().try_into().map_err(|err: toml::de::Error| bad_table(&stage.kind, &err))
}

fn bad_table(kind: &str, err: &impl std::fmt::Display) -> anyhow::Error {
    let message = err.to_string();
    let message: Vec<&str> = message.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    anyhow!("the `{kind}` table: {}", message.join(" "))
}

fn counted<R: Retriever + 'static>(
    pool: &Pool,
    stats: IndexStats,
    index: R,
    terms_in_pool: fn(&R, QueryText<'_>) -> usize,
) -> Built {
    let mut notes = Notes::of(pool);
    notes.empty_candidates = Some(stats.empty_documents);
    notes.vocabulary = Some(stats.vocabulary);
    notes.tokens_dropped = Some(stats.dropped_tokens);
    let index = Arc::new(index);
    let asked = Arc::clone(&index);
    let terms_in_pool: TermsInPool = Box::new(move |query| terms_in_pool(&asked, query));
    let (terms_in_pool, on_queries) = (Some(terms_in_pool), Vec::new());
    Built { retriever: Box::new(index), notes, terms_in_pool, on_queries }
}

fn bm25(table: Bm25Table) -> anyhow::Result<Bm25Params> {
    Ok(Bm25Params {
        k1: table.k1,
        b: table.b,
        idf: match table.idf {
            IdfName::Lucene => Idf::Lucene,
            IdfName::Robertson => Idf::Robertson,
            IdfName::Atire => Idf::Atire,
            IdfName::Okapi => Idf::Okapi,
        },
        norms: match table.norms {
            NormsName::Exact => Norms::Exact,
            NormsName::LuceneByte => Norms::LuceneByte,
        },
        query_terms: match table.query_terms {
            QueryTermsName::Count => QueryTerms::Count,
            QueryTermsName::Binary => QueryTerms::Binary,
        },
        analyser: analyser(&table.analyser)?,
        empty_documents: match table.empty_documents {
            EmptyName::Counted => EmptyDocuments::Counted,
            EmptyName::Excluded => EmptyDocuments::Excluded,
        },
    })
}

fn tfidf(stage: &Stage) -> anyhow::Result<TfidfParams> {
    Ok(match stage.kind.as_str() {
        "tfidf_sr" => {
            let AnalyserTable { analyser: name } = table(stage)?;
            let features = Features::Words { analyser: analyser(&name)?, longest: 1 };
            TfidfParams { features, weighting: Weighting::Relative }
        }
        "tfidf_char" => {
            let CharTable { shortest, longest } = table(stage)?;
            let features = Features::Characters { shortest, longest };
            TfidfParams { features, weighting: Weighting::Sublinear }
        }
        _ => {
            let WordTable { longest, analyser: name } = table(stage)?;
            let features = Features::Words { analyser: analyser(&name)?, longest };
            TfidfParams { features, weighting: Weighting::Sublinear }
        }
    })
}

pub(super) fn analyser(name: &str) -> anyhow::Result<Analyser> {
    name.parse().map_err(|err| anyhow!("field `retrieve.analyser`: {err}"))
}

fn check_weights(weights: &[f64], parts: usize) -> anyhow::Result<()> {
    if weights.len() != parts {
        bail!(
            "field `retrieve.weights`: {} weights; expected {parts}, one for each part",
            weights.len()
        );
    }
    // A bound that keeps every sum finite.
    match weights.iter().find(|weight| weight.is_nan() || MOST_WEIGHT < weight.abs()) {
        Some(weight) => bail!(
            "field `retrieve.weights`: {weight}; expected numbers from -{MOST_WEIGHT:e} to {MOST_WEIGHT:e}"
        ),
        None => Ok(()),
    }
}

/// Builds the parts, which are cards with a first stage only, and their fusion.
fn fused(
    parts: &[String],
    fusion: Box<dyn Fusion>,
    pool: &Pool,
    registry: &Registry,
) -> anyhow::Result<Built> {
    if parts.len() < 2 {
        bail!("field `retrieve.parts`: {} parts; expected at least two cards", parts.len());
    }
    let mut built = Vec::new();
    let (mut terms, mut on_queries) = (Vec::new(), Vec::new());
    let mut notes = Notes::of(pool);
    for name in parts {
        let card = Card::find(name).with_context(|| "field `retrieve.parts`".to_owned())?;
        let source = card.source.clone();
        let stage = match card {
            Card { retrieve: Some(stage), rerank: None, select: None, .. } => stage,
            _ => bail!("field `retrieve.parts`: `{name}` is not a first stage alone"),
        };
        if is_sanity(&stage.kind) || stage.params.contains_key("parts") {
            bail!(
                "field `retrieve.parts`: `{name}`; expected a method that is not itself a fusion or a sanity method"
            );
        }
        let part = build_retriever(&stage, pool, registry)
            .map_err(|error| source.at("retrieve", error))
            .with_context(|| format!("part `{name}`"))?;
        notes.absorb(&part.notes);
        built.push(part.retriever);
        terms.extend(part.terms_in_pool);
        on_queries.extend(part.on_queries);
    }
    let part_depth = Depth::of_len(pool.len());
    let retriever = Box::new(Fused { parts: built, fusion, part_depth });
    let all_have_terms = terms.len() == parts.len();
    let any: TermsInPool = Box::new(move |query| terms.iter().map(|terms| terms(query)).sum());
    Ok(Built { retriever, notes, terms_in_pool: all_have_terms.then_some(any), on_queries })
}
