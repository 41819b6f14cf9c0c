//! A client of delegates that speak LDP: it finds out who they are, remembers their keys, and keeps
//! one session open with each. Which delegate should do what is decided elsewhere.

mod base;
mod clock;
mod discover;
mod driver;
mod exchange;
mod http;
mod pins;
mod session;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_ldp::{DelegateId, ErrorCategory, LdpError, Refusal, Severity, SigningKey, Trust};
use sabir_store::peers::Peers;
use tokio::task::JoinError;

pub use base::{AddressError, Base, PlainHttp};
pub use discover::{DiscoverError, Discovered};
pub use http::{HttpSettings, HttpSetupError};
pub use pins::{NewPin, PinError};
pub use session::{Delivered, Errand, ErrandNews, Pace, Session};

pub(crate) use clock::{moment, now};
pub(crate) use http::{Http, read_text};

use session::SessionSetup;

/// Who a client is, and what it knows of others.
pub struct ClientSettings {
    pub delegate_id: DelegateId,
    pub key: SigningKey,
    /// What the configuration says about others; its domain is ours.
    pub trust: Trust,
    /// Where keys are pinned.
    pub peers: Peers,
    pub http: HttpSettings,
    pub pace: Pace,
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = &self.delegate_id;
        f.debug_struct("ClientSettings").field("delegate_id", id).finish_non_exhaustive()
    }
}

/// Cheap to clone: all clones share connections and sessions.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    delegate_id: DelegateId,
    key: SigningKey,
    trust: Trust,
    peers: Peers,
    http: Http,
    pace: Pace,
    sessions: Mutex<BTreeMap<SessionName, Session>>,
}

/// The address, whom it leads to, and the domain that it must be in.
type SessionName = (Base, DelegateId, Option<String>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = &self.shared.delegate_id;
        f.debug_struct("Client").field("delegate_id", id).finish_non_exhaustive()
    }
}

/// A delegate that was met: its card, and what was learnt on the way.
#[derive(Debug, Clone)]
pub struct Met {
    pub discovered: Discovered,
    /// Its key, if this was the first time.
    pub pinned: Option<NewPin>,
    trust: Trust,
}

/// Why a delegate cannot be met.
#[derive(Debug, Clone, PartialEq)]
pub enum MeetError {
    Discover(DiscoverError),
    Pin(PinError),
}

impl fmt::Display for MeetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discover(error) => error.fmt(f),
            Self::Pin(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MeetError {}

impl MeetError {
    /// The same in the protocol's words.
    pub fn to_error(&self) -> LdpError {
        match self {
            Self::Discover(_) => LdpError {
                code: "UNREACHABLE".to_owned(),
                category: ErrorCategory::Transport,
                message: self.to_string(),
                severity: Severity::Error,
                retryable: true,
                partial_output: None,
            },
            Self::Pin(_) => Refusal::BadSignature.error(self.to_string()),
        }
    }
}

impl Client {
    pub fn new(settings: ClientSettings) -> Result<Self, HttpSetupError> {
        let ClientSettings { delegate_id, key, trust, peers, http, pace } = settings;
        let (http, sessions) = (Http::new(&http)?, Mutex::default());
        let shared = Shared { delegate_id, key, trust, peers, http, pace, sessions };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub fn delegate_id(&self) -> &DelegateId {
        &self.shared.delegate_id
    }

    /// What the configuration says about others.
    pub fn trust(&self) -> &Trust {
        &self.shared.trust
    }

    pub(crate) fn peers(&self) -> &Peers {
        &self.shared.peers
    }

    pub(crate) fn http(&self) -> &Http {
        &self.shared.http
    }

    /// Fetches and checks a card, and believes nothing of it.
    pub async fn discover(&self, base: &Base) -> Result<Discovered, DiscoverError> {
        discover::discover(&self.shared.http, base, self.shared.pace.answer).await
    }

    /// Fetches a card and compares its key with the one that is known, or pins it.
    pub async fn meet(&self, base: &Base) -> Result<Met, MeetError> {
        let discovered = self.discover(base).await.map_err(MeetError::Discover)?;
        let mut trust = self.shared.trust.clone();
        let (peers, base) = (self.shared.peers.clone(), base.clone());
        let looked_up = tokio::task::spawn_blocking(move || {
            let pinned = pins::acquaint(&discovered.card, &base, &mut trust, &peers);
            pinned.map(|pinned| Met { discovered, pinned, trust })
        });
        let gone = |error: JoinError| PinError::Store(error.to_string());
        looked_up.await.map_err(gone).flatten().map_err(MeetError::Pin)
    }

    /// As whom we speak to a delegate. Who asks the node of the same home is not that node: a task
    /// from itself would be going round.
    pub(crate) fn name_for(&self, delegate: &DelegateId) -> DelegateId {
        let own = &self.shared.delegate_id;
        let apart = (own == delegate).then(|| DelegateId::new(format!("{own}:caller")).ok());
        apart.flatten().unwrap_or_else(|| own.clone())
    }

    /// The session with a delegate that was met: the one that is open, or another.
    pub fn session(&self, met: &Met, required_trust_domain: Option<&str>) -> Session {
        let domain = required_trust_domain.map(str::to_owned);
        let card = &met.discovered.card;
        let name = (met.discovered.base.clone(), card.delegate_id.clone(), domain.clone());
        let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_over());
        let open = || {
            Session::open(SessionSetup {
                http: self.shared.http.clone(),
                base: met.discovered.base.clone(),
                card: Arc::new(card.clone()),
                delegate_id: self.name_for(&card.delegate_id),
                key: self.shared.key.clone(),
                trust: met.trust.clone(),
                required_trust_domain: domain,
                pace: self.shared.pace.clone(),
            })
        };
        sessions.entry(name).or_insert_with(open).clone()
    }

    /// Closes all sessions and waits for a while until the delegates have heard of it.
    pub async fn close(&self) {
        let sessions = {
            let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *sessions)
        };
        futures_util::future::join_all(sessions.into_values().map(Session::close)).await;
    }
}
