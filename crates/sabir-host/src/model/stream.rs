//! One answer of a model, event by event.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use sabir_engine::{FailureKind, ModelEvent, ModelFailure, StreamDecoder, WireApi};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::failure;
use super::provider::Provider;
use super::watched::Call;

/// An answer on its way. It reads no further ahead than it is asked.
pub struct ModelStream {
    provider: Arc<Provider>,
    cancel: CancellationToken,
    state: State,
    /// Decoded and not yet handed out.
    ready: std::vec::IntoIter<ModelEvent>,
    /// Since when the caller waits for a byte: time that the caller spends elsewhere is not the
    /// server's silence.
    waiting_since: Option<Instant>,
    bytes: u64,
    call: Call,
}

enum State {
    /// Boxed, so that an answer is not lost when the caller stops waiting and comes back.
    Sending(Pin<Box<dyn Future<Output = Result<Box<Answer>, ModelFailure>> + Send>>),
    Reading(Box<Answer>),
    Over,
}

struct Answer {
    response: Response,
    decoder: StreamDecoder,
}

/// What a wait ended with.
enum Step {
    Cancelled,
    Silent,
    Answered(Result<Box<Answer>, ModelFailure>),
    Bytes(Vec<ModelEvent>),
    Ended(Option<ModelFailure>),
}

impl ModelStream {
    pub(super) fn new(
        provider: Arc<Provider>,
        model: &str,
        request: RequestBuilder,
        cancel: CancellationToken,
    ) -> Self {
        let call = Call::begin(model, &provider.name);
        let sending = send(Arc::clone(&provider), request);
        Self {
            provider,
            cancel,
            state: State::Sending(Box::pin(sending)),
            ready: Vec::new().into_iter(),
            waiting_since: None,
            bytes: 0,
            call,
        }
    }

    /// The next event. The last one is [`ModelEvent::Completed`] or [`ModelEvent::Failed`]; only
    /// after a cancel there is none. A call that is given up loses nothing.
    pub async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if self.cancel.is_cancelled() {
                self.close();
                return None;
            }
            if let Some(event) = self.ready.next() {
                self.call.heard(&event);
                return Some(self.without_secrets(event));
            }
            if matches!(self.state, State::Over) {
                return None;
            }
            match self.step().await {
                Step::Cancelled => {
                    self.close();
                    return None;
                }
                Step::Answered(Ok(answer)) => self.state = State::Reading(answer),
                Step::Answered(Err(failure)) => self.end_with(vec![ModelEvent::Failed(failure)]),
                Step::Bytes(events) => {
                    self.ready = events.into_iter();
                    // What a server sends after the end does not matter, nor whether it hangs up.
                    if matches!(&self.state, State::Reading(answer) if answer.decoder.is_over()) {
                        self.state = State::Over;
                    }
                }
                Step::Ended(failure) => self.finish(failure),
                Step::Silent => {
                    let silence = self.provider.stream_idle_timeout;
                    let message = format!("no byte came from the model server for {silence:?}");
                    self.finish(Some(ModelFailure::new(FailureKind::Idle, message)));
                }
            }
            self.waiting_since = None;
        }
    }

    /// Waits for the next thing that happens on the connection.
    async fn step(&mut self) -> Step {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let patience = match &self.state {
            State::Reading(answer) if answer.decoder.awaits_only_the_end() => {
                self.provider.stream_idle_timeout.min(LONGEST_WAIT_FOR_THE_END)
            }
            _ => self.provider.stream_idle_timeout,
        };
        let deadline = since + patience.min(LONGEST_PATIENCE);
        let (state, bytes) = (&mut self.state, &mut self.bytes);
        let step = async {
            match state {
                State::Sending(sending) => Step::Answered(sending.await),
                State::Reading(answer) => read(answer, bytes).await,
                State::Over => Step::Ended(None),
            }
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Step::Cancelled,
            step = timeout_at(deadline, step) => step.unwrap_or(Step::Silent),
        }
    }

    /// The bytes are over. What came may be whole all the same; if not, `failure` says why.
    fn finish(&mut self, failure: Option<ModelFailure>) {
        let mut events = match std::mem::replace(&mut self.state, State::Over) {
            State::Reading(mut answer) => answer.decoder.finish(),
            State::Sending(_) | State::Over => Vec::new(),
        };
        if let Some(failure) = failure {
            match events.last_mut() {
                Some(ModelEvent::Failed(known)) if known.kind == FailureKind::Disconnected => {
                    *known = failure;
                }
                Some(ModelEvent::Completed { .. } | ModelEvent::Failed(_)) => {}
                _ => events.push(ModelEvent::Failed(failure)),
            }
        }
        self.end_with(events);
    }

    fn end_with(&mut self, events: Vec<ModelEvent>) {
        self.state = State::Over;
        self.ready = events.into_iter();
    }

    /// Dropping the answer closes its connection.
    fn close(&mut self) {
        self.end_with(Vec::new());
    }

    fn without_secrets(&self, event: ModelEvent) -> ModelEvent {
        match event {
            ModelEvent::Failed(mut failure) => {
                failure.message = self.provider.scrub(failure.message);
                ModelEvent::Failed(failure)
            }
            other => other,
        }
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelStream").field("provider", &self.provider).finish_non_exhaustive()
    }
}

async fn send(
    provider: Arc<Provider>,
    request: RequestBuilder,
) -> Result<Box<Answer>, ModelFailure> {
    let response = request.send().await.map_err(|error| failure::of_send(&error, &provider))?;
    if !response.status().is_success() {
        return Err(failure::of_status(response, &provider).await);
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let kind = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let decoder = match kind.to_ascii_lowercase().as_str() {
        "application/json" => StreamDecoder::whole(provider.wire_api, fallback_id(&provider)),
        "text/html" => {
            let message = format!(
                "{} answered with a web page: check base_url, it often ends in /v1",
                provider.base_url
            );
            return Err(ModelFailure::new(FailureKind::Refused, message));
        }
        _ => StreamDecoder::new(provider.wire_api, fallback_id(&provider)),
    };
    Ok(Box::new(Answer { response, decoder }))
}

async fn read(answer: &mut Answer, bytes: &mut u64) -> Step {
    match answer.response.chunk().await {
        Ok(Some(chunk)) => {
            *bytes += chunk.len() as u64;
            if *bytes > LARGEST_ANSWER {
                let message = format!("the answer is larger than {LARGEST_ANSWER} bytes");
                return Step::Ended(Some(ModelFailure::new(FailureKind::Refused, message)));
            }
            Step::Bytes(answer.decoder.push(&chunk))
        }
        Ok(None) => Step::Ended(None),
        Err(error) => Step::Ended(Some(failure::of_read(&error))),
    }
}

/// A name for a response that has none, different each time.
fn fallback_id(provider: &Provider) -> String {
    let prefix = match provider.wire_api {
        WireApi::Responses => "resp",
        WireApi::Chat => "chatcmpl",
    };
    let mut bytes = [0; 12];
    // Without a random source the names are equal, which servers that give none live with.
    let _ = getrandom::fill(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}_{hex}")
}

/// Some servers forget to hang up after a finished answer.
const LONGEST_WAIT_FOR_THE_END: Duration = Duration::from_secs(2);

/// A day: longer would overflow the clock on some machines, and is never meant.
const LONGEST_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Thousands of times the longest answer of any model.
const LARGEST_ANSWER: u64 = 256 * 1024 * 1024;
