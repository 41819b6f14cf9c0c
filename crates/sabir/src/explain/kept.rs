//! What the other files of a home know by a name: tasks that were given to others, delegates, and
//! everything in the library.

use std::path::Path;

use sabir_base::text::one_line;
use sabir_host::{open_existing_library, written};
use sabir_ldp::DelegateId;
use sabir_store::library::{
    ApprovalId, ArtifactId, AuditId, CollectionId, JobId, Library, LibraryError, RunId, SourceId,
    VersionId,
};
use sabir_store::peers::{Delegation, Peers};
use serde_json::Value;

use super::thing::Thing;
use crate::research::collection::now_ms;

pub(super) fn find(home: &Path, wanted: &str) -> anyhow::Result<Vec<Thing>> {
    let mut found = Vec::new();
    // To look is no reason to make one.
    if home.join("peers.db").exists() {
        let peers = Peers::open(home)?;
        found.extend(peers.delegation(wanted)?.map(|it| delegation(&it)));
        found.extend(delegate(&peers, wanted)?);
    }
    if let Some(library) = open_existing_library(home)? {
        match of_library(&library, wanted) {
            Ok(thing) => found.extend(thing),
            // It looks like one of ours, and is not.
            Err(LibraryError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

fn delegation(it: &Delegation) -> Thing {
    let to = it.delegate_id.as_ref().map_or("nobody yet", |id| id.as_str());
    let read = |text: &Option<String>| {
        text.as_deref()
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
            .unwrap_or_default()
    };
    let (choice, error, provenance) = (read(&it.choice), read(&it.error), read(&it.provenance));
    let why = match (error["code"].as_str(), error["message"].as_str()) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => String::new(),
    };
    let chosen = choice["why"].as_str().or(choice.as_str()).unwrap_or_default();
    Thing::new("delegation", format!("{} is a task that was given to {to}", it.id))
        .fact("skill", it.skill.as_ref().map_or("", |skill| skill.as_str()))
        .fact("address", it.url.as_deref().unwrap_or_default())
        .fact("began", written(it.at_ms))
        .fact("ended", it.ended_at_ms.map_or(String::new(), written))
        .fact("state", it.status.as_str())
        .fact("chosen because", chosen)
        .fact("why", why)
        .fact("payload mode", it.payload_mode.map_or("", |mode| mode.wire_name()))
        .fact("model", provenance["model_version"].as_str().unwrap_or_default())
        .fact("checked", provenance["verification_status"].as_str().unwrap_or_default())
        .fact("cost", it.cost_usd.map_or(String::new(), |usd| format!("${usd}")))
        .data("id", it.id.as_str())
        .data("delegate_id", it.delegate_id.as_ref().map(|id| id.as_str()))
        .next(format!("sabir log --grep {}", it.id))
}

fn delegate(peers: &Peers, wanted: &str) -> anyhow::Result<Option<Thing>> {
    let Ok(id) = DelegateId::new(wanted) else { return Ok(None) };
    let known = peers.delegates()?;
    let known = known.iter().find(|it| it.delegate_id.as_ref() == Some(&id));
    let pinned = peers.pinned_key(&id)?;
    if known.is_none() && pinned.is_none() {
        return Ok(None);
    }
    let mut thing = Thing::new("delegate", format!("{wanted} is a delegate that this node knows"))
        .data("id", wanted);
    if let Some(known) = known {
        thing = thing
            .fact("address", known.url.as_str())
            .fact("last looked at", known.probed_at_ms.map_or(String::new(), written))
            .fact("trouble", known.error.as_deref().unwrap_or_default())
            .next(format!("sabir card {}", known.url));
    }
    if let Some(pinned) = pinned {
        thing = thing
            .fact("key", pinned.key.to_hex())
            .fact("pinned", format!("{} from {}", written(pinned.pinned_at_ms), pinned.origin));
    }
    Ok(Some(thing.next("sabir delegates list").next("sabir keys")))
}

fn of_library(library: &Library, wanted: &str) -> Result<Option<Thing>, LibraryError> {
    let title = |text: &str| one_line(text, 120);
    let why = |fault: &Option<sabir_store::library::Fault>| {
        fault.as_ref().map_or(String::new(), |it| format!("{}: {}", it.code, it.text))
    };
    if let Some(id) = ApprovalId::parse(wanted) {
        let it = library.approval(&id, now_ms())?;
        let thing =
            Thing::new("approval", format!("{id} is a question for a person: {}", it.subject))
                .fact("question", it.question.as_str())
                .fact("state", it.state.as_str())
                .fact("asked", written(it.asked_at_ms))
                .fact("expires", written(it.expires_at_ms))
                .fact("decided by", it.decided_by.unwrap_or_default())
                .fact("decided", it.decided_at_ms.map_or(String::new(), written));
        return Ok(Some(thing.data("id", wanted).next("sabir audit list")));
    }
    if let Some(id) = AuditId::parse(wanted) {
        let mut after = 0;
        loop {
            let rows = library.audit(after, 1000)?;
            let Some(last) = rows.last() else { return Ok(None) };
            after = last.seq;
            if let Some(row) = rows.into_iter().find(|row| row.id == id) {
                let headline =
                    format!("{id} is a decision of the gate about the call {}", row.call_id);
                let thing = Thing::new("decision", headline)
                    .fact("outcome", row.outcome.as_str())
                    .fact("reason", row.reason)
                    .fact("at", written(row.at_ms))
                    .next(format!("sabir explain {}", row.call_id));
                return Ok(Some(thing.next(format!("sabir log audit/{}", row.seq))));
            }
        }
    }
    if let Some(id) = CollectionId::parse(wanted) {
        let it = library.collection(&id)?;
        let counts = library.collection_counts(&id)?;
        let thing = Thing::new("collection", format!("{id} is a collection: {}", title(&it.title)))
            .fact("sources", format!("{} captured, {} failed", counts.captured, counts.failed))
            .fact("questions and answers", counts.messages.to_string())
            .fact("artifacts", counts.artifacts.to_string())
            .fact("changed", written(it.updated_at_ms));
        return Ok(Some(thing.data("id", wanted).next(format!("sabir collection show {id}"))));
    }
    if let Some(id) = SourceId::parse(wanted) {
        let it = library.source(&id)?;
        let thing = Thing::new("source", format!("{id} is a source: {}", title(&it.title)))
            .fact("address", it.origin.address.unwrap_or_default())
            .fact("state", it.status.as_str())
            .fact("why", why(&it.fault))
            .fact("collection", it.collection_id.as_str())
            .fact("fetched", it.checked_at_ms.map_or(String::new(), written));
        return Ok(Some(
            thing.data("id", wanted).next(format!("sabir explain {}", it.collection_id)),
        ));
    }
    if let Some(id) = VersionId::parse(wanted) {
        let it = library.version_text(&id)?;
        let thing = Thing::new("version", format!("{id} is a text of a source as it was captured"))
            .fact("source", it.version.source_id.as_str())
            .next(format!("sabir explain {}", it.version.source_id));
        return Ok(Some(thing.data("id", wanted)));
    }
    if let Some(id) = ArtifactId::parse(wanted) {
        let it = library.artifact(&id)?;
        let thing = Thing::new("artifact", format!("{id} is a {}: {}", it.kind, title(&it.title)))
            .fact("state", it.status.as_str())
            .fact("why", why(&it.fault))
            .fact("collection", it.collection_id.map_or(String::new(), |id| id.to_string()))
            .fact("made", written(it.updated_at_ms));
        return Ok(Some(thing.data("id", wanted).next(format!("sabir share {id}"))));
    }
    if let Some(id) = JobId::parse(wanted) {
        let it = library.job(&id)?;
        let thing = Thing::new("job", format!("{id} fetches the source {}", it.source_id))
            .fact("state", it.status.as_str())
            .fact("attempts", format!("{} of {}", it.attempts, it.max_attempts))
            .fact("why", why(&it.fault));
        return Ok(Some(thing.data("id", wanted).next(format!("sabir explain {}", it.source_id))));
    }
    if let Some(id) = RunId::parse(wanted) {
        let it = library.run(&id)?;
        let tokens = |count: Option<u64>| count.map_or("?".to_owned(), |it| it.to_string());
        let headline = format!("{id} is what a model was asked for: {}", it.kind);
        let thing = Thing::new("run", headline)
            .fact("model", format!("{} of {}", it.model, it.provider))
            .fact("began", written(it.started_at_ms))
            .fact("took", format!("{} ms", it.duration_ms))
            .fact(
                "tokens",
                format!("{} in, {} out", tokens(it.input_tokens), tokens(it.output_tokens)),
            )
            .fact("why", why(&it.fault));
        return Ok(Some(thing.data("id", wanted)));
    }
    Ok(None)
}
