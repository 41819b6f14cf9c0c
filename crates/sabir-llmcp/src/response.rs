//! What a model answers, as a packet. It does not know what becomes of the calls that it proposes.

use std::collections::BTreeSet;

use sabir_base::json::{JsonKind, JsonValue};
use sabir_document::{Block, Document, Inline};
use serde_json::{Value, json};

use crate::citation::Citation;
use crate::packet::{
    Conversation, Envelope, MAX_RESPONSE_BYTES, Protocol, ResponseType, Role, Sender, check_sender,
    place,
};
use crate::problem::{Problems, quoted, read_json};
use crate::request::{OutputFormat, Request, TaskName};
use crate::tool::{MAX_TOOL_CALLS, ToolCall};
use crate::value::{Address, List, PacketId, Text, Timestamp};
use crate::wire::{Wire, expect, record};
use crate::{Parsed, codes};

/// A response packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub envelope: Envelope,
    pub in_reply_to: PacketId,
    pub assistant: Assistant,
    /// Proposals; at most [`MAX_TOOL_CALLS`].
    pub tool_calls: Vec<ToolCall>,
}

/// What the model says.
#[derive(Clone, Debug, PartialEq)]
pub struct Assistant {
    pub title: Option<Title>,
    pub render: Document,
    pub citations: Vec<Citation>,
    /// What `web.extract` found.
    pub data: Option<Value>,
}

/// The title of an answer.
pub type Title = Text<500>;

/// Compares data (the second) with a JSON Schema (the first). A function, because the libraries that
/// can do it bring random numbers with them, and this crate has none.
pub type DataCheck<'a> = &'a dyn Fn(&Value, &Value) -> Vec<DataFault>;

/// Where data differs from its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFault {
    /// From the top of the data.
    pub pointer: String,
    pub message: String,
}

impl Response {
    /// Reads a response packet, strictly, and compares it with the request that it answers. Data is
    /// not compared with its schema: see [`Response::parse_with`].
    ///
    /// An answer that has Markdown in place of a document is read with a warning, and without its
    /// tool calls.
    pub fn parse(text: &str, request: Option<&Request>) -> Parsed<Response> {
        let (parsed, _) = parse(text, request, None);
        parsed
    }

    /// The same, and the data of `web.extract` is compared with its schema.
    pub fn parse_with(
        text: &str,
        request: &Request,
        check_data: DataCheck<'_>,
    ) -> Parsed<Response> {
        let (parsed, _) = parse(text, Some(request), Some(check_data));
        parsed
    }

    pub fn to_json(&self) -> Value {
        ResponsePacket::from(self.clone()).write()
    }

    pub(crate) fn wire_schema() -> Value {
        ResponsePacket::schema()
    }
}

/// In which form the answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Strict,
    /// With Markdown in place of a document; so many calls were left out.
    Markdown {
        dropped_calls: usize,
    },
}

pub(crate) fn parse(
    text: &str,
    request: Option<&Request>,
    check_data: Option<DataCheck<'_>>,
) -> (Parsed<Response>, Form) {
    let mut problems = Problems::default();
    let mut form = Form::Strict;
    let json = read_json(text, MAX_RESPONSE_BYTES, &mut problems);
    let response = json.and_then(|json| {
        let top = json.top();
        let packet = ResponsePacket::read(top, &mut problems)?;
        if let AssistantForm::Markdown(_) = packet.assistant {
            let dropped_calls = packet.tool_calls.len();
            form = Form::Markdown { dropped_calls };
            if dropped_calls > 0 {
                let calls = match dropped_calls {
                    1 => "the tool call is".to_owned(),
                    count => format!("the {count} tool calls are"),
                };
                let message =
                    format!("{calls} dropped: the answer has Markdown in place of a document");
                let help = "write \"render\" with a document";
                let value = place(top, &["tool_calls"]);
                problems.warning(value, codes::MARKDOWN_ONLY, message, help);
            }
        }
        let response = Response::from(packet);
        check_alone(top, &response, &mut problems);
        if let Some(request) = request {
            check_beside(top, &response, request, &mut problems);
            check_data_of(top, &response, request, check_data, &mut problems);
        }
        Some(response)
    });
    (Parsed::new(response, problems), form)
}

record! {
    /// A response as it stands in JSON.
    struct ResponsePacket {
        "protocol" needed protocol: Protocol,
        "id" needed id: PacketId,
        "type" needed kind: ResponseType,
        "created_at" needed created_at: Timestamp,
        "conversation" needed conversation: Conversation,
        "sender" needed sender: Sender,
        "in_reply_to" needed in_reply_to: InReplyTo,
        "assistant" needed assistant: AssistantForm,
        "tool_calls" listed tool_calls: Calls,
    }
}

record! {
    /// Which request is answered.
    struct InReplyTo {
        "request_id" needed request_id: PacketId,
    }
}

/// Proposals.
type Calls = List<ToolCall, 0, MAX_TOOL_CALLS>;

/// What the model says, in the form that is asked for or in the one that is only shown.
#[derive(Clone, Debug, PartialEq)]
enum AssistantForm {
    Strict(StrictAssistant),
    Markdown(MarkdownAssistant),
}

record! {
    /// With a document.
    struct StrictAssistant {
        "title" optional title: Option<Title>,
        "render" needed render: Document,
        "citations" optional citations: Vec<Citation>,
        "data" optional data: Option<Value>,
    }
}

record! {
    /// With Markdown.
    struct MarkdownAssistant {
        "title" optional title: Option<Title>,
        "markdown" needed markdown: String,
        "citations" optional citations: Vec<Citation>,
        "data" optional data: Option<Value>,
    }
}

impl Wire for AssistantForm {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        expect(value, JsonKind::Object, problems)?;
        match (value.get("render"), value.get("markdown")) {
            (None, Some(markdown)) => {
                let message = "the answer has Markdown in place of a document";
                let help = "it is shown, and no tool call of this packet runs; \
                            write \"render\" with a document";
                problems.warning(markdown, codes::MARKDOWN_ONLY, message, help);
                MarkdownAssistant::read(value, problems).map(Self::Markdown)
            }
            _ => StrictAssistant::read(value, problems).map(Self::Strict),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Strict(assistant) => assistant.write(),
            Self::Markdown(assistant) => assistant.write(),
        }
    }

    /// Only what is asked for.
    fn schema() -> Value {
        StrictAssistant::schema()
    }
}

impl From<AssistantForm> for Assistant {
    fn from(form: AssistantForm) -> Self {
        match form {
            AssistantForm::Strict(StrictAssistant { title, render, citations, data }) => {
                Self { title, render, citations, data }
            }
            AssistantForm::Markdown(MarkdownAssistant { title, markdown, citations, data }) => {
                let render = crate::markdown::document(&markdown, &citations);
                Self { title, render, citations, data }
            }
        }
    }
}

impl From<ResponsePacket> for Response {
    fn from(packet: ResponsePacket) -> Self {
        let tool_calls = match packet.assistant {
            AssistantForm::Strict(_) => packet.tool_calls.into_vec(),
            AssistantForm::Markdown(_) => Vec::new(),
        };
        Self {
            envelope: Envelope {
                id: packet.id,
                created_at: packet.created_at,
                conversation: packet.conversation,
                sender: packet.sender.role,
            },
            in_reply_to: packet.in_reply_to.request_id,
            assistant: packet.assistant.into(),
            tool_calls,
        }
    }
}

impl From<Response> for ResponsePacket {
    fn from(response: Response) -> Self {
        let Assistant { title, render, citations, data } = response.assistant;
        let mut tool_calls = response.tool_calls;
        tool_calls.truncate(MAX_TOOL_CALLS);
        Self {
            protocol: Protocol::V1,
            id: response.envelope.id,
            kind: ResponseType,
            created_at: response.envelope.created_at,
            conversation: response.envelope.conversation,
            sender: Sender { role: response.envelope.sender },
            in_reply_to: InReplyTo { request_id: response.in_reply_to },
            assistant: AssistantForm::Strict(StrictAssistant { title, render, citations, data }),
            tool_calls: Calls::new(tool_calls).unwrap_or_default(),
        }
    }
}

impl Wire for Document {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let mut found = Vec::new();
        let document = Document::read(value, &mut found);
        for error in found {
            problems.document(error);
        }
        document
    }

    fn write(&self) -> Value {
        self.to_json()
    }

    /// The definition stands once, at the top of the schema: nodes refer to each other by it.
    fn schema() -> Value {
        json!({ "$ref": "#/$defs/document" })
    }
}

/// What can be wrong with a response whatever it answers.
fn check_alone(top: JsonValue<'_>, response: &Response, problems: &mut Problems) {
    check_sender(top, response.envelope.sender, &[Role::Assistant], problems);
    let assistant = place(top, &["assistant"]);
    for (value, citation) in
        place(assistant, &["citations"]).children().zip(&response.assistant.citations)
    {
        if !citation.is_checkable() {
            let message = "the citation cannot be checked";
            let help = "give \"source_id\" or \"doc_id\", and a \"quote\"";
            problems.warning(value, codes::UNCHECKABLE_CITATION, message, help);
        }
        if let Some(url) = &citation.url
            && let Err(error) = Address::new(url.as_str())
        {
            let help = "nothing is linked to it; the address of the source is used instead";
            let value = place(value, &["url"]);
            problems.warning(value, codes::BAD_URL, error.to_string(), help);
        }
    }
    let count = response.assistant.citations.len();
    if let Some(mark) = dangling_mark(&response.assistant.render, count) {
        let message = format!("the mark {mark} points at no citation, there are {count}");
        let help = "marks count the citations from 1";
        problems.warning(place(assistant, &["render"]), codes::DANGLING_MARK, message, help);
    }
    let mut seen = BTreeSet::new();
    for (value, call) in place(top, &["tool_calls"]).children().zip(&response.tool_calls) {
        if let Some(id) = &call.id
            && !seen.insert(id)
        {
            let message = format!("another call has the id {} already", quoted(id.as_str()));
            problems.error(place(value, &["id"]), codes::DUPLICATE_CALL, message);
        }
    }
}

/// What can be wrong with a response to this request.
fn check_beside(
    top: JsonValue<'_>,
    response: &Response,
    request: &Request,
    problems: &mut Problems,
) {
    let (ours, asked) = (&response.envelope.conversation, &request.envelope.conversation);
    if response.in_reply_to != request.envelope.id {
        let id = quoted(request.envelope.id.as_str());
        let message = format!("the request that is answered has the id {id}");
        let value = place(top, &["in_reply_to", "request_id"]);
        problems.error(value, codes::WRONG_REPLY, message);
    }
    if ours.id != asked.id {
        let message = format!("the request's conversation is {}", quoted(asked.id.as_str()));
        problems.error(place(top, &["conversation", "id"]), codes::OTHER_CONVERSATION, message);
    }
    if ours.turn != asked.turn {
        let message = format!("the request's turn is {}", asked.turn.value());
        problems.error(place(top, &["conversation", "turn"]), codes::OTHER_TURN, message);
    }
    if request.format == OutputFormat::Markdown && !response.tool_calls.is_empty() {
        let message = "the request asks for Markdown, so that no tool can be called";
        problems.error(place(top, &["tool_calls"]), codes::CALLS_NOT_ALLOWED, message);
    }
}

fn check_data_of(
    top: JsonValue<'_>,
    response: &Response,
    request: &Request,
    check: Option<DataCheck<'_>>,
    problems: &mut Problems,
) {
    let value = place(top, &["assistant", "data"]);
    match (&response.assistant.data, request.task.data_schema()) {
        (None, _) => {}
        (Some(_), None) => {
            let message = match request.task.name {
                TaskName::Extract => "the request gives no schema that data could fit".to_owned(),
                other => format!("the task {other} asks for no data"),
            };
            problems.error(value, codes::UNASKED_DATA, message);
        }
        (Some(data), Some(schema)) => {
            for fault in check.map(|check| check(schema, data)).unwrap_or_default() {
                let pointer = value.pointer() + &fault.pointer;
                problems.error_at(pointer, value.span(), codes::BAD_DATA, fault.message);
            }
        }
    }
}

/// The first citation mark in the tree that points at none of `count` citations.
fn dangling_mark(document: &Document, count: usize) -> Option<u32> {
    let dangles = |reference: u32| reference == 0 || reference as usize > count;
    let mut blocks: Vec<&Block> = document.children.iter().rev().collect();
    let mut inlines: Vec<&Inline> = Vec::new();
    loop {
        while let Some(inline) = inlines.pop() {
            match inline {
                Inline::Cite { reference } if dangles(*reference) => return Some(*reference),
                Inline::Strong { children }
                | Inline::Em { children }
                | Inline::Link { children, .. } => inlines.extend(children.iter().rev()),
                Inline::Text { .. } | Inline::Code { .. } | Inline::Cite { .. } => {}
            }
        }
        match blocks.pop()? {
            Block::Heading { children, .. } | Block::Paragraph { children } => {
                inlines.extend(children.iter().rev());
            }
            Block::List { items, .. } => {
                blocks.extend(items.iter().rev().flat_map(|item| item.children.iter().rev()));
            }
            Block::Quote { children } => blocks.extend(children.iter().rev()),
            Block::Table(table) => {
                let cells = table.header.iter().chain(table.rows.iter().flatten());
                inlines.extend(cells.flatten().collect::<Vec<_>>().into_iter().rev());
            }
            Block::CodeBlock { .. } | Block::ThematicBreak => {}
        }
    }
}
