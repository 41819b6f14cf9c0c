//! The messages, and the same messages as JSON.

use anyhow::{Context as _, ensure};
use sabir_axon::{Style, parse, print};

use crate::plain;

const TEXT: &str = include_str!("../data/messages.axon");

/// One message in the forms that are compared.
pub(crate) struct Message {
    /// The wire form.
    pub(crate) axon: String,
    /// The JSON that a protocol without AXON would send: short keys, units and names in strings.
    pub(crate) plain: String,
    /// The lossless encoding of `spec/schema/axon.schema.json`.
    pub(crate) lossless: String,
}

pub(crate) struct Corpus {
    pub(crate) messages: Vec<Message>,
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
        Ok(Self { messages })
    }

    /// A document of at least `size` bytes, made of the messages over and over.
    pub(crate) fn document(&self, size: usize) -> String {
        let mut text = String::with_capacity(size + 1024);
        for message in self.messages.iter().cycle() {
            if text.len() >= size {
                break;
            }
            text.push_str(&message.axon);
            text.push('\n');
        }
        text
    }
}
