//! Where models and vectors are kept.

use std::path::PathBuf;

use anyhow::Context as _;

/// `$CLEANHIT_MODELS`, or `cleanhit-models` in the user's cache folder.
pub(crate) fn models_folder() -> anyhow::Result<PathBuf> {
    folder("CLEANHIT_MODELS", "cleanhit-models")
}

/// `$CLEANHIT_CACHE`, or `cleanhit/embeddings` in the user's cache folder.
pub(crate) fn cache_folder() -> anyhow::Result<PathBuf> {
    folder("CLEANHIT_CACHE", "cleanhit/embeddings")
}

/// `answers` beside the cache folder: what language models answered.
pub(crate) fn answers_folder() -> anyhow::Result<PathBuf> {
    Ok(cache_folder()?.with_file_name("answers"))
}

fn folder(variable: &str, below: &str) -> anyhow::Result<PathBuf> {
    let get = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = get(variable) {
        return Ok(folder.into());
    }
    let home = || get("HOME").or_else(|| get("USERPROFILE"));
    let cache = get("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(home()?).join(".cache")));
    let cache = cache.with_context(|| {
        format!("there is no home folder; expected HOME or {variable} to name one")
    })?;
    Ok(cache.join(below))
}
