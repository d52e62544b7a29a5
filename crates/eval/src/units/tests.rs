//! Reading, binding and freezing, on a small set.

use std::{collections::BTreeMap, fs};

use cleanhit_io::{Benchmark, Folder};
use proptest::prelude::*;

use super::{
    testing::{CONFIG, PAIRED, SINGLE, small},
    *,
};

/// What reading a unit says after one replacement.
#[track_caller]
fn says(base: &str, from: &str, to: &str) -> Vec<String> {
    assert!(base.contains(from));
    let text = base.replacen(from, to, 1);
    let file = if base == SINGLE { "unit-x.toml" } else { "pair-x.toml" };
    let errors = Unit::parse(file, text.as_bytes()).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn edits_make_the_sibling() {
    let unit = Unit::parse("a/unit-x.toml", SINGLE.as_bytes()).unwrap();
    assert!(unit.b.body.contains("for v in values) / len(values)\n"));
    assert!(unit.b.body.contains("The divisor is the count. Units"));
    assert_eq!((&unit.a.name, unit.a.body.len() - unit.b.body.len()), (&unit.b.name, 6 + 9));
    assert!(unit.a.python().unwrap().starts_with("def spread"));
    let (helpful, sibling) = unit.roles(&unit.queries[0]);
    assert_eq!((helpful, sibling), (&unit.a, &unit.b));
}

#[test]
fn an_edit_names_one_place() {
    let field = "field `b.edits[1].from`";
    let from = "from = \"the count less one\"";
    assert_eq!(
        says(SINGLE, from, "from = \"the count less two\""),
        [format!("unit-x.toml:32: {field}: does not occur in `a.body`; expected once")]
    );
    assert_eq!(
        says(SINGLE, from, "from = \"values\""),
        [format!(
            "unit-x.toml:32: {field}: occurs more than once in `a.body`; expected once: quote more of \
             the text around it"
        )]
    );
    assert_eq!(
        says(SINGLE, from, "in = \"name\", from = \"the count less one\""),
        [format!("unit-x.toml:32: {field}: does not occur in `a.name`; expected once")]
    );
    assert_eq!(
        says(SINGLE, from, "from = \"(values) - 1)\""),
        [format!("unit-x.toml:32: {field}: overlaps with edit 0; expected edits side by side")]
    );
    assert_eq!(
        says(SINGLE, "to = \"the count\"", "to = \"the count less one\""),
        [format!("unit-x.toml:32: {field}: is what `to` says; expected a change")]
    );
    // All are found in the skill as written out, so their order is irrelevant.
    let lines: Vec<&str> = SINGLE.lines().filter(|line| line.starts_with("  { from")).collect();
    let swapped = SINGLE.replace(&lines.join("\n"), &format!("{}\n{}", lines[1], lines[0]));
    let both = [SINGLE, &swapped].map(|text| Unit::parse("unit-x.toml", text.as_bytes()).unwrap());
    assert_eq!(both[0].b, both[1].b);
}

#[test]
fn a_field_that_is_unknown_missing_or_of_another_type_is_named() {
    let found = says(SINGLE, "domain =", "domian =");
    assert!(
        found[0].starts_with("unit-x.toml:6: field `domian`: unknown field `domian`"),
        "{found:?}"
    );
    let found = says(SINGLE, "requirement =", "requirements =");
    assert!(
        found[0].starts_with("unit-x.toml:37: field `query.requirements`: unknown"),
        "{found:?}"
    );
    let found = says(SINGLE, "statement = \"Dividing", "# \"Dividing");
    assert!(found[0].contains("missing field `statement`"), "{found:?}");
    let found = says(SINGLE, "helpful = \"a\"", "helpful = 1");
    assert!(found[0].starts_with("unit-x.toml:38: field `query.helpful`: "), "{found:?}");
    let found = says(SINGLE, "[evidence]", "[evidence");
    assert!(found[0].starts_with("unit-x.toml:42: "), "{found:?}");
}

#[test]
fn a_value_out_of_range_is_named() {
    assert_eq!(
        says(SINGLE, "format = 1", "format = 2"),
        ["unit-x.toml:1: field `format`: is 2; expected 1"]
    );
    assert_eq!(
        says(SINGLE, "unit_id = \"unit-x\"", "unit_id = \"unit-z\""),
        [
            "unit-x.toml:2: field `unit_id`: `unit-z` names another file; expected the file's stem, as \
             in `unit-z.toml`"
        ]
    );
    assert_eq!(
        says(SINGLE, "\"group-x\"", "\"Group x\""),
        [
            "unit-x.toml:7: field `lineage_group`: `Group x` is not in kebab case; expected lower-case \
             letters, digits and single hyphens"
        ]
    );
    assert_eq!(
        says(SINGLE, "\"the count less one\"\nsib", "\" \"\nsib"),
        ["unit-x.toml:39: field `query[0].helpful_span`: is empty; expected text"]
    );
    assert_eq!(
        says(SINGLE, "long day, and", "long day\\r, and"),
        [
            "unit-x.toml:36: field `query[0].text`: holds a carriage return; expected lines that end in \
             LF alone"
        ]
    );
    let found = says(SINGLE, "correction =", "# correction =");
    assert!(found[0].contains("field `correction`: is missing from a single unit"), "{found:?}");
    let found = says(SINGLE, "tests = '''", "# '''");
    assert!(found[0].starts_with("unit-x.toml:46: "), "{found:?}");
    let found = says(SINGLE, "\"runnable\"", "\"statement\"");
    assert!(found[0].contains("field `evidence.tests`: never runs"), "{found:?}");
}

#[test]
fn a_sibling_is_edits_or_a_whole_skill() {
    let found = says(SINGLE, "edits = [", "name = \"b\"\nedits = [");
    assert_eq!(
        found,
        [
            "unit-x.toml:29: field `b`: is not written as edits of `[a]`; expected `edits` and nothing \
             else"
        ]
    );
    let found = says(PAIRED, "name = \"tour-from-tracker\"\n", "");
    assert!(found[0].contains("field `b`: is not a skill written out in full"), "{found:?}");
    let found = says(SINGLE, "\"single\"", "\"paired\"");
    assert!(found.iter().any(|error| error.contains("written out in full")), "{found:?}");
}

#[test]
fn binding_changes_its_line_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("unit-x.toml");
    // Comments, odd spacing and a missing last newline are the author's.
    let text = format!("#  odd\n\n{SINGLE}")
        .replace("kind = \"runnable\"", "kind   = \"runnable\" # runs");
    let text = text.trim_end().to_owned();
    fs::write(&path, &text).unwrap();
    let Bound::Now(hash) = bind(&path).unwrap() else { panic!("bound already") };
    assert_eq!(hash, evidence_sha256(&Unit::parse("unit-x.toml", text.as_bytes()).unwrap()));
    let bound = fs::read_to_string(&path).unwrap();
    let line = format!("binds = \"{hash}\"\n");
    assert_eq!(bound.replace(&line, ""), text);
    assert!(bound.contains(&format!("kind   = \"runnable\" # runs\n{line}statement")));
    assert_eq!(bind(&path).unwrap(), Bound::Already);
    assert_eq!(fs::read_to_string(&path).unwrap(), bound);

    let changed = bound.replace("nine readings", "ten readings");
    fs::write(&path, &changed).unwrap();
    let Bound::Now(new) = bind(&path).unwrap() else { panic!("a changed text binds") };
    assert_ne!(new, hash);
    assert_eq!(fs::read_to_string(&path).unwrap(), changed.replace(&hash, &new));
}

#[test]
fn a_unit_that_holds_its_skeletons_texts_is_not_bound() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("unit-x.toml");
    let text = SINGLE.replacen("statement = \"", "statement = \"TODO: ", 1);
    fs::write(&path, &text).unwrap();
    let errors = bind(&path).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = errors[0].to_string();
    assert!(error.contains("field `evidence.statement`: holds a `TODO`"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn binding_an_inline_table_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pair-x.toml");
    let at = PAIRED.find("[evidence]").unwrap();
    let head = PAIRED[..at].replacen(
        "format = 1",
        "format = 1\nevidence = { kind = \"statement\", statement = \"Why.\" }",
        1,
    );
    fs::write(&path, &head).unwrap();
    let errors = bind(&path).unwrap_err();
    assert!(errors[0].to_string().ends_with(
        "pair-x.toml:2: field `evidence.kind`: shares its line with other keys; expected `[evidence]` as \
         a table, one key a line"
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), head);
}

#[test]
fn every_part_that_evidence_speaks_of_is_in_its_hash() {
    let base = Unit::parse("unit-x.toml", SINGLE.as_bytes()).unwrap();
    let hash = evidence_sha256(&base);
    let changed: [fn(&mut Unit); 9] = [
        |unit| unit.a.name.push('x'),
        |unit| unit.b.body.push('x'),
        |unit| unit.queries[0].text.push('x'),
        |unit| unit.queries[0].helpful = Side::B,
        |unit| unit.queries[0].helpful_span.push('x'),
        |unit| unit.evidence.statement.push('x'),
        |unit| unit.evidence.tests = None,
        |unit| unit.evidence.kind = Kind::Statement,
        // A part moves from one field to the next.
        |unit| {
            let c = unit.queries[0].helpful_span.pop().unwrap();
            unit.queries[0].sibling_span.insert(0, c);
        },
    ];
    for (i, change) in changed.iter().enumerate() {
        let mut unit = base.clone();
        change(&mut unit);
        assert_ne!(evidence_sha256(&unit), hash, "change {i}");
    }
    let mut unit = base.clone();
    unit.split = Split::Development;
    assert_eq!(evidence_sha256(&unit), hash);
}

#[test]
fn freezing_twice_gives_the_same_bytes_and_a_benchmark_that_opens() {
    let (dir, authoring) = small();
    let frozen = freeze(&authoring).unwrap();
    let again = freeze(&Authoring::load(dir.path()).unwrap()).unwrap();
    assert_eq!(frozen, again);
    frozen.write(&authoring).unwrap();
    let bench = Benchmark::open(Folder::Disk(dir.path().to_owned())).unwrap();
    assert_eq!((bench.name.as_str(), bench.n_queries()), ("small-set", 4));
    let sizes: Vec<(&str, usize, usize)> =
        bench.pools.iter().map(|p| (p.pool.name(), p.pool.len(), p.queries.len())).collect();
    assert_eq!(sizes, [("single", 6, 2), ("paired", 4, 2)]);

    let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    let cases = read("cases.tsv");
    let rows: Vec<BTreeMap<&str, &str>> = cases
        .lines()
        .skip(1)
        .map(|row| cases.lines().next().unwrap().split('\t').zip(row.split('\t')).collect())
        .collect();
    assert_eq!(rows.len(), 4);
    let texts: BTreeMap<String, String> = ["single", "paired"]
        .iter()
        .flat_map(|pool| {
            read(&format!("pools/{pool}.jsonl")).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .map(|row| {
            let row: serde_json::Value = serde_json::from_str(&row).unwrap();
            let part = |key: &str| row[key].as_str().unwrap().to_owned();
            (part("candidate_id"), part("text"))
        })
        .collect();
    for row in &rows {
        let unit = authoring.units.iter().find(|unit| unit.id == row["unit_id"]).unwrap();
        let (_, query) = bench.find_query(row["query_case_id"]).unwrap();
        let query = unit.queries.iter().find(|q| q.text == query.text).unwrap();
        let (helpful, sibling) = unit.roles(query);
        assert_eq!(texts[row["helpful_skill_id"]], helpful.rendered());
        assert_eq!(texts[row["risky_sibling_id"]], sibling.rendered());
        assert_eq!(row["main_evaluation"], "yes");
        assert_eq!(row["fold"] == "none", unit.stratum == Stratum::Paired);
    }
    assert_eq!((rows[0]["stratum"], rows[3]["stratum"]), ("core_local_contract", "hard_role_flip"));
    assert_eq!(read("pools/families.tsv").lines().count(), 1 + 6);
}

#[test]
fn frozen_ids_say_nothing_and_rows_follow_them() {
    let (_dir, authoring) = small();
    for file in freeze(&authoring).unwrap().files() {
        if !file.path.ends_with(".jsonl") {
            continue;
        }
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        let ids: Vec<&str> = text.lines().map(|row| row.split('"').nth(3).unwrap()).collect();
        assert!(ids.is_sorted(), "{}", file.path);
        let neutral = |id: &&str| id.len() == 14 && id[2..].bytes().all(|b| b.is_ascii_hexdigit());
        assert!(ids.iter().all(neutral), "{ids:?}");
    }
}

#[test]
fn a_set_that_fails_the_gate_is_not_frozen() {
    let (_dir, authoring) =
        testing::broken("units/unit-x.toml", "\"procedure\"", "\"applicability\"");
    let error = freeze(&authoring).unwrap_err();
    assert!(matches!(error, FreezeError::Gate(_)));
    assert!(error.to_string().starts_with("the gate refuses the set:\nok    readable"), "{error}");
}

#[test]
fn a_skeleton_parses_and_fails_the_gate_until_written() {
    let (_dir, mut authoring) = small();
    for &kind in ConflictType::ALL {
        let text = new_unit(kind.stratum(), kind, "some-unit");
        let file = format!("{kind}/some-unit.toml");
        let unit = Unit::parse(&file, text.as_bytes()).unwrap();
        assert_eq!((unit.conflict_type, unit.mechanism), (kind, kind.mechanism()));
        authoring.units.push(unit);
    }
    assert!(gate::taxonomy(&authoring).passed);
    assert!(gate::roles(&authoring).passed);
    let spans = gate::spans(&authoring);
    assert!(spans.passed, "{:?}", spans.violations);
    let left = gate::placeholders(&authoring).violations;
    assert!(12 * 5 < left.len());
    assert!(left.iter().all(|error| error.file.ends_with("/some-unit.toml")));
}

proptest! {
    /// No text makes a reader panic, and an error is one line that names the file.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for error in Unit::parse("f.toml", &bytes).unwrap_err() {
            let text = error.to_string();
            prop_assert!(text.starts_with("f.toml") && !text.contains('\n'), "{text}");
        }
        prop_assert!(Config::parse("f.toml", &bytes).is_err());
        let _ = Background::parse("f", "f", &bytes);
    }

    /// A unit cut, doubled or garbled at any place is read or refused.
    #[test]
    fn a_garbled_unit_is_read_or_refused(
        paired in any::<bool>(),
        at in 0.0..1.0,
        length in 0_usize..60,
        put in prop_oneof!["[\\PC\n]{0,20}", Just("'''".to_owned()), Just("\n[b]\n".to_owned())],
    ) {
        let base = if paired { PAIRED } else { SINGLE };
        let cut = |at: usize| (at..=base.len()).find(|&at| base.is_char_boundary(at)).unwrap_or(base.len());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short text")]
        let start = cut((at * base.len() as f64) as usize);
        let text = format!("{}{put}{}", &base[..start], &base[cut(start + length)..]);
        let file = if paired { "pair-x.toml" } else { "unit-x.toml" };
        match Unit::parse(file, text.as_bytes()) {
            Ok(unit) => prop_assert_eq!(evidence_sha256(&unit).len(), 64),
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }

    /// Settings that are garbled are read or refused.
    #[test]
    fn garbled_settings_are_read_or_refused(at in 0_usize..CONFIG.len(), put in "\\PC{0,8}") {
        let text = format!("{}{put}{}", &CONFIG[..at], &CONFIG[at..]);
        let _ = Config::parse("authoring.toml", text.as_bytes());
    }
}
