//! Can the helpful skill be told from its sibling without the query?
//!
//! If it can, a method may score well on the benchmark by a taste in texts, and its figures say
//! nothing of contracts. Three looks, all over pairs of one unit's two texts:
//!
//! - a classifier, trained on the other lineage groups, that sees both texts ([`Audit::learned`]);
//! - scorers that need no training, such as the longer text ([`Audit::simple`]);
//! - paired units, where each skill is helpful once, so that whatever sees no query is right on
//!   exactly half ([`Audit::paired`]).
//!
//! Chance is a fair coin: the two-sided exact binomial test. A set fails below chance as well as
//! above it, since a scorer turned upside down is as good. That happens when a contrast and its
//! mirror image are in different lineage groups: whoever learns from the one is misled on the
//! other, and whoever knows that it is so can tell its label.
//!
//! Architecture invariant: no query text reaches anything here.

mod features;
mod logistic;
mod simple;

use cleanhit_eval::{
    stats::{holm, mcnemar},
    units::{Authoring, Side, Stratum, Unit, gate::Check},
};

use self::features::{View, kernel};

/// Part of what the audit was of.
const FIELD: &str = "units";
/// How many related units are named.
const NAMED: usize = 5;

/// How often one scorer picks the helpful one of a unit's two skills.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize)]
pub struct Trial {
    /// What picks.
    pub scorer: &'static str,
    /// How often it picks the helpful skill.
    pub right: u64,
    /// How often it picks the sibling.
    pub wrong: u64,
    /// How often it prefers neither; left out of the test.
    pub ties: u64,
}

/// What the audit found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Audit {
    /// The classifier over words and characters; decides alone.
    pub learned: Trial,
    /// The same classifier over words alone, and over characters alone; for reading, not judged.
    pub views: Vec<Trial>,
    /// The scorers that need no training; judged together, by Holm's correction.
    pub simple: Vec<Trial>,
    /// Queries of paired units, and how many of them any scorer without a query gets right.
    pub paired: Trial,
    /// The units of different lineage groups that teach each other most, for or against.
    pub related: Vec<Related>,
    /// The level of each test.
    pub level: f64,
}

/// Two single units of different lineage groups whose contrasts are alike or opposed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Related {
    /// One unit's id.
    pub a: String,
    /// The other's.
    pub b: String,
    /// The cosine of their differences: 1 for one contrast in one direction, -1 for its mirror
    /// image.
    pub cosine: f64,
}

impl Trial {
    /// The share of picks that are right; none where nothing was picked.
    pub fn accuracy(&self) -> Option<f64> {
        let n = self.right + self.wrong;
        (0 < n).then(|| self.right as f64 / n as f64)
    }

    /// The exact two-sided p-value against a fair coin. In (0, 1]; 1 where nothing was picked.
    pub fn p(&self) -> f64 {
        mcnemar(self.right, self.wrong).exact
    }

    /// The accuracies that a fair coin has but for `level` of the time: those that the test at
    /// that level does not reject. From 0 to 1 where nothing was picked.
    pub fn chance(&self, level: f64) -> [f64; 2] {
        let n = self.right + self.wrong;
        let least = (0..=n / 2).find(|&k| level <= mcnemar(k, n - k).exact).unwrap_or(n / 2);
        match n {
            0 => [0.0, 1.0],
            n => [least as f64 / n as f64, (n - least) as f64 / n as f64],
        }
    }

    fn count(scorer: &'static str, preferences: impl IntoIterator<Item = f64>) -> Trial {
        let mut trial = Trial { scorer, right: 0, wrong: 0, ties: 0 };
        for preference in preferences {
            match preference.total_cmp(&0.0) {
                std::cmp::Ordering::Greater => trial.right += 1,
                std::cmp::Ordering::Less => trial.wrong += 1,
                std::cmp::Ordering::Equal => trial.ties += 1,
            }
        }
        trial
    }
}

/// Audits the units of a set. A function of the units alone, whatever their order.
///
/// The classifier: L2-regularised logistic regression without an intercept, C = 1, over the
/// difference of a unit's two TF-IDF vectors, which has unit length in each view; each lineage
/// group is predicted from all the others.
pub fn audit(authoring: &Authoring) -> Audit {
    let mut units: Vec<&Unit> = authoring.units.iter().collect();
    units.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    let single: Vec<&Unit> =
        units.iter().copied().filter(|u| u.stratum == Stratum::Single).collect();
    let pairs: Vec<Pair> = single.iter().filter_map(|unit| Pair::new(unit)).collect();
    let [words, characters] = [View::Words, View::Characters].map(|view| kernel(&pairs, view));
    let mean = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| (a + b) / 2.0).collect();
    let both: Vec<Vec<f64>> = words.iter().zip(&characters).map(|(a, b)| mean(a, b)).collect();
    let groups: Vec<&str> = single.iter().map(|unit| unit.lineage_group.as_str()).collect();
    let learned =
        |name, kernel: &[Vec<f64>]| Trial::count(name, logistic::leave_group_out(kernel, &groups));
    Audit {
        learned: learned("words and characters", &both),
        views: vec![learned("words", &words), learned("characters", &characters)],
        simple: simple::trials(&single, &pairs),
        paired: paired(&units),
        related: related(&single, &both),
        level: authoring.config.limits.balance_level,
    }
}

impl Audit {
    /// The audit's rules, for the gate's report.
    pub fn checks(&self, authoring: &Authoring) -> Vec<Check> {
        vec![
            self.learned_check(authoring),
            self.simple_check(authoring),
            self.paired_check(authoring),
        ]
    }

    fn learned_check(&self, authoring: &Authoring) -> Check {
        let trial = &self.learned;
        let views: Vec<String> = self.views.iter().map(|trial| self.told(trial)).collect();
        let detail = format!("{}; {}", self.told(trial), views.join("; "));
        let mut out = Vec::new();
        if trial.p() < self.level {
            let related: Vec<String> = self
                .related
                .iter()
                .map(|r| format!("`{}` and `{}` ({:.2})", r.a, r.b, r.cosine))
                .collect();
            let problem = format!(
                "a classifier that sees no query tells the helpful skill from its sibling: {}; the most \
                 related units of different lineage groups are {}",
                self.told(trial),
                related.join(", ")
            );
            let expected = match trial.right < trial.wrong {
                true => {
                    "an accuracy of chance: a contrast and its mirror image in one lineage group"
                }
                false => "an accuracy of chance: each contrast used in both directions",
            };
            out.push(authoring.error(FIELD, problem).expected(expected));
        }
        Check::new("blind_learned", detail, out)
    }

    fn simple_check(&self, authoring: &Authoring) -> Check {
        let raw: Vec<f64> = self.simple.iter().map(Trial::p).collect();
        // The p-values are probabilities, which is all that the correction asks for.
        let adjusted = holm(&raw).unwrap_or(raw);
        let told: Vec<String> = self
            .simple
            .iter()
            .map(|t| format!("{} {} of {}", t.scorer, t.right, t.right + t.wrong))
            .collect();
        let mut out = Vec::new();
        for (trial, p) in self.simple.iter().zip(&adjusted) {
            if *p < self.level {
                let told = self.told(trial);
                let problem = format!(
                    "a scorer that sees no query tells the helpful skill from its sibling: {told}; \
                     p {p:.4} after Holm's correction"
                );
                let expected = "an accuracy of chance: mend a few units";
                out.push(authoring.error(FIELD, problem).expected(expected));
            }
        }
        let least = adjusted.iter().copied().fold(1.0, f64::min);
        let detail = format!("{}; least p {least:.2} after Holm's correction", told.join(", "));
        Check::new("blind_simple", detail, out)
    }

    fn paired_check(&self, authoring: &Authoring) -> Check {
        let Trial { right, wrong, .. } = self.paired;
        let detail = format!("right on {right} of {} queries, by construction", right + wrong);
        let mut out = Vec::new();
        if right != wrong {
            let problem = format!("one choice a unit is right on {right} of {}", right + wrong);
            out.push(authoring.error(FIELD, problem).expected("half: the roles exchanged"));
        }
        Check::new("blind_paired", detail, out)
    }

    fn told(&self, trial: &Trial) -> String {
        let [low, high] = trial.chance(self.level).map(|share| 100.0 * share);
        let accuracy =
            trial.accuracy().map_or("none".to_owned(), |a| format!("{:.1} %", 100.0 * a));
        let (right, n) = (trial.right, trial.right + trial.wrong);
        format!(
            "{} {accuracy} ({right} of {n}; chance {low:.1} to {high:.1} %, p {:.2})",
            trial.scorer,
            trial.p()
        )
    }
}

/// The pairs of units in different groups with the largest cosines, of either sign.
fn related(units: &[&Unit], kernel: &[Vec<f64>]) -> Vec<Related> {
    let mut all = Vec::new();
    for (i, a) in units.iter().enumerate() {
        for (j, b) in units.iter().enumerate().skip(i + 1) {
            if a.lineage_group != b.lineage_group {
                all.push(Related { a: a.id.clone(), b: b.id.clone(), cosine: kernel[i][j] });
            }
        }
    }
    all.sort_by(|x, y| y.cosine.abs().total_cmp(&x.cosine.abs()));
    all.truncate(NAMED);
    all
}

/// A single unit's two texts.
pub(crate) struct Pair {
    pub(crate) helpful: String,
    pub(crate) sibling: String,
}

impl Pair {
    fn new(unit: &Unit) -> Option<Pair> {
        let (helpful, sibling) = unit.roles(unit.queries.first()?);
        Some(Pair { helpful: helpful.rendered(), sibling: sibling.rendered() })
    }
}

/// A scorer without a query picks one skill of each unit, for both of its queries: `a`, say.
fn paired(units: &[&Unit]) -> Trial {
    let paired = units.iter().filter(|unit| unit.stratum == Stratum::Paired);
    let sides = paired.flat_map(|unit| &unit.queries).map(|query| match query.helpful {
        Side::A => 1.0,
        Side::B => -1.0,
    });
    Trial::count("one choice a unit", sides)
}

#[cfg(test)]
mod tests;
