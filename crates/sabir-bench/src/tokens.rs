//! What the notations cost in tokens: the same conversations in each of them, counted.
//!
//! `scenario` has the types of the records and `scenarios` the data; `encode` writes them, one
//! encoder a notation; `measure` counts, and `report` and `plot` tell. No clock and no network is
//! needed, so the page is the same wherever it is made.

mod build;
mod encode;
mod measure;
mod plot;
mod report;
mod scenario;
mod scenarios;
mod teach;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use lexopt::{Arg, Parser};

use measure::Counts;

const HELP: &str = "\
Counts the tokens of the same conversations in every notation, and writes the page about it.

Usage: sabir-bench tokens [--check] [--json FILE]

  --check      write nothing; fail when the committed page is not what would be written
  --json FILE  where to write every count and every text [default: target/tokens.json]
";

const PAGE: &str = "docs/benchmarks/tokens.md";
const PLOT: &str = "docs/benchmarks/tokens.svg";

pub(crate) fn command(mut parser: Parser) -> anyhow::Result<()> {
    let mut check = false;
    let mut json = PathBuf::from("target/tokens.json");
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("check") => check = true,
            Arg::Long("json") => json = parser.value()?.into(),
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let scenarios = scenarios::all();
    let counts = Counts::of(&scenarios)?;
    let files = files(&scenarios, &counts)?;
    if check {
        for (path, text) in &files {
            if std::fs::read_to_string(path).is_ok_and(|committed| committed == *text) {
                continue;
            }
            bail!("{path} is out of date: run `cargo xtask bench tokens` and commit it");
        }
        eprintln!("{PAGE} is what the code says");
        return Ok(());
    }
    for (path, text) in &files {
        write(Path::new(path), text)?;
    }
    write(&json, &format!("{:#}\n", report::numbers(&scenarios, &counts)?))?;
    print!("{}", report::summary(&counts));
    eprintln!("written: {PAGE}, {PLOT}, {}", json.display());
    Ok(())
}

/// What is committed: the page and its plot.
fn files(
    scenarios: &[scenario::Scenario],
    counts: &Counts,
) -> anyhow::Result<[(&'static str, String); 2]> {
    Ok([(PAGE, report::page(scenarios, counts)?), (PLOT, plot::svg(counts))])
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
