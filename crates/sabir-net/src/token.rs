//! The word that a client must know.

use std::fmt;
use std::path::Path;

use sabir_ldp::Fingerprint;
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
        let failed = |why: String| ListenError::Token(format!("{}: {why}", path.display()));
        let text = sabir_host::read_private(path, MAX_TOKEN_BYTES).map_err(failed)?;
        Self::new(&text).map_err(|error| match error {
            ListenError::Token(why) => failed(why),
            error => error,
        })
    }

    /// For whoever has to know what must not be shown.
    pub fn expose(&self) -> &str {
        // A token is ASCII, which is checked when it is made.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// What is kept and compared where several tokens are known.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.0)
    }

    /// Whether this is the value of an `authorization` header that knows the token.
    pub(crate) fn admits(&self, authorization: &[u8]) -> bool {
        bearer(authorization).is_some_and(|given| bool::from(given.ct_eq(&self.0)))
    }
}

/// The token in the value of an `authorization` header.
pub(crate) fn bearer(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, given) = authorization.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(given)
}

const SCHEME: &[u8] = b"Bearer ";

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}
