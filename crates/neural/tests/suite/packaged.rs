//! Real weights that packages ship, against what the reference computes of them.
//!
//! Looked for in `$CLEANHIT_MODELS`, by default `cleanhit-models` in the user's cache folder.

use std::path::PathBuf;

use cleanhit_core::{ChatModel, Decoding, EmbeddingModel, Embeddings, Message, Role, Speaker};
use cleanhit_neural::{
    Architecture, ChatArchitecture, ChatSpec, ChatTemplate, ChatWeights, Device, Dtype, Embedder,
    EmbedderSpec, LanguageModel, Matrices, PaddingSide, Pooling, Prompts, SystemPolicy,
};
use safetensors::SafeTensors;

use crate::support::{close, golden, json, refs, texts};

/// The folder of a packaged model; without it the test says so and passes.
fn packaged(name: &str) -> Option<PathBuf> {
    let cache = || match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => Some(PathBuf::from(cache)),
        None => std::env::home_dir().map(|home| home.join(".cache")),
    };
    let dir = match std::env::var_os("CLEANHIT_MODELS") {
        Some(dir) => PathBuf::from(dir),
        None => cache()?.join("cleanhit-models"),
    };
    let dir = dir.join(name);
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: no {}; `bench/weights.sh` fetches it", dir.display());
    None
}

fn minilm(max_tokens: usize) -> EmbedderSpec {
    EmbedderSpec {
        architecture: Architecture::Bert,
        pooling: Pooling::Mean,
        padding_side: PaddingSide::Right,
        max_tokens,
        query_prefix: String::new(),
        document_prefix: String::new(),
        prompts: Prompts::Same,
        normalise: true,
        dtype: Dtype::F32,
    }
}

fn floats(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let view = file.tensor(name).unwrap();
    view.data().as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

#[test]
fn minilm_gives_the_references_vectors() {
    let Some(dir) = packaged("all-minilm-l6-v2") else { return };
    let bytes = std::fs::read(golden("all-minilm-l6-v2.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let all = texts().all;
    let texts = refs(&all);
    let cpu = Device::cpu();

    let model = Embedder::open(&dir, &minilm(512), &cpu).unwrap();
    let lengths = file.tensor("lengths_512").unwrap();
    let lengths: Vec<i32> =
        lengths.data().as_chunks().0.iter().map(|&b| i32::from_le_bytes(b)).collect();
    let ids = file.tensor("ids_512").unwrap();
    let mut ids = ids.data().as_chunks().0.iter().map(|&b| u32::from(u16::from_le_bytes(b)));
    let got = model.token_ids(Role::Document, &texts).unwrap();
    for ((text, got), length) in texts.iter().zip(&got).zip(&lengths) {
        let wanted: Vec<u32> = ids.by_ref().take(usize::try_from(*length).unwrap()).collect();
        assert_eq!(got, &wanted, "{text:?}");
    }
    let longer: Vec<&str> =
        texts.iter().zip(&lengths).filter(|(_, n)| 256 < **n).map(|(text, _)| *text).collect();
    assert!(10 < longer.len());
    let got = model.embed(Role::Document, &longer).unwrap();
    close("minilm, 512 tokens", &got, floats(&file, "vectors_512").chunks_exact(384));

    let model = Embedder::open(&dir, &minilm(256), &cpu).unwrap();
    let fused = model.embed(Role::Document, &texts).unwrap();
    close("minilm, 256 tokens", &fused, floats(&file, "vectors_256").chunks_exact(384));
    let tensors = Embedder::open_reference(&dir, &minilm(256)).unwrap();
    let some: Vec<&str> = texts.iter().copied().step_by(5).collect();
    let tensors = tensors.embed(Role::Document, &some).unwrap();
    let fused: Vec<&[f32]> = (0..some.len()).map(|i| fused.row(5 * i)).collect();
    close("minilm, tensors", &tensors, fused.into_iter());
}

#[test]
fn a_vector_of_minilm_does_not_depend_on_its_batch() {
    let Some(dir) = packaged("all-minilm-l6-v2") else { return };
    let model = Embedder::open(&dir, &minilm(256), &Device::cpu()).unwrap();
    let all = texts().all;
    let some: Vec<&str> = all.iter().map(String::as_str).step_by(9).collect();
    let together = model.embed(Role::Document, &some).unwrap();
    for (i, text) in some.iter().enumerate() {
        let alone = model.embed(Role::Document, &[text]).unwrap();
        let bits = |v: &Embeddings, i| v.row(i).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&alone, 0), bits(&together, i), "{text:?}");
    }
}

#[test]
fn the_packaged_table_gives_the_references_vectors() {
    let Some(dir) = packaged("tokenlearn-static") else { return };
    let bytes = std::fs::read(golden("tokenlearn-static.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let spec = EmbedderSpec { architecture: Architecture::Static, ..minilm(100_000) };
    let model = Embedder::open(&dir, &spec, &Device::cpu()).unwrap();
    let got = model.embed(Role::Document, &refs(&texts().all)).unwrap();
    let wanted = floats(&file, "vectors");
    close("tokenlearn", &got, wanted.chunks_exact(wanted.len() / got.len()));
}

/// What llama.cpp and torch gave of the packaged language model.
#[derive(serde::Deserialize)]
struct Talks {
    rows: Vec<Talk>,
    ids: Vec<Vec<u32>>,
}

#[derive(serde::Deserialize)]
struct Talk {
    question: String,
    ids: Vec<u32>,
    /// Every thousandth.
    logits: Vec<f64>,
    said: Vec<u32>,
    margin: f64,
    /// What is said with the matrices as they are.
    kept: Kept,
}

#[derive(serde::Deserialize)]
struct Kept {
    text: String,
    /// By how much the least sure token was likelier than the next.
    margin: f64,
}

fn smollm(matrices: Matrices) -> ChatSpec {
    ChatSpec {
        architecture: ChatArchitecture::Llama,
        weights: ChatWeights::Gguf { file: "SmolLM2-135M-Instruct.Q4_1.gguf".to_owned(), matrices },
        dtype: Dtype::F32,
        max_tokens: 2048,
        template: ChatTemplate::Model {},
        system: SystemPolicy::AsGiven {},
        thinking: false,
    }
}

#[test]
fn smollm_says_what_the_reference_says() {
    let Some(dir) = packaged("smollm2-135m-instruct") else { return };
    let talks: Talks = json("smollm2-135m-instruct.json");
    let model = LanguageModel::open(&dir, &smollm(Matrices::Dequantised), &Device::cpu()).unwrap();
    let texts = texts().some;
    for (text, wanted) in texts.iter().zip(&talks.ids) {
        assert_eq!(&model.text_ids(text).unwrap(), wanted, "{text:?}");
    }
    let mut worst = 0.0f64;
    for row in &talks.rows {
        let talk = [Message::new(Speaker::User, row.question.as_str())];
        assert_eq!(model.token_ids(&talk).unwrap(), row.ids, "{}", row.question);
        let logits = model.logits(&row.ids).unwrap();
        for (got, wanted) in logits.iter().step_by(1000).zip(&row.logits) {
            worst = worst.max((f64::from(*got) - wanted).abs());
        }
        let decoding = Decoding { max_tokens: 24, temperature: 0.0, seed: 0 };
        let reply = model.reply(&talk, &decoding).unwrap();
        println!("{} {}", row.question, reply.text);
        if 1e-2 < row.margin {
            assert_eq!(reply.reply_tokens, row.said.len(), "{}", row.question);
        }
    }
    println!("smollm: largest difference {worst:.1e}");
    assert!(worst <= 1e-3, "a logit differs by {worst}");
}

#[test]
fn smollms_kept_matrices_say_what_llama_cpp_says() {
    let Some(dir) = packaged("smollm2-135m-instruct") else { return };
    let talks: Talks = json("smollm2-135m-instruct.json");
    let model = LanguageModel::open(&dir, &smollm(Matrices::Kept), &Device::cpu()).unwrap();
    let decoding = Decoding { max_tokens: 24, temperature: 0.0, seed: 0 };
    let mut compared = 0;
    for row in &talks.rows {
        let talk = [Message::new(Speaker::User, row.question.as_str())];
        let reply = model.reply(&talk, &decoding).unwrap();
        println!("{:?}, llama.cpp {:?}, {}", reply.text, row.kept.text, row.kept.margin);
        if 0.05 < row.kept.margin {
            compared += 1;
            assert_eq!(reply.text, row.kept.text, "{}", row.question);
        }
        assert_eq!(model.reply(&talk, &decoding).unwrap(), reply);
    }
    assert_eq!(compared, 3);
}

#[test]
fn the_tensors_of_accelerators_give_smollms_logits() {
    let Some(dir) = packaged("smollm2-135m-instruct") else { return };
    let talks: Talks = json("smollm2-135m-instruct.json");
    let model = LanguageModel::open_reference(&dir, &smollm(Matrices::Dequantised)).unwrap();
    let mut worst = 0.0f64;
    for row in &talks.rows {
        let logits = model.logits(&row.ids).unwrap();
        for (got, wanted) in logits.iter().step_by(1000).zip(&row.logits) {
            worst = worst.max((f64::from(*got) - wanted).abs());
        }
    }
    println!("smollm, tensors: largest difference {worst:.1e}");
    assert!(worst <= 1e-3, "a logit differs by {worst}");
}
