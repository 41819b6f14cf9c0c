//! Tasks and what happens to them in the words of A2A. It looks nothing up.

use std::collections::HashMap;

use a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use sabir_host::written;
use serde_json::{Value, json};

use super::carried::loss;
use crate::errands::{Movement, Placed, PlacedState, Step};

/// How much of a task is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// So many messages of its history; all without a number.
    pub(super) history: Option<i32>,
    pub(super) artifacts: bool,
}

impl Shape {
    pub(super) fn whole(history: Option<i32>) -> Self {
        Self { history, artifacts: true }
    }
}

pub(super) fn context_of(placed: &Placed) -> String {
    placed.visit.as_ref().and_then(|it| it.context.clone()).unwrap_or_default()
}

pub(super) fn task(placed: &Placed, shape: Shape) -> Task {
    let artifacts = shape.artifacts.then(|| artifact(placed).into_iter().collect::<Vec<_>>());
    Task {
        id: placed.id.clone(),
        context_id: context_of(placed),
        status: status(placed),
        artifacts: artifacts.filter(|all| !all.is_empty()),
        history: history(placed, shape.history),
        metadata: Some(metadata(placed)),
    }
}

fn status(placed: &Placed) -> TaskStatus {
    let words = match placed.state {
        PlacedState::Running | PlacedState::Done => None,
        PlacedState::Waiting => Some(WAITS.to_owned()),
        PlacedState::Cancelled => Some("it was cancelled".to_owned()),
        PlacedState::Failed | PlacedState::Interrupted => Some(match &placed.error {
            Some(error) => format!("{} ({})", error.message, error.code),
            None => placed.state.word().to_owned(),
        }),
    };
    TaskStatus {
        state: state(placed.state),
        message: words.map(|words| said(placed, placed.last, words)),
        timestamp: timestamp(placed.changed_at_ms),
    }
}

pub(super) fn state(state: PlacedState) -> TaskState {
    match state {
        // A person of this node is nobody whom the other agent could answer for.
        PlacedState::Running | PlacedState::Waiting => TaskState::Working,
        PlacedState::Done => TaskState::Completed,
        PlacedState::Failed | PlacedState::Interrupted => TaskState::Failed,
        PlacedState::Cancelled => TaskState::Canceled,
    }
}

/// Which of our states another's is. None if there is no such task here.
pub(super) fn states(state: &TaskState) -> Option<Vec<PlacedState>> {
    match state {
        TaskState::Unspecified => Some(Vec::new()),
        TaskState::Working => Some(vec![PlacedState::Running, PlacedState::Waiting]),
        TaskState::Completed => Some(vec![PlacedState::Done]),
        TaskState::Failed => Some(vec![PlacedState::Failed, PlacedState::Interrupted]),
        TaskState::Canceled => Some(vec![PlacedState::Cancelled]),
        TaskState::Submitted
        | TaskState::InputRequired
        | TaskState::Rejected
        | TaskState::AuthRequired => None,
    }
}

/// What one step of a task is to those who follow it.
pub(super) fn events(placed: &Placed, step: &Step) -> Vec<StreamResponse> {
    let working = |message: Option<&String>| {
        let status = TaskStatus {
            state: TaskState::Working,
            message: message.map(|words| said(placed, step.seq, words.clone())),
            timestamp: timestamp(step.at_ms),
        };
        vec![update(placed, status, None)]
    };
    match &step.what {
        Movement::Progress { message, .. } => working(message.as_ref()),
        Movement::Waiting { message: Some(why) } => working(Some(&format!("{WAITS}: {why}"))),
        Movement::Waiting { message: None } => working(Some(&WAITS.to_owned())),
        Movement::Ended(ended) => {
            let artifact = artifact(ended).map(|artifact| {
                StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: ended.id.clone(),
                    context_id: context_of(ended),
                    artifact,
                    append: Some(false),
                    last_chunk: Some(true),
                    metadata: None,
                })
            });
            let last = update(ended, status(ended), Some(metadata(ended)));
            artifact.into_iter().chain([last]).collect()
        }
    }
}

fn update(
    placed: &Placed,
    status: TaskStatus,
    metadata: Option<HashMap<String, Value>>,
) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: placed.id.clone(),
        context_id: context_of(placed),
        status,
        metadata,
    })
}

/// The output: a text is a text, everything else is data, or a text of JSON where the protocol cannot
/// carry it as it is.
fn artifact(placed: &Placed) -> Option<Artifact> {
    let part = match placed.output.clone()? {
        Value::String(text) => Part::text(text).with_media_type("text/plain"),
        value if loss(&value).is_some() => {
            Part::text(value.to_string()).with_media_type("application/json")
        }
        value => Part::data(value).with_media_type("application/json"),
    };
    Some(Artifact {
        artifact_id: "output".to_owned(),
        name: Some("output".to_owned()),
        description: None,
        parts: vec![part],
        metadata: None,
        extensions: None,
    })
}

fn history(placed: &Placed, most: Option<i32>) -> Option<Vec<Message>> {
    let message = placed.visit.as_ref()?.message.clone()?;
    let mut message: Message = serde_json::from_value(message).ok()?;
    message.task_id = Some(placed.id.clone());
    message.context_id = Some(context_of(placed));
    match most {
        Some(most) if most <= 0 => None,
        Some(_) | None => Some(vec![message]),
    }
}

fn metadata(placed: &Placed) -> HashMap<String, Value> {
    let mut metadata = HashMap::new();
    if let Some(skill) = &placed.skill {
        metadata.insert("skill".to_owned(), skill.as_str().into());
    }
    metadata.insert("createdAt".to_owned(), json!(written(placed.created_at_ms)));
    if !placed.facts.is_empty() {
        metadata.insert("sabir".to_owned(), Value::Object(placed.facts.clone()));
    }
    metadata
}

/// Words of the agent. The same words have the same id, however often they are asked for.
fn said(placed: &Placed, seq: u64, words: String) -> Message {
    Message {
        message_id: format!("{}-{seq}", placed.id),
        context_id: Some(context_of(placed)),
        task_id: Some(placed.id.clone()),
        role: Role::Agent,
        parts: vec![Part::text(words)],
        metadata: None,
        extensions: None,
        reference_task_ids: None,
    }
}

/// A time in the type that the messages have for it.
fn timestamp<T: serde::de::DeserializeOwned>(ms: u64) -> Option<T> {
    serde_json::from_value(json!(written(ms))).ok()
}

const WAITS: &str = "it waits for a person of this node";
