//! Plain measures against the values of other tools, and against the traps their users fell into.
//!
//! Files of other tools are looked for in `$CLEANHIT_SHARED`, else in `shared` beside the
//! repository; without them those tests say so and pass. The rest runs everywhere.

#[cfg(test)]
#[path = "golden_plain/cases.rs"]
mod cases;
#[cfg(test)]
#[path = "golden_plain/laws.rs"]
mod laws;
#[cfg(test)]
#[path = "golden_plain/peers.rs"]
mod peers;
#[cfg(test)]
#[path = "golden_plain/traps.rs"]
mod traps;
#[cfg(test)]
#[path = "golden_plain/trec_eval.rs"]
mod trec_eval;

#[cfg(test)]
mod help {
    use std::{
        env, fs,
        path::{Path, PathBuf},
    };

    use cleanhit_eval::plain::{
        Bounds, Evaluation, Measure, Missing, Options, Order, Qrels, Run, evaluate,
    };

    /// A folder of the shared data, or `None` with a word about it.
    pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
        let root = match env::var_os("CLEANHIT_SHARED") {
            Some(root) => PathBuf::from(root),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        };
        let folder = root.join(folder);
        if !folder.is_dir() {
            println!("skipped: no folder {}", folder.display());
            return None;
        }
        Some(folder)
    }

    pub(crate) fn read(path: &Path) -> Vec<u8> {
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn json(path: &Path) -> serde_json::Value {
        serde_json::from_slice(&read(path)).unwrap()
    }

    /// Evaluates texts; panics with the message where they are refused.
    pub(crate) fn score(run: &[u8], qrels: &[u8], measures: &str, options: &Options) -> Evaluation {
        let run = Run::parse(run).unwrap_or_else(|error| panic!("{error}"));
        let qrels = Qrels::parse(qrels).unwrap_or_else(|error| panic!("{error}"));
        let measures = Measure::parse_list(measures).unwrap();
        evaluate(&run, &qrels, &measures, options).unwrap()
    }

    pub(crate) fn skip_missing() -> Options {
        Options { missing: Missing::Skip, ..Options::default() }
    }

    /// The values of one query, in the order of the measures.
    pub(crate) fn of_query(found: &Evaluation, query: &str) -> Vec<f64> {
        let query = found.queries.iter().find(|values| values.id == query).unwrap();
        query.values.iter().map(|bounds| bounds.value).collect()
    }

    pub(crate) fn means(bounds: Vec<Option<Bounds>>) -> Vec<f64> {
        bounds.into_iter().map(|bounds| bounds.unwrap().value).collect()
    }

    /// The documents of a query in the given order.
    pub(crate) fn order(run: &[u8], query: &str, order: Order) -> Vec<String> {
        let run = Run::parse(run).unwrap();
        let ranked = run.ranked(query, order).unwrap();
        ranked.iter().map(|row| row.document().to_owned()).collect()
    }

    pub(crate) fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() <= 1e-12, "{what}: {found}, expected {expected}");
    }
}
