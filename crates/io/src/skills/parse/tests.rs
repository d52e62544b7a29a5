use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8]) -> (Skill, Vec<NoteKind>) {
    let (skill, notes) = parse_skill_md("f", "lib/a", bytes).unwrap();
    (skill, notes.iter().map(|note| note.kind).collect())
}

fn refusal(bytes: &[u8]) -> String {
    parse_skill_md("f", "lib/a", bytes).unwrap_err().to_string()
}

#[test]
fn a_tidy_file_has_no_notes() {
    let text = "---\nname: a\ndescription: does a\n---\n\n# A\n\ttext  \n";
    let (skill, notes) = read(text.as_bytes());
    assert_eq!(notes, []);
    assert_eq!((skill.id.as_str(), skill.name.as_str()), ("lib/a", "a"));
    assert_eq!((skill.description.as_str(), skill.body.as_str()), ("does a", "\n# A\n\ttext  \n"));
    assert_eq!(skill.skill_md.as_deref(), Some(text));
}

#[test]
fn marks_and_line_ends_go_and_are_noted() {
    let (skill, notes) = read(b"\xef\xbb\xbf---\r\nname: a\r\ndescription: b\r\n---\r\nx\r\ny");
    assert_eq!(notes, [NoteKind::Bom, NoteKind::Crlf]);
    assert_eq!(skill.body, "x\ny");
    let (skill, notes) = read(b"---\nname: a\ndescription: b\n---\r\nx\ry");
    assert_eq!(notes, [NoteKind::MixedLineEnds]);
    assert_eq!(skill.body, "x\ny");
}

#[test]
fn files_without_text_are_refused_with_the_place() {
    assert_eq!(refusal(b""), "f: empty_file: the file holds no text");
    assert_eq!(refusal(b"\xef\xbb\xbf \r\n\t"), "f: empty_file: the file holds no text");
    assert_eq!(refusal(b"---\na\0b"), "f:2: nul_byte: byte 5 of the file is NUL");
    assert_eq!(refusal(b"---\n\n\xe9"), "f:3: not_utf8: byte 5 of the file is not UTF-8");
    assert_eq!(refusal(b"\xff\xfe-\0"), "f:1: nul_byte: byte 3 of the file is NUL");
}

#[test]
fn without_front_matter_the_whole_text_is_the_body() {
    use NoteKind::{
        DescriptionMissing, FrontMatterNotAtTop, NameMissing, NoFrontMatter, UnclosedFrontMatter,
    };
    for (text, kind) in [
        ("# Title\n", NoFrontMatter),
        ("---\nname: b\n", UnclosedFrontMatter),
        ("[SKILL]\n---\nname: b\n---\n", FrontMatterNotAtTop),
    ] {
        let (skill, notes) = read(text.as_bytes());
        assert_eq!(notes, [kind, NameMissing, DescriptionMissing]);
        assert_eq!((skill.name.as_str(), skill.body.as_str()), ("a", text));
    }
}

#[test]
fn each_oddity_of_the_front_matter_has_its_note() {
    use NoteKind::{
        BlankBeforeFrontMatter, DescriptionMissing, DescriptionOver1024, DuplicateKey, EmptyBody,
        Huge, InvalidYaml, InvisibleCharacters, NameMissing, NameNotFolder, NameOffSpec,
        NameOver64,
    };
    let long = |n: usize| "x".repeat(n);
    let cases: [(String, &[NoteKind]); 14] = [
        ("\n---\nname: a\ndescription: b\n---\nB".into(), &[BlankBeforeFrontMatter]),
        ("---\ndescription: b\n---\nB".into(), &[NameMissing]),
        ("---\nname: a\n---\nB".into(), &[DescriptionMissing]),
        ("---\nname: a\ndescription: b\n---\n \n".into(), &[EmptyBody]),
        ("---\nname: b\ndescription: b\n---\nB".into(), &[NameNotFolder]),
        ("---\nname: A\ndescription: b\n---\nB".into(), &[NameOffSpec, NameNotFolder]),
        ("---\nname: a--b\ndescription: b\n---\nB".into(), &[NameOffSpec, NameNotFolder]),
        (format!("---\nname: {}\ndescription: b\n---\nB", long(65)), &[NameOver64, NameNotFolder]),
        (format!("---\nname: a\ndescription: {}\n---\nB", long(1024)), &[]),
        (format!("---\nname: a\ndescription: {}\n---\nB", long(1025)), &[DescriptionOver1024]),
        (format!("---\nname: a\ndescription: b\n---\n{}", long(256 << 10)), &[Huge]),
        ("---\nname: a\ndescription: b\u{202e}\n---\nB".into(), &[InvisibleCharacters]),
        ("---\nname: a\ndescription: b: c\n---\nB".into(), &[InvalidYaml]),
        ("---\nname: b\nname: a\ndescription: b\n---\nB".into(), &[DuplicateKey]),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text.as_bytes()).1, expected, "{}", &text[..text.len().min(60)]);
    }
}

#[test]
fn an_invalid_yaml_note_names_the_line_of_the_file() {
    let text = "\n---\nname: a\ndescription: b: c\n---\nB";
    let (skill, notes) = parse_skill_md("f", "a", text.as_bytes()).unwrap();
    let note = notes.iter().find(|note| note.kind == NoteKind::InvalidYaml).unwrap();
    assert_eq!((note.line, skill.description.as_str()), (Some(4), "b: c"), "{note}");
    assert!(!note.to_string().contains('\n'));
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_skill_md("f", "a", &bytes);
    }

    #[test]
    fn arbitrary_front_matter_does_not_panic(front in "(?s).{0,80}", body: String) {
        let text = format!("---\n{front}\n---\n{body}");
        if let Ok((skill, _)) = parse_skill_md("f", "a", text.as_bytes()) {
            prop_assert!(!skill.name.is_empty());
        }
    }

    /// A skill written as front matter and body reads back.
    #[test]
    fn tidy_skills_read_back(name in "[a-z]{1,9}", description in "[!-~ ]{1,40}", body in "[ -~\n]{1,60}") {
        let quoted = serde_json::Value::from(description.as_str());
        let text = format!("---\nname: {name}\ndescription: {quoted}\n---\n{body}");
        let (skill, _) = parse_skill_md("f", &name, text.as_bytes()).unwrap();
        prop_assert_eq!(&skill.name, &name);
        prop_assert_eq!(&skill.description, description.trim());
        prop_assert_eq!(&skill.body, &body);
    }
}
