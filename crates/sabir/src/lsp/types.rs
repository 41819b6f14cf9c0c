//! The part of the protocol's vocabulary that this server speaks.
//!
//! The crates that spell out the whole vocabulary cost a newcomer minutes of building, because every
//! type they derive is instantiated in this program; these few cost nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The address of a text, as the editor writes it.
pub(super) type Uri = String;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

#[derive(Debug, Serialize)]
pub(super) struct Location {
    pub(super) uri: Uri,
    pub(super) range: Range,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextDocument {
    pub(super) uri: Uri,
}

/// The parameters of every request about a whole text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    pub(super) text_document: TextDocument,
}

/// The parameters of every request about a place in a text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PositionParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
    pub(super) context: Option<CompletionContext>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionContext {
    /// What was typed, if that is why the editor asks.
    pub(super) trigger_character: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
    pub(super) context: ReferenceContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceContext {
    pub(super) include_declaration: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActionParams {
    pub(super) text_document: TextDocument,
    pub(super) range: Range,
    pub(super) context: CodeActionContext,
}

#[derive(Debug, Deserialize)]
pub(super) struct CodeActionContext {
    pub(super) only: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpenParams {
    pub(super) text_document: OpenedDocument,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenedDocument {
    pub(super) uri: Uri,
    pub(super) language_id: String,
    pub(super) version: i32,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChangeParams {
    pub(super) text_document: ChangedDocument,
    pub(super) content_changes: Vec<ContentChange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChangedDocument {
    pub(super) uri: Uri,
    pub(super) version: i32,
}

/// Without a range the text replaces everything.
#[derive(Debug, Deserialize)]
pub(super) struct ContentChange {
    pub(super) range: Option<Range>,
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct PublishDiagnosticsParams {
    pub(super) uri: Uri,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    pub(super) range: Range,
    pub(super) severity: u32,
    pub(super) code: &'static str,
    pub(super) source: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_information: Vec<RelatedInformation>,
}

/// The numbers of `DiagnosticSeverity`.
pub(super) mod severity {
    pub(in crate::lsp) const ERROR: u32 = 1;
    pub(in crate::lsp) const WARNING: u32 = 2;
    pub(in crate::lsp) const INFORMATION: u32 = 3;
}

#[derive(Debug, Serialize)]
pub(super) struct RelatedInformation {
    pub(super) location: Location,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub(super) range: Range,
    pub(super) new_text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceEdit {
    pub(super) changes: BTreeMap<Uri, Vec<TextEdit>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeAction {
    pub(super) title: String,
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) is_preferred: bool,
    pub(super) edit: WorkspaceEdit,
}

pub(super) const QUICK_FIX: &str = "quickfix";
pub(super) const SOURCE_FIX_ALL: &str = "source.fixAll";

#[derive(Debug, Serialize)]
pub(super) struct Markdown {
    kind: &'static str,
    value: String,
}

impl Markdown {
    pub(super) fn new(value: String) -> Self {
        Self { kind: "markdown", value }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Hover {
    pub(super) contents: Markdown,
    pub(super) range: Range,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionItem {
    pub(super) label: String,
    pub(super) kind: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) documentation: Option<Markdown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sort_text: Option<String>,
    pub(super) filter_text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) insert_text_format: Option<u32>,
    pub(super) text_edit: TextEdit,
}

/// The number of `InsertTextFormat` for text with `$1` in it.
pub(super) const SNIPPET: u32 = 2;

/// The numbers of `CompletionItemKind`.
pub(super) mod item_kind {
    pub(in crate::lsp) const VARIABLE: u32 = 6;
    pub(in crate::lsp) const CLASS: u32 = 7;
    pub(in crate::lsp) const PROPERTY: u32 = 10;
    pub(in crate::lsp) const UNIT: u32 = 11;
    pub(in crate::lsp) const VALUE: u32 = 12;
    pub(in crate::lsp) const KEYWORD: u32 = 14;
    pub(in crate::lsp) const ENUM_MEMBER: u32 = 20;
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    pub(super) kind: u32,
    pub(super) range: Range,
    pub(super) selection_range: Range,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<DocumentSymbol>,
}

/// The numbers of `SymbolKind`.
pub(super) mod symbol_kind {
    pub(in crate::lsp) const OBJECT: u32 = 19;
    pub(in crate::lsp) const EVENT: u32 = 24;
}

#[derive(Debug, Serialize)]
pub(super) struct SemanticTokens {
    /// Five numbers for each token.
    pub(super) data: Vec<u32>,
}
