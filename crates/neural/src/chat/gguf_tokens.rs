//! The tokenizer that a GGUF file describes, in the form of the tokenizers' library.

use serde_json::{Map, Value, json};

use super::vocabulary::Vocabulary;
use crate::{error::NeuralError, snapshot::Config};

/// Kinds of tokens in the file.
const CONTROL: u64 = 3;
const USER_DEFINED: u64 = 4;

/// Makes the tokenizer of a model with `rows` token vectors.
///
/// # Errors
///
/// If it is of a kind that is not rebuilt here, or its lists don't fit together.
pub(super) fn vocabulary(config: &Config, rows: usize) -> Result<Vocabulary, NeuralError> {
    const MODEL: &str = "tokenizer.ggml.model";
    const PRE: &str = "tokenizer.ggml.pre";
    if config.text(MODEL)? != Some("gpt2") {
        return Err(config.wrong(MODEL, "`gpt2`: other tokenizers are not rebuilt from GGUF"));
    }
    let digits = |most: &str| {
        format!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{most}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
    let bytes = |use_regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
    let split = |regex: String| json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
    // As the `tokenizer.json` of the models that the names come from.
    let (normalizer, words, whole) = match config.text(PRE)? {
        Some("smollm") => (
            Value::Null,
            json!([{"type": "Digits", "individual_digits": true}, bytes(true)]),
            false,
        ),
        Some("qwen2") => (json!({"type": "NFC"}), json!([split(digits("")), bytes(false)]), false),
        Some("llama-bpe" | "llama3" | "llama-v3") => {
            (Value::Null, json!([split(digits("{1,3}")), bytes(false)]), true)
        }
        _ => return Err(config.wrong(PRE, "`smollm`, `qwen2` or `llama-bpe`")),
    };
    let tokens = texts(config, "tokenizer.ggml.tokens")?;
    let merges = texts(config, "tokenizer.ggml.merges")?;
    let kinds = config.value("tokenizer.ggml.token_type").and_then(Value::as_array);
    let kinds = kinds.filter(|kinds| kinds.len() == tokens.len()).ok_or_else(|| {
        config.mismatched("tokenizer.ggml.token_type", &format!("a list of {}", tokens.len()))
    })?;
    let mut vocabulary = Map::new();
    let mut added = Vec::new();
    for (id, (token, kind)) in tokens.iter().zip(kinds).enumerate() {
        if vocabulary.insert((*token).to_owned(), id.into()).is_some() {
            let expected = format!("no token twice, as `{}` is", crate::snapshot::short(token));
            return Err(config.mismatched("tokenizer.ggml.tokens", &expected));
        }
        let kind = kind.as_u64();
        if kind == Some(CONTROL) || kind == Some(USER_DEFINED) {
            added.push(json!({
                "id": id, "content": token, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": kind == Some(CONTROL),
            }));
        }
    }
    let pairs = merges.iter().map(|merge| merge.split_once(' ').map(|(a, b)| json!([a, b])));
    let pairs = pairs.collect::<Option<Vec<Value>>>().ok_or_else(|| {
        config.mismatched("tokenizer.ggml.merges", "two tokens with a blank between")
    })?;
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": added,
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": words},
        "post_processor": null,
        "decoder": bytes(true),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": whole, "vocab": vocabulary, "merges": pairs,
        },
    });
    Vocabulary::new(config.path(), tokenizer.to_string().as_bytes(), rows)
}

/// How many tokens the file lists.
///
/// # Errors
///
/// If it lists none.
pub(super) fn count(config: &Config) -> Result<usize, NeuralError> {
    Ok(texts(config, "tokenizer.ggml.tokens")?.len())
}

/// A list of texts.
fn texts<'a>(config: &'a Config, field: &str) -> Result<Vec<&'a str>, NeuralError> {
    let list = config.value(field).and_then(Value::as_array).filter(|list| !list.is_empty());
    let texts = list.and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    texts.ok_or_else(|| config.mismatched(field, "a list of texts"))
}
