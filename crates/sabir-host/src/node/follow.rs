//! A task's stream: its updates with their numbers, each once and in order, and how it ended. What
//! was told before is read from the store, and so is what a slow follower missed.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::ready;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use sabir_ldp::{Body, Refusal, TaskUpdated};
use sabir_store::StoreError;
use tokio::sync::watch;

use super::answer::Answer;
use super::request::{Request, Trail};
use super::topic::After;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Greater than that of the event before; the same whenever it is told again.
    pub id: u64,
    /// The envelope, sealed.
    pub text: String,
    /// Nothing comes after it.
    pub last: bool,
}

/// The events of a task. Dropping it ends the stream and not the task.
pub struct Follow(BoxStream<'static, Told>);

/// Where a follower stands.
struct Follower {
    request: Request,
    trail: Option<Trail>,
    /// Woken when there are updates; none until the task may be followed.
    news: Option<watch::Receiver<u64>>,
    /// The store may have updates that were not told.
    is_behind: bool,
    ready: VecDeque<Arc<TaskUpdated>>,
    /// The number of the last update that was told, or that was told before.
    told: u64,
    /// Whether `told` may be more than there is, because the follower says so and nobody looked yet.
    is_claimed: bool,
    end: Option<End>,
    is_over: bool,
}

enum End {
    Answered(Box<Answer>),
    /// The node stopped before there was an answer.
    Closed,
}

impl Follow {
    pub(super) fn new(request: Request, trail: Option<Trail>, after: Option<u64>) -> Self {
        let follower = Follower {
            request,
            trail,
            news: None,
            is_behind: false,
            ready: VecDeque::new(),
            told: after.unwrap_or(0),
            is_claimed: after.is_some_and(|after| after > 0),
            end: None,
            is_over: false,
        };
        let next = |mut follower: Follower| async move {
            let told = follower.next().await?;
            Some((told, follower))
        };
        Self(stream::unfold(follower, next).boxed())
    }

    /// A stream that says no more than this.
    pub(super) fn of_one(text: String) -> Self {
        Self(stream::once(ready(Told { id: 1, text, last: true })).boxed())
    }
}

impl Follower {
    async fn next(&mut self) -> Option<Told> {
        loop {
            if self.is_over {
                return None;
            }
            if let Some(update) = self.ready.pop_front() {
                if update.seq <= self.told {
                    continue;
                }
                self.told = update.seq;
                return Some(self.told_update(&update));
            }
            if self.is_behind {
                match self.read_on().await {
                    Ok(()) => continue,
                    Err(text) => return Some(self.last(text)),
                }
            }
            if let Some(end) = self.end.take() {
                return Some(self.told_end(end).await);
            }
            if self.take_recent() {
                continue;
            }
            self.wait().await;
        }
    }

    /// What is to be told next, from memory. Says whether there is something to do.
    fn take_recent(&mut self) -> bool {
        let (Some(trail), Some(_)) = (&self.trail, &self.news) else { return false };
        match trail.topic.after(self.told) {
            After::Updates(updates) => self.ready.extend(updates),
            After::InStore => self.is_behind = true,
            After::NothingYet => return false,
        }
        true
    }

    /// Until there are updates or an answer.
    async fn wait(&mut self) {
        let answer = match (&mut self.news, &mut self.trail) {
            (Some(news), _) => tokio::select! {
                biased;
                answer = self.request.replied() => answer,
                _ = news.changed() => return,
            },
            (None, Some(trail)) => tokio::select! {
                biased;
                answer = self.request.replied() => answer,
                Ok(()) = &mut trail.admitted => {
                    // What was told before this is on disk, and what comes after is told to the topic.
                    self.news = Some(trail.topic.watch());
                    self.is_behind = true;
                    return;
                }
            },
            (None, None) => self.request.replied().await,
        };
        self.is_behind =
            self.trail.is_some() && answer.as_ref().is_some_and(|answer| is_about_task(answer));
        self.end = Some(match answer {
            Some(answer) => End::Answered(answer),
            None => End::Closed,
        });
    }

    /// The next updates, from the store.
    async fn read_on(&mut self) -> Result<(), String> {
        let Some(trail) = &self.trail else { return Ok(()) };
        let journal = &self.request.core().journal;
        if std::mem::take(&mut self.is_claimed) {
            // An update is on disk before it is told, so that nobody has heard a later one. Who names
            // the number of the end, or one that nothing has, has heard all updates that there are.
            match journal.last_update(trail.key.clone()).await {
                Ok(last) => self.told = self.told.min(last),
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
        match journal.updates(trail.key.clone(), self.told, PAGE).await {
            Ok(updates) => {
                self.is_behind = updates.len() == PAGE;
                self.ready.extend(updates.into_iter().map(Arc::new));
                Ok(())
            }
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    fn unreadable(&self, error: &StoreError) -> String {
        self.request.failed(&format!("the journal cannot be read: {error}"))
    }

    fn told_update(&self, update: &TaskUpdated) -> Told {
        let core = self.request.core();
        let text = core.moment().map(|mut moment| {
            core.with_pen(|pen| pen.write_update(&self.request.voice, update, &mut moment))
        });
        Told { id: update.seq, text: text.unwrap_or_default(), last: false }
    }

    async fn told_end(&mut self, end: End) -> Told {
        let text = match end {
            End::Answered(answer) => self.request.write(answer).await,
            End::Closed => {
                let why = self.request.core().why_closed();
                self.request.failed(why.unwrap_or("this node cannot answer now"))
            }
        };
        self.last(text)
    }

    fn last(&mut self, text: String) -> Told {
        self.is_over = true;
        Told { id: self.told.saturating_add(1), text, last: true }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(Trail { key, topic, .. }) = self.trail.take() {
            drop(topic);
            self.request.core().machine().leave(&key);
        }
    }
}

impl Stream for Follow {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        self.0.as_mut().poll_next(context)
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow").finish_non_exhaustive()
    }
}

/// Whether an answer says how the sender's task ended. Of another's task nothing is told, and nothing
/// of one that the sender cannot prove to be its own.
fn is_about_task(answer: &Answer) -> bool {
    let strange = [Refusal::MessageInvalid, Refusal::TaskNotFound];
    match &answer.envelope.body {
        _ if answer.is_refused => false,
        Body::TaskResult(_) => true,
        Body::TaskFailed(failure) => {
            !failure.error.refusal().is_some_and(|refusal| strange.contains(&refusal))
        }
        _ => false,
    }
}

/// Updates that are read from the store at once.
const PAGE: usize = 64;
