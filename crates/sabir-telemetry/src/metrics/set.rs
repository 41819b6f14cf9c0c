//! What is counted, and the names that it has. docs/observability.md lists them.

use std::sync::atomic::{AtomicI64, Ordering};

use super::number::{Counter, Family, Grid, Histogram};
use super::text::Text;

/// The counters of this process.
#[derive(Debug)]
pub struct Metric {
    pub http_requests: Grid<{ ROUTES.len() }, { STATUSES.len() }>,
    pub http_time: Histogram,
    pub messages: Grid<{ MESSAGE_TYPES.len() }, { MESSAGE_OUTCOMES.len() }>,
    pub tasks_running: AtomicI64,
    pub tasks_ended: Family<{ TASK_OUTCOMES.len() }>,
    pub task_time: Histogram,
    pub orders_placed: Family<{ PLACERS.len() }>,
    pub orders_ended: Family<{ ORDER_ENDS.len() }>,
    pub approvals_decided: Family<{ DECISIONS.len() }>,
    pub viewers: AtomicI64,
    pub model_calls: Family<{ MODEL_OUTCOMES.len() }>,
    pub model_tokens: Family<{ TOKENS.len() }>,
    pub model_time: Histogram,
    /// In millionths of a dollar.
    pub cost_micros: Counter,
    pub captures: Family<{ CAPTURES.len() }>,
    pub log_lines_dropped: Counter,
    pub spans_sent: Counter,
    pub spans_dropped: Counter,
}

/// What is asked for at the listener.
pub const ROUTES: [&str; 14] = [
    "identity",
    "capabilities",
    "messages",
    "stream",
    "socket",
    "health",
    "openapi",
    "metrics",
    "mcp",
    "a2a",
    "api",
    "console",
    "none",
    "other",
];

/// The statuses that we answer with.
pub const STATUSES: [&str; 26] = [
    "101", "200", "201", "202", "204", "301", "303", "304", "400", "401", "403", "404", "405",
    "406", "408", "409", "413", "415", "422", "429", "500", "501", "502", "503", "504", "other",
];

/// Messages between agents. `unreadable` is what was none.
pub const MESSAGE_TYPES: [&str; 14] = [
    "HELLO",
    "CAPABILITY_MANIFEST",
    "SESSION_PROPOSE",
    "SESSION_ACCEPT",
    "SESSION_REJECT",
    "TASK_SUBMIT",
    "TASK_UPDATE",
    "TASK_RESULT",
    "TASK_FAILED",
    "TASK_CANCEL",
    "ATTESTATION",
    "SESSION_CLOSE",
    "unreadable",
    "other",
];

/// `ok`, or the code that the answer has.
pub const MESSAGE_OUTCOMES: [&str; 27] = [
    "ok",
    "SESSION_NOT_FOUND",
    "SESSION_NOT_YOURS",
    "SESSION_EXPIRED",
    "SESSION_CLOSED",
    "SESSION_SUSPENDED",
    "SKILL_NOT_FOUND",
    "TIMESTAMP_OUT_OF_WINDOW",
    "REPLAY_DETECTED",
    "TRUST_DOMAIN_MISMATCH",
    "BAD_SIGNATURE",
    "SIGNATURE_REQUIRED",
    "FRAME_INVALID",
    "MODE_NOT_NEGOTIATED",
    "CONTRACT_VIOLATED",
    "LOOP_DETECTED",
    "DEPTH_EXCEEDED",
    "WRONG_RECIPIENT",
    "TASK_NOT_FOUND",
    "CANCELLED",
    "MESSAGE_INVALID",
    "UNEXPECTED_MESSAGE",
    "LIMIT_REACHED",
    "TASK_FAILED",
    "INTERRUPTED",
    "NODE_UNAVAILABLE",
    "other",
];

const TASK_OUTCOMES: [&str; 5] = ["completed", "failed", "cancelled", "interrupted", "other"];
const PLACERS: [&str; 6] = ["person", "page", "agent", "mcp", "a2a", "other"];
const ORDER_ENDS: [&str; 5] = ["done", "failed", "cancelled", "interrupted", "other"];
const DECISIONS: [&str; 4] = ["approve", "approve_for_session", "deny", "withdrawn"];
const MODEL_OUTCOMES: [&str; 4] = ["completed", "failed", "cancelled", "other"];
const TOKENS: [&str; 3] = ["input", "cached_input", "output"];
const CAPTURES: [&str; 3] = ["captured", "unchanged", "failed"];

static METRICS: Metric = Metric {
    http_requests: Grid::new(("route", "status"), &ROUTES, &STATUSES),
    http_time: Histogram::new(),
    messages: Grid::new(("type", "outcome"), &MESSAGE_TYPES, &MESSAGE_OUTCOMES),
    tasks_running: AtomicI64::new(0),
    tasks_ended: Family::new("outcome", &TASK_OUTCOMES),
    task_time: Histogram::new(),
    orders_placed: Family::new("by", &PLACERS),
    orders_ended: Family::new("state", &ORDER_ENDS),
    approvals_decided: Family::new("decision", &DECISIONS),
    viewers: AtomicI64::new(0),
    model_calls: Family::new("outcome", &MODEL_OUTCOMES),
    model_tokens: Family::new("kind", &TOKENS),
    model_time: Histogram::new(),
    cost_micros: Counter::new(),
    captures: Family::new("outcome", &CAPTURES),
    log_lines_dropped: Counter::new(),
    spans_sent: Counter::new(),
    spans_dropped: Counter::new(),
};

/// The counters of this process: there is one of each, as there is one memory.
pub fn metrics() -> &'static Metric {
    &METRICS
}

pub(super) fn write(text: &mut Text) {
    let all = metrics();
    let mut family = |name: &str, help: &str, write: &dyn Fn(&mut Text, &str)| {
        text.metric(name, "counter", help);
        write(text, name);
    };
    family(
        "sabir_http_requests_total",
        "Requests at the listener, by what was asked for.",
        &|t, n| {
            all.http_requests.write(t, n);
        },
    );
    family(
        "sabir_messages_total",
        "Messages of other agents, and what they were told.",
        &|t, n| {
            all.messages.write(t, n);
        },
    );
    family("sabir_tasks_ended_total", "Tasks of other agents that ended.", &|t, n| {
        all.tasks_ended.write(t, n);
    });
    family("sabir_orders_placed_total", "Tasks for the router, by who placed them.", &|t, n| {
        all.orders_placed.write(t, n);
    });
    family("sabir_orders_ended_total", "Tasks for the router that ended.", &|t, n| {
        all.orders_ended.write(t, n);
    });
    family("sabir_approvals_decided_total", "What a person was asked, and said.", &|t, n| {
        all.approvals_decided.write(t, n);
    });
    family("sabir_model_calls_total", "Attempts to have a model answer.", &|t, n| {
        all.model_calls.write(t, n);
    });
    family("sabir_model_tokens_total", "Tokens, as models count them.", &|t, n| {
        all.model_tokens.write(t, n);
    });
    family("sabir_captures_total", "Pages and files that were to be captured.", &|t, n| {
        all.captures.write(t, n);
    });
    let cost = all.cost_micros.get() as f64 / 1e6;
    let help = "What orders cost, as delegates say.";
    text.single("sabir_orders_cost_usd_total", "counter", help, cost);
    for (name, help, counter) in [
        ("sabir_log_lines_dropped_total", "Log lines that were left out.", &all.log_lines_dropped),
        ("sabir_trace_spans_sent_total", "Spans that a collector took.", &all.spans_sent),
        ("sabir_trace_spans_dropped_total", "Spans that were lost.", &all.spans_dropped),
    ] {
        text.single(name, "counter", help, counter.get() as f64);
    }
    for (name, help, gauge) in [
        ("sabir_tasks_running", "Tasks of other agents that run.", &all.tasks_running),
        ("sabir_stream_viewers", "Event streams that somebody reads.", &all.viewers),
    ] {
        text.single(name, "gauge", help, gauge.load(Ordering::Relaxed) as f64);
    }
    for (name, help, times) in [
        ("sabir_http_request_duration_seconds", "Until a request was answered.", &all.http_time),
        ("sabir_task_duration_seconds", "How long tasks ran.", &all.task_time),
        ("sabir_model_call_duration_seconds", "How long models took.", &all.model_time),
    ] {
        text.metric(name, "histogram", help);
        times.write(text, name);
    }
}
