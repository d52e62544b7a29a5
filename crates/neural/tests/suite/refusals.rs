//! What is refused, and that the message says what and where, in one line.

use std::path::Path;

use cleanhit_neural::{
    Architecture, CrossEncoder, CrossSpec, Device, Embedder, EmbedderSpec, PaddingSide, Pooling,
};
use serde_json::Value;

use crate::support::{golden, json};

#[derive(serde::Deserialize)]
struct Embeds {
    spec: EmbedderSpec,
}

#[derive(serde::Deserialize)]
struct Scores {
    spec: CrossSpec,
}

/// A copy of a tiny model, to be damaged.
struct Copy(tempfile::TempDir);

impl Copy {
    fn of(name: &str) -> Copy {
        let copy = Copy(tempfile::tempdir().unwrap());
        copy_files(&golden(name), copy.0.path());
        copy
    }

    fn edit(&self, file: &str, edit: impl FnOnce(&mut Value)) {
        let path = self.0.path().join(file);
        let mut value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        edit(&mut value);
        std::fs::write(&path, value.to_string()).unwrap();
    }

    fn error(&self, spec: &EmbedderSpec) -> String {
        match Embedder::open(self.0.path(), spec, &Device::cpu()) {
            Ok(_) => "it opened".to_owned(),
            Err(error) => {
                let line = error.to_string();
                assert!(!line.contains('\n'), "{line}");
                line.replace(&self.0.path().display().to_string(), "DIR")
            }
        }
    }
}

fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_files(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

fn bert() -> EmbedderSpec {
    json::<Embeds>("tiny-bert.json").spec
}

#[test]
fn a_card_that_contradicts_the_snapshot_is_refused() {
    let copy = Copy::of("tiny-bert");
    let spec = bert();
    assert_eq!(
        copy.error(&EmbedderSpec { architecture: Architecture::Mpnet, ..spec.clone() }),
        "DIR/config.json: `model_type` is `bert`, but the card says `mpnet`"
    );
    assert_eq!(
        copy.error(&EmbedderSpec { pooling: Pooling::Cls, ..spec.clone() }),
        "DIR/1_Pooling/config.json: pooling is `mean`, but the card says `cls`"
    );
    assert_eq!(
        copy.error(&EmbedderSpec { normalise: false, ..spec.clone() }),
        "DIR/modules.json: normalisation is true, but the card says false"
    );
    assert_eq!(
        copy.error(&EmbedderSpec { query_prefix: "q: ".to_owned(), ..spec.clone() }),
        "DIR/config_sentence_transformers.json: the query prompt is `query: `, but the card says `q: `"
    );
    assert_eq!(
        copy.error(&EmbedderSpec { padding_side: PaddingSide::Left, ..spec.clone() }),
        "DIR/tokenizer_config.json: `padding_side` is `right`, but the card says `left`"
    );
    for limit in [0, 2, 129] {
        assert_eq!(
            copy.error(&EmbedderSpec { max_tokens: limit, ..spec.clone() }),
            format!(
                "card: field `max_tokens` is {limit}; expected 3 to 128, which the model has positions for"
            )
        );
    }
    assert_eq!(copy.error(&spec), "it opened");
}

#[test]
fn both_poolings_or_none_are_refused() {
    let copy = Copy::of("tiny-bert");
    copy.edit("1_Pooling/config.json", |c| c["pooling_mode_cls_token"] = true.into());
    assert_eq!(
        copy.error(&bert()),
        "DIR/1_Pooling/config.json: field `pooling_mode_mean_tokens` is true; expected one pooling and not several"
    );
    copy.edit("1_Pooling/config.json", |c| {
        c["pooling_mode_cls_token"] = false.into();
        c["pooling_mode_mean_tokens"] = false.into();
    });
    assert_eq!(
        copy.error(&bert()),
        "DIR/1_Pooling/config.json: field `pooling_mode` is absent; expected one of `cls`, `mean` and `lasttoken`"
    );
    copy.edit("1_Pooling/config.json", |c| c["pooling_mode_max_tokens"] = true.into());
    assert!(copy.error(&bert()).contains("field `pooling_mode_max_tokens` is true"));
    copy.edit("modules.json", |m| m[1]["type"] = "sentence_transformers.models.Dense".into());
    assert!(copy.error(&bert()).contains("field `type` is `Dense` in `1_Pooling`"));
}

#[test]
fn missing_or_damaged_weights_are_named() {
    let copy = Copy::of("tiny-bert");
    let weights = copy.0.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &bytes[..bytes.len() - 100]).unwrap();
    let error = copy.error(&bert());
    assert!(error.starts_with("DIR/model.safetensors: not a whole safetensors file: "), "{error}");
    std::fs::write(&weights, b"").unwrap();
    assert!(copy.error(&bert()).starts_with("DIR/model.safetensors: "));
    std::fs::remove_file(&weights).unwrap();
    assert_eq!(
        copy.error(&bert()),
        "DIR: no `model.safetensors` and no `model.safetensors.index.json`"
    );
    std::fs::write(
        &weights,
        renamed(&bytes, "layer.1.output.dense.bias", "layer.1.output.dense.bios"),
    )
    .unwrap();
    assert_eq!(
        copy.error(&bert()),
        "DIR/model.safetensors: no tensor `encoder.layer.1.output.dense.bias`"
    );
    let mut broken = bytes.clone();
    let end = broken.len();
    broken[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&weights, broken).unwrap();
    assert!(copy.error(&bert()).contains("holds a value that can't be used"));
    std::fs::write(&weights, bytes).unwrap();
    copy.edit("config.json", |c| c["intermediate_size"] = 71.into());
    assert_eq!(
        copy.error(&bert()),
        "DIR/model.safetensors: tensor `encoder.layer.0.intermediate.dense.weight` has shape [72, 40]; expected [71, 40]"
    );
    copy.edit("config.json", |c| c["num_hidden_layers"] = 1_000_000.into());
    assert!(copy.error(&bert()).contains("field `num_hidden_layers` is 1000000"));
    std::fs::remove_file(copy.0.path().join("config.json")).unwrap();
    assert_eq!(copy.error(&bert()), "DIR: no `config.json`");
}

/// The bytes with a name in the header replaced by one as long.
fn renamed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    bytes
}

#[test]
fn a_shard_that_is_missing_or_elsewhere_is_refused() {
    let spec = json::<Embeds>("tiny-mpnet.json").spec;
    let copy = Copy::of("tiny-mpnet");
    let index = "model.safetensors.index.json";
    let mut first = String::new();
    copy.edit(index, |i| {
        let map = i["weight_map"].as_object_mut().unwrap();
        let (name, file) = map.iter_mut().next().unwrap();
        first = name.clone();
        *file = "../model-00001-of-00003.safetensors".into();
    });
    let error = copy.error(&spec);
    assert!(
        error.ends_with("is `../model-00001-of-00003.safetensors`; expected a file name"),
        "{error}"
    );
    copy.edit(index, |i| i["weight_map"][&first] = "model-00009-of-00003.safetensors".into());
    assert!(copy.error(&spec).starts_with("DIR/model-00009-of-00003.safetensors: cannot read: "));
}

#[test]
fn the_tokenizer_of_another_model_is_refused() {
    let copy = Copy::of("tiny-xlm-roberta");
    let other = golden("tiny-bert").join("tokenizer.json");
    std::fs::copy(other, copy.0.path().join("tokenizer.json")).unwrap();
    let error = copy.error(&json::<Embeds>("tiny-xlm-roberta.json").spec);
    assert!(error.starts_with("DIR/tokenizer.json: it has the token id "), "{error}");
    let copy = Copy::of("tiny-bert");
    let other = golden("tiny-mpnet").join("tokenizer.json");
    std::fs::copy(other, copy.0.path().join("tokenizer.json")).unwrap();
    assert_eq!(
        copy.error(&bert()),
        "DIR/tokenizer.json: its padding token `[PAD]` has the id none, but the model says 0; expected the tokenizer of this model"
    );
    std::fs::write(copy.0.path().join("tokenizer.json"), "{}").unwrap();
    assert!(copy.error(&bert()).starts_with("DIR/tokenizer.json: not a tokenizer: "));
}

#[test]
fn a_cross_encoder_leaves_room_for_the_document() {
    let spec = json::<Scores>("tiny-bert-cross.json").spec;
    let open = |spec: &CrossSpec| {
        let opened = CrossEncoder::open(&golden("tiny-bert-cross"), spec, &Device::cpu());
        opened.map_or_else(|error| error.to_string(), |_| "it opened".to_owned())
    };
    assert_eq!(open(&spec), "it opened");
    assert_eq!(
        open(&CrossSpec { max_query_tokens: 61, ..spec.clone() }),
        "card: field `max_query_tokens` is 61; expected 1 to 60, so that the document has room in `max_tokens`"
    );
    assert!(open(&CrossSpec { max_tokens: 129, ..spec.clone() }).contains("expected 5 to 128"));
    assert!(
        open(&CrossSpec { architecture: Architecture::XlmRoberta, ..spec })
            .contains("`model_type` is `bert`, but the card says `xlm-roberta`")
    );
}
