//! The README's commands are the ones that `.ci/run` runs, and its listings are the files.

use super::read;

/// A README block marked `<!-- ci: NAME -->`: the marker's name and the lines between the fences.
fn marked(readme: &str) -> Vec<(String, String)> {
    let blocks = readme.split("<!-- ci: ").skip(1);
    blocks
        .map(|block| {
            let (name, rest) = block.split_once(" -->\n```sh\n").expect("a marker, then a fence");
            let (body, _) = rest.split_once("\n```").expect("a closing fence");
            (name.to_owned(), body.to_owned())
        })
        .collect()
}

#[test]
fn marked_blocks_of_the_readme_are_what_ci_runs() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    let marked = marked(&readme);
    let names: Vec<&str> = marked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["main", "test", "plugin"], "the README's marked blocks");
    for (name, body) in &marked {
        assert!(ci.contains(&format!("readme_block {name}")), ".ci/run does not run `{name}`");
        assert_eq!(body.lines().count(), 1, "`{name}` is one command");
        assert!(!ci.contains(body.as_str()), ".ci/run repeats `{body}` and could drift");
    }
}

#[test]
fn the_readme_shows_the_plug_in_whole() {
    let readme = read("README.md");
    for (path, language) in [("examples/my_scorer.rs", "rust"), ("examples/overlap.toml", "toml")] {
        let block = format!("```{language}\n{}```", read(path));
        assert!(readme.contains(&block), "README.md does not show {path} as it is");
    }
}

#[test]
fn a_plug_in_fits_in_twenty_lines() {
    let lines = read("examples/my_scorer.rs").lines().count();
    assert!(lines <= 20, "examples/my_scorer.rs has {lines} lines; expected at most 20");
}
