//! A card's encoder: weights, texts, cache.

use std::sync::{Arc, Mutex, PoisonError};

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, Role, Similarity, embed_checked};
use cleanhit_neural::{Embedder, EmbedderSpec, Lengths, Prepared, Seen, TextSpec, cache::Cached};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use super::{ModelNote, ModelTable, Shared, cache_folder, shared};

/// The `[retrieve]` table of kind `dense`, less `kind`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DenseTable {
    similarity: SimilarityName,
    pub(crate) model: ModelTable,
    encoder: EmbedderSpec,
    text: TextSpec,
    /// What the reference gives for a few texts: `cleanhit models check` compares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) golden: Vec<Golden>,
}

/// The first values of a text's vector, as the reference computes them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Golden {
    /// `query` or `document`.
    pub(crate) role: GoldenRole,
    pub(crate) text: String,
    pub(crate) starts: Vec<f32>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GoldenRole {
    Query,
    Document,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum SimilarityName {
    Cosine,
    Dot,
}

/// An open model.
pub(crate) struct Encoder {
    pub(crate) model: Arc<dyn EmbeddingModel>,
    pub(crate) similarity: Similarity,
    /// The folder that names the model in a receipt, and what it says.
    pub(crate) name: String,
    pub(crate) note: ModelNote,
    lengths: Lengths,
    text: TextSpec,
}

/// A difference to the reference that is no rounding.
const GOLDEN: f32 = 1e-4;

/// Fewer texts are embedded before anyone wonders.
const WORTH_A_BAR: usize = 64;

impl Encoder {
    pub(super) fn open(table: DenseTable, shared: &Shared) -> anyhow::Result<Encoder> {
        let DenseTable { similarity, model, encoder, text, golden: _ } = table;
        text.check()?;
        let located = shared.weights(&model)?;
        let embedder = Arc::new(Embedder::open(&located.folder, &encoder, shared.device())?);
        let (digest, root) = (embedder.digest().to_owned(), cache_folder()?);
        let cached = Cached::new(Arc::clone(&embedder), &digest, &shared.device_kind(), &root)
            .with_progress(progress(model.folder.clone()));
        Ok(Encoder {
            model: Arc::new(Prepared { model: cached, text: text.clone() }),
            similarity: match similarity {
                SimilarityName::Cosine => Similarity::Cosine,
                SimilarityName::Dot => Similarity::Dot,
            },
            note: model.note(&digest),
            name: model.folder,
            lengths: Lengths::new(embedder, &root),
            text,
        })
    }

    /// Vectors of documents, as the similarity wants them.
    pub(crate) fn documents(&self, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let vectors = embed_checked(&*self.model, Role::Document, texts)?;
        Ok(self.similarity.prepare(vectors))
    }

    /// How much of the texts the model sees.
    pub(crate) fn seen(&self, role: Role, texts: &[&str]) -> Result<Seen, BoxError> {
        let texts = self.text.of_all(role, texts);
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        self.lengths.seen(role, &texts)
    }

    /// Where the vectors of golden texts differ from the reference's: one line each.
    pub(crate) fn differences(&self, golden: &[Golden]) -> Result<Vec<String>, BoxError> {
        let mut found = Vec::new();
        for Golden { role, text, starts } in golden {
            let role = match role {
                GoldenRole::Query => Role::Query,
                GoldenRole::Document => Role::Document,
            };
            let vector = embed_checked(&*self.model, role, &[text])?;
            let far = |(_, (a, b)): &(usize, (&f32, &f32))| GOLDEN < (**a - **b).abs();
            let mut pairs = vector.row(0).iter().zip(starts).enumerate();
            if let Some((at, (got, expected))) = pairs.find(far) {
                let text: String = text.chars().take(40).collect();
                found.push(format!(
                    "text `{text}`: value {at} is {got}; expected {expected} within {GOLDEN}"
                ));
            }
        }
        Ok(found)
    }
}

/// A progress bar over the texts of one call, where there are many.
fn progress(name: String) -> impl Fn(usize, usize) + Send + Sync + 'static {
    let bar: Mutex<Option<ProgressBar>> = Mutex::new(None);
    move |done, total| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        if done == 0 && WORTH_A_BAR <= total {
            *bar = Some(shared().ui.bar(total, &format!("embedding with {name}")));
        }
        if let Some(shown) = &*bar {
            shown.set_position(done as u64);
            if done == total {
                shown.finish_and_clear();
                *bar = None;
            }
        }
    }
}
