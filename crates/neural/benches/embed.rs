//! One embedding job, timed; `bench/embed.py` runs it beside the peers.
//!
//! `embed MODEL_DIR TEXTS.jsonl MAX_TOKENS THREADS ROUNDS OUT.f32`: embeds the texts (`{"text"}` a
//! line) as documents with a mean-pooled BERT, ROUNDS times, writes the vectors of the last and
//! prints one line of JSON: seconds and CPU seconds of each round, tokens kept.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a script's helper, not a library")]

use std::{path::Path, time::Instant};

use cleanhit_core::{EmbeddingModel, Role};
use cleanhit_neural::{
    Architecture, Device, Dtype, Embedder, EmbedderSpec, PaddingSide, Pooling, Prompts,
};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [dir, texts, max_tokens, threads, rounds, out] = &args[..] else {
        // Run by `cargo test`, which passes nothing.
        return;
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse().unwrap());
    let spec = EmbedderSpec {
        architecture: Architecture::Bert,
        pooling: Pooling::Mean,
        padding_side: PaddingSide::Right,
        max_tokens: max_tokens.parse().unwrap(),
        query_prefix: String::new(),
        document_prefix: String::new(),
        prompts: Prompts::Same,
        normalise: true,
        dtype: Dtype::F32,
    };
    let start = Instant::now();
    let model = Embedder::open(Path::new(dir), &spec, &Device::cpu()).unwrap();
    let opened = start.elapsed().as_secs_f64();
    let texts = std::fs::read_to_string(texts).unwrap();
    let texts: Vec<serde_json::Value> =
        texts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<&str> = texts.iter().map(|line| line["text"].as_str().unwrap()).collect();

    pool.build().unwrap().install(|| {
        // Warm-up: the first pages of every buffer.
        model.embed(Role::Document, &texts[..texts.len().min(8)]).unwrap();
        let start = Instant::now();
        let seen = model.truncation(Role::Document, &texts).unwrap();
        let tokenizing = start.elapsed().as_secs_f64();
        let tokens: usize = seen.iter().map(|t| t.kept).sum();
        let (mut seconds, mut cpu) = (Vec::new(), Vec::new());
        let mut vectors = None;
        for _ in 0..rounds.parse().unwrap() {
            let (start, used) = (Instant::now(), cpu_seconds());
            vectors = Some(model.embed(Role::Document, &texts).unwrap());
            seconds.push(start.elapsed().as_secs_f64());
            cpu.push(cpu_seconds() - used);
        }
        let bytes: Vec<u8> =
            vectors.iter().flat_map(|v| v.values()).flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(out, bytes).unwrap();
        let result = serde_json::json!({
            "seconds": seconds, "cpu": cpu, "tokens": tokens, "opened": opened, "tokenizing": tokenizing,
            "peak_mb": peak_mb(),
        });
        println!("{result}");
    });
}

/// User and system time of all threads; 0 where the system doesn't say.
fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    // After the name in parentheses: fields 14 and 15, in hundredths of a second.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Peak resident memory; 0 where the system doesn't say.
fn peak_mb() -> f64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0.0 };
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    let kb = line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1024.0
}
