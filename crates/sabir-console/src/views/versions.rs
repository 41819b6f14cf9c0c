//! What a source said when it was captured, to hold a citation against.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sabir_capture::markdown_to_safe_html;
use sabir_store::library::VersionId;
use serde_json::json;

use crate::refused::{Answer, Refused};
use crate::state::Console;

pub(crate) async fn show(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    let id = VersionId::parse(&id)
        .ok_or_else(|| Refused::missing("there is no such version: ids begin with ver_"))?;
    let shown = console.library(move |library| {
        let found = library.version_text(&id)?;
        let version = &found.version;
        Ok(json!({
            "id": version.id,
            "source": { "id": version.source_id, "title": found.title, "url": found.address },
            "title": version.title, "byline": version.byline,
            "url": version.final_address.as_ref().or(found.address.as_ref()),
            "number": version.number, "hash": version.hash, "media_type": version.media_type,
            "words": version.words, "signals": version.signals,
            "captured_at_ms": version.captured_at_ms,
            "html": markdown_to_safe_html(&found.markdown),
            "text": found.markdown,
        }))
    });
    Ok(Json(shown.await?))
}
