//! Do the labels hold together: type, roles, spans, groups, counts?

use std::collections::BTreeMap;

use cleanhit_io::counted;

use super::Check;
use crate::units::{
    authoring::Authoring,
    taxonomy::{ConflictType, Side, Split, Stratum},
};

/// The type belongs to the mechanism, and both to the stratum; paired units are held out.
pub fn taxonomy(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    for unit in &authoring.units {
        let kind = unit.conflict_type;
        if kind.mechanism() != unit.mechanism {
            let problem = format!("`{kind}` is no type of `{}`", unit.mechanism);
            let expected = format!("`{}`, or another type", kind.mechanism());
            out.push(unit.error("mechanism", problem).expected(expected));
        }
        if kind.stratum() != unit.stratum {
            let problem = format!("`{}` units have no `{kind}`", unit.stratum);
            out.push(unit.error("stratum", problem).expected(format!("`{}`", kind.stratum())));
        }
        if (unit.stratum, unit.split) == (Stratum::Paired, Split::Development) {
            let error = unit.error("split", "a paired unit is for development");
            out.push(error.expected("`heldout`"));
        }
    }
    let mut types: Vec<ConflictType> = authoring.units.iter().map(|u| u.conflict_type).collect();
    types.sort_unstable();
    types.dedup();
    Check::new("taxonomy", format!("{} of {} types", types.len(), ConflictType::ALL.len()), out)
}

/// A single unit has one query; the two of a paired unit exchange the roles.
pub fn roles(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let mut queries = 0;
    for unit in &authoring.units {
        queries += unit.queries.len();
        let (n, due) = (unit.queries.len(), unit.stratum.n_queries());
        if n != due {
            let problem = format!("a {} unit has {n}", unit.stratum);
            out.push(unit.error("query", problem).expected(format!("{due}")));
            continue;
        }
        let mut helpful: Vec<Side> = unit.queries.iter().map(|query| query.helpful).collect();
        helpful.sort_unstable();
        if unit.stratum == Stratum::Paired && helpful != [Side::A, Side::B] {
            let problem = "both queries have the same helpful skill";
            let error = unit.error("query[1].helpful", problem);
            out.push(error.expected("the roles exchanged"));
        }
    }
    Check::new(
        "roles",
        format!("{} in {}", counted(queries, "query"), counted(authoring.units.len(), "unit")),
        out,
    )
}

/// The requirement is in the query; each role's span is in its skill and not in the other.
pub fn spans(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let mut bound = 0;
    for unit in &authoring.units {
        for (i, query) in unit.queries.iter().enumerate() {
            bound += 3;
            if !query.text.contains(&query.requirement) {
                let field = format!("query[{i}].requirement");
                let error = unit.error(&field, "is not in the query");
                out.push(error.expected("a span of its `text`"));
            }
            let (helpful, sibling) = unit.roles(query);
            let (helpful, sibling) = (helpful.rendered(), sibling.rendered());
            let names = ["the helpful skill", "the sibling"];
            let spans = [
                ("helpful_span", &query.helpful_span, &helpful, &sibling, names),
                ("sibling_span", &query.sibling_span, &sibling, &helpful, [names[1], names[0]]),
            ];
            for (field, span, own, other, [own_name, other_name]) in spans {
                let field = format!("query[{i}].{field}");
                if !own.contains(span.as_str()) {
                    let error = unit.error(&field, format!("is not in {own_name}"));
                    out.push(error.expected("a span of its text"));
                }
                if other.contains(span.as_str()) {
                    let error = unit.error(&field, format!("is also in {other_name}"));
                    out.push(error.expected(format!("a span of {own_name} alone")));
                }
            }
        }
    }
    Check::new("spans", format!("{bound} spans"), out)
}

/// The units of a lineage group have one stratum and one split, so that no fold shares one.
pub fn lineage(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let mut groups = BTreeMap::new();
    for unit in &authoring.units {
        let first = groups.entry(unit.lineage_group.as_str()).or_insert(unit);
        if (first.stratum, first.split) != (unit.stratum, unit.split) {
            let problem = format!(
                "`{}` holds a {} {} unit, and unit `{}`, which is {} {}",
                unit.lineage_group, unit.split, unit.stratum, first.id, first.split, first.stratum
            );
            let error = unit.error("lineage_group", problem);
            out.push(error.expected("one split and one stratum in a group"));
        }
    }
    Check::new("lineage", counted(groups.len(), "lineage group"), out)
}

/// There are enough units of each type, and enough background.
pub fn minimum(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let minimum = &authoring.config.minimum;
    let count = |kind: ConflictType, split: Split| {
        authoring.units.iter().filter(|u| (u.conflict_type, u.split) == (kind, split)).count()
    };
    for &kind in ConflictType::ALL {
        let due = match kind.stratum() {
            Stratum::Single => vec![
                (Split::Heldout, minimum.single_heldout, "minimum.single_heldout"),
                (Split::Development, minimum.single_development, "minimum.single_development"),
            ],
            Stratum::Paired => vec![(Split::Heldout, minimum.paired, "minimum.paired")],
        };
        for (split, least, field) in due {
            let n = count(kind, split);
            if n < least {
                let error = authoring
                    .error(field, format!("{} of `{kind}`", counted(n, &format!("{split} unit"))));
                out.push(error.expected(format!("at least {least}")));
            }
        }
    }
    let n = authoring.background.len();
    if n < minimum.background {
        let error = authoring.error("minimum.background", counted(n, "background skill"));
        out.push(error.expected(format!("at least {}", minimum.background)));
    }
    let of = |stratum| authoring.units.iter().filter(|u| u.stratum == stratum).count();
    let (single, paired) = (of(Stratum::Single), of(Stratum::Paired));
    let detail = format!("{single} single and {paired} paired, {}", counted(n, "background skill"));
    Check::new("minimum", detail, out)
}
