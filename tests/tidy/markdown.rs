//! The documents: what they point to exists, and what exists is in them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Text, files, none, read, root, texts};

/// Benchmark content and odd files are texts under test, not documents.
const CONTENT: [&str; 5] = ["pools/", "queries/", "results/", "tests/fixtures/", "fuzz/"];

fn documents() -> Vec<Text> {
    texts().into_iter().filter(|t| t.is("md") && !t.is_in(&CONTENT)).collect()
}

/// Lines outside fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number, line))
    })
}

/// A line without what is between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// What is between backticks in a line.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Targets of inline links, images and link definitions.
fn links(line: &str) -> Vec<String> {
    let line = without_code(line);
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line.trim_start().strip_prefix('[').and_then(|l| l.split_once("]: "));
    let definition = definition.and_then(|(_, target)| target.split_whitespace().next());
    inline.chain(definition).map(str::to_owned).collect()
}

/// A heading's anchor as code hosts make it: lower case, punctuation dropped, spaces to hyphens.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let slug = slug(line.trim_start_matches('#').trim());
        let repeats = seen.entry(slug.clone()).or_default();
        found.insert(match *repeats {
            0 => slug,
            n => format!("{slug}-{n}"),
        });
        *repeats += 1;
    }
    found
}

#[test]
fn links_and_anchors_lead_somewhere() {
    let mut breaches = Vec::new();
    for Text { path, content } in documents() {
        let folder = root().join(&path).parent().expect("a folder").to_owned();
        for (number, line) in prose(&content) {
            for link in links(line) {
                if link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
                let target = match file {
                    "" => root().join(&path),
                    file => folder.join(file),
                };
                let whole = || match anchor {
                    "" => target.exists(),
                    _ => {
                        let text = std::fs::read_to_string(&target);
                        text.is_ok_and(|text| anchors(&text).contains(anchor))
                    }
                };
                if !whole() {
                    breaches.push(format!("{path}:{number}: `{link}` leads nowhere"));
                }
            }
        }
    }
    none(breaches);
}

#[test]
fn paths_named_in_the_documents_exist() {
    let mut breaches = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for (number, line) in prose(&read(document)).map(|(n, l)| (n, l.to_owned())) {
            let folders = ["crates/", "models/", "tests/", "examples/", "docs/", "fuzz/", "bench/"];
            let more = ["benches/", ".ci/", ".config/", "pools/", "queries/", "results/"];
            let paths = code(&line).filter(|code| {
                folders.iter().chain(&more).any(|folder| code.starts_with(folder))
                    && !code.contains(['<', '*', ' ', '{', '…'])
            });
            for path in paths.filter(|path| !root().join(path).exists()) {
                breaches.push(format!("{document}:{number}: there is no `{path}`"));
            }
        }
    }
    none(breaches);
}

#[test]
fn every_oddity_of_a_skill_is_documented() {
    let page = read("docs/pools.md");
    let absent = cleanhit_io::NoteKind::ALL.iter().map(|kind| format!("| `{kind}` |"));
    none(absent.filter(|row| !page.contains(row)).collect());
}

#[test]
fn every_crate_and_folder_is_in_the_architecture() {
    let architecture = read("ARCHITECTURE.md");
    let mut named = BTreeSet::new();
    for Text { path, .. } in texts() {
        let parts: Vec<&str> = path.split('/').collect();
        match parts[..] {
            ["crates", name, _, ..] => named.insert(format!("`crates/{name}`")),
            [folder, _, ..] => named.insert(format!("`{folder}/`")),
            _ => continue,
        };
    }
    let absent = named.iter().filter(|name| !architecture.contains(name.as_str()));
    none(absent.map(|name| format!("ARCHITECTURE.md does not name {name}")).collect());
}

#[test]
fn modules_named_in_a_crates_section_are_in_the_crate() {
    let architecture = read("ARCHITECTURE.md");
    let mut breaches = Vec::new();
    for section in architecture.split("\n### ").skip(1) {
        let (name, body) = section.split_once('\n').unwrap_or_default();
        let body = body.split("\n## ").next().unwrap_or_default();
        let folder = match name {
            "cli" => root().join("crates/cli"),
            _ => root().join("crates").join(name).join("src"),
        };
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let modules = body.lines().flat_map(code).filter(|code| {
            let stem = code.strip_suffix(".rs").or_else(|| code.strip_suffix('/'));
            stem.is_some_and(|stem| stem.chars().all(is_name))
        });
        let absent = modules.filter(|module| !folder.join(module).exists());
        breaches
            .extend(absent.map(|module| format!("ARCHITECTURE.md: `{name}` has no `{module}`")));
    }
    none(breaches);
}

#[test]
fn every_card_is_in_the_readme_and_named_as_its_file() {
    let readme = read("README.md");
    let rows: BTreeSet<&str> = prose(&readme)
        .filter_map(|(_, line)| line.strip_prefix("| `"))
        .filter_map(|line| line.split('`').next())
        .collect();
    let mut breaches = Vec::new();
    for path in files("models", "toml") {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a card");
        let card: toml::Table = text.parse().expect("a card");
        if card.get("name").and_then(toml::Value::as_str) != Some(&stem) {
            breaches.push(format!("models/{stem}.toml: its `name` is not `{stem}`"));
        }
        if !rows.contains(stem.as_str()) {
            breaches.push(format!("README.md: no table row for the card `{stem}`"));
        }
        let rerank = |kind: &str| card.get("rerank").and_then(|rerank| rerank.get(kind));
        let stages =
            [card.get("retrieve"), card.get("select"), rerank("scorer"), rerank("reranker")];
        for stage in stages.into_iter().flatten() {
            let kind = stage.get("kind");
            if let Some(kind) = kind.and_then(toml::Value::as_str)
                && !readme.contains(&format!("`{kind}`"))
            {
                breaches.push(format!("README.md: does not name the kind `{kind}`"));
            }
        }
    }
    none(breaches);
}

#[test]
fn the_changelog_has_an_unreleased_section_with_an_entry() {
    let changelog = read("CHANGELOG.md");
    let (_, unreleased) = changelog.split_once("\n## Unreleased\n").expect("an Unreleased section");
    let section = unreleased.split("\n## ").next().unwrap_or_default();
    assert!(section.lines().any(|line| line.starts_with("- ")), "the Unreleased section is empty");
}

#[test]
fn slugs_are_those_of_code_hosts() {
    assert_eq!(slug("What the numbers can't say"), "what-the-numbers-cant-say");
    assert_eq!(slug("A `card`, and its file"), "a-card-and-its-file");
    assert_eq!(links("see [a](b.md#c) and `[x](y)` or ![i](p.png \"t\")"), ["b.md#c", "p.png"]);
    assert_eq!(links("[a]: b.md"), ["b.md"]);
    let repeated: Vec<String> = anchors("# A\n# A\n```\n# B\n```\n").into_iter().collect();
    assert_eq!(repeated, ["a", "a-1"]);
}
