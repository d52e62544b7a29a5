//! A plug-in scorer over cached vectors: a candidate is as good as its best paragraph. Its card is
//! `examples/best_paragraph.toml`.
use std::{process::ExitCode, sync::Arc};

use cleanhit_core::{BoxError, EmbeddingModel, QueryText, Role, Scorer, in_order};

#[derive(serde::Deserialize)]
struct Table {
    encoder: String,
}

struct BestParagraph(Arc<dyn EmbeddingModel>);

impl Scorer for BestParagraph {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let query = self.0.embed(Role::Query, &[query.as_str()])?;
        let paragraphs: Vec<Vec<&str>> = texts.iter().map(|t| t.split("\n\n").collect()).collect();
        // The vectors are computed for the first query and read from the cache for the others.
        let vectors = self.0.embed(Role::Document, &paragraphs.concat())?;
        let mut start = 0;
        let best = paragraphs.iter().map(|part| {
            let rows = start..start + part.len();
            start = rows.end;
            let cosines = rows.map(|i| f64::from(in_order(query.row(0), vectors.row(i))));
            cosines.fold(f64::MIN, f64::max)
        });
        Ok(best.collect())
    }
}

fn main() -> ExitCode {
    cleanhit::run(cleanhit::Registry::default().scorer("best_paragraph", |table: Table| {
        Ok(BestParagraph(cleanhit::embedder(&table.encoder)?))
    }))
}
