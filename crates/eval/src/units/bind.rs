//! Which texts was this evidence accepted for?
//!
//! `evidence.binds` holds a hash over everything that the evidence speaks of. A unit whose text
//! changes no longer binds, and the gate asks for it to be read again. Nothing writes the hash
//! but [`bind()`](bind()), so a hash that matches means that somebody ran it on this text.

use std::path::Path;

use cleanhit_io::{InputError, read_file, write_atomic};
use sha2::{Digest as _, Sha256};

use super::{
    gate::left_of_skeleton,
    parse::utf8,
    taxonomy::Side,
    unit::{Kind, Unit},
};

/// Separates these hashes from every other hash in the project; the number rises with the
/// list of parts.
const DOMAIN: &str = "cleanhit unit evidence 1";

/// What [`bind()`](bind()) did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bound {
    /// The evidence bound already; the file is as it was.
    Already,
    /// The file now holds this hash.
    Now(String),
}

/// The hash that binds a unit's evidence, in lower-case hex.
///
/// SHA-256 over these parts, each with its length in bytes as a big-endian `u64` before it: the
/// domain `cleanhit unit evidence 1`; the rendered skill `a`; the rendered skill `b`; for each
/// query in file order its text, requirement, `a` or `b` (the helpful side), helpful span and
/// sibling span; `runnable` or `statement`; the statement; the tests (empty if there are none).
///
/// Names, types, splits and groups are left out: they can change without a second reading.
pub fn evidence_sha256(unit: &Unit) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(DOMAIN);
    part(&unit.skill(Side::A).rendered());
    part(&unit.skill(Side::B).rendered());
    for query in &unit.queries {
        part(&query.text);
        part(&query.requirement);
        part(query.helpful.as_str());
        part(&query.helpful_span);
        part(&query.sibling_span);
    }
    part(match unit.evidence.kind {
        Kind::Runnable => "runnable",
        Kind::Statement => "statement",
    });
    part(&unit.evidence.statement);
    part(unit.evidence.tests());
    hex::encode(hash.finalize())
}

/// Writes the evidence hash into a unit's file: its `binds` line, or a new one below `kind`.
/// Every other byte stays as it is.
///
/// # Errors
///
/// If the file is no unit, holds a `TODO` of its skeleton, or its evidence is not a table of its
/// own.
pub fn bind(path: &Path) -> Result<Bound, Vec<InputError>> {
    let file = path.display().to_string();
    let bytes = read_file(path).map_err(|error| vec![error])?;
    let Some(new) = bound(&file, &bytes)? else { return Ok(Bound::Already) };
    write_atomic(path, new.text.as_bytes()).map_err(|error| vec![error])?;
    Ok(Bound::Now(new.hash))
}

/// A unit's text with its hash in place.
struct New {
    text: String,
    hash: String,
}

/// The text with its hash in place; nothing if it is there already.
fn bound(file: &str, bytes: &[u8]) -> Result<Option<New>, Vec<InputError>> {
    let unit = Unit::parse(file, bytes)?;
    let left = left_of_skeleton(&unit);
    if !left.is_empty() {
        return Err(left);
    }
    let hash = evidence_sha256(&unit);
    if unit.evidence.binds.as_deref() == Some(&hash) {
        return Ok(None);
    }
    let source = utf8(file, bytes).map_err(|error| vec![error])?;
    let text = match unit.lines.get("evidence.binds") {
        Some(&line) => with_line(source, line, &hash, Place::Replace),
        None => with_line(source, unit.lines["evidence.kind"], &hash, Place::Below),
    };
    // The edit is textual; reading the result back proves that it did what it should.
    match Unit::parse(file, text.as_bytes()) {
        Ok(after) if after.evidence.binds.as_deref() == Some(&hash) => Ok(Some(New { text, hash })),
        _ => {
            let error = unit.error("evidence.kind", "shares its line with other keys");
            Err(vec![error.expected("`[evidence]` as a table, one key a line")])
        }
    }
}

/// Where the `binds` line goes.
enum Place {
    Replace,
    Below,
}

/// `source` with the line `binds = "…"` at or below a line that counts from 1.
fn with_line(source: &str, line: u64, hash: &str, place: Place) -> String {
    let mut out = String::with_capacity(source.len() + 80);
    for (old, number) in source.split_inclusive('\n').zip(1u64..) {
        if number != line {
            out.push_str(old);
            continue;
        }
        let end = match (old.ends_with("\r\n"), old.ends_with('\n')) {
            (true, _) => "\r\n",
            (false, true) => "\n",
            (false, false) => "",
        };
        let new = format!("binds = \"{hash}\"");
        match place {
            Place::Replace => out.extend([&new, end]),
            Place::Below if end.is_empty() => out.extend([old, "\n", &new]),
            Place::Below => out.extend([old, &new, end]),
        }
    }
    out
}
