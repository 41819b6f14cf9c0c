//! From a text to an envelope. What is around the body is the same in every dialect, but for what
//! each leaves out.

use sabir_base::json::{JsonError, JsonValue};

use super::read_body::read_body;
use super::{Envelope, Malformed, MessageType, Received, Recipient};
use crate::id::DelegateId;
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::read::{Counted, Fields, MAX_JSON_DEPTH, MAX_NAME_BYTES, limited, wire_serde};
use crate::sign::SignedMessage;

/// How deep a message nests, itself included. Deeper than any task's input has a reason to be.
pub const MAX_DEPTH: usize = MAX_JSON_DEPTH;

/// With what it says about its signature, for which the text has to be at hand as JSON.
pub(super) fn read_envelope(counted: Counted<'_>) -> Result<Received, Box<Malformed>> {
    let json = counted.read().map_err(|error| Box::new(Malformed::new(error)))?;
    let envelope = Envelope::read(json.top())
        .map_err(|error| Box::new(with_names(Malformed::new(error), json.top())))?;
    let signed = SignedMessage::read(json.top());
    let (text, weight) = (counted.text().to_owned(), counted.weight());
    Ok(Received { envelope, text, signed, weight })
}

impl Envelope {
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        Ok(Self {
            message_id: fields.required_id("message_id")?,
            session_id: fields.id_or_empty("session_id")?,
            from: fields.required_id("from")?,
            to: fields.read("to", Recipient::read)?.unwrap_or(Recipient::Unnamed),
            payload_mode: fields.mode("payload_mode")?.unwrap_or(PayloadMode::Text),
            timestamp: crate::read::stamp(fields.required("timestamp")?)?,
            provenance: fields.read("provenance", Provenance::read)?,
            signature: fields.name("signature")?,
            signature_algorithm: fields.name("signature_algorithm")?,
            nonce: fields.name("nonce")?,
            body: read_body(fields.required("body")?)?,
        })
    }
}

impl Recipient {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let text = limited(value, MAX_NAME_BYTES)?;
        if text.is_empty() {
            return Ok(Self::Unnamed);
        }
        if text.contains("://") {
            return match text.chars().any(char::is_control) {
                true => Err(value.error("an address has no control characters")),
                false => Ok(Self::Address(text.into_owned())),
            };
        }
        DelegateId::new(text).map(Self::Delegate).map_err(|error| value.error(error.to_string()))
    }
}

/// Adds what an answer needs, as far as it can be read.
fn with_names(mut malformed: Malformed, top: JsonValue<'_>) -> Malformed {
    let Ok(fields) = Fields::of(top) else { return malformed };
    malformed.message_id = fields.id("message_id").unwrap_or_default();
    malformed.session_id = fields.id("session_id").unwrap_or_default();
    malformed.from = fields.id("from").unwrap_or_default();
    let body = fields.optional("body").and_then(|body| Fields::of(body).ok());
    if let Some(body) = body {
        malformed.task_id = body.id("task_id").unwrap_or_default();
        let name = body.name("type").unwrap_or_default();
        malformed.message_type = name.and_then(|name| MessageType::from_wire(&name));
    }
    malformed
}

wire_serde!(Envelope);
