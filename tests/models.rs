//! What is made again on another device, and what is there already.

use std::fs;

use sha2::{Digest, Sha256};

use crate::neural::Home;

/// What another device would have written: some scores moved, and the hash with them.
fn moved(home: &Home, by: f64) {
    let folder = home.path("out/tiny");
    let ranks = fs::read_to_string(folder.join("top20.tsv")).unwrap();
    let move_row = |(i, row): (usize, &str)| match row.rsplit_once('\t') {
        Some((start, score)) if 0 < i && i % 7 == 0 => {
            format!("{start}\t{}\n", score.parse::<f64>().unwrap() + by)
        }
        _ => format!("{row}\n"),
    };
    let new: String = ranks.lines().enumerate().map(move_row).collect();
    fs::write(folder.join("top20.tsv"), &new).unwrap();
    for name in ["method_card.json", "receipt.json"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        fs::write(folder.join(name), text.replace(&digest(&ranks), &digest(&new))).unwrap();
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn check_allows_a_model_the_rounding_of_another_device() {
    let home = Home::new();
    home.ok(&["-q", "rank", "-m", "./tiny.toml", "-o", "out"]);
    assert!(home.ok(&["check", "out"]).contains("byte for byte"));
    moved(&home, 1e-5);
    let output = home.run(&["check", "out"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("differ by rounding, as between two devices"), "{stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("but for rounding"));
    moved(&home, 0.01);
    let output = home.run(&["check", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("is not what the receipt's method gives"), "{stdout}");
}

#[test]
fn what_is_read_is_never_replaced_and_what_is_there_is_not_fetched() {
    let home = Home::new();
    fs::write(home.path("texts.jsonl"), "{\"text\": \"a\"}\n").unwrap();
    for (texts, output) in [("texts.jsonl", "./texts.jsonl"), ("texts.jsonl", "tiny.toml")] {
        let before = fs::read(home.path(output)).unwrap();
        let line = home.refused(&["embed", "-m", "./tiny.toml", "--texts", texts, "-o", output]);
        assert!(line.contains("would replace the input"), "{line}");
        assert_eq!(fs::read(home.path(output)).unwrap(), before);
    }
    let there = home.ok(&["models", "fetch", "./tiny.toml"]);
    assert!(there.ends_with("models/tiny-bert: there already\n"), "{there}");
}
