//! The chunks of Chat Completions, told as the events of the other wire.

use serde::Deserialize;
use serde_json::Value;

use super::lax::{Arguments, Index, Text, count, list};
use super::{FailureKind, MOST_ITEMS, ModelEvent, ModelFailure, Usage, too_many};
use crate::items::{Item, Summary};

/// What a stream has said so far.
#[derive(Debug)]
pub(super) struct Chat {
    /// For servers that name no completion.
    fallback_id: String,
    response_id: Option<String>,
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    usage: Option<Usage>,
    /// A finish reason came and the items were handed out: only usage and the end can follow.
    finished: bool,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    nesting: Nesting,
}

/// Whether what came of a JSON object is all of it, counted along: to read it anew with every part
/// would take the square of its length.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Nesting {
    fn push(&mut self, part: &str) {
        for byte in part.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' => self.depth += 1,
                b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow, deserialize_with = "list")]
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Index,
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    /// Where the answer is whole.
    #[serde(default, borrow)]
    message: Option<Delta<'a>>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Text<'a>,
    #[serde(default, borrow)]
    refusal: Text<'a>,
    #[serde(default, borrow)]
    reasoning_content: Text<'a>,
    #[serde(default, borrow)]
    reasoning: Text<'a>,
    #[serde(default, borrow, deserialize_with = "list")]
    tool_calls: Vec<ToolCall<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    index: Index,
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default)]
    arguments: Arguments,
}

impl Chat {
    pub(super) fn new(fallback_id: String) -> Self {
        Self {
            fallback_id,
            response_id: None,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: None,
            finished: false,
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn event(&mut self, name: &[u8], text: &str, out: &mut Vec<ModelEvent>) {
        if text.trim() == "[DONE]" {
            // Without a finish reason it is the only sign that the answer is whole, and enough.
            self.deliver(out);
            out.push(self.completed());
            return;
        }
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(text) else { return };
        if chunk.error.is_some() || name == b"error" {
            let said = serde_json::from_str(text).unwrap_or(Value::Null);
            out.push(ModelEvent::Failed(ModelFailure::from_json(&said)));
            return;
        }
        self.chunk(chunk, out);
    }

    /// A body that is the whole completion.
    pub(super) fn whole(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        self.event(b"", text, out);
        if out.is_empty() && !self.finished {
            out.push(ModelEvent::Failed(ModelFailure::new(
                FailureKind::Refused,
                "the model server answered with JSON that is no completion",
            )));
        }
    }

    /// The response, if all of it came.
    pub(super) fn end(&mut self) -> Option<ModelEvent> {
        self.finished.then(|| self.completed())
    }

    fn chunk(&mut self, chunk: Chunk<'_>, out: &mut Vec<ModelEvent>) {
        if self.response_id.is_none() {
            self.response_id = chunk.id.into_string();
        }
        if let Some(usage) = chunk.usage.filter(Value::is_object) {
            self.usage = Some(Usage {
                input: count(&usage, "/prompt_tokens").unwrap_or(0),
                cached: count(&usage, "/prompt_tokens_details/cached_tokens").unwrap_or(0),
                output: count(&usage, "/completion_tokens").unwrap_or(0),
                reasoning: count(&usage, "/completion_tokens_details/reasoning_tokens")
                    .unwrap_or(0),
            });
            // The chunk with the usage alone is the last one.
            if self.finished && chunk.choices.is_empty() {
                out.push(self.completed());
                return;
            }
        }
        // Further choices are further answers to the same question, which nobody asked for.
        let Some(choice) = chunk.choices.into_iter().find(|it| it.index.0.unwrap_or(0) == 0) else {
            return;
        };
        if self.finished {
            return;
        }
        if let Some(delta) = choice.delta {
            self.delta(delta, Whole::No, out);
        }
        if let Some(message) = choice.message {
            self.delta(message, Whole::Yes, out);
        }
        if self.calls.len() > MOST_ITEMS {
            return;
        }
        let cut = |reason: &str| {
            ModelEvent::Failed(ModelFailure::new(
                FailureKind::Incomplete,
                format!("the response is incomplete: {reason}"),
            ))
        };
        match choice.finish_reason.as_str() {
            None => {}
            // What was cut is not handed out: half a call must not run.
            Some(reason @ ("length" | "content_filter")) => out.push(cut(reason)),
            Some("error") => out.push(ModelEvent::Failed(ModelFailure::new(
                FailureKind::Server,
                "the model server ended the answer with an error",
            ))),
            Some(_) => self.deliver(out),
        }
    }

    fn delta(&mut self, delta: Delta<'_>, whole: Whole, out: &mut Vec<ModelEvent>) {
        let Delta { content, refusal, reasoning_content, reasoning, tool_calls } = delta;
        // The two names of one thing; some servers send both.
        if let Some(thought) = reasoning_content.into_string().or_else(|| reasoning.into_string()) {
            self.reasoning.push_str(&thought);
            out.push(ModelEvent::ReasoningDelta(thought));
        }
        for said in [content, refusal].into_iter().filter_map(Text::into_string) {
            self.text.push_str(&said);
            out.push(ModelEvent::TextDelta(said));
        }
        for (place, call) in tool_calls.into_iter().enumerate() {
            let place = (whole == Whole::Yes).then_some(place as u64);
            self.tool_call(call, place);
            if self.calls.len() > MOST_ITEMS {
                out.push(ModelEvent::Failed(too_many()));
                return;
            }
        }
    }

    fn tool_call(&mut self, part: ToolCall<'_>, place: Option<u64>) {
        let index = part.index.0.or(place);
        let id = part.id.as_str().unwrap_or_default();
        let (name, arguments) = match &part.function {
            Some(function) => {
                (function.name.as_str().unwrap_or_default(), function.arguments.0.as_str())
            }
            None => ("", ""),
        };
        let position = self.position(index, id, name);
        let call = match position {
            Some(position) => &mut self.calls[position],
            None => {
                self.calls.push(Call { index, ..Call::default() });
                let Some(last) = self.calls.last_mut() else { return };
                last
            }
        };
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        // Some servers repeat the name with every part, some send it in parts.
        if call.name != name && call.arguments.is_empty() {
            call.name.push_str(name);
        }
        call.arguments.push_str(arguments);
        call.nesting.push(arguments);
    }

    /// The call that this part belongs to; `None` when it opens a new one.
    fn position(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let Some(index) = index else {
            if !id.is_empty() {
                let known = self.calls.iter().rposition(|call| call.id == id);
                // An id that comes late is that of the call that has none.
                let late = self
                    .calls
                    .len()
                    .checked_sub(1)
                    .filter(|&last| self.calls[last].id.is_empty() && name.is_empty());
                return known.or(late);
            }
            let last = self.calls.len().checked_sub(1)?;
            // A name again after whole arguments is a new call of a server that counts nothing.
            let whole = self.calls[last].nesting.closed;
            return (name.is_empty() || !whole).then_some(last);
        };
        let position = self.calls.iter().rposition(|call| call.index == Some(index))?;
        let call = &self.calls[position];
        // Some servers give every call the place 0; then the ids tell them apart.
        let other = !id.is_empty() && !call.id.is_empty() && call.id != id && !name.is_empty();
        (!other).then_some(position)
    }

    /// Hands out what was gathered, as the items of one turn.
    fn deliver(&mut self, out: &mut Vec<ModelEvent>) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        if !self.reasoning.is_empty() {
            let text = std::mem::take(&mut self.reasoning);
            out.push(ModelEvent::ItemDone(Item::Reasoning {
                id: String::new(),
                summary: vec![Summary::SummaryText { text }],
                encrypted_content: None,
            }));
        }
        if !self.text.is_empty() {
            out.push(ModelEvent::ItemDone(Item::assistant(std::mem::take(&mut self.text))));
        }
        let response_id = self.response_id.as_ref().unwrap_or(&self.fallback_id);
        let calls = std::mem::take(&mut self.calls);
        let mut ids: Vec<String> = Vec::new();
        for (place, call) in calls.into_iter().enumerate() {
            let call_id = if call.id.is_empty() || ids.contains(&call.id) {
                format!("call_{response_id}_{place}")
            } else {
                call.id
            };
            ids.push(call_id.clone());
            let Call { name, arguments, .. } = call;
            out.push(ModelEvent::ItemDone(Item::FunctionCall { call_id, name, arguments }));
        }
    }

    fn completed(&mut self) -> ModelEvent {
        let response_id = self.response_id.take().unwrap_or_else(|| self.fallback_id.clone());
        ModelEvent::Completed { response_id, usage: self.usage }
    }
}

/// Whether a message is the whole of what was said, so that its calls stand at their places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}
