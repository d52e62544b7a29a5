//! What must hold between the rows of a label file.
//!
//! Source: *Right Family, Wrong Skill*, section 3.2: the two queries of a paired unit exchange
//! roles and never separate; splits follow lineage.

use std::collections::{BTreeMap, BTreeSet};

use cleanhit_io::InputError;

use crate::{
    labels::{Case, Stratum, read::Read},
    tsv::Row,
};

/// Each unit's rows agree, are as many as its stratum says, and exchange roles if paired.
///
/// The latter two of `damaged` units, which have rows that are not among `rows`, are not checked.
pub(super) fn units(
    file: &str,
    rows: &[Read],
    damaged: &BTreeSet<String>,
    errors: &mut Vec<InputError>,
) {
    for unit in grouped(rows, |case| &case.unit).values() {
        let Some((first, rest)) = unit.split_first() else { continue };
        let known = errors.len();
        for row in rest {
            agree(file, first, row, errors);
        }
        if known < errors.len() || damaged.contains(&*first.case.unit) {
            continue;
        }
        let stratum = first.case.stratum;
        if unit.len() != stratum.n_queries() {
            let queries = if unit.len() == 1 { "query" } else { "queries" };
            let problem =
                format!("{stratum} unit `{}` has {} {queries}", first.case.unit, unit.len());
            let error = InputError::new(file, problem).line(first.line).field("unit_id");
            errors.push(error.expected(stratum.n_queries().to_string()));
        } else if let (Stratum::Paired, [a, b]) = (stratum, &unit[..]) {
            let roles = |row: &Read| (row.case.helpful, row.case.sibling);
            let (helpful, sibling) = roles(b);
            if roles(a) != (sibling, helpful) {
                let problem = format!(
                    "the queries of paired unit `{}` do not exchange the roles of its two skills",
                    first.case.unit
                );
                let error = InputError::new(file, problem).line(b.line).field("helpful_skill_id");
                errors.push(
                    error.expected(format!("the sibling of line {}, and it as sibling", a.line)),
                );
            }
        }
    }
}

/// Each lineage group is on one side of the development split.
pub(super) fn lineages(file: &str, rows: &[Read], errors: &mut Vec<InputError>) {
    for group in grouped(rows, |case| &case.lineage_group).values() {
        let Some((first, rest)) = group.split_first() else { continue };
        let parted = rest.iter().find(|row| row.case.development != first.case.development);
        // A unit that is parted has been reported as such.
        let Some(row) = parted.filter(|row| row.case.unit != first.case.unit) else { continue };
        let name = &first.case.lineage_group;
        let problem = format!("lineage group `{name}` is held out and for development");
        let error = InputError::new(file, problem).line(row.line).field("split_role");
        errors.push(error.expected(format!("the split of line {}", first.line)));
    }
}

/// A fold is a whole number from 0, without gaps, or `none`; a unit has one, and so has a lineage
/// group. The columns are those of the reader: the unit second, the group and the fold last.
pub(super) fn folds(file: &str, rows: &[Row<12>], errors: &mut Vec<InputError>) {
    let mut first: BTreeMap<(&str, &str), (&str, u64)> = BTreeMap::new();
    let mut used: BTreeMap<u32, u64> = BTreeMap::new();
    let known = errors.len();
    for row in rows {
        let [_, unit, .., lineage, fold] = &row.fields;
        let mut error = |problem: String, expected: String| {
            let error = InputError::new(file, problem).line(row.line).field("fold");
            errors.push(error.expected(expected));
        };
        match fold.parse::<u32>() {
            Ok(number) if number.to_string() == *fold => {
                used.entry(number).or_insert(row.line);
            }
            _ if fold == "none" => {}
            _ => error(format!("is `{fold}`"), "a whole number from 0, or `none`".to_owned()),
        }
        for (what, name) in [("unit", unit), ("lineage group", lineage)] {
            let (other, line) = *first.entry((what, name)).or_insert((fold, row.line));
            if other != fold {
                let problem = format!("is `{fold}`; {what} `{name}` has `{other}` on line {line}");
                error(problem, format!("one fold a {what}"));
                break;
            }
        }
    }
    let gap = used.iter().zip(0u32..).find(|((number, _), place)| *number != place);
    if let (Some(((number, line), place)), true) = (gap, known == errors.len()) {
        let error = InputError::new(file, format!("is `{number}`, and no row has `{place}`"));
        errors.push(error.line(*line).field("fold").expected("folds from 0 without a gap"));
    }
}

/// Rows by name, in line order.
fn grouped(rows: &[Read], name: fn(&Case) -> &str) -> BTreeMap<&str, Vec<&Read>> {
    let mut groups: BTreeMap<&str, Vec<&Read>> = BTreeMap::new();
    for row in rows {
        groups.entry(name(&row.case)).or_default().push(row);
    }
    groups
}

fn agree(file: &str, first: &Read, row: &Read, errors: &mut Vec<InputError>) {
    let (a, b) = (&first.case, &row.case);
    let same = [
        ("query_case_id", "pool", a.pool == b.pool),
        ("stratum", "stratum", a.stratum == b.stratum),
        ("main_evaluation", "value", a.counted == b.counted),
        ("split_role", "split", a.development == b.development),
        ("primary_category", "mechanism", a.mechanism == b.mechanism),
        ("conflict_type", "conflict type", a.conflict_type == b.conflict_type),
        ("domain", "domain", a.domain == b.domain),
        ("lineage_group", "lineage group", a.lineage_group == b.lineage_group),
    ];
    for (field, what, _) in same.into_iter().filter(|&(_, _, same)| !same) {
        let problem = format!("unit `{}` has another {what} on line {}", a.unit, first.line);
        let error = InputError::new(file, problem).line(row.line).field(field);
        errors.push(error.expected(format!("one {what} a unit")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(&str, &str, &str)]) -> Vec<String> {
        let row = |(&(unit, lineage, fold), line): (&(&str, &str, &str), u64)| {
            let mut fields = [const { String::new() }; 12];
            (fields[1], fields[10], fields[11]) = (unit.into(), lineage.into(), fold.into());
            Row { line, fields }
        };
        let rows: Vec<Row<12>> = rows.iter().zip(2..).map(row).collect();
        let mut errors = Vec::new();
        folds("c", &rows, &mut errors);
        errors.iter().map(InputError::to_string).collect()
    }

    #[test]
    fn folds_are_numbers_without_gaps_and_one_a_unit() {
        assert_eq!(
            found(&[("u", "g", "1"), ("v", "h", "none"), ("w", "i", "0"), ("u", "g", "1")]),
            [""; 0]
        );
        for fold in ["x", "", "-1", "+1", "01", "1.0"] {
            let says = format!("c:2: field `fold`: is `{fold}`; expected a whole number from 0");
            assert!(found(&[("u", "g", fold)])[0].starts_with(&says), "{fold}");
        }
        assert_eq!(
            found(&[("u", "g", "0"), ("u", "g", "1")]),
            ["c:3: field `fold`: is `1`; unit `u` has `0` on line 2; expected one fold a unit"]
        );
        assert_eq!(
            found(&[("u", "g", "0"), ("v", "g", "none")]),
            [
                "c:3: field `fold`: is `none`; lineage group `g` has `0` on line 2; expected one fold a lineage group"
            ]
        );
        assert_eq!(
            found(&[("u", "g", "0"), ("v", "h", "2")]),
            ["c:3: field `fold`: is `2`, and no row has `1`; expected folds from 0 without a gap"]
        );
    }
}
