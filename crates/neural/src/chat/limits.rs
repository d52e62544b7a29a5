//! What a chat template may make: no text that is longer than any model reads.

use std::io;

use minijinja::{Environment, Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat;

/// Bytes of a text that none comes near to.
const LONGEST: usize = 8 << 20;

/// Bounds what values grow by at one step. Filters that pad or lay out text are left out: chat
/// templates have no use for them.
pub(super) fn bound(environment: &mut Environment<'static>) {
    for name in ["indent", "format", "center", "wordwrap"] {
        environment.remove_filter(name);
    }
    environment.add_filter("replace", |value: &str, from: &str, to: &str| {
        replaced(value, from, to)?;
        Ok::<String, Error>(value.replace(from, to))
    });
    environment.set_unknown_method_callback(method);
}

/// Python's methods of text, lists and objects.
fn method(state: &State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    if let (Some(value), "replace", Some(from), Some(to)) = (value.as_str(), name, text(0), text(1))
    {
        replaced(value, from, to)?;
    }
    pycompat::unknown_method_callback(state, value, name, args)
}

/// Refuses a replacement that would be too long.
fn replaced(value: &str, from: &str, to: &str) -> Result<(), Error> {
    let times = value.matches(from).count();
    match times.checked_mul(to.len()).is_some_and(|more| value.len() + more <= LONGEST) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidOperation, too_long())),
    }
}

fn too_long() -> String {
    format!("a text is longer than {LONGEST} bytes")
}

/// A rendered text that ends with an error where it is too long.
#[derive(Default)]
pub(super) struct Bounded(Vec<u8>);

impl Bounded {
    /// What was written: templates write whole texts.
    pub(super) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if LONGEST < self.0.len() + bytes.len() {
            return Err(io::Error::other(too_long()));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str) -> Result<String, String> {
        let mut environment = Environment::new();
        bound(&mut environment);
        environment.set_fuel(Some(1_000_000));
        environment
            .add_template_owned("t", template.to_owned())
            .map_err(|error| format!("{error:#}"))?;
        let mut text = Bounded::default();
        let template = environment.get_template("t").unwrap();
        let rendered = template.render_captured_to((), &mut text);
        rendered.map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error} {}", source.unwrap_or_default())
        })?;
        Ok(text.into_text())
    }

    #[test]
    fn texts_that_no_model_reads_are_refused() {
        let grow = |step: &str| {
            format!(
                "{{% set ns = namespace(x='a') %}}{{% for i in range(9) %}}{{% set ns.x = {step} %}}{{% endfor %}}{{{{ ns.x }}}}"
            )
        };
        for step in ["ns.x|replace('a', 'aaaaaaaaaa')", "ns.x.replace('a', 'aaaaaaaaaa')"] {
            let problem = render(&grow(step)).unwrap_err();
            assert!(problem.contains("longer than 8388608 bytes"), "{problem}");
        }
        let problem = render(
            "{% for i in range(9000) %}{{ 'a'.upper() ~ '%s' }}{{ 'b'|replace('b', 'c' * 1000) }}{% endfor %}",
        );
        assert!(problem.unwrap_err().contains("longer than 8388608 bytes"));
        assert!(render("{{ '%9999d'|format(1) }}").unwrap_err().contains("unknown filter"));
    }

    #[test]
    fn texts_of_a_talk_are_as_they_were() {
        assert_eq!(
            render("{{ 'abab'.replace('a', '') ~ 'x'|replace('x', 'yz') }}").unwrap(),
            "bbyz"
        );
        assert_eq!(render("{{ ' a '.strip().startswith('a') }}").unwrap(), "True");
    }
}
