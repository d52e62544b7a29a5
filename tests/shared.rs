//! The golden values and data that some tests check against, where they are to be had.

use std::path::PathBuf;

/// The folder beside the checkout, or the one that `CLEANHIT_SHARED` names.
pub(crate) fn folder() -> PathBuf {
    match std::env::var_os("CLEANHIT_SHARED") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
    }
}

/// A file of it. Where it is absent, says so: the caller's test is skipped.
pub(crate) fn read(file: &str) -> Option<Vec<u8>> {
    let path = folder().join(file);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        println!("skipped: {} is not here", path.display());
    }
    bytes
}
