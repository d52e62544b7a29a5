//! What a model's folder holds: a GGUF file, or a snapshot laid out as on the hub.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    gguf::Gguf,
    gguf_tokens,
    plan::Plan,
    source::Source,
    spec::{ChatSpec, ChatTemplate, ChatWeights, Matrices},
    vocabulary::Vocabulary,
};
use crate::{
    error::NeuralError,
    snapshot::{Config, Weights, optional},
};

/// An opened folder: small files read, weights mapped.
pub(super) struct Folder {
    pub(super) plan: Plan,
    pub(super) source: Source,
    pub(super) vocabulary: Vocabulary,
    /// The text of the template that the card asks for.
    pub(super) template: String,
    pub(super) bos: Option<String>,
    pub(super) eos: Option<String>,
    /// Tokens that end a reply, ascending.
    pub(super) ends: Vec<u32>,
    /// The name and sha256 of each file that decides what the model says.
    pub(super) digests: Vec<(String, String)>,
}

impl Folder {
    /// Opens `dir` as `spec` says.
    ///
    /// # Errors
    ///
    /// If a file is missing, damaged or contradicts the spec.
    pub(super) fn open(dir: &Path, spec: &ChatSpec) -> Result<Folder, NeuralError> {
        std::fs::read_dir(dir)
            .map_err(|source| NeuralError::Read { path: dir.to_owned(), source })?;
        match &spec.weights {
            ChatWeights::Gguf { file, matrices } => gguf(dir, file, *matrices, spec),
            ChatWeights::Safetensors {} => snapshot(dir, spec),
        }
    }
}

/// Tokens that end a turn in the models there are; a GGUF file names one of them at most.
const TURN_ENDS: [&str; 5] =
    ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<end_of_turn>"];

fn gguf(
    dir: &Path,
    file: &str,
    matrices: Matrices,
    spec: &ChatSpec,
) -> Result<Folder, NeuralError> {
    // A name, so that no card reaches outside its folder.
    if Path::new(file).file_name().is_none_or(|only| only != file) {
        return Err(NeuralError::Spec {
            field: "file",
            got: format!("`{}`", crate::snapshot::short(file)),
            expected: "a file name".to_owned(),
        });
    }
    let path = dir.join(file);
    if !path.is_file() {
        return Err(NeuralError::Absent { dir: dir.to_owned(), expected: format!("`{file}`") });
    }
    let gguf = Gguf::open(&path)?;
    let tokens = gguf_tokens::count(&gguf.config)?;
    // Tables may have more rows than there are tokens.
    let rows = match gguf.shape("token_embd.weight")? {
        [rows, _] => *rows,
        _ => tokens,
    };
    let factors = match gguf.has("rope_freqs.weight") {
        true => Some(gguf.get("rope_freqs.weight", gguf.shape("rope_freqs.weight")?)?),
        false => None,
    };
    let plan = Plan::of_gguf(&gguf.config, spec.architecture, rows, factors.as_deref())?;
    let vocabulary = gguf_tokens::vocabulary(&gguf.config, rows)?;
    let config = &gguf.config;
    let token = |field: &str| -> Result<Option<(u32, String)>, NeuralError> {
        match config.id(field)? {
            None => Ok(None),
            Some(id) => match vocabulary.token(id) {
                Some(token) => Ok(Some((id, token))),
                None => Err(config.wrong(field, "the id of a token")),
            },
        }
    };
    let eos = token("tokenizer.ggml.eos_token_id")?;
    let turn = token("tokenizer.ggml.eot_token_id")?;
    let mut ends: Vec<u32> = [&eos, &turn].into_iter().flatten().map(|(id, _)| *id).collect();
    ends.extend(TURN_ENDS.iter().filter_map(|token| vocabulary.id(token)));
    let bos = token("tokenizer.ggml.bos_token_id")?;
    let own = config.text("tokenizer.chat_template")?;
    let template = template(spec, own, || config.wrong("tokenizer.chat_template", "a text"))?;
    let source = Source::Gguf(gguf, matrices == Matrices::Kept);
    Ok(Folder {
        digests: source.digests(),
        plan,
        source,
        vocabulary,
        template,
        bos: bos.map(|(_, token)| token),
        eos: eos.map(|(_, token)| token),
        ends: sorted(ends),
    })
}

fn snapshot(dir: &Path, spec: &ChatSpec) -> Result<Folder, NeuralError> {
    let file = |name: &str| -> Result<PathBuf, NeuralError> {
        let path = dir.join(name);
        match path.is_file() {
            true => Ok(path),
            false => {
                Err(NeuralError::Absent { dir: dir.to_owned(), expected: format!("`{name}`") })
            }
        }
    };
    let config = Config::read(&file("config.json")?)?;
    let tokenizer = file("tokenizer.json")?;
    let weights = Weights::open(dir)?;
    let plan = Plan::of_config(&config, spec.architecture)?;
    let vocabulary = Vocabulary::new(&tokenizer, &read(&tokenizer)?, plan.vocabulary)?;
    let tokenizer_config = optional(&dir.join("tokenizer_config.json"))?;
    let generation = optional(&dir.join("generation_config.json"))?;
    let text = |field: &str| match &tokenizer_config {
        None => Ok(None),
        Some(config) => token_text(config, field),
    };
    let ends = match &generation {
        Some(generation) => ends(generation)?,
        None => Vec::new(),
    };
    let mut ends = if ends.is_empty() { self::ends(&config)? } else { ends };
    let eos = text("eos_token")?;
    ends.extend(eos.as_deref().and_then(|eos| vocabulary.id(eos)));
    let beside = dir.join("chat_template.jinja");
    let own = match (beside.is_file(), &tokenizer_config) {
        (true, _) => Some(String::from_utf8_lossy(&read(&beside)?).into_owned()),
        (false, Some(config)) => own_template(config)?,
        (false, None) => None,
    };
    let template = template(spec, own.as_deref(), || NeuralError::Absent {
        dir: dir.to_owned(),
        expected: "`chat_template.jinja`, and no `chat_template` in `tokenizer_config.json`"
            .to_owned(),
    })?;
    let source = Source::Files(weights);
    let mut digests = source.digests();
    for name in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
        "generation_config.json",
    ] {
        let path = dir.join(name);
        if path.is_file() {
            digests.push((name.to_owned(), hex::encode(Sha256::digest(read(&path)?))));
        }
    }
    let bos = text("bos_token")?;
    Ok(Folder { plan, source, vocabulary, template, bos, eos, ends: sorted(ends), digests })
}

fn read(path: &Path) -> Result<Vec<u8>, NeuralError> {
    std::fs::read(path).map_err(|source| NeuralError::Read { path: path.to_owned(), source })
}

/// The template that the card asks for.
fn template(
    spec: &ChatSpec,
    own: Option<&str>,
    absent: impl FnOnce() -> NeuralError,
) -> Result<String, NeuralError> {
    match (&spec.template, own) {
        (ChatTemplate::Card { text }, _) => Ok(text.clone()),
        (ChatTemplate::Model {}, Some(own)) => Ok(own.to_owned()),
        (ChatTemplate::Model {}, None) => Err(absent()),
    }
}

/// A template in `tokenizer_config.json`: a text, or a list of which one is named `default`.
fn own_template(config: &Config) -> Result<Option<String>, NeuralError> {
    const FIELD: &str = "chat_template";
    let Some(Value::Array(list)) = config.value(FIELD) else {
        return Ok(config.text(FIELD)?.map(str::to_owned));
    };
    let text = |entry: &Value, field: &str| Some(entry.get(field)?.as_str()?.to_owned());
    let default = list.iter().find(|entry| text(entry, "name").as_deref() == Some("default"));
    match default.and_then(|entry| text(entry, "template")) {
        Some(template) => Ok(Some(template)),
        None => Err(config.mismatched(FIELD, "a template named `default`")),
    }
}

/// A token's text, in the newer form or the older, an object with the text inside.
fn token_text(config: &Config, field: &str) -> Result<Option<String>, NeuralError> {
    match config.value(field) {
        Some(Value::Object(_)) => match config.object(field)? {
            Some(token) => Ok(token.text("content")?.map(str::to_owned)),
            None => Ok(None),
        },
        _ => Ok(config.text(field)?.map(str::to_owned)),
    }
}

/// The ids that `eos_token_id` states, one or a list.
fn ends(config: &Config) -> Result<Vec<u32>, NeuralError> {
    const FIELD: &str = "eos_token_id";
    match config.value(FIELD) {
        Some(Value::Array(list)) => list
            .iter()
            .map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok()))
            .collect::<Option<Vec<u32>>>()
            .ok_or_else(|| config.wrong(FIELD, "a token id or a list of them")),
        _ => Ok(config.id(FIELD)?.into_iter().collect()),
    }
}

fn sorted(mut ids: Vec<u32>) -> Vec<u32> {
    ids.sort_unstable();
    ids.dedup();
    ids
}
