//! Collections: what is in them, and what was asked about them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sabir_host::transform_kinds;
use sabir_store::library::{
    Artifact, ChatEvent, ChatRole, Collection, CollectionCounts, CollectionId, Library,
    LibraryError, Source,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::cited::{Titles, cited_html};
use crate::input::{Given, Query};
use crate::refused::{Answer, Refused};
use crate::state::{Console, now_ms};

pub(crate) async fn list(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let after: u64 = query.number("after")?.unwrap_or(0);
    let limit = query.limit(200, 500)?;
    let (all, next) = console
        .library(move |library| {
            let mut all = Vec::new();
            let found = library.collections(after, limit)?;
            let next = (found.len() == limit).then(|| found.last().map(|it| it.num)).flatten();
            for collection in found {
                let counts = library.collection_counts(&collection.id)?;
                all.push(collection_json(&collection, &counts));
            }
            Ok((all, next))
        })
        .await?;
    Ok(Json(json!({ "collections": all, "next": next })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    name: String,
}

pub(crate) async fn create(
    State(console): State<Arc<Console>>,
    Given(Create { name }): Given<Create>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let made = console.library(move |library| library.create_collection(&name, &[], now_ms()));
    let made = made.await?;
    console.changes.collections();
    let made = collection_json(&made, &CollectionCounts::default());
    Ok((StatusCode::CREATED, Json(made)))
}

pub(crate) async fn show(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    let id = collection_id(&id)?;
    Ok(Json(console.library(move |library| whole(library, &id)).await?))
}

pub(super) fn collection_id(text: &str) -> Result<CollectionId, Refused> {
    CollectionId::parse(text)
        .ok_or_else(|| Refused::missing("there is no such collection: ids begin with col_"))
}

fn whole(library: &Library, id: &CollectionId) -> Result<Value, LibraryError> {
    let collection: Collection = library.collection(id)?;
    let counts = library.collection_counts(id)?;
    let sources = library.sources(id, 0, MOST_SOURCES)?;
    let sources: Vec<Value> = sources.iter().map(source_json).collect();
    let artifacts = library.artifacts(Some(id), None, MOST_ARTIFACTS)?;
    let artifacts: Vec<Value> = artifacts.iter().map(artifact_json).collect();
    let mut titles = Titles::new(library);
    let said = library.recent_chat(id, None, MOST_SAID)?;
    let chat = said.iter().map(|event| said_json(library, event, &mut titles));
    let chat = chat.collect::<Result<Vec<Value>, LibraryError>>()?;
    let mut shown = collection_json(&collection, &counts);
    shown["sources"] = json!(sources);
    shown["artifacts"] = json!(artifacts);
    shown["chat"] = json!(chat);
    shown["transforms"] = json!(transform_kinds());
    Ok(shown)
}

fn collection_json(collection: &Collection, counts: &CollectionCounts) -> Value {
    let mut counted = json!(counts);
    counted["sources"] = json!(counts.pending + counts.captured + counts.failed);
    json!({
        "id": collection.id, "name": collection.title, "tags": collection.tags,
        "created_at_ms": collection.created_at_ms, "updated_at_ms": collection.updated_at_ms,
        "counts": counted,
    })
}

fn source_json(source: &Source) -> Value {
    json!({
        "id": source.id, "title": source.title, "kind": source.origin.kind,
        "url": source.origin.address, "status": source.status,
        "version_id": source.current_version, "fault": source.fault,
        "added_at_ms": source.added_at_ms, "checked_at_ms": source.checked_at_ms,
    })
}

/// Without its text.
pub(super) fn artifact_json(artifact: &Artifact) -> Value {
    json!({
        "id": artifact.id, "collection_id": artifact.collection_id, "kind": artifact.kind,
        "title": artifact.title, "status": artifact.status, "fault": artifact.fault,
        "created_at_ms": artifact.created_at_ms, "updated_at_ms": artifact.updated_at_ms,
    })
}

fn said_json(
    library: &Library,
    event: &ChatEvent,
    titles: &mut Titles<'_>,
) -> Result<Value, LibraryError> {
    let citations = match event.role {
        ChatRole::Assistant => library.citations_of_chat(&event.id)?,
        _ => Vec::new(),
    };
    let html = cited_html(&event.markdown, citations.len());
    let citations = titles.kept(&citations);
    let read = |text: &Option<String>| -> Value {
        let read = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        read.unwrap_or(Value::Null)
    };
    let calls = match read(&event.tool_calls) {
        Value::Array(calls) => calls.iter().map(call_json).collect(),
        _ => Vec::new(),
    };
    Ok(json!({
        "id": event.id, "turn": event.turn, "role": event.role, "text": event.markdown,
        "html": html,
        "citations": citations, "calls": calls, "model": read(&event.model)["model"],
        "at_ms": event.created_at_ms,
    }))
}

/// A call as it is kept beside an answer.
fn call_json(call: &Value) -> Value {
    json!({
        "call_id": call["id"], "tool": call["name"], "outcome": call["outcome"],
        "why": call["reason"], "reason_code": call["reason"],
    })
}

/// More are counted, and not shown at once.
const MOST_SOURCES: usize = 1000;
const MOST_ARTIFACTS: usize = 200;
/// Questions and answers; what was said before is in the library.
const MOST_SAID: usize = 100;
