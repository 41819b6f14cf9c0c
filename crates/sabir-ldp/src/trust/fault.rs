//! Why a peer is not believed, in words for whoever has to find out.

use std::fmt;

use crate::error::Refusal;
use crate::sign::{PublicKeyError, SignatureFault};

/// Why a message, or a session, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustFault {
    /// Nothing unsigned is taken here.
    EveryoneSigns,
    /// This peer has a key or a secret, and the message is not signed.
    PeerSigns,
    /// From elsewhere, or from an id that has a token or a certificate, with nothing to prove it.
    NothingShown,
    /// The token or certificate is not known, or not this delegate's.
    UnknownCredential,
    Signature(SignatureFault),
    /// The key that a HELLO brings is none.
    BadKey(PublicKeyError),
    OtherDomainRequired {
        required: String,
        ours: String,
    },
    OtherDomainAsserted {
        asserted: String,
        bound: String,
    },
    DomainNotTrusted {
        domain: String,
    },
    /// From elsewhere, and nothing that was proven is bound to a domain.
    NoDomain,
    TooManyPins,
}

impl TrustFault {
    /// The code that the peer is told.
    pub fn refusal(&self) -> Refusal {
        match self {
            TrustFault::EveryoneSigns | TrustFault::PeerSigns | TrustFault::NothingShown => {
                Refusal::SignatureRequired
            }
            TrustFault::UnknownCredential | TrustFault::Signature(_) | TrustFault::BadKey(_) => {
                Refusal::BadSignature
            }
            TrustFault::OtherDomainRequired { .. }
            | TrustFault::OtherDomainAsserted { .. }
            | TrustFault::DomainNotTrusted { .. }
            | TrustFault::NoDomain => Refusal::TrustDomainMismatch,
            TrustFault::TooManyPins => Refusal::LimitReached,
        }
    }
}

impl fmt::Display for TrustFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustFault::EveryoneSigns => f.write_str("every message has to be signed here"),
            TrustFault::PeerSigns => {
                f.write_str("this delegate has a key or a secret and has to sign with it")
            }
            TrustFault::NothingShown => f.write_str(
                "the message is not signed, and no token or certificate proves its sender",
            ),
            TrustFault::UnknownCredential => {
                f.write_str("the token or certificate is not one of this delegate's")
            }
            TrustFault::Signature(fault) => fault.fmt(f),
            TrustFault::BadKey(error) => error.fmt(f),
            TrustFault::OtherDomainRequired { required, ours } => {
                write!(f, "the trust domain {required:?} is required, and this is {ours:?}")
            }
            // What a peer is bound to is told only to who has proven to be that peer.
            TrustFault::OtherDomainAsserted { asserted, bound } => {
                write!(f, "the delegate asserts the trust domain {asserted:?} and is in {bound:?}")
            }
            TrustFault::DomainNotTrusted { domain } => {
                write!(f, "the trust domain {domain:?} is not trusted here")
            }
            TrustFault::NoDomain => f.write_str(
                "nothing binds this delegate to a trust domain, and from elsewhere it can assert none",
            ),
            TrustFault::TooManyPins => f.write_str("too many keys have been pinned on first use"),
        }
    }
}

impl std::error::Error for TrustFault {}
