//! What the journals know by a name: sessions, orders, responses, tasks of other agents, and rows that
//! only mention it.

use std::path::Path;

use sabir_base::text::one_line;
use sabir_host::open_existing_library;
use sabir_host::record::{AUDIT, Journal};
use sabir_host::written;
use sabir_ldp::{Ending, TaskKey};
use sabir_net::OrderId;
use sabir_store::{Line, LineFilter, Reader, SessionId, SessionSummary};
use serde_json::Value;

use super::thing::Thing;
use crate::log;

/// Everything that has exactly this name.
pub(super) fn find(home: &Path, wanted: &str) -> anyhow::Result<Vec<Thing>> {
    let mut found = Vec::new();
    // The task that a delegate knows of an order is named like the order.
    let names = [wanted.to_owned(), format!("{}{wanted}", OrderId::PREFIX)];
    for journal in Journal::open_all(home)? {
        let Some(reader) = journal.reader() else { continue };
        for name in &names {
            if let Some(session) = reader.session(&SessionId::new(name.as_str()))? {
                found.push(session_or_order(home, &journal, reader, &session)?);
            }
        }
        for key in reader.peer_tasks_named(wanted, MOST)? {
            found.push(task(&journal, reader, &key)?);
        }
        found.extend(approval(&journal, wanted)?);
        if let Some(bookmark) = reader.find_response(wanted)? {
            found.push(response(&journal, wanted, &bookmark.session_id, bookmark.seq));
        }
    }
    Ok(found)
}

/// Sessions and orders whose names begin so.
pub(super) fn begin_with(home: &Path, start: &str) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    if start.len() < SHORTEST {
        return Ok(names);
    }
    for journal in Journal::open_all(home)? {
        let Some(reader) = journal.reader() else { continue };
        let sessions = reader.sessions(&sabir_store::SessionFilter::default())?;
        let ids = sessions.iter().map(|session| session.id.as_str());
        names.extend(ids.filter(|id| id.starts_with(start)).map(str::to_owned));
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Rows that are about it, or mention it, where nothing itself has this name.
pub(super) fn mentions(home: &Path, wanted: &str) -> anyhow::Result<Option<Thing>> {
    if wanted.len() < SHORTEST {
        return Ok(None);
    }
    let mut lines = Vec::new();
    for journal in Journal::open_all(home)? {
        let about = LineFilter { key: Some(wanted.to_owned()), ..LineFilter::default() };
        let named = LineFilter { contains: Some(format!("\"{wanted}\"")), ..LineFilter::default() };
        for filter in [about, named] {
            for line in journal.last_lines(&filter, MOST)? {
                let place = (journal.name().to_owned(), line);
                if !lines.contains(&place) {
                    lines.push(place);
                }
            }
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let headline = format!("nothing itself is called {wanted}, but these rows name it");
    let places: Vec<String> =
        lines.iter().map(|(journal, line)| format!("{journal}/{}", line.seq)).collect();
    let mut thing = Thing::new("mention", headline).data("rows", places.clone());
    for (journal, line) in &lines {
        thing = thing.fact("row", log::in_one_line(journal, line));
    }
    Ok(Some(thing.next(format!("sabir log {}", places[0]))))
}

/// The rows of the journals that are about a call.
pub(super) fn rows_of_call(home: &Path, call: &str) -> anyhow::Result<Vec<String>> {
    let mut places = Vec::new();
    for journal in Journal::open_all(home)? {
        if journal.name() == AUDIT {
            continue;
        }
        let named = LineFilter {
            contains: Some(format!("\"call_id\":\"{call}\"")),
            ..LineFilter::default()
        };
        let lines = journal.last_lines(&named, MOST)?;
        places.extend(lines.iter().map(|line| format!("{}/{}", journal.name(), line.seq)));
    }
    Ok(places)
}

fn session_or_order(
    home: &Path,
    journal: &Journal,
    reader: &Reader,
    session: &SessionSummary,
) -> anyhow::Result<Thing> {
    let id = session.id.as_str();
    let (what, title) = match id.starts_with(OrderId::PREFIX) {
        true => ("order", "an order"),
        false => ("session", "a session"),
    };
    let words = session.title.as_deref().unwrap_or("(nothing was asked)");
    let parent = session.parent.as_ref().map(|parent| parent.session_id.as_str());
    let mut thing = Thing::new(what, format!("{id} is {title}: {}", one_line(words, 200)))
        .fact("journal", journal.name())
        .fact("began", written(session.created_at_ms))
        .fact("last", written(session.updated_at_ms))
        .fact("for", parent.unwrap_or_default())
        .data("id", id);
    let events = LineFilter {
        session: Some(session.id.clone()),
        kinds: vec!["event".to_owned()],
        ..LineFilter::default()
    };
    if what == "order" {
        thing = order(thing, journal, session, &events)?;
    } else {
        thing = thing.fact("model", session.model.as_str()).fact("in", session.cwd.as_str());
        let told =
            LineFilter { tags: ENDS.iter().map(|tag| (*tag).to_owned()).collect(), ..events };
        let last = reader.last_lines(&told, 1)?.pop();
        thing = thing.fact("state", state(last.as_ref())).fact("turns", session.turns.to_string());
        if let Some(line) = &last {
            thing = thing.fact("came of it", sabir_host::record::summary(journal.name(), line));
        }
        thing = waiting(thing, reader, &session.id)?;
    }
    let decisions = decisions(home, id)?;
    if decisions > 0 {
        thing = thing
            .fact("decisions", format!("{decisions} of the gate"))
            .next(format!("sabir log --journal audit --session {id}"));
    }
    thing = thing.next(format!("sabir log --session {id}"));
    Ok(match what {
        "order" => thing,
        _ => thing.next(format!("sabir replay --session {id}")).next(format!("sabir resume {id}")),
    })
}

/// Where a session stands, by the last event that says so.
fn state(last: Option<&Line>) -> &'static str {
    match last.map(|line| line.tag.as_str()) {
        Some("task_complete") => "done",
        Some("turn_aborted") => "ended before it was done",
        Some("error") => "failed",
        Some("task_started") => "running, or cut off",
        _ => "nothing was done yet",
    }
}

/// Questions that nobody answered.
fn waiting(mut thing: Thing, reader: &Reader, session: &SessionId) -> anyhow::Result<Thing> {
    let filter = LineFilter {
        session: Some(session.clone()),
        kinds: vec!["approval".to_owned()],
        ..LineFilter::default()
    };
    let mut open: Vec<Line> = Vec::new();
    for line in reader.first_lines(&filter, MOST_APPROVALS)? {
        open.retain(|asked| asked.key != line.key);
        if line.tag == "requested" {
            open.push(line);
        }
    }
    for line in open.iter().take(MOST) {
        thing = thing.fact("waits for a person", line.key.as_str());
    }
    Ok(thing)
}

fn order(
    mut thing: Thing,
    journal: &Journal,
    session: &SessionSummary,
    events: &LineFilter,
) -> anyhow::Result<Thing> {
    let placed = LineFilter {
        session: Some(session.id.clone()),
        kinds: vec!["submission".to_owned()],
        ..LineFilter::default()
    };
    let read = |line: &Line| serde_json::from_str::<Value>(&line.body).unwrap_or_default();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if let Some(line) = journal.first_lines(&placed, 1)?.first() {
        let request = read(line);
        thing = thing
            .fact("asked by", text(&request["by"]))
            .fact("skill", text(&request["skill"]))
            .fact("to", text(&request["to"]));
    }
    let told = |tag: &str| {
        let filter = LineFilter { tags: vec![tag.to_owned()], ..events.clone() };
        let line = journal.last_lines(&filter, 1)?.pop();
        anyhow::Ok(line.map(|line| read(&line)))
    };
    if let Some(chosen) = told("chosen")? {
        thing = thing.fact("chosen because", text(&chosen["why"]));
    }
    let Some(end) = told("report")? else { return Ok(thing.fact("state", "running, or cut off")) };
    let report = &end["report"];
    let error = match &end["error"] {
        Value::Null => &report["error"],
        error => error,
    };
    let why = match error["message"].as_str() {
        Some(message) => format!("{}: {message}", text(&error["code"])),
        None => text(error),
    };
    Ok(thing
        .fact("state", text(&end["state"]))
        .fact("done by", text(&report["delegate_id"]))
        .fact("payload mode", text(&report["payload_mode"]))
        .fact("why", why)
        .fact("tokens", text(&report["cost"]["tokens"])))
}

fn decisions(home: &Path, actor: &str) -> anyhow::Result<u64> {
    match open_existing_library(home)? {
        Some(library) => Ok(library.audit_count(actor)?),
        None => Ok(0),
    }
}

/// A task that another agent sent.
fn task(journal: &Journal, reader: &Reader, key: &TaskKey) -> anyhow::Result<Thing> {
    let id = key.id.as_str();
    let headline = format!("{id} is a task that {} sent to {}", key.owner, journal.name());
    let mut thing = Thing::new("task", headline)
        .fact("journal", journal.name())
        .data("id", id)
        .data("owner", key.owner.as_str());
    if let Some(started) = reader.peer_task_started(key)? {
        thing = thing
            .fact("skill", started.skill.as_str())
            .fact("began", written(started.at.millis()))
            .fact("session", started.session.as_str())
            .fact("payload mode", started.mode.wire_name());
    }
    thing = match reader.peer_task_ended(key)? {
        None => thing.fact("state", "running, or cut off"),
        Some(ended) => {
            let thing = thing.fact("ended", written(ended.at.millis()));
            match ended.ending {
                Ending::Result { provenance, .. } => thing
                    .fact("state", "done")
                    .fact("made by", provenance.produced_by.as_str())
                    .fact("model", provenance.model_version)
                    .fact("checked", provenance.verification.wire_name())
                    .fact("tokens", ended.usage.tokens.map_or(String::new(), |it| it.to_string())),
                Ending::Failed(error) => thing
                    .fact("state", "failed")
                    .fact("why", format!("{}: {}", error.code, error.message)),
            }
        }
    };
    Ok(thing.next(format!("sabir log --journal {} --grep {id}", journal.name())))
}

/// A question for a person, by the call that it is about.
fn approval(journal: &Journal, call: &str) -> anyhow::Result<Option<Thing>> {
    let filter = LineFilter {
        kinds: vec!["approval".to_owned()],
        key: Some(call.to_owned()),
        ..LineFilter::default()
    };
    let lines = journal.last_lines(&filter, MOST)?;
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(None) };
    let read = |line: &Line| serde_json::from_str::<Value>(&line.body).unwrap_or_default();
    let what = read(first)["what"].as_str().unwrap_or_default().to_owned();
    let session = first.session_id.as_str();
    let state = match last.tag.as_str() {
        "requested" => "it waits for a person, or nobody was asked any more",
        tag => tag,
    };
    let rows: Vec<String> =
        lines.iter().map(|line| format!("{}/{}", journal.name(), line.seq)).collect();
    let thing = Thing::new("approval", format!("{call} is a call that a person was asked about"))
        .fact("asked for", what)
        .fact("state", state)
        .fact("asked", written(first.at_ms))
        .fact("session", session)
        .data("id", call)
        .next(format!("sabir log {}", rows[0]));
    Ok(Some(thing.data("rows", rows).next(format!("sabir explain {session}"))))
}

fn response(journal: &Journal, id: &str, session: &SessionId, seq: u64) -> Thing {
    Thing::new("response", format!("{id} is a response of a model in the session {session}"))
        .fact("journal", journal.name())
        .data("id", id)
        .data("session_id", session.as_str())
        .next(format!("sabir log {}/{seq}", journal.name()))
        .next(format!("sabir fork {session} --at {id}"))
}

/// What a task of a session can end with.
const ENDS: [&str; 4] = ["task_started", "task_complete", "turn_aborted", "error"];
/// More than a person looks at.
const MOST: usize = 10;
const MOST_APPROVALS: usize = 10_000;
/// Anything shorter is everywhere.
const SHORTEST: usize = 6;
