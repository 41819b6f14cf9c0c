//! Speed beside the best peers, measured in one run on one machine; and `tokens`, what the notations
//! cost in tokens.
//!
//! Times differ between machines, ratios hardly: the table shows both. Instruction counts repeat to
//! the digit and say whether a difference in time is real.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to people")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes its report")]

mod cases;
mod corpus;
mod instructions;
mod journal;
mod plain;
mod report;
mod scaling;
mod sessions;
mod streams;
mod timing;
mod tokens;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt as _};

use crate::corpus::Corpus;
use crate::report::Report;

const HELP: &str = "\
Measures Sabir beside its peers and prints a table.

Usage: sabir-bench [--quick] [--json FILE]
       sabir-bench streams
       sabir-bench journal
       sabir-bench sessions [--quick]
       sabir-bench tokens [--check] [--json FILE]

  --quick      a few milliseconds each: shows that everything runs, measures nothing
  --json FILE  where to write the numbers [default: target/bench.json]

  streams      measures the model streams alone
  journal      measures the journal alone, and writes no numbers
  sessions     measures 1,000 idle sessions and a stream through one, and writes no numbers
  tokens       counts what the notations cost in tokens, and writes docs/benchmarks/tokens.md
    --check      writes nothing; fails when the committed page is out of date
";

/// How long to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    Quick,
    Full,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut effort = Effort::Full;
    let mut json = PathBuf::from("target/bench.json");
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("quick") => effort = Effort::Quick,
            Arg::Long("json") => json = parser.value()?.into(),
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            Arg::Value(what) if what == "streams" => {
                print!("{}", streams::table(&streams::measure(effort)?));
                return Ok(());
            }
            Arg::Value(what) if what == "tokens" => return tokens::command(parser),
            Arg::Value(what) if what == "journal" => {
                let journal = journal::measure(&Corpus::new()?, &json, effort)?;
                print!("{}", Report::new(&[], &Corpus::new()?, &[], &[], &[], &journal).journal());
                return Ok(());
            }
            Arg::Value(what) if what == "sessions" => {
                if parser.next()? == Some(Arg::Long("quick")) {
                    effort = Effort::Quick;
                }
                print!("{}", sessions::measure(&json, effort)?.table());
                return Ok(());
            }
            // What runs under the instruction counter: one case, so many times over.
            Arg::Long("work") => {
                let case: String = parser.value()?.string()?;
                let times: u64 = parser.value()?.parse()?;
                return instructions::work(&case, times);
            }
            // What runs with an allocator that keeps nothing.
            Arg::Long("scaling") => {
                let effort = if parser.value()? == "quick" { Effort::Quick } else { Effort::Full };
                return scaling::work(effort);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let corpus = Corpus::new()?;
    cases::verify(&corpus)?;
    eprintln!(
        "{} messages of AXON, {} of LLMX; each figure is the best of several rounds",
        corpus.messages.len(),
        corpus.llmx.len()
    );
    let cases: Vec<_> = cases::all().collect();
    let times = timing::measure(&cases, &corpus, effort);
    let counts = instructions::measure(&cases, effort);
    let scaling = scaling::measure(effort)?;
    let streams = streams::measure(effort)?;
    let journal = journal::measure(&corpus, &json, effort)?;
    let report = Report::new(&cases, &corpus, &times, &counts, &scaling, &journal);
    print!("{}{}", report.table(), streams::table(&streams));
    report.write(&json, &streams)?;
    eprintln!("numbers written to {}", json.display());
    Ok(())
}
