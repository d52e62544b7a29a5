//! The files inside the binary: the bundled benchmark and the method cards.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;
use cleanhit_io::Folder;
use include_dir::{Dir, include_dir};

/// The benchmark that commands use when none is named.
pub(crate) const DEFAULT_BENCH: &str = "samecap-mini";

static CARDS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/models");
static QUERIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/queries/samecap-mini");
static POOLS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/pools/samecap-mini");

/// The bundled benchmark of this name: the files at the top of its two folders, which are
/// the frozen ones.
pub(crate) fn bench(name: &str) -> Option<Folder> {
    if name != DEFAULT_BENCH {
        return None;
    }
    let frozen = |dir: &'static Dir<'_>, top: &'static str| {
        dir.files().map(move |file| {
            (format!("{top}/{DEFAULT_BENCH}/{}", file.path().display()), file.contents())
        })
    };
    let files: BTreeMap<String, &'static [u8]> =
        frozen(&QUERIES, "queries").chain(frozen(&POOLS, "pools")).collect();
    let root = format!("queries/{DEFAULT_BENCH}");
    Some(Folder::Bundled { name: DEFAULT_BENCH, root, files: Arc::new(files) })
}

/// The names that [`bench`] knows.
pub(crate) fn bench_names() -> [&'static str; 1] {
    [DEFAULT_BENCH]
}

/// The text of a bundled method card.
pub(crate) fn card(name: &str) -> Option<&'static str> {
    CARDS.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The names of the bundled cards, in order.
pub(crate) fn card_names() -> Vec<String> {
    let stems = CARDS.files().filter_map(|file| file.path().file_stem());
    let mut names: Vec<String> = stems.map(|stem| stem.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

/// Writes the sources of the bundled benchmark to a folder that is gone when it is dropped,
/// under the paths they have in the repository.
pub(crate) fn unpack_authoring() -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    for (path, dir) in [("queries/samecap-mini", &QUERIES), ("pools/samecap-mini", &POOLS)] {
        let to = folder.path().join(path);
        std::fs::create_dir_all(&to).and_then(|()| dir.extract(&to)).context("cannot unpack")?;
    }
    Ok(folder)
}

/// An `authoring.toml` for a benchmark of this name, with the bundled benchmark's limits.
pub(crate) fn starter_authoring(name: &str) -> anyhow::Result<String> {
    let file = QUERIES.get_file("authoring.toml").and_then(|file| file.contents_utf8());
    let text = file.context("the bundled benchmark has no authoring.toml")?;
    let mut section = "";
    let mut starter = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        match (section, key) {
            ("", "name") => starter.push_str(&format!("name = \"{name}\"")),
            ("", "version") => starter.push_str("version = \"0.1.0\""),
            ("", "pools") => {
                starter.push_str(
                    "pools = \"pools\"              # where the pools and families.tsv go",
                );
            }
            ("", "background") => {
                starter.push_str("background = \"background\"    # one folder a skill");
            }
            // A set starts empty; its author says how large it must be.
            ("[minimum]", key) if !key.is_empty() => starter.push_str(&format!("{key} = 0")),
            _ => starter.push_str(line),
        }
        starter.push('\n');
    }
    Ok(starter)
}
