//! A complete plug-in: every `cleanhit` command, and one scorer more.
use std::{collections::HashSet, process::ExitCode};

use cleanhit_core::{BoxError, QueryText, Scorer};

#[derive(serde::Deserialize)]
struct Overlap {
    min_len: usize,
}
impl Scorer for Overlap {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let words = |text: &str| text.to_lowercase().split_whitespace().map(String::from).collect();
        let mut asked: HashSet<String> = words(query.as_str());
        asked.retain(|word| self.min_len <= word.len());
        Ok(texts.iter().map(|text| asked.intersection(&words(text)).count() as f64).collect())
    }
}
fn main() -> ExitCode {
    cleanhit::run(cleanhit::Registry::default().scorer("overlap", |p: Overlap| Ok(p)))
}
