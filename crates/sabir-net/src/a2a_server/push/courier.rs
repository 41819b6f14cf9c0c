//! Whoever tells one webhook what becomes of one task.

use std::sync::Arc;
use std::time::Duration;

use a2a::StreamResponse;
use a2a_pb::protojson_conv;
use futures_util::StreamExt as _;
use reqwest::Url;
use sabir_capture::{FetchError, Poster};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::super::PushLimits;
use super::super::shape::{Shape, events, task};
use super::book::{Book, Hook};
use crate::errands::{Errands, ErrandsError, Movement, Placed, Step};

/// Where telling begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    /// With the task as it is.
    Snapshot,
    /// With what happens after this row.
    After(u64),
}

pub(super) struct Courier<'a> {
    pub(super) task: &'a str,
    pub(super) hook: &'a Hook,
    pub(super) book: &'a Book,
    pub(super) poster: &'a Poster,
    pub(super) errands: &'a Arc<dyn Errands>,
    pub(super) limits: &'a PushLimits,
    /// Of those who read and write.
    pub(super) turns: &'a Semaphore,
}

/// Whether there is more to tell.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Told,
    GivenUp,
    /// The journal cannot be read, or the node stops: the next start goes on.
    Later,
}

impl Courier<'_> {
    /// Tells until the task is over. A webhook that was told the end is done.
    pub(super) async fn run(&self, start: Start) {
        if self.tell_all(start).await != End::Later {
            // What cannot be written down is told once more after a restart.
            let _ = self.book.end(self.task, self.hook).await;
        }
    }

    async fn tell_all(&self, start: Start) -> End {
        let mut failures = 0;
        let (placed, after) = match start {
            Start::After(after) => match self.read().await {
                Ok(placed) => (placed, after),
                Err(end) => return end,
            },
            Start::Snapshot => {
                let (placed, body) = match self.write_snapshot().await {
                    Ok(written) => written,
                    Err(end) => return end,
                };
                let is_told = self.tell(body).await;
                match placed.state.is_over() {
                    true if is_told => return End::Told,
                    true => return End::GivenUp,
                    false => failures += u32::from(!is_told),
                }
                let last = placed.last;
                (placed, last)
            }
        };
        self.follow(&placed, after, failures).await
    }

    async fn follow(&self, placed: &Placed, after: u64, mut failures: u32) -> End {
        let mut steps = self.errands.follow(self.task, after);
        // Only what changes the state is told: every word on the way would be a request.
        let mut is_waiting = false;
        while let Some(step) = steps.next().await {
            let Ok(step) = step else { return End::Later };
            let waits = matches!(step.what, Movement::Waiting { .. });
            let is_end = matches!(step.what, Movement::Ended(_));
            if !is_end && waits == is_waiting {
                continue;
            }
            is_waiting = waits;
            let bodies = match self.write(placed, step).await {
                Ok(bodies) => bodies,
                Err(end) => return end,
            };
            for body in bodies {
                match self.tell(body).await {
                    true => failures = 0,
                    false => failures += 1,
                }
                if failures >= self.limits.failures {
                    return End::GivenUp;
                }
            }
            if is_end {
                return if failures == 0 { End::Told } else { End::GivenUp };
            }
        }
        End::Later
    }

    /// The task, without what is large in it: a courier may have it for as long as the task takes.
    async fn read(&self) -> Result<Placed, End> {
        let _turn = self.turn().await;
        Ok(without_words(self.find().await?))
    }

    /// The same, and the whole of it as it is sent.
    async fn write_snapshot(&self) -> Result<(Placed, Option<Vec<u8>>), End> {
        let _turn = self.turn().await;
        let placed = self.find().await?;
        let whole = StreamResponse::Task(task(&placed, Shape::whole(Some(0))));
        Ok((without_words(placed), written(&whole)))
    }

    /// What is told of a step, as it is sent. The task that has ended is read again: whoever waits for
    /// a turn holds nothing of it.
    async fn write(&self, placed: &Placed, step: Step) -> Result<Vec<Option<Vec<u8>>>, End> {
        let Step { seq, at_ms, what } = step;
        let what = match what {
            Movement::Ended(_) => None,
            what @ (Movement::Progress { .. } | Movement::Waiting { .. }) => Some(what),
        };
        let _turn = self.turn().await;
        let what = match what {
            Some(what) => what,
            None => Movement::Ended(Box::new(self.find().await?)),
        };
        Ok(events(placed, &Step { seq, at_ms, what }).iter().map(written).collect())
    }

    /// Reading a task and writing it takes many times what is sent in the end: few do it at once.
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.turns.acquire().await.ok()
    }

    async fn find(&self) -> Result<Placed, End> {
        self.errands.get(self.task).await.map_err(|error| match error {
            ErrandsError::Unknown => End::GivenUp,
            _ => End::Later,
        })
    }

    /// Whether it was delivered, at the first try or a later one.
    async fn tell(&self, body: Option<Vec<u8>>) -> bool {
        let (Some(body), Ok(url)) = (body, Url::parse(&self.hook.url)) else { return false };
        let Hook { token, scheme, credentials, .. } = self.hook;
        let authorization = scheme
            .as_ref()
            .zip(credentials.as_ref())
            .map(|(scheme, credentials)| format!("{scheme} {credentials}"));
        let mut headers = vec![("content-type", MEDIA_TYPE), ("a2a-version", a2a::VERSION)];
        headers.extend(authorization.as_deref().map(|it| ("authorization", it)));
        // The specification names no header for it; these are what the reference SDKs read.
        for name in ["x-a2a-notification-token", "a2a-notification-token"] {
            headers.extend(token.as_deref().map(|it| (name, it)));
        }
        let mut pause = self.limits.pause;
        for attempt in 1..=self.limits.attempts {
            let wait = match self.poster.post(&url, &headers, body.clone()).await {
                Ok(()) => return true,
                Err(error) if attempt == self.limits.attempts || !error.is_retryable() => break,
                Err(FetchError::Status { retry_after: Some(wait), .. }) => wait.min(LONGEST_PAUSE),
                Err(_) => Duration::ZERO,
            };
            tokio::time::sleep(pause.max(wait)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        false
    }
}

fn written(event: &StreamResponse) -> Option<Vec<u8>> {
    Some(protojson_conv::to_value(event).ok()?.to_string().into_bytes())
}

fn without_words(mut placed: Placed) -> Placed {
    placed.output = None;
    if let Some(visit) = &mut placed.visit {
        visit.message = None;
    }
    placed
}

const MEDIA_TYPE: &str = "application/a2a+json";
/// A webhook that wants to be left alone for longer is told the rest, and not this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
