//! Questions about a collection, and what is made of one. Both may take long: they hold no lock, end
//! in order when whoever asked goes away, and what a model may not do by itself waits in the inbox.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sabir_capture::to_safe_html;
use sabir_host::{Answered, Ask, CallReport, DeskError, ToolSet};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::cited::fresh;
use super::collections::{artifact_json, collection_id};
use super::inbox::put_all;
use crate::input::Given;
use crate::refused::{Answer, Refused};
use crate::state::Console;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    question: String,
    #[serde(default)]
    tools: Tools,
    /// Without the questions and answers before this one.
    #[serde(default)]
    fresh: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tools {
    None,
    #[default]
    Library,
    Browser,
}

pub(crate) async fn ask(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    Given(question): Given<Question>,
) -> Answer {
    let ask = Ask {
        collection: collection_id(&id)?,
        question: question.question,
        tools: match question.tools {
            Tools::None => ToolSet::None,
            Tools::Library => ToolSet::Library,
            Tools::Browser => ToolSet::Browser,
        },
        with_history: !question.fresh,
    };
    let desk = console.setup.desk.clone();
    let inbox = console.setup.inbox.clone();
    let answered = errand(&console, async move |stop| {
        let (person, petitions) = mpsc::channel(1);
        let collection = Some(ask.collection.to_string());
        let asking = async {
            let answered = desk.ask(&ask, Some(&person), &stop).await;
            drop(person);
            answered
        };
        tokio::join!(asking, put_all(&inbox, collection, petitions)).0
    });
    let answered = answered.await?;
    console.changes.collections();
    Ok(Json(told(answered).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transform {
    kind: String,
    #[serde(default)]
    config: Map<String, Value>,
}

pub(crate) async fn transform(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    Given(Transform { kind, config }): Given<Transform>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let id = collection_id(&id)?;
    let desk = console.setup.desk.clone();
    let made = errand(&console, async move |stop| desk.transform(&id, &kind, &config, &stop).await);
    let made = made.await?;
    let artifact = console.library(move |library| library.artifact(&made.id)).await?;
    console.changes.collections();
    Ok((StatusCode::CREATED, Json(json!({ "artifact": artifact_json(&artifact) }))))
}

/// Does something that takes long in a task of its own. When whoever waits for it goes away, it is
/// told to stop, and ends as it should.
pub(super) async fn errand<T: Send + 'static, F>(
    console: &Console,
    work: impl FnOnce(CancellationToken) -> F,
) -> Result<T, Refused>
where
    F: Future<Output = Result<T, DeskError>> + Send + 'static,
{
    let place = console.errand()?;
    let stop = console.setup.stop.child_token();
    let _gone = stop.clone().drop_guard();
    let work = work(stop);
    let done = tokio::spawn(async move {
        let done = work.await;
        // Free when it is over, and not when nobody waits any more.
        drop(place);
        done
    });
    Ok(done.await??)
}

/// Making HTML of a long answer takes a moment.
async fn told(answered: Answered) -> Result<Value, Refused> {
    let told = tokio::task::spawn_blocking(move || {
        let citations: Vec<Value> = answered.citations.iter().map(fresh).collect();
        let calls: Vec<Value> = answered.calls.iter().map(call_json).collect();
        json!({
            "title": answered.title, "html": to_safe_html(&answered.document),
            "citations": citations, "calls": calls, "notes": answered.notes,
            "model": answered.model, "chat_id": answered.chat,
        })
    });
    Ok(told.await?)
}

fn call_json(call: &CallReport) -> Value {
    json!({
        "call_id": call.call_id, "tool": call.tool, "outcome": call.outcome, "why": call.reason,
        "reason_code": call.reason_code, "approval": call.approval, "result": call.result,
        "artifact_id": call.artifact_id,
    })
}
