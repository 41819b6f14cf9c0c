//! The journals of a home: that of the node, those of its delegates, and the audit of the gate, which is
//! read as one.

use std::fmt;
use std::path::{Path, PathBuf};

use sabir_store::library::{AuditRow, Library, LibraryError};
use sabir_store::{Line, LineFilter, Reader, SessionId, StoreError, Verified};

use crate::desk::{DeskError, open_existing_library};

/// The journal of the node itself.
pub const NODE: &str = "node";
/// What the gate decided.
pub const AUDIT: &str = "audit";
/// The kind of the rows of the audit.
pub const DECISION: &str = "decision";

/// A journal, open for reading.
#[derive(Debug)]
pub struct Journal {
    name: String,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Store(Box<Reader>),
    Audit(Library),
}

#[derive(Debug)]
pub enum RecordError {
    /// There is none of this name.
    Unknown {
        name: String,
        names: Vec<String>,
    },
    Store(StoreError),
    Library(LibraryError),
    Desk(DeskError),
    Io {
        path: PathBuf,
        why: String,
    },
}

/// The journals that are there, the node's first.
///
/// # Errors
///
/// When the folder of delegates cannot be read.
pub fn journal_names(home: &Path) -> Result<Vec<String>, RecordError> {
    let mut names = Vec::new();
    if has_store(home) {
        names.push(NODE.to_owned());
    }
    names.extend(delegates(home)?);
    if home.join("library.db").exists() {
        names.push(AUDIT.to_owned());
    }
    Ok(names)
}

/// The delegates that have a journal of their own.
fn delegates(home: &Path) -> Result<Vec<String>, RecordError> {
    let folder = home.join(DELEGATES);
    let io =
        |error: std::io::Error| RecordError::Io { path: folder.clone(), why: error.to_string() };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if has_store(&entry.path()) && name != NODE && name != AUDIT {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn has_store(folder: &Path) -> bool {
    folder.join("sabir.db").exists()
}

impl Journal {
    /// # Errors
    ///
    /// When there is no such journal, or it cannot be read.
    pub fn open(home: &Path, name: &str) -> Result<Self, RecordError> {
        let names = journal_names(home)?;
        if !names.iter().any(|it| it == name) {
            return Err(RecordError::Unknown { name: name.to_owned(), names });
        }
        let rows = match name {
            AUDIT => match open_existing_library(home)? {
                Some(library) => Rows::Audit(library),
                None => return Err(RecordError::Unknown { name: name.to_owned(), names }),
            },
            NODE => Rows::Store(Box::new(Reader::open(home)?)),
            name => Rows::Store(Box::new(Reader::open(&home.join(DELEGATES).join(name))?)),
        };
        Ok(Self { name: name.to_owned(), rows })
    }

    /// All of a home.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    pub fn open_all(home: &Path) -> Result<Vec<Self>, RecordError> {
        journal_names(home)?.iter().map(|name| Self::open(home, name)).collect()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What sessions and delegates wrote; the audit has none.
    pub fn reader(&self) -> Option<&Reader> {
        match &self.rows {
            Rows::Store(reader) => Some(reader),
            Rows::Audit(_) => None,
        }
    }

    /// The number of the last row.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn last_seq(&self) -> Result<u64, RecordError> {
        match &self.rows {
            Rows::Store(reader) => Ok(reader.last_seq()?),
            Rows::Audit(library) => Ok(library.last_audit(1)?.last().map_or(0, |row| row.seq)),
        }
    }

    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn line(&self, seq: u64) -> Result<Option<Line>, RecordError> {
        match &self.rows {
            Rows::Store(reader) => Ok(reader.line(seq)?),
            Rows::Audit(library) => {
                let Some(before) = seq.checked_sub(1) else { return Ok(None) };
                let found = library.audit(before, 1)?.into_iter().find(|row| row.seq == seq);
                Ok(found.map(as_line))
            }
        }
    }

    /// The first rows that are wanted, in order; see [`Reader::first_lines`].
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn first_lines(&self, filter: &LineFilter, limit: usize) -> Result<Vec<Line>, RecordError> {
        match &self.rows {
            Rows::Store(reader) => Ok(reader.first_lines(filter, limit)?),
            Rows::Audit(library) => {
                let mut found = Vec::new();
                walk(library, filter, |line| {
                    found.push(line);
                    found.len() < limit
                })?;
                found.truncate(limit);
                Ok(found)
            }
        }
    }

    /// The last rows that are wanted, in order; see [`Reader::last_lines`].
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn last_lines(&self, filter: &LineFilter, limit: usize) -> Result<Vec<Line>, RecordError> {
        match &self.rows {
            Rows::Store(reader) => Ok(reader.last_lines(filter, limit)?),
            Rows::Audit(library) => {
                let mut found = walk_back(library, filter, limit)?;
                found.reverse();
                Ok(found)
            }
        }
    }

    /// Follows the chain of a journal of sessions from its first row to its last.
    ///
    /// # Errors
    ///
    /// [`StoreError::Tampered`] with the first place that does not fit.
    pub fn verify(&self) -> Option<Result<Verified, StoreError>> {
        self.reader().map(Reader::verify)
    }
}

/// Hands out the rows that are wanted, until that says no.
fn walk(
    library: &Library,
    filter: &LineFilter,
    mut take: impl FnMut(Line) -> bool,
) -> Result<(), RecordError> {
    let mut after = filter.after.unwrap_or(0);
    loop {
        let rows = library.audit(after, STEP)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.seq;
        for row in rows {
            if filter.before.is_some_and(|before| row.seq >= before) {
                return Ok(());
            }
            let line = as_line(row);
            if is_wanted(&line, filter) && !take(line) {
                return Ok(());
            }
        }
    }
}

/// The last rows that are wanted, the last first: no more is read than holds so many.
fn walk_back(
    library: &Library,
    filter: &LineFilter,
    limit: usize,
) -> Result<Vec<Line>, RecordError> {
    let first = filter.after.unwrap_or(0);
    let mut before = filter.before.unwrap_or(u64::MAX);
    let mut found = Vec::new();
    while found.len() < limit {
        let rows = library.audit_before(before, STEP)?;
        let Some(last) = rows.last() else { break };
        before = last.seq;
        let rows = rows.into_iter().take_while(|row| row.seq > first);
        let lines = rows.map(as_line).filter(|line| is_wanted(line, filter));
        found.extend(lines.take(limit - found.len()));
        if before <= first {
            break;
        }
    }
    Ok(found)
}

fn is_wanted(line: &Line, filter: &LineFilter) -> bool {
    let one_of =
        |names: &[String], name: &str| names.is_empty() || names.iter().any(|it| it == name);
    let holds = |text: &str| {
        let wanted = text.to_ascii_lowercase();
        let written = serde_json::Value::from(text).to_string().to_ascii_lowercase();
        let body = line.body.to_ascii_lowercase();
        body.contains(&wanted)
            || body.contains(written.trim_matches('"'))
            || [&line.key, &line.tag, line.session_id.as_str()]
                .iter()
                .any(|it| it.to_ascii_lowercase().contains(&wanted))
    };
    filter.session.as_ref().is_none_or(|id| *id == line.session_id)
        && one_of(&filter.kinds, &line.kind)
        && one_of(&filter.tags, &line.tag)
        && filter.key.as_ref().is_none_or(|key| *key == line.key)
        && filter.since_ms.is_none_or(|since| line.at_ms >= since)
        && filter.until_ms.is_none_or(|until| line.at_ms < until)
        && filter.contains.as_deref().is_none_or(holds)
}

fn as_line(row: AuditRow) -> Line {
    Line {
        seq: row.seq,
        session_id: SessionId::new(row.actor),
        at_ms: row.at_ms,
        kind: DECISION.to_owned(),
        tag: row.outcome.as_str().to_owned(),
        key: row.call_id,
        body: row.body,
        hash: row.hash,
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, names } if names.is_empty() => {
                write!(f, "there is no journal `{name}`: nothing was written down here yet")
            }
            Self::Unknown { name, names } => {
                write!(f, "there is no journal `{name}`; there are {}", names.join(", "))
            }
            Self::Store(error) => error.fmt(f),
            Self::Library(error) => error.fmt(f),
            Self::Desk(error) => error.fmt(f),
            Self::Io { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<LibraryError> for RecordError {
    fn from(error: LibraryError) -> Self {
        Self::Library(error)
    }
}

impl From<DeskError> for RecordError {
    fn from(error: DeskError) -> Self {
        Self::Desk(error)
    }
}

/// In the home: a folder for each delegate that is built in.
const DELEGATES: &str = "delegates";
/// Rows of the audit that are read at once.
const STEP: usize = 1000;
