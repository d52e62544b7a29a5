//! Name and description from front matter, valid or not.

use serde::Deserialize;
use serde_saphyr::options::DuplicateKeyPolicy;

/// What front matter says.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Meta {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// A key occurs twice; the last one was taken.
    pub(super) duplicate_key: bool,
    /// Why the YAML was not read, and on which of its lines; the rest is from [`lenient`].
    pub(super) invalid: Option<(String, Option<u64>)>,
}

/// Unknown keys are ignored, and scalars of any kind are taken as they are written.
#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

/// Front matter beyond this is not parsed as YAML.
const MAX_YAML: usize = 256 << 10;

/// Reads front matter. Aliases, depth and size are bounded, so that a few lines cannot stand for
/// gigabytes.
pub(super) fn meta(yaml: &str) -> Meta {
    if MAX_YAML < yaml.len() {
        let problem = format!("front matter of {} bytes is not parsed", yaml.len());
        return Meta { invalid: Some((problem, None)), ..lenient(yaml) };
    }
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Meta::default();
    }
    let valid = |keys: Keys, duplicate_key| Meta {
        name: text(keys.name),
        description: text(keys.description),
        duplicate_key,
        invalid: None,
    };
    match parse(yaml, DuplicateKeyPolicy::Error) {
        Ok(keys) => valid(keys, false),
        Err(error) => match parse(yaml, DuplicateKeyPolicy::LastWins) {
            Ok(keys) => valid(keys, true),
            Err(_) => {
                let line = error.location().map(|location| location.line());
                let problem = error.to_string();
                Meta { invalid: Some((problem, line)), ..lenient(yaml) }
            }
        },
    }
}

fn parse(yaml: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Keys, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 50_000,
            max_nodes: 25_000,
            max_depth: 48,
            flow_nesting_limit: 48,
            max_aliases: 256,
            max_anchors: 256,
            max_documents: 2,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: 1 << 20,
            max_total_scalar_bytes: 1 << 20,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: duplicate_keys,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(yaml, options)
}

/// The values of the first lines `name:` and `description:`, with the indented lines after them.
/// Reads what agents in the field accept, such as an unquoted `: ` inside a description.
fn lenient(yaml: &str) -> Meta {
    let name = lenient_value(yaml, "name:");
    let description = lenient_value(yaml, "description:");
    Meta { name, description, ..Meta::default() }
}

fn lenient_value(yaml: &str, key: &str) -> Option<String> {
    let mut lines = yaml.lines();
    let value = lines.find_map(|line| line.strip_prefix(key))?.trim();
    let more = lines.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
    let more: Vec<&str> = more.map(str::trim).collect();
    let literal = value.starts_with('|');
    let block = literal || value.starts_with('>');
    let block = block && value[1..].chars().all(|c| matches!(c, '+' | '-' | '0'..='9'));
    let value = match block {
        true => "",
        false => value,
    };
    let separator = if literal && block { "\n" } else { " " };
    let lines = std::iter::once(value).chain(more).filter(|line| !line.is_empty());
    let whole = lines.collect::<Vec<_>>().join(separator);
    text(Some(unquoted(&whole).to_owned()))
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Trimmed; none if nothing is left.
fn text(value: Option<String>) -> Option<String> {
    value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn both(yaml: &str) -> (Option<String>, Option<String>) {
        let meta = meta(yaml);
        assert_eq!(meta.invalid, None, "{yaml}");
        (meta.name, meta.description)
    }

    #[test]
    fn scalars_of_every_kind_are_taken_as_text() {
        let some = |name: &str, text: &str| (Some(name.to_owned()), Some(text.to_owned()));
        assert_eq!(both("name: a\ndescription: b c\nlicense: MIT"), some("a", "b c"));
        assert_eq!(both("name: 'a'\ndescription: \"b: \\u00fc\""), some("a", "b: ü"));
        assert_eq!(both("name: 007\ndescription: 1.0"), some("007", "1.0"));
        assert_eq!(both("name: yes\ndescription: 2024-01-01"), some("yes", "2024-01-01"));
        assert_eq!(both("name: a\ndescription: >-\n  b\n  c\n"), some("a", "b c"));
        assert_eq!(both("name: a\ndescription: |\n  b\n  c\n\n"), some("a", "b\nc"));
        assert_eq!(both("name: &x a\ndescription: *x"), some("a", "a"));
        assert_eq!(both("name: ~\ndescription:"), (None, None));
        assert_eq!(both("name: ''"), (None, None));
        assert_eq!(both("# nothing\n\n"), (None, None));
        assert_eq!(both("metadata: {a: [1, 2]}\nname: a").0.as_deref(), Some("a"));
    }

    #[test]
    fn a_repeated_key_is_said_and_the_last_one_counts() {
        let meta = meta("name: a\nname: b\ndescription: c");
        assert_eq!((meta.name.as_deref(), meta.duplicate_key), (Some("b"), true));
    }

    #[test]
    fn lines_serve_where_the_yaml_is_not_valid() {
        let meta = |yaml| {
            let meta = meta(yaml);
            assert!(meta.invalid.is_some(), "{yaml}");
            (meta.name.unwrap_or_default(), meta.description.unwrap_or_default())
        };
        let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(meta("name: a\ndescription: use when: asked"), two("a", "use when: asked"));
        assert_eq!(meta("name: \"a\ndescription: b\"\n  more\nx"), two("\"a", "b\" more"));
        assert_eq!(meta("name: a\n\tb: c\ndescription: >\n  x: [\n\n  y"), two("a b: c", "x: [ y"));
        assert_eq!(meta("[\nname: a\ndescription: |-\n  x\n  y\n"), two("a", "x\ny"));
        assert_eq!(meta("just text"), two("", ""));
        assert_eq!(meta("name: [a]\ndescription: b"), two("[a]", "b"));
    }

    #[test]
    fn a_few_lines_cannot_stand_for_gigabytes() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb += &format!("a{i}: &a{i} [{refs}]\n");
        }
        bomb += "name: a\ndescription: *a11\n";
        let mut hostile = vec![bomb];
        hostile.push(format!("name: a\nx: {}", "[".repeat(100_000)));
        hostile.push(format!("name: a\nx: {}", "{a: ".repeat(50_000)));
        hostile.push((0..60_000).map(|i| format!("{}- \n", " ".repeat(i % 200))).collect());
        hostile.push(format!("name: a\n{}", "? ".repeat(60_000)));
        hostile.push(format!("name: {}", "&a ".repeat(60_000)));
        hostile.push(format!("name: \"{}", "\\".repeat(200_000)));
        hostile.push(format!("name: a\nx: {}", "!".repeat(200_000)));
        hostile.push("name: a\nb: ".to_owned() + &"- ".repeat(120_000));
        let start = Instant::now();
        for yaml in hostile {
            assert!(meta(&yaml).description.unwrap_or_default().len() < 100);
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text: String) {
            meta(&text);
        }

        #[test]
        fn text_that_looks_like_yaml_does_not_panic(
            text in "(name|description|<<|[&*!?|>%@`'\"\\-\\[\\]{},:# \n\ta-c0~.=\u{feff}]){0,40}"
        ) {
            meta(&text);
        }

        /// A quoted value reads back.
        #[test]
        fn quoted_names_read_back(name in "[ -~üλ]{1,30}") {
            let meta = meta(&format!("name: {}\n", serde_json::Value::from(name.clone())));
            prop_assert_eq!(meta.name.unwrap_or_default(), name.trim());
            prop_assert!(meta.invalid.is_none());
        }
    }
}
