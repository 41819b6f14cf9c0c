//! The node as an agent that others ask over A2A, version 1.0: its card, and its two forms over HTTP.
//! A message becomes a task of the node, which is kept and done elsewhere; it passes the gate first.

mod agent;
mod card;
mod carried;
mod fault;
mod message;
mod push;
mod rest;
mod rpc;
mod shape;
mod sse;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{any, get, post};
use sabir_capture::{Guard, Poster};
use sabir_host::VisitGate;
use sabir_ldp::IdentityCard;

use crate::errands::Errands;
use crate::heft::Hold;
use push::Couriers;

/// What the agent is made of.
pub struct A2aSetup {
    pub name: String,
    pub description: String,
    /// Where it is reached, when a request does not say: `http://127.0.0.1:7420`.
    pub base: String,
    /// What it offers by now.
    pub offers: Arc<dyn Fn() -> Vec<A2aOffer> + Send + Sync>,
    /// Whether callers have to show a token, which the card says then.
    pub needs_token: bool,
    pub errands: Arc<dyn Errands>,
    pub gate: VisitGate,
    /// The folder of the webhooks, which hold secrets of others.
    pub push_folder: PathBuf,
    /// Where webhooks may be.
    pub guard: Guard,
    pub limits: A2aLimits,
}

/// Something that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2aOffer {
    /// What a message names in `metadata.skill`.
    pub skill: String,
    pub description: String,
    pub tags: Vec<String>,
}

impl A2aOffer {
    /// What a delegate offers by its card.
    pub fn of_card(card: &IdentityCard) -> Vec<Self> {
        let offers = card.capabilities.iter().map(|capability| Self {
            skill: capability.name.as_str().to_owned(),
            description: capability.description.clone().unwrap_or_default(),
            tags: vec![card.name.clone()],
        });
        offers.collect()
    }
}

/// How much is done for others.
#[derive(Debug, Clone, Copy)]
pub struct A2aLimits {
    /// Bytes of a request.
    pub body_bytes: usize,
    /// Bytes that requests take together in memory, once they are read, and how long one waits for
    /// room.
    pub held_bytes: usize,
    pub held_wait: Duration,
    /// How long a call waits for a task that its sender wants to see done.
    pub hold: Duration,
    /// How long a call waits for a task to end that is cancelled.
    pub cancel: Duration,
    pub push: PushLimits,
}

/// How webhooks are told.
#[derive(Debug, Clone, Copy)]
pub struct PushLimits {
    /// Webhooks of one task, and of all of them.
    pub per_task: usize,
    pub at_once: usize,
    /// For one message.
    pub whole: Duration,
    /// How often one message is tried, and the pause after the first failure; each later one is twice
    /// as long.
    pub attempts: u32,
    pub pause: Duration,
    /// After so many messages in a row that could not be delivered, a webhook is given up.
    pub failures: u32,
}

impl Default for A2aLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            held_bytes: 512 * 1024 * 1024,
            // As long as reading a few of the largest ones takes.
            held_wait: Duration::from_secs(5),
            hold: Duration::from_secs(600),
            cancel: Duration::from_secs(5),
            push: PushLimits {
                per_task: 8,
                at_once: 512,
                // As the specification recommends.
                whole: Duration::from_secs(15),
                attempts: 5,
                pause: Duration::from_secs(1),
                failures: 3,
            },
        }
    }
}

/// Cheap to clone; clones share everything. When the last is dropped, webhooks are told no more; the
/// next start goes on with them.
#[derive(Clone)]
pub struct A2aAgent(Arc<Parts>);

struct Parts {
    name: String,
    description: String,
    base: String,
    offers: Arc<dyn Fn() -> Vec<A2aOffer> + Send + Sync>,
    needs_token: bool,
    errands: Arc<dyn Errands>,
    gate: VisitGate,
    couriers: Couriers,
    /// For messages that are being answered.
    hold: Hold,
    limits: A2aLimits,
}

impl A2aAgent {
    /// Reads the webhooks that are kept, and goes on telling them.
    ///
    /// # Errors
    ///
    /// When the folder of the webhooks cannot be made or read.
    pub async fn open(setup: A2aSetup) -> io::Result<Self> {
        let limits = setup.limits;
        let poster = Poster::new(setup.guard, limits.push.whole);
        let errands = Arc::clone(&setup.errands);
        let couriers = Couriers::open(setup.push_folder, poster, errands, limits.push).await?;
        Ok(Self(Arc::new(Parts {
            name: setup.name,
            description: setup.description,
            base: setup.base,
            offers: setup.offers,
            needs_token: setup.needs_token,
            errands: setup.errands,
            gate: setup.gate,
            couriers,
            hold: Hold::new(limits.held_bytes, limits.held_wait),
            limits,
        })))
    }
}

impl fmt::Debug for A2aSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("A2aSetup").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for A2aAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("A2aAgent").field("name", &self.0.name).finish_non_exhaustive()
    }
}

/// The card at `/.well-known/agent-card.json`, and both forms of the protocol at `/a2a`. Whoever
/// serves the router says who a caller is ([`crate::Visitor`]) and has looked at the host and the
/// origin that a request names.
pub fn a2a_router(agent: A2aAgent) -> Router {
    let card = agent.clone();
    let rpc = agent.clone();
    let answer = move |request: Request| {
        let agent = agent.clone();
        async move { rest::answer(&agent, request).await }
    };
    let call = move |request: Request| {
        let agent = rpc.clone();
        async move { rpc::answer(&agent, request).await }
    };
    let show = move |request: Request| {
        let response: Response = card::answer(&card, &request);
        async move { response }
    };
    Router::new()
        .route(CARD, get(show))
        .route(ROOT, post(call.clone()))
        .route("/a2a/", post(call))
        .route("/a2a/{*operation}", any(answer))
}

/// Where others look for the card.
const CARD: &str = "/.well-known/agent-card.json";
/// Where the agent is called.
const ROOT: &str = "/a2a";
