//! A task for another agent, in a session of its own, and its answer.

use sabir_engine::{ConfigureSession, Decoded, EventMsg, InputItem, InputMode, Op, Submission};
use tokio_util::sync::CancellationToken;

use super::{Connection, Engine, Incoming};

impl Engine {
    /// Gives a task to an agent in a session of its own, and returns the last thing it says, or why
    /// there is none. Nobody answers it, so what it would have to ask for should be denied to it.
    pub async fn delegate(
        &self,
        configure: ConfigureSession,
        task: String,
        stop: CancellationToken,
    ) -> Result<String, String> {
        delegate(self.connect_at(1), configure, task, stop).await
    }
}

pub(super) async fn delegate(
    mut connection: Connection,
    configure: ConfigureSession,
    task: String,
    stop: CancellationToken,
) -> Result<String, String> {
    let input = Op::UserInput {
        items: vec![InputItem::Text { text: task }],
        last_response_id: None,
        mode: InputMode::Replace,
    };
    for (id, op) in [("configure", Op::ConfigureSession(configure)), ("task", input)] {
        let submission = Submission { id: id.to_owned(), op };
        let decoded = Decoded { submission, unknown: Vec::new() };
        if connection.submissions.send(Incoming::Submission(decoded)).await.is_err() {
            return Err("the other agent did not start".to_owned());
        }
    }
    let watch = async {
        while let Some(shown) = connection.events.recv().await {
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
    let result = tokio::select! {
        result = watch => result,
        () = stop.cancelled() => Err("stopped".to_owned()),
    };
    // Its session ends with its connection, and everything it started ends with its session.
    drop(connection.events);
    drop(connection.submissions);
    let _ = connection.done.await;
    result
}
