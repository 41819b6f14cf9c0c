//! Streams of events for a browser. Each event that has a number can be gone on from; who leaves a
//! stream unread holds nobody up; and a stream ends with the session of the person who opened it.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _, stream};
use sabir_host::FeedStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::door::SignedIn;
use crate::input::Query;
use crate::refused::Refused;
use crate::state::Console;

/// An event as a browser gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) id: Option<u64>,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// The number after which a viewer wants to go on. A browser that comes back says it in a header; a
/// page that opens a stream says it in the query.
pub(crate) fn after(headers: &HeaderMap, query: &Query) -> Result<u64, Refused> {
    match headers.get("last-event-id") {
        None => Ok(query.number("after")?.unwrap_or(0)),
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
            id.ok_or_else(|| Refused::bad("last-event-id is no whole number"))
        }
    }
}

pub(crate) fn response(
    console: &Arc<Console>,
    person: SignedIn,
    told: impl Stream<Item = Told> + Send + 'static,
) -> Result<Response, Refused> {
    let place = console.stream()?;
    let pulse = Pulse(Instant::now());
    let flow = Flow { console: Arc::clone(console), person, pulse, last: None, _place: place };
    let first = stream::once(async { Bytes::from_static(GREETING) });
    let pieces = first.chain(pieces(told.ready_chunks(TOGETHER).boxed(), flow));
    let body = Body::from_stream(pieces.map(Ok::<_, std::convert::Infallible>));
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// Rows of a journal, as they are told. What cannot be read ends the stream, and whoever comes back
/// goes on from there.
pub(crate) fn rows(rows: FeedStream) -> impl Stream<Item = Told> + Send + 'static {
    let read = rows.take_while(|row| ready(row.is_ok())).filter_map(|row| ready(row.ok()));
    read.map(|row| {
        let event = if row.tag.is_empty() { &row.kind } else { &row.tag };
        Told { id: Some(row.seq), event: event.clone(), data: row.body.clone() }
    })
}

/// What keeps a stream open.
struct Flow {
    console: Arc<Console>,
    person: SignedIn,
    pulse: Pulse,
    /// Set when the node ends: nothing is waited for any longer than this.
    last: Option<Instant>,
    _place: OwnedSemaphorePermit,
}

impl Flow {
    /// What comes next; nothing when it is over.
    async fn wait<T>(
        &mut self,
        mut next: impl Future<Output = T> + Unpin,
    ) -> Option<Result<T, Quiet>> {
        let over = self.person.over.clone();
        let waiting = async {
            if self.last.is_none() {
                let stop = self.console.setup.stop.clone();
                match stop.run_until_cancelled(timeout(QUIET, &mut next)).await {
                    Some(heard) => return Some(heard.map_err(|_| Quiet)),
                    None => self.last = Some(Instant::now() + GRACE),
                }
            }
            timeout_at(self.last?, next).await.ok().map(Ok)
        };
        over.run_until_cancelled(waiting).await.flatten()
    }
}

/// Nothing was told for a while.
struct Quiet;

/// When it was last looked whether the person is still signed in.
struct Pulse(Instant);

impl Pulse {
    /// Whether it is time to look again, whatever flows.
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now.saturating_duration_since(self.0) >= QUIET;
        if is_due {
            self.0 = now;
        }
        is_due
    }
}

fn pieces(
    told: stream::BoxStream<'static, Vec<Told>>,
    flow: Flow,
) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::unfold((told, flow), |(mut told, mut flow)| async move {
        let piece = match flow.wait(told.next()).await? {
            Ok(events) => written(&events?),
            Err(Quiet) => Bytes::from_static(SIGN_OF_LIFE),
        };
        // A page that is open is in use, and its session lasts, but for no longer than any.
        if flow.pulse.is_due(Instant::now()) && !flow.console.door.holds(&flow.person) {
            return None;
        }
        Some((piece, (told, flow)))
    })
}

fn written(events: &[Told]) -> Bytes {
    let size = events.iter().map(|told| told.data.len() + told.event.len() + 40).sum();
    let mut text = String::with_capacity(size);
    for told in events {
        if let Some(id) = told.id {
            text.push_str("id: ");
            text.push_str(&id.to_string());
            text.push('\n');
        }
        text.push_str("event: ");
        // A line break would end the field.
        text.extend(told.event.chars().filter(|letter| !letter.is_control()));
        for line in lines(&told.data) {
            text.push_str("\ndata: ");
            text.push_str(line);
        }
        text.push_str("\n\n");
    }
    Bytes::from(text)
}

/// Lines as the format of event streams parts them, where a carriage return ends one, too.
fn lines(data: &str) -> impl Iterator<Item = &str> {
    data.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Events that go to the network together, if they are there already.
const TOGETHER: usize = 16;
/// How soon a browser that lost the stream comes back, in milliseconds. Sent at once, so that it knows
/// that the stream is open.
const GREETING: &[u8] = b"retry: 1000\n\n";
const SIGN_OF_LIFE: &[u8] = b": alive\n\n";
const QUIET: Duration = Duration::from_secs(15);
/// For the last events when the node ends; the listener gives streams a little more.
const GRACE: Duration = Duration::from_millis(1500);

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-6: a stream that is never quiet uses its session all the same, and ends with it.
    #[test]
    fn a_session_is_looked_at_whatever_flows() {
        let start = Instant::now();
        let mut pulse = Pulse(start);
        let looks = (1..=60).filter(|secs| pulse.is_due(start + Duration::from_secs(*secs)));
        assert_eq!(looks.collect::<Vec<_>>(), [15, 30, 45, 60]);
        // After a quiet time it is due, too.
        assert!(pulse.is_due(start + Duration::from_secs(60) + QUIET));
    }

    /// CO-14: an event is a number, a name and lines of data, whatever stands in it.
    #[test]
    fn events_are_written_so_that_nothing_breaks_out() {
        let told = |id, event: &str, data: &str| Told {
            id,
            event: event.to_owned(),
            data: data.to_owned(),
        };
        let events = [
            told(Some(7), "event", "{\"a\":1}"),
            told(None, "in\nbox", "one\r\ntwo\rid: 9\nthree"),
        ];
        assert_eq!(
            written(&events),
            "id: 7\nevent: event\ndata: {\"a\":1}\n\n\
             event: inbox\ndata: one\ndata: two\ndata: id: 9\ndata: three\n\n"
        );
    }
}
