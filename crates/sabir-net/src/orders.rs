//! Orders: tasks that a person or an agent hands to the node's router. Each is a session of its own in
//! the node's journal, from what was asked to how it ended, so that it outlives the process that took
//! it and can be followed by anybody who reads the journal. How a task is delegated is known elsewhere.

mod error;
mod index;
mod order;
mod people;
mod place;
mod placer;
mod request;
mod resume;
mod room;
mod rows;
mod run;
mod spawn;
mod visits;
mod watched;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use sabir_host::{Closed, Feed, FeedScope, FeedStream};
use sabir_ldp::DelegateId;
use sabir_store::{SessionId, Store, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use error::OrderError;
pub use order::{
    Order, OrderAttempt, OrderAttemptOutcome, OrderBrief, OrderCapacity, OrderCheck, OrderChild,
    OrderChosen, OrderCost, OrderFault, OrderProgress, OrderRank, OrderState,
};
pub use people::People;
pub use request::{OrderId, OrderRequest, OrderVerify};
pub use room::{OrderLimits, OrderLoad};

use index::Index;
use order::OwnEvent;
use place::Keys;
use room::{Place, Room};
use rows::Rows;

use crate::delegation::{Address, Delegation};
use crate::errands::Placer;
use crate::ldp::client::now;

/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Orders(Arc<Shared>);

/// What orders are carried out with.
pub struct OrdersSetup {
    pub delegation: Delegation,
    /// The node's own journal.
    pub store: Store,
    pub feed: Feed,
    /// Delegates of this node, which are candidates without having been added.
    pub own: Vec<OwnDelegate>,
    /// Who is asked about orders.
    pub people: Option<Arc<dyn People>>,
    pub absence: Absence,
    pub limits: OrderLimits,
}

/// How long a delegate that has an order may be away before it is given up.
#[derive(Debug, Clone, Copy)]
pub struct Absence {
    /// The pause before it is asked for the first time; it doubles.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// From when it was missed.
    pub at_most: Duration,
}

impl Default for Absence {
    /// Long enough for a machine that is started anew, and for a person who sees that one is away.
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(15),
            at_most: Duration::from_secs(15 * 60),
        }
    }
}

/// A delegate that this node runs.
#[derive(Debug, Clone)]
pub struct OwnDelegate {
    pub name: String,
    pub delegate_id: DelegateId,
    pub address: Address,
    /// Whether its work may be done once more when it was cut short.
    pub repeats: bool,
    /// The folder that it works in, if that is what it does.
    pub workspace: Option<PathBuf>,
}

struct Shared {
    delegation: Delegation,
    rows: Rows,
    feed: Feed,
    own: Vec<OwnDelegate>,
    people: Option<Arc<dyn People>>,
    absence: Absence,
    live: Mutex<BTreeMap<OrderId, Arc<Live>>>,
    keys: tokio::sync::Mutex<Keys>,
    index: Index,
    room: Room,
    /// Taken up when it is said so.
    open: Mutex<Vec<Order>>,
    changes: watch::Sender<u64>,
    running: TaskTracker,
}

/// An order that somebody works on.
struct Live {
    id: OrderId,
    order: watch::Sender<Arc<Order>>,
    stop: CancellationToken,
    /// Once it is cancelled: nobody is asked about it any more.
    spared: OnceLock<Closed>,
    /// Rows are added up in the order in which they stand.
    writing: tokio::sync::Mutex<()>,
    _place: Place,
}

impl Orders {
    /// Reads which orders there are. Those that have not ended wait for [`Orders::resume_all`].
    pub async fn open(setup: OrdersSetup) -> Result<Self, OrderError> {
        let OrdersSetup { delegation, store, feed, own, people, absence, limits } = setup;
        let rows = Rows::new(store);
        let since_ms = now().millis().saturating_sub(KEYS_MS);
        let (mut keys, mut open) = (Keys::default(), Vec::new());
        let (mut live, room) = (BTreeMap::new(), Room::new(limits));
        for found in rows.all(since_ms).await? {
            if let Some((key, digest)) = found.key {
                keys.keep(key, found.id, digest, found.created_at_ms);
            }
            if let Some(order) = found.open {
                let place = room.take_again(&order.request);
                live.insert(order.id.clone(), Arc::new(Live::new(order.clone(), place)));
                open.push(order);
            }
        }
        let shared = Shared {
            delegation,
            rows,
            feed,
            own,
            people,
            absence,
            live: Mutex::new(live),
            keys: tokio::sync::Mutex::new(keys),
            index: Index::default(),
            room,
            open: Mutex::new(open),
            changes: watch::channel(0).0,
            running: TaskTracker::new(),
        };
        Ok(Self(Arc::new(shared)))
    }

    /// An order as it stands.
    pub async fn get(&self, id: &OrderId) -> Result<Order, OrderError> {
        let mut order = match self.0.live(id) {
            Some(live) => {
                // Whoever has seen a row sees an order that it is part of.
                let _turn = live.writing.lock().await;
                live.order()
            }
            None => {
                let read = self.0.rows.get(id).await?;
                Arc::new(read.ok_or(OrderError::NotFound)?.without_end())
            }
        };
        if order.children.iter().any(|child| !child.state.is_over()) {
            for child in &mut Arc::make_mut(&mut order).children {
                let found = match self.0.live(&child.id) {
                    Some(live) => Order::clone(&live.order()),
                    None => match self.0.rows.get(&child.id).await? {
                        Some(order) => order.without_end(),
                        None => continue,
                    },
                };
                child.state = found.state;
                child.delegate = found.delegate_id().map(str::to_owned);
                child.capacity = self.0.capacity_of(&found);
            }
        }
        Ok(Arc::unwrap_or_clone(order).named_among(&self.0.own))
    }

    /// The newest first, those before one.
    pub async fn list(
        &self,
        before: Option<&OrderId>,
        limit: usize,
    ) -> Result<Vec<OrderBrief>, OrderError> {
        let live = self.0.briefs();
        Ok(self.0.rows.list(before.cloned(), limit.min(MOST_LISTED), live).await?)
    }

    /// Those that were placed for a session or another order, the newest first.
    pub async fn children(&self, parent: &str) -> Result<Vec<OrderBrief>, OrderError> {
        let live = self.0.briefs();
        Ok(self.0.rows.children(parent, live).await?)
    }

    /// Where the node itself reaches one of its delegates, which need not be where others do.
    pub fn own_address(&self, name: &str) -> Option<&Address> {
        self.0.own.iter().find(|own| own.name == name).map(|own| &own.address)
    }

    /// How many somebody works on.
    pub fn running(&self) -> usize {
        let live = self.0.live_map();
        live.values().filter(|live| !live.order.borrow().state.is_over()).count()
    }

    /// How many run, those whose delegates are away among them, and how many wait for a person.
    pub fn under_way(&self) -> (usize, usize) {
        let live = self.0.live_map();
        let count = |state| live.values().filter(|it| it.order.borrow().state == state).count();
        (count(OrderState::Running) + count(OrderState::Away), count(OrderState::Waiting))
    }

    /// Changes whenever an order does.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Rows of an order after number `after`: what was asked, and what became of it. `report` is the
    /// last about the order itself; what was placed for it may be told of afterwards, so that the
    /// stream ends with the store.
    pub fn events(&self, id: &OrderId, after: u64) -> FeedStream {
        let rows = self.0.feed.follow(FeedScope::Session(SessionId::new(id.as_str())), after);
        let rows = rows.filter(|row| {
            let is_shown =
                row.as_ref().map_or(true, |row| matches!(&*row.kind, "event" | "submission"));
            std::future::ready(is_shown)
        });
        rows.boxed()
    }

    /// The order when it has ended.
    pub async fn wait(&self, id: &OrderId) -> Result<Order, OrderError> {
        if let Some(live) = self.0.live(id) {
            let mut order = live.order.subscribe();
            drop(live);
            if let Ok(order) = order.wait_for(|order| order.state.is_over()).await {
                return Ok(Order::clone(&order).named_among(&self.0.own));
            }
            if self.0.is_leaving() {
                return Err(OrderError::Stopping);
            }
        }
        // Who comes when it was let go of already hears the same.
        let is_open = |order: Order| !order.state.is_over();
        if self.0.is_leaving() && self.0.rows.get(id).await?.is_some_and(is_open) {
            return Err(OrderError::Stopping);
        }
        self.get(id).await
    }

    /// Stops it wherever it is, and what was placed for it.
    pub async fn cancel(&self, id: &OrderId) -> Result<(), OrderError> {
        let Some(live) = self.0.live(id).filter(|live| !live.order().state.is_over()) else {
            let read = self.0.rows.get(id).await?;
            return Err(if read.is_some() { OrderError::Over } else { OrderError::NotFound });
        };
        if !live.stop.is_cancelled() {
            self.0.tell(&live, rows::row(&OwnEvent::Cancelling)).await?;
        }
        self.0.cancel(&live);
        Ok(())
    }

    /// Places an order once more, on behalf of somebody who may be another than placed it.
    pub async fn again(&self, id: &OrderId, by: Placer) -> Result<OrderId, OrderError> {
        let mut request = self.get(id).await?.request;
        request.again = Some(id.clone());
        request.by = request.by.repeated_by(by);
        (request.parent, request.for_task, request.depth) = (None, None, 0);
        // Whoever repeats it is not who placed it.
        request.visit = None;
        self.place(request, None).await
    }

    /// Stops without a word: delegates go on with what they have, and whoever opens the same journal
    /// next asks them what became of it.
    pub async fn leave(&self) {
        self.0.delegation.leave();
        self.0.running.close();
        self.0.running.wait().await;
        self.0.live_map().clear();
    }
}

impl fmt::Debug for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orders").field("running", &self.running()).finish_non_exhaustive()
    }
}

impl fmt::Debug for OrdersSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrdersSetup").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Shared {
    fn live_map(&self) -> MutexGuard<'_, BTreeMap<OrderId, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self, id: &OrderId) -> Option<Arc<Live>> {
        self.live_map().get(id).cloned()
    }

    fn briefs(&self) -> HashMap<OrderId, OrderBrief> {
        let briefs = self.live_map();
        briefs.iter().map(|(id, live)| (id.clone(), live.order().brief())).collect()
    }

    /// Of whoever has an order that runs.
    fn capacity_of(&self, order: &Order) -> Option<OrderCapacity> {
        let who = order.delegate_id().filter(|_| !order.state.is_over())?;
        let has_one = |live: &&Arc<Live>| {
            let order = live.order.borrow();
            !order.state.is_over() && order.delegate_id() == Some(who)
        };
        let in_use = self.live_map().values().filter(has_one).count();
        let tasks_at_once = order.chosen.as_ref().and_then(|chosen| chosen.tasks_at_once);
        Some(OrderCapacity { tasks_at_once, in_use })
    }

    fn is_leaving(&self) -> bool {
        self.delegation.leaving().is_cancelled()
    }

    /// Whoever decides afterwards decides about nothing, however late the delegate hears of it.
    fn cancel(&self, live: &Live) {
        if let Some(people) = &self.people {
            let node = self.delegation.client().delegate_id();
            live.spared.get_or_init(|| people.spare(node, &live.id));
        }
        live.stop.cancel();
        let children: Vec<Arc<Live>> = {
            let all = self.live_map();
            let is_child = |it: &&Arc<Live>| {
                it.order().parent.as_deref() == Some(live.id.as_str()) && !it.stop.is_cancelled()
            };
            all.values().filter(is_child).cloned().collect()
        };
        children.iter().for_each(|child| self.cancel(child));
    }

    /// Writes down what happened to an order, and adds it up once it is on disk.
    async fn tell(
        &self,
        live: &Live,
        rows: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), StoreError> {
        let rows: Vec<(String, String)> = rows.into_iter().collect();
        if rows.is_empty() {
            return Ok(());
        }
        {
            let _turn = live.writing.lock().await;
            let at_ms = now().millis();
            self.rows.tell(&live.id, at_ms, &rows).await?;
            live.order.send_modify(|order| {
                let order = Arc::make_mut(order);
                rows.iter().for_each(|(_, body)| order.apply(body, at_ms));
            });
            self.note(&live.order(), at_ms).await;
        }
        self.changed();
        Ok(())
    }

    /// Tells the order that one was placed for. Sessions see it in their own way.
    async fn tell_parent(&self, parent: Option<&str>, event: &OwnEvent) {
        let Some(parent) = parent.and_then(OrderId::parse) else { return };
        let row = rows::row(event);
        // A parent that is not there, or cannot be written, is no reason to stop.
        let _ = match self.live(&parent) {
            Some(live) => self.tell(&live, row).await,
            None => {
                let at_ms = now().millis();
                self.index.touch(&parent, at_ms).await;
                self.rows.tell(&parent, at_ms, row.as_slice()).await
            }
        };
    }

    async fn note(&self, order: &Order, at_ms: u64) {
        self.index.note(order, at_ms).await;
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl Live {
    fn new(order: Order, place: Place) -> Self {
        Self {
            id: order.id.clone(),
            order: watch::channel(Arc::new(order)).0,
            stop: CancellationToken::new(),
            spared: OnceLock::new(),
            writing: tokio::sync::Mutex::new(()),
            _place: place,
        }
    }

    fn order(&self) -> Arc<Order> {
        Arc::clone(&self.order.borrow())
    }
}

/// How long a key stands for the order that it was given with.
const KEYS_MS: u64 = 24 * 3600 * 1000;
const MOST_LISTED: usize = 500;
