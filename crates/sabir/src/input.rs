//! Texts to work on: files and standard input, read whole, or a reason why not.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Spans are 32 bits wide, so the largest text is one byte short of four gigabytes.
const MAX_BYTES: u64 = u32::MAX as u64;

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Stdin,
    File(PathBuf),
}

/// A text and where it comes from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) origin: Origin,
    pub(crate) text: String,
}

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io { origin: Origin, source: io::Error },
    Directory { origin: Origin },
    TooLarge { origin: Origin },
    NotUtf8 { origin: Origin, offset: usize },
    StdinTwice,
}

impl Origin {
    /// Reads `-` as standard input.
    pub(crate) fn parse(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path) }
    }

    /// The files of a command line, in order; none means standard input.
    pub(crate) fn parse_all(paths: Vec<PathBuf>) -> Result<Vec<Self>, ReadError> {
        if paths.is_empty() {
            return Ok(vec![Self::Stdin]);
        }
        let origins: Vec<Self> = paths.into_iter().map(Self::parse).collect();
        let stdins = origins.iter().filter(|origin| **origin == Self::Stdin).count();
        if stdins > 1 { Err(ReadError::StdinTwice) } else { Ok(origins) }
    }

    /// The name in JSON, which is the one that was given.
    pub(crate) fn as_given(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.to_string_lossy().into_owned(),
        }
    }

    pub(crate) fn read(self) -> Result<Source, ReadError> {
        let bytes = match &self {
            Self::Stdin => read_limited(&mut io::stdin().lock(), 0),
            Self::File(path) => read_file(path),
        };
        let bytes = match bytes {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(ReadError::TooLarge { origin: self }),
            Err(source) if source.kind() == io::ErrorKind::IsADirectory => {
                return Err(ReadError::Directory { origin: self });
            }
            Err(source) => return Err(ReadError::Io { origin: self, source }),
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source { origin: self, text }),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                Err(ReadError::NotUtf8 { origin: self, offset })
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("<stdin>"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { origin, .. } => write!(f, "{origin}: cannot be read"),
            Self::Directory { origin } => write!(f, "{origin}: is a directory"),
            Self::TooLarge { origin } => {
                write!(f, "{origin}: has four gigabytes or more, which is the limit")
            }
            Self::NotUtf8 { origin, offset } => write!(f, "{origin}: not UTF-8 (byte {offset})"),
            Self::StdinTwice => f.write_str("`-` is given twice, but there is one standard input"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Directory { .. }
            | Self::TooLarge { .. }
            | Self::NotUtf8 { .. }
            | Self::StdinTwice => None,
        }
    }
}

fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.len() > MAX_BYTES {
        return Ok(None);
    }
    read_limited(&mut file, metadata.len() as usize)
}

/// Reads to the end; `None` when that is too far. A file can grow while it is read, and a pipe has
/// no length, so the length announced is only a hint.
fn read_limited(reader: &mut impl Read, hint: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(hint);
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_BYTES).then_some(bytes))
}
