//! Formats of other tools.

use cleanhit_eval::plain::{self, Measure, Missing, Options, Order, Qrels, Run, evaluate};
use cleanhit_io::{
    RunOrder, parse_beir_corpus, parse_beir_qrels, parse_beir_queries, parse_sr_agents,
    parse_trec_run, write_qrels, write_scored, write_trec_run,
};

use super::{taken, taken_one, world::BENCH};

/// Judgements for the documents that the seeds' runs name.
const QRELS: &[u8] = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq2 0 a 1\nq3 0 a 1\n";

const MEASURES: &str = "nDCG@10, nDCG, AP, AP@3, RR, RR@10, P@5, R@20";

/// A TREC run. Listing and parsing agree, measures stay in range, a run that is written is read
/// in the same order, and so is one over the benchmark's pools.
pub fn trec_run(bytes: &[u8]) -> bool {
    taken(over_pools(bytes, RunOrder::Rank));
    taken(over_pools(bytes, RunOrder::Trec));
    let found = Run::check(bytes);
    let Some(run) = taken_one(Run::parse(bytes)) else {
        return taken::<(), _>(Err(found)).is_some();
    };
    assert!(found.is_empty(), "parsed, but the check lists {found:?}");
    measured(&run);
    rewritten(&run);
    true
}

fn over_pools(bytes: &[u8], order: RunOrder) -> Result<(), Vec<cleanhit_io::InputError>> {
    BENCH.with(|bench| {
        let file = parse_trec_run("f.trec", bytes, bench, order)?;
        let written = write_trec_run("tag", bench, &file.rankings).map_err(|error| vec![error])?;
        for order in [RunOrder::Rank, RunOrder::Trec] {
            let again = parse_trec_run("f.trec", &written, bench, order).expect("as written");
            for (query, ranking) in file.rankings.iter() {
                let order = |hits: &[cleanhit_core::Hit]| -> Vec<_> {
                    hits.iter().map(|hit| hit.doc).collect()
                };
                let again = again.rankings.get(query).map(|r| order(r.hits()));
                assert_eq!(again.unwrap_or_default(), order(ranking.hits()));
            }
        }
        Ok(())
    })
}

fn measured(run: &Run<'_>) {
    let qrels = Qrels::parse(QRELS).expect("the qrels above");
    let measures = Measure::parse_list(MEASURES).expect("the measures above");
    for missing in [Missing::Zero, Missing::Skip] {
        let options = Options { order: Order::Trec, missing, depth: None };
        let evaluation = taken_one(evaluate(run, &qrels, &measures, &options));
        for bounds in evaluation.iter().flat_map(|e| e.summary()).flatten() {
            let all = [bounds.worst, bounds.value, bounds.best];
            assert!(all.iter().all(|v| (0.0..=1.0 + 1e-9).contains(v)), "{bounds:?}");
            assert!(bounds.worst <= bounds.value && bounds.value <= bounds.best, "{bounds:?}");
        }
    }
}

fn rewritten(run: &Run<'_>) {
    fn order<'a>(run: &Run<'a>, query: &str) -> Vec<&'a str> {
        let rows = run.ranked(query, Order::Trec).expect("scores are an order");
        rows.into_iter().map(|row| row.document()).collect()
    }
    let listed: Vec<(&str, Vec<&str>)> =
        run.queries().map(|(query, _)| (query, order(run, query))).collect();
    let rows = listed.iter().map(|(query, documents)| (*query, documents.iter().copied()));
    let mut out = Vec::new();
    if taken_one(plain::write_run(&mut out, "tag", rows)).is_some() {
        let again = Run::parse(&out).expect("as written");
        for (query, documents) in listed {
            assert_eq!(order(&again, query), documents);
        }
    }
}

/// TREC qrels. Listing and parsing agree, and what is written is read as the same.
pub fn qrels(bytes: &[u8]) -> bool {
    let found = Qrels::check(bytes);
    let Some(qrels) = taken_one(Qrels::parse(bytes)) else {
        return taken::<(), _>(Err(found)).is_some();
    };
    assert!(found.is_empty(), "parsed, but the check lists {found:?}");
    let mut out = Vec::new();
    if taken_one(plain::write_qrels(&mut out, &qrels)).is_some() {
        let again = Qrels::parse(&out).expect("as written");
        assert_eq!(again.rows(), qrels.rows());
    }
    true
}

/// Lists of measures, as arguments hold them. What one prints is read as the same.
pub fn measures(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let arguments = text.split(char::is_control).map(|argument| {
        let measures = taken_one(Measure::parse_list(argument));
        if let Some(measures) = &measures {
            let printed: Vec<String> = measures.iter().map(Measure::to_string).collect();
            let again = Measure::parse_list(&printed.join(",")).expect("as printed");
            assert_eq!(&again, measures);
        }
        measures.is_some()
    });
    arguments.fold(true, |all, one| all & one)
}

/// A retrieval result of SR-Agents: a run and its qrels, which can be written if ids allow. A
/// file without rows, which has nothing to say, is not read again.
pub fn sr_agents(bytes: &[u8]) -> bool {
    let read = taken(parse_sr_agents("f.json", bytes));
    if let Some(read) = &read {
        let run = taken_one(write_scored("tag", &read.run)).filter(|bytes| !bytes.is_empty());
        run.iter().for_each(|bytes| drop(Run::parse(bytes).expect("as written")));
        let qrels = taken_one(write_qrels("f.trec", &read.qrels)).filter(|b| !b.is_empty());
        qrels.iter().for_each(|bytes| drop(Qrels::parse(bytes).expect("as written")));
    }
    read.is_some()
}

/// `corpus.jsonl` of a BEIR folder.
pub fn beir_corpus(bytes: &[u8]) -> bool {
    taken(parse_beir_corpus("f.jsonl", bytes)).is_some()
}

/// `queries.jsonl` of a BEIR folder.
pub fn beir_queries(bytes: &[u8]) -> bool {
    taken(parse_beir_queries("f.jsonl", bytes)).is_some()
}

/// `qrels/*.tsv` of a BEIR folder.
pub fn beir_qrels(bytes: &[u8]) -> bool {
    taken(parse_beir_qrels("f.tsv", bytes)).is_some()
}
