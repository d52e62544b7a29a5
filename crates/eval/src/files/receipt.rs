//! `adapter_receipt.json`: what the public adapter says of its run. Optional in a submission.

use std::collections::BTreeMap;

use cleanhit_io::{BenchPool, Benchmark, FileDigest, InputError};
use serde::{Deserialize, Serialize};

use crate::files::{
    card::{SHA256, is_sha256},
    json,
};

/// The schema's name.
pub const RUN_SCHEMA: &str = "samecaprisk.method-run.v1";

/// The whole file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdapterReceipt {
    /// [`RUN_SCHEMA`].
    pub schema: String,
    /// The method.
    pub method_id: String,
    /// Queries answered.
    pub queries: u64,
    /// Rows of the rank file, without the header.
    pub rank_rows: u64,
    /// Inference files that were read: pool and file, with digests.
    pub input_sha256: BTreeMap<String, String>,
    /// The adapter's code.
    pub adapter_sha256: String,
    /// The rank file.
    pub rank_sha256: String,
    /// What was run.
    pub scope: String,
}

impl AdapterReceipt {
    /// Reads a receipt.
    ///
    /// # Errors
    ///
    /// If it is not of this schema.
    pub fn read(file: &str, bytes: &[u8]) -> Result<AdapterReceipt, InputError> {
        json::typed(file, bytes)
    }

    /// The file's bytes.
    pub fn write(&self) -> Vec<u8> {
        json::write(self)
    }

    /// What in the receipt is not so: the benchmark's inputs, and the ranks that it came with.
    pub(super) fn check(
        &self,
        file: &str,
        bench: &Benchmark,
        method_id: &str,
        rank_sha256: &str,
        rank_rows: u64,
    ) -> Vec<InputError> {
        let mut errors = Vec::new();
        let mut check = |field: &str, found: &str, right: bool, expected: String| {
            if !right {
                let error = InputError::new(file, format!("is `{found}`")).field(field);
                errors.push(error.expected(expected));
            }
        };
        let (queries, rows) = (self.queries.to_string(), self.rank_rows.to_string());
        let fixed = [
            ("schema", &self.schema, RUN_SCHEMA.to_owned()),
            ("method_id", &self.method_id, method_id.to_owned()),
            ("queries", &queries, bench.n_queries().to_string()),
            ("rank_rows", &rows, rank_rows.to_string()),
            ("rank_sha256", &self.rank_sha256, rank_sha256.to_owned()),
        ];
        for (field, found, expected) in fixed {
            check(field, found, *found == expected, format!("`{expected}`"));
        }
        check(
            "adapter_sha256",
            &self.adapter_sha256,
            is_sha256(&self.adapter_sha256),
            SHA256.to_owned(),
        );
        check("scope", &self.scope, !self.scope.trim().is_empty(), "text".to_owned());
        let mut read = Vec::new();
        for (path, sha256) in &self.input_sha256 {
            let field = format!("input_sha256.{path}");
            match input(bench, path) {
                Some(input) => {
                    check(&field, sha256, *sha256 == input.sha256, format!("`{}`", input.sha256));
                    read.push(&input.path);
                }
                None => {
                    check(&field, path, false, "a pool or query file of the benchmark".to_owned())
                }
            }
        }
        for input in bench.inputs.iter().filter(|input| !read.contains(&&input.path)) {
            check("input_sha256", "without it", false, format!("the digest of `{}`", input.path));
        }
        errors
    }
}

/// The input that a receipt calls `pool/candidates.jsonl` or `pool/queries.jsonl`, or by the end
/// of its path.
fn input<'a>(bench: &'a Benchmark, path: &str) -> Option<&'a FileDigest> {
    // The benchmark lists each pool's candidates, then its queries.
    let named = |(place, pool): (usize, &BenchPool)| {
        let rest = path.strip_prefix(pool.pool.name())?;
        let file = match rest {
            "/candidates.jsonl" => 0,
            "/queries.jsonl" => 1,
            _ => return None,
        };
        bench.inputs.get(2 * place + file)
    };
    let by_pool = bench.pools.iter().enumerate().find_map(named);
    by_pool.or_else(|| {
        let ends = |digest: &&FileDigest| {
            let rest = digest.path.strip_suffix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        bench.inputs.iter().find(ends)
    })
}
