//! What language models refuse, and that the message says what and where, in one line.

use std::path::Path;

use cleanhit_neural::{
    ChatArchitecture, ChatSpec, ChatWeights, Device, LanguageModel, Matrices, YesNo, YesNoSpec,
};

use crate::{
    chat::Golden,
    support::{golden, json},
};

fn error(dir: &Path, spec: &ChatSpec) -> String {
    match LanguageModel::open(dir, spec, &Device::cpu()) {
        Ok(_) => "it opened".to_owned(),
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n'), "{line}");
            line.replace(&dir.display().to_string(), "DIR")
        }
    }
}

/// The error of a GGUF file with these bytes.
fn gguf(bytes: &[u8], spec: &ChatSpec) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("model.gguf"), bytes).unwrap();
    error(dir.path(), spec)
}

fn tiny_gguf(name: &str) -> (Vec<u8>, ChatSpec) {
    (std::fs::read(golden(name).join("model.gguf")).unwrap(), Golden::of(name).spec)
}

/// Where a text begins in the file.
fn find(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

#[test]
fn cut_gguf_files_are_refused() {
    let (bytes, spec) = tiny_gguf("tiny-llama-gguf");
    for n in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let error = gguf(&bytes[..n], &spec);
        assert!(error.starts_with("DIR/model.gguf: "), "{n}: {error}");
    }
    assert_eq!(
        gguf(b"GGML\x03\0\0\0", &spec),
        "DIR/model.gguf: not a whole GGUF file: it does not begin with `GGUF`"
    );
    assert!(gguf(b"GGUF\x09\0\0\0", &spec).ends_with("its version is 9; expected 2 or 3"));
    let huge = [b"GGUF\x03\0\0\0".as_slice(), &[0xff; 16]].concat();
    assert!(gguf(&huge, &spec).contains("more than it can hold"));
}

#[test]
fn damaged_gguf_files_do_not_panic() {
    let (bytes, spec) = tiny_gguf("tiny-qwen3-gguf");
    let header = find(&bytes, "blk.1.ffn_up.weight") + 60;
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..300 {
        let mut bytes = bytes.clone();
        for _ in 0..=draw(3) {
            bytes[draw(header)] = [0, 0xff, 0x80, 1][draw(4)];
        }
        gguf(&bytes, &spec);
    }
}

#[test]
fn fields_that_contradict_are_named() {
    let (bytes, spec) = tiny_gguf("tiny-llama-gguf");
    let edited = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let mut bytes = bytes.clone();
        let at = find(&bytes, from);
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        gguf(&bytes, &spec)
    };
    assert_eq!(
        edited("llama.block_count", "llama.block_c0unt"),
        "DIR/model.gguf: field `llama.block_count` is absent; expected a whole number"
    );
    assert_eq!(
        edited("smollm", "smallm"),
        "DIR/model.gguf: field `tokenizer.ggml.pre` is `smallm`; expected `smollm`, `qwen2` or `llama-bpe`"
    );
    assert_eq!(
        edited("blk.1.attn_k.weight", "blk.7.attn_k.weight"),
        "DIR/model.gguf: no tensor `blk.1.attn_k.weight`"
    );
    let other = ChatSpec { architecture: ChatArchitecture::Qwen2, ..spec.clone() };
    assert_eq!(
        gguf(&bytes, &other),
        "DIR/model.gguf: the architecture is `llama`, but the card says `qwen2`"
    );
    let long = ChatSpec { max_tokens: 513, ..spec.clone() };
    assert_eq!(
        gguf(&bytes, &long),
        "card: field `max_tokens` is 513; expected 2 to 512, which the model has positions for"
    );
    let outside = ChatWeights::Gguf { file: "../x".to_owned(), matrices: Matrices::Kept };
    assert_eq!(
        gguf(&bytes, &ChatSpec { weights: outside, ..spec }),
        "card: field `file` is `../x`; expected a file name"
    );
}

#[test]
fn snapshots_that_contradict_are_refused() {
    let name = "tiny-llama-chat";
    let spec = Golden::of(name).spec;
    let edited = |file: &str, edit: &dyn Fn(&mut serde_json::Value)| {
        let dir = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(golden(name)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
        }
        let path = dir.path().join(file);
        let mut value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        edit(&mut value);
        std::fs::write(&path, value.to_string()).unwrap();
        error(dir.path(), &spec)
    };
    assert_eq!(
        edited("config.json", &|config| config["intermediate_size"] = 65.into()),
        "DIR/model.safetensors: tensor `model.layers.0.mlp.gate_proj.weight` has shape [64, 32]; expected [65, 32]"
    );
    assert_eq!(
        edited("config.json", &|config| config["hidden_act"] = "gelu".into()),
        "DIR/config.json: field `hidden_act` is `gelu`; expected `silu`"
    );
    assert_eq!(
        edited("config.json", &|config| config["rope_parameters"]["rope_type"] = "yarn".into()),
        "DIR/config.json: field `rope_type` is `yarn`; expected `default`, `linear` or `llama3`"
    );
    assert_eq!(
        edited("config.json", &|config| config["num_key_value_heads"] = 3.into()),
        "DIR/config.json: field `num_key_value_heads` is 3; expected a divisor of the 4 heads"
    );
    assert!(
        edited("generation_config.json", &|config| config["eos_token_id"] = 5000.into())
            .contains("the token id 5000, which the model lacks")
    );
}

#[test]
fn questions_that_can_not_be_asked_are_refused() {
    #[derive(serde::Deserialize)]
    struct File {
        yes_no: Asked,
    }
    #[derive(serde::Deserialize)]
    struct Asked {
        spec: YesNoSpec,
    }
    let name = "tiny-qwen3-chat";
    let spec = json::<File>(&format!("{name}.json")).yes_no.spec;
    let error = |spec: &YesNoSpec| {
        YesNo::open(&golden(name), spec, &Device::cpu()).err().unwrap().to_string()
    };
    let two = YesNoSpec { yes: "yz".to_owned(), ..spec.clone() };
    assert_eq!(
        error(&two),
        "card: field `yes` is `yz`, which is 2 tokens; expected a word that is one token"
    );
    let same = YesNoSpec { no: spec.yes.clone(), ..spec.clone() };
    assert_eq!(error(&same), "card: field `no` is `y`; expected another word than `yes` has");
    let short = YesNoSpec { max_tokens: 90, ..spec.clone() };
    assert!(error(&short).starts_with("card: field `max_tokens` is 90; expected at least "));
    let none = YesNoSpec { max_document_tokens: 0, ..spec };
    assert!(error(&none).starts_with("card: field `max_document_tokens` is 0; expected 1 to 400"));
}
