//! Paths that cannot leave the folder they are relative to, as far as their text can say.
//!
//! Where links lead is not known here.

use std::fmt;

/// A relative path in its normal form: names joined by single slashes, none of them `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatchPath(String);

/// Why a text is not such a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    Empty,
    Absolute,
    Climbs,
    Backslash,
    Control,
    Folder,
    TooLong,
}

impl PatchPath {
    /// Reads `./a//b` as `a/b`, and refuses everything that leaves the folder or that another
    /// reader could take for something that does.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(PathError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control);
        }
        if text.contains('\\') {
            return Err(PathError::Backslash);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        let mut names = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                // Also behind a `./`, which does not stay.
                drive if names.is_empty() && is_drive(drive) => return Err(PathError::Absolute),
                ".." => return Err(PathError::Climbs),
                name => names.push(name),
            }
        }
        if names.is_empty() || text.ends_with('/') || text.ends_with("/.") {
            return Err(PathError::Folder);
        }
        Ok(Self(names.join("/")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names from the folder down; there is always one.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder that holds it; `None` when that is the folder everything is relative to.
    pub fn parent(&self) -> Option<Self> {
        let (parent, _) = self.0.rsplit_once('/')?;
        Some(Self(parent.to_owned()))
    }

    /// Whether `self` lies somewhere below `folder`.
    pub fn is_below(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl fmt::Display for PatchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "is empty",
            Self::Absolute => "is absolute",
            Self::Climbs => "climbs out with `..`",
            Self::Backslash => "holds a backslash",
            Self::Control => "holds a control character",
            Self::Folder => "names a folder, not a file",
            Self::TooLong => "is too long",
        })
    }
}

impl std::error::Error for PathError {}

impl PathError {
    /// What to type instead.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Empty => "write the path of the file after the colon",
            Self::Absolute | Self::Climbs => {
                "write the path relative to the working directory, such as `src/main.rs`"
            }
            Self::Backslash => "separate folders with `/`",
            Self::Control => "write the path in plain characters, on one line",
            Self::Folder => "write the path of a file, such as `src/main.rs`",
            Self::TooLong => "write a path of at most 4096 bytes",
        }
    }
}

/// `C:/x` is relative here and absolute elsewhere; nobody means the former.
fn is_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// No system that we know opens a longer one.
const MAX_BYTES: usize = 4096;
