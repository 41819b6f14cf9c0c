//! What the gate decided, the last decisions first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sabir_policy::explain;
use sabir_store::library::AuditRow;
use serde_json::{Value, json};

use crate::input::Query;
use crate::refused::Answer;
use crate::state::Console;

pub(crate) async fn list(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let before: Option<u64> = query.number("before")?;
    let limit = query.limit(50, 500)?;
    let call = query.text("call").map(str::to_owned);
    let rows = console.library(move |library| match (call, before) {
        (Some(call), _) => library.audit_of_call(&call),
        (None, None) => library.last_audit(limit),
        (None, Some(before)) => {
            // Rows are numbered without a gap.
            let after = before.saturating_sub(1).saturating_sub(limit as u64);
            let mut rows = library.audit(after, limit)?;
            rows.retain(|row| row.seq < before);
            Ok(rows)
        }
    });
    let rows: Vec<Value> = rows.await?.iter().rev().map(row_json).collect();
    Ok(Json(json!({ "decisions": rows })))
}

fn row_json(row: &AuditRow) -> Value {
    let mut shown = json!({
        "seq": row.seq, "id": row.id, "at_ms": row.at_ms, "actor": row.actor,
        "tool": row.subject, "outcome": row.outcome, "reason_code": row.reason,
        "call_id": row.call_id, "hash": row.hash, "rule": null, "why": null,
    });
    // One that a newer program wrote may say more than we understand.
    if let Ok(said) = serde_json::from_str::<sabir_policy::AuditRow>(&row.body) {
        shown["rule"] = json!(said.rule);
        shown["why"] = json!(said.reason);
        shown["remedy"] = json!(said.rule.remedy());
        shown["approval"] = json!(said.approval);
        shown["labels"] = json!(said.labels.names());
        shown["untrusted"] = json!(said.taint.untrusted);
        shown["private"] = json!(said.taint.private);
        shown["preview"] = json!(said.preview);
        shown["explanation"] = json!(explain(&said));
    }
    shown
}
