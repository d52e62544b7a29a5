//! The scores of scikit-learn and bm25s, on texts with accents, scripts, repeats and nothing.
//!
//! `tests/golden/make.py` made the file.

use cleanhit_core::{Corpus, Pool, QueryText};
use cleanhit_lexical::{Analyser, Bm25Exact, Bm25Params, Features, Idf, Tfidf, TfidfParams};
use serde_json::Value;

use crate::data::{close, numbered};

struct Peers(Value);

impl Peers {
    fn read() -> Peers {
        Peers(serde_json::from_str(include_str!("../golden/peers.json")).unwrap())
    }

    fn strings(&self, name: &str) -> Vec<&str> {
        self.0[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }

    fn pool(&self) -> Pool {
        numbered(&self.strings("texts"))
    }

    /// Checks every query's scores, in the order of the file.
    fn check<I>(
        &self,
        name: &str,
        tolerance: f64,
        index: impl Fn(&Corpus) -> I,
        scores: impl Fn(&I, QueryText<'_>) -> Vec<f64>,
    ) {
        let pool = self.pool();
        let index = index(pool.corpus());
        let expected = self.0[name].as_array().unwrap();
        for (query, row) in self.strings("queries").into_iter().zip(expected) {
            let scores = scores(&index, QueryText::new(query));
            for (i, expected) in row.as_array().unwrap().iter().enumerate() {
                let doc = pool.position(&format!("c{i:04}")).unwrap();
                let (got, expected) = (scores[doc.as_usize()], expected.as_f64().unwrap());
                assert!(
                    close(got, expected, tolerance),
                    "{name}: `{query}`, text {i}: {got}, expected {expected}"
                );
            }
        }
    }
}

#[test]
fn tfidf_is_scikit_learns() {
    let peers = Peers::read();
    let words = TfidfParams::words();
    let single = Features::Words { analyser: Analyser::Word, longest: 1 };
    for (name, params) in [
        ("tfidf_words", words),
        ("tfidf_single_words", TfidfParams { features: single, ..words }),
        ("tfidf_characters", TfidfParams::characters()),
        ("tfidf_sr_agents", TfidfParams::sr_agents()),
    ] {
        peers.check(name, 1e-12, |corpus| Tfidf::new(corpus, params).unwrap(), Tfidf::scores);
    }
}

#[test]
fn bm25_is_bm25s() {
    let peers = Peers::read();
    let ascii = Bm25Params { analyser: Analyser::Ascii, ..Bm25Params::default() };
    let of = |k1, b, idf| Bm25Params { k1, b, idf, ..ascii.clone() };
    for (name, params) in [
        ("bm25s_lucene", ascii.clone()),
        ("bm25s_lucene_flat", of(0.9, 0.4, Idf::Lucene)),
        ("bm25s_robertson", of(1.5, 0.75, Idf::Robertson)),
        ("bm25s_atire", of(1.2, 0.75, Idf::Atire)),
        ("bm25_sr_agents", Bm25Params::sr_agents()),
    ] {
        let index = |corpus: &Corpus| Bm25Exact::new(corpus, params.clone()).unwrap();
        peers.check(name, 1e-9, index, Bm25Exact::scores);
    }
}
