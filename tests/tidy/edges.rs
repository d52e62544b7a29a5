//! Which crate may depend on which. The edges that are absent are the leak barrier.

use std::collections::{BTreeMap, BTreeSet};

use super::{none, read, root};

/// What each of our crates may depend on among our crates.
const ALLOWED: [(&str, &[&str]); 7] = [
    ("cleanhit-core", &[]),
    ("cleanhit-io", &["cleanhit-core"]),
    ("cleanhit-lexical", &["cleanhit-core"]),
    ("cleanhit-neural", &["cleanhit-core"]),
    ("cleanhit-eval", &["cleanhit-core", "cleanhit-io"]),
    ("cleanhit-agent", &["cleanhit-core", "cleanhit-io"]),
    ("cleanhit-train", &["cleanhit-core", "cleanhit-lexical", "cleanhit-eval"]),
];

/// The crates that see labels; nothing that ranks reaches them.
const SEES_LABELS: [&str; 2] = ["cleanhit-eval", "cleanhit-train"];

/// The crates that a method is made of.
const RANKS: [&str; 5] =
    ["cleanhit-core", "cleanhit-io", "cleanhit-lexical", "cleanhit-neural", "cleanhit-agent"];

const SHIPPED: [&str; 2] = ["dependencies", "build-dependencies"];
const ALL: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

/// The manifest of each crate in `crates/`, by the crate's name.
fn manifests() -> BTreeMap<String, toml::Table> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("crates/") {
        let path = entry.expect("an entry").path().join("Cargo.toml");
        if let Ok(text) = std::fs::read_to_string(&path) {
            let manifest: toml::Table = text.parse().expect("a manifest");
            let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
            all.insert(name, manifest);
        }
    }
    all
}

/// What a manifest lists in tables of these kinds, for every platform.
fn listed(manifest: &toml::Table, kinds: &[&str]) -> BTreeMap<String, toml::Value> {
    let mut found = BTreeMap::new();
    let targets = manifest.get("target").and_then(|t| t.as_table());
    let tables = targets.into_iter().flat_map(|t| t.values().filter_map(|t| t.as_table()));
    for table in tables.chain([manifest]) {
        for kind in kinds {
            let entries = table.get(*kind).and_then(|t| t.as_table());
            found.extend(entries.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
        }
    }
    found
}

/// The crates of ours that a manifest lists.
fn ours(manifest: &toml::Table, kinds: &[&str]) -> BTreeSet<String> {
    listed(manifest, kinds).into_keys().filter(|name| name.starts_with("cleanhit")).collect()
}

#[test]
fn crates_have_only_the_edges_of_the_architecture() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut breaches = Vec::new();
    for (name, manifest) in manifests() {
        let Some(allowed) = allowed.get(name.as_str()) else {
            breaches.push(format!("{name}: a crate that tests/tidy/edges.rs does not know"));
            continue;
        };
        for dependency in ours(&manifest, &SHIPPED) {
            if !allowed.contains(&dependency.as_str()) {
                breaches.push(format!("{name} -> {dependency}: an edge the architecture lacks"));
            }
        }
    }
    none(breaches);
}

#[test]
fn nothing_that_ranks_reaches_a_crate_that_sees_labels_not_even_in_its_tests() {
    let manifests = manifests();
    for start in RANKS {
        let mut reached = BTreeSet::new();
        let mut open = vec![start.to_owned()];
        while let Some(name) = open.pop() {
            let next = manifests.get(&name).map(|manifest| ours(manifest, &ALL));
            for dependency in next.unwrap_or_default() {
                if reached.insert(dependency.clone()) {
                    open.push(dependency);
                }
            }
        }
        let seen = SEES_LABELS.into_iter().filter(|name| reached.contains(*name));
        none(seen.map(|name| format!("{start} reaches {name}")).collect());
    }
}

#[test]
fn the_released_relation_is_disclosed_at_one_place() {
    let calls = |text: &super::Text| text.content.matches(".disclose(").count();
    let sources = super::texts();
    let sources = sources.iter().filter(|t| t.is("rs") && t.is_in(&["crates/"]));
    let sites: Vec<String> = sources
        .filter(|t| 0 < calls(t) && !t.path.starts_with("crates/eval/"))
        .map(|t| format!("{}: {}", t.path, calls(t)))
        .collect();
    assert_eq!(sites, ["crates/cli/method.rs: 1"]);
}

#[test]
fn versions_are_stated_once_in_the_root_manifest() {
    let mut breaches = Vec::new();
    let root: toml::Table = read("Cargo.toml").parse().expect("the root manifest");
    for (name, manifest) in manifests().into_iter().chain([("cleanhit".to_owned(), root)]) {
        let inherited = |value: &toml::Value| {
            value.get("workspace").and_then(toml::Value::as_bool).unwrap_or(false)
        };
        let listed = listed(&manifest, &ALL);
        let own = listed.iter().filter(|(_, value)| !inherited(value));
        breaches.extend(own.map(|(d, _)| format!("{name}: `{d}` is not inherited")));
    }
    none(breaches);
}

/// The crates that may hold unsafe code, each file of it behind an expectation with a reason.
const UNSAFE: [&str; 2] = ["cleanhit-neural", "cleanhit-agent"];

#[test]
fn every_crate_inherits_the_lints() {
    let root: toml::Table = read("Cargo.toml").parse().expect("the root manifest");
    let mut denied = root["workspace"]["lints"].clone();
    denied["rust"]["unsafe_code"] = toml::Value::from("deny");
    let inherited: toml::Value =
        toml::Table::from_iter([("workspace".to_owned(), true.into())]).into();
    let mut breaches = Vec::new();
    for (name, manifest) in manifests() {
        let expected = if UNSAFE.contains(&name.as_str()) { &denied } else { &inherited };
        if manifest.get("lints") != Some(expected) {
            breaches.push(format!("{name}: [lints] is not what the workspace says"));
        }
    }
    none(breaches);
}
