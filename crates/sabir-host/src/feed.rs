//! The journal as it grows, for any number of viewers. Rows come from disk and only from there, so
//! nothing is shown that could still be lost. What was written last is read once and shared; a viewer
//! that falls behind reads the rest for itself. It knows rows, and not what they mean.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use sabir_store::{Line, Most, Reader, Scope, SessionId, Store, StoreError};
use tokio::sync::{Semaphore, watch};

/// A journal that can be followed. Clones share what they read; one is enough for a store.
#[derive(Clone)]
pub struct Feed(Arc<Shared>);

/// Which rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedScope {
    All,
    Session(SessionId),
}

/// Rows in order, each once. It ends when the store closes, and after an error.
pub type FeedStream = BoxStream<'static, Result<Arc<Line>, StoreError>>;

struct Shared {
    home: PathBuf,
    last: watch::Receiver<u64>,
    recent: Mutex<Recent>,
    /// Whoever reads what is new, reads it for all.
    reading: tokio::sync::Mutex<Option<Reader>>,
    /// For those who are behind.
    spare: Mutex<Vec<Reader>>,
    behind: Semaphore,
}

/// The rows that were written last, without a gap.
#[derive(Default)]
struct Recent {
    lines: VecDeque<Arc<Line>>,
    bytes: usize,
    /// The number of the last one, also when there is none.
    end: u64,
}

struct Follower {
    feed: Arc<Shared>,
    scope: FeedScope,
    /// Everything up to here is in `ready` or was handed out.
    at: u64,
    ready: VecDeque<Arc<Line>>,
    last: watch::Receiver<u64>,
    is_over: bool,
}

/// What is shared: some seconds of a busy node.
const RECENT: Most = Most { lines: 4096, bytes: 8 << 20 };
/// What one viewer holds at a time, and what is read at a time.
const STEP: Most = Most { lines: 256, bytes: 1 << 20 };
/// Those who are behind read so many at a time; the others wait.
const BEHIND: usize = 4;

impl Feed {
    /// Does not hold the store open.
    pub fn new(store: &Store) -> Self {
        let (told, last) = watch::channel(0);
        store.on_commit(move |last| {
            told.send_replace(last);
        });
        let shared = Shared {
            home: store.home().to_owned(),
            last,
            recent: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            spare: Mutex::default(),
            behind: Semaphore::new(BEHIND),
        };
        Self(Arc::new(shared))
    }

    /// The number of the last row on disk.
    pub fn last(&self) -> u64 {
        *self.0.last.borrow()
    }

    /// The number of the last row on disk, as it changes.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.last.clone()
    }

    /// The rows after number `after`, those that are there and then those that come. Nobody waits for
    /// who is slow, and who is slow misses nothing.
    pub fn follow(&self, scope: FeedScope, after: u64) -> FeedStream {
        let follower = Follower {
            feed: Arc::clone(&self.0),
            scope,
            at: after,
            ready: VecDeque::new(),
            last: self.0.last.clone(),
            is_over: false,
        };
        let next = async |mut follower: Follower| {
            let line = follower.next().await?;
            follower.is_over = line.is_err();
            Some((line, follower))
        };
        stream::unfold(follower, next).boxed()
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("last", &self.last()).finish_non_exhaustive()
    }
}

impl Follower {
    async fn next(&mut self) -> Option<Result<Arc<Line>, StoreError>> {
        if self.is_over {
            return None;
        }
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            let at = self.at;
            // What is on disk when the store closes is still handed out.
            let last = *self.last.wait_for(|last| *last > at).await.ok()?;
            if let Err(error) = self.advance(last).await {
                return Some(Err(error));
            }
        }
    }

    /// Takes a step towards `last`, with what there is on the way.
    async fn advance(&mut self, last: u64) -> Result<(), StoreError> {
        // Both at one moment: who has all that was shared is not behind because more is shared since.
        let (taken, end) = {
            let recent = self.feed.recent();
            (recent.take(&self.scope, self.at), recent.end)
        };
        if let Some((lines, at)) = taken {
            (self.ready, self.at) = (lines, at);
            return Ok(());
        }
        // Far away, or before what is shared begins: that is nobody else's business.
        let is_behind = self.at < end;
        if is_behind || last - self.at > RECENT.lines as u64 {
            let (feed, scope, at) = (Arc::clone(&self.feed), self.scope.clone(), self.at);
            let lines = apart(async move { feed.read_behind(scope, at).await }).await?;
            self.at = lines.last().map_or(last, |line| line.seq);
            self.ready = lines.into_iter().map(Arc::new).collect();
            return Ok(());
        }
        let (feed, at) = (Arc::clone(&self.feed), self.at);
        apart(async move { feed.read_on(at).await }).await
    }
}

impl Shared {
    fn recent(&self) -> MutexGuard<'_, Recent> {
        // Nothing panics between two related changes, so a poisoned state is still whole.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shares the rows after number `at`, unless somebody else did meanwhile.
    async fn read_on(&self, at: u64) -> Result<(), StoreError> {
        let mut reading = self.reading.lock().await;
        let after = {
            let mut recent = self.recent();
            if recent.end > at {
                return Ok(());
            }
            if at - recent.end > STEP.lines as u64 {
                *recent = Recent { end: at, ..Recent::default() };
            }
            recent.end
        };
        let (reader, home) = (reading.take(), self.home.clone());
        let (reader, lines) = blocking(move || read(reader, &home, &FeedScope::All, after)).await?;
        *reading = Some(reader);
        self.recent().extend(lines);
        Ok(())
    }

    async fn read_behind(&self, scope: FeedScope, after: u64) -> Result<Vec<Line>, StoreError> {
        // It is never closed.
        let _place = self.behind.acquire().await.map_err(|_| StoreError::Closed)?;
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, home) = (spare().pop(), self.home.clone());
        let (reader, lines) = blocking(move || read(reader, &home, &scope, after)).await?;
        spare().push(reader);
        Ok(lines)
    }
}

impl Recent {
    /// Rows of a scope after number `at`, and up to which number that is all. None if it does not
    /// hold the one after `at`.
    fn take(&self, scope: &FeedScope, at: u64) -> Option<(VecDeque<Arc<Line>>, u64)> {
        let first = self.lines.front()?.seq;
        let from = usize::try_from((at + 1).checked_sub(first)?).ok()?;
        if from >= self.lines.len() {
            return None;
        }
        let (mut taken, mut bytes, mut at) = (VecDeque::new(), 0usize, at);
        for line in self.lines.range(from..) {
            if scope.holds(line) {
                bytes = bytes.saturating_add(line.body.len());
                let is_full = taken.len() == STEP.lines || bytes > STEP.bytes;
                if is_full && !taken.is_empty() {
                    break;
                }
                taken.push_back(Arc::clone(line));
            }
            at = line.seq;
        }
        Some((taken, at))
    }

    fn extend(&mut self, lines: Vec<Line>) {
        for line in lines {
            self.end = line.seq;
            self.bytes += line.body.len();
            self.lines.push_back(Arc::new(line));
        }
        while self.lines.len() > RECENT.lines || self.bytes > RECENT.bytes {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.body.len();
        }
    }
}

impl FeedScope {
    fn holds(&self, line: &Line) -> bool {
        match self {
            Self::All => true,
            Self::Session(id) => line.session_id == *id,
        }
    }
}

fn read(
    reader: Option<Reader>,
    home: &std::path::Path,
    scope: &FeedScope,
    after: u64,
) -> Result<(Reader, Vec<Line>), StoreError> {
    let reader = reader.map_or_else(|| Reader::open(home), Ok)?;
    let scope = match scope {
        FeedScope::All => Scope::All,
        FeedScope::Session(id) => Scope::Session(id),
    };
    let lines = reader.stretch(scope, after, STEP)?;
    Ok((reader, lines))
}

/// Reads in a task of its own: a viewer is left alone while nobody takes what it has, and must not
/// hold what all read with meanwhile, or stand in line for it.
async fn apart<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::spawn(work).await.map_err(failed)?
}

/// A file is read on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

fn failed(error: tokio::task::JoinError) -> StoreError {
    StoreError::Failed { why: error.to_string() }
}
