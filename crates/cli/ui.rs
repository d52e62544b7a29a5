//! What a person sees: results on stdout, progress and warnings on stderr.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::Context as _;
use cleanhit_io::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How to talk to whoever asked.
#[derive(Debug)]
pub(crate) struct Ui {
    /// Results as one JSON document.
    pub(crate) json: bool,
    /// No progress, no notes; warnings and errors only.
    pub(crate) quiet: bool,
    /// More notes.
    pub(crate) verbose: bool,
    /// The reader closed stdout: there is nobody left to write to.
    closed: AtomicBool,
}

/// What went wrong and what led to it. A cause that the message before it ends with, as messages
/// of libraries do, is said once.
pub(crate) fn chain(err: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in err.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Says why a request could not be carried out, on one line.
pub(crate) fn refuse(problem: &str) {
    let _ = writeln!(std::io::stderr(), "cleanhit: {}", printable(problem));
}

impl Ui {
    pub(crate) fn new(json: bool, quiet: bool, verbose: bool) -> Ui {
        Ui { json, quiet, verbose, closed: AtomicBool::new(false) }
    }

    /// Writes a result. A terminal obeys control characters, and inputs may hold some: all but
    /// line ends and tabs are escaped.
    pub(crate) fn out(&self, text: &str) -> anyhow::Result<()> {
        let raw = |c: char| c.is_control() && c != '\n' && c != '\t';
        if !text.contains(raw) {
            return self.write(text);
        }
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match raw(c) {
                true => escaped.extend(c.escape_default()),
                false => escaped.push(c),
            }
        }
        self.write(&escaped)
    }

    /// Writes a file's bytes, as they are.
    pub(crate) fn out_file(&self, text: &str) -> anyhow::Result<()> {
        self.write(text)
    }

    /// A closed pipe is no error: the reader has what it wanted.
    fn write(&self, text: &str) -> anyhow::Result<()> {
        if self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        match written {
            Err(err) if err.kind() == std::io::ErrorKind::BrokenPipe => {
                self.closed.store(true, Ordering::Relaxed);
                Ok(())
            }
            other => other.context("cannot write to stdout"),
        }
    }

    /// Writes a value as one JSON document.
    pub(crate) fn out_json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
        text.push('\n');
        self.write(&text)
    }

    /// Says where things went or what comes next.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.err(text);
        }
    }

    /// Says what only someone who looks for it wants to know.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose && !self.quiet {
            self.err(text);
        }
    }

    /// Says what the reader should know before trusting a result, on one line.
    pub(crate) fn warn(&self, text: &str) {
        self.err(&format!("cleanhit: warning: {}", printable(text)));
    }

    /// Writes lines; nothing in them reaches a terminal but what can be seen.
    fn err(&self, text: &str) {
        let lines: Vec<String> = text.split('\n').map(printable).collect();
        let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
    }

    /// A bar over `total` steps that shows itself only where a person watches and only once
    /// the work has taken a while.
    pub(crate) fn bar(&self, total: usize, what: &str) -> ProgressBar {
        let hidden = self.quiet || self.json || !std::io::stderr().is_terminal();
        let target = match hidden {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(8),
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let template = "{msg:24} {bar:30} {pos}/{len} {per_sec} eta {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }
}
