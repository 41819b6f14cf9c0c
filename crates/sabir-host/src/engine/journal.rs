//! What the store keeps of a session, and how it is read back.

use sabir_engine::{ApprovalState, Event, EventMsg, Record};
use sabir_store::{Entry, Reader, SessionId, StoreError};

/// An event, with the line that shows it. Answers that only repeat what the journal holds, and what
/// is too large for an entry, are noted and not stored once more.
pub(super) fn event(event: &Event, line: &str) -> Entry {
    let repeats = match &event.msg {
        EventMsg::History { .. } => Some("the thread"),
        EventMsg::Tools { .. } => Some("the list of tools"),
        EventMsg::Approvals { .. } => Some("the list of approvals"),
        _ if line.len() > MOST_BYTES => Some("an event that is too large to be stored"),
        _ => None,
    };
    let noted = repeats.and_then(|what| {
        let message = format!("[{what} was shown here: {} bytes]", line.len());
        let msg = EventMsg::BackgroundEvent { message };
        serde_json::to_string(&Event { id: event.id.clone(), msg }).ok()
    });
    let body = noted.unwrap_or_else(|| line.to_owned());
    Entry::Event { sub_id: event.id.clone(), kind: tag_of(&body), body }
}

/// Half of what the store takes as one entry.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The kind of event, out of its line. Our own lines have the tag first, and a quote inside a string
/// is escaped, so that no id can pretend to be one.
fn tag_of(line: &str) -> String {
    const OPENS: &str = r#""msg":{"type":""#;
    let rest = line.find(OPENS).map_or("", |at| &line[at + OPENS.len()..]);
    rest.split('"').next().unwrap_or_default().to_owned()
}

pub(super) fn record(record: &Record) -> Option<Entry> {
    let body = serde_json::to_string(record).ok()?;
    Some(match record {
        Record::Item { .. } => Entry::Item { body },
        Record::Turn { response_id, .. } => Entry::Turn { response_id: response_id.clone(), body },
        Record::Approval { call_id, state, .. } => {
            Entry::Approval { call_id: call_id.clone(), state: stored_state(*state), body }
        }
        Record::Settings { .. } => note("settings", body),
        Record::Branch { .. } => note("branch", body),
        Record::AsideBegin | Record::AsideEnd => note("aside", body),
        Record::Compacted { .. } => note("compacted", body),
        Record::Granted { .. } | Record::Revoked { .. } => note("grant", body),
        Record::Changed { .. } | Record::Undone => note("change", body),
        Record::Plan { .. } => note("plan", body),
        Record::Tokens { .. } => note("tokens", body),
    })
}

fn note(kind: &str, body: String) -> Entry {
    Entry::Note { kind: kind.to_owned(), body }
}

fn stored_state(state: ApprovalState) -> sabir_store::ApprovalState {
    match state {
        ApprovalState::Requested => sabir_store::ApprovalState::Requested,
        ApprovalState::Approved => sabir_store::ApprovalState::Approved,
        ApprovalState::ApprovedForSession => sabir_store::ApprovalState::ApprovedForSession,
        ApprovalState::Denied => sabir_store::ApprovalState::Denied,
        ApprovalState::Aborted => sabir_store::ApprovalState::Aborted,
        ApprovalState::Expired => sabir_store::ApprovalState::Expired,
    }
}

/// What is stored of a session.
pub(super) fn records(reader: &Reader, session_id: &str) -> Result<Vec<Record>, String> {
    let stored = reader.records(&SessionId::new(session_id)).map_err(|error| error.to_string())?;
    stored
        .iter()
        .filter_map(|recorded| match &recorded.entry {
            Entry::Item { body }
            | Entry::Turn { body, .. }
            | Entry::Approval { body, .. }
            | Entry::Note { body, .. } => Some((recorded.seq, body)),
            Entry::Session(_) | Entry::Submission { .. } | Entry::Event { .. } | Entry::Peer(_) => {
                None
            }
        })
        .map(|(seq, body)| {
            serde_json::from_str(body)
                .map_err(|error| format!("entry {seq} of the journal cannot be read: {error}"))
        })
        .collect()
}

/// The thread that led to a response, wherever it was.
pub(super) fn thread_of(
    reader: &Reader,
    response_id: &str,
) -> Result<Option<Vec<Record>>, StoreError> {
    let Some(found) = reader.find_response(response_id)? else { return Ok(None) };
    let Ok(records) = records(reader, found.session_id.as_str()) else { return Ok(None) };
    Ok(sabir_engine::thread_at(&records, response_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_journal_holds_already_is_noted_and_not_stored_again() {
        let stored = |msg: EventMsg| {
            let event = Event { id: "7".to_owned(), msg };
            match super::event(&event, &serde_json::to_string(&event).unwrap()) {
                Entry::Event { sub_id, kind, body } => (sub_id, kind, body),
                other => panic!("{other:?}"),
            }
        };
        let words = "said before".repeat(1000);
        let items = vec![sabir_engine::Item::user(words)];
        let (sub_id, kind, body) = stored(EventMsg::History { items, last_response_id: None });
        assert_eq!((sub_id.as_str(), kind.as_str()), ("7", "background_event"));
        assert_eq!(
            body,
            r#"{"id":"7","msg":{"type":"background_event","message":"[the thread was shown here: 11146 bytes]"}}"#
        );
        let message = "x".repeat(MOST_BYTES);
        let (_, kind, body) = stored(EventMsg::AgentMessage { message });
        assert_eq!(kind, "background_event");
        assert!(body.len() < 200, "{}", body.len());
        let (_, kind, _) = stored(EventMsg::AgentMessage { message: "small".to_owned() });
        assert_eq!(kind, "agent_message");
    }

    #[test]
    fn the_kind_of_an_event_is_found_whatever_its_id_says() {
        let event =
            Event { id: r#"x","msg":{"type":"y"#.to_owned(), msg: EventMsg::ShutdownComplete };
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(tag_of(&line), "shutdown_complete");
    }
}
