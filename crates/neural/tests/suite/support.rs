//! Golden files, and comparing vectors.

use std::path::{Path, PathBuf};

use cleanhit_core::{EmbeddingModel, Embeddings, Role};
use cleanhit_neural::{Device, Embedder, EmbedderSpec};
use serde::de::DeserializeOwned;

/// Where `bench/golden_neural.py` writes.
pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A JSON file beside the golden models.
pub(crate) fn json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&std::fs::read(golden(name)).unwrap()).unwrap()
}

/// The texts: all, and those that the tiny models see.
#[derive(serde::Deserialize)]
pub(crate) struct Texts {
    pub(crate) all: Vec<String>,
    pub(crate) some: Vec<String>,
}

pub(crate) fn texts() -> Texts {
    json("texts.json")
}

pub(crate) fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

pub(crate) fn open(name: &str, spec: &EmbedderSpec) -> Embedder {
    Embedder::open(&golden(name), spec, &Device::cpu()).unwrap()
}

pub(crate) fn embed(model: &Embedder, role: Role, texts: &[String]) -> Embeddings {
    model.embed(role, &refs(texts)).unwrap()
}

/// The largest difference of two values, and the smallest cosine of two rows.
pub(crate) fn compare<'a>(
    got: &Embeddings,
    wanted: impl ExactSizeIterator<Item = &'a [f32]>,
) -> (f64, f64) {
    assert_eq!(got.len(), wanted.len());
    let (mut difference, mut cosine) = (0.0f64, 1.0f64);
    for (i, wanted) in wanted.enumerate() {
        let got = got.row(i);
        assert_eq!(got.len(), wanted.len());
        let (mut product, mut a, mut b) = (0.0, 0.0, 0.0);
        for (&x, &y) in got.iter().zip(wanted) {
            let (x, y) = (f64::from(x), f64::from(y));
            difference = difference.max((x - y).abs());
            (product, a, b) = (product + x * y, a + x * x, b + y * y);
        }
        // Two zero vectors are the same.
        cosine = cosine.min(if a + b == 0.0 { 1.0 } else { product / (a * b).sqrt() });
    }
    (difference, cosine)
}

/// The bounds that every architecture keeps to.
pub(crate) fn close<'a>(
    what: &str,
    got: &Embeddings,
    wanted: impl ExactSizeIterator<Item = &'a [f32]>,
) {
    let (difference, cosine) = compare(got, wanted);
    println!("{what}: largest difference {difference:.1e}, 1 - cosine {:.1e}", 1.0 - cosine);
    assert!(difference <= 1e-4, "{what}: a value differs by {difference}");
    assert!(0.99999 <= cosine, "{what}: a cosine is {cosine}");
}
