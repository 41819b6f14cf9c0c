//! Steps as OTLP has them in JSON: the form that every collector takes on its HTTP port, and that
//! needs no generated code.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::context::TraceContext;
use super::span::{Attribute, SpanKind, Step};
use crate::{Withheld, clean};

/// The body of one request to a collector.
pub(super) fn request(steps: &[Step], resource: &Value, withheld: &Withheld) -> Value {
    let spans: Vec<Value> = steps.iter().map(|step| span(step, withheld)).collect();
    let scope = json!({ "name": "sabir", "version": env!("CARGO_PKG_VERSION") });
    let scoped = json!({ "scope": scope, "spans": spans });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [scoped] }] })
}

/// Who sends: the same for all.
pub(super) fn resource(service: &str, instance: &str) -> Value {
    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    json!({ "attributes": [
        text("service.name", service),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", instance),
    ] })
}

fn span(step: &Step, withheld: &Withheld) -> Value {
    let attributes: Vec<Value> = step
        .attributes
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Attribute::Text(text) => json!({ "stringValue": clean(text, withheld) }),
                // 64 bits are a text in the JSON of Protobuf.
                Attribute::Number(number) => json!({ "intValue": number.to_string() }),
            };
            json!({ "key": key, "value": value })
        })
        .collect();
    let mut span = json!({
        "traceId": step.context.trace_id(),
        "spanId": step.context.span_id(),
        "name": step.name,
        "kind": match step.kind {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
        },
        "startTimeUnixNano": nanos(step.began),
        "endTimeUnixNano": nanos(step.ended.max(step.began)),
        "attributes": attributes,
        "status": match &step.error {
            None => json!({}),
            Some(code) => json!({ "code": 2, "message": clean(code, withheld) }),
        },
    });
    if let Some(parent) = step.parent {
        let parent = TraceContext { span: parent, ..step.context };
        span["parentSpanId"] = parent.span_id().into();
    }
    span
}

fn nanos(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}
