//! Instruction counts by callgrind: they repeat, whatever else the machine is doing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::Effort;
use crate::cases::{self, Case, Prepared};
use crate::corpus::Corpus;

/// Instructions per message, for each case in order; `None` where valgrind is not to be had.
pub(crate) fn measure(cases: &[Case], effort: Effort) -> Vec<Option<f64>> {
    if effort == Effort::Quick {
        return cases.iter().map(|_| None).collect();
    }
    let mut missing = false;
    cases
        .iter()
        .map(|case| match count(case) {
            _ if missing => None,
            Ok(count) => Some(count),
            Err(error) => {
                eprintln!("no instruction counts: {error:#}");
                missing = true;
                None
            }
        })
        .collect()
}

/// Runs one case `times` times over all messages and nothing else.
pub(crate) fn work(name: &str, times: u64) -> anyhow::Result<()> {
    let case = cases::all().find(|case| case.name == name).context("no such case")?;
    let corpus = Corpus::new()?;
    let prepared = Prepared::new(&corpus);
    for _ in 0..times {
        (case.pass)(&prepared);
    }
    Ok(())
}

/// The difference between many passes and few: what the program does at its start falls out.
fn count(case: &Case) -> anyhow::Result<f64> {
    const FEW: u64 = 2;
    const MANY: u64 = 12;
    let dir = tempfile::tempdir()?;
    let few = callgrind(case.name, FEW, dir.path())?;
    let many = callgrind(case.name, MANY, dir.path())?;
    let messages = case.group.messages(&Corpus::new()?) as u64 * (MANY - FEW);
    Ok((many - few) as f64 / messages as f64)
}

fn callgrind(case: &str, times: u64, dir: &Path) -> anyhow::Result<u64> {
    let program = std::env::current_exe()?;
    let file = dir.join("callgrind.out");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["--work", case, &times.to_string()])
        .output()
        .context("valgrind does not start")?;
    ensure!(output.status.success(), "valgrind: {}", String::from_utf8_lossy(&output.stderr));
    let report = std::fs::read_to_string(&file)?;
    let Some(total) = report.lines().find_map(|line| line.strip_prefix("summary: ")) else {
        bail!("callgrind wrote no summary");
    };
    Ok(total.trim().parse()?)
}
