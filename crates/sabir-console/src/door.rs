//! Who is let in: a person who has the token of the home, from a page of this node, until they leave
//! or a time is over.

mod attempts;
mod cookie;
mod guard;
mod login;
mod sessions;
mod token;

use std::fmt;

use sha2::{Digest as _, Sha256};

pub(crate) use guard::guard;
pub(crate) use login::{log_in, log_out};
pub(crate) use sessions::SignedIn;
pub use token::{ConsoleToken, TokenError};

use attempts::Attempts;
use sessions::Sessions;

use crate::refused::Refused;

/// Where a token may be sent without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlainLogin {
    /// From this machine only: elsewhere, whoever is on the way could read it.
    #[default]
    Near,
    /// From anywhere: something in front of the node speaks TLS, or the network is trusted.
    Anywhere,
}

/// All that decides about people.
#[derive(Debug)]
pub(crate) struct Door {
    token: ConsoleToken,
    plain: PlainLogin,
    attempts: Attempts,
    sessions: Sessions,
}

impl Door {
    pub(crate) fn new(token: ConsoleToken, plain: PlainLogin) -> Self {
        Self { token, plain, attempts: Attempts::default(), sessions: Sessions::default() }
    }

    /// Whether somebody is still signed in; having looked counts as use.
    pub(crate) fn holds(&self, person: &SignedIn) -> bool {
        self.sessions.holds(person)
    }
}

/// What a secret is kept and compared as: equal secrets have equal digests, and nothing else shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Digest([u8; 32]);

impl Digest {
    fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(hidden)")
    }
}

/// Thirty-two random bytes in hexadecimal digits.
fn fresh_secret() -> Result<String, Refused> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Refused::internal(format!("there are no random numbers: {error}")))?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
