//! From authored units to the files that a benchmark is read from.
//!
//! Everything is computed before anything is written, and `bench.toml`, which holds the hashes
//! of the others, is written last: a broken write is seen on the next load.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use cleanhit_io::{InputError, read_file, sha256_hex, write_atomic};

use super::{
    authoring::Authoring,
    families::components,
    folds::folds,
    gate::{self, GateReport},
    taxonomy::{Split, Stratum},
    unit::{Unit, UnitQuery},
};

/// The frozen files of a benchmark, in the order in which they are written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frozen {
    files: Vec<FrozenFile>,
}

/// A file to be written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FrozenFile {
    /// Relative to the authoring folder, with `/`.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    rows: usize,
}

/// Why a benchmark cannot be frozen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FreezeError {
    /// A rule of admission doesn't hold.
    #[error("the gate refuses the set:\n{0}")]
    Gate(GateReport),
    /// The sources do not make files.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// Makes the frozen files of a set that passes [`gate::structural`]. Writes nothing.
///
/// # Errors
///
/// If the gate refuses the set, or two texts share an id.
pub fn freeze(authoring: &Authoring) -> Result<Frozen, FreezeError> {
    let report = gate::structural(authoring);
    match report.passed() {
        true => Ok(compute(authoring)?),
        false => Err(FreezeError::Gate(report)),
    }
}

impl Frozen {
    /// The files, in the order in which they are written.
    pub fn files(&self) -> &[FrozenFile] {
        &self.files
    }

    /// Writes every file, each atomically, the manifest last.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, authoring: &Authoring) -> Result<(), InputError> {
        self.files.iter().try_for_each(|f| write_atomic(&authoring.path(&f.path), &f.bytes))
    }

    /// Whether none of the files is on disk: the set was never frozen.
    pub fn is_new(&self, authoring: &Authoring) -> bool {
        !self.files.iter().any(|file| authoring.path(&file.path).exists())
    }

    /// The files on disk that are not these: missing, unreadable or different.
    pub fn stale(&self, authoring: &Authoring) -> Vec<InputError> {
        let stale = |file: &FrozenFile| {
            let path = authoring.path(&file.path);
            let problem = match read_file(&path) {
                Ok(bytes) if bytes == file.bytes => return None,
                Ok(_) => "is stale: not what the units freeze to",
                Err(_) if path.exists() => "cannot be read",
                Err(_) => "is missing",
            };
            let error = InputError::new(path.display(), problem);
            Some(error.expected("what `cleanhit bench freeze` writes"))
        };
        self.files.iter().filter_map(stale).collect()
    }
}

/// The files of a set, whether or not the gate would let it pass.
pub(crate) fn compute(authoring: &Authoring) -> Result<Frozen, InputError> {
    let config = &authoring.config;
    let mut ids = Ids::default();
    let mut files = Vec::new();
    let mut pools = Vec::new();
    for &stratum in Stratum::ALL {
        let id = config.pool_id(stratum);
        let units: Vec<&Unit> = authoring.units.iter().filter(|u| u.stratum == stratum).collect();
        let candidates = candidates(authoring, &units, &mut ids)?;
        let path = format!("{}/{id}.jsonl", config.pools.trim_end_matches('/'));
        let candidates = jsonl(path, "candidate_id", &candidates);
        let mut queries = BTreeMap::new();
        for (unit, i, query) in cases(&units) {
            let file = (unit.file.as_str(), format!("query[{i}].text"));
            queries.insert(ids.query(&query.text, file.0, &file.1)?, query.text.clone());
        }
        let queries = jsonl(format!("{id}.queries.jsonl"), "query_case_id", &queries);
        pools.push((id, files.len()));
        files.extend([candidates, queries]);
    }
    files.push(cases_file(authoring));
    files.push(families_file(authoring));
    files.push(manifest(authoring, &pools, &files));
    Ok(Frozen { files })
}

/// The candidates of a stratum's pool: its units' skills and the whole background.
fn candidates(
    authoring: &Authoring,
    units: &[&Unit],
    ids: &mut Ids,
) -> Result<BTreeMap<String, String>, InputError> {
    let mut rows = BTreeMap::new();
    let skills =
        units.iter().flat_map(|unit| [(&unit.file, "a", &unit.a), (&unit.file, "b", &unit.b)]);
    for (file, field, skill) in skills {
        let text = skill.rendered();
        rows.insert(ids.candidate(&text, file, field)?, text);
    }
    for skill in &authoring.background {
        let text = skill.skill.rendered();
        rows.insert(ids.candidate(&text, &skill.file, "body")?, text);
    }
    Ok(rows)
}

/// Each query with its unit and its place in it; by unit, then in file order.
fn cases<'a>(units: &[&'a Unit]) -> impl Iterator<Item = (&'a Unit, usize, &'a UnitQuery)> {
    let units: Vec<&'a Unit> = units.to_vec();
    let queries = |unit: &'a Unit| unit.queries.iter().enumerate().map(move |(i, q)| (unit, i, q));
    units.into_iter().flat_map(queries)
}

/// Ids made of texts, so that they say nothing else; two texts may not share one.
#[derive(Default)]
struct Ids {
    texts: BTreeMap<String, String>,
}

impl Ids {
    fn candidate(&mut self, text: &str, file: &str, field: &str) -> Result<String, InputError> {
        self.add(candidate_id(text), text, file, field)
    }

    fn query(&mut self, text: &str, file: &str, field: &str) -> Result<String, InputError> {
        self.add(query_id(text), text, file, field)
    }

    fn add(
        &mut self,
        id: String,
        text: &str,
        file: &str,
        field: &str,
    ) -> Result<String, InputError> {
        let held = self.texts.entry(id.clone()).or_insert_with(|| text.to_owned());
        match held == text {
            true => Ok(id),
            false => {
                let problem = format!("has the id `{id}`, as another text has");
                let error = InputError::new(file, problem).field(field);
                Err(error.expected("texts whose SHA-256 differ in the first 12 digits"))
            }
        }
    }
}

/// A candidate's id in frozen files: `c-` and 12 digits of the SHA-256 of its text.
fn candidate_id(text: &str) -> String {
    short("c", text)
}

/// A query's id in frozen files: `q-` and 12 digits of the SHA-256 of its text.
fn query_id(text: &str) -> String {
    short("q", text)
}

fn short(kind: &str, text: &str) -> String {
    format!("{kind}-{}", &sha256_hex(text.as_bytes())[..12])
}

fn jsonl(path: String, key: &str, rows: &BTreeMap<String, String>) -> FrozenFile {
    let mut out = String::new();
    for (id, text) in rows {
        let (id, text) = (serde_json::Value::from(&**id), serde_json::Value::from(&**text));
        out.push_str(&format!("{{\"{key}\":{id},\"text\":{text}}}\n"));
    }
    FrozenFile { path, bytes: out.into_bytes(), rows: rows.len() }
}

/// The label file: `formats.md` §2, and the lineage group and the fold.
fn cases_file(authoring: &Authoring) -> FrozenFile {
    let config = &authoring.config;
    let folds = folds(&authoring.units, config.folds, config.seeds.folds);
    let mut out = String::from(
        "query_case_id\tunit_id\thelpful_skill_id\trisky_sibling_id\tmain_evaluation\tstratum\tsplit_role\t\
         primary_category\tconflict_type\tdomain\tlineage_group\tfold\n",
    );
    let mut rows = 0;
    for &stratum in Stratum::ALL {
        let units: Vec<&Unit> = authoring.units.iter().filter(|u| u.stratum == stratum).collect();
        for (unit, _, query) in cases(&units) {
            let (helpful, sibling) = unit.roles(query);
            let counted = match unit.split {
                Split::Heldout => "yes",
                Split::Development => "no",
            };
            let fold = match (unit.stratum, unit.split) {
                (Stratum::Single, Split::Heldout) => folds[&*unit.lineage_group].to_string(),
                _ => "none".to_owned(),
            };
            let fields = [
                &*query_id(&query.text),
                &unit.id,
                &candidate_id(&helpful.rendered()),
                &candidate_id(&sibling.rendered()),
                counted,
                stratum.frozen_name(),
                unit.split.frozen_name(),
                unit.mechanism.as_str(),
                unit.conflict_type.as_str(),
                &unit.domain,
                &unit.lineage_group,
                &fold,
            ];
            out.push_str(&fields.join("\t"));
            out.push('\n');
            rows += 1;
        }
    }
    FrozenFile { path: "cases.tsv".to_owned(), bytes: out.into_bytes(), rows }
}

/// The disclosed relation: the connected components of helpful-sibling edges, pool by pool.
fn families_file(authoring: &Authoring) -> FrozenFile {
    let config = &authoring.config;
    let mut lines = BTreeSet::new();
    for &stratum in Stratum::ALL {
        let pool = config.pool_id(stratum);
        let units = authoring.units.iter().filter(|u| u.stratum == stratum);
        let edges: Vec<(String, String)> =
            units.map(|u| (candidate_id(&u.a.rendered()), candidate_id(&u.b.rendered()))).collect();
        let edges: Vec<(&str, &str)> =
            edges.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        for members in components(&edges) {
            let family = short("f", &format!("{pool}\n{}", members.join("\n")));
            for id in members {
                lines.insert(format!("{family}\t{id}\tadmitted_pair\t{pool}\n"));
            }
        }
    }
    let mut out = String::from("family_id\tcandidate_id\tfamily_source\tcandidate_pool_id\n");
    out.extend(lines.iter().map(String::as_str));
    let path = format!("{}/families.tsv", config.pools.trim_end_matches('/'));
    FrozenFile { path, bytes: out.into_bytes(), rows: lines.len() }
}

/// `bench.toml`: every other file with its hash. `pools` gives each pool's id and the place of
/// its candidates in `files`; its queries come next, then the cases and the families.
fn manifest(authoring: &Authoring, pools: &[(&str, usize)], files: &[FrozenFile]) -> FrozenFile {
    let config = &authoring.config;
    let quote = |text: &str| toml::Value::from(text).to_string();
    let mut out = format!(
        "# Written by `cleanhit bench freeze` from units/ and the background; not edited by hand.\n\
         format = 1\nname = {}\nversion = {}\nlicence = {}\n",
        quote(&config.name),
        quote(&config.version),
        quote(&config.licence),
    );
    let mut list = |head: &str, named: &[(&str, &FrozenFile)]| {
        out.push_str(head);
        for (key, file) in named {
            let (path, sha256) = (quote(&file.path), sha256_hex(&file.bytes));
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{key} = {{ path = {path}, sha256 = \"{sha256}\", rows = {} }}",
                file.rows
            );
        }
    };
    for &(id, at) in pools {
        let head = format!("\n[[pool]]\nid = {}\n", quote(id));
        list(&head, &[("candidates", &files[at]), ("queries", &files[at + 1])]);
    }
    let [.., cases, families] = files else { unreachable!("two files follow the pools") };
    list("\n[labels]\n", &[("cases", cases)]);
    list("\n[families]\n", &[("relation", families)]);
    FrozenFile { path: "bench.toml".to_owned(), bytes: out.into_bytes(), rows: pools.len() }
}
