//! `cleanhit embed`: vectors of texts.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Lines, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{Role, embed_checked};
use cleanhit_io::{refuse_overwrite, write_atomic_with};
use cleanhit_neural::Seen;
use serde::Deserialize;
use serde_json::json;

use super::Verdict;
use crate::{
    neural::{self, Encoder},
    ui::Ui,
};

/// Embed texts with an embedder's card
///
/// FILE holds one object a line with nothing but a text, `{"text": "…"}`. OUT becomes a NumPy array of f32,
/// `[texts, dim]`, in the order of the lines.
///
/// Examples:
///   cleanhit embed -m all-minilm-l6-v2 --texts texts.jsonl -o vectors.npy
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// A card of kind `dense`, or a path to one
    #[arg(short, long = "method", value_name = "CARD")]
    method: String,
    /// The texts
    #[arg(long, value_name = "FILE")]
    texts: PathBuf,
    /// The array
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Which prefix and limits the texts get
    #[arg(long, value_enum, value_name = "ROLE", default_value = "document")]
    role: RoleName,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RoleName {
    Query,
    Document,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
}

/// Texts embedded at once: what is held is a handful, however many there are.
const CHUNK: usize = 4096;

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let role = match args.role {
        RoleName::Query => Role::Query,
        RoleName::Document => Role::Document,
    };
    // A bundled card's name is no file, and no other file is the output.
    refuse_overwrite(&args.output, [args.texts.as_path(), Path::new(&args.method)])?;
    let mut texts = Texts::open(&args.texts)?;
    let mut chunk = texts.next(CHUNK)?;
    if chunk.is_empty() {
        bail!("{}: holds no text; expected one object a line", args.texts.display());
    }
    let encoder = neural::shared().encoder(&args.method)?;
    let (dim, mut all) = (encoder.model.dim(), Seen::default());
    write_atomic_with(&args.output, |file| {
        let mut out = BufWriter::new(file);
        let failed = || format!("{}: cannot write", args.output.display());
        out.write_all(&header(0, dim)).with_context(failed)?;
        while !chunk.is_empty() {
            let refs: Vec<&str> = chunk.iter().map(String::as_str).collect();
            let vectors =
                embed_checked(&*encoder.model, role, &refs).map_err(|err| anyhow!("{err}"))?;
            for value in vectors.values() {
                out.write_all(&value.to_le_bytes()).with_context(failed)?;
            }
            let seen = encoder.seen(role, &refs).map_err(|err| anyhow!("{err}"))?;
            all.texts += seen.texts;
            all.cut += seen.cut;
            all.tokens += seen.tokens;
            all.tokens_lost += seen.tokens_lost;
            chunk = texts.next(CHUNK)?;
        }
        out.rewind().with_context(failed)?;
        out.write_all(&header(all.texts, dim)).with_context(failed)?;
        out.flush().with_context(failed)
    })?;
    say(args, ui, &encoder, dim, all)?;
    Ok(Verdict::Done)
}

fn say(args: &Args, ui: &Ui, encoder: &Encoder, dim: usize, seen: Seen) -> anyhow::Result<()> {
    if 0 < seen.cut {
        ui.warn(&format!(
            "{} of {} texts are longer than the model reads; {} of {} tokens are lost",
            seen.cut, seen.texts, seen.tokens_lost, seen.tokens
        ));
    }
    if ui.json {
        return ui.out_json(&json!({
            "output": args.output, "texts": seen.texts, "dim": dim,
            "model": encoder.note, "texts_cut": seen.cut, "tokens": seen.tokens,
            "tokens_lost": seen.tokens_lost,
        }));
    }
    ui.note(&format!("{}: {} vectors of {dim}", args.output.display(), seen.texts));
    Ok(())
}

/// The texts of a file, line by line.
struct Texts {
    file: String,
    lines: Lines<BufReader<File>>,
    number: usize,
}

impl Texts {
    fn open(path: &Path) -> anyhow::Result<Texts> {
        let file = path.display().to_string();
        let open = File::open(path).with_context(|| format!("cannot read {file}"))?;
        Ok(Texts { file, lines: BufReader::new(open).lines(), number: 0 })
    }

    /// The next texts, at most `n`. Empty lines don't count.
    fn next(&mut self, n: usize) -> anyhow::Result<Vec<String>> {
        let mut texts = Vec::new();
        while texts.len() < n {
            let Some(line) = self.lines.next() else { break };
            self.number += 1;
            let at = format!("{}:{}", self.file, self.number);
            let line = line.with_context(|| format!("{at}: cannot read the line"))?;
            if line.trim().is_empty() {
                continue;
            }
            let Line { text } = serde_json::from_str(&line).map_err(|err| {
                let message = err.to_string();
                let problem = message.split(" at line ").next().unwrap_or_default();
                anyhow!("{at}: {problem}; expected an object with the key `text` alone")
            })?;
            texts.push(text);
        }
        Ok(texts)
    }
}

/// Bytes of the array's header, whatever the number of rows.
const HEADER: usize = 128;

/// The header of NumPy's format, version 1.0.
fn header(rows: usize, dim: usize) -> [u8; HEADER] {
    let shape = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
    // Two numbers have at most 40 digits.
    let mut bytes = [b' '; HEADER];
    bytes[..10].copy_from_slice(b"\x93NUMPY\x01\x00\x76\x00");
    bytes[10..10 + shape.len()].copy_from_slice(shape.as_bytes());
    bytes[HEADER - 1] = b'\n';
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_numpys_header() {
        for (rows, dim) in [(0, 1), (3, 2), (usize::MAX, usize::MAX)] {
            let bytes = header(rows, dim);
            assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
            assert_eq!(10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), bytes.len());
            assert_eq!(bytes.len() % 64, 0);
            let header = std::str::from_utf8(&bytes[10..]).unwrap();
            let shape =
                format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
            assert_eq!(header.trim_end(), shape);
            assert!(header.ends_with('\n'));
        }
    }

    #[test]
    fn texts_come_in_handfuls() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |i: usize| format!("{{\"text\": \"t{i}\"}}\n\n");
        std::fs::write(file.path(), (0..5).map(line).collect::<String>() + "{}\n").unwrap();
        let mut texts = Texts::open(file.path()).unwrap();
        assert_eq!(texts.next(3).unwrap(), ["t0", "t1", "t2"]);
        assert_eq!(texts.next(2).unwrap(), ["t3", "t4"]);
        let err = texts.next(1).unwrap_err().to_string();
        assert!(
            err.ends_with(
                ":11: missing field `text`; expected an object with the key `text` alone"
            ),
            "{err}"
        );
        assert!(texts.next(1).unwrap().is_empty());
    }
}
