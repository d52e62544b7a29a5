//! Blocks of rates, keyed `recall_at_3`.

use cleanhit_core::Cutoff;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    exposure::{Counts, Measure, Summary},
    stats::Interval,
};

/// The cutoffs of the public files.
pub(super) const CUTOFFS: [u32; 4] = [1, 3, 5, 20];

/// Recall, HSR and CleanHit at 1, 3, 5 and 20; `None` where undefined or not evaluated.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Rates([[Option<f64>; 3]; 4]);

/// Paired recall and paired CleanHit at 1, 3, 5 and 20.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct PairRates([[Option<f64>; 2]; 4]);

/// The same measures with intervals: `{point, low, high}` each, at whatever cutoffs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TripleRates(Map<String, Value>);

const MEASURES: [&str; 3] = ["recall", "hsr", "cleanhit"];
const PAIRED: [&str; 2] = ["paired_recall", "paired_cleanhit"];

/// Rounds to 9 decimals, half to even on the exact binary value, as printing does.
pub fn round9(value: f64) -> f64 {
    format!("{value:.9}").parse().unwrap_or(value)
}

impl Rates {
    pub(super) fn new(summary: &Summary, rate: impl Fn(&Counts, Measure) -> Option<f64>) -> Rates {
        Rates(CUTOFFS.map(|k| {
            let counts = summary.at.iter().find(|counts| counts.cutoff.0.get() == k);
            Measure::ALL.map(|measure| counts.and_then(|counts| rate(counts, measure)).map(round9))
        }))
    }

    /// The rate at one of the cutoffs 1, 3, 5 and 20.
    pub fn get(&self, measure: Measure, k: u32) -> Option<f64> {
        let place = CUTOFFS.iter().position(|&cutoff| cutoff == k)?;
        self.0[place][measure.index()]
    }
}

impl PairRates {
    pub(super) fn new(summary: &Summary) -> Option<PairRates> {
        if !summary.at.iter().any(|counts| counts.pairs.is_some()) {
            return None;
        }
        Some(PairRates(CUTOFFS.map(|k| {
            let counts = summary.at.iter().find(|counts| counts.cutoff.0.get() == k);
            let pairs = counts.and_then(|counts| counts.pairs);
            let rates = pairs.map_or([None; 2], |pairs| [pairs.recall(), pairs.clean_hit()]);
            rates.map(|rate| rate.map(round9))
        })))
    }

    /// Share of units whose two queries both find their helpful skill, at 1, 3, 5 or 20.
    pub fn recall(&self, k: u32) -> Option<f64> {
        let place = CUTOFFS.iter().position(|&cutoff| cutoff == k)?;
        self.0[place][0]
    }

    /// Share of units whose two queries both find it without its sibling, at 1, 3, 5 or 20.
    pub fn clean_hit(&self, k: u32) -> Option<f64> {
        let place = CUTOFFS.iter().position(|&cutoff| cutoff == k)?;
        self.0[place][1]
    }
}

impl TripleRates {
    pub(super) fn insert(
        &mut self,
        measure: Measure,
        cutoff: Cutoff,
        point: f64,
        interval: Interval,
    ) {
        let mut triple = Map::new();
        let (low, high) = (interval.low, interval.high);
        for (key, value) in [("point", point), ("low", low), ("high", high)] {
            triple.insert(key.to_owned(), Value::from(round9(value)));
        }
        self.0.insert(key(measure.key(), cutoff.0.get()), Value::Object(triple));
    }

    /// The point and the ends of its interval.
    pub fn get(&self, measure: Measure, k: u32) -> Option<(f64, Interval)> {
        let triple = self.0.get(&key(measure.key(), k))?;
        let number = |name: &str| triple.get(name)?.as_f64();
        Some((number("point")?, Interval { low: number("low")?, high: number("high")? }))
    }
}

fn key(name: &str, k: u32) -> String {
    format!("{name}_at_{k}")
}

fn encode<const M: usize>(names: [&str; M], rates: [[Option<f64>; M]; 4]) -> Map<String, Value> {
    let mut map = Map::new();
    for (k, rates) in CUTOFFS.into_iter().zip(rates) {
        for (name, rate) in names.into_iter().zip(rates) {
            map.insert(key(name, k), rate.map_or(Value::Null, Value::from));
        }
    }
    map
}

fn decode<const M: usize>(
    names: [&str; M],
    mut map: Map<String, Value>,
) -> Result<[[Option<f64>; M]; 4], String> {
    let mut rates = [[None; M]; 4];
    for (k, rates) in CUTOFFS.into_iter().zip(&mut rates) {
        for (name, rate) in names.into_iter().zip(rates) {
            let key = key(name, k);
            *rate = match map.remove(&key) {
                Some(Value::Null) => None,
                Some(Value::Number(number)) => number.as_f64(),
                Some(_) => {
                    return Err(format!("key `{key}` is not a number; expected one or null"));
                }
                None => return Err(format!("key `{key}` is missing")),
            };
        }
    }
    match map.keys().next() {
        Some(key) => Err(format!("unknown key `{key}`")),
        None => Ok(rates),
    }
}

impl From<Rates> for Map<String, Value> {
    fn from(rates: Rates) -> Map<String, Value> {
        encode(MEASURES, rates.0)
    }
}

impl TryFrom<Map<String, Value>> for Rates {
    type Error = String;

    fn try_from(map: Map<String, Value>) -> Result<Rates, String> {
        decode(MEASURES, map).map(Rates)
    }
}

impl From<PairRates> for Map<String, Value> {
    fn from(rates: PairRates) -> Map<String, Value> {
        encode(PAIRED, rates.0)
    }
}

impl TryFrom<Map<String, Value>> for PairRates {
    type Error = String;

    fn try_from(map: Map<String, Value>) -> Result<PairRates, String> {
        decode(PAIRED, map).map(PairRates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_that_of_printing() {
        let rounded = [1.0 / 3.0, 2.0 / 3.0, 0.0, 171.0 / 1258.0].map(|value| Some(round9(value)));
        assert_eq!(rounded, [0.333333333, 0.666666667, 0.0, 0.135930048].map(Some));
    }

    #[test]
    fn a_block_of_rates_has_exactly_its_keys() {
        let rates = Rates([[Some(0.5), None, Some(0.25)]; 4]);
        let text = serde_json::to_string(&rates).unwrap();
        assert!(text.starts_with("{\"recall_at_1\":0.5,\"hsr_at_1\":null,\"cleanhit_at_1\":0.25,"));
        assert!(text.ends_with("\"cleanhit_at_20\":0.25}"), "{text}");
        assert_eq!(serde_json::from_str::<Rates>(&text).unwrap(), rates);
        assert_eq!(rates.get(Measure::CleanHit, 20), Some(0.25));
        assert_eq!(rates.get(Measure::CleanHit, 10), None);
        let error = |text: &str| serde_json::from_str::<Rates>(text).unwrap_err().to_string();
        assert_eq!(error("{}"), "key `recall_at_1` is missing");
        assert_eq!(error(&text.replace("}", ",\"x\":1}")), "unknown key `x`");
        let wrong = error(&text.replace("null", "\"0.5\""));
        assert_eq!(wrong, "key `hsr_at_1` is not a number; expected one or null");
    }
}
