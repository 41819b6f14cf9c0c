//! Finding out who answers at an address: its card, fetched and checked. Whether the card is true is
//! for those who pin keys and measure.

use std::fmt;
use std::time::Duration;

use sabir_ldp::{CardFinding, IdentityCard, MAX_CARD_BYTES};

use super::base::Base;
use super::http::{FETCH, Http, Trouble};

/// A card that was fetched and is good.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovered {
    pub base: Base,
    pub card: IdentityCard,
    /// What is odd about the card without spoiling it.
    pub notes: Vec<CardFinding>,
}

/// Why there is no card.
#[derive(Debug, Clone, PartialEq)]
pub enum DiscoverError {
    /// The address did not answer, or not with a card.
    Unreached { address: String, why: String },
    /// What answered is no card. The findings say where.
    BadCard { address: String, findings: Vec<CardFinding> },
}

impl fmt::Display for DiscoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached { address, why } => write!(f, "no card from {address}: {why}"),
            Self::BadCard { address, findings } => {
                write!(f, "the card of {address} is not good")?;
                findings.iter().take(3).try_for_each(|finding| write!(f, "; {finding}"))
            }
        }
    }
}

impl std::error::Error for DiscoverError {}

/// Fetches the card at the well-known path, or where the references have it.
pub(super) async fn discover(
    http: &Http,
    base: &Base,
    patience: Duration,
) -> Result<Discovered, DiscoverError> {
    let fetched = async {
        match http.fetch_now(base, WELL_KNOWN, MAX_CARD_BYTES).await {
            Err(Trouble::Lasting { status: Some(404 | 405), .. }) => {
                http.fetch_now(base, IDENTITY, MAX_CARD_BYTES).await
            }
            fetched => fetched,
        }
    };
    let fetched = tokio::time::timeout(patience.min(FETCH), fetched)
        .await
        .unwrap_or_else(|_| Err(Trouble::passing("no answer in time")));
    let address = || base.to_string();
    let text = fetched.map_err(|trouble| DiscoverError::Unreached {
        address: address(),
        why: trouble.why().to_owned(),
    })?;
    let reading = IdentityCard::check(&text);
    match reading.card {
        Some(card) => Ok(Discovered { base: base.clone(), card, notes: reading.findings }),
        None => Err(DiscoverError::BadCard { address: address(), findings: reading.findings }),
    }
}

const WELL_KNOWN: &str = "/.well-known/ldp-identity";
/// Where clients of the references look.
const IDENTITY: &str = "/ldp/identity";
