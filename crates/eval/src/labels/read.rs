//! Reads `cases.tsv`, ours and the public bundle's.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cleanhit_core::{DocIx, Pool, QueryId};
use cleanhit_io::{Benchmark, FileRef, InputError, counted, sha256_hex};

use crate::{
    labels::{Case, Cases, ConflictType, Mechanism, Stratum, check},
    tsv::{self, Need, Row},
};

const COLUMNS: [(&str, Need); 12] = [
    ("query_case_id", Need::Required),
    ("unit_id", Need::Required),
    ("helpful_skill_id", Need::Required),
    ("risky_sibling_id", Need::Required),
    ("main_evaluation", Need::Required),
    ("stratum", Need::Required),
    ("split_role", Need::Required),
    ("primary_category", Need::Required),
    ("conflict_type", Need::Required),
    ("domain", Need::Required),
    ("lineage_group", Need::Optional),
    ("fold", Need::Optional),
];

/// A case, its line, and its place among the benchmark's queries.
pub(super) struct Read {
    pub(super) case: Case,
    pub(super) line: u64,
    place: usize,
}

/// What the rows of one file are read against.
struct Reader<'a> {
    file: &'a str,
    bench: &'a Benchmark,
    /// Each query's pool and place.
    queries: HashMap<&'a str, (usize, usize)>,
    lineage_known: bool,
    /// How the file writes each mechanism, and the mechanism of each conflict type.
    mechanism_labels: BTreeMap<Mechanism, Box<str>>,
    type_mechanisms: BTreeMap<Box<str>, Mechanism>,
    errors: Vec<InputError>,
}

impl Cases {
    /// Reads the benchmark's label file.
    ///
    /// Our files and those of the public bundle are told apart by the column `lineage_group`,
    /// which only ours have. Without it a conflict type may be any name, as long as it stays
    /// under one mechanism: the public release's own names are not known here.
    ///
    /// # Errors
    ///
    /// Every violation, by line: an unknown query or candidate, a helpful skill that is its own
    /// sibling, a query twice or not at all, a value outside its enumeration, a type under
    /// another mechanism, a unit whose rows disagree or are too few, a lineage group on both
    /// sides of the development split, a fold that is none or is not its unit's.
    pub fn read(bench: &Benchmark) -> Result<Cases, Vec<InputError>> {
        let Some(labels) = &bench.labels else {
            let error = InputError::new(bench.manifest(), "the benchmark names no label file");
            return Err(vec![error.field("labels").expected("its `cases`, a table of cases")]);
        };
        let (bytes, sha256) = read_verified(bench, labels).map_err(|error| vec![error])?;
        Cases::parse(&bench.folder.show(&labels.path), &bytes, bench, sha256)
    }

    fn parse(
        file: &str,
        bytes: &[u8],
        bench: &Benchmark,
        sha256: String,
    ) -> Result<Cases, Vec<InputError>> {
        let mut errors = Vec::new();
        let table = tsv::read(file, bytes, COLUMNS, &mut errors);
        if table.header.is_empty() || (table.rows.is_empty() && !errors.is_empty()) {
            return Err(errors);
        }
        let lineage_known = table.present[10];
        let mut reader = Reader::new(file, bench, lineage_known, errors);
        // Another's column of that name may mean anything.
        if lineage_known && table.present[11] {
            check::folds(file, &table.rows, &mut reader.errors);
        }
        let mut seen: HashMap<String, u64> = HashMap::new();
        let rows = table.rows.len() as u64;
        let mut read = Vec::with_capacity(table.rows.len());
        // Units of which a row could not be read: that they are incomplete is known.
        let mut damaged = BTreeSet::new();
        for row in table.rows {
            let [query, unit, ..] = &row.fields;
            let (query, unit) = (query.clone(), unit.clone());
            let case = match seen.get(&query) {
                Some(first) => {
                    let problem =
                        format!("query `{query}` is labelled twice, first on line {first}");
                    reader.error(row.line, "query_case_id", problem, "one row a query");
                    None
                }
                None => {
                    seen.insert(query, row.line);
                    reader.row(row)
                }
            };
            match case {
                Some(case) => read.push(case),
                None => {
                    damaged.insert(unit);
                }
            }
        }
        check::units(file, &read, &damaged, &mut reader.errors);
        check::lineages(file, &read, &mut reader.errors);
        reader.missing(&seen);
        if let Some(stated) = bench.labels.as_ref().and_then(|labels| labels.rows) {
            reader.rows(stated, rows);
        }
        let Reader { errors, mechanism_labels, .. } = reader;
        if !errors.is_empty() {
            return Err(errors);
        }
        read.sort_unstable_by_key(|read| read.place);
        let cases: Vec<Case> = read.into_iter().map(|read| read.case).collect();
        let index = cases.iter().enumerate().map(|(i, case)| (case.query.clone(), i)).collect();
        let (n_units, units) = numbered(cases.iter().map(|case| &*case.unit));
        let (_, lineages) = numbered(cases.iter().map(|case| &*case.lineage_group));
        Ok(Cases {
            index,
            units,
            lineages,
            n_units,
            mechanism_labels,
            lineage_known,
            sha256,
            gate_sha256: bench.gate_sha256.clone(),
            cases,
        })
    }
}

/// What a unit, a family, a group and the like is called.
pub(super) const NAME: &str = "a name without control characters";

pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    match name {
        "" => Err("is empty"),
        name if name.chars().any(char::is_control) => Err("holds a control character"),
        _ => Ok(()),
    }
}

/// The bytes of a file that the benchmark names, and their digest.
pub(super) fn read_verified(
    bench: &Benchmark,
    file: &FileRef,
) -> Result<(std::borrow::Cow<'static, [u8]>, String), InputError> {
    let bytes = bench.folder.read(&file.path)?;
    let sha256 = sha256_hex(&bytes);
    match &file.sha256 {
        Some(expected) if !expected.eq_ignore_ascii_case(&sha256) => {
            let error = InputError::new(
                bench.folder.show(&file.path),
                format!("sha256 is {sha256}: not the file that was frozen"),
            );
            Err(error.expected(expected.clone()))
        }
        _ => Ok((bytes, sha256)),
    }
}

impl<'a> Reader<'a> {
    fn new(
        file: &'a str,
        bench: &'a Benchmark,
        lineage_known: bool,
        errors: Vec<InputError>,
    ) -> Reader<'a> {
        let queries = bench.pools.iter().enumerate().flat_map(|(pool, bench_pool)| {
            bench_pool.queries.iter().map(move |query| (query.id.as_str(), pool))
        });
        let queries =
            queries.enumerate().map(|(place, (query, pool))| (query, (pool, place))).collect();
        Reader {
            file,
            bench,
            queries,
            lineage_known,
            mechanism_labels: BTreeMap::new(),
            type_mechanisms: BTreeMap::new(),
            errors,
        }
    }

    fn error(&mut self, line: u64, field: &str, problem: String, expected: impl Into<String>) {
        let error = InputError::new(self.file, problem).line(line).field(field);
        self.errors.push(error.expected(expected));
    }

    /// The case of a row, unless something in it is wrong.
    fn row(&mut self, row: Row<12>) -> Option<Read> {
        let line = row.line;
        let [
            query,
            unit,
            helpful,
            sibling,
            main,
            stratum,
            split,
            mechanism,
            conflict,
            domain,
            lineage,
            _,
        ] = row.fields;
        for (field, value) in [("unit_id", &unit), ("domain", &domain)] {
            if let Err(problem) = check_name(value) {
                self.error(line, field, problem.to_owned(), NAME);
            }
        }
        let known = self.queries.get(query.as_str()).copied();
        if known.is_none() {
            let problem = format!("query `{query}` is not in the benchmark");
            let expected = format!("a query of {}", pool_names(self.bench));
            self.error(line, "query_case_id", problem, expected);
        }
        let pair = known.map(|(pool, _)| {
            let pool = &*self.bench.pools[pool].pool;
            let helpful = self.candidate(line, "helpful_skill_id", &helpful, pool);
            let sibling = self.candidate(line, "risky_sibling_id", &sibling, pool);
            (helpful, sibling)
        });
        if helpful == sibling {
            let problem = format!("`{sibling}` is the helpful skill as well");
            self.error(line, "risky_sibling_id", problem, "another candidate");
        }
        let counted = self.choice(line, "main_evaluation", &main, &[("yes", true), ("no", false)]);
        let label = stratum;
        let stratum = Stratum::from_label(&label);
        if stratum.is_none() {
            self.error(line, "stratum", format!("`{label}` is not a stratum"), strata());
        }
        let development = self.split(line, &split);
        if (counted, development) == (Some(true), Some(true)) {
            let problem = "a development query is counted".to_owned();
            self.error(line, "main_evaluation", problem, "`no`");
        }
        let (mechanism, conflict_type) = self.taxonomy(line, &mechanism, &conflict);
        let lineage_group = match (self.lineage_known, check_name(&lineage)) {
            (true, Err(problem)) => {
                self.error(line, "lineage_group", problem.to_owned(), NAME);
                return None;
            }
            (true, Ok(())) => lineage.into_boxed_str(),
            (false, _) => unit.as_str().into(),
        };
        let (pool, place) = known?;
        let (helpful, sibling) = pair?;
        let case = Case {
            query: QueryId::from(query.as_str()),
            pool,
            unit: unit.into_boxed_str(),
            helpful: helpful?,
            sibling: sibling?,
            counted: counted?,
            stratum: stratum?,
            development: development?,
            mechanism: mechanism?,
            conflict_type: conflict_type?,
            domain: domain.into_boxed_str(),
            lineage_group,
        };
        Some(Read { case, line, place })
    }

    fn candidate(&mut self, line: u64, field: &str, id: &str, pool: &Pool) -> Option<DocIx> {
        let position = pool.position(id);
        if position.is_none() {
            let mut problem = format!("candidate `{id}` is not in pool `{}`", pool.name());
            let elsewhere = self.bench.pools.iter().find(|other| other.pool.position(id).is_some());
            if let Some(other) = elsewhere {
                problem.push_str(&format!(" but in pool `{}`", other.pool.name()));
            }
            self.error(line, field, problem, "a candidate of the query's pool");
        }
        position
    }

    fn choice<T: Copy>(
        &mut self,
        line: u64,
        field: &str,
        value: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let found = choices.iter().find(|(name, _)| *name == value).map(|&(_, choice)| choice);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.error(line, field, format!("is `{value}`"), ticked(&names));
        }
        found
    }

    /// `development_only`, or whatever else the file calls its held-out rows.
    fn split(&mut self, line: u64, value: &str) -> Option<bool> {
        match value {
            "development_only" => Some(true),
            // A misspelt development row would be held out without a word.
            "" => {
                self.error(
                    line,
                    "split_role",
                    "is empty".to_owned(),
                    "`development_only` or another role",
                );
                None
            }
            value if value.to_lowercase().starts_with("dev") => {
                let problem = format!("is `{value}`, which nobody reads as development");
                self.error(line, "split_role", problem, "`development_only`");
                None
            }
            _ => Some(false),
        }
    }

    fn taxonomy(
        &mut self,
        line: u64,
        mechanism: &str,
        conflict: &str,
    ) -> (Option<Mechanism>, Option<Box<str>>) {
        let label = mechanism;
        let mechanism = match self.lineage_known {
            true => label.parse().ok(),
            false => Mechanism::from_label(label),
        };
        let Some(mechanism) = mechanism else {
            let problem = format!("`{label}` is not a mechanism");
            self.error(line, "primary_category", problem, ticked(Mechanism::ALL));
            return (None, None);
        };
        let first = self.mechanism_labels.entry(mechanism).or_insert_with(|| label.into()).clone();
        if *first != *label {
            let problem = format!("`{label}` is written `{first}` elsewhere");
            self.error(line, "primary_category", problem, "one spelling");
        }
        let known = match self.lineage_known {
            true => conflict.parse().ok(),
            false => ConflictType::from_label(conflict),
        };
        let home = match (known, self.lineage_known || conflict.is_empty()) {
            (Some(known), _) => known.mechanism(),
            (None, false) => *self.type_mechanisms.entry(conflict.into()).or_insert(mechanism),
            (None, true) => {
                let problem = format!("`{conflict}` is not a conflict type");
                self.error(line, "conflict_type", problem, ticked(ConflictType::ALL));
                return (Some(mechanism), None);
            }
        };
        if home != mechanism {
            let problem = format!("`{conflict}` is under `{home}`, not `{label}`");
            let expected: Vec<ConflictType> = mechanism.types().collect();
            self.error(line, "conflict_type", problem, ticked(&expected));
            return (Some(mechanism), None);
        }
        (Some(mechanism), Some(conflict.into()))
    }

    fn rows(&mut self, stated: u64, rows: u64) {
        if stated != rows {
            let error = InputError::new(
                self.file,
                format!("has {} that can be read", counted(rows, "row")),
            );
            self.errors.push(error.expected(format!("{stated}, as the manifest states")));
        }
    }

    /// Queries of the benchmark that no row labels.
    fn missing(&mut self, seen: &HashMap<String, u64>) {
        for bench_pool in &self.bench.pools {
            for query in bench_pool.queries.iter().filter(|q| !seen.contains_key(q.id.as_str())) {
                let pool = bench_pool.pool.name();
                let problem = format!("query `{}` of pool `{pool}` has no row", query.id);
                let error = InputError::new(self.file, problem).field("query_case_id");
                self.errors.push(error.expected("a row for every query"));
            }
        }
    }
}

fn pool_names(bench: &Benchmark) -> String {
    let names: Vec<String> =
        bench.pools.iter().map(|pool| format!("pool `{}`", pool.pool.name())).collect();
    names.join(" or ")
}

fn strata() -> String {
    let names: Vec<&str> = Stratum::ALL.iter().map(|stratum| stratum.frozen_name()).collect();
    ticked(&names)
}

fn ticked<T: std::fmt::Display>(names: &[T]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}

/// How many distinct names there are, and each name's place in their order.
fn numbered<'a>(names: impl Iterator<Item = &'a str> + Clone) -> (usize, Vec<usize>) {
    let distinct: Vec<&str> = names.clone().collect::<BTreeSet<&str>>().into_iter().collect();
    let places = names.map(|name| distinct.partition_point(|known| *known < name)).collect();
    (distinct.len(), places)
}
