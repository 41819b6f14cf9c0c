//! Speed beside the best peers, measured in one run on one machine; and `tokens`, what the notations
//! cost in tokens.
//!
//! Times differ between machines, ratios hardly: the table shows both. Instruction counts repeat to
//! the digit and say whether a difference in time is real.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to people")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes its report")]

mod capture;
mod cases;
mod citations;
mod corpus;
mod delegates;
mod instructions;
mod journal;
mod library;
mod middle;
mod node;
mod plain;
mod prose;
mod report;
mod routing;
mod scaling;
mod sessions;
mod streams;
mod timing;
mod tokens;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt as _};
use mimalloc::MiMalloc;

use crate::corpus::Corpus;
use crate::report::{More, Report};

/// What the program has, for us and for our peers.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const HELP: &str = "\
Measures Sabir beside its peers and prints a table.

Usage: sabir-bench [--quick] [--json FILE]
       sabir-bench streams|journal|sessions|capture|library|citations|routing [--quick] [--json FILE]
       sabir-bench delegates [--only KIND] [--connections N] [--quick] [--json FILE]
       sabir-bench node [--seconds N] [--program FILE] [--quick] [--json FILE]
       sabir-bench tokens [--check] [--json FILE]

  --quick      a few milliseconds each: shows that everything runs, measures nothing
  --json FILE  where to write the numbers [default: target/bench.json; none for a part alone]

  streams      measures the model streams alone
  journal      measures the journal alone
  sessions     measures 1,000 idle sessions and a stream through one, which all others leave out
  capture      measures reading the saved pages
  library      measures a collection of 1,000 sources
  citations    measures the citation verifier
  routing      measures the choice among 100,000 cards
  delegates    measures tasks that a node does for many callers, and 10,000 open sessions
    --only KIND      one kind of round trip and nothing else, to be looked at with a profiler:
                     \"bare echo\", \"session key\" or \"Ed25519\"
    --connections N  how many callers ask at once [default: 64]
  node         puts a node under load for a minute, which all others leave out, and fails when an
               event is lost, an answer is an error, or memory grows
    --seconds N      for how long
    --program FILE   the node's program [default: sabir beside this one]
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
    let (mut effort, mut json, mut part) = (Effort::Full, None, None);
    let mut wishes = Wishes::default();
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("quick") => effort = Effort::Quick,
            Arg::Long("json") => json = Some(PathBuf::from(parser.value()?)),
            Arg::Long("seconds") => wishes.node.seconds = Some(parser.value()?.parse()?),
            Arg::Long("program") => wishes.node.program = Some(PathBuf::from(parser.value()?)),
            Arg::Long("only") => {
                let kind = delegates::Kind::named(&parser.value()?.string()?)?;
                wishes.delegates.only = Some(kind);
            }
            Arg::Long("connections") => {
                wishes.delegates.connections = Some(parser.value()?.parse()?);
            }
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            Arg::Value(what) if what == "tokens" => return tokens::command(parser),
            Arg::Value(what) if part.is_none() => part = Some(Part::named(&what.string()?)?),
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
    match part {
        Some(part) => part.run(json.as_deref(), effort, wishes),
        None => run_all(&json.unwrap_or_else(|| PathBuf::from(JSON)), effort),
    }
}

/// What only one part is asked.
#[derive(Default)]
struct Wishes {
    node: node::Wishes,
    delegates: delegates::Wishes,
}

/// What can be measured alone.
#[derive(Clone, Copy)]
enum Part {
    Streams,
    Journal,
    Sessions,
    Capture,
    Library,
    Citations,
    Routing,
    Delegates,
    Node,
}

impl Part {
    fn named(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "streams" => Self::Streams,
            "journal" => Self::Journal,
            "sessions" => Self::Sessions,
            "capture" => Self::Capture,
            "library" => Self::Library,
            "citations" => Self::Citations,
            "routing" => Self::Routing,
            "delegates" => Self::Delegates,
            "node" => Self::Node,
            _ => anyhow::bail!("nothing to measure is called {name:?}"),
        })
    }

    /// Numbers are written where somebody asks for them.
    fn run(self, json: Option<&Path>, effort: Effort, wishes: Wishes) -> anyhow::Result<()> {
        let beside = json.unwrap_or(Path::new(JSON));
        let (table, numbers) = match self {
            Self::Streams => {
                let rows = streams::measure(effort)?;
                (streams::table(&rows), serde_json::to_value(&rows)?)
            }
            Self::Journal => {
                let corpus = Corpus::new()?;
                let rows = journal::measure(&corpus, beside, effort)?;
                (report::journal_table(&rows), report::journal_numbers(&rows))
            }
            Self::Sessions => {
                let sessions = sessions::measure(beside, effort)?;
                (sessions.table(), serde_json::to_value(&sessions)?)
            }
            Self::Capture => {
                let capture = capture::measure(effort)?;
                (capture.table(), serde_json::to_value(&capture)?)
            }
            Self::Library => {
                let library = library::measure(beside, effort)?;
                (library.table(), serde_json::to_value(&library)?)
            }
            Self::Citations => {
                let citations = citations::measure(effort)?;
                (citations.table(), serde_json::to_value(&citations)?)
            }
            Self::Routing => {
                let routing = routing::measure(effort)?;
                (routing.table(), serde_json::to_value(&routing)?)
            }
            Self::Delegates => {
                let delegates = delegates::measure(beside, effort, wishes.delegates)?;
                (delegates.table(), serde_json::to_value(&delegates)?)
            }
            Self::Node => {
                let load = node::measure(beside, effort, wishes.node)?;
                (load.table(), serde_json::to_value(&load)?)
            }
        };
        print!("{table}");
        match json {
            Some(path) => report::write_numbers(path, &numbers),
            None => Ok(()),
        }
    }
}

fn run_all(json: &Path, effort: Effort) -> anyhow::Result<()> {
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
    let more = More {
        streams: streams::measure(effort)?,
        capture: capture::measure(effort)?,
        library: library::measure(json, effort)?,
        citations: citations::measure(effort)?,
        routing: routing::measure(effort)?,
        delegates: delegates::measure(json, effort, delegates::Wishes::default())?,
    };
    let journal = journal::measure(&corpus, json, effort)?;
    let report = Report::new(&cases, &corpus, &times, &counts, &scaling, &journal);
    print!("{}{}", report.table(), more.table());
    report.write(json, &more)?;
    eprintln!("numbers written to {}", json.display());
    Ok(())
}

/// Where the numbers of everything go.
const JSON: &str = "target/bench.json";
