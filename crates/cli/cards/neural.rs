//! The neural kinds: a card's table to a thing that ranks by vectors, or scores pairs.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::anyhow;
use cleanhit_core::{
    Corpus, Dense, EmbeddingModel, Embeddings, Pool, Resolver, Role, Scope, Scorer, Similarity,
    TextCluster, embed_checked,
};
use cleanhit_neural::{
    Blocked, CrossEncoder, CrossSpec, EmbeddingClusters, HnswIndex, HnswParams, Prepared,
    SkillSight, SkillSightParams, TextSpec,
};
use serde::Deserialize;

use super::{
    Card, Notes, Stage,
    kinds::{Built, OnQueries, table},
    language,
    notes::{CalibrationNote, GraphNote, Running, Truncated},
    pairs::{Counted, PairCounts},
};
use crate::neural::{DenseTable, Encoder, ModelNote, ModelTable, shared};

/// Kinds that a `[retrieve]` table can name.
pub(super) const KINDS: [&str; 3] = ["dense", "hnsw", "skillsight"];

/// Kinds that a reranker's scorer can have.
pub(super) const SCORERS: [&str; 1] = ["cross_encoder"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HnswTable {
    encoder: String,
    neighbours: usize,
    build_width: usize,
    search_width: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillSightTable {
    encoder: String,
    beta: f64,
    top: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossTable {
    model: ModelTable,
    encoder: CrossSpec,
    text: TextSpec,
}

/// A reranker's scorer, and what a receipt says of it.
pub(crate) struct BuiltScorer {
    pub(crate) scorer: Box<dyn Scorer>,
    pub(crate) models: BTreeMap<String, ModelNote>,
    /// Counts, while it scores.
    pub(crate) running: Running,
}

/// How deep a graph's answers are compared with the exact ones.
const RECALL_AT: usize = 20;

/// Weights that a card names, and how to open them.
pub(crate) struct WeightsOf {
    pub(crate) model: ModelTable,
    stage: Stage,
}

/// A model that could be opened.
pub(crate) struct Opened {
    pub(crate) digest: String,
    /// Golden texts compared.
    pub(crate) golden: usize,
    /// How they differ from the reference; empty if they don't.
    pub(crate) differences: Vec<String>,
}

/// The weights that a card names: of its first stage, and of its reranker.
pub(crate) fn weights_of(card: &Card) -> anyhow::Result<Vec<WeightsOf>> {
    let mut found = Vec::new();
    let scorer = card.rerank.as_ref().map(|rerank| rerank.stage()).transpose()?;
    for stage in card.retrieve.iter().chain(scorer).chain(&card.select) {
        let parts = stage.params.get("parts").and_then(toml::Value::as_array);
        for part in parts.into_iter().flatten().filter_map(toml::Value::as_str) {
            found.extend(weights_of(&Card::find(part)?)?);
        }
        let named = stage.params.get("encoder").and_then(toml::Value::as_str);
        let model = match (stage.kind.as_str(), named) {
            ("dense", _) => Some(table::<DenseTable>(stage)?.model),
            ("cross_encoder", _) => Some(table::<CrossTable>(stage)?.model),
            ("hnsw" | "skillsight" | "embedding_cluster", Some(name)) => {
                found.extend(weights_of(&Card::find(name)?)?);
                None
            }
            _ => language::model_of(stage)?,
        };
        found.extend(model.map(|model| WeightsOf { model, stage: stage.clone() }));
    }
    Ok(found)
}

impl WeightsOf {
    /// Opens the model, and computes the card's golden texts.
    pub(crate) fn open(&self) -> anyhow::Result<Opened> {
        if self.stage.kind == "dense" {
            let dense = table::<DenseTable>(&self.stage)?;
            let golden = dense.golden.clone();
            let encoder = shared().encoder_of(dense)?;
            let differences = encoder.differences(&golden).map_err(|err| anyhow!("{err}"))?;
            let digest = encoder.note.digest.clone();
            return Ok(Opened { digest, golden: golden.len(), differences });
        }
        let models = match (build_scorer(&self.stage)?, language::reranker(&self.stage)?) {
            (Some(built), _) => built.models,
            (None, built) => built.map(|built| built.models).unwrap_or_default(),
        };
        let digest = models.into_values().next().map(|note| note.digest);
        Ok(Opened { digest: digest.unwrap_or_default(), golden: 0, differences: Vec::new() })
    }
}

/// Builds a neural first stage over a pool. None if the kind is another.
pub(super) fn build(stage: &Stage, pool: &Pool) -> anyhow::Result<Option<Built>> {
    let corpus = pool.corpus();
    let built = match stage.kind.as_str() {
        "dense" => {
            let encoder = shared().encoder_of(table::<DenseTable>(stage)?)?;
            let documents = documents(&encoder, corpus)?;
            let notes = notes(&encoder, pool, &documents)?;
            let products = Box::new(Blocked::new(&documents));
            let dense = Dense::over(Arc::clone(&encoder.model), products, encoder.similarity)?;
            Built::neural(Box::new(dense), notes, vec![count_queries(encoder)])
        }
        "hnsw" => {
            let HnswTable { encoder, neighbours, build_width, search_width } = table(stage)?;
            let params = HnswParams { neighbours, build_width, search_width };
            params.check()?;
            let encoder = shared().encoder(&encoder)?;
            let documents = documents(&encoder, corpus)?;
            let notes = notes(&encoder, pool, &documents)?;
            let index = HnswIndex::new(Arc::clone(&encoder.model), documents, params)?;
            let index = Arc::new(index);
            let measured = Arc::clone(&index);
            let recall: OnQueries = Box::new(move |queries, notes| {
                let recall = measured.recall(queries, RECALL_AT)?;
                notes.graph = Some(GraphNote { at: RECALL_AT, found: recall.found, of: recall.of });
                Ok(())
            });
            Built::neural(Box::new(index), notes, vec![count_queries(encoder), recall])
        }
        "skillsight" => {
            let SkillSightTable { encoder, beta, top } = table(stage)?;
            let params = SkillSightParams { beta, top };
            params.check()?;
            let encoder = shared().encoder(&encoder)?;
            let documents = documents(&encoder, corpus)?;
            let mut notes = notes(&encoder, pool, &documents)?;
            let method = SkillSight::new(Arc::clone(&encoder.model), corpus, documents, params)?;
            // Its words are those of the whole text.
            notes.alike.clear();
            notes.calibration = Some(CalibrationNote {
                generic_words: method.generic_words(),
                directions: method.rank(),
            });
            Built::neural(Box::new(method), notes, vec![count_queries(encoder)])
        }
        _ => return Ok(None),
    };
    Ok(Some(built))
}

/// Ranks a pool by the vectors of a plug-in's model, which nothing caches.
pub(super) fn over_plug_in(model: Box<dyn EmbeddingModel>, pool: &Pool) -> anyhow::Result<Built> {
    let texts = pool.corpus().texts();
    let documents =
        embed_checked(&*model, Role::Document, &texts).map_err(|err| anyhow!("{err}"))?;
    let documents = Blocked::new(&Similarity::Cosine.prepare(documents));
    let dense = Dense::over(model, Box::new(documents), Similarity::Cosine)?;
    Ok(Built::neural(Box::new(dense), Notes::of(pool), Vec::new()))
}

/// Builds a neural scorer of pairs. None if the kind is another.
pub(super) fn build_scorer(stage: &Stage) -> anyhow::Result<Option<BuiltScorer>> {
    if stage.kind != "cross_encoder" {
        return language::scorer(stage);
    }
    let CrossTable { model, encoder, text } = table(stage)?;
    text.check()?;
    let located = shared().weights(&model)?;
    let cross = Arc::new(CrossEncoder::open(&located.folder, &encoder, shared().device())?);
    let models = BTreeMap::from([(model.folder.clone(), model.note(cross.digest()))]);
    let counts = Arc::<PairCounts>::default();
    let seen = Arc::clone(&cross);
    let counted = Counted { seen, scorer: cross, counts: Arc::clone(&counts) };
    let scorer = Box::new(Prepared { model: counted, text });
    Ok(Some(BuiltScorer { scorer, models, running: Running::Pairs(model.folder, counts) }))
}

/// Families from an encoder's vectors.
pub(super) fn clusters(
    encoder: &str,
    threshold: f64,
    scope: Scope,
    corpus: &Corpus,
) -> anyhow::Result<Box<dyn Resolver<TextCluster>>> {
    let encoder = shared().encoder(encoder)?;
    let documents = documents(&encoder, corpus)?;
    Ok(Box::new(EmbeddingClusters::new(corpus, documents, threshold, scope)?))
}

fn documents(encoder: &Encoder, corpus: &Corpus) -> anyhow::Result<Embeddings> {
    encoder.documents(&corpus.texts()).map_err(|err| anyhow!("{err}"))
}

/// What the receipt says of an encoder over a pool.
fn notes(encoder: &Encoder, pool: &Pool, documents: &Embeddings) -> anyhow::Result<Notes> {
    let texts = pool.corpus().texts();
    let seen = encoder.seen(Role::Document, &texts).map_err(|err| anyhow!("{err}"))?;
    let mut notes = Notes::of(pool);
    notes.models.insert(encoder.name.clone(), encoder.note.clone());
    notes.truncation.push(Truncated {
        model: encoder.name.clone(),
        documents: Some(seen.into()),
        queries: None,
        pairs: None,
    });
    notes.alike = alike(pool, documents);
    Ok(notes)
}

/// Candidates with different texts and the same vector: no query can tell them apart. Groups of
/// ids, sorted.
fn alike(pool: &Pool, documents: &Embeddings) -> Vec<Vec<String>> {
    let docs: Vec<_> = pool.corpus().docs().collect();
    let bits = |i: usize| documents.row(i).iter().map(|value| value.to_bits());
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by(|&a, &b| bits(a).cmp(bits(b)));
    let mut found: Vec<Vec<String>> = order
        .chunk_by(|&a, &b| bits(a).eq(bits(b)))
        .filter(|group| {
            let text = |i: usize| pool.corpus().text(docs[i]);
            group.iter().any(|&i| text(i) != text(group[0]))
        })
        .map(|group| {
            let mut ids: Vec<String> =
                group.iter().map(|&i| pool.id(docs[i]).as_str().to_owned()).collect();
            ids.sort_unstable();
            ids
        })
        .collect();
    found.sort_unstable();
    found
}

fn count_queries(encoder: Arc<Encoder>) -> OnQueries {
    Box::new(move |queries, notes| {
        let seen = encoder.seen(Role::Query, queries)?;
        for truncated in notes.truncation.iter_mut().filter(|t| t.model == encoder.name) {
            truncated.queries = Some(seen.into());
        }
        Ok(())
    })
}
