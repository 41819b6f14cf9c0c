//! From bytes to what the model said, for either wire, as a stream or as one whole answer.

use serde_json::Value;

use super::chat::Chat;
use super::lax::with_text;
use super::responses::Responses;
use super::sse::{SseDecoder, SseEvent};
use super::{FailureKind, ModelEvent, ModelFailure};
use crate::protocol::WireApi;

/// Decodes one answer of a model. The last event is [`ModelEvent::Completed`] or
/// [`ModelEvent::Failed`], and nothing comes after it.
#[derive(Debug)]
pub struct StreamDecoder {
    form: Form,
    wire: Wire,
    /// A last event was handed out.
    over: bool,
}

#[derive(Debug)]
enum Form {
    Events(SseDecoder),
    /// JSON, gathered until its end.
    Whole(Vec<u8>),
}

#[derive(Debug)]
enum Wire {
    Responses(Responses),
    Chat(Chat),
}

impl StreamDecoder {
    /// For an answer that comes as server-sent events.
    ///
    /// `fallback_id` names the response when the server does not, and is part of the ids of calls
    /// that come without one: it should differ between requests.
    pub fn new(wire: WireApi, fallback_id: impl Into<String>) -> Self {
        Self::with_form(wire, fallback_id.into(), Form::Events(SseDecoder::new()))
    }

    /// For an answer that is one JSON document: some servers cannot stream, or not always.
    pub fn whole(wire: WireApi, fallback_id: impl Into<String>) -> Self {
        Self::with_form(wire, fallback_id.into(), Form::Whole(Vec::new()))
    }

    fn with_form(wire: WireApi, fallback_id: String, form: Form) -> Self {
        let wire = match wire {
            WireApi::Responses => Wire::Responses(Responses::new(fallback_id)),
            WireApi::Chat => Wire::Chat(Chat::new(fallback_id)),
        };
        Self { form, wire, over: false }
    }

    /// Decodes what came and adds what it said to `out`.
    pub fn push_into(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        let Self { form, wire, over } = self;
        let too_large = match form {
            Form::Events(sse) => {
                let pushed = sse.push(bytes, &mut |event| deliver(wire, over, event, out));
                // What was whole before the excess may have ended the response.
                pushed.err().filter(|_| !*over).map(|error| error.to_string())
            }
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                (body.len() > SseDecoder::LARGEST_EVENT)
                    .then(|| "the answer of the model server is too large".to_owned())
            }
        };
        if let Some(message) = too_large {
            self.over = true;
            out.push(ModelEvent::Failed(ModelFailure::new(FailureKind::Refused, message)));
        }
    }

    /// Decodes what came.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        self.push_into(bytes, &mut out);
        out
    }

    /// The bytes have ended, cleanly or not: what is left, and the last event if it was not handed
    /// out. Without a sign that the response is whole, that is a failure.
    pub fn finish(&mut self) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        if self.over {
            return out;
        }
        let Self { form, wire, over } = self;
        match form {
            Form::Events(sse) => sse.finish(&mut |event| deliver(wire, over, event, &mut out)),
            Form::Whole(body) => with_text(body, |text| match wire {
                Wire::Responses(responses) => {
                    if let Ok(response) = serde_json::from_str::<Value>(text) {
                        responses.whole(response, &mut out);
                    }
                }
                Wire::Chat(chat) => {
                    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
                        chat.whole(text, &mut out);
                    }
                }
            }),
        }
        if !out.last().is_some_and(is_last) && !self.over {
            out.push(match &mut self.wire {
                Wire::Responses(_) => disconnected("stream closed before response.completed"),
                Wire::Chat(chat) => chat
                    .end()
                    .unwrap_or_else(|| disconnected("stream closed before a finish reason")),
            });
        }
        self.over = true;
        out
    }

    /// Whether a last event was handed out.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether everything but a formal end has come: a reader need not wait long for it.
    pub fn awaits_only_the_end(&self) -> bool {
        match &self.wire {
            Wire::Responses(_) => self.over,
            Wire::Chat(chat) => self.over || chat.is_finished(),
        }
    }
}

fn deliver(wire: &mut Wire, over: &mut bool, event: SseEvent<'_>, out: &mut Vec<ModelEvent>) {
    if *over {
        return;
    }
    with_text(event.data, |text| match wire {
        Wire::Responses(responses) => responses.event(event.name, text, out),
        Wire::Chat(chat) => chat.event(event.name, text, out),
    });
    *over = out.last().is_some_and(is_last);
}

fn is_last(event: &ModelEvent) -> bool {
    match event {
        ModelEvent::Completed { .. } | ModelEvent::Failed(_) => true,
        ModelEvent::TextDelta(_) | ModelEvent::ReasoningDelta(_) | ModelEvent::ItemDone(_) => false,
    }
}

fn disconnected(message: &str) -> ModelEvent {
    ModelEvent::Failed(ModelFailure::new(FailureKind::Disconnected, message))
}
