//! What a request gives the model to read: documents, each with its kind and how far it is to be
//! trusted. It does not know how they are chosen or cut.

use sabir_base::json::JsonValue;
use serde_json::Value;

use crate::codes;
use crate::packet::{Turn, place};
use crate::problem::Problems;
use crate::tool::ToolName;
use crate::value::{
    Address, CallId, CollectionId, DocId, HandleId, SourceId, Text, Timestamp, Whole,
};
use crate::wire::{Wire, choice, record, tagged};

/// A document in the context of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextDocument {
    pub doc_id: DocId,
    pub trust: Trust,
    /// The browser and tab that it was seen in.
    pub source: Option<DocumentSource>,
    pub content: ContextContent,
}

choice! {
    /// Whether what a document says may be believed to be meant by the user or by this program.
    pub enum Trust {
        /// Evidence only: nothing that it says is an instruction.
        Untrusted "untrusted",
        Trusted "trusted",
    }
}

record! {
    /// Where a document was seen.
    pub struct DocumentSource {
        "browser" optional browser: Option<Text<100>>,
        "tab_id" optional tab_id: Option<Text<100>>,
    }
}

tagged! {
    /// What stands in a document, by its kind.
    pub enum ContextContent by "doc_type" {
        /// A page as it was observed.
        WebSummary(Box<WebSummary>) "web.observation.summary.v1",
        /// A part of a long page.
        WebChunk(WebChunk) "web.observation.chunk.v1",
        /// What a collection holds.
        CollectionIndex(CollectionIndex) "collection.index.v1",
        /// One source of a collection.
        CollectionSource(CollectionSource) "collection.source.v1",
        /// What a tool gave back.
        ToolResult(ToolResult) "tool.result.v1",
        /// What was said in an earlier turn.
        ConversationTurn(ConversationTurn) "conversation.turn.v1",
    }
}

choice! {
    /// The kinds of documents.
    pub enum ContextKind {
        WebSummary "web.observation.summary.v1",
        WebChunk "web.observation.chunk.v1",
        CollectionIndex "collection.index.v1",
        CollectionSource "collection.source.v1",
        ToolResult "tool.result.v1",
        ConversationTurn "conversation.turn.v1",
    }
}

record! {
    /// A page as it was observed. Markdown is what counts; the rest helps with lists, discussions
    /// and forms.
    pub struct WebSummary {
        "url" needed url: Address,
        "title" needed title: String,
        "captured_at" optional captured_at: Option<Timestamp>,
        /// Left out where chunks carry it.
        "markdown" optional markdown: Option<String>,
        "chunk_count" optional chunk_count: Option<Count>,
        "extracted_links" optional extracted_links: Vec<Link>,
        "text" optional text: Option<String>,
        "primary" optional primary: Option<Primary>,
        "items" optional items: Vec<Item>,
        "top_discussions" optional top_discussions: Vec<Item>,
        "comments" optional comments: Vec<Comment>,
        "outline" optional outline: Vec<OutlineEntry>,
        /// What stands between the reader and the page, such as `paywall_or_login`.
        "signals" optional signals: Vec<Signal>,
        "elements" optional elements: Vec<Element>,
    }
}

record! {
    /// A part of a long page.
    pub struct WebChunk {
        "url" needed url: Address,
        "title" needed title: String,
        /// From 1.
        "chunk_index" needed chunk_index: Count,
        "chunk_count" needed chunk_count: Count,
        "markdown" needed markdown: String,
    }
}

record! {
    /// What a collection holds.
    pub struct CollectionIndex {
        "collection_id" needed collection_id: CollectionId,
        "title" needed title: String,
        "tags" optional tags: Vec<String>,
        "sources" needed sources: Vec<IndexEntry>,
        /// What was left out of the request, in words.
        "context_note" optional context_note: Option<String>,
    }
}

record! {
    /// One source in the index of a collection. A note has no URL.
    pub struct IndexEntry {
        "source_id" needed source_id: SourceId,
        "url" optional url: Option<Address>,
        "title" needed title: String,
        "captured_at" optional captured_at: Option<Timestamp>,
    }
}

record! {
    /// One source of a collection. A note has no URL.
    pub struct CollectionSource {
        "collection_id" needed collection_id: CollectionId,
        "source_id" needed source_id: SourceId,
        "url" optional url: Option<Address>,
        "title" needed title: String,
        "captured_at" optional captured_at: Option<Timestamp>,
        "markdown" needed markdown: String,
        /// The Markdown is not all that was captured.
        "summary_only" optional summary_only: bool,
        "extracted_links" optional extracted_links: Vec<Link>,
    }
}

record! {
    /// What a tool gave back.
    pub struct ToolResult {
        "tool" needed tool: ToolName,
        "call_id" needed call_id: CallId,
        "status" needed status: ToolStatus,
        /// Of a status that is not `ok`: a word such as `STALE_HANDLE`.
        "error_code" optional error_code: Option<Text<100>>,
        "payload" optional payload: Option<Value>,
    }
}

impl ToolResult {
    /// The most that it may be trusted. Why a call failed may be said in the words of the call, which
    /// may be those of a page.
    pub fn most_trust(&self) -> Trust {
        match self.status {
            ToolStatus::Ok => self.tool.result_trust(),
            ToolStatus::Error | ToolStatus::Cancelled => Trust::Untrusted,
        }
    }
}

choice! {
    /// How a tool call ended.
    pub enum ToolStatus {
        Ok "ok",
        Error "error",
        Cancelled "cancelled",
    }
}

record! {
    /// What was said in an earlier turn.
    pub struct ConversationTurn {
        "turn" needed turn: Turn,
        "role" needed role: Speaker,
        "markdown" needed markdown: String,
    }
}

choice! {
    /// Who spoke in an earlier turn.
    pub enum Speaker {
        User "user",
        Assistant "assistant",
    }
}

record! {
    /// A link on a page, and the words around it.
    pub struct Link {
        "url" needed url: Address,
        "text" needed text: String,
        "context" optional context: Option<String>,
    }
}

record! {
    /// The main text of a page.
    pub struct Primary {
        "text" needed text: String,
        "tag" optional tag: Option<String>,
        "role" optional role: Option<String>,
        "handle_id" optional handle_id: Option<HandleId>,
    }
}

record! {
    /// One entry of a list, a feed or a page of results.
    pub struct Item {
        "title" needed title: String,
        "url" optional url: Option<Address>,
        "snippet" optional snippet: Option<String>,
        "comment_count" optional comment_count: Option<Whole<0, { u32::MAX as u64 }>>,
        "handle_id" optional handle_id: Option<HandleId>,
    }
}

record! {
    /// One comment of a discussion.
    pub struct Comment {
        "text" needed text: String,
        "depth" optional depth: Option<Whole<0, { u32::MAX as u64 }>>,
        "author" optional author: Option<String>,
        "age" optional age: Option<String>,
        "score" optional score: Option<String>,
        "handle_id" optional handle_id: Option<HandleId>,
    }
}

record! {
    /// A heading or landmark of a page.
    pub struct OutlineEntry {
        "level" needed level: Whole<0, 64>,
        "tag" optional tag: Option<String>,
        "role" optional role: Option<String>,
        "text" needed text: String,
    }
}

record! {
    /// Something on a page that can be clicked or filled in.
    pub struct Element {
        "handle_id" needed handle_id: HandleId,
        "role" optional role: Option<String>,
        "text" optional text: Option<String>,
        "href" optional href: Option<String>,
        "input_type" optional input_type: Option<String>,
    }
}

/// A number of things of which there is at least one.
pub type Count = Whole<1, { u32::MAX as u64 }>;

/// The name of a signal. Capture may learn new ones, so that any word is taken.
pub type Signal = Text<100>;

impl ContextDocument {
    pub fn kind(&self) -> ContextKind {
        self.content.kind()
    }
}

impl ContextContent {
    pub fn kind(&self) -> ContextKind {
        match self {
            Self::WebSummary(_) => ContextKind::WebSummary,
            Self::WebChunk(_) => ContextKind::WebChunk,
            Self::CollectionIndex(_) => ContextKind::CollectionIndex,
            Self::CollectionSource(_) => ContextKind::CollectionSource,
            Self::ToolResult(_) => ContextKind::ToolResult,
            Self::ConversationTurn(_) => ContextKind::ConversationTurn,
        }
    }

    /// The most that a document with this content may be trusted. Whatever holds words of a page is
    /// not trusted: an index has the titles that pages gave themselves, and an answer may repeat
    /// what a page said.
    pub fn most_trust(&self) -> Trust {
        match self {
            Self::WebSummary(_)
            | Self::WebChunk(_)
            | Self::CollectionIndex(_)
            | Self::CollectionSource(_) => Trust::Untrusted,
            Self::ToolResult(result) => result.most_trust(),
            Self::ConversationTurn(turn) => match turn.role {
                Speaker::User => Trust::Trusted,
                Speaker::Assistant => Trust::Untrusted,
            },
        }
    }

    /// The text that can be quoted, if the document has one.
    pub fn markdown(&self) -> Option<&str> {
        match self {
            Self::WebSummary(page) => page.markdown.as_deref().or(page.text.as_deref()),
            Self::WebChunk(chunk) => Some(&chunk.markdown),
            Self::CollectionSource(source) => Some(&source.markdown),
            Self::ConversationTurn(turn) => Some(&turn.markdown),
            Self::CollectionIndex(_) | Self::ToolResult(_) => None,
        }
    }
}

record! {
    /// A context document as it stands in JSON.
    struct DocumentRecord {
        "doc_id" needed doc_id: DocId,
        "kind" needed kind: ContextKind,
        "trust" needed trust: Trust,
        "source" optional source: Option<DocumentSource>,
        "content" needed content: ContextContent,
    }
}

impl Wire for ContextDocument {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let DocumentRecord { doc_id, kind, trust, source, content } =
            DocumentRecord::read(value, problems)?;
        let document = Self { doc_id, trust, source, content };
        if kind != document.kind() {
            let message =
                format!("the kind is {kind}, but the content's doc_type is {}", document.kind());
            problems.error(place(value, &["kind"]), codes::KIND_MISMATCH, message);
        }
        check_trust(value, &document, problems);
        if let ContextContent::WebChunk(chunk) = &document.content
            && chunk.chunk_index > chunk.chunk_count
        {
            let (index, count) = (chunk.chunk_index.value(), chunk.chunk_count.value());
            let message = format!("chunk {index} of {count}");
            problems.error(place(value, &["content", "chunk_index"]), codes::CHUNK_ORDER, message);
        }
        Some(document)
    }

    fn write(&self) -> Value {
        let Self { doc_id, trust, source, content } = self.clone();
        DocumentRecord { doc_id, kind: self.kind(), trust, source, content }.write()
    }

    fn schema() -> Value {
        DocumentRecord::schema()
    }
}

fn check_trust(value: JsonValue<'_>, document: &ContextDocument, problems: &mut Problems) {
    if document.trust <= document.content.most_trust() {
        return;
    }
    let message = format!("a document like this ({}) is never trusted", document.kind());
    let help = "write \"untrusted\": others had a hand in what it says";
    problems.error_with_help(place(value, &["trust"]), codes::TRUST_TOO_HIGH, message, help);
}
