//! Taking an order: what can be seen to be wrong is refused, what came twice is taken once, and
//! nothing is acknowledged before it is on disk.

use std::collections::HashMap;
use std::sync::Arc;

use sabir_ldp::{Fingerprint, canonical_value};
use sabir_policy::SandboxMode;
use sabir_telemetry::{TraceContext, current, within};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::order::{Order, OwnEvent};
use super::request::{OrderId, OrderRequest, OrderVerify};
use super::run::Way;
use super::watched::Watched;
use super::{KEYS_MS, Live, OrderError, Orders, Shared};
use crate::delegation::Address;
use crate::errands::Placer;
use crate::ldp::client::{PlainHttp, now};

/// Keys under which orders came, and what they were.
#[derive(Default)]
pub(super) struct Keys(HashMap<String, Kept>);

struct Kept {
    order: OrderId,
    /// Of what was asked for, which may be large.
    digest: Fingerprint,
    at_ms: u64,
}

impl Keys {
    pub(super) fn keep(&mut self, key: String, order: OrderId, digest: Fingerprint, at_ms: u64) {
        self.0.insert(key, Kept { order, digest, at_ms });
    }

    fn find(&self, key: &str, digest: Fingerprint) -> Result<Option<OrderId>, OrderError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(kept) if kept.digest == digest => Ok(Some(kept.order.clone())),
            Some(kept) => Err(OrderError::KeyTaken { order: kept.order.clone() }),
        }
    }

    fn order(&self, key: &str) -> Option<OrderId> {
        Some(self.0.get(key)?.order.clone())
    }

    fn forget(&mut self, before_ms: u64) {
        self.0.retain(|_, kept| kept.at_ms >= before_ms);
    }
}

/// Of a request as it is kept. The order of keys makes no other request of it.
pub(super) fn digest(request: &Value) -> Fingerprint {
    let text = canonical_value(request).unwrap_or_else(|_| request.to_string());
    Fingerprint::of(text.as_bytes())
}

impl Orders {
    /// Takes an order. Under a key that was given before with the same request, it is the order that
    /// was taken then. Who goes away while it is taken has placed it all the same.
    pub async fn place(
        &self,
        request: OrderRequest,
        key: Option<&str>,
    ) -> Result<OrderId, OrderError> {
        self.place_until(request, key, None).await
    }

    /// The order that was placed under a key, if there is one.
    pub async fn placed_under(&self, by: Placer, key: &str) -> Option<OrderId> {
        let mut keys = self.0.keys.lock().await;
        keys.forget(now().millis().saturating_sub(KEYS_MS));
        keys.order(&full_key(by, key))
    }

    /// Takes an order that is cancelled when `gone` is, however far it has come by then.
    pub(super) async fn place_until(
        &self,
        mut request: OrderRequest,
        key: Option<&str>,
        gone: Option<CancellationToken>,
    ) -> Result<OrderId, OrderError> {
        request.check()?;
        let shared = &self.0;
        if shared.is_leaving() {
            return Err(OrderError::Stopping);
        }
        shared.check_terms(&request).await?;
        request.depth = shared.depth_of(&request).await?;
        if key.is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
            let why = format!("a key has 1 to {LONGEST_KEY} bytes");
            return Err(OrderError::Invalid { field: "key", why });
        }
        let key = key.map(|key| full_key(request.by, key));
        // In a task of its own: who places it may go away in the middle, and what is on disk by then has
        // to be worked on, and found under its key.
        let taking = within(current(), Arc::clone(shared).take_once(request, key, gone));
        shared.running.spawn(taking).await.unwrap_or(Err(OrderError::Stopping))
    }
}

impl Shared {
    async fn take_once(
        self: Arc<Self>,
        request: OrderRequest,
        key: Option<String>,
        gone: Option<CancellationToken>,
    ) -> Result<OrderId, OrderError> {
        let Some(key) = key else { return self.take(request, None, gone).await };
        // Two who come under one key at once wait for each other.
        let mut keys = self.keys.lock().await;
        keys.forget(now().millis().saturating_sub(KEYS_MS));
        let json = serde_json::to_value(&request).unwrap_or_default();
        let digest = digest(&json);
        if let Some(order) = keys.find(&key, digest)? {
            return Ok(order);
        }
        let order = self.take(request, Some(&key), gone).await?;
        keys.keep(key, order.clone(), digest, now().millis());
        Ok(order)
    }

    async fn take(
        self: &Arc<Self>,
        request: OrderRequest,
        key: Option<&str>,
        gone: Option<CancellationToken>,
    ) -> Result<OrderId, OrderError> {
        let place = self.room.take(&request)?;
        let at_ms = now().millis();
        let id = OrderId::new(at_ms).ok_or(OrderError::NoRandomNumbers)?;
        let watched = Watched::begin(&id, self.trace_of(&request), "order");
        self.rows.place(&id, &request, key, watched.context(), at_ms).await?;
        watched.placed(request.by, &request);
        let (parent, task) = (request.parent.clone(), request.task.clone());
        let mut order = Order::new(id.clone(), at_ms, request);
        order.trace = watched.context();
        let live = Arc::new(Live::new(order, place));
        self.live_map().insert(id.clone(), Arc::clone(&live));
        self.changed();
        self.note(&live.order(), at_ms).await;
        self.tell_parent(parent.as_deref(), &OwnEvent::Child { id: id.clone(), task }).await;
        if let Some(gone) = gone {
            self.cancel_when(gone, &live);
        }
        self.start(live, Way::Anew, watched);
        Ok(id)
    }

    /// What an order is part of: whatever has it placed, or else the order that it is placed for.
    fn trace_of(&self, request: &OrderRequest) -> Option<TraceContext> {
        current().or_else(|| {
            let parent = request.parent.as_deref().and_then(OrderId::parse)?;
            self.live(&parent)?.order().trace
        })
    }

    /// Cancels an order when nobody waits for it any more, unless it has ended by then.
    fn cancel_when(self: &Arc<Self>, gone: CancellationToken, live: &Live) {
        let (orders, id) = (Orders(Arc::clone(self)), live.id.clone());
        let (mut order, leaving) = (live.order.subscribe(), self.delegation.leaving().clone());
        self.running.spawn(async move {
            let over = async { drop(order.wait_for(|order| order.state.is_over()).await) };
            tokio::select! {
                () = over => {}
                () = leaving.cancelled() => {}
                // That it has ended meanwhile is as good.
                () = gone.cancelled() => drop(orders.cancel(&id).await),
            }
        });
    }

    /// What has to be looked up to be judged.
    async fn check_terms(&self, request: &OrderRequest) -> Result<(), OrderError> {
        self.addresses(request).await?;
        let invalid = |why: &str| OrderError::Invalid { field: "verify", why: why.to_owned() };
        match &request.verify {
            Some(OrderVerify::Person) if self.people.is_none() => {
                Err(invalid("nobody can be asked here"))
            }
            Some(OrderVerify::Tool { .. }) if !request.by.may_start_programs() => {
                Err(invalid("a command is named on this machine: `sabir delegate --verify tool`"))
            }
            Some(OrderVerify::Peer { to: Some(to), .. }) => {
                self.address(to, request.by).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Those who may do it, if the request names them.
    pub(super) async fn addresses(
        &self,
        request: &OrderRequest,
    ) -> Result<Vec<Address>, OrderError> {
        let mut addresses = Vec::new();
        for to in &request.to {
            let address = self.address(to, request.by).await?;
            if request.shuns_programs() && matches!(address, Address::McpCommand(_)) {
                let why = format!(
                    "{to} is a program of this machine that no sandbox holds: only a person, or an agent \
                     that nothing holds, can have it started"
                );
                return Err(OrderError::Invalid { field: "to", why });
            }
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        Ok(addresses)
    }

    /// Whom a word means, if whoever says it may mean them.
    pub(super) async fn address(&self, to: &str, by: Placer) -> Result<Address, OrderError> {
        let invalid = |why: String| OrderError::Invalid { field: "to", why };
        if let Some(own) = self.own.iter().find(|own| own.name == to) {
            return Ok(own.address.clone());
        }
        let known = self.delegation.known().await.map_err(|error| invalid(error.to_string()))?;
        if let Some((_, address)) = known.iter().find(|(id, _)| id.as_str() == to) {
            return Ok(address.clone());
        }
        let is_address = to.contains("://") || to.starts_with("mcp+stdio:");
        if !is_address {
            let mut names: Vec<&str> = self.own.iter().map(|own| own.name.as_str()).collect();
            names.extend(known.iter().map(|(id, _)| id.as_str()).take(MOST_NAMED));
            let names = names.join(", ");
            return Err(invalid(format!("{to} is nobody that is known here: {names}")));
        }
        let address = Address::parse(to, PlainHttp::LoopbackOnly)
            .map_err(|error| invalid(format!("{to}: {error}")))?;
        let is_known = known.iter().any(|(_, it)| *it == address)
            || self.own.iter().any(|own| own.address == address);
        let is_program = matches!(address, Address::McpCommand(_));
        let may_be_named = if is_program { by.may_start_programs() } else { by.may_name_anybody() };
        match is_known || may_be_named {
            true => Ok(address),
            false => Err(invalid(format!(
                "{to}: only delegates that a person added can be named here: `sabir delegates add`"
            ))),
        }
    }

    async fn depth_of(&self, request: &OrderRequest) -> Result<u32, OrderError> {
        let depth = match request.parent.as_deref().and_then(OrderId::parse) {
            None => request.depth,
            Some(parent) => {
                let above = match self.live(&parent) {
                    Some(live) => Some(live.order().request.depth),
                    None => self.rows.get(&parent).await?.map(|order| order.request.depth),
                };
                above.map_or(request.depth, |above| request.depth.max(above + 1))
            }
        };
        match depth > DEEPEST {
            true => Err(OrderError::TooDeep { limit: DEEPEST }),
            false => Ok(depth),
        }
    }
}

impl OrderRequest {
    /// Whether whoever placed it may do less than a program of this machine that no sandbox holds.
    pub(super) fn shuns_programs(&self) -> bool {
        let within = self.within.as_ref();
        within.is_some_and(|it| it.sandbox.mode != SandboxMode::DangerFullAccess)
    }
}

/// Keys of one door are none of another's.
fn full_key(by: Placer, key: &str) -> String {
    format!("{}:{key}", by.name())
}

const LONGEST_KEY: usize = 200;
/// People lose track of a tree long before.
const DEEPEST: u32 = 4;
const MOST_NAMED: usize = 20;
