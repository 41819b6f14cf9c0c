//! The events of the Responses API.

use serde::Deserialize;
use serde_json::{Value, json};

use super::lax::{Text, count};
use super::{FailureKind, MOST_ITEMS, ModelEvent, ModelFailure, Usage, too_many};
use crate::items::Item;

/// What a stream has said so far.
#[derive(Debug)]
pub(super) struct Responses {
    /// For servers that name no response.
    fallback_id: String,
    response_id: Option<String>,
    delivered: Vec<Delivered>,
}

/// An item that was handed out.
#[derive(Debug)]
struct Delivered {
    /// The id that the server gave it.
    id: String,
    /// As the server wrote it: a call may have been handed out under a made-up id.
    item: Item,
    call_id: Option<String>,
}

impl Delivered {
    /// Whether an item that only the end names is this one.
    fn is(&self, id: &str, item: &Item) -> bool {
        !id.is_empty() && self.id == id || is_same(&self.item, item)
    }
}

/// Of every event: its kind, and its delta where it has one. Deltas are nearly all there is, so they
/// are read in one pass that makes no tree.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
    #[serde(default, borrow)]
    delta: Text<'a>,
}

#[derive(Deserialize)]
struct OutputItem {
    item: Value,
}

#[derive(Deserialize)]
struct Whole {
    response: Value,
}

impl Responses {
    pub(super) fn new(fallback_id: String) -> Self {
        Self { fallback_id, response_id: None, delivered: Vec::new() }
    }

    /// One event; `name` stands in for a missing `type`.
    pub(super) fn event(&mut self, name: &[u8], text: &str, out: &mut Vec<ModelEvent>) {
        // Not JSON, or not an object: a proxy's greeting, a keep-alive of somebody's own.
        let Ok(head) = serde_json::from_str::<Head<'_>>(text) else { return };
        let name = std::str::from_utf8(name).unwrap_or_default();
        match head.kind.as_str().unwrap_or(name) {
            "response.output_text.delta" | "response.refusal.delta" => {
                out.extend(head.delta.into_string().map(ModelEvent::TextDelta));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.extend(head.delta.into_string().map(ModelEvent::ReasoningDelta));
            }
            "response.output_item.done" => {
                if let Ok(event) = serde_json::from_str::<OutputItem>(text) {
                    self.item(event.item, out);
                }
            }
            "response.created" | "response.in_progress" => {
                if self.response_id.is_none()
                    && let Ok(event) = serde_json::from_str::<Whole>(text)
                {
                    self.response_id = id_of(&event.response);
                }
            }
            "response.completed" | "response.done" => match serde_json::from_str::<Whole>(text) {
                Ok(event) => self.completed(event.response, out),
                Err(_) => self.completed(Value::Null, out),
            },
            "response.incomplete" => {
                let event = serde_json::from_str(text).unwrap_or(Value::Null);
                out.push(ModelEvent::Failed(incomplete(&event["response"])));
            }
            "response.failed" => {
                let event: Value = serde_json::from_str(text).unwrap_or(Value::Null);
                out.push(ModelEvent::Failed(ModelFailure::from_json(&event["response"])));
            }
            "error" => {
                let mut event: Value = serde_json::from_str(text).unwrap_or(Value::Null);
                // The kind of the event is not the kind of the error.
                if let Some(event) = event.as_object_mut() {
                    event.remove("type");
                }
                out.push(ModelEvent::Failed(ModelFailure::from_json(&event)));
            }
            // Some servers put a bare error where an event should be.
            "" => {
                if let Ok(event) = serde_json::from_str::<Value>(text)
                    && event.get("error").is_some_and(|error| !error.is_null())
                {
                    out.push(ModelEvent::Failed(ModelFailure::from_json(&event)));
                }
            }
            // Parts of what comes whole later, and kinds that are newer than this program.
            _ => {}
        }
    }

    /// A body that is the whole response.
    pub(super) fn whole(&mut self, mut response: Value, out: &mut Vec<ModelEvent>) {
        // Some servers wrap it as the stream would.
        if let Some(inner @ Value::Object(_)) = response.get_mut("response") {
            response = inner.take();
        }
        let failed = response.get("error").is_some_and(|error| !error.is_null());
        match response["status"].as_str() {
            Some("incomplete") => out.push(ModelEvent::Failed(incomplete(&response))),
            Some("failed" | "cancelled") => {
                out.push(ModelEvent::Failed(ModelFailure::from_json(&response)));
            }
            _ if failed => out.push(ModelEvent::Failed(ModelFailure::from_json(&response))),
            _ if response["output"].is_array() => self.completed(response, out),
            _ => out.push(ModelEvent::Failed(ModelFailure::new(
                FailureKind::Refused,
                "the model server answered with JSON that is no response",
            ))),
        }
    }

    fn completed(&mut self, mut response: Value, out: &mut Vec<ModelEvent>) {
        if let Some(id) = id_of(&response) {
            self.response_id = Some(id);
        }
        if let Some(Value::Array(items)) = response.get_mut("output").map(Value::take) {
            if items.len() > MOST_ITEMS {
                out.push(ModelEvent::Failed(too_many()));
                return;
            }
            self.missing(items, out);
        }
        let usage = response.get("usage").filter(|usage| usage.is_object()).map(|usage| Usage {
            input: count(usage, "/input_tokens").unwrap_or(0),
            cached: count(usage, "/input_tokens_details/cached_tokens").unwrap_or(0),
            output: count(usage, "/output_tokens").unwrap_or(0),
            reasoning: count(usage, "/output_tokens_details/reasoning_tokens").unwrap_or(0),
        });
        let response_id = self.response_id.take().unwrap_or_else(|| self.fallback_id.clone());
        out.push(ModelEvent::Completed { response_id, usage });
    }

    /// The items that only the end names. Each one that was handed out accounts for one of them.
    fn missing(&mut self, items: Vec<Value>, out: &mut Vec<ModelEvent>) {
        let mut accounted = vec![false; self.delivered.len()];
        for value in items {
            let (id, item) = read_item(value);
            let open = |&index: &usize| !accounted[index] && self.delivered[index].is(&id, &item);
            let equal = |&index: &usize| open(&index) && self.delivered[index].item == item;
            // Calls may share an id, so that the one that is equal altogether is meant first.
            let found = (0..accounted.len()).find(equal);
            match found.or_else(|| (0..accounted.len()).find(open)) {
                Some(index) => accounted[index] = true,
                None => self.deliver(id, item, out),
            }
        }
    }

    fn item(&mut self, value: Value, out: &mut Vec<ModelEvent>) {
        if self.delivered.len() == MOST_ITEMS {
            out.push(ModelEvent::Failed(too_many()));
            return;
        }
        let (id, item) = read_item(value);
        // A repeated event must not run a call twice.
        let repeated = self.delivered.iter().any(|known| {
            known.item == item && (!id.is_empty() && known.id == id || has_call_id(&item))
        });
        if !repeated {
            self.deliver(id, item, out);
        }
    }

    fn deliver(&mut self, id: String, item: Item, out: &mut Vec<ModelEvent>) {
        let place = self.delivered.len();
        let response_id = self.response_id.as_ref().unwrap_or(&self.fallback_id);
        let taken = |wanted: &str| {
            self.delivered.iter().any(|known| known.call_id.as_deref() == Some(wanted))
        };
        let mut handed = item.clone();
        let mut handed_id = None;
        if let Item::FunctionCall { call_id, .. } = &mut handed {
            if call_id.is_empty() || taken(call_id) {
                *call_id = format!("call_{response_id}_{place}");
            }
            handed_id = Some(call_id.clone());
        }
        self.delivered.push(Delivered { id, item, call_id: handed_id });
        out.push(ModelEvent::ItemDone(handed));
    }
}

fn id_of(response: &Value) -> Option<String> {
    response["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

fn incomplete(response: &Value) -> ModelFailure {
    let reason = response["incomplete_details"]["reason"].as_str().unwrap_or("no reason given");
    ModelFailure::new(FailureKind::Incomplete, format!("the response is incomplete: {reason}"))
}

fn has_call_id(item: &Item) -> bool {
    matches!(item, Item::FunctionCall { call_id, .. } if !call_id.is_empty())
}

fn is_same(known: &Item, item: &Item) -> bool {
    match (known, item) {
        (Item::FunctionCall { call_id: known, .. }, Item::FunctionCall { call_id, .. })
            if !call_id.is_empty() =>
        {
            known == call_id
        }
        // Where no id tells calls apart, the rest does.
        (
            Item::FunctionCall { name: known, arguments: known_arguments, .. },
            Item::FunctionCall { name, arguments, .. },
        ) => known == name && known_arguments == arguments,
        _ => known == item,
    }
}

/// An item and its id, with the liberties that servers take set right.
fn read_item(mut value: Value) -> (String, Item) {
    let id = value["id"].as_str().unwrap_or_default().to_owned();
    match value["type"].as_str() {
        Some("message") => {
            if let Some(text) = value["content"].as_str() {
                value["content"] = json!([{ "type": "output_text", "text": text }]);
            }
            if !value["role"].is_string() {
                value["role"] = json!("assistant");
            }
        }
        Some("function_call") => {
            let arguments = match value["arguments"].take() {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            };
            value["arguments"] = Value::String(arguments);
            if !value["call_id"].is_string() {
                value["call_id"] = Value::String(id.clone());
            }
        }
        _ => {}
    }
    let item = serde_json::from_value(value.clone()).unwrap_or(Item::Other(value));
    (id, item)
}
