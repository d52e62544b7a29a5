//! JSON, read strictly: UTF-8 without a byte order mark, one document, no key twice.

use std::fmt;

use cleanhit_io::{InputError, check_lines, plain_words};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// Reads a document that must be an object.
pub(super) fn object(file: &str, bytes: &[u8]) -> Result<Map<String, Value>, InputError> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let error = InputError::new(file, "starts with a byte order mark").line(1);
        return Err(error.expected("UTF-8 without one"));
    }
    check_lines(file, bytes)?;
    let Strict(value) = serde_json::from_slice(bytes).map_err(|error| {
        InputError::new(file, format!("is not valid JSON: {error}"))
            .line(error.line().max(1) as u64)
    })?;
    match value {
        Value::Object(map) => Ok(map),
        other => Err(InputError::new(file, format!("is {}", kind(&other))).expected("an object")),
    }
}

/// Reads a document of a type that refuses unknown keys.
pub(super) fn typed<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, InputError> {
    let map = object(file, bytes)?;
    serde_json::from_value(Value::Object(map)).map_err(|error| {
        let plain = plain_words(&error.to_string());
        InputError {
            field: plain.field,
            expected: plain.expected,
            ..InputError::new(file, plain.problem)
        }
    })
}

/// Two spaces of indentation, a final line end.
pub(super) fn write<T: serde::Serialize>(value: &T) -> Vec<u8> {
    // Only maps with keys that are not text, and failing writers, make this fail.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// What a JSON value is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Every difference between a document and what was expected of it, by the path of keys.
///
/// Numbers with a fraction are the same within the last of 9 decimals.
pub fn json_differences(file: &str, found: &Value, expected: &Value) -> Vec<InputError> {
    let mut errors = Vec::new();
    differences(file, "", found, expected, &mut errors);
    errors
}

/// Every difference between what was found and what was expected, by the path of keys.
///
/// Numbers with a fraction are the same within the last of 9 decimals.
pub(super) fn differences(
    file: &str,
    path: &str,
    found: &Value,
    expected: &Value,
    errors: &mut Vec<InputError>,
) {
    let error = |path: &str, problem: String| InputError::new(file, problem).field(path);
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, expected) in expected {
                let path = join(path, key);
                match found.get(key) {
                    Some(found) => differences(file, &path, found, expected, errors),
                    None => {
                        let missing = error(&path, "the key is missing".to_owned());
                        errors.push(missing.expected(shown(expected)));
                    }
                }
            }
            for key in found.keys().filter(|key| !expected.contains_key(*key)) {
                errors.push(error(&join(path, key), "unknown key".to_owned()));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (found, expected)) in a.iter().zip(b).enumerate() {
                differences(file, &format!("{path}[{i}]"), found, expected, errors);
            }
        }
        _ if same(found, expected) => {}
        _ => errors.push(error(path, format!("is {}", shown(found))).expected(shown(expected))),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn same(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1.000_001e-9,
        _ => found == expected,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => kind(value).to_owned(),
        _ => value.to_string(),
    }
}

/// A value in which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if values.contains_key(&key) {
                return Err(A::Error::custom(format!("key `{key}` occurs twice")));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ambiguous_is_refused() {
        let read = |text: &str| object("f.json", text.as_bytes()).map_err(|e| e.to_string());
        assert_eq!(read("{\"a\": [1, -2, 0.5, null, true, \"x\"]}").unwrap().len(), 1);
        let error = read("{\"a\":\n{\"b\": 1, \"b\": 2}}").unwrap_err();
        assert!(error.starts_with("f.json:2: is not valid JSON: key `b` occurs twice"), "{error}");
        assert_eq!(read("[1]").unwrap_err(), "f.json: is an array; expected an object");
        assert!(read("{} {}").is_err());
        assert!(read("\u{feff}{}").is_err());
        assert!(object("f.json", b"{\"a\": \"\xff\"}").is_err());
    }

    #[test]
    fn every_difference_is_named_by_its_path() {
        let found = serde_json::json!({"a": {"x": 0.5, "y": 1, "z": null}, "more": 0, "l": [1, 2]});
        let expected =
            serde_json::json!({"a": {"x": 0.25, "y": 1.0, "z": 1}, "b": {}, "l": [1, 3]});
        let mut errors = Vec::new();
        differences("f", "", &found, &expected, &mut errors);
        let errors: Vec<String> = errors.iter().map(InputError::to_string).collect();
        assert_eq!(
            errors,
            [
                "f: field `a.x`: is 0.5; expected 0.25",
                "f: field `a.z`: is null; expected 1",
                "f: field `b`: the key is missing; expected an object",
                "f: field `l[1]`: is 2; expected 3",
                "f: field `more`: unknown key",
            ]
        );
    }
}
