//! A skill that is an agent: a session of the engine for each task. What the agent wants to do and may
//! not do alone is asked of this node's operator, never of whoever sent the task.

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sabir_base::text::one_line;
use sabir_engine::{
    ConfigureSession, Decision as Allowed, Decoded, EventMsg, FileChange, InputItem, InputMode, Op,
    Submission,
};
use sabir_ldp::{Finished, TaskOrder, Usage};
use sabir_policy::as_typed;
use serde_json::Value;

use super::words::in_words;
use super::{Broken, News, Skill};
use crate::engine::{Connection, Engine, Incoming};
use crate::node::approvals::{Approvals, Decision};

#[derive(Debug, Clone)]
pub struct Agent {
    pub engine: Engine,
    /// What each of its sessions begins with.
    pub configure: ConfigureSession,
    pub approvals: Approvals,
}

impl Skill for Agent {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let agent = self.clone();
        async move {
            let mut connection = agent.engine.connect();
            let stop = news.stop().clone();
            let mut usage = Usage::default();
            let done = tokio::select! {
                biased;
                () = stop.cancelled() => Err("it was stopped".to_owned()),
                done = agent.carry_out(&mut connection, &order, &news, &mut usage) => done,
            };
            // The session ends with its connection, and everything it started ends with its session.
            let Connection { submissions, events, done: ended } = connection;
            drop((submissions, events));
            let _ = ended.await;
            done.map(|finished| Finished { usage, ..finished }).map_err(|why| {
                let broken = Broken::new(why);
                Broken { usage, ..broken }
            })
        }
        .boxed()
    }
}

impl Agent {
    async fn carry_out(
        &self,
        connection: &mut Connection,
        order: &TaskOrder,
        news: &News,
        usage: &mut Usage,
    ) -> Result<Finished, String> {
        let text = in_words(&order.payload.to_value());
        let input = Op::UserInput {
            items: vec![InputItem::Text { text }],
            last_response_id: None,
            mode: InputMode::Replace,
        };
        submit(connection, Op::ConfigureSession(self.configure.clone())).await?;
        submit(connection, input).await?;
        let mut finished = Finished::default();
        let mut questions = FuturesUnordered::new();
        loop {
            let event = tokio::select! {
                Some((question, decision)) = questions.next() => {
                    submit(connection, Question::answered(question, decision)).await?;
                    continue;
                }
                event = connection.events.recv() => event,
            };
            let Some(event) = event else {
                return Err("the agent ended without an answer".to_owned());
            };
            match event.event.msg {
                EventMsg::SessionConfigured { model, .. } => finished.model_version = Some(model),
                EventMsg::TokenCount { total, .. } => {
                    usage.tokens = Some(total.input.saturating_add(total.output));
                    news.usage(*usage).await;
                }
                EventMsg::TaskComplete { last_agent_message } => {
                    finished.output = Value::String(last_agent_message.unwrap_or_default());
                    return Ok(finished);
                }
                EventMsg::TurnAborted { .. } => return Err("the agent was interrupted".to_owned()),
                EventMsg::Error { message } => return Err(message),
                msg => {
                    if let Some((question, what)) = Question::of(&msg) {
                        // The caller needs to know what for, and the operator all of it.
                        let first = one_line(what.lines().next().unwrap_or_default(), LONGEST);
                        news.waiting_for_approval(format!("waiting for approval: {first}")).await;
                        let (key, skill) = (order.key.clone(), order.skill.clone());
                        let mut asked = self.approvals.ask(key, skill, what);
                        questions.push(async move { (question, asked.decided().await) });
                    } else if let Some(words) = progress_of(&msg) {
                        news.progress(words).await;
                    }
                }
            }
        }
    }
}

/// Something that the agent may not do alone.
enum Question {
    Command(String),
    Patch(String),
}

impl Question {
    /// The question, and all that it is about.
    fn of(msg: &EventMsg) -> Option<(Self, String)> {
        match msg {
            EventMsg::ExecApprovalRequest { call_id, command, cwd, .. } => {
                let what = format!("run `{}` in {cwd}", as_typed(command));
                Some((Self::Command(call_id.clone()), what))
            }
            EventMsg::ApplyPatchApprovalRequest { call_id, changes, .. } => {
                let names: Vec<&str> = changes.keys().map(String::as_str).collect();
                let mut what = format!("change {}", names.join(", "));
                for (name, change) in changes {
                    what.push('\n');
                    what.push_str(&in_full(name, change));
                }
                Some((Self::Patch(call_id.clone()), what))
            }
            _ => None,
        }
    }

    fn answered(self, decision: Decision) -> Op {
        let decision = match decision {
            Decision::Approve => Allowed::Approved,
            Decision::Deny => Allowed::Denied,
        };
        match self {
            Self::Command(call_id) => Op::ExecApproval { call_id, decision, prefix: None },
            Self::Patch(call_id) => Op::PatchApproval { call_id, decision },
        }
    }
}

/// A change, as lines that come and go.
fn in_full(name: &str, change: &FileChange) -> String {
    let lines = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("\n{mark}{line}")).collect()
    };
    match change {
        FileChange::Add { content } => format!("add {name}{}", lines('+', content)),
        FileChange::Delete { content } => format!("delete {name}{}", lines('-', content)),
        FileChange::Update { unified_diff, move_path: None } => {
            format!("change {name}\n{unified_diff}")
        }
        FileChange::Update { unified_diff, move_path: Some(to) } => {
            format!("change {name} and move it to {to}\n{unified_diff}")
        }
    }
}

async fn submit(connection: &Connection, op: Op) -> Result<(), String> {
    let submission = Submission { id: "task".to_owned(), op };
    let incoming = Incoming::Submission(Decoded { submission, unknown: Vec::new() });
    let sent = connection.submissions.send(incoming).await;
    sent.map_err(|_| "the agent ended without an answer".to_owned())
}

/// What whoever sent the task is told of the work.
fn progress_of(msg: &EventMsg) -> Option<String> {
    let words = match msg {
        EventMsg::AgentMessage { message } => one_line(message, LONGEST),
        EventMsg::ExecCommandBegin { command, .. } => {
            format!("runs {}", one_line(&as_typed(command), LONGEST))
        }
        EventMsg::PatchApplyBegin { changes, .. } => {
            let names: Vec<&str> = changes.keys().map(String::as_str).collect();
            format!("changes {}", one_line(&names.join(", "), LONGEST))
        }
        EventMsg::ToolCallBegin { tool, .. } => format!("uses {tool}"),
        EventMsg::StreamError { message } | EventMsg::Warning { message } => {
            one_line(message, LONGEST)
        }
        _ => return None,
    };
    Some(words)
}

const LONGEST: usize = 400;
