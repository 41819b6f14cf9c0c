//! What passes between an agent and a model: packets, context documents, citations, typed tools,
//! packing, redaction. It names no model, no file and no clock.

mod answer;
mod calculate;
mod chunk;
mod citation;
mod cite;
pub mod codes;
mod context;
mod contract;
mod fence;
mod markdown;
mod pack;
mod packet;
mod problem;
mod redact;
mod repair;
mod request;
mod response;
mod schema;
mod tool;
mod turns;
mod value;
mod wire;

pub use answer::{Answer, Mode, Note, read_answer};
pub use calculate::{CalculateError, CalculateProblem, calculate};
pub use chunk::{Chunk, choose_chunks, gap_mark, split_chunks};
pub use citation::{Citation, Locator, LocatorKind};
pub use cite::{
    CitableSource, CitationStatus, MatchKind, Reason, SourceText, Verdict, verify_citation,
    verify_quote,
};
pub use context::{
    CollectionIndex, CollectionSource, Comment, ContextContent, ContextDocument, ContextKind,
    ConversationTurn, Count, DocumentSource, Element, IndexEntry, Item, Link, OutlineEntry,
    Primary, Signal, Speaker, ToolResult, ToolStatus, Trust, WebChunk, WebSummary,
};
pub use contract::Contract;
pub use fence::{Fence, WeakNonce, header_text};
pub use pack::{Inclusion, PackError, PackOptions, Packed, pack};
pub use packet::{
    Conversation, Envelope, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, Packet, PacketKind, Role, Turn,
};
pub use problem::{Parsed, Problem};
pub use redact::{
    Redacted, normalise_url, redact_packet, redact_packet_within, redact_text, redact_url,
};
pub use repair::Mend;
pub use request::{OutputFormat, Request, Task, TaskName, UserMessage};
pub use response::{Assistant, DataCheck, DataFault, Response, Title};
pub use schema::{request_schema, response_schema, tools_schema};
pub use tool::{
    AddSources, Back, Calculate, CaptureMode, CaptureSource, Click, CreateCollection, Forward,
    GetSelectionLinks, InvokeIntegration, ListSources, ListTransforms, MAX_TOOL_CALLS, Navigate,
    NewSource, NoteSource, ObserveDom, OpenArtifact, OpenTab, OpenTarget, Redaction, Refresh,
    RefreshSource, RunTransform, SaveArtifact, Scroll, Search, Select, ShareArtifact, ShareFormat,
    ShareTarget, TOOLS_SCHEMA_VERSION, Tool, ToolCall, ToolInfo, ToolName, Type, UrlSource,
};
pub use turns::{TurnError, Turns};
pub use value::{
    Address, ArtifactId, CallId, CollectionId, Confidence, ConversationId, DocId, Finite, HandleId,
    List, MessageId, PacketId, SourceId, Text, Timestamp, ValueError, WebUrl, Whole,
};
