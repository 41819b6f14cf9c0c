//! Keys that delegates were first met with: a key that was seen once is the only one that counts.

use std::fmt;

use sabir_ldp::{DelegateId, IdentityCard, KeyBytes, PublicKey, Trust, TrustFault};
use sabir_store::StoreError;
use sabir_store::peers::{Peers, PinnedKey, Pinning};

use super::base::{Base, PlainHttp};
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
    /// The address was another delegate's when its key was pinned.
    OtherDelegate {
        delegate: DelegateId,
        known: DelegateId,
        address: String,
    },
    /// The card has an id of this node or of its crew, and another key.
    OurId {
        delegate: DelegateId,
        shown: String,
    },
    Store(String),
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKey { delegate, known, shown } => write!(
                f,
                "{delegate} is known by the key {known}, and its card shows {shown}: if it has a new \
                 key, take the old one away first with `sabir keys forget {delegate}`"
            ),
            Self::OtherDelegate { delegate, known, address } => write!(
                f,
                "{known} is known at {address}, and {delegate} answers there: if it has a new name, \
                 take the old one away first with `sabir keys forget {known}`"
            ),
            Self::OurId { delegate, shown } => write!(
                f,
                "{delegate} is an id of this node, and the card shows the key {shown}, which is none \
                 of its own: it is somebody else"
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
    let pins = peers.pinned_keys().map_err(store)?;
    let mut learn = |of: &dyn Fn(&PinnedKey) -> bool| {
        for pinned in pins.iter().filter(|it| of(it)) {
            let known = trust.peer(&pinned.delegate_id);
            let has_secret = known.is_some_and(|peer| peer.secret.is_some());
            if !has_secret && trust.keys(&pinned.delegate_id).is_empty() {
                trust.pin(&pinned.delegate_id, pinned.key)?;
            }
        }
        Ok::<(), TrustFault>(())
    };
    learn(&|it| it.delegate_id == *delegate).map_err(|fault| PinError::Store(fault.to_string()))?;
    // A result may have been made by somebody else whom we know. Who finds no room here is unknown.
    let _ = learn(&|it| it.delegate_id != *delegate);
    if trust.peer(delegate).is_some_and(|peer| peer.secret.is_some()) {
        // It proves itself by the secret, and cannot bring a key.
        return Ok(None);
    }
    let is_met = pins.iter().any(|pin| pin.delegate_id == *delegate);
    if trust.peer(delegate).is_none() && !is_met {
        // Who has taken over an address could otherwise shed the key by another name.
        let before = pins.iter().find(|pin| is_at(pin, base));
        if let Some(before) = before {
            return Err(PinError::OtherDelegate {
                delegate: delegate.clone(),
                known: before.delegate_id.clone(),
                address: base.to_string(),
            });
        }
    }
    let Some(shown) = card.public_key else { return Ok(None) };
    let shown = PublicKey::from_bytes(&shown.0)
        .map_err(|error| PinError::BadKey { delegate: delegate.clone(), why: error.to_string() })?;
    let known = trust.keys(delegate);
    if let Some(first) = known.first() {
        return match known.contains(&shown) {
            true => Ok(None),
            false if trust.is_own(delegate) => {
                Err(PinError::OurId { delegate: delegate.clone(), shown: shown.to_hex() })
            }
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

/// Why a card is not believed that has an id of this node or of its crew, and not the key that belongs
/// to it.
pub(super) fn usurps(card: &IdentityCard, trust: &Trust) -> Option<PinError> {
    let delegate = &card.delegate_id;
    let shown = card.public_key.as_ref().map(KeyBytes::to_hex);
    let is_known = trust.keys(delegate).iter().any(|key| Some(key.to_hex()) == shown);
    (trust.is_own(delegate) && !is_known).then(|| PinError::OurId {
        delegate: delegate.clone(),
        shown: shown.unwrap_or_else(|| "none".to_owned()),
    })
}

/// Whether the key of a delegate was pinned at this address.
pub(super) fn is_at_home(
    delegate: &DelegateId,
    base: &Base,
    peers: &Peers,
) -> Result<bool, PinError> {
    let pinned = peers.pinned_key(delegate).map_err(store)?;
    Ok(pinned.is_some_and(|pin| is_at(&pin, base)))
}

/// One server is at one place, by whatever name it is called.
fn is_at(pin: &PinnedKey, base: &Base) -> bool {
    let origin = Base::parse(&pin.origin, PlainHttp::Anywhere);
    origin.is_ok_and(|it| it.is_same_place(base) && it.url().path() == base.url().path())
}

fn store(error: StoreError) -> PinError {
    PinError::Store(error.to_string())
}

#[cfg(test)]
mod tests {
    use sabir_ldp::{SignaturePolicy, SigningKey, TrustDomain};

    use super::*;

    /// LD-N24: a card that was kept is held against our own keys.
    #[test]
    fn nobody_who_was_kept_has_an_id_of_ours() {
        let text = include_str!("../../../../sabir-ldp/tests/data/cards/ok/0002_rust.json");
        let mut card = IdentityCard::check(text).card.unwrap();
        let [own, other] = [4, 5].map(|seed| SigningKey::from_seed(&[seed; 32]).public_key());
        let mut trust = Trust::new(TrustDomain::closed("d"), SignaturePolicy::WhereKnown);
        card.public_key = KeyBytes::from_hex(&other.to_hex());
        assert_eq!(usurps(&card, &trust), None);
        trust.tie(&card.delegate_id, own);
        let shown = other.to_hex();
        let delegate = card.delegate_id.clone();
        assert_eq!(usurps(&card, &trust), Some(PinError::OurId { delegate, shown }));
        card.public_key = None;
        assert!(usurps(&card, &trust).is_some());
        card.public_key = KeyBytes::from_hex(&own.to_hex());
        assert_eq!(usurps(&card, &trust), None);
    }

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
