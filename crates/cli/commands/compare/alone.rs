//! A run that has no other of its information setting: its own values.

use cleanhit_core::Cutoff;
use cleanhit_eval::{Cases, CompareOptions, Group, Measure, Scope};
use cleanhit_io::Benchmark;
use serde_json::{Value, json};

use crate::{
    scored::Ranks,
    tables::{Cell, exact},
    words,
};

/// The values of one run, of the groups that runs are compared on.
pub(super) struct Alone {
    method_id: String,
    values: Vec<Rate>,
}

struct Rate {
    group: Group,
    few: bool,
    queries: u64,
    measure: Measure,
    cutoff: Cutoff,
    value: Option<f64>,
}

impl Alone {
    pub(super) fn of(
        run: &Ranks,
        cases: &Cases,
        bench: &Benchmark,
        options: &CompareOptions,
    ) -> anyhow::Result<Alone> {
        let evaluation = run.evaluate(cases, bench, &options.cutoffs)?;
        let main = std::iter::once(Group::Scope(Scope::MainComparison));
        let groups = main.chain(options.by.iter().flat_map(|by| by.groups(cases)));
        let mut values = Vec::new();
        for group in groups {
            let summary = evaluation.summary(group.clone());
            for counts in &summary.at {
                values.extend(Measure::ALL.map(|measure| Rate {
                    group: group.clone(),
                    few: summary.is_thin(),
                    queries: summary.queries,
                    measure,
                    cutoff: counts.cutoff,
                    value: counts.micro(measure),
                }));
            }
        }
        Ok(Alone { method_id: run.file.method_id.clone(), values })
    }

    /// Whether a group has few queries and is marked.
    pub(super) fn has_few(&self) -> bool {
        self.values.iter().any(|rate| rate.few)
    }

    /// The columns of a comparison, of which those of a difference are empty.
    pub(super) fn rows(&self, cases: &Cases) -> Vec<[Cell; 12]> {
        let row = |rate: &Rate| {
            let none = || Cell::from("–");
            [
                self.method_id.as_str().into(),
                Cell::marked(words::group(&rate.group, cases), rate.few),
                rate.measure.to_string().into(),
                rate.cutoff.get().to_string().into(),
                none(),
                exact(rate.value),
                none(),
                none(),
                none(),
                none(),
                none(),
                none(),
            ]
        };
        self.values.iter().map(row).collect()
    }

    pub(super) fn to_json(&self, cases: &Cases) -> Value {
        let rate = |rate: &Rate| {
            json!({
                "group": rate.group.name(cases),
                "measure": rate.measure.key(),
                "k": rate.cutoff.get(),
                "queries": rate.queries,
                "value": rate.value,
            })
        };
        json!({
            "method_id": self.method_id,
            "values": self.values.iter().map(rate).collect::<Vec<_>>(),
        })
    }
}
