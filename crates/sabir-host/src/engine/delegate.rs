//! A task for another agent, in a session of its own, and its answer.

use sabir_engine::{
    ConfigureSession, Decoded, EventMsg, Input, InputItem, InputMode, Op, Submission, TokenTotals,
    Usage,
};
use sabir_policy::as_typed;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Connection, Engine, Incoming, Standing};

impl Engine {
    /// Gives a task to an agent in a session of its own, and returns the last thing it says, or why
    /// there is none. Nobody answers it, so what it would have to ask for should be denied to it.
    pub async fn delegate(
        &self,
        configure: ConfigureSession,
        task: String,
        stop: CancellationToken,
    ) -> Result<String, String> {
        let connection = self.connect_at(Standing { depth: 1, ..Standing::default() });
        let done = delegate(connection, configure, task, stop, None).await;
        done.answer
    }
}

/// What came of a task for another agent.
pub(super) struct Delegated {
    pub(super) answer: Result<String, String>,
    /// What it cost.
    pub(super) usage: Usage,
}

/// Who watches a task, and under which name it is told.
pub(super) struct Watcher {
    pub(super) tell: mpsc::Sender<Input>,
    pub(super) sub_id: String,
}

/// Has another agent do a task. What a person should see of it is told to who watches.
pub(super) async fn delegate(
    mut connection: Connection,
    configure: ConfigureSession,
    task: String,
    stop: CancellationToken,
    watcher: Option<Watcher>,
) -> Delegated {
    let mut usage = Usage::default();
    let input = Op::UserInput {
        items: vec![InputItem::Text { text: task }],
        last_response_id: None,
        mode: InputMode::Replace,
    };
    for (id, op) in [("configure", Op::ConfigureSession(configure)), ("task", input)] {
        let submission = Submission { id: id.to_owned(), op };
        let decoded = Decoded { submission, unknown: Vec::new() };
        if connection.submissions.send(Incoming::Submission(decoded)).await.is_err() {
            let answer = Err("the other agent did not start".to_owned());
            return Delegated { answer, usage };
        }
    }
    let watch = async {
        while let Some(shown) = connection.events.recv().await {
            if let EventMsg::TokenCount { total, .. } = &shown.event.msg {
                let TokenTotals { input, cached, output, reasoning } = *total;
                usage = Usage { input, cached, output, reasoning };
            }
            if let Some(Watcher { tell, sub_id }) = &watcher
                && let Some(msg) = seen_from_above(&shown.event.msg)
            {
                let _ = tell.send(Input::Tell { sub_id: sub_id.clone(), msg }).await;
            }
            match shown.event.msg {
                EventMsg::TaskComplete { last_agent_message } => {
                    return Ok(last_agent_message.unwrap_or_else(|| "(it said nothing)".to_owned()));
                }
                EventMsg::Error { message } => {
                    return Err(format!("the other agent failed: {message}"));
                }
                _ => {}
            }
        }
        Err("the other agent ended without an answer".to_owned())
    };
    let answer = tokio::select! {
        result = watch => result,
        () = stop.cancelled() => Err("stopped".to_owned()),
    };
    // Its session ends with its connection, and everything it started ends with its session.
    drop(connection.events);
    drop(connection.submissions);
    let _ = connection.done.await;
    Delegated { answer, usage }
}

/// What is told of another agent to who watches the one that it works for.
fn seen_from_above(msg: &EventMsg) -> Option<EventMsg> {
    let message = match msg {
        EventMsg::ExecCommandBegin { command, .. } => {
            format!("the other agent runs: {}", as_typed(command))
        }
        EventMsg::PatchApplyBegin { changes, .. } => {
            let names: Vec<&str> = changes.keys().map(String::as_str).collect();
            format!("the other agent changes {}", names.join(", "))
        }
        EventMsg::ToolCallBegin { tool, .. } => format!("the other agent uses {tool}"),
        // What it was not allowed to do, among other things.
        EventMsg::Warning { message } => {
            return Some(EventMsg::Warning { message: format!("the other agent: {message}") });
        }
        _ => return None,
    };
    Some(EventMsg::BackgroundEvent { message })
}
