//! Who a message is from, how we know, and who may open a session.
//!
//! A trust domain is a set of keys, tokens, certificates and secrets that our configuration binds to
//! a name. What a peer says about its own domain counts for nothing where such a binding exists.
//! Where none exists, only a peer on this machine, or one that we called ourselves, is listened to,
//! and what it asserts is marked as asserted.
//!
//! Nothing here knows sockets, files or where a secret is kept.

mod credential;
mod fault;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use credential::{Channel, Credential, Fingerprint, Mark, Origin};
pub use fault::TrustFault;

use crate::card::TrustDomain;
use crate::envelope::{Body, Proposal, Received};
use crate::id::DelegateId;
use crate::sign::{
    Algorithm, PublicKey, SessionKey, SharedSecret, SignatureFault, SignedMessage, Verifier,
};

/// What our configuration says about others, and the keys that were pinned on first use.
#[derive(Clone, Debug)]
pub struct Trust {
    domain: TrustDomain,
    policy: SignaturePolicy,
    peers: BTreeMap<DelegateId, Peer>,
    /// Each with its mark, which is then not made for every message.
    holders: Vec<(Holder, Mark)>,
    pins: BTreeMap<DelegateId, PublicKey>,
    /// Ids that are our own.
    ties: BTreeMap<DelegateId, PublicKey>,
}

/// Who has to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturePolicy {
    /// Peers that have a key or a secret. Others show a token or a certificate, or are on this machine.
    WhereKnown,
    Everyone,
}

/// A delegate that our configuration knows by its id.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The domain that all of its credentials are bound to.
    pub domain: String,
    pub keys: Vec<PublicKey>,
    pub secret: Option<SharedSecret>,
    /// Its tokens and certificates.
    pub credentials: Vec<Credential>,
}

/// A token or certificate that places whoever holds it in a domain, under any id that is not a
/// configured peer's.
#[derive(Clone, Debug)]
pub struct Holder {
    pub domain: String,
    pub credential: Credential,
}

/// Who a message is from, as far as that was proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub delegate_id: DelegateId,
    pub means: Means,
    pub origin: Origin,
    /// The domain that what was proven is bound to. Without one, a peer on this machine, or one that
    /// we called, may assert its own.
    pub bound_domain: Option<String>,
    pub backing: Backing,
}

/// Why the id of a sender is its own, apart from a key that anybody could have come with first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backing {
    /// Our configuration binds what was shown, or what signed the message, to this id.
    Named,
    /// What was shown lets its holder take any id that our configuration does not name.
    Held(Mark),
    /// Nothing was shown.
    Nothing,
}

/// How a sender was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Means {
    /// Ed25519 with a key that we know.
    PinnedKey,
    /// Ed25519 with a key that a HELLO brought and that is new to us. Whoever goes on must
    /// [`pin`](Trust::pin) it.
    FirstUse(PublicKey),
    /// The key of the session.
    SessionKey,
    /// The reference's signature.
    ReferenceHmac,
    /// A token or a certificate, on a message that is not signed.
    Credential,
    /// Nothing but that it came from this machine.
    UnsignedLoopback,
    /// Nothing but that it is the answer of an address that we called.
    UnsignedAnswer,
}

/// The domain in which a session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    pub domain: String,
    pub basis: Basis,
}

/// Why we take a peer to be in a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Our configuration says so.
    Bound,
    /// The peer says so and nothing proves it.
    Asserted,
}

impl Means {
    /// What a reader of the journal has to know about it.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Means::ReferenceHmac => Some("weak: body not covered"),
            Means::UnsignedLoopback | Means::UnsignedAnswer => Some("not signed"),
            Means::FirstUse(_) => Some("key pinned on first use"),
            Means::PinnedKey | Means::SessionKey | Means::Credential => None,
        }
    }
}

impl Trust {
    pub fn new(domain: TrustDomain, policy: SignaturePolicy) -> Self {
        let (peers, holders) = (BTreeMap::new(), Vec::new());
        Self { domain, policy, peers, holders, pins: BTreeMap::new(), ties: BTreeMap::new() }
    }

    pub fn domain(&self) -> &TrustDomain {
        &self.domain
    }

    /// A peer without anything to prove itself by is not bound to its domain: it stays a stranger.
    pub fn add_peer(&mut self, delegate_id: DelegateId, peer: Peer) {
        if peer.secret.is_some() || !peer.keys.is_empty() || !peer.credentials.is_empty() {
            self.peers.insert(delegate_id, peer);
        }
    }

    pub fn add_holder(&mut self, holder: Holder) {
        let mark = Mark::of(holder.credential, &holder.domain);
        self.holders.push((holder, mark));
    }

    pub fn peer(&self, delegate_id: &DelegateId) -> Option<&Peer> {
        self.peers.get(delegate_id)
    }

    /// An id that is our own: it has this key for good, and nobody else comes under it with a token, a
    /// secret or another key, whatever else is said about it.
    pub fn tie(&mut self, delegate_id: &DelegateId, key: PublicKey) {
        self.peers.remove(delegate_id);
        self.ties.insert(delegate_id.clone(), key);
    }

    /// Whether an id is our own, or one that our configuration knows.
    pub fn names(&self, delegate_id: &DelegateId) -> bool {
        self.is_own(delegate_id) || self.peers.contains_key(delegate_id)
    }

    /// Whether an id is our own: this node's, or one of its crew.
    pub fn is_own(&self, delegate_id: &DelegateId) -> bool {
        self.ties.contains_key(delegate_id)
    }

    /// The key that an id first came with, if it has one.
    pub fn pinned(&self, delegate_id: &DelegateId) -> Option<PublicKey> {
        self.pins.get(delegate_id).copied()
    }

    /// Takes away the key that an id first came with, so that it may come with another.
    pub fn unpin(&mut self, delegate_id: &DelegateId) {
        self.pins.remove(delegate_id);
    }

    /// Ties an id to the key that it first came with. A key that is known already stays.
    pub fn pin(&mut self, delegate_id: &DelegateId, key: PublicKey) -> Result<(), TrustFault> {
        if self.pins.contains_key(delegate_id) || self.is_own(delegate_id) {
            return Ok(());
        }
        if self.pins.len() >= MAX_PINS {
            return Err(TrustFault::TooManyPins);
        }
        self.pins.insert(delegate_id.clone(), key);
        Ok(())
    }

    /// The keys that a delegate may sign with: those of our configuration, or else the pinned one. Who is
    /// one of us has its own.
    pub fn keys(&self, delegate_id: &DelegateId) -> &[PublicKey] {
        if let Some(own) = self.ties.get(delegate_id) {
            return std::slice::from_ref(own);
        }
        match (self.peers.get(delegate_id), self.pins.get(delegate_id)) {
            (Some(peer), _) if !peer.keys.is_empty() => &peer.keys,
            (_, Some(pinned)) => std::slice::from_ref(pinned),
            (_, None) => &[],
        }
    }

    /// Who sent a message. `session_key` is the sender's in the session that the message names, if
    /// that session is the sender's and has keys.
    ///
    /// What cannot be checked is refused and never passed over.
    pub fn recognise(
        &self,
        received: &Received,
        channel: Channel,
        session_key: Option<&SessionKey>,
    ) -> Result<Standing, TrustFault> {
        let delegate_id = &received.envelope.from;
        let shown = match channel.credential {
            Some(credential) => self.check_shown(delegate_id, credential)?,
            None => Shown::Nothing,
        };
        let origin = channel.origin;
        let means = match received.signed().map_err(TrustFault::Signature)? {
            Some(signed) => self.check_signed(received, signed, (shown, origin), session_key)?,
            None => self.check_unsigned(delegate_id, (shown, origin))?,
        };
        let bound_domain = match (self.peers.get(delegate_id), shown) {
            (Some(peer), _) => Some(peer.domain.clone()),
            (None, Shown::Proof { domain, .. }) => Some(domain.to_owned()),
            (None, Shown::Nothing) => None,
        };
        let backing = match shown {
            _ if self.is_named_by(means, delegate_id) => Backing::Named,
            Shown::Proof { backing, .. } => backing,
            Shown::Nothing => Backing::Nothing,
        };
        Ok(Standing { delegate_id: delegate_id.clone(), means, origin, bound_domain, backing })
    }

    /// Whether a peer may open a session, and in which domain.
    pub fn may_open(
        &self,
        proposal: &Proposal,
        standing: &Standing,
    ) -> Result<Admission, TrustFault> {
        let ours = &self.domain.name;
        if let Some(required) = proposal.required_trust_domain.as_ref().filter(|it| *it != ours) {
            let (required, ours) = (required.clone(), ours.clone());
            return Err(TrustFault::OtherDomainRequired { required, ours });
        }
        let (domain, basis) = match (&standing.bound_domain, &proposal.trust_domain) {
            (Some(bound), Some(asserted)) if bound != asserted => {
                let (asserted, bound) = (asserted.clone(), bound.clone());
                return Err(TrustFault::OtherDomainAsserted { asserted, bound });
            }
            (Some(bound), _) => (bound, Basis::Bound),
            (None, _) if standing.origin == Origin::Remote => return Err(TrustFault::NoDomain),
            (None, Some(asserted)) => (asserted, Basis::Asserted),
            // It is near enough to be listened to, and claims no domain: it has ours.
            (None, None) => (ours, Basis::Asserted),
        };
        if !self.domain.trusts(domain) {
            return Err(TrustFault::DomainNotTrusted { domain: domain.clone() });
        }
        Ok(Admission { domain: domain.clone(), basis })
    }

    /// What a token or certificate proves about a delegate.
    fn check_shown(
        &self,
        delegate_id: &DelegateId,
        credential: Credential,
    ) -> Result<Shown<'_>, TrustFault> {
        let holder = self.holders.iter().find(|(holder, _)| holder.credential == credential);
        match (self.peers.get(delegate_id), holder) {
            (Some(peer), _) if peer.credentials.contains(&credential) => {
                Ok(Shown::Proof { domain: &peer.domain, backing: Backing::Named })
            }
            // What anyone may hold lets nobody speak as a peer that we know by other means.
            (Some(_), Some(_)) => Ok(Shown::Nothing),
            (None, Some((holder, mark))) => {
                Ok(Shown::Proof { domain: &holder.domain, backing: Backing::Held(*mark) })
            }
            (_, None) => Err(TrustFault::UnknownCredential),
        }
    }

    /// Whether a message was signed with what our configuration has for this id. The key of a session
    /// is worth as much as the key that opened it, which may have been pinned before.
    fn is_named_by(&self, means: Means, delegate_id: &DelegateId) -> bool {
        match means {
            Means::PinnedKey => {
                self.peers.get(delegate_id).is_some_and(|peer| !peer.keys.is_empty())
            }
            Means::ReferenceHmac => true,
            Means::FirstUse(_)
            | Means::SessionKey
            | Means::Credential
            | Means::UnsignedLoopback
            | Means::UnsignedAnswer => false,
        }
    }

    fn check_unsigned(
        &self,
        delegate_id: &DelegateId,
        way: (Shown<'_>, Origin),
    ) -> Result<Means, TrustFault> {
        let peer = self.peers.get(delegate_id);
        let has_secret = peer.is_some_and(|peer| peer.secret.is_some());
        if self.policy == SignaturePolicy::Everyone {
            return Err(TrustFault::EveryoneSigns);
        }
        if has_secret || !self.keys(delegate_id).is_empty() {
            return Err(TrustFault::PeerSigns);
        }
        match (way, peer) {
            ((Shown::Proof { .. }, _), _) => Ok(Means::Credential),
            ((Shown::Nothing, Origin::Answer), _) => Ok(Means::UnsignedAnswer),
            ((Shown::Nothing, Origin::Loopback), None) => Ok(Means::UnsignedLoopback),
            // Known by a token or a certificate, and it shows none.
            ((Shown::Nothing, Origin::Loopback), Some(_)) => Err(TrustFault::NothingShown),
            ((Shown::Nothing, Origin::Remote), _) => Err(TrustFault::NothingShown),
        }
    }

    fn check_signed(
        &self,
        received: &Received,
        signed: &SignedMessage,
        way: (Shown<'_>, Origin),
        session_key: Option<&SessionKey>,
    ) -> Result<Means, TrustFault> {
        let delegate_id = &received.envelope.from;
        let peer = self.peers.get(delegate_id);
        let no_key = || TrustFault::Signature(SignatureFault::NoKey(signed.algorithm()));
        match signed.algorithm() {
            Algorithm::SessionHmac => {
                let key = session_key.ok_or_else(no_key)?;
                signed.verify(Verifier::Session(key)).map_err(TrustFault::Signature)?;
                Ok(Means::SessionKey)
            }
            Algorithm::ReferenceHmac => {
                let secret = peer.and_then(|peer| peer.secret.as_ref()).ok_or_else(no_key)?;
                signed.verify(Verifier::Reference(secret)).map_err(TrustFault::Signature)?;
                Ok(Means::ReferenceHmac)
            }
            Algorithm::Ed25519 => {
                let known = self.keys(delegate_id);
                if known.is_empty() {
                    return self.check_first_use(received, signed, way);
                }
                let mut fault = no_key();
                for key in known {
                    match signed.verify(Verifier::Identity(key)) {
                        Ok(()) => return Ok(Means::PinnedKey),
                        Err(wrong) => fault = TrustFault::Signature(wrong),
                    }
                }
                Err(fault)
            }
        }
    }

    /// A HELLO may bring a key for an id that has none, where the way that it came is trusted.
    fn check_first_use(
        &self,
        received: &Received,
        signed: &SignedMessage,
        way: (Shown<'_>, Origin),
    ) -> Result<Means, TrustFault> {
        let no_key = || TrustFault::Signature(SignatureFault::NoKey(signed.algorithm()));
        let peer = self.peers.get(&received.envelope.from);
        let is_way_trusted = match (way, peer) {
            (_, Some(Peer { secret: Some(_), .. })) => false,
            ((Shown::Proof { .. }, _), _) => true,
            ((Shown::Nothing, origin), peer) => origin == Origin::Loopback && peer.is_none(),
        };
        let Body::Hello(hello) = &received.envelope.body else { return Err(no_key()) };
        let offered = hello.public_key.filter(|_| is_way_trusted).ok_or_else(no_key)?;
        let key = PublicKey::from_bytes(&offered.0).map_err(TrustFault::BadKey)?;
        signed.verify(Verifier::Identity(&key)).map_err(TrustFault::Signature)?;
        Ok(Means::FirstUse(key))
    }
}

/// What a token or certificate says about the sender.
#[derive(Clone, Copy)]
enum Shown<'a> {
    Nothing,
    Proof { domain: &'a str, backing: Backing },
}

/// So many ids can come from this machine before somebody has to tell which of them are real. It is
/// more than is kept on disk: strangers who fill that up leave room for our own.
const MAX_PINS: usize = 10_016;
