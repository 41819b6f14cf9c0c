//! Tasks for the node's router: handed over, followed, taken back, done again.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use sabir_ldp::Strategy;
use sabir_net::{OrderBrief, OrderId, OrderRequest, OrderVerify, Placer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::door::SignedIn;
use crate::input::{Given, Query};
use crate::refused::{Answer, Refused};
use crate::state::Console;
use crate::stream::{after, response, rows};

pub(crate) async fn list(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let before = query.text("before").map(order_id).transpose()?;
    let limit = query.limit(50, 500)?;
    let orders = match query.text("parent") {
        Some(parent) => console.setup.orders.children(parent).await?,
        None => console.setup.orders.list(before.as_ref(), limit).await?,
    };
    let orders: Vec<Value> = orders.iter().map(|it| brief_json(&console, it)).collect();
    Ok(Json(json!({ "orders": orders })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed {
    task: String,
    input: Option<Value>,
    skill: Option<String>,
    /// One who may do it, or several.
    to: Option<Value>,
    #[serde(default)]
    strategy: Strategy,
    trust_domain: Option<String>,
    budget_tokens: Option<u64>,
    budget_usd: Option<f64>,
    deadline_secs: Option<u64>,
    verify: Option<Value>,
}

pub(crate) async fn place(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Given(placed): Given<Placed>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let key = match headers.get("idempotency-key") {
        None => None,
        Some(key) => Some(key.to_str().map_err(|_| Refused::bad("idempotency-key is no text"))?),
    };
    let mut request = OrderRequest { by: Placer::Page, ..OrderRequest::new(placed.task) };
    request.input = placed.input;
    request.skill = placed.skill;
    request.to = match placed.to {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(one)) => vec![one],
        Some(many) => serde_json::from_value(many)
            .map_err(|_| Refused::bad("to: a name or an address, or a list of them"))?,
    };
    request.strategy = placed.strategy;
    request.trust_domain = placed.trust_domain;
    request.budget_tokens = placed.budget_tokens;
    request.budget_usd = placed.budget_usd;
    request.deadline_secs = placed.deadline_secs;
    request.verify = placed.verify.map(verify).transpose()?;
    let id = console.setup.orders.place(request, key).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

pub(crate) async fn show(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    let order = console.setup.orders.get(&order_id(&id)?).await?;
    Ok(Json(json!(order)))
}

pub(crate) async fn cancel(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    let id = order_id(&id)?;
    console.setup.orders.cancel(&id).await?;
    Ok(Json(json!({ "id": id })))
}

pub(crate) async fn again(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let id = console.setup.orders.again(&order_id(&id)?, Placer::Page).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

pub(crate) async fn events(
    State(console): State<Arc<Console>>,
    Extension(person): Extension<SignedIn>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Refused> {
    let id = order_id(&id)?;
    let after = after(&headers, &query)?;
    // An order that is not there has no rows, and would never have any.
    console.setup.orders.get(&id).await?;
    response(&console, person, rows(console.setup.orders.events(&id, after)))
}

fn order_id(text: &str) -> Result<OrderId, Refused> {
    OrderId::parse(text)
        .ok_or_else(|| Refused::missing("there is no such order: ids begin with order-"))
}

/// In one word what usually is meant, or all of it.
fn verify(said: Value) -> Result<OrderVerify, Refused> {
    match said.as_str() {
        Some("human" | "person") => Ok(OrderVerify::Person),
        Some("peer") => Ok(OrderVerify::Peer { to: None, skill: "verify".to_owned() }),
        Some(_) => Err(Refused::bad("verify: human, peer, or an object")),
        None => serde_json::from_value(said).map_err(|it| Refused::bad(format!("verify: {it}"))),
    }
}

fn brief_json(console: &Console, brief: &OrderBrief) -> Value {
    let chosen = brief.delegate_id.as_deref().map(|id| {
        let own = console
            .setup
            .builtin
            .iter()
            .find(|it| it.card.as_ref().is_some_and(|card| card.delegate_id.as_str() == id));
        json!({ "delegate_id": id, "name": own.map(|it| it.name.as_str()) })
    });
    let mut shown = json!(brief);
    shown["chosen"] = json!(chosen);
    shown
}
