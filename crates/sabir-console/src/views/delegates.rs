//! Delegates: those of this node and those that it knows, what they claim and what was measured, and
//! who gave work to whom.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sabir_host::MemberState;
use sabir_ldp::{Breaker, DelegateId, ErrorCategory, IdentityCard, LdpError, Tally, TallyRecord};
use sabir_net::{Address, OrderError, OrderId, Placer, PlainHttp};
use sabir_store::StoreError;
use sabir_store::peers::{Delegation, KnownDelegate, Peers, PinnedKey, Probed};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input::{Given, Query};
use crate::refused::{Answer, Refused};
use crate::setup::Builtin;
use crate::state::{Console, now_ms};

pub(crate) async fn list(State(console): State<Arc<Console>>) -> Answer {
    let book = console.peers(Book::read).await?;
    let builtin = console.setup.builtin.iter().map(|it| builtin_json(it, &book));
    let known = book.known.iter().map(|it| known_json(it, &book));
    let delegates: Vec<Value> = builtin.chain(known).collect();
    Ok(Json(json!({ "delegates": delegates })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    url: String,
}

pub(crate) async fn add(
    State(console): State<Arc<Console>>,
    Given(Which { url }): Given<Which>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let address = address(&url)?;
    // In a task of its own: who hangs up leaves nobody half added.
    tokio::spawn(async move { add_whole(&console, address).await }).await?
}

async fn add_whole(
    console: &Console,
    address: Address,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let url = address.to_string();
    let kept = url.clone();
    let known = console.peers(move |peers| peers.add_delegate(&kept, now_ms())).await?;
    let looked = look(console, address).await?;
    if let Err(error) = &looked
        && error.category == ErrorCategory::Security
        && known.probed_at_ms.is_none()
    {
        // Who is not who it says is not kept.
        console.peers(move |peers| peers.remove_delegate(&url)).await?;
        return Err(Refused::conflict("not_who_it_says", error.message.clone()));
    }
    let shown = keep(console, url, looked).await?;
    Ok((StatusCode::CREATED, Json(shown)))
}

pub(crate) async fn remove(
    State(console): State<Arc<Console>>,
    Given(Which { url }): Given<Which>,
) -> Answer {
    let removed = console.peers(move |peers| match peers.remove_delegate(&url)? {
        // It may be kept in the form in which addresses are written.
        0 => match Address::parse(&url, PlainHttp::LoopbackOnly) {
            Ok(address) => peers.remove_delegate(&address.to_string()),
            Err(_) => Ok(0),
        },
        removed => Ok(removed),
    });
    match removed.await? {
        0 => Err(Refused::missing("no such delegate is known")),
        removed => {
            console.changes.delegates();
            Ok(Json(json!({ "removed": removed })))
        }
    }
}

pub(crate) async fn probe(
    State(console): State<Arc<Console>>,
    Given(Which { url }): Given<Which>,
) -> Answer {
    let own = console.setup.builtin.iter().find(|it| it.url == url);
    if let Some(builtin) = own {
        // Others may need a token at the address that is shown; the node has a way of its own.
        let address = console.setup.orders.own_address(&builtin.name).cloned();
        let address = address.ok_or_else(|| Refused::bad("this delegate is switched off"))?;
        let looked = look(&console, address).await?;
        looked.map_err(|error| Refused::elsewhere("unreachable", error.message))?;
        let book = console.peers(Book::read).await?;
        return Ok(Json(builtin_json(builtin, &book)));
    }
    let known = console.peers(Peers::delegates).await?;
    if !known.iter().any(|it| it.url == url) {
        return Err(Refused::missing("no such delegate is known"));
    }
    // What is kept was an address when it was added, whichever kind.
    let address = Address::parse(&url, PlainHttp::LoopbackOnly)
        .map_err(|error| Refused::bad(error.to_string()))?;
    let looked = look(&console, address).await?;
    Ok(Json(keep(&console, url, looked).await?))
}

pub(crate) async fn edges(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let limit = query.limit(200, 2000)?;
    let all = console.peers(move |peers| peers.delegations(limit)).await?;
    let mut edges = Vec::with_capacity(all.len());
    for edge in &all {
        edges.push(edge_json(&giver(&console, edge).await?, edge));
    }
    Ok(Json(json!({ "edges": edges })))
}

/// Who gave the work away. This node writes all of it down, also what a delegate of its own handed on
/// and what it passed on for a program of somebody else.
async fn giver(console: &Console, edge: &Delegation) -> Result<String, Refused> {
    let own = || console.setup.about.delegate_id.to_string();
    let orders = &console.setup.orders;
    let find = async |id: Option<OrderId>| match id {
        Some(id) => match orders.get(&id).await {
            Ok(order) => Ok(Some(order)),
            Err(OrderError::NotFound) => Ok(None),
            Err(error) => Err(Refused::from(error)),
        },
        None => Ok(None),
    };
    // What is no order was given away at the keyboard.
    let Some(order) = find(OrderId::of_task(&edge.id)).await? else { return Ok(own()) };
    match order.by {
        Placer::Person | Placer::Page => Ok(own()),
        Placer::Mcp | Placer::A2a => Ok(order.by.name().to_owned()),
        // The agent belongs to whoever has the order that it works on. In a conversation it is the
        // node's own.
        Placer::Agent => {
            let above = find(order.parent.as_deref().and_then(OrderId::parse)).await?;
            let delegate = above.and_then(|above| above.chosen?.delegate_id);
            Ok(delegate.unwrap_or_else(own))
        }
    }
}

/// A program is not started from a web page.
fn address(url: &str) -> Result<Address, Refused> {
    let address = Address::parse(url.trim(), PlainHttp::LoopbackOnly)
        .map_err(|error| Refused::bad(error.to_string()))?;
    match address {
        Address::McpCommand(_) => Err(Refused::bad(
            "a delegate that is a program is added on its own machine: `sabir delegates add \
             mcp+stdio:COMMAND`",
        )),
        address => Ok(address),
    }
}

/// Looks at a card, in a task of its own: who hangs up does not leave half a handshake behind.
async fn look(
    console: &Console,
    address: Address,
) -> Result<Result<IdentityCard, LdpError>, Refused> {
    let place = console.errand()?;
    let delegation = console.setup.delegation.clone();
    let looking = tokio::spawn(async move {
        let looked = delegation.look(&address).await.map(|(card, _)| card);
        drop(place);
        looked
    });
    Ok(looking.await?)
}

/// Writes down what a look found, and shows it.
async fn keep(
    console: &Console,
    url: String,
    looked: Result<IdentityCard, LdpError>,
) -> Result<Value, Refused> {
    let shown = console.peers(move |peers| {
        match &looked {
            Ok(card) => {
                let text = card.to_value().to_string();
                let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
                peers.record_probe(&url, probed, now_ms())?;
            }
            Err(error) => {
                peers.record_probe(&url, Probed::Failed { error: &error.message }, now_ms())?;
            }
        }
        let book = Book::read(peers)?;
        let known = book.known.iter().find(|it| it.url == url);
        Ok(known.map(|it| known_json(it, &book)))
    });
    let shown = shown.await?.ok_or_else(|| Refused::missing("it was removed meanwhile"))?;
    console.changes.delegates();
    Ok(shown)
}

/// All that is known of others, read together.
struct Book {
    known: Vec<KnownDelegate>,
    tallies: Vec<TallyRecord>,
    breakers: BTreeMap<DelegateId, Breaker>,
    pins: BTreeMap<DelegateId, PinnedKey>,
}

impl Book {
    fn read(peers: &Peers) -> Result<Self, StoreError> {
        let pins = peers.pinned_keys()?.into_iter().map(|pin| (pin.delegate_id.clone(), pin));
        Ok(Self {
            known: peers.delegates()?,
            tallies: peers.tallies()?,
            breakers: peers.breakers()?.into_iter().collect(),
            pins: pins.collect(),
        })
    }

    /// What a card claims, beside what came of it.
    fn skills(&self, card: &IdentityCard) -> Vec<Value> {
        let of_skill = |name: &str| {
            let delegate = card.delegate_id.as_str();
            let mut found = self.tallies.iter();
            found.find(|it| it.delegate.as_str() == delegate && it.skill.as_str() == name)
        };
        let skills = card.capabilities.iter().map(|capability| {
            let quality = &capability.quality;
            json!({
                "name": capability.name, "description": capability.description,
                "claimed": {
                    "quality": quality.score.map(f64::from), "latency_ms": quality.latency_p50_ms,
                    "cost": quality.cost_per_call_usd, "claim_type": quality.claim_type,
                },
                "measured": of_skill(capability.name.as_str()).map(|it| measured(&it.tally)),
            })
        });
        skills.collect()
    }

    /// What is the same whoever's card it is.
    fn describe(&self, card: &IdentityCard) -> Value {
        let id = &card.delegate_id;
        json!({
            "delegate_id": id, "name": card.name, "description": card.description,
            "trust_domain": card.trust_domain.name, "card": card.to_value(),
            "pinned_key": self.pins.get(id).map(|pin| pin.key.to_hex()),
            "pinned_from": self.pins.get(id).map(|pin| pin.origin.as_str()),
            "skills": self.skills(card), "breaker": self.breakers.get(id),
        })
    }
}

/// Of what was weighed by its age; nothing is made up where nothing was seen.
fn measured(tally: &Tally) -> Value {
    let share = |sum: f64, of: f64| (of > 0.0).then(|| sum / of);
    json!({
        "count": tally.tries, "success": share(tally.successes, tally.tries),
        "quality": share(tally.quality, tally.checked),
        "latency_ms": share(tally.ln_latency, tally.timed).map(f64::exp),
        "cost": share(tally.cost_usd, tally.priced), "as_of_ms": tally.as_of.millis(),
    })
}

fn builtin_json(builtin: &Builtin, book: &Book) -> Value {
    let mut shown = match &builtin.card {
        Some(card) => book.describe(card),
        None => json!({ "skills": [], "card": null, "pinned_key": null, "breaker": null }),
    };
    let why = match &builtin.state {
        MemberState::Off => Some("the configuration switches it off"),
        state => state.why(),
    };
    shown["name"] = json!(builtin.name);
    shown["url"] = json!(builtin.url);
    shown["builtin"] = json!(true);
    shown["state"] = json!(builtin.state.name());
    shown["why"] = json!(why);
    shown
}

fn known_json(known: &KnownDelegate, book: &Book) -> Value {
    let card = known.card.as_deref().and_then(|text| IdentityCard::check(text).card);
    let mut shown = match &card {
        Some(card) => book.describe(card),
        None => json!({
            "delegate_id": known.delegate_id, "name": null, "skills": [], "card": null,
            "pinned_key": null, "breaker": null,
        }),
    };
    let (state, why) = match (&known.error, &card) {
        (Some(error), _) => ("unreachable", Some(error.as_str())),
        (None, None) => ("unreachable", Some("it was never reached")),
        (None, Some(_)) => ("ready", None),
    };
    shown["url"] = json!(known.url);
    shown["builtin"] = json!(false);
    shown["state"] = json!(state);
    shown["why"] = json!(why);
    shown["added_at_ms"] = json!(known.added_at_ms);
    shown["probed_at_ms"] = json!(known.probed_at_ms);
    shown
}

fn edge_json(from: &str, edge: &Delegation) -> Value {
    let read = |text: &Option<String>| text.as_deref().and_then(|it| serde_json::from_str(it).ok());
    let provenance: Option<Value> = read(&edge.provenance);
    let error: Option<Value> = read(&edge.error);
    json!({
        "id": edge.id, "from": from, "to": edge.delegate_id, "url": edge.url, "skill": edge.skill,
        "status": edge.status, "at_ms": edge.at_ms, "payload_mode": edge.payload_mode,
        "tokens": provenance.as_ref().map(|it| &it["tokens_used"]), "usd": edge.cost_usd,
        "latency_ms": edge.ended_at_ms.map(|ended| ended.saturating_sub(edge.at_ms)),
        "error": error.as_ref().map(|it| &it["message"]),
    })
}
