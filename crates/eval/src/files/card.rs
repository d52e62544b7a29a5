//! `method_card.json`: what a method is, and what it knew.

use cleanhit_io::InputError;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::files::{InformationSetting, json};

/// The schema's name.
pub const CARD_SCHEMA: &str = "samecaprisk.method-card.v1";

/// The card of a submission. Every field is a text that is not empty.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct MethodCard {
    /// [`CARD_SCHEMA`].
    pub schema: String,
    /// The method's id, as in its rank file.
    pub method_id: String,
    /// Its name, for people.
    pub method_name: String,
    /// What it knew besides text; see [`MethodCard::setting`].
    pub information_setting: String,
    /// Where its code is.
    pub code_url: String,
    /// The commit.
    pub code_commit: String,
    /// The weights.
    pub checkpoint: String,
    /// What it was trained on.
    pub training_data: String,
    /// What development queries were used for.
    pub development_use: String,
    /// What was done to the texts.
    pub preprocessing: String,
    /// What it ran on.
    pub compute: String,
    /// The rank file's name, in the card's folder.
    pub rank_file: String,
    /// The rank file's SHA-256.
    pub rank_sha256: String,
    /// The metrics file's name, in the card's folder.
    pub metrics_file: String,
}

const FIELDS: [&str; 14] = [
    "schema",
    "method_id",
    "method_name",
    "information_setting",
    "code_url",
    "code_commit",
    "checkpoint",
    "training_data",
    "development_use",
    "preprocessing",
    "compute",
    "rank_file",
    "rank_sha256",
    "metrics_file",
];

impl MethodCard {
    /// Reads a card.
    ///
    /// # Errors
    ///
    /// Every violation: a key that is missing, unknown or twice there, a value that is not a
    /// text or is empty, another schema, an unknown setting, a digest that is not one, a file
    /// that is not in the card's folder.
    pub fn read(file: &str, bytes: &[u8]) -> Result<MethodCard, Vec<InputError>> {
        let map = json::object(file, bytes).map_err(|error| vec![error])?;
        let mut errors = Vec::new();
        let fields = FIELDS.map(|field| {
            let error = |problem: &str| InputError::new(file, problem).field(field);
            match map.get(field) {
                Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
                Some(Value::String(_)) => {
                    errors.push(error("is empty").expected("text; `none` if there is none"));
                    String::new()
                }
                Some(other) => {
                    errors.push(error(&format!("is {}", json::kind(other))).expected("a string"));
                    String::new()
                }
                None => {
                    errors.push(error("the key is missing").expected("text"));
                    String::new()
                }
            }
        });
        for key in map.keys().filter(|key| !FIELDS.contains(&key.as_str())) {
            errors.push(InputError::new(file, "unknown key").field(key));
        }
        let card = MethodCard::of_fields(fields);
        card.check(file, &map, &mut errors);
        if errors.is_empty() { Ok(card) } else { Err(errors) }
    }

    /// The file's bytes.
    pub fn write(&self) -> Vec<u8> {
        json::write(self)
    }

    /// The information setting, by either of its names; `None` if it has neither.
    pub fn setting(&self) -> Option<InformationSetting> {
        self.information_setting.parse().ok()
    }

    fn of_fields(fields: [String; 14]) -> MethodCard {
        let [schema, method_id, method_name, information_setting, code_url, code_commit, rest @ ..] =
            fields;
        let [checkpoint, training_data, development_use, preprocessing, compute, rest @ ..] = rest;
        let [rank_file, rank_sha256, metrics_file] = rest;
        MethodCard {
            schema,
            method_id,
            method_name,
            information_setting,
            code_url,
            code_commit,
            checkpoint,
            training_data,
            development_use,
            preprocessing,
            compute,
            rank_file,
            rank_sha256,
            metrics_file,
        }
    }

    /// What is more than text. Fields that are not text have been reported.
    fn check(&self, file: &str, map: &Map<String, Value>, errors: &mut Vec<InputError>) {
        let mut check = |field: &str, value: &str, right: bool, expected: String| {
            let text = map.get(field).and_then(Value::as_str).is_some_and(|t| !t.trim().is_empty());
            if text && !right {
                let error = InputError::new(file, format!("is `{value}`")).field(field);
                errors.push(error.expected(expected));
            }
        };
        let schema = self.schema == CARD_SCHEMA;
        check("schema", &self.schema, schema, format!("`{CARD_SCHEMA}`"));
        // Texts are shown in tables and on terminals; the id is a folder's name too.
        let id = &self.method_id;
        let plain = !id.starts_with('.') && !id.contains(['/', '\\']);
        let expected = "an id without `/` and `\\` and without a dot in front";
        check("method_id", id, plain, expected.to_owned());
        for (field, text) in [
            ("method_id", id),
            ("method_name", &self.method_name),
            ("code_url", &self.code_url),
            ("code_commit", &self.code_commit),
            ("checkpoint", &self.checkpoint),
            ("training_data", &self.training_data),
            ("development_use", &self.development_use),
            ("preprocessing", &self.preprocessing),
            ("compute", &self.compute),
            ("rank_file", &self.rank_file),
            ("metrics_file", &self.metrics_file),
        ] {
            let plain = !text.chars().any(char::is_control);
            check(field, text, plain, "text without control characters".to_owned());
        }
        let setting = self.setting().is_some();
        let expected = InformationSetting::expected();
        check("information_setting", &self.information_setting, setting, expected);
        let digest = is_sha256(&self.rank_sha256);
        check("rank_sha256", &self.rank_sha256, digest, SHA256.to_owned());
        for (field, name) in [("rank_file", &self.rank_file), ("metrics_file", &self.metrics_file)]
        {
            let plain = !name.contains(['/', '\\']) && name != "." && name != "..";
            check(field, name, plain, "a file of the card's folder".to_owned());
        }
    }
}

/// What a digest must look like.
pub(super) const SHA256: &str = "64 lower-case hexadecimal digits";

/// Whether a text is a digest as all files write it.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Map<String, Value> {
        let mut map: Map<String, Value> =
            FIELDS.into_iter().map(|field| (field.to_owned(), Value::from("x"))).collect();
        map.insert("schema".to_owned(), CARD_SCHEMA.into());
        map.insert("information_setting".to_owned(), "released_family_control".into());
        map.insert("rank_sha256".to_owned(), "0a".repeat(32).into());
        map
    }

    fn errors(map: &Map<String, Value>) -> Vec<String> {
        let bytes = serde_json::to_vec(map).unwrap();
        let errors = MethodCard::read("card.json", &bytes).err().unwrap_or_default();
        errors.iter().map(InputError::to_string).collect()
    }

    #[test]
    fn a_card_reads_back_as_written() {
        let bytes = serde_json::to_vec(&card()).unwrap();
        let card = MethodCard::read("card.json", &bytes).unwrap();
        assert_eq!(card.setting(), Some(InformationSetting::ReleasedFamily));
        assert_eq!(MethodCard::read("card.json", &card.write()).unwrap(), card);
    }

    #[test]
    fn every_violation_is_listed() {
        let mut map = card();
        map.insert("schema".to_owned(), "v2".into());
        map.insert("compute".to_owned(), " ".into());
        map.insert("checkpoint".to_owned(), 7.into());
        map.insert("information_setting".to_owned(), "secret".into());
        map.insert("rank_sha256".to_owned(), "0A".repeat(32).into());
        map.insert("rank_file".to_owned(), "../top20.tsv".into());
        map.insert("stars".to_owned(), "5".into());
        map.remove("code_url");
        let fields: Vec<String> = errors(&map)
            .iter()
            .map(|error| error.split('`').nth(1).unwrap_or_default().to_owned())
            .collect();
        let expected = [
            "code_url",
            "checkpoint",
            "compute",
            "stars",
            "schema",
            "information_setting",
            "rank_sha256",
            "rank_file",
        ];
        assert_eq!(fields, expected);
        let twice = format!("{{\"schema\": \"{CARD_SCHEMA}\", \"schema\": \"v2\"}}");
        let error = MethodCard::read("card.json", twice.as_bytes()).unwrap_err();
        assert!(error[0].to_string().contains("key `schema` occurs twice"));
    }

    #[test]
    fn a_hostile_name_is_refused() {
        for id in ["../up", ".", "a/b", "a\\b", "a\u{1b}[31m", "a\nb"] {
            let mut map = card();
            map.insert("method_id".to_owned(), id.into());
            assert!(errors(&map)[0].contains("field `method_id`"), "{id:?}: {:?}", errors(&map));
        }
        let mut map = card();
        map.insert("method_name".to_owned(), "\u{9b}31m".into());
        let error = "card.json: field `method_name`: is `\\u{9b}31m`; expected text without control characters";
        assert_eq!(errors(&map), [error]);
        for field in ["code_url", "checkpoint", "preprocessing", "metrics_file"] {
            let mut map = card();
            map.insert(field.to_owned(), "two\nlines".into());
            let says = format!("card.json: field `{field}`: is `two lines`; expected text without");
            assert!(errors(&map)[0].starts_with(&says), "{:?}", errors(&map));
        }
    }
}
