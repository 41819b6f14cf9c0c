//! Whoever tells one webhook what becomes of one task.

use std::sync::Arc;
use std::time::Duration;

use a2a::StreamResponse;
use a2a_pb::protojson_conv;
use futures_util::StreamExt as _;
use reqwest::Url;
use sabir_capture::{FetchError, Poster};

use super::super::PushLimits;
use super::super::shape::{Shape, events, task};
use super::book::{Book, Hook};
use crate::errands::{Errands, ErrandsError, Movement, Placed};

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
        let placed = match self.errands.get(self.task).await {
            Ok(placed) => placed,
            Err(ErrandsError::Unknown) => return End::GivenUp,
            Err(_) => return End::Later,
        };
        let mut failures = 0;
        let after = match start {
            Start::After(after) => after,
            Start::Snapshot => {
                let whole = StreamResponse::Task(task(&placed, Shape::whole(Some(0))));
                let is_told = self.tell(&whole).await;
                match placed.state.is_over() {
                    true if is_told => return End::Told,
                    true => return End::GivenUp,
                    false => failures += u32::from(!is_told),
                }
                placed.last
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
            for event in events(placed, &step) {
                match self.tell(&event).await {
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

    /// Whether it was delivered, at the first try or a later one.
    async fn tell(&self, event: &StreamResponse) -> bool {
        let (Ok(value), Ok(url)) = (protojson_conv::to_value(event), Url::parse(&self.hook.url))
        else {
            return false;
        };
        let body = value.to_string().into_bytes();
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

const MEDIA_TYPE: &str = "application/a2a+json";
/// A webhook that wants to be left alone for longer is told the rest, and not this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
