//! `cleanhit embed`: vectors of texts.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{Embeddings, Role, embed_checked};
use serde::Deserialize;
use serde_json::json;

use super::Verdict;
use crate::{neural, ranking, ui::Ui};

/// Embed texts with an embedder's card
///
/// FILE holds one object a line, `{"text": "…"}`. OUT becomes a NumPy array of f32,
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

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<Verdict> {
    let texts = read(&args.texts)?;
    let role = match args.role {
        RoleName::Query => Role::Query,
        RoleName::Document => Role::Document,
    };
    let encoder = neural::shared().encoder(&args.method)?;
    let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed_checked(&*encoder.model, role, &refs).map_err(|err| anyhow!("{err}"))?;
    let seen = encoder.seen(role, &refs).map_err(|err| anyhow!("{err}"))?;
    ranking::write(&args.output, &npy(&vectors))?;
    if 0 < seen.cut {
        ui.warn(&format!(
            "{} of {} texts are longer than the model reads; {} of {} tokens are lost",
            seen.cut, seen.texts, seen.tokens_lost, seen.tokens
        ));
    }
    if ui.json {
        ui.out_json(&json!({
            "output": args.output, "texts": texts.len(), "dim": vectors.dim(),
            "model": encoder.note, "texts_cut": seen.cut, "tokens": seen.tokens,
            "tokens_lost": seen.tokens_lost,
        }))?;
    } else {
        let output = args.output.display();
        ui.note(&format!("{output}: {} vectors of {}", texts.len(), vectors.dim()));
    }
    Ok(Verdict::Done)
}

fn read(path: &Path) -> anyhow::Result<Vec<String>> {
    let file = path.display();
    let open = std::fs::File::open(path).with_context(|| format!("cannot read {file}"))?;
    let mut texts = Vec::new();
    for (line, number) in BufReader::new(open).lines().zip(1usize..) {
        let line = line.with_context(|| format!("{file}:{number}: cannot read the line"))?;
        if line.trim().is_empty() {
            continue;
        }
        let Line { text } = serde_json::from_str(&line).map_err(|err| {
            let message = err.to_string();
            let problem = message.split(" at line ").next().unwrap_or_default();
            anyhow!("{file}:{number}: {problem}; expected an object with the key `text` alone")
        })?;
        texts.push(text);
    }
    if texts.is_empty() {
        bail!("{file}: holds no text; expected one object a line");
    }
    Ok(texts)
}

/// NumPy's format, version 1.0: a header of a multiple of 64 bytes, then the values.
fn npy(vectors: &Embeddings) -> Vec<u8> {
    let (n, dim) = (vectors.len(), vectors.dim());
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {dim}), }}");
    let unpadded = 10 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    // Two numbers and some words take far fewer bytes than two of them can count.
    bytes.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(vectors.values().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_numpys_header() {
        let vectors = Embeddings::new(2, vec![1.0, -2.0, 0.5, 0.0, 3.0, 4.0]).unwrap();
        let bytes = npy(&vectors);
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"));
        assert!(header.ends_with('\n'));
        assert_eq!(bytes.len(), 10 + length + 24);
        assert_eq!(bytes[10 + length + 4..][..4], (-2.0f32).to_le_bytes());
    }
}
