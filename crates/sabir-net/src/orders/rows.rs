//! The rows of orders in the journal: writing them, and reading them back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_base::text::one_line;
use sabir_ldp::Fingerprint;
use sabir_store::{
    Batch, Entry, Line, Parent, Reader, Rejected, Scope, SessionFacts, SessionId, SessionSummary,
    Store, StoreError,
};
use sabir_telemetry::TraceContext;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::order::{Order, OrderBrief, OwnEvent, TITLE};
use super::place::digest;
use super::request::{OrderId, OrderRequest};

/// The node's journal, as far as orders go. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rows {
    store: Store,
    /// Kept open between readings.
    reader: Arc<Mutex<Option<Reader>>>,
}

/// What is in the journal of an order when a node starts.
pub(super) struct Found {
    pub(super) id: OrderId,
    pub(super) created_at_ms: u64,
    /// What it was placed with, if that is not long ago.
    pub(super) key: Option<(String, Fingerprint)>,
    /// It has not ended.
    pub(super) open: Option<Order>,
}

impl Rows {
    pub(super) fn new(store: Store) -> Self {
        Self { store, reader: Arc::default() }
    }

    /// Writes a new order down.
    pub(super) async fn place(
        &self,
        id: &OrderId,
        request: &OrderRequest,
        key: Option<&str>,
        trace: Option<TraceContext>,
        at_ms: u64,
    ) -> Result<(), StoreError> {
        let parent = request
            .parent
            .as_ref()
            .map(|parent| Parent { session_id: SessionId::new(parent.clone()), response_id: None });
        let facts = SessionFacts {
            cwd: String::new(),
            model: request.skill.clone().unwrap_or_default(),
            title: Some(one_line(&request.task, TITLE)),
            parent,
        };
        let submission =
            Entry::Submission { sub_id: key.unwrap_or_default().to_owned(), body: json(request)? };
        let traced = trace.and_then(|trace| {
            let (kind, body) = row(&OwnEvent::Traced { traceparent: trace.to_string() })?;
            Some(Entry::Event { sub_id: String::new(), kind, body })
        });
        let entries = [Entry::Session(facts), submission].into_iter().chain(traced);
        self.append(id, at_ms, entries.collect()).await
    }

    /// Writes what is told of an order down.
    pub(super) async fn tell(
        &self,
        id: &OrderId,
        at_ms: u64,
        events: &[(String, String)],
    ) -> Result<(), StoreError> {
        let entry = |(kind, body): &(String, String)| Entry::Event {
            sub_id: String::new(),
            kind: kind.clone(),
            body: body.clone(),
        };
        self.append(id, at_ms, events.iter().map(entry).collect()).await
    }

    async fn append(
        &self,
        id: &OrderId,
        at_ms: u64,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let batch = Batch { session_id: session(id), at_ms, entries };
        let (done, stored) = oneshot::channel();
        let taken = self.store.append(batch, move |result| {
            let _ = done.send(result.map(drop));
        });
        if let Err(Rejected { batch, done }) = taken {
            // Too much waits for the disk. Whoever waits for room must not hold up others.
            let store = self.store.clone();
            tokio::task::spawn_blocking(move || store.append_blocking(batch, done));
        }
        stored.await.unwrap_or(Err(StoreError::Closed))
    }

    pub(super) async fn get(&self, id: &OrderId) -> Result<Option<Order>, StoreError> {
        let id = id.clone();
        self.read(move |reader| order(reader, &id)).await
    }

    /// Orders that came before one, the newest first.
    pub(super) async fn list(
        &self,
        before: Option<OrderId>,
        limit: usize,
        live: HashMap<OrderId, OrderBrief>,
    ) -> Result<Vec<OrderBrief>, StoreError> {
        self.read(move |reader| {
            let before = before.as_ref().map(session);
            let found = reader.sessions_under(OrderId::PREFIX, before.as_ref(), limit)?;
            briefs(reader, &found, live)
        })
        .await
    }

    /// Orders that were placed for a session or another order, the newest first.
    pub(super) async fn children(
        &self,
        parent: &str,
        live: HashMap<OrderId, OrderBrief>,
    ) -> Result<Vec<OrderBrief>, StoreError> {
        let parent = SessionId::new(parent);
        self.read(move |reader| {
            let found = reader.sessions_for(&parent, MOST_CHILDREN)?;
            briefs(reader, &found, live)
        })
        .await
    }

    /// All orders, the newest first; keys only of those after `since_ms`.
    pub(super) async fn all(&self, since_ms: u64) -> Result<Vec<Found>, StoreError> {
        self.read(move |reader| {
            let mut all = Vec::new();
            let mut before: Option<SessionId> = None;
            loop {
                let page = reader.sessions_under(OrderId::PREFIX, before.as_ref(), PAGE)?;
                let Some(last) = page.last() else { return Ok(all) };
                before = Some(last.id.clone());
                for summary in &page {
                    let Some(id) = OrderId::parse(summary.id.as_str()) else { continue };
                    all.extend(found(reader, id, summary, since_ms)?);
                }
            }
        })
        .await
    }

    /// The file is read on a thread that may wait.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (store, kept) = (self.store.clone(), Arc::clone(&self.reader));
        let read = tokio::task::spawn_blocking(move || {
            let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
            let reader = lock().take();
            let reader = reader.map_or_else(|| store.reader(), Ok)?;
            let done = work(&reader)?;
            *lock() = Some(reader);
            Ok(done)
        });
        read.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// An event as a row: its kind and its body.
pub(super) fn row(event: &impl Serialize) -> Option<(String, String)> {
    let value = serde_json::to_value(event).ok()?;
    let kind = value.get("event")?.as_str()?.to_owned();
    Some((kind, value.to_string()))
}

fn json(request: &OrderRequest) -> Result<String, StoreError> {
    let why = "it has no JSON form";
    serde_json::to_string(request).map_err(|_| StoreError::Invalid { what: "the request", why })
}

fn session(id: &OrderId) -> SessionId {
    SessionId::new(id.as_str())
}

pub(super) fn rows(reader: &Reader, id: &OrderId) -> Result<Vec<Line>, StoreError> {
    reader.journal(Scope::Session(&session(id)), 0, usize::MAX)
}

fn order(reader: &Reader, id: &OrderId) -> Result<Option<Order>, StoreError> {
    Ok(Order::of_rows(id, &rows(reader, id)?))
}

/// Those that somebody works on are known already.
fn briefs(
    reader: &Reader,
    found: &[SessionSummary],
    mut live: HashMap<OrderId, OrderBrief>,
) -> Result<Vec<OrderBrief>, StoreError> {
    let mut briefs = Vec::new();
    for summary in found {
        let known = OrderId::parse(summary.id.as_str()).and_then(|id| live.remove(&id));
        match known {
            Some(known) => briefs.push(known),
            None => briefs.extend(brief(reader, summary)?),
        }
    }
    Ok(briefs)
}

/// Most orders have ended, and end with their report: then that is all that is read.
fn brief(reader: &Reader, summary: &SessionSummary) -> Result<Option<OrderBrief>, StoreError> {
    let Some(id) = OrderId::parse(summary.id.as_str()) else { return Ok(None) };
    let last = reader.last_event(&summary.id)?;
    let Some(last) = last.filter(|line| line.tag == OwnEvent::REPORT) else {
        return Ok(order(reader, &id)?.map(|order| order.without_end().brief()));
    };
    let mut order = Order::new(id, summary.created_at_ms, OrderRequest::new(""));
    order.task = summary.title.clone().unwrap_or_default();
    order.parent = summary.parent.as_ref().map(|it| it.session_id.as_str().to_owned());
    order.skill = Some(summary.model.clone()).filter(|skill| !skill.is_empty());
    order.apply(&last.body, last.at_ms);
    Ok(Some(order.brief()))
}

fn found(
    reader: &Reader,
    id: OrderId,
    summary: &SessionSummary,
    since_ms: u64,
) -> Result<Option<Found>, StoreError> {
    let created_at_ms = summary.created_at_ms;
    let has_ended = reader.last_event(&summary.id)?.is_some_and(|it| it.tag == OwnEvent::REPORT);
    let is_recent = created_at_ms >= since_ms;
    if has_ended && !is_recent {
        return Ok(None);
    }
    let key = if is_recent {
        let first = reader.journal(Scope::Session(&summary.id), 0, 2)?;
        let placed = first.into_iter().find(|line| line.kind == "submission");
        placed.filter(|line| !line.key.is_empty()).and_then(|line| {
            let request: Value = serde_json::from_str(&line.body).ok()?;
            Some((line.key, digest(&request)))
        })
    } else {
        None
    };
    let open = if has_ended { None } else { order(reader, &id)? };
    let open = open.filter(|order| !order.state.is_over());
    Ok(Some(Found { id, created_at_ms, key, open }))
}

const PAGE: usize = 256;
const MOST_CHILDREN: usize = 256;
