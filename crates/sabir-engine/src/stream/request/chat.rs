//! The body of a request to Chat Completions.

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::pairs::{Call, Step, pair};
use super::{ModelRequest, effort_word};
use crate::items::{Content, Item, Role};
use crate::protocol::ToolInfo;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message {
    System {
        content: String,
    },
    User {
        content: UserContent,
    },
    Assistant {
        /// Null beside calls alone; some servers insist on the key.
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

/// Plain text where that is all: many local servers read nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum UserContent {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct ToolCall {
    id: String,
    r#type: &'static str,
    function: FunctionCall,
}

#[derive(Serialize)]
struct FunctionCall {
    name: String,
    arguments: String,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

pub(super) fn body(request: &ModelRequest) -> Body<'_> {
    let has_tools = !request.tools.is_empty();
    Body {
        model: &request.model,
        messages: messages(request),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: has_tools.then_some("auto"),
        parallel_tool_calls: has_tools.then_some(request.parallel_tool_calls),
        reasoning_effort: request.effort.map(effort_word),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    }
}

fn tool(info: &ToolInfo) -> Tool<'_> {
    let ToolInfo { name, description, parameters } = info;
    Tool { r#type: "function", function: Function { name, description, parameters } }
}

fn messages(request: &ModelRequest) -> Vec<Message> {
    let mut out = Vec::new();
    if !request.instructions.is_empty() {
        out.push(Message::System { content: request.instructions.clone() });
    }
    let mut turn = Turn::default();
    let steps = pair(request);
    let last_end = steps.iter().rposition(|step| *step == Step::AnswerEnd).unwrap_or(0);
    for (index, step) in steps.into_iter().enumerate() {
        // Where no end of an answer is known to come, what stands after an output belongs to a later
        // answer.
        let is_later = turn.is_answered && index > last_end;
        match step {
            Step::AnswerEnd => turn.flush(&mut out),
            Step::Call(call) => {
                if is_later {
                    turn.flush(&mut out);
                }
                turn.calls.push(call);
            }
            Step::Output(_) => turn.is_answered = true,
            Step::Item(Item::Message { role: Role::Assistant, content }) => {
                if is_later {
                    turn.flush(&mut out);
                }
                turn.text.push(text(content));
            }
            Step::Item(Item::Message { role: Role::User, content }) => {
                turn.flush(&mut out);
                out.push(Message::User { content: user_content(content) });
            }
            // Local servers know no `developer`.
            Step::Item(Item::Message { role: Role::System | Role::Developer, content }) => {
                turn.flush(&mut out);
                out.push(Message::System { content: text(content) });
            }
            // This wire has no place for thoughts and for kinds of items that it does not know.
            Step::Item(
                Item::Reasoning { .. }
                | Item::Other(_)
                | Item::FunctionCall { .. }
                | Item::FunctionCallOutput { .. },
            ) => {}
        }
    }
    turn.flush(&mut out);
    out
}

/// What the model said in one answer: it must become one message, directly followed by the outputs
/// of its calls.
#[derive(Default)]
struct Turn<'a> {
    text: Vec<String>,
    calls: Vec<Call<'a>>,
    /// An output of these calls was passed already.
    is_answered: bool,
}

impl Turn<'_> {
    fn flush(&mut self, out: &mut Vec<Message>) {
        let Self { text, calls, .. } = std::mem::take(self);
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let tool_calls = calls.iter().map(|call| ToolCall {
            id: call.id.clone().into_owned(),
            r#type: "function",
            function: FunctionCall {
                name: call.name.to_owned(),
                arguments: arguments(call.arguments),
            },
        });
        out.push(Message::Assistant {
            content: (!text.is_empty()).then(|| text.join("\n")),
            tool_calls: tool_calls.collect(),
        });
        out.extend(calls.iter().map(|call| Message::Tool {
            tool_call_id: call.id.clone().into_owned(),
            content: call.output_text().to_owned(),
        }));
    }
}

/// Servers with prompt templates read the arguments of earlier calls, and answer 500 to what is no
/// JSON: one slip of the model would end the thread.
fn arguments(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => json!({ "malformed_arguments": text }).to_string(),
    }
}

fn text(content: &[Content]) -> String {
    let parts = content.iter().filter_map(|part| match part {
        Content::InputText { text } | Content::OutputText { text } => Some(text.as_str()),
        Content::Refusal { refusal } => Some(refusal),
        Content::InputImage { .. } | Content::Other(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn user_content(content: &[Content]) -> UserContent {
    if !content.iter().any(|part| matches!(part, Content::InputImage { .. })) {
        return UserContent::Text(text(content));
    }
    let parts = content.iter().filter_map(|part| match part {
        Content::InputText { text } | Content::OutputText { text } => {
            Some(Part::Text { text: text.clone() })
        }
        Content::Refusal { refusal } => Some(Part::Text { text: refusal.clone() }),
        Content::InputImage { image_url } => {
            Some(Part::ImageUrl { image_url: ImageUrl { url: image_url.clone() } })
        }
        Content::Other(_) => None,
    });
    UserContent::Parts(parts.collect())
}
