//! Writes rank files.

use std::io::Write as _;

use cleanhit_core::Rankings;

use super::COLUMNS;
use crate::bench::Benchmark;

/// A rank file: LF, pools and queries in the benchmark's order, ranks ascending, scores in the
/// shortest form that reads back as the same number. Queries without a ranking have no rows.
pub fn write_ranks(method_id: &str, bench: &Benchmark, rankings: &Rankings) -> Vec<u8> {
    let mut out = COLUMNS.join("\t").into_bytes();
    out.push(b'\n');
    let method = field(method_id);
    for pool in &bench.pools {
        let pool_id = field(pool.pool.name());
        for query in &pool.queries {
            let query_id = field(query.id.as_str());
            let hits = rankings.get(&query.id).map_or(&[][..], |ranking| ranking.hits());
            for (hit, rank) in hits.iter().zip(1u64..) {
                let candidate = field(pool.pool.id(hit.doc).as_str());
                let score = hit.score.get();
                // Writing to a vector does not fail.
                let _ = writeln!(
                    out,
                    "{method}\t{query_id}\t{pool_id}\t{rank}\t{candidate}\t{score:?}"
                );
            }
        }
    }
    out
}

/// Quoted as in RFC 4180 where it must be.
fn field(text: &str) -> std::borrow::Cow<'_, str> {
    match text.contains(['\t', '\n', '\r', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}
