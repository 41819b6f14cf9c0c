//! Rows of sessions: what a user submits, what an agent tells, what a model reads and writes; and rows
//! of orders, which a user gives to the router.

use sabir_base::json::{Json, JsonKind, JsonValue};
use sabir_lingua::{Act, Content, Message};
use sabir_store::Line;

use super::between;
use super::json::{as_text, content, is_nothing, text};

/// Who submits: a person, or an agent that handed work on.
const USER: &str = "user";
const AGENT: &str = "agent";
const MODEL: &str = "model";
const ROUTER: &str = "router";
const EVERYONE: &str = "*";

pub(super) fn message(line: &Line) -> Message {
    let json = Json::read(&line.body, MAX_DEPTH).ok();
    let message = json.as_ref().and_then(|json| read(line, json.top()));
    // What cannot be read is shown as it stands.
    let message = message.unwrap_or_else(|| Message {
        what: line.kind.clone(),
        of: line.key.clone(),
        content: Content::read(&line.body),
        ..between(Act::Inform, AGENT, EVERYONE)
    });
    Message { ctx: line.session_id.as_str().to_owned(), ..message }
}

fn read(line: &Line, top: JsonValue<'_>) -> Option<Message> {
    let told = match line.kind.as_str() {
        "submission" => submission(line, top),
        "event" => event(line, top),
        "item" => item(top.get("item")?),
        "turn" => Message {
            what: "turn".to_owned(),
            content: content(top, &["type", "response_id"]),
            ..between(Act::Inform, MODEL, AGENT)
        },
        "approval" => approval(line, top),
        "note" => Message {
            what: text(top, "type"),
            content: content(top, &["type"]),
            ..between(Act::Inform, AGENT, EVERYONE)
        },
        kind => Message {
            what: kind.to_owned(),
            content: content(top, &[]),
            ..between(Act::Inform, AGENT, EVERYONE)
        },
    };
    Some(match told.of.is_empty() {
        true => Message { of: line.key.clone(), ..told },
        false => told,
    })
}

/// What the sessions of the journal begin with that are orders.
pub const ORDERS: &str = "order-";

fn is_order(line: &Line) -> bool {
    line.session_id.as_str().starts_with(ORDERS)
}

fn submission(line: &Line, top: JsonValue<'_>) -> Message {
    let Some(op) = top.get("op").filter(|_| !is_order(line)) else {
        let by = match text(top, "by").as_str() {
            "" | "person" | "page" => USER.to_owned(),
            by => by.to_owned(),
        };
        return Message {
            what: "order".to_owned(),
            content: content(top, &["by"]),
            ..between(Act::Request, &by, ROUTER)
        };
    };
    let what = text(op, "type");
    let act = match what.as_str() {
        "interrupt" | "shutdown" => Act::Cancel,
        "exec_approval" | "patch_approval" => match text(op, "decision").as_str() {
            "approved" | "approved_for_session" => Act::Accept,
            _ => Act::Refuse,
        },
        "list_tools" | "list_approvals" | "get_history" => Act::Question,
        _ => Act::Request,
    };
    let content = match what.as_str() {
        "user_input" => words_of(op).unwrap_or_else(|| content(op, &["type"])),
        _ => content(op, &["type"]),
    };
    Message { what, content, ..between(act, USER, AGENT) }
}

/// Input that is one text, and asks for nothing unusual.
fn words_of(op: JsonValue<'_>) -> Option<Content> {
    let usual = is_nothing(op.get("last_response_id"))
        && op.get("mode").is_none_or(|mode| mode.text() == "\"replace\"");
    let mut items = op.get("items").filter(|_| usual)?.children();
    let only = items.next().filter(|_| items.next().is_none())?;
    let words = only.get("text").filter(|_| text(only, "type") == "text")?;
    Some(Content::read(words.text()))
}

fn event(line: &Line, top: JsonValue<'_>) -> Message {
    if is_order(line) {
        return order_event(line, top);
    }
    let msg = top.get("msg").unwrap_or(top);
    let what = match text(msg, "type") {
        none if none.is_empty() => line.tag.clone(),
        what => what,
    };
    let act = match what.as_str() {
        "error" | "stream_error" => Act::Failure,
        "exec_approval_request" | "apply_patch_approval_request" => Act::Question,
        "task_complete" | "tools" | "approvals" | "history" => Act::Answer,
        _ => Act::Inform,
    };
    Message { what, content: content(msg, &["type"]), ..between(act, AGENT, USER) }
}

/// News of a delegation, and what came of it.
fn order_event(line: &Line, top: JsonValue<'_>) -> Message {
    let what = match text(top, "event") {
        none if none.is_empty() => line.tag.clone(),
        what => what,
    };
    let act = match (what.as_str(), text(top, "state").as_str()) {
        ("report", "done") => Act::Answer,
        ("report", "cancelled") => Act::Cancel,
        ("report" | "failed" | "unreachable", _) => Act::Failure,
        _ => Act::Inform,
    };
    Message { what, content: content(top, &["event"]), ..between(act, ROUTER, USER) }
}

/// What the thread that the model reads is made of.
fn item(item: JsonValue<'_>) -> Message {
    let what = text(item, "type");
    let (act, from, to) = match what.as_str() {
        "message" => match text(item, "role").as_str() {
            "user" => (Act::Request, USER, MODEL),
            "assistant" => (Act::Answer, MODEL, AGENT),
            _ => (Act::Inform, AGENT, MODEL),
        },
        "function_call" => (Act::Request, MODEL, AGENT),
        "function_call_output" => (Act::Answer, AGENT, MODEL),
        _ => (Act::Inform, MODEL, AGENT),
    };
    let only_words = || {
        let mut parts = item.get("content")?.children();
        let part = parts.next().filter(|_| parts.next().is_none())?;
        let is_text = matches!(text(part, "type").as_str(), "input_text" | "output_text");
        as_text(part.get("text").filter(|_| is_text)?)
    };
    let content = match only_words().filter(|_| what == "message") {
        Some(words) => Content::text(&words),
        None => content(item, &["type", "call_id"]),
    };
    Message { of: text(item, "call_id"), what, content, ..between(act, from, to) }
}

/// What a person was asked, or said.
fn approval(line: &Line, top: JsonValue<'_>) -> Message {
    let (act, from, to) = match line.tag.as_str() {
        "requested" => (Act::Question, AGENT, USER),
        "approved" | "approved_for_session" => (Act::Accept, USER, AGENT),
        "denied" | "aborted" => (Act::Refuse, USER, AGENT),
        _ => (Act::Inform, AGENT, USER),
    };
    let content = match top.get("what").filter(|_| top.get("judged").is_none()) {
        Some(what) if what.kind() == JsonKind::String => Content::read(what.text()),
        _ => content(top, &["type", "call_id", "state"]),
    };
    Message { what: format!("approval_{}", line.tag), content, ..between(act, from, to) }
}

/// Deeper than any content may be, for what stands around it.
const MAX_DEPTH: usize = 128;
