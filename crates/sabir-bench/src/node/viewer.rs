//! Somebody who watches the conversation, in one of three manners, and remembers what was shown.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use sabir_testkit::NumberedEvent;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::random::Random;
use super::wire::{Events, Wanted};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Reads what comes.
    Steady,
    /// Reads nothing for a while, again and again, and has little room for what comes meanwhile.
    Slow,
    /// Breaks the connection, mostly in the middle of an event, and comes back later.
    Cutting,
}

impl Manner {
    /// Of twenty viewers two are slow and five come and go.
    pub(super) fn of(number: usize) -> Self {
        match number % 20 {
            3 | 13 => Self::Slow,
            1 | 5 | 9 | 14 | 18 => Self::Cutting,
            _ => Self::Steady,
        }
    }
}

/// How long somebody stays away or reads nothing, at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absence(pub(super) Duration);

pub(super) struct Viewer {
    pub(super) number: usize,
    pub(super) manner: Manner,
    pub(super) absence: Absence,
    pub(super) address: SocketAddr,
    pub(super) path: String,
    pub(super) cookie: String,
    /// The number of the last row, once it is known.
    pub(super) goal: watch::Receiver<Option<u64>>,
}

/// What a viewer was shown.
pub(super) struct Seen {
    pub(super) number: usize,
    pub(super) manner: Manner,
    pub(super) ids: Vec<u64>,
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    /// Connections that were broken and taken up again.
    pub(super) cuts: usize,
    /// When it began to watch, and when it was shown some of the rows; in milliseconds since 1970.
    pub(super) since_ms: u64,
    pub(super) arrivals: Vec<(u64, u64)>,
}

/// Stands for rows with all that is in them.
#[derive(Debug, Clone, Default)]
pub(super) struct Digest(DefaultHasher);

impl Digest {
    pub(super) fn add(&mut self, id: u64, event: &str, data: &str) {
        (id, event, data).hash(&mut self.0);
    }

    pub(super) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Viewer {
    /// Watches from the first row to the last.
    pub(super) async fn watch(mut self) -> anyhow::Result<Seen> {
        let number = self.number;
        Box::pin(self.follow()).await.with_context(|| format!("viewer {number}"))
    }

    async fn follow(&mut self) -> anyhow::Result<Seen> {
        let mut random = Random::new(SEED ^ (self.number as u64) << 32);
        let mut seen = Seen {
            number: self.number,
            manner: self.manner,
            ids: Vec::new(),
            digest: Digest::default(),
            bytes: 0,
            cuts: 0,
            since_ms: now_ms(),
            arrivals: Vec::new(),
        };
        let mut deadline = None;
        loop {
            let mut events = self.open(seen.ids.last().copied()).await?;
            // After so many bytes it goes, or rests.
            let mut until = random.between(LEAST_BYTES, MOST_BYTES);
            loop {
                let last = seen.ids.last().copied().unwrap_or(0);
                if self.goal.borrow().is_some_and(|goal| last >= goal) {
                    seen.bytes += events.bytes;
                    return Ok(seen);
                }
                let is_ending = self.goal.borrow().is_some();
                let deadline =
                    is_ending.then(|| *deadline.get_or_insert_with(|| Instant::now() + PATIENCE));
                tokio::select! {
                    row = events.next() => seen.take(row?)?,
                    // The end is near: what is left has to come soon.
                    changed = self.goal.changed(), if !is_ending => changed?,
                    () = late(deadline) => {
                        let goal = *self.goal.borrow();
                        anyhow::bail!("row {last} was the last that came, and not row {goal:?}");
                    }
                }
                if events.bytes < until || is_ending {
                    continue;
                }
                match self.manner {
                    Manner::Steady => {}
                    Manner::Slow => {
                        until = events.bytes + random.between(LEAST_BYTES, MOST_BYTES);
                        sleep(self.while_away(&mut random)).await;
                    }
                    Manner::Cutting => break,
                }
            }
            seen.bytes += events.bytes;
            seen.cuts += 1;
            drop(events);
            sleep(self.while_away(&mut random)).await;
        }
    }

    async fn open(&self, after: Option<u64>) -> anyhow::Result<Events> {
        let room = (self.manner == Manner::Slow).then_some(LITTLE_ROOM);
        let (path, cookie) = (self.path.as_str(), self.cookie.as_str());
        let wanted = Wanted { address: self.address, path, cookie, after, room };
        timeout(PATIENCE, Events::open(&wanted)).await.context("no answer")?
    }

    fn while_away(&self, random: &mut Random) -> Duration {
        let Absence(longest) = self.absence;
        Duration::from_millis(random.between(0, longest.as_millis() as u64))
    }
}

impl Seen {
    fn take(&mut self, row: NumberedEvent) -> anyhow::Result<()> {
        let last = self.ids.last().copied().unwrap_or(0);
        ensure!(row.id > last, "row {} came after row {last}", row.id);
        if row.id.is_multiple_of(ONE_IN) {
            self.arrivals.push((row.id, now_ms()));
        }
        self.digest.add(row.id, &row.event, &row.data);
        self.ids.push(row.id);
        Ok(())
    }
}

async fn late(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

/// The same in every run: what goes wrong once can be looked for.
const SEED: u64 = 20_26;
/// What a viewer that is not steady reads between two rests.
const LEAST_BYTES: u64 = 2_000;
const MOST_BYTES: u64 = 200_000;
/// About a second of what is told; the kernel doubles it. With a window of a few segments the kernel's
/// own timers would be what makes a viewer slow, down to some kilobytes a second for good, and whoever
/// never catches up is let go.
const LITTLE_ROOM: u32 = 32 * 1024;
/// Of so many rows one is timed.
const ONE_IN: u64 = 8;
/// Far more than the last rows need.
const PATIENCE: Duration = Duration::from_secs(30);
