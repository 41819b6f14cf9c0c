//! Which number the next message of a sender has. Whether the numbers of a text are in order is not
//! asked here.

use std::collections::HashMap;

use sabir_llmx::Node;

/// The last sequence number of every sender. LLMX numbers messages and AXON does not, so a message
/// from AXON gets the next number of its sender.
#[derive(Default)]
pub(crate) struct Numbering {
    last: HashMap<String, u64>,
}

impl Numbering {
    /// After the last number that LLMX has, it starts again.
    pub(crate) fn next(&self, sender: &str) -> u64 {
        self.last
            .get(sender)
            .map_or(1, |&last| if last < sabir_llmx::MAX_SEQUENCE { last + 1 } else { 0 })
    }

    /// Takes note of one LLMX message.
    pub(crate) fn count(&mut self, text: &str) {
        let parsed = sabir_llmx::parse(text);
        let header = parsed.tree.messages().next().and_then(sabir_llmx::Message::header);
        let sender = header.and_then(|header| header.get("f")).and_then(Node::as_text);
        let number = header.and_then(|header| header.get("s"));
        let number = number.and_then(|node| node.text().parse().ok());
        if let (Some(sender), Some(number)) = (sender, number) {
            self.last.insert(sender.into_owned(), number);
        }
    }
}
