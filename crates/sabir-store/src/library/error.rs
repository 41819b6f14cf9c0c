//! What goes wrong with a library. Texts name the file or the thing, and the way out.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::ids::CollectionId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// There is no such thing. `near` are names that were perhaps meant.
    NotFound {
        what: &'static str,
        name: String,
        near: Vec<String>,
    },
    /// Titles of collections differ in more than case.
    TitleTaken {
        title: String,
        id: CollectionId,
    },
    /// It cannot be kept as it is.
    Invalid {
        what: &'static str,
        why: &'static str,
    },
    TooLarge {
        what: &'static str,
        size: usize,
        limit: usize,
    },
    /// Others wrote for longer than we waited. Nothing happened; trying again may help.
    Busy {
        path: PathBuf,
    },
    /// Nothing happened, and nothing will until there is room.
    Full {
        path: PathBuf,
    },
    ReadOnly {
        path: PathBuf,
    },
    /// A newer Sabir wrote it.
    NewerSchema {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file is no database, somebody else's database, or damaged.
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// What is in the library is not what was put there.
    Unsound(Unsound),
    /// A file or the database could not be used.
    Io {
        path: PathBuf,
        why: String,
    },
}

/// Where a library first disagrees with itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The id of a row, or the name of a table.
    pub place: String,
    pub why: &'static str,
}

impl LibraryError {
    /// Whether the same call may succeed later without anything being done about it.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::NotFound { .. }
            | Self::TitleTaken { .. }
            | Self::Invalid { .. }
            | Self::TooLarge { .. }
            | Self::Full { .. }
            | Self::ReadOnly { .. }
            | Self::NewerSchema { .. }
            | Self::Damaged { .. }
            | Self::Unsound(_)
            | Self::Io { .. } => false,
        }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path },
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { path, why: error.to_string() },
        }
    }
}

/// What stops a piece of work, before it is known at which file.
#[derive(Debug)]
pub(crate) enum Trouble {
    Database(rusqlite::Error),
    Refused(LibraryError),
}

impl Trouble {
    pub(crate) fn not_found(what: &'static str, name: &str) -> Self {
        Self::Refused(LibraryError::NotFound { what, name: name.to_owned(), near: Vec::new() })
    }

    pub(crate) fn invalid(what: &'static str, why: &'static str) -> Self {
        Self::Refused(LibraryError::Invalid { what, why })
    }

    pub(crate) fn unsound(place: impl Into<String>, why: &'static str) -> Self {
        Self::Refused(LibraryError::Unsound(Unsound { place: place.into(), why }))
    }

    pub(crate) fn at(self, path: &Path) -> LibraryError {
        let error = match self {
            Self::Refused(error) => return error,
            Self::Database(error) => error,
        };
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                LibraryError::Busy { path }
            }
            Some(ErrorCode::DiskFull) => LibraryError::Full { path },
            Some(ErrorCode::ReadOnly) => LibraryError::ReadOnly { path },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                LibraryError::Damaged { path, why: error.to_string() }
            }
            _ => LibraryError::Io { path, why: error.to_string() },
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<LibraryError> for Trouble {
    fn from(error: LibraryError) -> Self {
        Self::Refused(error)
    }
}

impl std::error::Error for LibraryError {}

impl std::error::Error for Unsound {}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { what, name, near } => {
                write!(f, "there is no {what} `{name}`")?;
                if let [first, rest @ ..] = near.as_slice() {
                    write!(f, "; did you mean `{first}`")?;
                    rest.iter().try_for_each(|name| write!(f, " or `{name}`"))?;
                    f.write_str("?")?;
                }
                Ok(())
            }
            Self::TitleTaken { title, id } => {
                write!(f, "there is already a collection `{title}` ({id})")
            }
            Self::Invalid { what, why } => write!(f, "{what} cannot be kept: {why}"),
            Self::TooLarge { what, size, limit } => {
                write!(f, "{what} of {size} is over the limit of {limit}")
            }
            Self::Busy { path } => write!(
                f,
                "{} was in use by other processes for too long; try again",
                path.display()
            ),
            Self::Full { path } => {
                write!(f, "there is no room for more in {}; make room first", path.display())
            }
            Self::ReadOnly { path } => write!(
                f,
                "{} cannot be written; make it writable, or use another home with --home DIR",
                path.display()
            ),
            Self::NewerSchema { path, found, known } => write!(
                f,
                "{} was written by a newer sabir (schema {found}, this one knows {known}); \
                 update sabir, or use another home with --home DIR",
                path.display()
            ),
            Self::Damaged { path, why } => write!(
                f,
                "{} is not a readable library: {why}; restore it from a copy, or move it away to \
                 start afresh",
                path.display()
            ),
            Self::Unsound(unsound) => unsound.fmt(f),
            Self::Io { path, why } => write!(f, "cannot use {}: {why}", path.display()),
        }
    }
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the library is not what was written: {}: {}", self.place, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_told_apart() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("PRAGMA query_only = ON").unwrap();
        let error = connection.execute_batch("CREATE TABLE t (x)").unwrap_err();
        let path = Path::new("library.db");
        let expected = LibraryError::ReadOnly { path: path.to_owned() };
        assert_eq!(Trouble::from(error).at(path), expected);
    }
}
