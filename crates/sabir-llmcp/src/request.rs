//! What a model is asked, with the documents that it may use. It does not know how a request becomes
//! a prompt.

use std::collections::{BTreeMap, BTreeSet};

use sabir_base::json::JsonValue;
use serde_json::{Map, Value};

use crate::context::{ContextContent, ContextDocument};
use crate::packet::{
    Conversation, Envelope, MAX_REQUEST_BYTES, Protocol, RequestType, Role, Sender, check_sender,
    place,
};
use crate::problem::{Problems, quoted, read_json};
use crate::value::{Address, MessageId, PacketId, Timestamp};
use crate::wire::{Wire, choice, record};
use crate::{Parsed, codes};

/// A request packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub envelope: Envelope,
    pub user_message: UserMessage,
    pub task: Task,
    pub documents: Vec<ContextDocument>,
    pub format: OutputFormat,
}

record! {
    /// What the person wrote.
    pub struct UserMessage {
        "id" needed id: MessageId,
        "text" needed text: String,
    }
}

record! {
    /// What the model is to do.
    pub struct Task {
        "name" needed name: TaskName,
        "args" optional args: Map<String, Value>,
    }
}

choice! {
    /// The tasks that there are.
    pub enum TaskName {
        /// Sum up one page.
        Summarize "web.summarize",
        /// Answer a question from the documents.
        Answer "web.answer",
        /// Fill the JSON Schema that `args.schema` gives.
        Extract "web.extract",
        /// Make an artifact of the type that `args.type` names.
        Transform "transform.run",
    }
}

impl Task {
    /// The schema that the answer's data must fit: of `web.extract` only.
    pub fn data_schema(&self) -> Option<&Value> {
        match self.name {
            TaskName::Extract => self.args.get("schema"),
            TaskName::Summarize | TaskName::Answer | TaskName::Transform => None,
        }
    }
}

choice! {
    /// How the model is to answer.
    pub enum OutputFormat {
        /// With a response packet.
        Json "json",
        /// With Markdown alone, for tasks that only read; no tool can be called.
        Markdown "markdown",
    }
}

impl Request {
    /// Reads a request packet, strictly.
    pub fn parse(text: &str) -> Parsed<Request> {
        let mut problems = Problems::default();
        let json = read_json(text, MAX_REQUEST_BYTES, &mut problems);
        let request = json.and_then(|json| read(json.top(), &mut problems));
        Parsed::new(request, problems)
    }

    pub fn to_json(&self) -> Value {
        RequestPacket::from(self.clone()).write()
    }

    pub fn document(&self, doc_id: &str) -> Option<&ContextDocument> {
        self.documents.iter().find(|document| document.doc_id.as_str() == doc_id)
    }

    pub(crate) fn wire_schema() -> Value {
        RequestPacket::schema()
    }
}

record! {
    /// A request as it stands in JSON.
    struct RequestPacket {
        "protocol" needed protocol: Protocol,
        "id" needed id: PacketId,
        "type" needed kind: RequestType,
        "created_at" needed created_at: Timestamp,
        "conversation" needed conversation: Conversation,
        "sender" needed sender: Sender,
        "input" needed input: Input,
        "context" needed context: Context,
        "output" optional output: Option<Output>,
    }
}

record! {
    /// What is wanted.
    struct Input {
        "user_message" needed user_message: UserMessage,
        "task" needed task: Task,
    }
}

record! {
    /// What may be used.
    struct Context {
        "documents" needed documents: Vec<ContextDocument>,
    }
}

record! {
    /// How to answer.
    struct Output {
        "format" optional format: Option<OutputFormat>,
    }
}

impl From<RequestPacket> for Request {
    fn from(packet: RequestPacket) -> Self {
        Self {
            envelope: Envelope {
                id: packet.id,
                created_at: packet.created_at,
                conversation: packet.conversation,
                sender: packet.sender.role,
            },
            user_message: packet.input.user_message,
            task: packet.input.task,
            documents: packet.context.documents,
            format: packet.output.and_then(|output| output.format).unwrap_or(OutputFormat::Json),
        }
    }
}

impl From<Request> for RequestPacket {
    fn from(request: Request) -> Self {
        Self {
            protocol: Protocol::V1,
            id: request.envelope.id,
            kind: RequestType,
            created_at: request.envelope.created_at,
            conversation: request.envelope.conversation,
            sender: Sender { role: request.envelope.sender },
            input: Input { user_message: request.user_message, task: request.task },
            context: Context { documents: request.documents },
            output: Some(Output { format: Some(request.format) }),
        }
    }
}

fn read(top: JsonValue<'_>, problems: &mut Problems) -> Option<Request> {
    let request = Request::from(RequestPacket::read(top, problems)?);
    let allowed = [Role::User, Role::Agent, Role::Tool];
    check_sender(top, request.envelope.sender, &allowed, problems);
    check_task(top, &request.task, problems);
    check_documents(place(top, &["context", "documents"]), &request.documents, problems);
    Some(request)
}

fn check_task(top: JsonValue<'_>, task: &Task, problems: &mut Problems) {
    let (key, says) = match task.name {
        TaskName::Extract => ("schema", "what to extract"),
        TaskName::Transform => ("type", "what to make"),
        TaskName::Summarize | TaskName::Answer => return,
    };
    if let Some(given) = task.args.get(key) {
        let (is_usable, wanted) = match task.name {
            TaskName::Transform => (given.is_string(), "a text that names what to make"),
            _ => (is_schema(given), "a JSON Schema"),
        };
        if !is_usable {
            let message = format!("{key:?} is not {wanted}");
            let help = "nothing can be made of it; the answer will not be what was meant";
            let value = place(top, &["input", "task", "args", key]);
            problems.warning(value, codes::BAD_TASK_ARGUMENT, message, help);
        }
        return;
    }
    let message = format!("nothing says {says}");
    let help = format!("give {:?} in the arguments of {}", key, task.name);
    let value = place(top, &["input", "task", "args"]);
    problems.warning(value, codes::MISSING_TASK_ARGUMENT, message, help);
}

/// Whether it looks like a schema: an object or a boolean, with words for types that there are. Who
/// has a validator knows more.
fn is_schema(value: &Value) -> bool {
    let is_type = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
    let mut open = vec![value];
    while let Some(schema) = open.pop() {
        let keys = match schema {
            Value::Bool(_) => continue,
            Value::Object(keys) => keys,
            _ => return false,
        };
        let fits = match keys.get("type") {
            None => true,
            Some(Value::Array(words)) => words.iter().all(is_type),
            Some(word) => is_type(word),
        };
        if !fits {
            return false;
        }
        for (key, value) in keys {
            match (key.as_str(), value) {
                ("properties" | "patternProperties" | "$defs", Value::Object(parts)) => {
                    open.extend(parts.values());
                }
                ("properties" | "patternProperties" | "$defs", _) => return false,
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                    open.extend(parts);
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", _) => return false,
                ("items" | "not" | "additionalProperties", part) if !part.is_array() => {
                    open.push(part);
                }
                _ => {}
            }
        }
    }
    true
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What a single document cannot know: that its name is its own, and that chunks follow each other.
fn check_documents(list: JsonValue<'_>, documents: &[ContextDocument], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let mut last_chunk: Option<(&Address, u64)> = None;
    let mut counts: BTreeMap<&Address, u64> = BTreeMap::new();
    for (value, document) in list.children().zip(documents) {
        if !seen.insert(&document.doc_id) {
            let id = quoted(document.doc_id.as_str());
            let message = format!("another document has the id {id} already");
            problems.error(place(value, &["doc_id"]), codes::DUPLICATE_DOCUMENT, message);
        }
        let ContextContent::WebChunk(chunk) = &document.content else { continue };
        let index = chunk.chunk_index.value();
        if let Some((url, last)) = last_chunk
            && *url == chunk.url
            && last >= index
        {
            let message = format!("chunk {index} comes after chunk {last}");
            problems.error(place(value, &["content", "chunk_index"]), codes::CHUNK_ORDER, message);
        }
        last_chunk = Some((&chunk.url, index));
        let count = chunk.chunk_count.value();
        let first = *counts.entry(&chunk.url).or_insert(count);
        if first != count {
            let message = format!("another chunk of this page says that there are {first}");
            problems.error(place(value, &["content", "chunk_count"]), codes::CHUNK_ORDER, message);
        }
    }
}
