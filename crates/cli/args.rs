//! Argument parsing and dispatch. No logic here.

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, error::ErrorKind};

use crate::{
    Registry, commands,
    ui::{self, Ui},
    words,
};

/// Says whether a retriever hands an agent the right skill, without its conflicting sibling.
///
/// Examples:
///   cleanhit run                                  the bundled benchmark, every stock method
///   cleanhit rank -m bm25 -m rrf -o out
///   cleanhit score out/bm25
///   cleanhit compare out/bm25 out/rrf
///   cleanhit pool build ~/skills -o my-pool.jsonl
#[derive(Debug, Parser)]
#[command(name = "cleanhit", version, verbatim_doc_comment, max_term_width = 100)]
pub(crate) struct Args {
    /// Print the result as one JSON document on stdout
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Print results, warnings and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    quiet: bool,
    /// Say more on stderr
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    verbose: bool,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = GLOBAL)]
    threads: Option<u16>,
    /// Where neural models compute: cpu, cuda, cuda:N or metal
    #[arg(long, global = true, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    #[command(subcommand)]
    command: Command,
}

/// Where help lists the options that every command has.
const GLOBAL: &str = "Options of every command";

#[derive(Debug, Subcommand)]
enum Command {
    Run(commands::run::Args),
    Init(commands::init::Args),
    Rank(commands::rank::Args),
    Score(commands::score::Args),
    Compare(commands::compare::Args),
    Explain(commands::explain::Args),
    Submit(commands::submit::Args),
    Leaderboard(commands::leaderboard::Args),
    Check(commands::check::Args),
    #[command(subcommand)]
    Pool(commands::pool::Command),
    #[command(subcommand)]
    Bench(commands::bench::Command),
    #[command(subcommand)]
    Models(commands::models::Command),
    Embed(commands::embed::Args),
    #[command(subcommand)]
    Cache(commands::cache::Command),
    #[command(subcommand)]
    Import(commands::import::Command),
    #[command(subcommand)]
    Export(commands::export::Command),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Parses, dispatches, and turns what comes back into an exit code.
pub(crate) fn run(registry: &Registry) -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(err) => return usage(&err),
    };
    let ui = Ui::new(args.json, args.quiet, args.verbose);
    let quiet = Ui::new(args.json, args.quiet, args.verbose);
    let outcome = threads(args.threads)
        .and_then(|()| crate::neural::start(&args.device, quiet))
        .and_then(|()| dispatch(args.command, registry, &ui));
    match outcome {
        Ok(commands::Verdict::Done) => ExitCode::SUCCESS,
        Ok(commands::Verdict::Failed) => ExitCode::from(1),
        Err(err) => {
            ui::refuse(&ui::chain(&err));
            ExitCode::from(2)
        }
    }
}

/// Prints help where it was asked for; says on one line what is wrong with a request.
fn usage(err: &clap::Error) -> ExitCode {
    use ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand as NoCommand, DisplayVersion,
    };
    if let DisplayHelp | DisplayVersion | NoCommand = err.kind() {
        let printed = err.print();
        return match (err.kind(), printed) {
            (NoCommand, _) => ExitCode::from(2),
            // A closed pipe is no error: the reader has what it wanted.
            _ => ExitCode::SUCCESS,
        };
    }
    // The message, its arguments and its tips, without the usage that follows.
    let text = err.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let message = lines.collect::<Vec<_>>().join(" ");
    let message = words::of_numbers(message.strip_prefix("error: ").unwrap_or(&message));
    ui::refuse(&format!("{message}; try --help"));
    ExitCode::from(2)
}

fn threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

fn dispatch(command: Command, registry: &Registry, ui: &Ui) -> anyhow::Result<commands::Verdict> {
    match command {
        Command::Run(args) => commands::run::run(&args, registry, ui),
        Command::Init(args) => commands::init::run(&args, ui),
        Command::Rank(args) => commands::rank::run(&args, registry, ui),
        Command::Score(args) => commands::score::run(&args, ui),
        Command::Compare(args) => commands::compare::run(&args, ui),
        Command::Explain(args) => commands::explain::run(&args, registry, ui),
        Command::Submit(args) => commands::submit::run(&args, ui),
        Command::Leaderboard(args) => commands::leaderboard::run(&args, ui),
        Command::Check(args) => commands::check::run(&args, registry, ui),
        Command::Pool(command) => commands::pool::run(&command, ui),
        Command::Bench(command) => commands::bench::run(&command, ui),
        Command::Models(command) => commands::models::run(&command, ui),
        Command::Embed(args) => commands::embed::run(&args, ui),
        Command::Cache(command) => commands::cache::run(&command, ui),
        Command::Import(command) => commands::import::run(&command, ui),
        Command::Export(command) => commands::export::run(&command, ui),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "cleanhit", &mut script);
            // A shell reads it, whatever `--json` asks of results.
            ui.out_file(&String::from_utf8_lossy(&script))?;
            Ok(commands::Verdict::Done)
        }
    }
}
