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

use sabir_ldp::{
    DelegateId, ErrorCategory, IdentityCard, LdpError, Refusal, Severity, SigningKey, Trust,
};
use sabir_store::peers::Peers;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

pub use base::{AddressError, Base, PlainHttp};
pub use discover::{DiscoverError, Discovered};
pub use http::{ClientSetupError, HttpSettings};
pub use pins::{NewPin, PinError};
pub use session::{Delivered, Errand, ErrandNews, Pace, Session};

pub(crate) use clock::{moment, now};
pub(crate) use http::{Http, read_text};
pub(crate) use session::Heard;

use http::FETCH;
use session::SessionSetup;

/// Who a client is, and what it knows of others.
pub struct ClientSettings {
    pub delegate_id: DelegateId,
    pub key: SigningKey,
    /// What the configuration says about others; its domain is ours. Whom it ties to a key and does
    /// not name is one of us.
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
    leaving: CancellationToken,
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
    is_at_home: bool,
    trust: Trust,
}

impl Met {
    /// Whether it has a key or a secret, so that it can be told from others.
    pub(crate) fn must_sign(&self) -> bool {
        let delegate = &self.discovered.card.delegate_id;
        let has_secret = self.trust.peer(delegate).is_some_and(|peer| peer.secret.is_some());
        has_secret || !self.trust.keys(delegate).is_empty()
    }

    /// Whether its key was pinned at this address.
    pub(crate) fn is_at_home(&self) -> bool {
        self.is_at_home
    }
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
            Self::Pin(
                PinError::OtherKey { .. } | PinError::OtherDelegate { .. } | PinError::OurId { .. },
            ) => somebody_else(self.to_string()),
            // That it is somebody else is not known.
            Self::Pin(PinError::BadKey { .. } | PinError::OpenWay { .. } | PinError::Store(_)) => {
                Refusal::BadSignature.error(self.to_string())
            }
        }
    }
}

/// The category is for ourselves, who keep nobody's impostor: to others it is told as `policy`
/// (LD-W38).
fn somebody_else(why: String) -> LdpError {
    LdpError { category: ErrorCategory::Security, ..Refusal::BadSignature.error(why) }
}

impl Client {
    pub fn new(settings: ClientSettings) -> Result<Self, ClientSetupError> {
        let ClientSettings { delegate_id, key, mut trust, peers, http, pace } = settings;
        // Whoever answers under our own id has our own key.
        trust.tie(&delegate_id, key.public_key());
        let (http, sessions) = (Http::new(&http)?, Mutex::default());
        let leaving = CancellationToken::new();
        let shared = Shared { delegate_id, key, trust, peers, http, pace, sessions, leaving };
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
            let pinned = pins::acquaint(&discovered.card, &base, &mut trust, &peers)?;
            let is_at_home = pins::is_at_home(&discovered.card.delegate_id, &base, &peers)?;
            Ok(Met { discovered, pinned, is_at_home, trust })
        });
        let gone = |error: JoinError| PinError::Store(error.to_string());
        looked_up.await.map_err(gone).flatten().map_err(MeetError::Pin)
    }

    /// Why a card that was kept is not believed: it has an id of ours, and another key.
    pub(crate) fn usurps(&self, card: &IdentityCard) -> Option<LdpError> {
        let why = pins::usurps(card, &self.shared.trust)?;
        Some(MeetError::Pin(why).to_error())
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
        let open = || Session::open(self.setup(met, domain));
        sessions.entry(name).or_insert_with(open).clone()
    }

    fn setup(&self, met: &Met, required_trust_domain: Option<String>) -> SessionSetup {
        let card = &met.discovered.card;
        SessionSetup {
            http: self.shared.http.clone(),
            base: met.discovered.base.clone(),
            card: Arc::new(card.clone()),
            delegate_id: self.name_for(&card.delegate_id),
            key: self.shared.key.clone(),
            trust: met.trust.clone(),
            required_trust_domain,
            pace: self.shared.pace.clone(),
            leaving: self.shared.leaving.clone(),
        }
    }

    /// Has a delegate that was met before show that it is the same: anybody can put its id and its
    /// key on a card.
    pub(crate) async fn prove(&self, met: &Met) -> Result<(), LdpError> {
        if met.pinned.is_some() || !met.must_sign() {
            return Ok(());
        }
        let mut session = Session::open(self.setup(met, None));
        let heard = tokio::time::timeout(FETCH, session.first_heard()).await;
        session.close().await;
        let (delegate, base) = (&met.discovered.card.delegate_id, &met.discovered.base);
        match heard {
            Ok(Ok(Heard::Itself)) => Ok(()),
            Ok(Ok(Heard::SomebodyElse | Heard::Nothing)) => Err(somebody_else(format!(
                "{delegate} is known by its key, and who answers at {base} cannot sign with it: \
                     its card is not taken"
            ))),
            Ok(Err(error)) => Err(error),
            Err(_) => {
                let why = "no answer in time".to_owned();
                let unreached = DiscoverError::Unreached { address: base.to_string(), why };
                Err(MeetError::Discover(unreached).to_error())
            }
        }
    }

    /// Lets go of all sessions without a word, so that the delegates go on with what they have.
    pub fn leave(&self) {
        self.shared.leaving.cancel();
    }

    pub(crate) fn leaving(&self) -> &CancellationToken {
        &self.shared.leaving
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
