//! How good is this TREC run, judged by these qrels?
//!
//! The measures that need no pool and no family: nDCG, AP, RR, precision, recall and
//! friends ([`MEASURES`]), of a run `qid Q0 docid rank score tag` against qrels
//! `qid iter docid rel`.
//! Definitions and names are those of ir_measures; order and ties are those of trec_eval.
//!
//! ```
//! use cleanhit_eval::plain::{Measure, Options, Qrels, Run, evaluate};
//!
//! let run = Run::parse(b"q1 Q0 cat 1 0.9 demo\nq1 Q0 cow 2 0.4 demo\n")?;
//! let qrels = Qrels::parse(b"q1 0 cow 1\n")?;
//! let measures = Measure::parse_list("RR@10, P@5")?;
//! let result = evaluate(&run, &qrels, &measures, &Options::default())?;
//! assert_eq!(result.summary()[0].map(|mean| mean.value), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file is refused, with the line, where the other tools guess: a byte-order mark, a
//! score that is not a finite number, a document twice in one query, a column too many.
//! [`Run::check`] and [`Qrels::check`] list every such line.
//!
//! Architecture invariant: queries are held and summed in the order of their ids, rows
//! are ordered by [`Order`], and sums run from the first rank to the last. So neither the
//! order of lines nor the number of threads changes a bit of a result.

mod compute;
mod error;
mod evaluate;
mod evaluation;
mod groups;
mod lines;
mod measure;
mod number;
mod qrels;
mod run;
mod spec;
mod write;

pub use self::{
    error::{EvaluateError, MeasureError, ReadError, WriteError},
    evaluate::{Missing, Options, check_depth, evaluate},
    evaluation::{Boundary, Bounds, CutoffTies, Evaluation, NEAR_TIE, Over, QueryValues},
    lines::MAX_LINE,
    measure::{MEASURES, Measure, Real},
    qrels::{Judgement, Qrels},
    run::{Order, OrderDifferences, Row, Run},
    write::{write_qrels, write_run},
};
