//! All that is written down in the home, row by row: the last first, or on from a place; and one row in
//! four languages. `sabir log` shows the same.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sabir_host::open_existing_library;
use sabir_host::record::{Journal, RecordError, journal_names, summary, utterance};
use sabir_lingua::tokens::Tokenizer;
use sabir_store::library::{LibraryError, Unsound};
use sabir_store::{Hash, Line, LineFilter, SessionId, StoreError, Tampered, Verified};
use serde_json::{Value, json};

use crate::input::Query;
use crate::refused::{Answer, Refused};
use crate::state::Console;

pub(crate) async fn list(State(console): State<Arc<Console>>) -> Answer {
    let journals = console.record(|home| {
        let mut shown = Vec::new();
        for name in journal_names(home)? {
            let last_seq = Journal::open(home, &name)?.last_seq()?;
            shown.push(json!({ "name": name, "last_seq": last_seq }));
        }
        Ok(shown)
    });
    Ok(Json(json!({ "journals": journals.await? })))
}

pub(crate) async fn lines(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    query: Query,
) -> Answer {
    let list = |name: &str| query.text(name).map(str::to_owned).into_iter().collect();
    let filter = LineFilter {
        after: query.number("after")?,
        before: query.number("before")?,
        session: query.text("session").map(SessionId::new),
        kinds: list("kind"),
        tags: list("tag"),
        contains: query.text("q").map(str::to_owned),
        ..LineFilter::default()
    };
    let limit = query.limit(100, 500)?;
    let shown = console.record(move |home| {
        let journal = Journal::open(home, &name)?;
        let (lines, last) = find(&journal, filter, limit)?;
        let next = last.filter(|_| lines.len() == limit);
        Ok(json!({ "lines": lines, "next": next }))
    });
    Ok(Json(shown.await?))
}

pub(crate) async fn line(
    State(console): State<Arc<Console>>,
    Path((name, seq)): Path<(String, String)>,
    query: Query,
) -> Answer {
    let seq: u64 = seq.parse().map_err(|_| Refused::bad("the number of a row is a number"))?;
    let vocabulary = match query.text("vocabulary") {
        None => Tokenizer::O200k,
        Some(name) => Tokenizer::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Tokenizer::ALL.iter().map(|it| it.name()).collect();
            Refused::bad(format!("vocabulary: one of {}", names.join(", ")))
        })?,
    };
    let missing = Refused::missing(format!("the journal {name} has no row {seq}"));
    let shown = console.record(move |home| {
        let journal = Journal::open(home, &name)?;
        let Some(line) = journal.line(seq)? else { return Ok(None) };
        let is_sound = match journal.reader() {
            Some(reader) => Some(line.follows(&reader.hash_before(seq)?)),
            // The audit has a chain of its own, which `sabir audit verify` follows.
            None => None,
        };
        let mut shown = line_json(&name, &line);
        shown["body"] = json!(line.body);
        let said = utterance(&name, &line, vocabulary);
        let mut whole = json!({
            "line": shown, "hash": line.hash, "is_sound": is_sound,
            "vocabulary": vocabulary.name(), "forms": null, "tokens": null, "why_no_forms": null,
        });
        match said {
            Ok(said) => {
                let cost = said.tokens;
                whole["forms"] = json!({
                    "json": said.json, "axon": said.axon, "llmx": said.llmx,
                    "english": said.english,
                });
                whole["tokens"] = json!({
                    "json": cost.json, "axon": cost.axon, "llmx": cost.llmx,
                    "english": cost.english,
                });
            }
            // It is larger than a notation holds; its body is there all the same.
            Err(refused) => whole["why_no_forms"] = json!(refused.to_string()),
        }
        Ok(Some(whole))
    });
    Ok(Json(shown.await?.ok_or(missing)?))
}

/// Follows the chain of a journal from its first row to its last. `sabir audit verify` says the same.
pub(crate) async fn check(State(console): State<Arc<Console>>, Path(name): Path<String>) -> Answer {
    let place = console.errand()?;
    let checked = console.record(move |home| {
        let checked = match Journal::open(home, &name)?.verify() {
            Some(Ok(Verified { entries, head_hash, .. })) => whole(entries, &head_hash),
            Some(Err(StoreError::Tampered(Tampered { seq, why }))) => {
                json!({ "result": "tampered", "seq": seq, "why": why })
            }
            Some(Err(error)) => return Err(error.into()),
            None => decisions(home)?,
        };
        drop(place);
        Ok(checked)
    });
    Ok(Json(checked.await?))
}

/// The audit is a part of the library, which is checked as a whole.
fn decisions(home: &std::path::Path) -> Result<Value, RecordError> {
    let Some(library) = open_existing_library(home)? else { return Ok(Value::Null) };
    match library.verify() {
        Ok(found) => Ok(whole(found.audit.seq, &found.audit.hash)),
        Err(LibraryError::Unsound(Unsound { place, why })) => {
            Ok(json!({ "result": "tampered", "place": place, "why": why }))
        }
        Err(error) => Err(error.into()),
    }
}

fn whole(entries: u64, head: &Hash) -> Value {
    json!({ "result": "whole", "entries": entries, "head": head.to_string() })
}

/// As many as are wanted, in short, however large they are together: with `after` alone the first, else
/// the last, these from the end. And the number of the last one that was found.
fn find(
    journal: &Journal,
    mut filter: LineFilter,
    limit: usize,
) -> Result<(Vec<Value>, Option<u64>), RecordError> {
    let is_onward = filter.after.is_some() && filter.before.is_none();
    let (mut found, mut at) = (Vec::new(), None);
    while found.len() < limit {
        let left = limit - found.len();
        let mut page = match is_onward {
            true => journal.first_lines(&filter, left)?,
            false => journal.last_lines(&filter, left)?,
        };
        if !is_onward {
            page.reverse();
        }
        let Some(last) = page.last() else { break };
        at = Some(last.seq);
        match is_onward {
            true => filter.after = at,
            false => filter.before = at,
        }
        found.extend(page.iter().map(|line| line_json(journal.name(), line)));
    }
    Ok((found, at))
}

/// Without its body: what it says in short.
fn line_json(journal: &str, line: &Line) -> Value {
    json!({
        "seq": line.seq, "at_ms": line.at_ms, "session_id": line.session_id, "kind": line.kind,
        "tag": line.tag, "key": line.key, "summary": summary(journal, line),
    })
}
