//! Rows of a delegate: what others asked of it, and what it told them.

use sabir_base::json::{Json, JsonKind, JsonValue};
use sabir_ldp::spell_out_records;
use sabir_lingua::{Act, Content, Message};
use sabir_store::Line;

use super::between;
use super::json::{content, text};

/// One message for each record of the row.
pub(super) fn messages(journal: &str, line: &Line) -> Vec<Message> {
    match Json::read(&spell_out_records(&line.body), MAX_DEPTH) {
        Ok(json) if json.top().kind() == JsonKind::Array => {
            json.top().children().map(|record| message(journal, record)).collect()
        }
        // What cannot be read is shown as it stands.
        _ => vec![Message {
            what: line.kind.clone(),
            content: Content::read(&line.body),
            ..between(Act::Inform, journal, "*")
        }],
    }
}

fn message(me: &str, record: JsonValue<'_>) -> Message {
    let kind = text(record, "record");
    let is_done = record.get("ending").is_some_and(|ending| ending.get("result").is_some());
    let (owner, task) = match record.get("key") {
        Some(key) => (text(key, "owner"), text(key, "id")),
        None => (text(record, "owner"), text(record, "task")),
    };
    let from = text(record, "from");
    let (act, from, to) = match kind.as_str() {
        "seen" => {
            let sender = record.get("replay").map(|replay| text(replay, "sender"));
            (Act::Inform, sender.unwrap_or_default(), me.to_owned())
        }
        "started" => (Act::Request, owner, me.to_owned()),
        "opened" => (Act::Accept, me.to_owned(), owner),
        "ended" if is_done => (Act::Answer, me.to_owned(), owner),
        "ended" => (Act::Failure, me.to_owned(), owner),
        "attested" => (Act::Inform, from, me.to_owned()),
        "refused" => (Act::Refuse, me.to_owned(), from),
        _ if owner.is_empty() => (Act::Inform, me.to_owned(), "*".to_owned()),
        _ => (Act::Inform, me.to_owned(), owner),
    };
    // As the messages are called that it was, where it was one.
    let what = match kind.as_str() {
        "started" => "task_submit",
        "updated" => "task_update",
        "ended" if is_done => "task_result",
        "ended" => "task_failed",
        "opened" => "session_accept",
        "session_ended" => "session_close",
        "attested" => "attestation",
        "refused" => "refusal",
        kind => kind,
    };
    Message {
        what: what.to_owned(),
        ctx: text(record, "session"),
        of: task,
        content: content(record, &["record", "key", "owner", "from", "session", "task"]),
        ..between(act, &from, &to)
    }
}

const MAX_DEPTH: usize = 128;
