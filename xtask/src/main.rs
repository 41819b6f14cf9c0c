//! The project's one door for developers: `cargo xtask`.
//!
//! It knows the repository, cargo and git. It refuses to know what the crates do.

#![expect(
    clippy::disallowed_methods,
    reason = "a build tool reads files, the environment and the clock; nothing ships from here"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a build tool talks to the person who runs it"
)]

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result};

mod bench;
mod browser_driver;
mod finding;
mod fuzz;
mod host;
mod install;
mod python;
mod schema;
mod setup;
mod test;
mod tidy;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next().unwrap_or_else(|| "help".into());
    match run(&command, args.collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            let usage = error.is::<lexopt::Error>() || error.is::<UnknownCommand>();
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}

fn run(command: &OsString, args: Vec<OsString>) -> Result<ExitCode> {
    let root = host::workspace_root().context("cannot find the workspace")?;
    match command.to_str() {
        Some("tidy") => tidy::command(&root, args),
        Some("test") => test::command(&root, args),
        Some("fuzz") => fuzz::command(&root, args),
        Some("bench") => bench::command(&root, args),
        Some("schema") => schema::command(&root, args),
        Some("stage") => install::stage_command(&root, args),
        Some("install-check") => install::check_command(&root, args),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(UnknownCommand(command.clone()).into()),
    }
}

#[derive(Debug)]
struct UnknownCommand(OsString);

impl std::fmt::Display for UnknownCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown command {:?}; `cargo xtask help` lists them", self.0)
    }
}

impl std::error::Error for UnknownCommand {}

const HELP: &str = "\
cargo xtask COMMAND

  test     everything that must pass: format, lints, tidy, tests, installing, bench smoke, fuzzing
             --quick             without benches and fuzzing
             --keep-going        run the later steps after a failure
             --without A,B       go without fuzz, valgrind, deny, bubblewrap, namespaces, chromium,
                                 poppler, python or browser-driver
  tidy     prove what the compiler cannot: arrows, purity, pages, links, licences
  fuzz     fuzz one target; --list names them
             --seconds N         for how long (60)
             --input FILE        run one input, for instance the one that crashed
  bench    measure, print a table; --quick for a smoke run, --json PATH for the numbers
             capture, library, citations, streams, journal, sessions
                                 one of them alone
             tokens [--check]    count what the notations cost in tokens, write the page about it
  schema   write spec/schema/*.json; --check only compares
  stage    build the program and lay it out as a package does: stage DIR
             --debug             without optimization, from what tests have built
  install-check
           stage into a temporary folder, and start the program from there with an empty home
  help     this text

Examples
  cargo xtask test
  cargo xtask test --quick
  cargo xtask fuzz parse_total --seconds 300
  cargo xtask fuzz parse_total --input fuzz/artifacts/parse_total/crash-0123
  cargo xtask bench --json target/bench.json
  cargo xtask bench tokens --check
  cargo xtask schema --check
  cargo xtask stage target/stage
";
