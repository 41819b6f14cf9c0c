//! What was made of a collection: to look at, and to take away.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use sabir_host::ShareFormat;
use sabir_store::library::ArtifactId;
use serde_json::json;

use super::cited::{Titles, cited_html};
use super::collections::artifact_json;
use crate::input::Query;
use crate::refused::{Answer, Refused};
use crate::state::Console;

pub(crate) async fn show(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    let id = artifact_id(&id)?;
    let shown = console.library(move |library| {
        let artifact = library.artifact(&id)?;
        let citations = library.citations_of_artifact(&id)?;
        let html = cited_html(&artifact.markdown, citations.len());
        let citations = Titles::new(library).kept(&citations);
        let mut shown = artifact_json(&artifact);
        shown["html"] = json!(html);
        shown["citations"] = json!(citations);
        Ok(shown)
    });
    Ok(Json(shown.await?))
}

pub(crate) async fn file(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, Refused> {
    let id = artifact_id(&id)?;
    let (format, kind) = match query.text("format").unwrap_or("md") {
        "md" => (ShareFormat::Markdown, "text/markdown; charset=utf-8"),
        "txt" => (ShareFormat::Text, "text/plain; charset=utf-8"),
        "json" => (ShareFormat::Json, "application/json"),
        "csv" => (ShareFormat::Csv, "text/csv; charset=utf-8"),
        "pdf" => (ShareFormat::Pdf, "application/pdf"),
        _ => return Err(Refused::bad("format: md, txt, json, csv or pdf")),
    };
    let shared = console.setup.desk.share(&id, format).await?;
    // Names of files are plain on every system, so nothing in them ends the header.
    let name: String = shared.file_name.chars().filter(|it| is_plain(*it)).collect();
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, shared.bytes).into_response())
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_graphic() && !matches!(letter, '"' | '\\')
}

fn artifact_id(text: &str) -> Result<ArtifactId, Refused> {
    ArtifactId::parse(text)
        .ok_or_else(|| Refused::missing("there is no such artifact: ids begin with art_"))
}
