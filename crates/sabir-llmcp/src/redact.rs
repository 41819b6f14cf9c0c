//! What must not be kept or passed on: credentials in addresses and in text, and the bodies of
//! documents in packets that are stored.
//!
//! It judges by shape and by name. It knows no list of secrets and no store.

mod packet;
mod shape;
mod text;
mod url;
mod words;

pub use self::packet::{redact_packet, redact_packet_within};
pub use self::text::redact_text;
pub use self::url::{Redacted, normalise_url, redact_url};

/// Stands where something was taken out of a text.
const REMOVED: &str = "[redacted]";
