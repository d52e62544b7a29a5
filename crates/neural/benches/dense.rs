//! Exact top K by vectors, timed; `bench/dense.py` runs it beside faiss.
//!
//! `dense DOCUMENTS.f32 QUERIES.f32 DIM K THREADS ROUNDS OUT.u32`: ranks all documents for all
//! queries, ROUNDS times, writes the K positions of each query and prints one line of JSON.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a script's helper, not a library")]

use std::time::Instant;

use cleanhit_core::{
    Candidate, Depth, Embeddings, Pool, Products as _, Query, TieKeys, TieRule, rank_rows,
};
use cleanhit_neural::Blocked;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [documents, queries, dim, k, threads, rounds, out] = &args[..] else {
        // Run by `cargo test`, which passes nothing.
        return;
    };
    let dim = dim.parse().unwrap();
    let (documents, queries) = (read(documents, dim), read(queries, dim));
    let depth = Depth::of_len(k.parse().unwrap());
    // Ties need ids. Positions follow their hashes, so that the script can't read them from names.
    let ids = (0..documents.len()).map(|i| Candidate {
        id: format!("{i}").as_str().into(),
        text: String::new(),
        name: None,
    });
    let pool = Pool::new("bench", ids.collect()).unwrap();
    let keys: Vec<TieKeys> = (0..queries.len())
        .map(|i| {
            let query = Query { id: format!("q{i}").as_str().into(), text: String::new() };
            TieKeys::new(TieRule::Hash, &query.id, &pool)
        })
        .collect();
    let keys: Vec<&TieKeys> = keys.iter().collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse().unwrap());
    let blocked = Blocked::new(&documents);
    pool.build().unwrap().install(|| {
        let (mut seconds, mut products_alone) = (Vec::new(), Vec::new());
        let mut ranked = Vec::new();
        for _ in 0..=rounds.parse::<usize>().unwrap() {
            let start = Instant::now();
            let products = blocked.products(&queries);
            products_alone.push(start.elapsed().as_secs_f64());
            ranked = rank_rows(&products, &keys, depth).unwrap();
            seconds.push(start.elapsed().as_secs_f64());
        }
        let places = ranked.iter().flat_map(|ranking| ranking.hits());
        let bytes = places.flat_map(|hit| u32::try_from(hit.doc.as_usize()).unwrap().to_le_bytes());
        std::fs::write(out, bytes.collect::<Vec<u8>>()).unwrap();
        // The first round warms up.
        let result =
            serde_json::json!({ "seconds": seconds[1..], "products": products_alone[1..] });
        println!("{result}");
    });
}

fn read(path: &str, dim: usize) -> Embeddings {
    let bytes = std::fs::read(path).unwrap();
    let values = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
    Embeddings::new(dim, values.collect()).unwrap()
}
