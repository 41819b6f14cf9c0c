//! What changed, for pages that are open: not what it is now, only that it is worth another look. Many
//! changes at once are told as one.
//!
//! Some parts say themselves when they change. Files that other programs write, too, are looked at
//! every second, for as long as somebody watches.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use futures_util::{Stream, stream};
use sabir_host::FeedScope;
use sabir_net::OrderId;
use sabir_store::library::{Collection, Library};
use sabir_store::peers::{Delegation, KnownDelegate, Peers};
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::door::SignedIn;
use crate::refused::Refused;
use crate::state::Console;
use crate::stream::{Told, response};

/// How often each thing has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Marks {
    inbox: u64,
    orders: u64,
    sessions: u64,
    collections: u64,
    delegates: u64,
    decisions: u64,
}

impl Marks {
    fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("inbox", self.inbox),
            ("orders", self.orders),
            ("sessions", self.sessions),
            ("collections", self.collections),
            ("delegates", self.delegates),
            ("decisions", self.decisions),
        ]
    }
}

#[derive(Debug)]
pub(crate) struct Changes {
    marks: watch::Sender<Marks>,
    /// Somebody has begun to watch.
    watched: Notify,
}

impl Default for Changes {
    fn default() -> Self {
        Self { marks: watch::channel(Marks::default()).0, watched: Notify::new() }
    }
}

impl Changes {
    /// Something of a collection changed, here.
    pub(crate) fn collections(&self) {
        self.marks.send_modify(|marks| marks.collections += 1);
    }

    pub(crate) fn delegates(&self) {
        self.marks.send_modify(|marks| marks.delegates += 1);
    }
}

/// Watches for as long as there is a console.
pub(crate) fn watch(console: &Arc<Console>) {
    let stop = console.setup.stop.clone();
    let watching = run(Arc::downgrade(console));
    tokio::spawn(async move { stop.run_until_cancelled(watching).await });
}

pub(crate) async fn stream(
    State(console): State<Arc<Console>>,
    Extension(person): Extension<SignedIn>,
) -> Result<Response, Refused> {
    let marks = console.changes.marks.subscribe();
    console.changes.watched.notify_one();
    response(&console, person, told(marks))
}

/// All of it first: whoever comes back does not know what was missed.
fn told(marks: watch::Receiver<Marks>) -> impl Stream<Item = Told> + Send + 'static {
    let news = stream::unfold((marks, None::<Marks>), |(mut marks, before)| async move {
        if before.is_some() {
            sleep(TOGETHER).await;
            marks.changed().await.ok()?;
        }
        let now = *marks.borrow_and_update();
        let known = before.map(|it| it.named());
        let is_new = |at: usize, count: u64| known.is_none_or(|known| known[at].1 != count);
        let events: Vec<Told> = now
            .named()
            .iter()
            .enumerate()
            .filter(|(at, (_, count))| is_new(*at, *count))
            .map(|(_, (name, count))| Told {
                id: None,
                event: (*name).to_owned(),
                data: json!({ "count": count }).to_string(),
            })
            .collect();
        Some((stream::iter(events), (marks, Some(now))))
    });
    futures_util::StreamExt::flatten(news)
}

async fn run(console: Weak<Console>) {
    loop {
        let Some(strong) = console.upgrade() else { return };
        if strong.changes.marks.receiver_count() == 0 {
            // Nobody watches: nothing is looked at until somebody does, or the console is gone.
            let watched = tokio::time::timeout(UNWATCHED, strong.changes.watched.notified());
            let _ = watched.await;
            continue;
        }
        look(&strong).await;
    }
}

/// Looks for as long as somebody watches.
async fn look(console: &Console) {
    let marks = &console.changes.marks;
    let feed = &console.setup.feed;
    let mut rows = feed.follow(FeedScope::All, feed.last());
    let mut inbox = console.setup.inbox.watch();
    let mut orders = console.setup.orders.watch();
    let mut conversations = console.setup.conversations.watch();
    let mut seconds = interval(BETWEEN_LOOKS);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before: Option<Seen> = None;
    while marks.receiver_count() > 0 {
        tokio::select! {
            row = futures_util::StreamExt::next(&mut rows) => {
                let Some(Ok(row)) = row else {
                    // The journal ended or cannot be read: the node ends, too.
                    return sleep(BETWEEN_LOOKS).await;
                };
                // Orders speak for themselves.
                if !row.session_id.as_str().starts_with(OrderId::PREFIX) {
                    marks.send_modify(|marks| marks.sessions += 1);
                }
            }
            // These live as long as the console does.
            Ok(()) = orders.changed() => marks.send_modify(|marks| marks.orders += 1),
            Ok(()) = inbox.changed() => marks.send_modify(|marks| marks.inbox += 1),
            Ok(()) = conversations.changed() => marks.send_modify(|marks| marks.sessions += 1),
            _ = seconds.tick() => {
                let Some(now) = Seen::now(console).await else { continue };
                if let Some(before) = &before {
                    now.compare(before, marks);
                }
                before = Some(now);
            }
        }
    }
}

/// What shows that files have changed, whoever changed them.
#[derive(Debug, PartialEq)]
struct Seen {
    collections: Vec<Collection>,
    decision: u64,
    known: Vec<KnownDelegate>,
    given: Vec<Delegation>,
}

impl Seen {
    /// A file that cannot be read now is looked at the next time.
    async fn now(console: &Console) -> Option<Self> {
        let (library, peers) = (console.setup.desk.library().clone(), console.setup.peers.clone());
        tokio::task::spawn_blocking(move || Self::read(&library, &peers)).await.ok()?
    }

    fn read(library: &Library, peers: &Peers) -> Option<Self> {
        Some(Self {
            collections: library.collections(0, usize::MAX).ok()?,
            decision: library.last_audit(1).ok()?.last().map_or(0, |row| row.seq),
            known: peers.delegates().ok()?,
            given: peers.delegations(1).ok()?,
        })
    }

    fn compare(&self, before: &Self, marks: &watch::Sender<Marks>) {
        marks.send_if_modified(|marks| {
            let collections = self.collections != before.collections;
            let delegates = self.known != before.known || self.given != before.given;
            let decisions = self.decision != before.decision;
            marks.collections += u64::from(collections);
            marks.delegates += u64::from(delegates);
            marks.decisions += u64::from(decisions);
            collections || delegates || decisions
        });
    }
}

/// Changes that are told together.
const TOGETHER: Duration = Duration::from_millis(200);
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// How soon it is noticed that a console that nobody watches is gone.
const UNWATCHED: Duration = Duration::from_secs(5);
