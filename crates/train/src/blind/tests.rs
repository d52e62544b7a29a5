//! The audit, on sets made to pass or to fail.

use std::path::PathBuf;

use cleanhit_eval::units::{Config, Unit};

use super::*;

/// Settings; the audit reads its level from them.
const CONFIG: &str = include_str!("../../../../queries/samecap-mini/authoring.toml");

/// A single unit whose helpful skill says `good` where its sibling says `bad`.
fn unit(i: usize, group: &str, side: &str, good: &str, bad: &str) -> Unit {
    let (a, b) = if side == "a" { (good, bad) } else { (bad, good) };
    let text = format!(
        r#"format = 1
unit_id = "unit-{i:03}"
stratum = "single"
mechanism = "procedure"
conflict_type = "computation_rule"
domain = "tests"
lineage_group = "{group}"
split = "heldout"
correction = "The other one."
[a]
name = "skill-{i}"
description = "Does the thing number {i}."
body = "Topic t{i} u{i} v{i}. It says {a} here."
[b]
edits = [{{ from = "says {a} here", to = "says {b} here" }}]
[[query]]
text = "Please do it."
requirement = "do it"
helpful = "{side}"
helpful_span = "{good}"
sibling_span = "{bad}"
[evidence]
kind = "statement"
statement = "So."
"#
    );
    Unit::parse(&format!("unit-{i:03}.toml"), text.as_bytes()).unwrap()
}

fn set(units: Vec<Unit>) -> Authoring {
    Authoring {
        dir: PathBuf::from("set"),
        config: Config::parse("authoring.toml", CONFIG.as_bytes()).unwrap(),
        units,
        background: Vec::new(),
        unreadable: Vec::new(),
    }
}

fn side(i: usize) -> &'static str {
    if i.is_multiple_of(2) { "a" } else { "b" }
}

/// Words without a trend: a number's, spread by a prime.
fn word(i: usize) -> String {
    format!("w{:03}", i * 577 % 1000)
}

#[test]
fn chance_is_what_the_test_does_not_reject() {
    let trial = |right, wrong| Trial { scorer: "x", right, wrong, ties: 0 };
    // Binomial(35, 1/2): P(at most 11) = 0.0205, P(at most 12) = 0.0448.
    let close = |got: [f64; 2], want: [f64; 2]| {
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}");
    };
    close(trial(20, 15).chance(0.05), [12.0 / 35.0, 23.0 / 35.0]);
    close(trial(0, 0).chance(0.05), [0.0, 1.0]);
    assert_eq!((trial(0, 0).p(), trial(0, 0).accuracy()), (1.0, None));
    for right in 0..=20 {
        let trial = trial(right, 20 - right);
        let [low, high] = trial.chance(0.05);
        let inside = trial.accuracy().is_some_and(|a| (low..=high).contains(&a));
        assert_eq!(inside, 0.05 <= trial.p(), "{right}");
    }
}

#[test]
fn a_tell_is_found() {
    let units = (0..20).map(|i| unit(i, &format!("g{i}"), side(i), "with care", "in haste"));
    let authoring = set(units.collect());
    let audit = audit(&authoring);
    assert_eq!((audit.learned.right, audit.learned.wrong), (20, 0));
    let checks = audit.checks(&authoring);
    let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
    assert_eq!(names, ["blind_learned", "blind_simple", "blind_paired"]);
    let text = checks[0].violations[0].to_string();
    let want = "set/authoring.toml: field `units`: a classifier that sees no query tells the helpful \
                skill from its sibling: words and characters 100.0 % (20 of 20; chance 30.0 to 70.0 %, \
                p 0.00); the most related units";
    assert!(text.starts_with(want), "{text}");
    assert!(
        text.ends_with("expected an accuracy of chance: each contrast used in both directions")
    );
    // The tell is the longer text as well, and the last in the alphabet.
    let text = checks[1].violations[0].to_string();
    assert!(text.contains("a scorer that sees no query tells"), "{text}");
    assert!(text.contains("longer 100.0 % (20 of 20"), "{text}");
}

#[test]
fn a_contrast_and_its_mirror_image_belong_in_one_group() {
    let mirrored = |grouped: bool| {
        let mut units = Vec::new();
        for i in 0..20 {
            let group = if grouped { format!("g{}", i / 2) } else { format!("g{i}") };
            let (one, other) = (word(i / 2), word(i / 2 + 400));
            units.push(match i % 2 {
                0 => unit(i, &group, "a", &one, &other),
                _ => unit(i, &group, "b", &other, &one),
            });
        }
        set(units)
    };
    let together = mirrored(true);
    let checks = audit(&together).checks(&together);
    assert!(checks.iter().all(|check| check.passed), "{checks:?}");
    let apart = mirrored(false);
    let audit = audit(&apart);
    assert!(audit.learned.right <= 2, "{:?}", audit.learned);
    assert!(audit.related.iter().all(|related| related.cosine < -0.9), "{:?}", audit.related);
    let text = audit.checks(&apart)[0].violations[0].to_string();
    assert!(text.ends_with("a contrast and its mirror image in one lineage group"), "{text}");
}

#[test]
fn the_order_of_units_is_irrelevant() {
    let mut units: Vec<Unit> =
        (0..12).map(|i| unit(i, &format!("g{}", i % 7), side(i), &word(i), &word(i + 3))).collect();
    let before = audit(&set(units.clone()));
    units.reverse();
    assert_eq!(audit(&set(units)), before);
}

#[test]
fn an_empty_set_is_at_chance() {
    let authoring = set(Vec::new());
    let audit = audit(&authoring);
    assert_eq!(
        audit.learned,
        Trial { scorer: "words and characters", right: 0, wrong: 0, ties: 0 }
    );
    assert!(audit.checks(&authoring).iter().all(|check| check.passed));
}
