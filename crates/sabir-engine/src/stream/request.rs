//! What is asked of a model, and the body that says so on either wire.

mod chat;
mod pairs;
mod responses;

use std::sync::Arc;

use crate::items::Item;
use crate::protocol::{Effort, ToolInfo, WireApi};

/// One request. Nothing in it depends on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    pub model: String,
    pub instructions: String,
    /// The thread, shared with whoever keeps it.
    pub items: Vec<Arc<Item>>,
    /// Where answers of the model are over, as numbers of items that stand before, in order. The
    /// calls of one answer belong together, also when some were answered before others were made.
    pub answers_end: Vec<usize>,
    pub tools: Vec<ToolInfo>,
    pub effort: Option<Effort>,
    /// The same for every request of a thread, so that the provider finds what it has seen before.
    pub cache_key: String,
    pub parallel_tool_calls: bool,
}

impl ModelRequest {
    /// The body to post, as JSON.
    ///
    /// In every body each call has exactly one output, after it: a call that has none was aborted,
    /// and an output without its call is left out. Providers refuse everything else.
    pub fn body(&self, wire: WireApi) -> String {
        let body = match wire {
            WireApi::Responses => serde_json::to_string(&responses::body(self)),
            WireApi::Chat => serde_json::to_string(&chat::body(self)),
        };
        // Strings, lists and JSON values cannot fail to be written.
        body.unwrap_or_default()
    }
}

/// As both wires spell it.
fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}
