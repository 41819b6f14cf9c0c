//! The messages, and the same messages as JSON.

use anyhow::{Context as _, ensure};
use sabir_axon::{Style, parse, print};

use crate::plain;

const TEXT: &str = include_str!("../data/messages.axon");
const LLMX_TEXT: &str = include_str!("../data/messages.llmx");

/// One message in the forms that are compared.
pub(crate) struct Message {
    /// The wire form.
    pub(crate) axon: String,
    /// The JSON that a protocol without AXON would send: short keys, units and names in strings.
    pub(crate) plain: String,
    /// The lossless encoding of `spec/schema/axon.schema.json`.
    pub(crate) lossless: String,
}

/// One message of LLMX, and as the JSON that a protocol without LLMX would send: the same keys.
pub(crate) struct LlmxMessage {
    pub(crate) llmx: String,
    pub(crate) json: String,
}

pub(crate) struct Corpus {
    pub(crate) messages: Vec<Message>,
    pub(crate) llmx: Vec<LlmxMessage>,
}

impl Corpus {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let parsed = parse(TEXT);
        ensure!(!parsed.has_errors(), "the benchmark's own messages must be valid");
        let mut messages = Vec::new();
        for node in parsed.tree.messages() {
            let source = node.text();
            let parsed = parse(source);
            let message = parsed.tree.messages().next().context("a message stays a message")?;
            let message = message.as_message().context("a message stays a message")?;
            let lossless = sabir_axon::json::encode(&parsed.tree).context("no syntax errors")?;
            messages.push(Message {
                axon: print(&parsed.tree, Style::Wire).trim_end().to_owned(),
                plain: serde_json::to_string(&plain::message(message))?,
                lossless: serde_json::to_string(&lossless)?,
            });
        }
        Ok(Self { messages, llmx: llmx_messages()? })
    }

    /// A document of at least `size` bytes, made of the messages over and over.
    pub(crate) fn document(&self, size: usize) -> String {
        repeat(self.messages.iter().map(|message| &message.axon), size)
    }

    /// The same of LLMX.
    pub(crate) fn llmx_document(&self, size: usize) -> String {
        repeat(self.llmx.iter().map(|message| &message.llmx), size)
    }
}

fn repeat<'m>(messages: impl Iterator<Item = &'m String> + Clone, size: usize) -> String {
    let mut text = String::with_capacity(size + 1024);
    for message in messages.cycle() {
        if text.len() >= size {
            break;
        }
        text.push_str(message);
        text.push('\n');
    }
    text
}

fn llmx_messages() -> anyhow::Result<Vec<LlmxMessage>> {
    let parsed = sabir_llmx::parse(LLMX_TEXT);
    ensure!(!parsed.has_errors(), "the benchmark's own messages must be valid");
    let message = |message: sabir_llmx::Message<'_>| {
        let parsed = sabir_llmx::parse(message.node.text());
        let document = sabir_llmx::json::encode(&parsed.tree)?;
        let list = document.split_once("\"messages\":[").context("a document has messages")?.1;
        Ok(LlmxMessage {
            llmx: sabir_llmx::print(&parsed.tree).trim_end().to_owned(),
            json: list.strip_suffix("]}").context("a document ends")?.to_owned(),
        })
    };
    parsed.tree.messages().map(message).collect()
}
