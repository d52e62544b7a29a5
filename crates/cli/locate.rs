//! Finding what an argument names: a benchmark, a rank file, a card.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use cleanhit_io::{
    Benchmark, Folder, InputError, check_lines, plain_words, read_file, refuse_overwrite,
};

use crate::bundled;

/// Whether an argument is a path and not a name: it holds a `/` or starts with `.`.
pub(crate) fn is_path(argument: &str) -> bool {
    argument.contains('/') || argument.contains('\\') || argument.starts_with('.')
}

/// The folder that `-b` names: a bundled benchmark, else a directory.
pub(crate) fn bench_folder(argument: &str) -> anyhow::Result<Folder> {
    if !is_path(argument) {
        if let Some(folder) = bundled::bench(argument) {
            return Ok(folder);
        }
        bail!(
            "unknown benchmark `{argument}`; known: {}; or a path to a folder, such as ./{argument}",
            bundled::bench_names().join(", ")
        );
    }
    let path = PathBuf::from(argument);
    if !path.is_dir() {
        bail!("{argument}: not a folder; expected one that holds `bench.toml`");
    }
    Ok(Folder::Disk(path))
}

/// Opens the benchmark that `-b` names. Reads no label file.
pub(crate) fn bench(argument: &str) -> anyhow::Result<Benchmark> {
    Ok(Benchmark::open(bench_folder(argument)?)?)
}

/// Refuses an output that is one of the files read: the benchmark's, or one of `others`.
pub(crate) fn output<'a>(
    path: &Path,
    bench: &Benchmark,
    others: impl IntoIterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    refuse_overwrite(path, others)?;
    Ok(refuse_overwrite(path, bench.paths().iter().map(PathBuf::as_path))?)
}

/// A rank file: the TSV itself, or the one in a method's folder.
pub(crate) fn rank_file(argument: &Path) -> anyhow::Result<PathBuf> {
    if !argument.exists() {
        bail!(
            "{}: no such file or folder; expected a rank file or a method's folder, which `cleanhit rank` writes",
            argument.display()
        );
    }
    if !argument.is_dir() {
        return Ok(argument.to_owned());
    }
    if let Some(path) = ranks_in(argument) {
        return Ok(path);
    }
    let shown = argument.display();
    match with_ranks(argument, 2) {
        Some(folder) => bail!(
            "{shown}: holds no rank file, but a folder in it does; expected a method's folder, such \
             as {}",
            folder.display()
        ),
        None => bail!("{shown}: holds no rank file; expected `top20.tsv` or `ranks.tsv`"),
    }
}

/// The rank file of a method's folder.
fn ranks_in(folder: &Path) -> Option<PathBuf> {
    let paths = ["top20.tsv", "ranks.tsv"].map(|name| folder.join(name));
    paths.into_iter().find(|path| path.is_file())
}

/// The first folder, by name, that holds a rank file, at most `levels` below this one.
fn with_ranks(folder: &Path, levels: usize) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    let found = folders.iter().find(|path| ranks_in(path).is_some()).cloned();
    let below = || folders.iter().find_map(|path| with_ranks(path, levels.checked_sub(1)?));
    found.or_else(|| if 1 < levels { below() } else { None })
}

/// Reads a whole file, with its name in the error.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    Ok(read_file(path)?)
}

/// Reads a whole file that may be packed, as gzip or zstd.
pub(crate) fn read_packed(path: &Path) -> anyhow::Result<Vec<u8>> {
    Ok(cleanhit_io::unpacked(&path.display().to_string(), read_file(path)?)?)
}

/// Reads a whole file of text, of which `expected` says what it should be.
pub(crate) fn read_text(path: &Path, expected: &str) -> anyhow::Result<String> {
    let bytes = read_file(path).map_err(|error| error.expected(expected))?;
    check_lines(&path.display().to_string(), &bytes)?;
    let not_text = |_| InputError::new(path.display(), "is not UTF-8").expected(expected);
    Ok(String::from_utf8(bytes).map_err(not_text)?)
}

/// A TOML error in one line: file, line, field, problem, what was expected.
pub(crate) fn toml_error(file: &str, text: &str, err: &toml::de::Error) -> anyhow::Error {
    let plain = plain_words(err.message());
    let mut error = InputError::new(file, plain.problem);
    error.expected = plain.expected;
    let at = err.span().map(|span| span.start.min(text.len()));
    let place = at.and_then(|at| toml_field(text, at));
    error.field = match (plain.field, place) {
        // A key that is missing is one of the table that lacks it.
        (Some(key), Some(table)) if plain.missing && !table.contains(" = ") => {
            Some(format!("{table}.{key}"))
        }
        (Some(key), _) if plain.missing => Some(key),
        (key, place) => place.map(|place| place.replace(" = ", "")).or(key),
    };
    error.line =
        at.map(|at| 1 + text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() as u64);
    error.into()
}

/// The key of the value at a byte, after its table's name and with ` = ` behind it, or the table
/// whose header is there; read off the text, since the TOML reader keeps no path.
fn toml_field(text: &str, at: usize) -> Option<String> {
    let name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let header = |line: &str| {
        let inside = line.trim().strip_prefix('[')?.strip_suffix(']')?;
        let inside = inside.trim_matches(['[', ']']);
        (!inside.is_empty()
            && inside.chars().all(name)
            && !inside.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| inside.to_owned())
    };
    let key = |line: &str| {
        let key = line.split_once('=')?.0.trim();
        (!key.is_empty() && key.chars().all(name)).then(|| key.to_owned())
    };
    let end = text.get(at..)?.find('\n').map_or(text.len(), |length| at + length);
    let mut lines = text.get(..end)?.lines().rev();
    // A value of several lines has its key above.
    let mut found = None;
    for line in lines.by_ref() {
        if let Some(table) = header(line) {
            return match found {
                None => Some(table),
                Some(key) => Some(format!("{table}.{key} = ")),
            };
        }
        found = found.or_else(|| key(line));
    }
    found.map(|key| format!("{key} = "))
}

/// A JSON error in one line: file, line, field, problem, what was expected.
pub(crate) fn json_error(path: &Path, text: &str, err: &serde_json::Error) -> InputError {
    let message = err.to_string();
    let plain = plain_words(message.split(" at line ").next().unwrap_or_default());
    let mut error = InputError::new(path.display(), plain.problem).line(err.line().max(1) as u64);
    error.expected = plain.expected;
    error.field = plain.field;
    if error.field.is_none() && err.is_data() {
        // The last key on the line, up to where the reader stopped.
        let line = text.lines().nth(err.line().saturating_sub(1)).unwrap_or_default();
        let read = line.get(..err.column()).unwrap_or(line);
        let key = read.rsplit_once("\":").and_then(|(before, _)| before.rsplit_once('"'));
        error.field = key.map(|(_, key)| key.to_owned()).filter(|key| !key.is_empty());
    }
    error
}

/// The line of a field such as `a.b[1].c` in a JSON text: that of the last of its keys, where
/// each is met in turn.
pub(crate) fn json_line(text: &str, field: &str) -> Option<u64> {
    let mut at = None;
    let mut skip = 0;
    for part in field.split('.') {
        let (key, index) = part.split_once('[').unwrap_or((part, ""));
        let quoted = format!("\"{key}\":");
        let from = at.map_or(0, |at| at + 1);
        let Some((met, _)) = text.get(from..).and_then(|t| t.match_indices(&quoted).nth(skip))
        else {
            break;
        };
        at = Some(from + met);
        skip = index.trim_end_matches(']').parse().unwrap_or(0);
    }
    let before = text.as_bytes().get(..at?)?;
    Some(1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64)
}

/// The error, of `path`, whatever it named.
pub(crate) fn in_file(path: &Path, error: InputError) -> InputError {
    InputError { file: path.display().to_string(), ..error }
}

/// The first of several violations, and how many more there are.
pub(crate) fn first(errors: &[cleanhit_io::InputError]) -> anyhow::Error {
    match errors {
        [] => anyhow!("the input is wrong"),
        [only] => anyhow!("{only}"),
        [first, rest @ ..] => {
            anyhow!("{first} (and {} more)", rest.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_serde_name_the_field_and_what_was_expected() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only read")]
        struct Outer {
            depth: std::num::NonZeroU32,
            list: Vec<u32>,
            inner: Inner,
        }
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only read")]
        struct Inner {
            seed: u64,
        }
        let toml = |text: &str| {
            let error = toml::from_str::<Outer>(text).unwrap_err();
            toml_error("f.toml", text, &error).to_string()
        };
        let good = "depth = 1\nlist = [\n  1,\n]\n[inner]\nseed = 1\n";
        for (from, to, says) in [
            (
                "depth = 1",
                "depth = 0",
                "f.toml:1: field `depth`: 0; expected a whole number from 1",
            ),
            ("  1,", "  -1,", "f.toml:3: field `list`: -1; expected a whole number from 0"),
            (
                "seed = 1",
                "seed = \"x\"",
                "f.toml:6: field `inner.seed`: `x`, a string; expected a whole number from 0",
            ),
            ("seed = 1", "sead = 1", "f.toml:6: field `inner.sead`: unknown key; expected `seed`"),
            ("seed = 1\n", "", "f.toml:5: field `inner.seed`: the key is missing"),
        ] {
            assert_eq!(toml(&good.replacen(from, to, 1)), says);
        }
        let missing = toml(&good.replacen("depth = 1\n", "", 1));
        assert!(missing.ends_with("field `depth`: the key is missing"), "{missing}");
        let json = |text: &str| {
            let error = serde_json::from_str::<Outer>(text).unwrap_err();
            json_error(Path::new("f.json"), text, &error).to_string()
        };
        assert_eq!(
            json("{\n\"list\": [], \"depth\": 0\n}"),
            "f.json:2: field `depth`: 0; expected a whole number from 1"
        );
        assert_eq!(json("{\n\"depth\": 1\n}"), "f.json:3: field `list`: the key is missing");
        assert!(json("{\n,").starts_with("f.json:2: "), "{}", json("{\n,"));
    }

    #[test]
    fn a_field_of_a_json_text_has_a_line() {
        let text = "{\n\"a\": 1,\n\"b\": {\n\"a\": [\n{\"c\": 1},\n{\"c\": 2}\n]\n}\n}";
        let line = |field: &str| json_line(text, field);
        assert_eq!(["a", "b", "b.a"].map(line), [Some(2), Some(3), Some(4)]);
        assert_eq!(["b.a[0].c", "b.a[1].c"].map(line), [Some(5), Some(6)]);
        assert_eq!(["b.none", "none"].map(line), [Some(3), None]);
    }
}
