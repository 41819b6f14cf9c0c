//! Orders as other programs see them: what they handed in, as it stands on disk.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use sabir_base::text::one_line;
use sabir_store::{Line, Reader, StoreError};
use serde_json::{Map, Value, json};

use super::index::Entry;
use super::order::{Order, OrderState, OwnEvent};
use super::request::{OrderId, OrderRequest};
use super::rows::rows;
use super::{OrderError, Orders};
use crate::errands::{
    Errands, ErrandsError, Listed, Listing, Movement, Placed, PlacedError, PlacedState, Placement,
    Placer, Reach, Step,
};

impl Errands for Orders {
    fn place(&self, placement: Placement) -> BoxFuture<'_, Result<String, ErrandsError>> {
        let Placement { task, input, skill, mut to, reach, strategy, .. } = placement;
        if reach == Reach::Here && to.is_empty() {
            to.extend(self.0.own.iter().map(|own| own.name.clone()));
        }
        let request = OrderRequest {
            input,
            skill,
            to,
            strategy,
            budget_tokens: placement.budget_tokens,
            deadline_secs: placement.deadline_secs,
            by: placement.by,
            visit: Some(placement.visit),
            ..OrderRequest::new(task)
        };
        let key = placement.key;
        async move {
            if reach == Reach::Here && request.to.is_empty() {
                let why = "this node has no delegates of its own".to_owned();
                return Err(ErrandsError::Refused(why));
            }
            match Orders::place(self, request, key.as_deref()).await {
                Ok(id) => Ok(id.as_str().to_owned()),
                // Keys are made of what was asked for; only the context may have been made up anew.
                Err(OrderError::KeyTaken { order }) => Ok(order.as_str().to_owned()),
                Err(error) => Err(error.into()),
            }
        }
        .boxed()
    }

    fn find<'a>(&'a self, by: Placer, key: &'a str) -> BoxFuture<'a, Option<String>> {
        async move { Some(self.placed_under(by, key).await?.as_str().to_owned()) }.boxed()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Placed, ErrandsError>> {
        async move { self.standing(&known(id)?).await }.boxed()
    }

    fn list<'a>(&'a self, wanted: &'a Listing) -> BoxFuture<'a, Result<Listed, ErrandsError>> {
        async move { Ok(self.list_visits(wanted).await?) }.boxed()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ErrandsError>> {
        async move { Ok(Orders::cancel(self, &known(id)?).await?) }.boxed()
    }

    fn follow(&self, id: &str, after: u64) -> BoxStream<'static, Result<Step, ErrandsError>> {
        let (orders, id) = (self.clone(), known(id));
        let begin = async move {
            let id = id?;
            let placed = orders.standing(&id).await?;
            if placed.state.is_over() {
                let (seq, at_ms) = (placed.last, placed.changed_at_ms);
                let end = Step { seq, at_ms, what: Movement::Ended(Box::new(placed)) };
                return Ok(stream::iter([Ok(end)]).boxed());
            }
            let rows = orders.events(&id, after);
            let steps = rows.filter_map(move |row| {
                let (orders, id) = (orders.clone(), id.clone());
                async move {
                    match row {
                        Ok(row) => step(&orders, &id, &row).await,
                        Err(error) => Some(Err(error.into())),
                    }
                }
            });
            Ok::<_, ErrandsError>(until_end(steps.boxed()))
        };
        stream::once(begin).try_flatten().boxed()
    }
}

impl Orders {
    /// An order with the number of the last row that it is the sum of.
    async fn standing(&self, id: &OrderId) -> Result<Placed, ErrandsError> {
        let (wanted, live) = (id.clone(), self.live());
        let read = self.0.rows.read(move |reader| placed(reader, &wanted, &live)).await?;
        read.ok_or(ErrandsError::Unknown)
    }

    async fn list_visits(&self, wanted: &Listing) -> Result<Listed, StoreError> {
        let live = self.live();
        let is_wanted = |id: &OrderId, entry: &Entry| {
            let state = match live.has(id) || entry.state.is_over() {
                true => state_of(entry.state),
                false => PlacedState::Interrupted,
            };
            entry.by == wanted.by
                && entry.caller == wanted.caller
                && wanted.context.as_ref().is_none_or(|it| entry.context.as_ref() == Some(it))
                && wanted.changed_since_ms.is_none_or(|since| entry.changed_at_ms >= since)
                && (wanted.states.is_empty() || wanted.states.contains(&state))
        };
        let mut found = self.0.index.find(&self.0.rows, is_wanted).await?;
        found.sort_by(|one, other| other.cmp(one));
        let total = found.len();
        if let Some((changed, id)) = &wanted.behind {
            found.retain(|(at, it)| (at, it.as_str()) < (changed, id.as_str()));
        }
        let has_more = found.len() > wanted.limit;
        found.truncate(wanted.limit);
        let tasks = self.0.rows.read(move |reader| read_all(reader, found, &live)).await?;
        Ok(Listed { tasks, total, has_more })
    }

    /// Those that somebody works on, from now on.
    fn live(&self) -> Live {
        let before = self.0.live_map().keys().cloned().collect();
        Live { orders: self.clone(), before }
    }
}

/// An order has rows a moment before somebody works on it, and its last row a moment before nobody
/// does: who reads rows in between asks on both sides.
struct Live {
    orders: Orders,
    before: HashSet<OrderId>,
}

impl Live {
    /// To be asked when the rows are read.
    fn has(&self, id: &OrderId) -> bool {
        self.before.contains(id) || self.orders.0.live(id).is_some()
    }
}

fn known(id: &str) -> Result<OrderId, ErrandsError> {
    OrderId::parse(id).ok_or(ErrandsError::Unknown)
}

/// Everything up to the end, and nothing behind it.
fn until_end(
    steps: BoxStream<'static, Result<Step, ErrandsError>>,
) -> BoxStream<'static, Result<Step, ErrandsError>> {
    let next = |state: Option<BoxStream<'static, Result<Step, ErrandsError>>>| async move {
        let mut steps = state?;
        let step = steps.next().await?;
        let goes_on = matches!(&step, Ok(step) if !matches!(step.what, Movement::Ended(_)));
        Some((step, goes_on.then_some(steps)))
    };
    stream::unfold(Some(steps), next).boxed()
}

/// What a row says to others. Most say nothing to them.
async fn step(
    orders: &Orders,
    id: &OrderId,
    row: &Arc<Line>,
) -> Option<Result<Step, ErrandsError>> {
    let told = |what| Some(Ok(Step { seq: row.seq, at_ms: row.at_ms, what }));
    if row.kind != "event" {
        return None;
    }
    if row.tag == OwnEvent::REPORT {
        return match orders.standing(id).await {
            Ok(placed) => told(Movement::Ended(Box::new(placed))),
            Err(error) => Some(Err(error)),
        };
    }
    let body: Value = serde_json::from_str(&row.body).ok()?;
    let text =
        |name: &str| body.get(name).and_then(Value::as_str).map(|it| one_line(it, MAX_CHARS));
    let share = body.get("progress").and_then(Value::as_f64);
    let says = |message: Option<String>| Movement::Progress { message, share };
    let who = || text("delegate_id").unwrap_or_default();
    match row.tag.as_str() {
        "progress" if text("state").as_deref() == Some(WAITS) => {
            told(Movement::Waiting { message: text("message") })
        }
        "progress" => told(says(text("message"))),
        "chosen" => told(says(text("why"))),
        "trying" => told(says(Some(format!("given to {}", who())))),
        "failed" => told(says(Some(format!("{} failed", who())))),
        "hedging" => told(says(Some(format!("also given to {}", who())))),
        "delivered" => told(says(Some(format!("{} delivered", who())))),
        "checking" => told(says(text("by").map(|by| format!("checked by {by}")))),
        "resumed" | "away" => told(says(text("why"))),
        _ => None,
    }
}

fn placed(reader: &Reader, id: &OrderId, live: &Live) -> Result<Option<Placed>, StoreError> {
    let lines = rows(reader, id)?;
    let Some(last) = lines.last() else { return Ok(None) };
    let order = Order::of_rows(id, &lines);
    Ok(order.map(|order| shown(order, last, live.has(id))))
}

fn shown(order: Order, last: &Line, is_live: bool) -> Placed {
    let order = if is_live { order } else { order.without_end() };
    let facts = facts(&order);
    Placed {
        id: order.id.as_str().to_owned(),
        by: order.by,
        visit: order.request.visit,
        skill: order.skill,
        state: state_of(order.state),
        created_at_ms: order.created_at_ms,
        changed_at_ms: last.at_ms,
        output: order.output,
        error: order.error.map(|it| PlacedError { code: it.code, message: it.message }),
        facts,
        last: last.seq,
    }
}

/// What others may know of how it was done. Addresses of this node's delegates are none of that.
fn facts(order: &Order) -> Map<String, Value> {
    let known = HashMap::from([
        ("delegate_id", json!(order.delegate_id())),
        ("payload_mode", json!(order.payload_mode)),
        ("provenance", json!(order.provenance)),
        ("checks", if order.checks.is_empty() { Value::Null } else { json!(order.checks) }),
        ("cost", if order.state.is_over() { json!(order.cost) } else { Value::Null }),
    ]);
    let mut known: Vec<_> = known.into_iter().filter(|(_, value)| !value.is_null()).collect();
    known.sort_by_key(|(name, _)| *name);
    known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn read_all(
    reader: &Reader,
    found: Vec<(u64, OrderId)>,
    live: &Live,
) -> Result<Vec<Placed>, StoreError> {
    let mut tasks = Vec::new();
    for (changed, id) in found {
        if let Some(mut placed) = placed(reader, &id, live)? {
            // What is paged by: it may have changed again since.
            placed.changed_at_ms = changed;
            tasks.push(placed);
        }
    }
    Ok(tasks)
}

fn state_of(state: OrderState) -> PlacedState {
    match state {
        // That it takes a while longer is all that others need to know.
        OrderState::Running | OrderState::Away => PlacedState::Running,
        OrderState::Waiting => PlacedState::Waiting,
        OrderState::Done => PlacedState::Done,
        OrderState::Failed => PlacedState::Failed,
        OrderState::Cancelled => PlacedState::Cancelled,
        OrderState::Interrupted => PlacedState::Interrupted,
    }
}

impl From<OrderError> for ErrandsError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::NotFound => Self::Unknown,
            OrderError::Over => Self::Over,
            OrderError::TooMany { .. } | OrderError::TooLarge { .. } | OrderError::Stopping => {
                Self::Busy
            }
            OrderError::Store(error) => error.into(),
            OrderError::Invalid { .. }
            | OrderError::KeyTaken { .. }
            | OrderError::TooDeep { .. }
            | OrderError::NoRandomNumbers => Self::Refused(error.to_string()),
        }
    }
}

impl From<StoreError> for ErrandsError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// As a delegate says that a person has to decide.
const WAITS: &str = "waiting_for_approval";
const MAX_CHARS: usize = 500;
