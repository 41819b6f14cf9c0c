//! `sabir audit`: what was decided, and is what was written still what is there?

mod list;
mod signatures;
mod verify;

use clap::Subcommand;
use sabir_store::library::AuditRow;
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::output::{Notes, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    List(list::ListArgs),
    Verify(verify::VerifyArgs),
}

impl AuditCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::List(args) => args.run(output, notes),
            Self::Verify(args) => args.run(output, notes),
        }
    }
}

/// Rows as an array of JSON: what the gate wrote, and where it stands in the chain.
pub(crate) fn print_json(rows: &[AuditRow], output: &mut Output) -> anyhow::Result<()> {
    use std::io::Write as _;
    let rows: Vec<Map<String, Value>> = rows.iter().map(as_json).collect();
    serde_json::to_writer_pretty(&mut *output, &rows)?;
    writeln!(output)?;
    Ok(())
}

/// One row, as an object.
pub(crate) fn as_json(row: &AuditRow) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("seq".to_owned(), row.seq.into());
    all.insert("id".to_owned(), row.id.as_str().into());
    // It was JSON when it was stored; what is not any more is shown as it stands.
    match serde_json::from_str(&row.body) {
        Ok(Value::Object(body)) => all.extend(body),
        _ => _ = all.insert("body".to_owned(), row.body.as_str().into()),
    }
    all.insert("hash".to_owned(), row.hash.to_string().into());
    all
}
