//! Numbers with their nouns.

use std::fmt::Display;

/// A number and its noun, which is given in the singular: `1 query`, `2 queries`, `0 rows`.
///
/// The last word of `noun` takes the plural of regular English nouns.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) {
        return format!("{n} {noun}");
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{n} {stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{n} {noun}es"),
        _ => format!("{n} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_plural() {
        let all = |noun: &str| [0u64, 1, 2].map(|n| counted(n, noun)).join(", ");
        assert_eq!(all("query"), "0 queries, 1 query, 2 queries");
        assert_eq!(all("lineage group"), "0 lineage groups, 1 lineage group, 2 lineage groups");
        assert_eq!(all("key"), "0 keys, 1 key, 2 keys");
        assert_eq!(all("match"), "0 matches, 1 match, 2 matches");
        assert_eq!(counted(1usize, "violation"), "1 violation");
    }
}
