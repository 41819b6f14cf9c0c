//! What a node tells those who run it: log lines, counters, and traces of work that crosses nodes.
//!
//! It knows neither protocol nor store: others say what happened, in words from closed lists, and what
//! they say is cleaned before anybody reads it. Nothing leaves the machine unless a place to send it to
//! was named.

mod clean;
mod log;
mod metrics;
mod process;
pub mod topic;
mod traces;

pub use clean::{Withheld, clean};
pub use log::{Filter, FilterError, Format, Lines, LogGuard, start_log};
pub use metrics::{
    Counter, Family, Grid, Histogram, MESSAGE_OUTCOMES, MESSAGE_TYPES, Metric, ROUTES, Running,
    SECONDS, STATUSES, Text, metrics, render,
};
pub use traces::{
    Attribute, Exporter, OtlpError, OtlpSettings, Span, SpanKind, TRACEPARENT, TraceContext,
    Traced, current, within,
};
