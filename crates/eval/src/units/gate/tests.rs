//! Each rule, on a copy of a good set with one thing broken.

use super::*;
use crate::units::{
    freeze,
    testing::{broken, second, small},
};

const X: &str = "units/unit-x.toml";
const Y: &str = "units/unit-y.toml";
const PAIR: &str = "units/pair-x.toml";

/// What a rule says of the small set with one replacement: violations without their folder.
#[track_caller]
fn says(rule: fn(&Authoring) -> Check, file: &str, from: &str, to: &str) -> Vec<String> {
    let (dir, authoring) = broken(file, from, to);
    let check = rule(&authoring);
    assert_eq!(check.passed, check.violations.is_empty());
    assert!(!structural(&authoring).passed(), "the rule is not among those of the gate");
    let folder = format!("{}/", dir.path().display());
    check.violations.iter().map(|v| v.to_string().replace(&folder, "")).collect()
}

/// As [`says`], for a rule that finds one thing.
#[track_caller]
fn one(rule: fn(&Authoring) -> Check, file: &str, from: &str, to: &str, want: &str) {
    assert_eq!(says(rule, file, from, to), [want]);
}

#[test]
fn the_small_set_passes() {
    let (_dir, authoring) = small();
    let report = structural(&authoring);
    assert!(report.passed(), "{report}");
    assert!(report.to_string().ends_with("17 of 17 checks passed"), "{report}");
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_hides_no_other() {
    let (from, to) = ("stratum = \"single\"", "stratum = \"double\"");
    let found = says(readable, X, from, to);
    assert_eq!(found.len(), 1);
    let want = "units/unit-x.toml:3: field `stratum`: unknown variant `double`";
    assert!(found[0].starts_with(want), "{found:?}");
    let (_dir, authoring) = broken(X, from, to);
    assert_eq!(authoring.units.len(), 2);
    let (dir, _) = small();
    std::fs::write(dir.path().join("background/csv-merge/SKILL.md"), b"\xff").unwrap();
    let check = readable(&Authoring::load(dir.path()).unwrap());
    let text = check.violations[0].to_string();
    assert!(text.contains("background/csv-merge/SKILL.md:1: "), "{text}");
    std::fs::remove_file(dir.path().join("background/csv-merge/SKILL.md")).unwrap();
    let check = readable(&Authoring::load(dir.path()).unwrap());
    assert!(
        check.violations[0]
            .to_string()
            .ends_with("SKILL.md: no such file; expected a file that is there")
    );
}

#[test]
fn taxonomy_holds_together() {
    one(
        taxonomy,
        X,
        "\"procedure\"",
        "\"applicability\"",
        "units/unit-x.toml:4: field `mechanism`: `computation_rule` is no type of `applicability`; \
         expected `procedure`, or another type",
    );
    let found = says(taxonomy, PAIR, "\"planned_vs_occurred\"", "\"computation_rule\"");
    assert_eq!(
        found[1],
        "units/pair-x.toml:3: field `stratum`: `paired` units have no `computation_rule`; \
         expected `single`"
    );
    one(
        taxonomy,
        PAIR,
        "\"heldout\"",
        "\"development\"",
        "units/pair-x.toml:8: field `split`: a paired unit is for development; expected `heldout`",
    );
}

#[test]
fn roles_are_exchanged() {
    one(
        roles,
        PAIR,
        "helpful = \"b\"",
        "helpful = \"a\"",
        "units/pair-x.toml:38: field `query[1].helpful`: both queries have the same helpful skill; \
         expected the roles exchanged",
    );
    let query = &crate::units::testing::SINGLE;
    let query = &query[query.find("[[query]]").unwrap()..query.find("[evidence]").unwrap()];
    one(
        roles,
        X,
        "[evidence]",
        &format!("{query}[evidence]"),
        "units/unit-x.toml: field `query`: a single unit has 2; expected 1",
    );
}

#[test]
fn spans_bind() {
    one(
        spans,
        X,
        "requirement = \"without the bias",
        "requirement = \"with the bias",
        "units/unit-x.toml:37: field `query[0].requirement`: is not in the query; expected a span of \
         its `text`",
    );
    one(
        spans,
        X,
        "helpful_span = \"the count less one\"",
        "helpful_span = \"the count\"",
        "units/unit-x.toml:39: field `query[0].helpful_span`: is also in the sibling; expected a span \
         of the helpful skill alone",
    );
    one(
        spans,
        X,
        "sibling_span = \"The divisor is the count.\"",
        "sibling_span = \"The divisor is the square.\"",
        "units/unit-x.toml:40: field `query[0].sibling_span`: is not in the sibling; expected a span of \
         its text",
    );
    one(
        spans,
        X,
        "sibling_span = \"The divisor is the count.\"",
        "sibling_span = \"The divisor is the count\"",
        "units/unit-x.toml:40: field `query[0].sibling_span`: is also in the helpful skill; expected a \
         span of the sibling alone",
    );
}

#[test]
fn placeholders_and_cues_are_found() {
    one(
        placeholders,
        X,
        "\"statistics\"",
        "\"todo\"",
        "units/unit-x.toml:6: field `domain`: holds a `TODO`; expected text in its place",
    );
    let cue = "says `do not use`; expected a neutral text, without role cues";
    let found = says(cues, X, "Units are those", "Do not\nuse: units are those");
    assert_eq!(found, [format!("units/unit-x.toml:14: field `a.body`: {cue}")]);
    let found = says(cues, X, "to = \"the count\"", "to = \"the count, do not use\"");
    assert_eq!(found, [format!("units/unit-x.toml:30: field `b.edits`: {cue}")]);
    let found = says(cues, PAIR, "tour-from-tracker", "tour-do-not-use");
    assert_eq!(found, [format!("units/pair-x.toml:20: field `b.name`: {cue}")]);
    let found = says(cues, PAIR, "A customer asks", "Do not use it: a customer asks");
    assert_eq!(found, [format!("units/pair-x.toml:29: field `query[0].text`: {cue}")]);
}

#[test]
fn queries_are_a_persons_request() {
    let text = "units/unit-x.toml:36: field `query[0].text`";
    let query = |to: &str| says(queries, X, "These nine readings", to);
    let many = query(&"a b c d e f g h ".repeat(10));
    assert_eq!(many, [format!("{text}: has 98 words; expected 15 to 90")]);
    let many = query("One. Two! Three? Four… These nine");
    assert_eq!(many, [format!("{text}: has 5 sentences; expected 1 to 4")]);
    let quoted = query("I need a spread report: these nine readings");
    assert_eq!(
        quoted,
        [format!("{text}: quotes the name `spread-report`; expected ordinary words")]
    );
    let quoted = query("These, where the count less one counts,");
    assert_eq!(quoted, [format!("{text}: quotes the helpful span; expected ordinary words")]);
    let run = query("I need how far values lie from their mean. These nine");
    assert_eq!(run.len(), 2);
    let want =
        "shares `how far values lie from their mean` with skill `a`; expected at most 5 words";
    assert!(run[0].starts_with(&format!("{text}: {want}")), "{run:?}");
    let whole = "These nine readings are a sample of a long day, and I want their variance \
                 without the bias towards small numbers.";
    one(
        queries,
        X,
        "requirement = \"without the bias towards small numbers\"",
        &format!("requirement = \"{whole}\""),
        "units/unit-x.toml:37: field `query[0].requirement`: is the whole query; expected one clause \
         of it",
    );
}

#[test]
fn skills_have_their_length_and_edges() {
    let found = says(skills, X, "Units are those", &"word ".repeat(400));
    assert_eq!(found.len(), 2);
    assert!(found[0].contains("field `a.body`: has 4") && found[0].ends_with("expected 15 to 400"));
    let found = says(skills, PAIR, "in the answer.\n'''", "in the answer.\n\n'''");
    let want = "units/pair-x.toml:13: field `a.body`: has blank lines at an edge; expected text at \
                the start, and one line end at the end";
    assert_eq!(found, [want]);
}

#[test]
fn a_unit_is_one_small_contrast_of_even_length() {
    let long = "a whole new ending that goes on about many other things ".repeat(4);
    let found = says(contrast, X, "to = \"the count\"", &format!("to = \"the count, {long}\""));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("field `b.edits`: change 27.2 % of the words, on 2 lines;"),
        "{found:?}"
    );
    assert!(found[0].ends_with("expected at most 20.0 %: one contract"), "{found:?}");
    let found = says(pair_lengths, X, "to = \"the count\"", &format!("to = \"the count, {long}\""));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("units/unit-x.toml:29: field `b`: "), "{found:?}");
    assert!(found[0].ends_with("expected at most 10.0 %"), "{found:?}");
}

#[test]
fn the_helpful_text_is_not_always_the_longer_one() {
    let (_dir, mut authoring) = small();
    let unit = authoring.units.iter().find(|u| u.id == "unit-x").unwrap().clone();
    authoring.units.extend(vec![unit; 6]);
    let check = length_balance(&authoring);
    assert!(check.passed, "7 against 1 has p 0.07: {}", check.detail);
    authoring.units.retain(|unit| unit.id != "unit-y");
    let check = length_balance(&authoring);
    assert_eq!(check.violations.len(), 1);
    let text = check.violations[0].to_string();
    assert!(
        text.contains(
            "the helpful text is the longer one 7 times, the shorter one 0 times: p 0.0156"
        )
    );
    assert!(
        check.detail.contains("paired: helpful longer 1, shorter 1, equal 0, p 1.00"),
        "{}",
        check.detail
    );
}

#[test]
fn lineage_groups_are_not_split() {
    one(
        lineage,
        Y,
        "lineage_group = \"group-y\"\nsplit = \"heldout\"",
        "lineage_group = \"group-x\"\nsplit = \"development\"",
        "units/unit-y.toml:7: field `lineage_group`: `group-x` holds a development single unit, and \
         unit `unit-x`, which is heldout single; expected one split and one stratum in a group",
    );
}

#[test]
fn evidence_binds_the_text_it_was_accepted_for() {
    let found = says(evidence, X, "Units are those", "Units are all those");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "units/unit-x.toml:44: field `evidence.binds`: evidence does not bind: text changed since it \
         was accepted; re-read the unit and run `cleanhit bench bind "
    ));
    let found = says(evidence, X, "binds = ", "# binds = ");
    assert!(
        found[0].contains("field `evidence.binds`: evidence does not bind: nobody has accepted")
    );
    let found = says(evidence, X, "```python", "```text");
    let want = "units/unit-x.toml:14: field `a.body`: has no python block for the evidence to run; \
                expected a fenced block that starts with ```python";
    assert_eq!(found[1], want);
    // What no evidence speaks of may change without a second reading.
    let (_dir, authoring) = broken(X, "\"statistics\"", "\"census\"");
    assert!(structural(&authoring).passed());
}

#[test]
fn nothing_is_odd_about_the_background() {
    let file = "background/csv-merge/SKILL.md";
    let found = says(background, file, "name: csv-merge", "name: csv-join");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with(file) && found[0].contains("`csv-join` is not that of its folder")
    );
    let found = says(background, file, "description: Merges tables by key.", "description: \"\"");
    assert!(found[0].contains("no description"), "{found:?}");
    let found = says(background, file, "---\nname", "name");
    assert!(found[0].contains("front matter"), "{found:?}");
}

#[test]
fn names_texts_and_queries_are_distinct() {
    one(
        duplicates,
        "background/csv-merge/SKILL.md",
        "name: csv-merge",
        "name: bill-total",
        "background/csv-merge/SKILL.md: its name `bill-total` is also that of skill `a` of unit \
         `unit-y`; expected distinct names",
    );
    let query = "All forty pupils were weighed, and";
    one(
        duplicates,
        Y,
        query,
        "These NINE readings are  a sample of a long day, and",
        "units/unit-y.toml:38: field `query[0].text`: is also query 0 of unit `unit-x`; expected \
         distinct queries",
    );
    let (_dir, mut authoring) = small();
    let mut copy = authoring.background[0].clone();
    copy.skill.body.push_str("  \n");
    authoring.background.push(copy);
    let check = duplicates(&authoring);
    assert_eq!(check.violations.len(), 2);
    assert!(check.violations[1].problem.starts_with("its text is also that of background skill"));
}

#[test]
fn near_duplicates_are_found_across_units_only() {
    let (_dir, authoring) = small();
    assert!(near_duplicates(&authoring).passed);
    let (dir, authoring) = small();
    let text = second().replace("unit-y", "unit-z").replace("bill-total", "bill-sum");
    let path = dir.path().join("units/unit-z.toml");
    std::fs::write(&path, text).unwrap();
    let mut again = Authoring::load(&authoring.dir).unwrap();
    let check = near_duplicates(&again);
    assert_eq!(check.violations.len(), 4, "{:?}", check.violations);
    let text = check.violations[0].to_string();
    assert!(text.contains("skill `a` of unit `unit-y` by 0.9"), "{text}");
    assert!(text.ends_with("expected at most 0.5"), "{text}");
    again.config.limits.near_duplicate = 1.0;
    assert!(near_duplicates(&again).passed);
}

#[test]
fn too_few_of_a_type_are_reported() {
    one(
        minimum,
        "authoring.toml",
        "background = 2",
        "background = 3",
        "authoring.toml: field `minimum.background`: 2 background skills; expected at least 3",
    );
    let found = says(minimum, "authoring.toml", "paired = 0", "paired = 1");
    assert_eq!(found.len(), 4);
    assert!(found[0].ends_with("0 heldout units of `normative_vs_empirical`; expected at least 1"));
    let found = says(minimum, "authoring.toml", "single_heldout = 0", "single_heldout = 2");
    assert_eq!(found.len(), 6, "two units have the type `computation_rule`");
}

#[test]
fn frozen_files_are_those_of_the_units() {
    let (dir, authoring) = small();
    let new = frozen(&authoring);
    assert!(new.passed && new.detail.starts_with("not frozen yet; run `cleanhit bench freeze "));
    freeze(&authoring).unwrap().write(&authoring).unwrap();
    assert!(check(&authoring).passed());
    let path = dir.path().join("pools/paired.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("csv", "tsv", 1)).unwrap();
    std::fs::remove_file(dir.path().join("cases.tsv")).unwrap();
    let found: Vec<String> =
        frozen(&authoring).violations.iter().map(ToString::to_string).collect();
    let folder = dir.path().display();
    assert_eq!(
        found,
        [
            format!(
                "{folder}/pools/paired.jsonl: is stale: not what the units freeze to; expected what \
                 `cleanhit bench freeze` writes"
            ),
            format!("{folder}/cases.tsv: is missing; expected what `cleanhit bench freeze` writes"),
        ]
    );
}

#[test]
fn a_report_prints_and_serialises() {
    let (_dir, authoring) = broken(X, "\"procedure\"", "\"applicability\"");
    let report = structural(&authoring);
    let text = report.to_string();
    assert!(text.contains("FAIL  taxonomy         2 of 12 types\n      "), "{text}");
    assert!(text.ends_with("16 of 17 checks passed"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let check = &json["checks"][1];
    assert_eq!((&check["name"], &check["passed"]), (&"taxonomy".into(), &false.into()));
    assert_eq!(check["violations"][0]["line"], 4);
    assert_eq!(check["violations"][0]["field"], "mechanism");
}
