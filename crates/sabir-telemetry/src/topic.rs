//! What log lines are about. A line names one of these as its target; lines of others are not written,
//! because libraries show headers and bodies.

/// The node itself: how it starts, stops and fails.
pub const NODE: &str = "sabir::node";
/// Who came to the listener, and who was turned away.
pub const DOOR: &str = "sabir::door";
/// Tasks that others gave to a delegate of the node.
pub const TASK: &str = "sabir::task";
/// Tasks for the router, and who was chosen.
pub const ORDER: &str = "sabir::order";
/// What waits for a person.
pub const APPROVAL: &str = "sabir::approval";
/// Calls of models.
pub const MODEL: &str = "sabir::model";
/// Pages that are fetched.
pub const CAPTURE: &str = "sabir::capture";
/// The log, the counters and the traces themselves.
pub const TELEMETRY: &str = "sabir::telemetry";

pub(crate) const ALL: [&str; 8] = [NODE, DOOR, TASK, ORDER, APPROVAL, MODEL, CAPTURE, TELEMETRY];

/// As people write it.
pub(crate) fn short(topic: &str) -> &str {
    topic.strip_prefix(PREFIX).unwrap_or(topic)
}

pub(crate) fn index_of(target: &str) -> Option<usize> {
    ALL.iter().position(|topic| *topic == target)
}

const PREFIX: &str = "sabir::";
