//! The source: file length, machine paths, crate docs, and panics that say why.

use super::{Text, none, read, texts};

/// Where code lives.
const CODE: [&str; 6] = ["crates/", "tests/", "benches/", "bench/", "fuzz/", "examples/"];

/// Texts under test: a skill may speak of any path.
const CONTENT: [&str; 5] = ["pools/", "queries/", "results/", "tests/fixtures/", "fuzz/seeds/"];

fn code() -> Vec<Text> {
    let is_code = |t: &Text| (t.is("rs") || t.is("py") || t.is("sh")) && t.is_in(&CODE);
    texts().into_iter().filter(is_code).collect()
}

#[test]
fn files_have_at_most_500_lines() {
    let long = code().into_iter().map(|t| (t.content.lines().count(), t.path));
    none(long.filter(|(n, _)| 500 < *n).map(|(n, path)| format!("{path}: {n} lines")).collect());
}

#[test]
fn nothing_names_a_machine_or_its_registry() {
    // Written in halves, so that this file doesn't name them either.
    let paths = [("/ro", "ot/"), ("/ho", "me/"), ("/wo", "rk/"), ("/tm", "p/"), ("C:\\", "Users")];
    let hosts = [
        ("replace", "-with"),
        ("index", "-url"),
        ("extra-index", "-url"),
        ("art", "ifactory"),
        ("http://1", "0."),
        ("http://19", "2.168."),
        ("http://17", "2.1"),
    ];
    let needles: Vec<String> =
        paths.into_iter().chain(hosts).map(|(a, b)| format!("{a}{b}")).collect();
    let mut breaches = Vec::new();
    for Text { path, content } in texts().into_iter().filter(|t| !t.is_in(&CONTENT)) {
        for (line, number) in content.lines().zip(1..) {
            let found = needles.iter().filter(|needle| line.contains(needle.as_str()));
            breaches.extend(found.map(|needle| format!("{path}:{number}: `{needle}`")));
        }
    }
    none(breaches);
}

#[test]
fn locked_packages_come_from_the_public_registry() {
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    for file in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(file);
        let other = lock.lines().filter(|line| line.starts_with("source = ") && *line != public);
        none(other.map(|line| format!("{file}: {line}")).collect());
    }
}

#[test]
fn every_crate_says_what_it_is_and_what_it_never_does() {
    let roots = texts().into_iter().filter(|t| {
        t.path == "crates/cli/lib.rs" || (t.is_in(&["crates/"]) && t.path.ends_with("/src/lib.rs"))
    });
    let bare = roots.filter(|t| {
        let docs = t.content.lines().take_while(|line| line.starts_with("//!"));
        !docs.collect::<Vec<_>>().join("\n").contains("Architecture invariant: ")
    });
    none(bare.map(|t| format!("{}: no architecture invariant in its docs", t.path)).collect());
}

#[test]
fn library_code_panics_only_with_a_reason() {
    let sources = texts().into_iter().filter(|t| t.is("rs") && t.is_in(&["crates/"]));
    let mut breaches = Vec::new();
    for Text { path, content } in sources.filter(|t| !is_test_file(t)) {
        for (lint, calls) in [
            ("unwrap_used", [".unwrap()", ".unwrap_err()"].as_slice()),
            ("expect_used", &[".expect(", ".expect_err("]),
            ("panic", &["panic!("]),
            ("todo", &["todo!(", "unimplemented!("]),
        ] {
            let found = production(&content)
                .filter(|(_, line)| calls.iter().any(|call| line.contains(call)))
                .map(|(number, _)| number);
            let found: Vec<usize> = found.collect();
            let reasons = content.matches(&format!("clippy::{lint}")).count();
            if reasons < found.len() {
                breaches.push(format!("{path}: lines {found:?}: {calls:?} without `#[expect]`"));
            }
        }
        for (number, line) in production(&content) {
            if line.contains("#[allow(") || line.contains("#![allow(") {
                breaches.push(format!("{path}:{number}: `allow`; expected `expect` with a reason"));
            }
        }
    }
    none(breaches);
}

#[test]
fn every_expectation_has_a_reason() {
    let mut breaches = Vec::new();
    for Text { path, content } in code().into_iter().filter(|t| t.is("rs")) {
        let parts = content.split("#[expect(").skip(1).chain(content.split("#![expect(").skip(1));
        // The marker in this file's own strings is no attribute.
        let bare = parts.filter(|part| !part.starts_with('"'));
        let bare = bare.filter(|part| {
            let attribute = part.split(")]").next().unwrap_or_default();
            !attribute.contains("reason = ")
        });
        breaches.extend(bare.map(|_| format!("{path}: an `#[expect]` without a reason")));
    }
    none(breaches);
}

/// Tests by the house's names for them, and programs that nobody depends on.
fn is_test_file(text: &Text) -> bool {
    let folders = ["/tests/", "/examples/", "/benches/"];
    let names = ["tests.rs", "/properties.rs", "/testing.rs"];
    folders.iter().any(|folder| text.path.contains(folder))
        || names.iter().any(|name| text.path.ends_with(name))
}

/// Lines that are neither comments nor in the test module, which ends a file.
fn production(content: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = content.lines().zip(1..).map(|(line, number)| (number, line));
    lines
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}
