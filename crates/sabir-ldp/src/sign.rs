//! Signatures: of envelopes, and of records that outlive a session.
//!
//! Keys, nonces and secrets come in as arguments. Who owns a key, and what may be done once a
//! signature holds, is decided elsewhere.

mod bytes;
mod envelope;
mod key;
mod record;
mod reference;
mod session;
mod tree;

pub use bytes::SigningBytes;
pub(crate) use envelope::write_signed;
pub use envelope::{
    Algorithm, Nonce, SignatureFault, SignedMessage, Signer, Verifier, sign_envelope, sign_fields,
};
pub use key::{PublicKey, PublicKeyError, SigningKey};
pub use record::{
    RecordFault, UnsignedRecord, sign_attestation, sign_provenance, sign_records,
    verify_attestation, verify_provenance,
};
pub use reference::SharedSecret;
pub use session::{Handshake, SessionKey, SessionKeys, ShareError, ShareSecret};
