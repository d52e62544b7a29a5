//! `cleanhit pool`: a folder of skills as a pool.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{anyhow, bail};
use cleanhit_io::{
    NotRead, ScanOptions, SkillNote, SkillScan, Template, counted, read_first_line,
    read_skill_folders, read_skill_jsonl, refuse_overwrite, write_pool,
};
use serde_json::{Value, json};

use super::Verdict;
use crate::{locate, ui::Ui};

/// Build a pool from folders of SKILL.md files or from skill JSONL, and describe it
///
/// Examples:
///   cleanhit pool build ~/skills -o pool.jsonl
///   cleanhit pool build skills.jsonl.zst --strict -o pool.jsonl
///   cleanhit pool stats ~/skills
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// Read every skill and write one JSONL of ids and rendered texts, sorted by id
    Build {
        #[command(flatten)]
        source: Source,
        /// The pool to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// How a skill becomes text: name_desc_body, skillrouter, skillret, desc_only, body_only
        /// or text [default: name_desc_body; text for pools]
        #[arg(long, value_name = "NAME")]
        template: Option<String>,
        /// Make any oddity that changes what is read an error
        #[arg(long)]
        strict: bool,
    },
    /// Count skills, sizes and oddities; writes nothing
    Stats {
        #[command(flatten)]
        source: Source,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Source {
    /// Folders that hold SKILL.md files at any depth, or .jsonl, .jsonl.gz and .jsonl.zst files
    #[arg(value_name = "DIR", required = true)]
    sources: Vec<PathBuf>,
    /// List every oddity, not only their counts
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::Build { source, output, template, strict } => {
            build(source, output, template.as_deref(), *strict, ui)
        }
        Command::Stats { source } => stats(source, ui),
    }
}

/// Skills, and how they become text.
pub(crate) struct Scanned {
    pub(crate) scan: SkillScan,
    pub(crate) template: Template,
}

/// Reads every source, and settles the template: that which is asked for, `text` for pools,
/// whose rows are rendered already, and `name_desc_body` for skills.
pub(crate) fn read_all(sources: &[PathBuf], template: Option<&str>) -> anyhow::Result<Scanned> {
    let rendered = sources.iter().filter(|path| is_pool(path)).count();
    let template = match (template, rendered) {
        (Some(name), _) => name.parse().map_err(|err| anyhow!("{err}"))?,
        (None, 0) => Template::NameDescBody,
        (None, n) if n == sources.len() => Template::Text,
        (None, _) => bail!(
            "some of the sources are pools, whose texts are rendered already, and some are skills; \
             expected one kind, or a `--template` for all"
        ),
    };
    Ok(Scanned { scan: scan(sources)?, template })
}

/// Whether a file is a pool: its first row has an id and a text and nothing else.
fn is_pool(path: &Path) -> bool {
    let first = read_first_line(path).unwrap_or_default();
    let row: Result<serde_json::Map<String, Value>, _> = serde_json::from_slice(&first);
    let row = row.unwrap_or_default();
    row.len() == 2 && row.contains_key("candidate_id") && row.contains_key("text")
}

/// Reads every source; folders together, so that a skill met twice is met as such.
fn scan(sources: &[PathBuf]) -> anyhow::Result<SkillScan> {
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
        sources.iter().cloned().partition(|path| path.is_dir());
    let mut whole = SkillScan::default();
    if !folders.is_empty() {
        whole = read_skill_folders(&folders, ScanOptions::default());
    }
    for file in files {
        let is_md = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        if is_md && file.is_file() {
            let folder = match file.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            bail!(
                "{}: is a Markdown file; expected the folder of SKILL.md files that it is in, {}, \
                 or skill JSONL",
                file.display(),
                folder.display()
            );
        }
        let read = read_skill_jsonl(&file).map_err(|errors| locate::first(&errors))?;
        whole.skills.extend(read.skills);
        whole.notes.extend(read.notes);
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in &whole.skills {
        let times = seen.entry(&skill.id).or_default();
        *times += 1;
        if 1 < *times {
            bail!("skill id `{}` comes from two of the sources; expected each id once", skill.id);
        }
    }
    Ok(whole)
}

fn build(
    source: &Source,
    output: &Path,
    template: Option<&str>,
    strict: bool,
    ui: &Ui,
) -> anyhow::Result<Verdict> {
    let Scanned { scan, template } = read_all(&source.sources, template)?;
    let strict_errors: Vec<&SkillNote> = scan.strict_errors().collect();
    if strict && let [first, rest @ ..] = &strict_errors[..] {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" (and {n} more; `cleanhit pool stats --list` lists all)"),
        };
        bail!("{}{more}", line(first));
    }
    none_read(&scan, &source.sources)?;
    check_output(output, &source.sources)?;
    let written = write_pool(&scan.skills, template, output)?;
    if ui.json {
        note_not_read(&scan, ui);
        ui.out_json(&json!({
            "output": output,
            "rows": written.rows,
            "sha256": written.sha256,
            "template": template.to_string(),
            "oddities": counts(&scan),
            "refused": scan.refused().map(line).collect::<Vec<_>>(),
            "not_read": not_read_json(&scan),
        }))?;
        return Ok(Verdict::Done);
    }
    ui.out(&summary(&scan, source.list)?)?;
    note_not_read(&scan, ui);
    ui.out(&format!(
        "wrote {}: {}, sha256 {}\n",
        output.display(),
        counted(written.rows, "skill"),
        written.sha256
    ))?;
    Ok(Verdict::Done)
}

/// Refuses sources without a skill, and says what else is in them.
pub(crate) fn none_read(scan: &SkillScan, sources: &[PathBuf]) -> anyhow::Result<()> {
    if !scan.skills.is_empty() {
        return Ok(());
    }
    let mut why: Vec<String> = not_read(scan).into_iter().collect();
    let refused: Vec<&SkillNote> = scan.refused().collect();
    if let [first, ..] = refused[..] {
        why.push(format!("{} refused, as {}", counted(refused.len(), "file"), line(first)));
    }
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    let shown: Vec<String> = sources.iter().map(|source| source.display().to_string()).collect();
    bail!(
        "{}: no skill that can be read{why}; expected folders that each hold a SKILL.md, or skill JSONL",
        shown.join(", ")
    )
}

/// Says how many files of a folder were left out for their names.
pub(crate) fn note_not_read(scan: &SkillScan, ui: &Ui) {
    if let Some(not_read) = not_read(scan) {
        ui.note(&not_read);
    }
}

fn not_read(scan: &SkillScan) -> Option<String> {
    let NotRead { markdown, jsonl } = scan.not_read;
    let kinds = [(markdown, ".md"), (jsonl, ".jsonl")].into_iter().filter(|(n, _)| 0 < *n);
    let shown: Vec<String> = kinds.map(|(n, kind)| format!("{n} {kind}")).collect();
    let (files, are, were) = match markdown + jsonl {
        0 => return None,
        1 => ("file", "is", "was"),
        _ => ("files", "are", "were"),
    };
    Some(format!("{} {files} {are} not named SKILL.md and {were} not read", shown.join(" and ")))
}

fn not_read_json(scan: &SkillScan) -> Value {
    json!({ "md": scan.not_read.markdown, "jsonl": scan.not_read.jsonl })
}

/// A pool replaces none of its sources, and no skill.
fn check_output(output: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    refuse_overwrite(output, sources.iter().map(PathBuf::as_path))?;
    // A link may lead to a skill.
    let leads_to = output.canonicalize().unwrap_or_else(|_| output.to_owned());
    if leads_to.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md")) {
        bail!("{}: is a skill's name; expected another, such as pool.jsonl", output.display());
    }
    Ok(())
}

fn stats(source: &Source, ui: &Ui) -> anyhow::Result<Verdict> {
    let scan = scan(&source.sources)?;
    none_read(&scan, &source.sources)?;
    note_not_read(&scan, ui);
    let mut lengths: Vec<usize> = scan.skills.iter().map(|skill| skill.body.len()).collect();
    lengths.sort_unstable();
    let at = |share: f64| {
        let last = lengths.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
        lengths.get((share * last as f64) as usize).copied().unwrap_or(0)
    };
    let quantiles = [0.0, 0.1, 0.5, 0.9, 1.0].map(at);
    if ui.json {
        ui.out_json(&json!({
            "skills": scan.skills.len(),
            "body_bytes": { "min": quantiles[0], "p10": quantiles[1], "median": quantiles[2], "p90": quantiles[3], "max": quantiles[4], "sum": lengths.iter().sum::<usize>() },
            "oddities": counts(&scan),
            "refused": scan.refused().map(line).collect::<Vec<_>>(),
            "not_read": not_read_json(&scan),
        }))?;
        return Ok(Verdict::Done);
    }
    ui.out(&summary(&scan, source.list)?)?;
    let [min, p10, median, p90, max] = quantiles;
    ui.out(&format!(
        "bytes of a body: min {min}, p10 {p10}, median {median}, p90 {p90}, max {max}, sum {}\n",
        lengths.iter().sum::<usize>()
    ))?;
    Ok(Verdict::Done)
}

fn counts(scan: &SkillScan) -> BTreeMap<String, usize> {
    scan.summary().into_iter().map(|(kind, count)| (kind.to_string(), count)).collect()
}

fn line(note: &SkillNote) -> String {
    cleanhit_io::InputError::from(note).to_string()
}

fn summary(scan: &SkillScan, list: bool) -> anyhow::Result<String> {
    let mut text = String::new();
    let refused = scan.refused().count();
    let (skills, refused) = (counted(scan.skills.len(), "skill"), counted(refused, "file"));
    writeln!(text, "{skills} read, {refused} refused")?;
    for (kind, count) in scan.summary() {
        let mark = if kind.is_refusal() { "refused" } else { "read" };
        writeln!(text, "  {count:6}  {mark:8} {kind}")?;
    }
    let shown = scan.notes.iter().filter(|note| list || note.kind.is_refusal());
    for note in shown {
        writeln!(text, "  {}", line(note))?;
    }
    Ok(text)
}
