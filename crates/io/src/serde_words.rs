//! What serde says of a value, in the words of this project's messages.

/// A message of a deserializer, taken apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plain {
    /// The key that the message names.
    pub field: Option<String>,
    /// Whether that key is not there, so that no place in the file is its place.
    pub missing: bool,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub expected: Option<String>,
}

/// Takes a message apart; one of an unknown form is the problem as it stands.
pub fn plain_words(message: &str) -> Plain {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let message = message.trim();
    let plain = |field: Option<&str>, problem: &str, expected: Option<&str>| Plain {
        field: field.map(str::to_owned),
        missing: false,
        problem: problem.to_owned(),
        expected: expected.map(str::to_owned),
    };
    let keyed = |start: &str| {
        let (key, rest) = message.strip_prefix(start)?.strip_prefix('`')?.split_once('`')?;
        Some((key, rest.strip_prefix(", expected ")))
    };
    if let Some((key, _)) = keyed("missing field ") {
        return Plain { missing: true, ..plain(Some(key), "the key is missing", None) };
    }
    if let Some((key, expected)) = keyed("unknown field ") {
        return plain(Some(key), "unknown key", expected);
    }
    if let Some((key, _)) = keyed("duplicate field ") {
        return plain(Some(key), "the key occurs twice", Some("each key once"));
    }
    if let Some((name, expected)) = keyed("unknown variant ") {
        return plain(None, &format!("`{name}`"), expected);
    }
    let value = ["invalid type: ", "invalid value: "].iter().find_map(|s| message.strip_prefix(s));
    let Some((value, expected)) = value.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return plain(None, message, None);
    };
    // integer `0`, floating point `0.5`, string "x", or a kind alone: null, map, sequence.
    let literal = value.split_once(['`', '"']).map(|(_, rest)| rest.trim_end_matches(['`', '"']));
    let problem = match (literal, value) {
        (Some(text), value) if value.starts_with("string") => format!("`{text}`, a string"),
        (Some(text), _) => text.to_owned(),
        (None, "map") => "a table".to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, other) => other.to_owned(),
    };
    plain(None, &problem, Some(&kind(expected)))
}

/// A type as the reader of a message knows it.
fn kind(expected: &str) -> String {
    let integer = |text: &str| {
        let bits = text.strip_prefix(['u', 'i']);
        bits.is_some_and(|bits| bits == "size" || bits.parse::<u8>().is_ok())
    };
    match expected {
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        text if text.starts_with("struct ") => "a table".to_owned(),
        text if text.strip_prefix("a nonzero ").is_some_and(|t| t.starts_with('u')) => {
            "a whole number from 1".to_owned()
        }
        text if integer(text) && text.starts_with('u') => "a whole number from 0".to_owned(),
        text if integer(text) => "a whole number".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_apart() {
        let say = |message: &str| {
            let Plain { field, problem, expected, .. } = plain_words(message);
            let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
            let expected = expected.map(|e| format!("; {e}")).unwrap_or_default();
            format!("{field}{problem}{expected}")
        };
        for (message, words) in [
            ("missing field `depth`\n", "depth: the key is missing"),
            ("unknown field `x`, expected one of `a`, `b`", "x: unknown key; one of `a`, `b`"),
            ("unknown field `x`, there are no fields", "x: unknown key"),
            ("duplicate field `x`", "x: the key occurs twice; each key once"),
            ("unknown variant `x`, expected `a` or `b`", "`x`; `a` or `b`"),
            ("invalid value: integer `0`, expected a nonzero u32", "0; a whole number from 1"),
            ("invalid value: integer `-1`, expected u64", "-1; a whole number from 0"),
            ("invalid type: string \"x\", expected u32", "`x`, a string; a whole number from 0"),
            ("invalid type: floating point `0.5`, expected i64", "0.5; a whole number"),
            ("invalid type: sequence, expected f64", "a list; a number"),
            ("invalid type: null, expected a sequence", "null; a list"),
            ("expected a string `kind`", "expected a string `kind`"),
        ] {
            assert_eq!(say(message), words, "{message}");
        }
        assert!(plain_words("missing field `a`").missing);
    }
}
