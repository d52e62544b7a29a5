//! The released family relation.
//!
//! Source: *Right Family, Wrong Skill*, appendix A.1 (Family relation): the connected components
//! of admitted helpful–sibling edges; every other candidate is a family of its own.

use std::collections::HashMap;

use cleanhit_core::{Corpus, DocIx, Partition};
use cleanhit_io::{Benchmark, InputError};

use crate::{
    labels::{
        Cases,
        read::{NAME, check_name, read_verified},
    },
    tsv::{self, Need},
};

const COLUMNS: [(&str, Need); 4] = [
    ("family_id", Need::Required),
    ("candidate_id", Need::Required),
    ("family_source", Need::Required),
    ("candidate_pool_id", Need::Required),
];

/// Which candidates are variants of one another, for each pool.
///
/// Side information that a benchmark may disclose; it says nothing of which member is helpful.
#[derive(Clone, Debug)]
pub struct Families(Vec<Partition>);

impl Families {
    /// Reads the benchmark's family relation. Candidates in no row are families of their own.
    ///
    /// # Errors
    ///
    /// Every violation, by line: an unknown pool or candidate, a candidate in two rows, an empty
    /// family id. Or that the benchmark names no relation.
    pub fn read(bench: &Benchmark) -> Result<Families, Vec<InputError>> {
        let Some(families) = &bench.families else {
            let error = InputError::new(bench.manifest(), "the benchmark names no family relation");
            return Err(vec![
                error.field("families").expected("its `relation`, a table of families"),
            ]);
        };
        let (bytes, _) = read_verified(bench, families).map_err(|error| vec![error])?;
        let file = bench.folder.show(&families.path);
        let mut errors = Vec::new();
        let table = tsv::read(&file, &bytes, COLUMNS, &mut errors);
        let mut members = Members::new(bench);
        for row in &table.rows {
            let [family, candidate, _, pool] = &row.fields;
            if let Err((field, problem, expected)) = members.add(row.line, family, candidate, pool)
            {
                let error = InputError::new(&file, problem).line(row.line).field(field);
                errors.push(error.expected(expected));
            }
        }
        if errors.is_empty() { Ok(members.families()) } else { Err(errors) }
    }

    /// The released relation computed from labels, for a bundle that has no such file.
    ///
    /// # Panics
    ///
    /// If `cases` label another benchmark.
    pub fn of_cases(cases: &Cases, bench: &Benchmark) -> Families {
        assert_eq!(cases.gate_sha256(), bench.gate_sha256, "the benchmark's own cases");
        let mut parents: Vec<Vec<usize>> =
            bench.pools.iter().map(|pool| (0..pool.pool.len()).collect()).collect();
        for case in cases {
            let parents = &mut parents[case.pool];
            let (a, b) = (case.helpful.as_usize(), case.sibling.as_usize());
            let (a, b) = (root(parents, a), root(parents, b));
            parents[a.max(b)] = a.min(b);
        }
        let partitions = bench.pools.iter().zip(parents).map(|(pool, mut parents)| {
            let corpus = pool.pool.corpus();
            let roots: Vec<usize> = (0..parents.len()).map(|doc| root(&mut parents, doc)).collect();
            partition(corpus, |doc| Some(roots[doc.as_usize()]))
        });
        Families(partitions.collect())
    }

    /// The relation as a file: members of families of two and more, by family and candidate.
    ///
    /// A family is named after its pool and its number among the pool's families, in the order
    /// of their first candidate ids.
    pub fn to_tsv(&self, bench: &Benchmark) -> Vec<u8> {
        let mut rows = Vec::new();
        for (bench_pool, partition) in bench.pools.iter().zip(&self.0) {
            let pool = &bench_pool.pool;
            let mut members: HashMap<u32, Vec<&str>> = HashMap::new();
            for doc in pool.corpus().docs() {
                members.entry(partition.group(doc)).or_default().push(pool.id(doc).as_str());
            }
            let mut families: Vec<Vec<&str>> =
                members.into_values().filter(|members| 1 < members.len()).collect();
            families.iter_mut().for_each(|members| members.sort_unstable());
            families.sort_unstable();
            for (number, members) in (1..).zip(families) {
                rows.extend(members.into_iter().map(|candidate| {
                    let family = format!("{}-{number:04}", pool.name());
                    [
                        family,
                        candidate.to_owned(),
                        "admitted_pair".to_owned(),
                        pool.name().to_owned(),
                    ]
                }));
            }
        }
        tsv::write(COLUMNS.map(|(name, _)| name), rows)
    }

    /// Discloses a pool's families to a method of setting `released_family`.
    ///
    /// The only way from the released relation to a method. `pool` is an index into the
    /// benchmark's pools.
    ///
    /// # Panics
    ///
    /// If there is no such pool.
    pub fn disclose(&self, pool: usize) -> &Partition {
        &self.0[pool]
    }
}

/// The families seen so far: by pool, each listed candidate's family and line.
struct Members<'a> {
    bench: &'a Benchmark,
    pools: HashMap<&'a str, usize>,
    listed: Vec<HashMap<DocIx, (String, u64)>>,
}

impl<'a> Members<'a> {
    fn new(bench: &'a Benchmark) -> Members<'a> {
        let names = bench.pools.iter().map(|pool| pool.pool.name());
        let pools = names.zip(0..).collect();
        Members { bench, pools, listed: vec![HashMap::new(); bench.pools.len()] }
    }

    /// Notes a member, or says which field is wrong, how, and what was expected.
    fn add(
        &mut self,
        line: u64,
        family: &str,
        candidate: &str,
        pool: &str,
    ) -> Result<(), (&'static str, String, String)> {
        let Some(&number) = self.pools.get(pool) else {
            let mut names: Vec<String> =
                self.pools.keys().map(|name| format!("`{name}`")).collect();
            names.sort_unstable();
            let problem = format!("pool `{pool}` is not in the benchmark");
            return Err(("candidate_pool_id", problem, names.join(" or ")));
        };
        let Some(doc) = self.bench.pools[number].pool.position(candidate) else {
            let problem = format!("candidate `{candidate}` is not in pool `{pool}`");
            return Err(("candidate_id", problem, "a candidate of the pool".to_owned()));
        };
        if let Err(problem) = check_name(family) {
            return Err(("family_id", problem.to_owned(), NAME.to_owned()));
        }
        match self.listed[number].insert(doc, (family.to_owned(), line)) {
            None => Ok(()),
            Some((_, first)) => {
                let problem = format!("candidate `{candidate}` is listed on line {first} as well");
                Err(("candidate_id", problem, "one row a candidate".to_owned()))
            }
        }
    }

    fn families(self) -> Families {
        let partitions = self.bench.pools.iter().zip(&self.listed).map(|(pool, listed)| {
            partition(pool.pool.corpus(), |doc| listed.get(&doc).map(|(family, _)| family))
        });
        Families(partitions.collect())
    }
}

/// Numbers families by their first member; `None` is a family of its own.
fn partition<K: std::hash::Hash + Eq>(
    corpus: &Corpus,
    family: impl Fn(DocIx) -> Option<K>,
) -> Partition {
    let mut numbers: HashMap<K, u32> = HashMap::new();
    let groups = corpus.docs().zip(0u32..).map(|(doc, own)| match family(doc) {
        // Each candidate's own position is a number that no other candidate starts.
        Some(family) => *numbers.entry(family).or_insert(own),
        None => own,
    });
    Partition::new(corpus, groups.collect())
}

/// The least member of a node's component, with the path to it shortened.
fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}
