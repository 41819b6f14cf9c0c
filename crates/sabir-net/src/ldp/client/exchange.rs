//! One message on its way and what comes back: a single answer, or a stream of news with an answer
//! at its end. It knows no session; what comes back is read by who asked.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response, StatusCode};
use sabir_engine::SseDecoder;
use sabir_ldp::{ExchangeId, TaskId};
use sabir_telemetry::{TRACEPARENT, TraceContext};
use tokio::sync::mpsc;

use super::base::Base;
use super::http::{Http, Trouble, of_error, of_status, read_text};

/// A message to be sent, signed and written.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) exchange: ExchangeId,
    pub(super) text: String,
    pub(super) by: Way,
    /// How long an answer may take, or a stream until it begins.
    pub(super) patience: Duration,
    /// How long a stream may be silent.
    pub(super) silence: Duration,
    /// What its task is part of. It travels beside the message, which it is no part of.
    pub(super) trace: Option<TraceContext>,
}

#[derive(Debug, Clone)]
pub(super) enum Way {
    Messages,
    /// The task, and the id of the last event of it that was seen.
    Stream {
        task: TaskId,
        after: Option<String>,
    },
}

/// What came back.
#[derive(Debug)]
pub(super) enum Wire {
    Answer {
        exchange: ExchangeId,
        text: String,
    },
    /// An event of a stream that goes on or is over.
    News {
        exchange: ExchangeId,
        task: TaskId,
        id: Option<String>,
        text: String,
    },
    Failed {
        exchange: ExchangeId,
        trouble: Trouble,
    },
    /// The delegate has no streams: the message was not read and goes another way.
    NoStream {
        exchange: ExchangeId,
        task: TaskId,
        text: String,
    },
}

/// Carries a message; the last thing that is told is not [`Wire::News`], unless nobody listens.
pub(super) async fn carry(http: Http, base: Base, outgoing: Outgoing, wires: mpsc::Sender<Wire>) {
    let exchange = outgoing.exchange;
    let told = match &outgoing.by {
        Way::Messages => match ask(&http, &base, &outgoing).await {
            Ok(text) => Wire::Answer { exchange, text },
            Err(trouble) => failed(exchange, trouble).await,
        },
        Way::Stream { task, after } => {
            let followed = follow(&http, &base, &outgoing, (task, after.as_deref()), &wires).await;
            match followed {
                Ok(Some(told)) => told,
                // Nobody listens.
                Ok(None) => return,
                Err(trouble) => failed(exchange, trouble).await,
            }
        }
    };
    let _ = wires.send(told).await;
}

/// Who was told to come back later is told of the failure later.
async fn failed(exchange: ExchangeId, trouble: Trouble) -> Wire {
    if let Trouble::Passing { wait, .. } = &trouble {
        tokio::time::sleep(*wait).await;
    }
    Wire::Failed { exchange, trouble }
}

async fn ask(http: &Http, base: &Base, outgoing: &Outgoing) -> Result<String, Trouble> {
    let asked = async {
        let request = http.post(base, MESSAGES).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        let request = traced(request, outgoing.trace);
        let sent = request.body(outgoing.text.clone()).send().await;
        answer(sent.map_err(|error| of_error(&error))?).await
    };
    tokio::time::timeout(outgoing.patience, asked)
        .await
        .unwrap_or_else(|_| Err(Trouble::passing("no answer in time")))
}

/// A whole answer. One that came with the status of an error counts if it is a message.
async fn answer(response: Response) -> Result<String, Trouble> {
    let (status, headers) = (response.status(), response.headers().clone());
    if status.is_redirection() {
        return Err(Trouble::elsewhere(&response));
    }
    let text = read_text(response, MAX_ANSWER_BYTES).await?;
    let is_message = is_kind(&headers, JSON) && sabir_ldp::Received::read(&text).is_ok();
    if status.is_success() || is_message {
        return Ok(text);
    }
    Err(of_status(status, &headers, &text))
}

async fn follow(
    http: &Http,
    base: &Base,
    outgoing: &Outgoing,
    (task, after): (&TaskId, Option<&str>),
    wires: &mpsc::Sender<Wire>,
) -> Result<Option<Wire>, Trouble> {
    let (exchange, patience) = (outgoing.exchange, outgoing.patience);
    let silent = || Trouble::passing("the stream was silent for too long");
    let mut request = http.post(base, STREAM).header(CONTENT_TYPE, JSON).header(ACCEPT, EVENTS);
    request = traced(request, outgoing.trace);
    if let Some(after) = after {
        request = request.header(LAST_EVENT_ID, after);
    }
    let sent = tokio::time::timeout(patience, request.body(outgoing.text.clone()).send()).await;
    let mut response = sent.map_err(|_| silent())?.map_err(|error| of_error(&error))?;
    let absent =
        [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED];
    if absent.contains(&response.status()) {
        let (task, text) = (task.clone(), outgoing.text.clone());
        return Ok(Some(Wire::NoStream { exchange, task, text }));
    }
    if !response.status().is_success() || !is_kind(response.headers(), EVENTS) {
        // Not a stream, but perhaps an answer.
        let answered = tokio::time::timeout(patience, answer(response)).await;
        let text = answered.map_err(|_| silent())??;
        return Ok(Some(Wire::Answer { exchange, text }));
    }
    let mut decoder = SseDecoder::new();
    loop {
        // Comments that keep the stream alive are bytes, too.
        let chunk = tokio::time::timeout(outgoing.silence, response.chunk()).await;
        let chunk = chunk.map_err(|_| silent())?;
        let Some(chunk) = chunk.map_err(|error| of_error(&error))? else {
            // What was not ended by an empty line is not whole.
            return Err(Trouble::passing("the stream ended before the task did"));
        };
        let mut events = Vec::new();
        let decoded = decoder.push(&chunk, &mut |event| {
            let id = std::str::from_utf8(event.id).ok().filter(|id| !id.is_empty());
            events.push((id.map(str::to_owned), String::from_utf8(event.data.to_vec())));
        });
        decoded.map_err(|error| Trouble::lasting(error.to_string()))?;
        for (id, text) in events {
            let text = text.map_err(|_| Trouble::lasting("an event of the stream is not UTF-8"))?;
            let news = Wire::News { exchange, task: task.clone(), id, text };
            if wires.send(news).await.is_err() {
                return Ok(None);
            }
        }
    }
}

fn traced(request: RequestBuilder, trace: Option<TraceContext>) -> RequestBuilder {
    match trace {
        Some(trace) => request.header(TRACEPARENT, trace.to_string()),
        None => request,
    }
}

fn is_kind(headers: &HeaderMap, kind: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    given.eq_ignore_ascii_case(kind)
}

const MESSAGES: &str = "/ldp/messages";
const STREAM: &str = "/ldp/stream";
const LAST_EVENT_ID: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// As much as one event of a stream may have.
const MAX_ANSWER_BYTES: usize = SseDecoder::LARGEST_EVENT;
