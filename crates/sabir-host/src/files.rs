//! Files beneath one folder: read without following links out of it, and changed all or nothing.
//!
//! What should be in them is decided by `sabir_engine::patch`; here it is only put there.
#![expect(clippy::disallowed_methods, reason = "this is where files are read and written")]

mod error;
mod journal;
mod kept;
mod record;
mod restore;
mod root;
mod transaction;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::ApplyError;
pub use record::{Applied, AppliedFile, BeforeFile, Undo};
pub use restore::Recovered;
pub use root::Root;
use sabir_engine::patch::Plan;

use transaction::Transaction;

/// Makes the files what the plan says, all of them or none.
///
/// `journal_dir` is where it is written down meanwhile what a crash would leave half done; it is
/// made if it is missing. Call [`recover`] on it before the next patch.
pub fn apply(plan: &Plan, root: &Root, journal_dir: &Path) -> Result<Applied, ApplyError> {
    let changes = record::changes_of(plan, root)?;
    let mut transaction = Transaction::prepare(root, changes, journal_dir)?;
    transaction.run()?;
    Ok(transaction.into_record())
}

/// Keeps what the files of the plan hold, beside the journal. To be called before [`apply`] if the
/// patch should be taken back one day. The oldest of what is kept is forgotten when it is too much.
pub fn keep(plan: &Plan, journal_dir: &Path) -> Result<(), ApplyError> {
    kept::keep(plan, journal_dir)
}

/// Takes back what [`apply`] did several times, all of it or nothing, if nobody has changed it since
/// or between. The last change comes first. Returns the files that are as they were.
pub fn revert(changes: Vec<Undo>, journal_dir: &Path) -> Result<Vec<String>, ApplyError> {
    let Undo { root, applied } = record::merge(changes)?;
    let root = Root::open(&root).map_err(|source| ApplyError::File {
        action: "open",
        path: root.to_string_lossy().into_owned(),
        source,
    })?;
    let changes = record::changes_back(&applied, &root, journal_dir)?;
    let mut transaction = Transaction::prepare(&root, changes, journal_dir)?;
    transaction.run()?;
    restore::remove_folders(&root, &applied.folders);
    Ok(applied.files.into_iter().map(|file| file.path).collect())
}

/// Puts back what a crash left half done, for every journal in the folder that no living process
/// holds. It may be called at any time, and any number of times.
pub fn recover(journal_dir: &Path) -> Result<Vec<Recovered>, ApplyError> {
    restore::recover(journal_dir)
}
