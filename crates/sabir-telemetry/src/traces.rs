//! Traces of work that crosses nodes: the context that travels in a header, what is recorded here, and
//! the collector that it is sent to, if somebody named one.

mod context;
mod export;
mod otlp;
mod settings;
mod span;

pub use context::{TRACEPARENT, TraceContext, current, within};
pub use export::Exporter;
pub use settings::{OtlpError, OtlpSettings, Traced};
pub use span::{Attribute, Span, SpanKind};
