//! `cleanhit export`: our files to other tools'.

use std::path::PathBuf;

use cleanhit_io::{Judgement, write_qrels, write_trec_run};

use super::Verdict;
use crate::{bundled::DEFAULT_BENCH, locate, ranking, results, scored::Ranks, ui::Ui};

/// Write rank files and labels for other tools
///
/// Examples:
///   cleanhit export trec out/bm25 -o bm25.run
///   cleanhit export qrels --of sibling -o sibling.qrels
#[derive(Debug, clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// A rank file as a TREC run whose scores follow the ranks, so that trec_eval keeps the order
    Trec {
        /// A rank file or a method's folder
        #[arg(value_name = "RANKS")]
        ranks: PathBuf,
        /// A bundled benchmark's name, or a folder [default: what the receipt names]
        #[arg(short, long, value_name = "BENCH")]
        bench: Option<String>,
        /// The run to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// The counted queries' helpful skills, or their marked siblings, as TREC qrels
    Qrels {
        /// A bundled benchmark's name, or a folder
        #[arg(short, long, value_name = "BENCH", default_value = DEFAULT_BENCH)]
        bench: String,
        /// Which of the two marked skills
        #[arg(long, value_enum, default_value_t)]
        of: Of,
        /// The qrels to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Of {
    /// R@K of these qrels is Recall@K
    #[default]
    Helpful,
    /// R@K of these qrels is HSR@K
    Sibling,
}

pub(crate) fn run(command: &Command, ui: &Ui) -> anyhow::Result<Verdict> {
    match command {
        Command::Trec { ranks, bench, output } => {
            let bench = results::bench_of(ranks, bench.as_deref())?;
            let ranks = Ranks::read(ranks, &bench, true, ui)?;
            let beside = ["receipt.json", "method_card.json"].map(|n| ranks.path.with_file_name(n));
            let inputs = beside.iter().chain([&ranks.path]).map(PathBuf::as_path);
            locate::output(output, &bench, inputs)?;
            let method_id = &ranks.file.method_id;
            let run = write_trec_run(method_id, &bench, &ranks.file.rankings)
                .map_err(|err| locate::in_file(&ranks.path, err))?;
            ranking::write(output, &run)?;
            wrote(output, ui)?;
        }
        Command::Qrels { bench, of, output } => {
            let bench = locate::bench(bench)?;
            let cases = results::cases_of(&bench)?;
            let judgements: Vec<Judgement> = cases
                .iter()
                .filter(|case| case.counted)
                .map(|case| {
                    let doc = match of {
                        Of::Helpful => case.helpful,
                        Of::Sibling => case.sibling,
                    };
                    let candidate = bench.pools[case.pool].pool.id(doc).to_string();
                    Judgement { query: case.query.to_string(), candidate, grade: 1 }
                })
                .collect();
            locate::output(output, &bench, [])?;
            let bytes = write_qrels(&bench.manifest(), &judgements)?;
            ranking::write(output, &bytes)?;
            wrote(output, ui)?;
        }
    }
    Ok(Verdict::Done)
}

fn wrote(output: &std::path::Path, ui: &Ui) -> anyhow::Result<()> {
    ui.note(&format!("wrote {}", output.display()));
    if ui.json { ui.out_json(&serde_json::json!({ "output": output })) } else { Ok(()) }
}
