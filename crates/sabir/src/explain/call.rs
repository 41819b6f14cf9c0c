//! Why a call was allowed, asked for or refused: its rows of the audit, in words.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use sabir_host::open_existing_library;
use sabir_policy::AuditRow as Decision;
use sabir_store::library::AuditRow;

use crate::audit::print_json;
use crate::output::Output;
use crate::render::printable;

/// What the audit says of a call.
pub(super) enum Found {
    Rows(Vec<AuditRow>),
    /// Several calls begin so.
    Several(Vec<String>),
    Nothing,
}

/// The rows of the call that is called so, or whose name begins so.
pub(super) fn find(home: &Path, wanted: &str) -> anyhow::Result<Found> {
    let library = match open_existing_library(home)? {
        Some(library) if !wanted.is_empty() => library,
        _ => return Ok(Found::Nothing),
    };
    let rows = library.audit_of_call(wanted)?;
    if !rows.is_empty() {
        return Ok(Found::Rows(rows));
    }
    let mut calls = library.audited_calls(wanted, MOST_CALLS)?;
    Ok(match calls.len() {
        0 => Found::Nothing,
        1 => Found::Rows(library.audit_of_call(&calls.remove(0))?),
        _ => Found::Several(calls),
    })
}

/// Prints rows in the order in which they were written.
pub(super) fn print(rows: &[AuditRow], output: &mut Output) -> anyhow::Result<()> {
    for (number, row) in rows.iter().enumerate() {
        let decision: Decision = serde_json::from_str(&row.body)
            .with_context(|| format!("row {} of the audit cannot be read", row.seq))?;
        if number > 0 {
            writeln!(output)?;
        }
        writeln!(output, "{}", sabir_policy::explain(&decision))?;
        writeln!(output, "  at: {}, row {} of the audit", sabir_host::written(row.at_ms), row.seq)?;
    }
    Ok(())
}

pub(super) fn print_as_json(rows: &[AuditRow], output: &mut Output) -> anyhow::Result<()> {
    print_json(rows, output)
}

/// What to type instead of a name that several calls begin with.
pub(super) fn choices(calls: &[String]) -> String {
    let shown: Vec<_> = calls.iter().map(|call| printable(call)).collect();
    let more = if calls.len() == MOST_CALLS { ", and perhaps more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// More than a person chooses from.
const MOST_CALLS: usize = 10;
