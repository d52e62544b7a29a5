//! Real skills from the shared data.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use super::*;
use crate::testing::shared;

/// What is odd about each of the files in `odd_cases.md`, as notes. A file whose oddity is not
/// one for a reader (emoji, CJK, `&` and `!` in valid YAML, …) has none.
#[test]
fn odd_files_have_the_notes_they_should() {
    use NoteKind::{
        BlankBeforeFrontMatter, Bom, Crlf, DescriptionOver1024, EmptyBody, FileNameCase,
        FrontMatterNotAtTop, Huge, InvalidYaml, InvisibleCharacters, MixedLineEnds, NameOffSpec,
        NameOver64, NoFrontMatter, UnclosedFrontMatter,
    };
    let expected: [(&str, &[NoteKind]); 38] = [
        ("01_bom", &[Bom, MixedLineEnds, NoFrontMatter]),
        ("02_mixed_eol", &[MixedLineEnds]),
        ("03_crlf", &[Crlf, NameOffSpec]),
        ("04_crlf", &[Crlf]),
        ("06_leading_ws_or_bom", &[BlankBeforeFrontMatter]),
        ("07_unclosed_frontmatter", &[UnclosedFrontMatter]),
        ("08_unclosed_frontmatter", &[UnclosedFrontMatter]),
        ("10_unclosed_frontmatter", &[UnclosedFrontMatter]),
        ("11_frontmatter_not_at_top", &[FrontMatterNotAtTop]),
        ("13_frontmatter_not_at_top", &[FrontMatterNotAtTop]),
        ("14_no_frontmatter", &[NoFrontMatter]),
        ("15_no_frontmatter", &[NoFrontMatter]),
        ("17_empty_body", &[EmptyBody]),
        ("18_empty_body", &[EmptyBody, NameOffSpec]),
        ("20_tiny", &[]),
        ("22_huge", &[Huge]),
        ("24_very_long_line", &[]),
        ("25_non_ascii_name", &[InvalidYaml, NameOffSpec]),
        ("26_name_over_64", &[NameOffSpec, NameOver64]),
        ("27_rtl", &[]),
        ("29_nbsp", &[NoFrontMatter]),
        ("30_zero_width_or_bidi", &[InvisibleCharacters]),
        ("32_emoji_meta", &[]),
        ("34_yaml_tag_like", &[]),
        ("35_anchor_like", &[]),
        ("37_description_over_1024", &[DescriptionOver1024]),
        ("39_unbalanced_fence", &[FrontMatterNotAtTop]),
        ("40_filename_case", &[FileNameCase, NoFrontMatter]),
        ("41_cjk", &[]),
        ("42_xml_in_description", &[]),
        ("44_injection_phrase", &[]),
        ("45_invalid_yaml", &[InvalidYaml]),
        ("46_invalid_yaml", &[InvalidYaml]),
        ("47_invalid_yaml", &[InvalidYaml]),
        ("48_invalid_yaml", &[InvalidYaml]),
        ("50_invalid_yaml", &[InvalidYaml]),
        ("51_invalid_yaml", &[InvalidYaml]),
        ("52_invalid_yaml", &[InvalidYaml]),
    ];
    let Some(odd) = shared("data/skills_pool/odd") else { return };
    let library = tempfile::tempdir().unwrap();
    for (name, _) in expected {
        let folder = library.path().join(name);
        fs::create_dir(&folder).unwrap();
        let file = if name == "40_filename_case" { "skill.md" } else { "SKILL.md" };
        fs::copy(odd.join(format!("{name}.md")), folder.join(file)).unwrap();
    }
    let scan = read_skill_folders(&[library.path().to_owned()], ScanOptions::default());
    assert_eq!(scan.skills.len(), 38);
    assert_eq!(scan.refused().count(), 0);
    for (name, expected) in expected {
        let of_file = scan.notes.iter().filter(|note| note.file.contains(name));
        let mut kinds: Vec<NoteKind> = of_file.map(|note| note.kind).collect();
        // Follow from the copy's folder, or from having no front matter.
        let implied =
            [NoteKind::NameNotFolder, NoteKind::NameMissing, NoteKind::DescriptionMissing];
        let missing = kinds.contains(&NoteKind::NameMissing);
        kinds.retain(|kind| !implied.contains(kind));
        kinds.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let bare = [NoFrontMatter, UnclosedFrontMatter, FrontMatterNotAtTop];
        assert_eq!(missing, expected.iter().any(|kind| bare.contains(kind)), "{name}");
        assert_eq!(kinds, expected, "{name}");
    }
}

#[test]
fn the_whole_pool_reads_with_the_known_counts() {
    let Some(path) = shared("data/skills_pool/skills.jsonl.zst") else { return };
    let scan = read_skill_jsonl(&path).unwrap();
    assert_eq!(scan.skills.len(), 9816);
    let counts: BTreeMap<&str, usize> =
        scan.summary().into_iter().map(|(kind, n)| (kind.as_str(), n)).collect();
    println!("{counts:?}");
    for (kind, n) in [
        ("name_missing", 181),
        ("description_missing", 178),
        ("name_off_spec", 671),
        ("name_over_64", 2),
        ("description_over_1024", 8),
        ("empty_body", 3),
    ] {
        assert_eq!(counts.get(kind), Some(&n), "{kind}");
    }
    let again = parse_skill_jsonl("again", &write_skill_jsonl(&scan.skills)).unwrap();
    assert_eq!(again.skills, scan.skills);
    let pool = pool_of_skills("all", &scan.skills, Template::NameDescBody).unwrap();
    assert_eq!(pool.len(), 9816);
}

/// The pool's rows hold the front matter, and name and description as another reader (PyYAML, or
/// lines where it fails) found them.
#[test]
fn names_and_descriptions_are_those_another_reader_found() {
    let Some(path) = shared("data/skills_pool/skills.jsonl.zst") else { return };
    let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut other = Vec::new();
    let (mut invalid, mut rows) = (0, 0);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let Some(front) = row["frontmatter"].as_str() else { continue };
        let text = format!("---\n{front}\n---\n{}", row["body"].as_str().unwrap());
        let (skill, notes) = parse_skill_md("f", "none", text.as_bytes()).unwrap();
        rows += 1;
        let is_invalid = notes.iter().any(|note| note.kind == NoteKind::InvalidYaml);
        invalid += usize::from(is_invalid);
        let flagged = row["flags"].as_array().unwrap().iter().any(|flag| flag == "invalid_yaml");
        for (key, ours) in [("name", &skill.name), ("description", &skill.description)] {
            let theirs = row[key].as_str().unwrap_or_default().trim();
            let ours = if ours == "none" { "" } else { ours };
            if ours != theirs || is_invalid != flagged {
                other.push((
                    row["id"].clone(),
                    key,
                    flagged,
                    is_invalid,
                    ours.to_owned(),
                    theirs.to_owned(),
                ));
            }
        }
    }
    println!("{rows} rows, {invalid} invalid, {} differ", other.len());
    for row in other.iter().take(40) {
        println!("{row:?}");
    }
    assert_eq!(rows, 9639);
    assert!(other.is_empty());
}
