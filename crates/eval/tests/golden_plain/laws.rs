//! Laws that hold for any input.

use std::collections::{BTreeMap, BTreeSet};

use cleanhit_eval::plain::{
    Evaluation, Measure, Options, Order, Qrels, Run, evaluate, write_qrels, write_run,
};
use proptest::prelude::*;

const MEASURES: &str = "nDCG,nDCG@3,AP,AP(rel=2)@5,RR,RR@2,P@4,R@4,R(rel=2)@2,Success@1,Rprec,\
                        IPrec@0.5,Bpref,ERR@4,RBP(p=0.5)@6,SetP,SetR,SetF,SetAP,Judged@3,NumRet,NumRel,NumRelRet";

/// Rows `(query, document, score)` with distinct documents in a query and many equal scores.
fn rows() -> impl Strategy<Value = Vec<(String, String, i8)>> {
    let row = (0u8..4, 0u8..12, -2i8..3);
    proptest::collection::vec(row, 1..60).prop_map(|rows| {
        let mut seen = BTreeSet::new();
        rows.into_iter()
            .filter(|&(query, document, _)| seen.insert((query, document)))
            .map(|(query, document, score)| (format!("q{query}"), format!("d{document}"), score))
            .collect()
    })
}

fn run_text(rows: &[(String, String, i8)]) -> Vec<u8> {
    let line = |(query, document, score): &(String, String, i8)| {
        format!("{query} Q0 {document} 1 {score}.5 x\n")
    };
    rows.iter().map(line).collect::<String>().into_bytes()
}

fn qrels_text(rows: &[(String, String, i8)]) -> Vec<u8> {
    let line =
        |(query, document, grade): &(String, String, i8)| format!("{query} 0 {document} {grade}\n");
    rows.iter().map(line).collect::<String>().into_bytes()
}

fn score(run: &[u8], qrels: &[u8]) -> Evaluation {
    let (run, qrels) = (Run::parse(run).unwrap(), Qrels::parse(qrels).unwrap());
    let measures = Measure::parse_list(MEASURES).unwrap();
    evaluate(&run, &qrels, &measures, &Options::default()).unwrap()
}

/// Text that is close to a TREC file, so that a random one gets past the first line.
fn almost_trec() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"q1 ".to_vec()),
        Just(b"Q0\t".to_vec()),
        Just(b"7 ".to_vec()),
        Just(b"-1.5e3 ".to_vec()),
        Just(b"nan ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"#".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just("é ".as_bytes().to_vec()),
        Just(b"q Q0 d 1 2 t\n".to_vec()),
        Just(b"q 0 d 1\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    /// Neither the order of a run's lines nor that of the qrels' changes a bit.
    #[test]
    fn line_order_is_irrelevant(
        (run, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        (qrels, mixed) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let a = score(&run_text(&run), &qrels_text(&qrels));
        let b = score(&run_text(&shuffled), &qrels_text(&mixed));
        prop_assert_eq!(a, b);
    }

    /// The order is total: any two rows of a query are in it one way round, by score then id.
    #[test]
    fn the_order_is_total(rows in rows()) {
        let text = run_text(&rows);
        let run = Run::parse(&text).unwrap();
        for (query, _) in run.queries() {
            let ranked = run.ranked(query, Order::Trec).unwrap();
            let falls = ranked.is_sorted_by(|a, b| {
                b.score() < a.score() || (b.score() <= a.score() && b.document() < a.document())
            });
            prop_assert!(falls);
        }
    }

    /// Shares are from 0 to 1, and ties are bounds of the value.
    #[test]
    fn values_are_in_range_and_within_bounds(run in rows(), qrels in rows()) {
        let found = score(&run_text(&run), &qrels_text(&qrels));
        for query in &found.queries {
            for (measure, bounds) in found.measures.iter().zip(&query.values) {
                prop_assert!(bounds.worst <= bounds.value && bounds.value <= bounds.best);
                prop_assert!(0.0 <= bounds.worst);
                prop_assert!(measure.is_count() || bounds.best <= 1.0);
                prop_assert!(query.tied || bounds.worst.to_bits() == bounds.best.to_bits());
            }
        }
    }

    /// Renaming documents changes the order of equal scores, but never beyond the bounds.
    #[test]
    fn other_orders_of_equal_scores_stay_within_the_bounds(run in rows(), qrels in rows()) {
        let renamed = |rows: &[(String, String, i8)]| -> Vec<_> {
            let turn = |id: &str| format!("{}{id}", char::from(b'z' - id.as_bytes()[1] % 7));
            rows.iter().map(|(q, d, n)| (q.clone(), turn(d), *n)).collect()
        };
        let a = score(&run_text(&run), &qrels_text(&qrels));
        let b = score(&run_text(&renamed(&run)), &qrels_text(&renamed(&qrels)));
        for (a, b) in a.queries.iter().zip(&b.queries) {
            for (a, b) in a.values.iter().zip(&b.values) {
                prop_assert!((a.worst - b.worst).abs() < 1e-12 && (a.best - b.best).abs() < 1e-12);
                prop_assert!(a.worst - 1e-12 <= b.value && b.value <= a.best + 1e-12);
            }
        }
    }

    /// What is written reads back as the same lists, whichever column decides.
    #[test]
    fn written_lists_read_back(
        lists in proptest::collection::btree_map(
            "[^\\s#\u{feff}][^\\s]{0,5}",
            proptest::collection::btree_set("[^\\s]{1,8}", 1..12),
            1..5,
        ),
    ) {
        // Not sorted, so that the order is not that of the ids.
        let lists: BTreeMap<_, Vec<_>> = lists
            .into_iter()
            .map(|(query, ids)| {
                let mut ids: Vec<_> = ids.into_iter().collect();
                ids.sort_by_key(|id| (id.len() % 3, id.bytes().map(u32::from).sum::<u32>()));
                (query, ids)
            })
            .collect();
        let mut out = Vec::new();
        let borrowed = lists.iter().map(|(q, ids)| (q.as_str(), ids.iter().map(String::as_str)));
        write_run(&mut out, "tag", borrowed).unwrap();
        let run = Run::parse(&out).unwrap();
        prop_assert_eq!(run.queries().len(), lists.len());
        for order in [Order::Trec, Order::Rank] {
            for (query, ids) in &lists {
                let ranked = run.ranked(query, order).unwrap();
                let found: Vec<_> = ranked.iter().map(|row| row.document()).collect();
                prop_assert_eq!(&found, ids);
            }
        }
    }

    /// Qrels that are written read back the same.
    #[test]
    fn written_qrels_read_back(rows in rows()) {
        let text = qrels_text(&rows);
        let write = |text: &[u8]| {
            let mut out = Vec::new();
            write_qrels(&mut out, &Qrels::parse(text).unwrap()).unwrap();
            out
        };
        let once = write(&text);
        prop_assert_eq!(write(&once), once.clone());
        let lines = |text: &[u8]| -> BTreeSet<Vec<u8>> {
            text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        prop_assert_eq!(lines(&once), lines(&text));
    }

    /// A reader never panics, and refuses exactly what it can say a reason for.
    #[test]
    fn readers_take_any_bytes(
        bytes in prop_oneof![almost_trec(), proptest::collection::vec(any::<u8>(), 0..200)],
    ) {
        let problems = Run::check(&bytes);
        match Run::parse(&bytes) {
            Ok(run) => prop_assert!(problems.is_empty() && run.rows() != 0),
            Err(error) => prop_assert!(problems.contains(&error)),
        }
        let problems = Qrels::check(&bytes);
        match Qrels::parse(&bytes) {
            Ok(qrels) => prop_assert!(problems.is_empty() && qrels.rows() != 0),
            Err(error) => prop_assert!(problems.contains(&error)),
        }
        if let (Ok(run), Ok(qrels)) = (Run::parse(&bytes), Qrels::parse(&bytes)) {
            prop_assert!(evaluate(&run, &qrels, &[], &Options::default()).is_ok());
        }
    }

    /// A name reads as a measure or is refused; what prints reads back the same.
    #[test]
    fn measures_round_trip(text in "(nDCG|AP|RR|P|R|Success|Judged|NumRet|IPrec|RBP|SetF|[a-z(]{0,4})(\\((rel|p|beta)=[0-9](\\.[0-9])?\\))?(@[0-9]{1,3}(\\.[0-9]{1,2})?)?") {
        if let Ok(measure) = text.parse::<Measure>() {
            prop_assert_eq!(measure.to_string().parse::<Measure>(), Ok(measure));
        }
    }
}
