//! Pages into a collection.

use std::ffi::OsStr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sabir_host::{
    CaptureNews, CaptureOptions, CaptureReport, Desk, DeskError, EXAMPLE_QUESTION, Input,
    check_input, written,
};
use sabir_store::library::CollectionId;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::ask::errand;
use super::collections::collection_id;
use crate::input::Given;
use crate::refused::{Answer, Refused};
use crate::state::Console;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capture {
    inputs: Vec<String>,
    /// Fetch again what is there already.
    #[serde(default)]
    refresh: bool,
}

pub(crate) async fn capture(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    Given(capture): Given<Capture>,
) -> Answer {
    let id = collection_id(&id)?;
    if capture.inputs.is_empty() || capture.inputs.len() > MOST_INPUTS {
        return Err(Refused::bad(format!("inputs: name 1 to {MOST_INPUTS} addresses")));
    }
    let inputs = capture.inputs.iter().map(|text| address(text));
    let inputs = inputs.collect::<Result<Vec<Input>, Refused>>()?;
    let options = CaptureOptions { refresh: capture.refresh, ..CaptureOptions::default() };
    let desk = console.setup.desk.clone();
    let done =
        errand(&console, async move |stop| gather(&desk, &id, &inputs, options, &stop).await);
    let (report, sources) = done.await?;
    console.changes.collections();
    Ok(Json(json!({ "report": report_json(&report), "sources": sources })))
}

/// The pages that come with the program, as a collection.
pub(crate) async fn examples(State(console): State<Arc<Console>>) -> Answer {
    let desk = console.setup.desk.clone();
    let made = errand(&console, async move |stop| desk.make_example(&stop).await).await?;
    console.changes.collections();
    Ok(Json(json!({
        "collection_id": made.id, "name": made.title, "question": EXAMPLE_QUESTION,
    })))
}

/// Only pages of the web: a file of this machine is named at its own keyboard.
fn address(text: &str) -> Result<Input, Refused> {
    let input = Input::parse(OsStr::new(text.trim())).map_err(|it| Refused::bad(it.to_string()))?;
    if !matches!(input, Input::Web(_)) {
        let words = "an address begins with https:// or http://; files are captured with `sabir \
                     capture -c NAME FILE`";
        return Err(Refused::bad(words));
    }
    check_input(&input)?;
    Ok(input)
}

/// Fetches all, and keeps what was told of each.
async fn gather(
    desk: &Desk,
    collection: &CollectionId,
    inputs: &[Input],
    options: CaptureOptions,
    stop: &CancellationToken,
) -> Result<(CaptureReport, Vec<Value>), DeskError> {
    let (tell, mut heard) = mpsc::channel(16);
    let capture = async {
        let captured = desk.capture(collection, inputs, options, &tell, stop).await;
        drop(tell);
        captured
    };
    let listen = async {
        let mut sources = Vec::new();
        while let Some(news) = heard.recv().await {
            sources.extend(news_json(news));
        }
        sources
    };
    let (captured, sources) = tokio::join!(capture, listen);
    Ok((captured?, sources))
}

fn news_json(news: CaptureNews) -> Option<Value> {
    Some(match news {
        CaptureNews::Waiting { .. } => return None,
        CaptureNews::Kept(kept) => json!({
            "status": "kept", "source_id": kept.source_id, "version_id": kept.version,
            "url": kept.address, "title": kept.title, "signals": kept.signals,
            "is_new": kept.is_new,
        }),
        CaptureNews::Present { source_id, address } => {
            json!({ "status": "present", "source_id": source_id, "url": address })
        }
        CaptureNews::Same { source_id, address } => {
            json!({ "status": "same", "source_id": source_id, "url": address })
        }
        CaptureNews::Failed { source_id, address, fault, again_at_ms } => json!({
            "status": "failed", "source_id": source_id, "url": address, "why": fault.text,
            "fault": fault, "again_at_ms": again_at_ms,
        }),
        CaptureNews::Waits { source_id, address, until_ms } => json!({
            "status": "waits", "source_id": source_id, "url": address,
            "why": format!("the server is not to be asked before {}", written(until_ms)),
            "again_at_ms": until_ms,
        }),
    })
}

fn report_json(report: &CaptureReport) -> Value {
    json!({
        "kept": report.kept, "unchanged": report.unchanged, "present": report.present,
        "same": report.same, "failed": report.failed, "waiting": report.waiting,
        "left": report.left,
    })
}

const MOST_INPUTS: usize = 100;
