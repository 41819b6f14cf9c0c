//! A task's events as an event stream. Losing the connection ends the stream and not the task.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _, stream};
use sabir_host::{Follow, Told};
use tokio::time::timeout;

use super::{Place, Shared};

/// Events that go to the network together, if they are there already. Further ones wait in the
/// node, so that a reader who stalls holds no more than these.
const TOGETHER: usize = 16;

/// Says nothing, and keeps what is between from giving up.
const SIGN_OF_LIFE: &[u8] = b": alive\n\n";

pub(super) fn response(follow: Follow, shared: &Arc<Shared>, place: Place) -> Response {
    let events = events(follow, Arc::clone(shared), place).map(Ok::<_, Infallible>);
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn events(
    follow: Follow,
    shared: Arc<Shared>,
    place: Place,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let told = follow.ready_chunks(TOGETHER);
    stream::unfold((told, shared, place), |(mut told, shared, place)| async move {
        let waiting = timeout(shared.limits.quiet_time, told.next());
        let next = match shared.stop.run_until_cancelled(waiting).await? {
            Err(_) => Bytes::from_static(SIGN_OF_LIFE),
            Ok(events) => written(&events?),
        };
        Some((next, (told, shared, place)))
    })
}

fn written(events: &[Told]) -> Bytes {
    let mut text = String::with_capacity(events.iter().map(|told| told.text.len() + 40).sum());
    for told in events {
        text.push_str("id: ");
        text.push_str(&told.id.to_string());
        // A line break would end the field; JSON has them between values only.
        for line in told.text.split(['\n', '\r']) {
            text.push_str("\ndata: ");
            text.push_str(line);
        }
        text.push_str("\n\n");
    }
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_an_id_and_lines_of_data() {
        let told = |id, text: &str| Told { id, text: text.to_owned(), last: false };
        let written = written(&[told(7, "{\"a\":1}"), told(8, "{\n}")]);
        assert_eq!(written, "id: 7\ndata: {\"a\":1}\n\nid: 8\ndata: {\ndata: }\n\n");
    }
}
