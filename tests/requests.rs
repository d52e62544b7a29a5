//! Requests that cannot be carried out, and how they are answered.

use std::fs;

use serde_json::Value;

use crate::cli::{cleanhit, dir, ok, path, refused, text};

#[test]
fn a_usage_error_is_one_line_and_help_is_not() {
    for (args, says) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["rank"], "--method <CARD>"),
        (&["rank", "-m", "bm25", "-o", "x", "--depth", "0"], "--depth <N>"),
        (&["score", "x", "-b", "y", "--qrels", "z"], "cannot be used with"),
        (&["chek"], "chek"),
        (&["check", "a\u{1b}[31m", "b\n"], "unexpected argument"),
    ] {
        let line = refused(args);
        assert!(line.starts_with("cleanhit: "), "{line}");
        assert!(line.contains(says) && line.ends_with("; try --help"), "{line}");
        assert!(!line.contains(['\u{1b}', '\n']), "{line:?}");
    }
    assert!(ok(&["--help"]).contains("Usage:"));
    assert!(ok(&["--version"]).starts_with("cleanhit "));
    let bare = cleanhit(&[]);
    assert_eq!(bare.status.code(), Some(2));
    assert!(text(&bare.stderr).contains("Usage:"));
}

#[test]
fn an_error_shows_no_control_character_of_an_input() {
    let out = dir();
    let qrels = path(&out, "q.qrels");
    fs::write(&qrels, "q 0 d 1\n").unwrap();
    let run = path(&out, "r.run");
    fs::write(&run, "q Q0 d 1 1 t\n").unwrap();
    let line = refused(&["score", &run, "--qrels", &qrels, "-M", "\u{1b}[31mred\u{202e}\n"]);
    assert!(line.contains("\\u{1b}[31mred\\u{202e}"), "{line:?}");
    let line = refused(&["score", "./\u{1b}[2J"]);
    assert!(!line.contains('\u{1b}'), "{line:?}");
    let checked = cleanhit(&["check", &{
        let card = path(&out, "c.toml");
        fs::write(&card, "format = 1\nname = \"\\u001b[31m\"\ntitle = \"t\"\nabout = \"a\"\n")
            .unwrap();
        card
    }]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(!text(&checked.stdout).contains('\u{1b}'));
}

#[test]
fn a_cutoff_or_a_measure_that_cannot_be_is_named() {
    let bm25 = concat!(env!("CARGO_MANIFEST_DIR"), "/results/samecap-mini/bm25");
    let line = refused(&["score", bm25, "-k", "21"]);
    assert!(line.contains("`-k 21`") && line.contains("expected at most 20"), "{line}");
    assert!(refused(&["score", bm25, "-k", "3,3"]).contains("`-k`: 3 is asked for twice"));
    let out = dir();
    let (qrels, run) = (path(&out, "q.qrels"), path(&out, "r.run"));
    fs::write(&qrels, "q 0 d 1\n").unwrap();
    fs::write(&run, "q Q0 d 1 1 t\n").unwrap();
    let line = refused(&["score", &run, "--qrels", &qrels, "-M", "P@5,P@5"]);
    assert!(line.contains("P@5 is asked for twice"), "{line}");
    let file = path(&out, "e.toml");
    ok(&["-q", "init", &file]);
    let text = fs::read_to_string(&file).unwrap();
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replace(from, to)).unwrap();
        let line = refused(&["run", &file, "-o", &path(&out, "o")]);
        assert!(line.contains("e.toml: field `"), "{line}");
        line
    };
    assert!(edited("depth = 20", "depth = 10").contains("field `cutoffs`: 20"));
    fs::write(
        &file,
        text.replace("depth = 20", "depth = 5000").replace("    20,\n", "    5000,\n"),
    )
    .unwrap();
    let line = refused(&["run", &file, "-o", &path(&out, "o")]);
    assert!(line.contains("field `cutoffs`: 5000; expected at most"), "{line}");
    assert!(line.contains("the smallest pool"), "{line}");
    assert!(edited("    20,\n", "    20,\n    5,\n").contains("5 is there twice"));
    assert!(edited("\"bm25\"", "\"bm26\"").contains("field `methods`: unknown method `bm26`"));
    let bench = edited("bench = \"samecap-mini\"", "bench = \"none\"");
    assert!(bench.contains("field `bench`: unknown benchmark `none`"), "{bench}");
    assert!(!out.path().join("o").exists());
}

#[test]
fn a_card_error_has_the_cards_file_and_line() {
    let out = dir();
    let o = path(&out, "o");
    let card = path(&out, "x+y.toml");
    let head = "format = 1\nname = \"xy\"\ntitle = \"t\"\nabout = \"a\"\n";
    fs::write(&card, format!("{head}[retrieve]\nkind = \"rrf\"\nparts = [\"bm25\", \"none\"]\nc = 60.0\nweights = [1.0, 1.0]\n")).unwrap();
    let line = refused(&["rank", "-m", &card, "-o", &o]);
    assert!(line.contains("x+y.toml:7: field `retrieve.parts`: unknown method `none`"), "{line}");
    fs::write(
        &card,
        format!("{head}[retrieve]\nkind = \"id_order\"\n\n[select]\nkind = \"titel\"\n"),
    )
    .unwrap();
    let line = refused(&["rank", "-m", &card, "-o", &o]);
    assert!(line.contains("x+y.toml:8: unknown selector kind `titel`"), "{line}");
    fs::write(&card, format!("{head}[retrieve]\nkind = \"id_order\"\n")).unwrap();
    ok(&["-q", "rank", "-m", &card, "-m", &format!("{card}+title"), "-o", &o]);
    assert!(out.path().join("o/xy+title/top20.tsv").is_file());
    let line = refused(&["rank", "-m", "./a+b.toml", "-o", &o]);
    assert!(line.contains("./a+b.toml: no such file; expected a method card"), "{line}");
}

#[test]
fn json_is_one_document_whatever_the_command() {
    let out = dir();
    let json = |args: &[&str]| -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        serde_json::from_str(&ok(&all)).unwrap_or_else(|err| panic!("{args:?}: {err}"))
    };
    let experiment = json(&["init", &path(&out, "e.toml")]);
    assert!(experiment["experiment"].as_str().unwrap().contains("depth = 20"));
    assert!(json(&["init", "-"])["experiment"].is_string());
    let bench = path(&out, "mine");
    let new = json(&["bench", "new", &bench, "--type", "computation_rule", "--id", "my-unit"]);
    let unit = new["unit"].as_str().unwrap().to_owned();
    assert!(unit.ends_with("units/my-unit.toml"));
    let source = "queries/samecap-mini/units";
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let first = fs::read_dir(source).unwrap().next().unwrap().unwrap();
    let copy = path(&out, &first.file_name().to_string_lossy());
    fs::copy(first.path(), &copy).unwrap();
    assert_eq!(json(&["bench", "bind", &copy])["units"][0]["bound_to"], Value::Null);
    let run = path(&out, "r.run");
    ok(&["-q", "export", "trec", "results/samecap-mini/bm25", "-o", &run]);
    let imported = json(&["import", "trec", &run, "-o", &path(&out, "r.tsv")]);
    assert_eq!(imported["method_id"], "bm25");
    assert!(58 <= imported["queries"].as_u64().unwrap(), "{imported}");
    let agents = path(&out, "a.json");
    fs::write(
        &agents,
        "{\"results\":[{\"instance_id\":\"a\",\"retrieved\":[{\"skill_id\":\"s\"}]}]}",
    )
    .unwrap();
    let imported = json(&["import", "sr-agents", &agents, "-o", &path(&out, "agents")]);
    assert_eq!(imported["files"].as_array().unwrap().len(), 2);
}
