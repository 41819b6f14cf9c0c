//! The protocol as a machine: a message goes in, messages come out. It knows no stream and no file;
//! every text it knows was sent by the editor.

use std::collections::BTreeMap;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::notation::Notation;

use super::document::{Document, notation_of};
use super::position::{Encoding, Lines};
use super::types::{
    CodeActionParams, CompletionParams, Diagnostic, DidChangeParams, DidOpenParams, DocumentParams,
    Position, PositionParams, PublishDiagnosticsParams, QUICK_FIX, ReferenceParams, SOURCE_FIX_ALL,
};
use super::{actions, completion, diagnostics, hover, navigation, semantic};

/// One conversation with one editor.
#[derive(Debug, Default)]
pub(super) struct Server {
    state: State,
    client: Client,
    /// By address.
    documents: BTreeMap<String, Document>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum State {
    #[default]
    Starting,
    Running,
    /// Nothing but `exit` is expected.
    ShutDown,
    Ended {
        orderly: bool,
    },
}

/// What the editor said about itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    pub(super) encoding: Encoding,
    /// It understands `$1` in what is inserted.
    pub(super) snippets: bool,
    /// It shows the other places that a diagnostic points at.
    pub(super) related: bool,
}

/// An open text, ready to be asked about.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) notation: Notation,
    pub(super) uri: &'a str,
    pub(super) text: &'a str,
    pub(super) lines: Lines<'a>,
    pub(super) client: Client,
}

/// Why a request has no answer.
struct Refusal {
    code: ErrorCode,
    message: String,
}

type Answer = Result<Value, Refusal>;

impl Server {
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended { .. })
    }

    pub(super) fn was_shut_down(&self) -> bool {
        matches!(self.state, State::ShutDown | State::Ended { orderly: true })
    }

    /// Takes one message and appends what is to be sent.
    pub(super) fn handle(&mut self, message: Message, out: &mut Vec<Message>) {
        match message {
            Message::Request(request) => {
                let Request { id, method, params } = request;
                let answer = self.answer(&method, params);
                out.push(respond(id, answer).into());
            }
            Message::Notification(Notification { method, params }) => {
                self.notice(&method, params, out);
            }
            // We ask the editor nothing.
            Message::Response(_) => {}
        }
    }

    fn answer(&mut self, method: &str, params: Value) -> Answer {
        match (self.state, method) {
            (State::Starting, "initialize") => self.initialize(&params),
            (State::Starting, _) => {
                Err(refusal(ErrorCode::ServerNotInitialized, "send `initialize` first"))
            }
            (State::Running, "initialize") => {
                Err(refusal(ErrorCode::InvalidRequest, "already initialized"))
            }
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::Running, _) => self.answer_about_text(method, params),
            (State::ShutDown | State::Ended { .. }, _) => {
                Err(refusal(ErrorCode::InvalidRequest, "shut down already"))
            }
        }
    }

    fn initialize(&mut self, params: &Value) -> Answer {
        // Picked out one by one: a client with an odd value somewhere in its long list of
        // capabilities is still served.
        let capability = |path: &str| params.pointer(&format!("/capabilities{path}"));
        let flag = |path: &str| capability(path).and_then(Value::as_bool).unwrap_or(false);
        let encodings = capability("/general/positionEncodings").and_then(Value::as_array);
        let utf8 = encodings.is_some_and(|offered| offered.iter().any(|kind| kind == "utf-8"));
        self.client = Client {
            encoding: if utf8 { Encoding::Utf8 } else { Encoding::Utf16 },
            snippets: flag("/textDocument/completion/completionItem/snippetSupport"),
            related: flag("/textDocument/publishDiagnostics/relatedInformation"),
        };
        self.state = State::Running;
        Ok(json!({
            "capabilities": capabilities(self.client.encoding),
            "serverInfo": { "name": "sabir", "version": env!("CARGO_PKG_VERSION") },
        }))
    }

    fn answer_about_text(&self, method: &str, params: Value) -> Answer {
        match method {
            "textDocument/hover" => {
                let at: PositionParams = read(params)?;
                self.about(&at.text_document.uri, |view| hover::hover(view, at.position))
            }
            "textDocument/completion" => {
                let params: CompletionParams = read(params)?;
                self.about(&params.text_document.uri, |view| completion::complete(view, &params))
            }
            "textDocument/definition" => {
                let at: PositionParams = read(params)?;
                self.about(&at.text_document.uri, |view| navigation::define(view, at.position))
            }
            "textDocument/references" => {
                let params: ReferenceParams = read(params)?;
                self.about(&params.text_document.uri, |view| navigation::refer(view, &params))
            }
            "textDocument/documentSymbol" => {
                let params: DocumentParams = read(params)?;
                self.about(&params.text_document.uri, navigation::outline)
            }
            "textDocument/semanticTokens/full" => {
                let params: DocumentParams = read(params)?;
                self.about(&params.text_document.uri, semantic::tokens)
            }
            "textDocument/formatting" => {
                let params: DocumentParams = read(params)?;
                self.about(&params.text_document.uri, actions::format)
            }
            "textDocument/codeAction" => {
                let params: CodeActionParams = read(params)?;
                self.about(&params.text_document.uri, |view| actions::offer(view, &params))
            }
            _ => Err(refusal(ErrorCode::MethodNotFound, format!("unknown method `{method}`"))),
        }
    }

    /// Asks `question` about an open text; `null` when there is no such text, which is what a
    /// client gets for a text that it opened in another language.
    fn about<R: Serialize>(&self, uri: &str, question: impl FnOnce(&View<'_>) -> R) -> Answer {
        match self.view(uri) {
            Some(view) => to_value(question(&view)),
            None => Ok(Value::Null),
        }
    }

    fn view<'a>(&'a self, uri: &'a str) -> Option<View<'a>> {
        let &Document { notation, ref text, .. } = self.documents.get(uri)?;
        let lines = Lines::new(text, self.client.encoding);
        Some(View { notation, uri, text, lines, client: self.client })
    }

    /// A notification has no answer, so one that makes no sense is passed over.
    fn notice(&mut self, method: &str, params: Value, out: &mut Vec<Message>) {
        match (self.state, method) {
            (state, "exit") => {
                self.state = State::Ended { orderly: state == State::ShutDown };
            }
            (State::Running, "textDocument/didOpen") => {
                let Ok(params) = read::<DidOpenParams>(params) else { return };
                let item = params.text_document;
                let Some(notation) = notation_of(&item.language_id, &item.uri) else {
                    return;
                };
                let document = Document { notation, version: item.version, text: item.text };
                self.documents.insert(item.uri.clone(), document);
                self.publish(&item.uri, out);
            }
            (State::Running, "textDocument/didChange") => {
                let Ok(params) = read::<DidChangeParams>(params) else { return };
                let uri = params.text_document.uri;
                let Some(document) = self.documents.get_mut(&uri) else { return };
                document.version = params.text_document.version;
                for change in params.content_changes {
                    document.apply(change, self.client.encoding);
                }
                self.publish(&uri, out);
            }
            (State::Running, "textDocument/didClose") => {
                let Ok(params) = read::<DocumentParams>(params) else { return };
                let uri = params.text_document.uri;
                if self.documents.remove(&uri).is_some() {
                    out.push(published(uri, None, Vec::new()));
                }
            }
            _ => {}
        }
    }

    fn publish(&self, uri: &str, out: &mut Vec<Message>) {
        let Some(view) = self.view(uri) else { return };
        let version = self.documents.get(uri).map(|document| document.version);
        out.push(published(uri.to_owned(), version, diagnostics::collect(&view)));
    }
}

impl View<'_> {
    pub(super) fn offset(&self, position: Position) -> u32 {
        self.lines.offset(position)
    }
}

fn capabilities(encoding: Encoding) -> Value {
    /// The number of `TextDocumentSyncKind` for changes by range.
    const INCREMENTAL: u32 = 2;
    json!({
        "positionEncoding": match encoding {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
        },
        "textDocumentSync": { "openClose": true, "change": INCREMENTAL },
        "completionProvider": { "triggerCharacters": completion::all_triggers() },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeActionProvider": { "codeActionKinds": [QUICK_FIX, SOURCE_FIX_ALL] },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": semantic::LEGEND, "tokenModifiers": [] },
            "full": true,
        },
    })
}

fn published(uri: String, version: Option<i32>, diagnostics: Vec<Diagnostic>) -> Message {
    let params = PublishDiagnosticsParams { uri, version, diagnostics };
    // These are our own types, all of whose keys are strings.
    let params = serde_json::to_value(params).unwrap_or_default();
    Notification { method: "textDocument/publishDiagnostics".to_owned(), params }.into()
}

fn respond(id: RequestId, answer: Answer) -> Response {
    match answer {
        Ok(value) => Response { id, response_result: Ok(value) },
        Err(Refusal { code, message }) => Response::new_err(id, code as i32, message),
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| refusal(ErrorCode::InvalidParams, error.to_string()))
}

fn to_value(value: impl Serialize) -> Answer {
    serde_json::to_value(value)
        .map_err(|error| refusal(ErrorCode::InternalError, error.to_string()))
}

fn refusal(code: ErrorCode, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into() }
}
