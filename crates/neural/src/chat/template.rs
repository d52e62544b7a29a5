//! Chat templates: a talk to text, with the contents guarded.
//!
//! Rendered as transformers does: blocks take their line end and the blanks before them away,
//! Python's methods work on values, `raise_exception` refuses, and `tojson` writes as Python.
//! There is no `strftime_now`: templates that ask for it fall back to a date of their own, so that
//! a prompt doesn't depend on the day.

use cleanhit_core::{Message, Speaker};
use minijinja::{Environment, Error, ErrorKind, Value, context, value::Kwargs};

use super::{
    limits,
    spec::SystemPolicy,
    vocabulary::{Guarded, Vocabulary},
};
use crate::error::NeuralError;

/// A template, and what it is given beside the talk.
pub(super) struct Template {
    environment: Environment<'static>,
    text: String,
    bos: String,
    eos: String,
    thinking: bool,
    system: SystemPolicy,
}

const NAME: &str = "chat";
/// Steps of a template that none comes near to.
const FUEL: u64 = 10_000_000;

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// If it is not Jinja.
    pub(super) fn new(
        text: String,
        bos: Option<String>,
        eos: Option<String>,
        thinking: bool,
        system: SystemPolicy,
    ) -> Result<Template, NeuralError> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL));
        limits::bound(&mut environment);
        environment.add_function("raise_exception", |problem: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, problem))
        });
        environment.add_filter("tojson", tojson);
        environment.add_template_owned(NAME, text.clone()).map_err(refused)?;
        let (bos, eos) = (bos.unwrap_or_default(), eos.unwrap_or_default());
        Ok(Template { environment, text, bos, eos, thinking, system })
    }

    /// The text of a talk, up to where the reply begins.
    ///
    /// # Errors
    ///
    /// If the template refuses the talk.
    pub(super) fn render(
        &self,
        messages: &[Message],
        vocabulary: &Vocabulary,
    ) -> Result<Guarded, NeuralError> {
        let messages = self.arrange(messages);
        let mut texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
        texts.extend([self.text.as_str(), &self.bos, &self.eos]);
        let mark = vocabulary.mark(&texts)?;
        let turns: Vec<Value> = messages
            .iter()
            .map(|message| {
                let role = match message.speaker {
                    Speaker::System => "system",
                    Speaker::User => "user",
                    Speaker::Assistant => "assistant",
                };
                context! { role, content => vocabulary.guard(&message.text, mark) }
            })
            .collect();
        let template = self.environment.get_template(NAME).map_err(refused)?;
        let values = context! {
            messages => turns,
            bos_token => self.bos,
            eos_token => self.eos,
            add_generation_prompt => true,
            enable_thinking => self.thinking,
        };
        let mut text = limits::Bounded::default();
        template.render_captured_to(values, &mut text).map_err(refused)?;
        Ok(Guarded { text: text.into_text(), mark })
    }

    /// The talk as the template gets it.
    fn arrange(&self, messages: &[Message]) -> Vec<Message> {
        let mut messages = messages.to_vec();
        let stated = messages.first().is_some_and(|first| first.speaker == Speaker::System);
        match &self.system {
            SystemPolicy::AsGiven {} => {}
            SystemPolicy::Default { text } => {
                if !stated {
                    messages.insert(0, Message::new(Speaker::System, text.as_str()));
                }
            }
            SystemPolicy::Merged {} => {
                if stated {
                    let system = messages.remove(0).text;
                    match messages.iter_mut().find(|message| message.speaker == Speaker::User) {
                        Some(first) => first.text = format!("{system}\n\n{}", first.text),
                        None => messages.insert(0, Message::new(Speaker::User, system)),
                    }
                }
            }
        }
        messages
    }
}

/// On one line, with what led to it.
fn refused(error: Error) -> NeuralError {
    let mut problem = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        problem = format!("{problem}: {inner}");
        source = inner.source();
    }
    NeuralError::Template { problem: crate::snapshot::short_of(&problem, 300) }
}

/// As Python's `json.dumps` with `ensure_ascii=False`.
fn tojson(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let mut bytes = Vec::new();
    let written = match indent {
        Some(indent) => {
            let blanks = " ".repeat(indent.min(16));
            let pretty = serde_json::ser::PrettyFormatter::with_indent(blanks.as_bytes());
            let mut writer = serde_json::Serializer::with_formatter(&mut bytes, pretty);
            serde::Serialize::serialize(value, &mut writer)
        }
        None => {
            let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
            serde::Serialize::serialize(value, &mut writer)
        }
    };
    let failed = |problem: String| Error::new(ErrorKind::BadSerialization, problem);
    written.map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    Ok(Value::from_safe_string(text))
}

/// JSON with a blank after commas and colons.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
