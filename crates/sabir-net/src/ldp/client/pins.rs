//! Keys that delegates were first met with: a key that was seen once is the only one that counts.

use std::fmt;

use sabir_ldp::{DelegateId, IdentityCard, PublicKey, Trust};
use sabir_store::StoreError;
use sabir_store::peers::{Peers, Pinning};

use super::base::Base;
use super::clock::now;

/// A key that was just pinned, for people to see.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NewPin {
    pub delegate: DelegateId,
    pub key: PublicKey,
}

/// Why a delegate is not believed to be who its card says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinError {
    /// The card shows another key than the one that is known.
    OtherKey {
        delegate: DelegateId,
        known: String,
        shown: String,
    },
    BadKey {
        delegate: DelegateId,
        why: String,
    },
    /// The key came by a way on which anybody could have put in another.
    OpenWay {
        delegate: DelegateId,
    },
    Store(String),
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKey { delegate, known, shown } => write!(
                f,
                "{delegate} is known by the key {known}, and its card shows {shown}: if it has a new \
                 key, the old one has to be taken away first, see `sabir keys`"
            ),
            Self::BadKey { delegate, why } => write!(f, "the key of {delegate} is none: {why}"),
            Self::OpenWay { delegate } => write!(
                f,
                "the key of {delegate} came over plain HTTP from another machine: use https, or put \
                 its key into the configuration"
            ),
            Self::Store(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for PinError {}

/// Compares the key on a card with what is known of the delegate, and pins it on first use. `trust`
/// knows the pinned key then.
pub(super) fn acquaint(
    card: &IdentityCard,
    base: &Base,
    trust: &mut Trust,
    peers: &Peers,
) -> Result<Option<NewPin>, PinError> {
    let delegate = &card.delegate_id;
    if trust.peer(delegate).is_some_and(|peer| peer.secret.is_some()) {
        // It proves itself by the secret, and cannot bring a key.
        return Ok(None);
    }
    if trust.keys(delegate).is_empty()
        && let Some(pinned) = peers.pinned_key(delegate).map_err(store)?
    {
        trust.pin(delegate, pinned.key).map_err(|fault| PinError::Store(fault.to_string()))?;
    }
    let Some(shown) = card.public_key else { return Ok(None) };
    let shown = PublicKey::from_bytes(&shown.0)
        .map_err(|error| PinError::BadKey { delegate: delegate.clone(), why: error.to_string() })?;
    let known = trust.keys(delegate);
    if let Some(first) = known.first() {
        return match known.contains(&shown) {
            true => Ok(None),
            false => Err(PinError::OtherKey {
                delegate: delegate.clone(),
                known: first.to_hex(),
                shown: shown.to_hex(),
            }),
        };
    }
    if !base.is_private() {
        return Err(PinError::OpenWay { delegate: delegate.clone() });
    }
    match peers.pin(delegate, &shown, base.as_str(), now().millis()).map_err(store)? {
        Pinning::Pinned | Pinning::Same => {}
        // Another process was quicker, with another key.
        Pinning::Other(other) => {
            let (known, shown) = (other.key.to_hex(), shown.to_hex());
            return Err(PinError::OtherKey { delegate: delegate.clone(), known, shown });
        }
    }
    trust.pin(delegate, shown).map_err(|fault| PinError::Store(fault.to_string()))?;
    Ok(Some(NewPin { delegate: delegate.clone(), key: shown }))
}

fn store(error: StoreError) -> PinError {
    PinError::Store(error.to_string())
}

#[cfg(test)]
mod tests {
    use sabir_ldp::{KeyBytes, SignaturePolicy, SigningKey, TrustDomain};

    use super::super::base::PlainHttp;
    use super::*;

    /// LD-C5
    #[test]
    fn no_key_is_taken_by_an_open_way() {
        let home = tempfile::tempdir().unwrap();
        let peers = Peers::open(home.path()).unwrap();
        let text = include_str!("../../../../sabir-ldp/tests/data/cards/ok/0002_rust.json");
        let mut card = IdentityCard::check(text).card.unwrap();
        let key = SigningKey::from_seed(&[4; 32]).public_key();
        card.public_key = KeyBytes::from_hex(&key.to_hex());
        let meet = |address: &str| {
            let base = Base::parse(address, PlainHttp::Anywhere).unwrap();
            let mut trust = Trust::new(TrustDomain::closed("d"), SignaturePolicy::WhereKnown);
            acquaint(&card, &base, &mut trust, &peers)
        };
        let open = meet("http://harbor.example").unwrap_err();
        assert_eq!(open, PinError::OpenWay { delegate: card.delegate_id.clone() });
        assert_eq!(peers.pinned_key(&card.delegate_id).unwrap(), None);
        assert!(meet("https://harbor.example").unwrap().is_some());
        // Once it is known, its signature proves it over any way.
        assert_eq!(meet("http://harbor.example").unwrap(), None);
    }
}
