//! The text a model gets of a candidate or a query, before it makes tokens of it.

use std::borrow::Cow;

use cleanhit_core::{BoxError, EmbeddingModel, Embeddings, QueryText, Role, Scorer};
use serde::{Deserialize, Serialize};

/// What of a text a model gets. Limits are in characters; without one, nothing is cut here.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TextSpec {
    /// How a candidate's text is laid out.
    pub document: Layout,
    /// Characters kept of a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_characters: Option<usize>,
    /// Characters kept of a candidate's description, where the layout has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description_characters: Option<usize>,
    /// Characters kept of a candidate's body, in [`Layout::Fields`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_characters: Option<usize>,
}

/// How a candidate's text is laid out.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// The pool's text as it is.
    Text,
    /// `{name} | {description} | {body}`. A text's first line is its name, what follows up to the
    /// first blank line its description, and the rest its body, as pools are rendered.
    Fields,
    /// `{name}: {description}`, without the body; the parts are those of [`Layout::Fields`].
    Description,
}

/// A text layout that contradicts itself.
#[derive(Debug, thiserror::Error)]
#[error(
    "field `{field}`: cuts a part that `document = \"{layout}\"` does not know; expected `document = \"fields\"`"
)]
pub struct TextSpecError {
    /// The limit.
    pub field: &'static str,
    /// The layout, as a card writes it.
    pub layout: &'static str,
}

/// A model that gets texts as a spec says.
#[derive(Clone, Debug)]
pub struct Prepared<M> {
    /// The model.
    pub model: M,
    /// What it gets.
    pub text: TextSpec,
}

impl TextSpec {
    /// # Errors
    ///
    /// If a limit is on a part that the layout does not know.
    pub fn check(&self) -> Result<(), TextSpecError> {
        let (layout, unknown) = match self.document {
            Layout::Fields => return Ok(()),
            Layout::Text => ("text", self.description_characters.map(|_| "description_characters")),
            Layout::Description => ("description", None),
        };
        match unknown.or(self.body_characters.map(|_| "body_characters")) {
            Some(field) => Err(TextSpecError { field, layout }),
            None => Ok(()),
        }
    }

    /// What the model gets of a text.
    pub fn of<'a>(&self, role: Role, text: &'a str) -> Cow<'a, str> {
        match (role, self.document) {
            (Role::Query, _) => Cow::Borrowed(first(text, self.query_characters)),
            (Role::Document, Layout::Text) => Cow::Borrowed(text),
            (Role::Document, Layout::Description) => {
                let (name, description, _) = fields(text);
                Cow::Owned(format!("{name}: {}", first(description, self.description_characters)))
            }
            (Role::Document, Layout::Fields) => {
                let (name, description, body) = fields(text);
                let description = first(description, self.description_characters);
                let body = first(body, self.body_characters);
                Cow::Owned(format!("{name} | {description} | {body}"))
            }
        }
    }

    /// What the model gets of each text.
    pub fn of_all<'a>(&self, role: Role, texts: &[&'a str]) -> Vec<Cow<'a, str>> {
        texts.iter().map(|text| self.of(role, text)).collect()
    }
}

impl<M: EmbeddingModel> EmbeddingModel for Prepared<M> {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        let texts = self.text.of_all(role, texts);
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        self.model.embed(role, &texts)
    }
}

impl<S: Scorer> Scorer for Prepared<S> {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        let query = self.text.of(Role::Query, query.as_str());
        let texts = self.text.of_all(Role::Document, texts);
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        self.model.score(QueryText::new(&query), &texts)
    }
}

/// Name, description and body of a rendered skill.
fn fields(text: &str) -> (&str, &str, &str) {
    let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (description, body) = rest.split_once("\n\n").unwrap_or((rest, ""));
    (name, description, body)
}

/// The first `n` characters.
fn first(text: &str, n: Option<usize>) -> &str {
    let end = n.and_then(|n| text.char_indices().nth(n));
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Toy;

    const WHOLE: TextSpec = TextSpec {
        document: Layout::Text,
        query_characters: None,
        description_characters: None,
        body_characters: None,
    };

    #[test]
    fn fields_are_the_parts_of_a_rendered_skill() {
        let spec = TextSpec { document: Layout::Fields, ..WHOLE };
        let of = |text| spec.of(Role::Document, text).into_owned();
        assert_eq!(of("n\nd\n\nb\n\nc"), "n | d | b\n\nc");
        assert_eq!(of("n\nd1\nd2\n\nb"), "n | d1\nd2 | b");
        assert_eq!(of("only a name"), "only a name |  | ");
        assert_eq!(of(""), " |  | ");
        assert_eq!(of("n\n\n\nb"), "n |  | b");
    }

    #[test]
    fn a_description_comes_without_the_body() {
        let spec =
            TextSpec { document: Layout::Description, description_characters: Some(3), ..WHOLE };
        spec.check().unwrap();
        assert_eq!(spec.of(Role::Document, "n\ndé1\nd2\n\nbody"), "n: dé1");
        assert_eq!(spec.of(Role::Document, "only a name"), "only a name: ");
        let err = TextSpec { body_characters: Some(1), ..spec }.check().unwrap_err().to_string();
        assert!(err.contains("`body_characters`") && err.contains("\"description\""), "{err}");
    }

    #[test]
    fn limits_count_characters_of_their_part() {
        let spec = TextSpec {
            document: Layout::Fields,
            query_characters: Some(2),
            description_characters: Some(1),
            body_characters: Some(3),
        };
        assert_eq!(spec.of(Role::Document, "näme\nüber\n\n😀😀😀😀"), "näme | ü | 😀😀😀");
        assert_eq!(spec.of(Role::Query, "äöü"), "äö");
        assert_eq!(spec.of(Role::Query, "ä"), "ä");
        assert_eq!(WHOLE.of(Role::Query, "äöü"), "äöü");
        spec.check().unwrap();
        let err = TextSpec { body_characters: Some(1), ..WHOLE }.check().unwrap_err();
        assert!(err.to_string().starts_with("field `body_characters`: "), "{err}");
    }

    #[test]
    fn the_model_gets_the_prepared_text() {
        let spec = TextSpec { query_characters: Some(1), ..WHOLE };
        let prepared = Prepared { model: Toy::new(8), text: spec };
        let toy = Toy::new(8);
        assert_eq!(
            prepared.embed(Role::Query, &["ab"]).unwrap(),
            toy.embed(Role::Query, &["a"]).unwrap()
        );
        assert_eq!(
            prepared.embed(Role::Document, &["ab"]).unwrap(),
            toy.embed(Role::Document, &["ab"]).unwrap()
        );
    }
}
