//! Who asks over MCP or A2A, as far as the listener knows: whose tasks they may see, and for whom they
//! speak.

use axum::http::Extensions;
use sabir_host::Standing;
use sabir_ldp::{Credential, Fingerprint};

use crate::ldp::Visitor;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Tells callers apart, and is no way back to what they showed.
    pub(crate) name: String,
    pub(crate) standing: Standing,
}

impl Caller {
    /// Whoever started this program.
    pub(crate) fn parent() -> Self {
        Self { name: "stdio".to_owned(), standing: Standing::Own }
    }

    /// Whoever sent a request. Nobody vouches for one that came past the listener.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        let Some(visitor) = extensions.get::<Visitor>() else {
            return Self { name: "unknown".to_owned(), standing: Standing::Stranger };
        };
        let shown = visitor.channel.credential.map(|credential| {
            let (kind, fingerprint) = match credential {
                Credential::Token(fingerprint) => ("token", fingerprint),
                Credential::Certificate(fingerprint) => ("certificate", fingerprint),
            };
            // Hashed again, so that what is kept opens nothing.
            let text = format!("sabir-net-v1/caller {kind} {}", fingerprint.to_hex());
            let mut name = Fingerprint::of(text.as_bytes()).to_hex();
            name.truncate(NAME_DIGITS);
            format!("{kind}-{name}")
        });
        match (shown, visitor.is_near) {
            (Some(name), true) => Self { name, standing: Standing::Own },
            (Some(name), false) => Self { name, standing: Standing::Stranger },
            (None, true) => Self { name: "local".to_owned(), standing: Standing::Own },
            (None, false) => {
                Self { name: format!("at-{}", visitor.address), standing: Standing::Stranger }
            }
        }
    }
}

/// 96 bits: nobody finds a second token with the same.
const NAME_DIGITS: usize = 24;
