//! How far apart are a unit's two texts, in words and in length?

use cleanhit_io::counted;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Check;
use crate::{
    stats::mcnemar,
    units::{
        authoring::Authoring,
        taxonomy::{Side, Stratum},
        unit::Unit,
    },
};

/// A single unit's edits change few words: a sibling breaks one contract and no more.
pub fn contrast(authoring: &Authoring) -> Check {
    let limit = authoring.config.limits.changed_words;
    let mut out = Vec::new();
    let mut widest: Option<(f64, usize, &str)> = None;
    let mut shares = Vec::new();
    for unit in authoring.units.iter().filter(|u| u.stratum == Stratum::Single) {
        let (share, lines) = changed(unit);
        shares.push(share);
        if widest.is_none_or(|(most, ..)| most < share) {
            widest = Some((share, lines, &unit.id));
        }
        if limit < share {
            let problem = format!("change {} of the words, on {lines} lines", percent(share));
            let error = unit.error("b.edits", problem);
            out.push(error.expected(format!("at most {}: one contract", percent(limit))));
        }
    }
    shares.sort_unstable_by(f64::total_cmp);
    let median = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
    let detail = match widest {
        Some((most, lines, id)) => format!(
            "edits change {} of the words at the median, {} on {lines} lines at most (`{id}`)",
            percent(median),
            percent(most)
        ),
        None => "no single units".to_owned(),
    };
    Check::new("contrast", detail, out)
}

/// The two texts of a unit are about as long as each other.
pub fn pair_lengths(authoring: &Authoring) -> Check {
    let limit = authoring.config.limits.length_difference;
    let mut out = Vec::new();
    let mut widest = (0.0, "");
    for unit in &authoring.units {
        let [a, b] = lengths(unit);
        let share = (a.max(b) - a.min(b)) as f64 / a.max(b).max(1) as f64;
        if widest.0 < share {
            widest = (share, &unit.id);
        }
        if limit < share {
            let problem = format!("{a} and {b} characters differ by {}", percent(share));
            let error = unit.error("b", problem);
            out.push(error.expected(format!("at most {}", percent(limit))));
        }
    }
    let detail = match widest {
        (_, "") => format!("{}, none of which differ", counted(authoring.units.len(), "pair")),
        (share, id) => format!("differ by {} at most (`{id}`)", percent(share)),
    };
    Check::new("pair_lengths", detail, out)
}

/// In each stratum, the helpful text is the longer one about half the time.
pub fn length_balance(authoring: &Authoring) -> Check {
    let level = authoring.config.limits.balance_level;
    let mut out = Vec::new();
    let mut detail = Vec::new();
    for &stratum in Stratum::ALL {
        let (mut longer, mut shorter, mut equal) = (0, 0, 0);
        for unit in authoring.units.iter().filter(|u| u.stratum == stratum) {
            let [a, b] = lengths(unit);
            for query in &unit.queries {
                let (helpful, sibling) = match query.helpful {
                    Side::A => (a, b),
                    Side::B => (b, a),
                };
                match helpful.cmp(&sibling) {
                    std::cmp::Ordering::Less => shorter += 1,
                    std::cmp::Ordering::Equal => equal += 1,
                    std::cmp::Ordering::Greater => longer += 1,
                }
            }
        }
        let p = mcnemar(longer, shorter).exact;
        detail.push(format!(
            "{stratum}: helpful longer {longer}, shorter {shorter}, equal {equal}, p {p:.2}"
        ));
        if p < level {
            let problem = format!(
                "in {stratum} units the helpful text is the longer one {longer} times, the shorter \
                 one {shorter} times: p {p:.4}"
            );
            let error = authoring.error("limits.balance_level", problem);
            out.push(error.expected(format!("p of at least {level}: mend a few units")));
        }
    }
    Check::new("length_balance", detail.join("; "), out)
}

/// The share of words that differ, of the words of both texts; and the lines that differ, of the
/// one that has more.
fn changed(unit: &Unit) -> (f64, usize) {
    let (a, b) = (unit.a.rendered(), unit.b.rendered());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (words_a, words_b) = (words(&a), words(&b));
    let (gone, new) = differing(&words_a, &words_b);
    let share = (gone + new) as f64 / (words_a.len() + words_b.len()).max(1) as f64;
    let (gone, new) = differing(&lines(&a), &lines(&b));
    (share, gone.max(new))
}

/// How many items of `a`, and how many of `b`, are not in both at the same place.
fn differing(a: &[String], b: &[String]) -> (usize, usize) {
    let ops = capture_diff_slices(Algorithm::Myers, a, b);
    let changes = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changes
        .fold((0, 0), |(gone, new), op| (gone + op.old_range().len(), new + op.new_range().len()))
}

/// The characters of both texts.
fn lengths(unit: &Unit) -> [usize; 2] {
    [&unit.a, &unit.b].map(|skill| skill.rendered().chars().count())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
