//! Why a call was allowed, asked for or refused: its rows of the audit, in words.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use sabir_host::open_existing_library;
use sabir_policy::AuditRow as Decision;
use sabir_store::library::AuditRow;
use serde_json::Value;

use super::thing::Thing;
use crate::audit::as_json;
use crate::output::Output;
use crate::render::printable;

/// The rows of the call that is called so.
pub(super) fn find(home: &Path, wanted: &str) -> anyhow::Result<Vec<AuditRow>> {
    match open_existing_library(home)? {
        Some(library) => Ok(library.audit_of_call(wanted)?),
        None => Ok(Vec::new()),
    }
}

/// Calls whose names begin so.
pub(super) fn begin_with(home: &Path, start: &str) -> anyhow::Result<Vec<String>> {
    match open_existing_library(home)? {
        Some(library) => Ok(library.audited_calls(start, MOST_CALLS)?),
        None => Ok(Vec::new()),
    }
}

/// Prints rows in the order in which they were written, and where the call is in the journals.
pub(super) fn print(
    rows: &[AuditRow],
    places: &[String],
    output: &mut Output,
) -> anyhow::Result<()> {
    for (number, row) in rows.iter().enumerate() {
        let decision: Decision = serde_json::from_str(&row.body)
            .with_context(|| format!("row {} of the audit cannot be read", row.seq))?;
        if number > 0 {
            writeln!(output)?;
        }
        writeln!(output, "{}", sabir_policy::explain(&decision))?;
        writeln!(output, "  at: {}, row {} of the audit", sabir_host::written(row.at_ms), row.seq)?;
    }
    let looks = places.iter().take(MOST_PLACES).map(|place| format!("sabir log {place}"));
    let looks: Vec<String> = looks.collect();
    if !looks.is_empty() {
        writeln!(output, "  look next: {}", looks.join(", "))?;
    }
    Ok(())
}

/// The rows, each with where the call is in the journals; then what else has this name.
pub(super) fn print_as_json(
    rows: &[AuditRow],
    places: &[String],
    things: &[Thing],
    output: &mut Output,
) -> anyhow::Result<()> {
    let decisions = rows.iter().map(|row| {
        let mut row = as_json(row);
        row.insert("what".to_owned(), "decision".into());
        row.insert("rows".to_owned(), places.into());
        Value::Object(row)
    });
    let all: Vec<Value> = decisions.chain(things.iter().map(Thing::to_value)).collect();
    serde_json::to_writer_pretty(&mut *output, &all)?;
    writeln!(output)?;
    Ok(())
}

/// What to type instead of a name that several calls begin with.
pub(super) fn choices(calls: &[String]) -> String {
    let shown: Vec<_> = calls.iter().map(|call| printable(call)).collect();
    let more = if calls.len() == MOST_CALLS { ", and perhaps more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// More than a person chooses from.
const MOST_CALLS: usize = 10;
/// Where a call began and ended; the rest is between.
const MOST_PLACES: usize = 3;
