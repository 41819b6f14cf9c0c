//! Which orders other programs handed in, and how they stand: what is asked for again and again is not
//! read from the journal each time. It is read once, when somebody asks first, and kept up from then
//! on.

use std::collections::BTreeMap;

use sabir_store::{Reader, Scope, SessionId, SessionSummary, StoreError};
use tokio::sync::Mutex;

use super::order::{Order, OrderState, OwnEvent};
use super::request::{OrderId, OrderRequest};
use super::rows::{Rows, rows};
use crate::errands::{OrderVisit, Placer};

#[derive(Default)]
pub(super) struct Index(Mutex<Option<Entries>>);

type Entries = BTreeMap<OrderId, Entry>;

/// What a list is chosen by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) by: Placer,
    pub(super) caller: String,
    pub(super) context: Option<String>,
    pub(super) state: OrderState,
    pub(super) changed_at_ms: u64,
}

impl Index {
    /// Those that are wanted, with when they changed.
    pub(super) async fn find(
        &self,
        journal: &Rows,
        mut is_wanted: impl FnMut(&OrderId, &Entry) -> bool,
    ) -> Result<Vec<(u64, OrderId)>, StoreError> {
        // Who comes meanwhile waits, and is told of what changes while it is read.
        let mut held = self.0.lock().await;
        let entries = match &mut *held {
            Some(entries) => entries,
            None => held.insert(journal.read(read).await?),
        };
        let wanted = entries.iter().filter(|(id, entry)| is_wanted(id, entry));
        Ok(wanted.map(|(id, entry)| (entry.changed_at_ms, id.clone())).collect())
    }

    /// An order is on disk as it stands here.
    pub(super) async fn note(&self, order: &Order, at_ms: u64) {
        let Some(visit) = &order.request.visit else { return };
        let mut held = self.0.lock().await;
        let Some(entries) = &mut *held else { return };
        entries.insert(order.id.clone(), entry(order.by, visit, order.state, at_ms));
        while entries.len() > MOST_KNOWN {
            entries.pop_first();
        }
    }

    /// One that has ended was told something.
    pub(super) async fn touch(&self, id: &OrderId, at_ms: u64) {
        if let Some(entry) = self.0.lock().await.as_mut().and_then(|it| it.get_mut(id)) {
            entry.changed_at_ms = entry.changed_at_ms.max(at_ms);
        }
    }
}

fn entry(by: Placer, visit: &OrderVisit, state: OrderState, changed_at_ms: u64) -> Entry {
    let OrderVisit { caller, context, .. } = visit.clone();
    Entry { by, caller, context, state, changed_at_ms }
}

fn read(reader: &Reader) -> Result<Entries, StoreError> {
    let mut entries = Entries::new();
    let (mut before, mut looked): (Option<SessionId>, usize) = (None, 0);
    while looked < MOST_KNOWN {
        let page = reader.sessions_under(OrderId::PREFIX, before.as_ref(), PAGE)?;
        let Some(last) = page.last() else { break };
        before = Some(last.id.clone());
        looked += page.len();
        for summary in &page {
            entries.extend(read_one(reader, summary)?);
        }
    }
    Ok(entries)
}

fn read_one(
    reader: &Reader,
    summary: &SessionSummary,
) -> Result<Option<(OrderId, Entry)>, StoreError> {
    let Some(id) = OrderId::parse(summary.id.as_str()) else { return Ok(None) };
    let first = reader.journal(Scope::Session(&summary.id), 0, 2)?;
    let request = first.iter().find(|line| line.kind == "submission");
    let request = request.and_then(|line| serde_json::from_str::<OrderRequest>(&line.body).ok());
    let Some((by, visit)) = request.and_then(|it| Some((it.by, it.visit?))) else {
        return Ok(None);
    };
    let last = reader.last_event(&summary.id)?;
    let state = match last.filter(|line| line.tag == OwnEvent::REPORT) {
        Some(last) => {
            let mut order = Order::new(id.clone(), summary.created_at_ms, OrderRequest::new(""));
            order.apply(&last.body, last.at_ms);
            order.state
        }
        None => match Order::of_rows(&id, &rows(reader, &id)?) {
            Some(order) => order.state,
            None => return Ok(None),
        },
    };
    Ok(Some((id, entry(by, &visit, state, summary.updated_at_ms))))
}

/// Older ones are not listed; they can still be asked for by their ids.
const MOST_KNOWN: usize = 10_000;
const PAGE: usize = 256;
