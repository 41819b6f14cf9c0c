//! The audit of the gate, on disk: who decides hands its rows in here, and goes on when they are
//! written. What a row says is not decided here.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_policy::{AuditRow, Outcome};
use sabir_store::library::{AuditOutcome, Library, NewAudit};

use crate::desk::{DeskError, open_library};

/// The audit in the library of a home. The library is opened when the first row comes, so that an
/// engine that decides nothing holds nothing. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Audit(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    home: PathBuf,
    library: Mutex<Option<Library>>,
}

impl Audit {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self(Arc::new(Kept { home, library: Mutex::default() }))
    }

    /// Writes rows, all or none. They are on disk when this returns; when they cannot be, what they
    /// are about must not happen.
    pub(crate) async fn keep(&self, rows: Vec<AuditRow>) -> Result<(), String> {
        if rows.is_empty() {
            return Ok(());
        }
        let kept = Arc::clone(&self.0);
        let written = match tokio::task::spawn_blocking(move || kept.append(&rows)).await {
            Ok(written) => written.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        written.map_err(|why| format!("what was decided cannot be written down: {why}"))
    }
}

impl Kept {
    fn append(&self, rows: &[AuditRow]) -> Result<(), DeskError> {
        let at = rows.iter().map(|row| row.at).max().unwrap_or_default();
        let entries = rows.iter().map(audit_entry).collect::<Result<Vec<_>, _>>()?;
        self.library()?.append_audit(&entries, at)?;
        Ok(())
    }

    fn library(&self) -> Result<Library, DeskError> {
        let mut opened = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = &*opened {
            return Ok(library.clone());
        }
        let library = open_library(&self.home)?;
        *opened = Some(library.clone());
        Ok(library)
    }
}

/// A row as the library keeps it.
pub(crate) fn audit_entry(row: &AuditRow) -> Result<NewAudit, DeskError> {
    Ok(NewAudit {
        actor: row.actor.clone(),
        call_id: row.call_id.clone(),
        subject: row.subject.clone(),
        outcome: match row.outcome {
            Outcome::Allow => AuditOutcome::Allow,
            Outcome::Ask => AuditOutcome::Ask,
            Outcome::Deny => AuditOutcome::Deny,
        },
        reason: row.reason_code.clone(),
        body: serde_json::to_string(row).map_err(|error| DeskError::refused(error.to_string()))?,
    })
}
