//! The word that a client must know.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{FileType, OFlags};
use subtle::ConstantTimeEq as _;

use crate::error::ListenError;

/// A token. It is compared in constant time and never shown.
#[derive(Clone)]
pub struct Token(Vec<u8>);

/// A token is a line; a file that is larger holds something else.
const MAX_TOKEN_BYTES: u64 = 4096;

impl Token {
    /// A token has to fit into a header.
    pub fn new(text: &str) -> Result<Self, ListenError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ListenError::Token("it is empty".to_owned()));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let why = "only visible ASCII characters can be sent in a header, without spaces";
            return Err(ListenError::Token(why.to_owned()));
        }
        Ok(Self(text.as_bytes().to_vec()))
    }

    /// Reads a file that nobody else can read.
    pub fn from_file(path: &Path) -> Result<Self, ListenError> {
        let name = path.display();
        let failed = |why: String| ListenError::Token(format!("{name}: {why}"));
        // A pipe under that name must not hold up the start.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty());
        let file = opened.map_err(|error| failed(error.to_string()))?;
        let facts = rustix::fs::fstat(&file).map_err(|error| failed(error.to_string()))?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            return Err(failed("it is not a file".to_owned()));
        }
        let mode = facts.st_mode & 0o7777;
        if mode & 0o177 != 0 {
            let why = format!("others may use it (mode {mode:04o}): type `chmod 600 {name}`");
            return Err(failed(why));
        }
        if facts.st_uid != rustix::process::geteuid().as_raw() {
            return Err(failed("it belongs to somebody else".to_owned()));
        }
        let mut text = String::new();
        let read = File::from(file).take(MAX_TOKEN_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| failed(error.to_string()))?;
        if text.len() as u64 > MAX_TOKEN_BYTES {
            return Err(failed("it is too long for a token".to_owned()));
        }
        Self::new(&text).map_err(|error| match error {
            ListenError::Token(why) => failed(why),
            error => error,
        })
    }

    /// Whether this is the value of an `authorization` header that knows the token.
    pub(crate) fn admits(&self, authorization: &[u8]) -> bool {
        let Some((scheme, given)) = authorization.split_at_checked(SCHEME.len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(SCHEME) && bool::from(given.ct_eq(&self.0))
    }
}

const SCHEME: &[u8] = b"Bearer ";

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}
