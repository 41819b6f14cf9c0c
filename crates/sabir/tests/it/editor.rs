//! An editor, as the language server sees one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{sabir, wait};

/// What an editor calls a text and its language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    pub(crate) uri: &'static str,
    pub(crate) language: &'static str,
}

pub(crate) const AXON: Document = Document { uri: "file:///conversation.axon", language: "axon" };
pub(crate) const LLMX: Document = Document { uri: "file:///conversation.llmx", language: "llmx" };

/// An editor. Its server is killed with it.
pub(crate) struct Editor {
    /// The text that is open, or would be.
    document: Document,
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    last_id: i32,
}

impl Editor {
    /// Before `initialize`.
    pub(crate) fn connect() -> Self {
        let mut child = sabir().arg("lsp").spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, incoming) = channel();
        thread::spawn(move || {
            while let Some(message) = read_frame(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { document: AXON, child, stdin, incoming, last_id: 0 }
    }

    /// After `initialize`, with these client capabilities; the server's are returned.
    pub(crate) fn start(capabilities: Value) -> (Self, Value) {
        let mut editor = Self::connect();
        let result = editor.ask("initialize", json!({ "capabilities": capabilities }));
        editor.notify("initialized", json!({}));
        (editor, result["capabilities"].clone())
    }

    /// With `text` open; the diagnostics that came for it.
    pub(crate) fn open(document: Document, text: &str) -> (Self, Vec<Value>) {
        let (mut editor, _) = Self::start(json!({}));
        let found = editor.open_text(document, text);
        (editor, found)
    }

    pub(crate) fn open_text(&mut self, document: Document, text: &str) -> Vec<Value> {
        self.document = document;
        let Document { uri, language } = document;
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
        self.diagnostics()
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn receive(&mut self) -> Value {
        self.incoming.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// The whole response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let response = self.receive();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    pub(crate) fn ask_at(&mut self, method: &str, line: u32, character: u32) -> Value {
        self.ask(method, at(self.document, line, character))
    }

    /// Sends changes and gives back what is found after them.
    pub(crate) fn change(&mut self, version: i32, changes: Value) -> Vec<Value> {
        let document = json!({ "uri": self.document.uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
        self.diagnostics()
    }

    pub(crate) fn format(&mut self) -> Value {
        let params = json!({
            "textDocument": { "uri": self.document.uri },
            "options": { "tabSize": 2, "insertSpaces": true },
        });
        self.ask("textDocument/formatting", params)
    }

    /// The actions of the kinds in `only` that are offered for a range.
    pub(crate) fn actions(&mut self, range: Value, only: Value) -> Vec<Value> {
        let params = json!({
            "textDocument": { "uri": self.document.uri },
            "range": range,
            "context": { "diagnostics": [], "only": only },
        });
        let actions = self.ask("textDocument/codeAction", params);
        actions.as_array().unwrap().clone()
    }

    /// What completion offers, by label.
    pub(crate) fn complete(&mut self, line: u32, character: u32) -> Vec<String> {
        let items = self.ask_at("textDocument/completion", line, character);
        let labels = items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap());
        labels.map(str::to_owned).collect()
    }

    /// What is said about a place, or nothing.
    pub(crate) fn hover(&mut self, line: u32, character: u32) -> String {
        let result = self.ask_at("textDocument/hover", line, character);
        result["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The words that have a colour, and which; `text` is what is open.
    pub(crate) fn colours(&mut self, text: &str) -> Vec<String> {
        let (_, capabilities) = Self::start(json!({}));
        let legend = &capabilities["semanticTokensProvider"]["legend"]["tokenTypes"];
        let result = self.ask_at("textDocument/semanticTokens/full", 0, 0);
        let data: Vec<usize> = result["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|number| number.as_u64().unwrap() as usize)
            .collect();
        let lines: Vec<Vec<u16>> = text.lines().map(|line| line.encode_utf16().collect()).collect();
        let (mut line, mut character) = (0, 0);
        let mut seen = Vec::new();
        for token in data.chunks(5) {
            character = if token[0] == 0 { character + token[1] } else { token[1] };
            line += token[0];
            let word = String::from_utf16(&lines[line][character..character + token[2]]).unwrap();
            seen.push(format!("{word} {}", legend[token[3]].as_str().unwrap()));
        }
        seen
    }

    pub(crate) fn diagnostics(&mut self) -> Vec<Value> {
        let message = self.receive();
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        assert_eq!(message["params"]["uri"], self.document.uri);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    pub(crate) fn exit_code(mut self) -> i32 {
        self.stdin = None;
        wait(&mut self.child).unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_frame(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => length = line.strip_prefix("Content-Length: ")?.parse().ok()?,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

pub(crate) fn at(document: Document, line: u32, character: u32) -> Value {
    json!({
        "textDocument": { "uri": document.uri },
        "position": { "line": line, "character": character },
    })
}

pub(crate) fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    let position = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": position(start), "end": position(end) })
}
