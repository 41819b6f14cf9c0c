//! Audit rows: one for every decision, of a tool call, a command or a patch alike, with what it was
//! made from. They hold digests and short previews, no secrets and no bodies; who keeps them is not
//! known here.

use sabir_base::text::{clip_counted, one_line};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::binding::digest_of;
use crate::call::{Address, ArgumentSource, FieldKind, Sensitive, Taint};
use crate::gate::{Decision, Outcome};
use crate::labels::Labels;
use crate::rule::RuleId;

/// One decision, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    pub call_id: String,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The session or collection.
    pub actor: String,
    /// The tool, `shell` or `apply_patch`.
    pub subject: String,
    pub arguments_digest: String,
    /// Short, and without what looks like a secret.
    pub preview: String,
    pub labels: Labels,
    pub taint: Taint,
    pub provenance: Vec<ArgumentSource>,
    pub outcome: Outcome,
    pub rule: RuleId,
    pub reason_code: String,
    pub reason: String,
    pub approval: ApprovalMark,
}

/// What became of the question, if there was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMark {
    NotNeeded,
    Requested,
    Approved,
    ApprovedForSession,
    Denied,
    Expired,
    Aborted,
    /// It would have been asked for, and nobody was there.
    Unattended,
}

/// What is written down about an action.
#[derive(Debug, Clone, Copy)]
pub struct Audited<'a> {
    pub call_id: &'a str,
    pub actor: &'a str,
    pub subject: &'a str,
    pub arguments: &'a Map<String, Value>,
    pub taint: &'a Taint,
    pub sources: &'a [ArgumentSource],
    /// What is filled, if something is.
    pub field: Option<FieldKind>,
}

impl AuditRow {
    pub fn new(audited: &Audited<'_>, decision: &Decision, at: u64) -> Self {
        let mut arguments = audited.arguments.clone();
        if audited.field.is_some_and(FieldKind::is_sensitive) {
            // A hash of four digits is as good as the digits.
            for key in ["text", "value"] {
                if let Some(value) = arguments.get_mut(key) {
                    *value = Value::Null;
                }
            }
        }
        Self {
            call_id: short(audited.call_id),
            at,
            actor: short(audited.actor),
            subject: short(audited.subject),
            arguments_digest: digest_of(&arguments),
            preview: preview(&arguments),
            labels: decision.labels,
            taint: audited.taint.clone(),
            provenance: audited.sources.to_vec(),
            outcome: decision.outcome,
            rule: decision.rule,
            reason_code: decision.rule.reason_code().to_owned(),
            reason: clip_counted(&decision.reason, MAX_REASON_BYTES).into_owned(),
            approval: match decision.outcome {
                Outcome::Ask => ApprovalMark::Requested,
                Outcome::Allow if decision.is_approved => ApprovalMark::Approved,
                Outcome::Allow | Outcome::Deny => ApprovalMark::NotNeeded,
            },
        }
    }

    /// The row for a page that would have led from where the call was allowed to go to this address,
    /// and was held.
    pub fn led_elsewhere(&self, url: &str, host: &str, at: u64) -> Self {
        let rule = RuleId::CallLedElsewhere;
        let arguments = Map::from_iter([("url".to_owned(), Value::from(url))]);
        Self {
            at,
            arguments_digest: digest_of(&arguments),
            preview: preview(&arguments),
            // The page said it, and nobody else.
            provenance: Vec::new(),
            outcome: Outcome::Deny,
            rule,
            reason_code: rule.reason_code().to_owned(),
            reason: format!("{}: {}", rule.reason(), one_line(host, MAX_VALUE_CHARS)),
            approval: ApprovalMark::NotNeeded,
            ..self.clone()
        }
    }

    /// The row for the answer to its question.
    pub fn answered(&self, approval: ApprovalMark, at: u64) -> Self {
        let outcome = match approval {
            ApprovalMark::Approved | ApprovalMark::ApprovedForSession => Outcome::Allow,
            ApprovalMark::Requested => Outcome::Ask,
            ApprovalMark::NotNeeded => self.outcome,
            ApprovalMark::Denied
            | ApprovalMark::Expired
            | ApprovalMark::Aborted
            | ApprovalMark::Unattended => Outcome::Deny,
        };
        Self { approval, outcome, at, ..self.clone() }
    }
}

/// A name that somebody else gave. Cut, so that a model cannot make a row that nobody can keep.
fn short(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned()
}

/// The arguments in short.
fn preview(arguments: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (key, value) in arguments {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&one_line(key, MAX_VALUE_CHARS));
        text.push('=');
        text.push_str(&preview_of(value));
        if text.len() > MAX_PREVIEW_CHARS {
            break;
        }
    }
    one_line(&text, MAX_PREVIEW_CHARS)
}

fn preview_of(value: &Value) -> String {
    match value {
        Value::Null => "(withheld)".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => preview_of_text(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let shown = items.iter().take(MAX_ITEMS).filter_map(Value::as_str);
            let mut shown: Vec<String> = shown.map(preview_of_text).collect();
            if items.len() > MAX_ITEMS {
                shown.push("…".to_owned());
            }
            format!("[{}]", shown.join(" "))
        }
        Value::Array(items) => format!("[{} items]", items.len()),
        Value::Object(members) => format!("{{{} members}}", members.len()),
    }
}

fn preview_of_text(text: &str) -> String {
    if let Some(address) = Address::parse(text) {
        let whole = address.as_str();
        let path = whole.split(['?', '#']).next().unwrap_or(whole);
        let rest = if path.len() < whole.len() { "?…" } else { "" };
        return format!("{}{rest}", one_line(path, MAX_VALUE_CHARS));
    }
    match Sensitive::find(text) {
        Some(kind) => format!("({}, withheld)", kind.in_words()),
        None => one_line(text, MAX_VALUE_CHARS),
    }
}

const MAX_NAME_BYTES: usize = 256;
/// A model may add reasons of its own to those of the gate.
const MAX_REASON_BYTES: usize = 4 * 1024;
const MAX_VALUE_CHARS: usize = 80;
const MAX_PREVIEW_CHARS: usize = 400;
/// Of a list, as a command is.
const MAX_ITEMS: usize = 16;
