//! A skill that is an agent: a session of the engine for each task. What the agent wants to do and may
//! not do alone is asked of this node's operator, never of whoever sent the task.
//!
//! The session of a task has a name that follows from the task, so that the next start of a node that
//! was stopped or killed finds it, and goes on where the journal ends.

use std::path::PathBuf;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sabir_base::text::one_line;
use sabir_engine::{ConfigureSession, Decoded, EventMsg, InputItem, InputMode, Op, Submission};
use sabir_ldp::{Finished, TaskKey, TaskOrder, TaskStart, Usage};
use sabir_policy::{Bounds, SandboxMode, as_typed};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::blocker::Blocker;
use super::words::in_words;
use super::{Broken, News, Skill, bounds_of};
use crate::engine::{Connection, Done, Engine, Incoming, Origin, Past, Place, Question};
use crate::inbox::{Asker, Decision, Inbox, Matter, MatterKind};

#[derive(Debug, Clone)]
pub struct Agent {
    pub engine: Engine,
    /// What each of its sessions begins with.
    pub configure: ConfigureSession,
    pub inbox: Inbox,
    /// Which delegate of this node it works for; the node's own has no name.
    pub delegate: String,
}

impl Skill for Agent {
    fn lasts(&self) -> bool {
        true
    }

    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let agent = self.clone();
        async move {
            // Before anything else, and for a session that goes on as well.
            let configure = agent.configure_for(&order)?;
            let session = agent.session_of(&order);
            let past = match order.start {
                TaskStart::First => Past::Nothing,
                TaskStart::Again => agent.past_of(&session).await.map_err(Broken::new)?,
            };
            let next = match past {
                Past::Done(ref done) => match Blocker::of(done.said.as_deref().unwrap_or_default())
                {
                    Some(blocker) => Next::Blocked(blocker),
                    None => return Ok(finished_before(done.clone())),
                },
                Past::Begun => Next::Say(GO_ON.to_owned()),
                Past::Nothing | Past::Untold => Next::Say(in_words(&order.payload.to_value())),
            };
            let origin = Origin { session: Some(session.clone()), ..Origin::of_task(&order) };
            let stop = news.stop().clone();
            let _place = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(Broken::new("it was stopped while it waited")),
                place = agent.place(&configure, &order, &news) => place,
            };
            let mut connection = agent.engine.connect_for(origin);
            let mut usage = Usage::default();
            let resumes = (past != Past::Nothing).then_some(session);
            if order.start == TaskStart::Again {
                news.progress("the node was started again, and the task goes on").await;
            }
            let plan =
                Plan { configure: ConfigureSession { session_id: resumes, ..configure }, next };
            let done = tokio::select! {
                biased;
                () = stop.cancelled() => Err("it was stopped".to_owned()),
                done = agent.carry_out(&mut connection, &order, plan, &news, &mut usage) => done,
            };
            // The session ends with its connection, and everything it started ends with its session.
            let Connection { submissions, events, done: ended } = connection;
            // Nobody reads any more, and that is all: a question that is open is not answered with no,
            // because somebody may go on with the session.
            drop(events);
            let _ = ended.await;
            drop(submissions);
            done.map(|finished| Finished { usage, ..finished }).map_err(|why| {
                let broken = Broken::new(why);
                Broken { usage, ..broken }
            })
        }
        .boxed()
    }
}

/// What a session begins with, or goes on with.
struct Plan {
    /// With the name of a session that is stored, if it goes on.
    configure: ConfigureSession,
    next: Next,
}

enum Next {
    /// The agent is told this.
    Say(String),
    /// A person is asked first.
    Blocked(Blocker),
}

impl Agent {
    /// What the session for a task begins with. Whoever works for another agent has no more rights
    /// than that one, and asks nobody where that one asks nobody.
    fn configure_for(&self, order: &TaskOrder) -> Result<ConfigureSession, Broken> {
        let mut configure = self.configure.clone();
        for asker in bounds_of(order)? {
            let own = self.engine.bounds_of(&configure);
            let Bounds { approval, is_attended, sandbox, .. } = own.within(&asker);
            configure.approval_policy = Some(approval);
            configure.sandbox_policy = Some(sandbox);
            if !is_attended {
                configure.approval_timeout_ms = Some(0);
            }
        }
        Ok(configure)
    }

    /// Sorts by time, as the names of other sessions do. Every part has its length before it, so that
    /// no two tasks share a name.
    fn session_of(&self, order: &TaskOrder) -> String {
        let mut hash = Sha256::new();
        let TaskKey { owner, id } = &order.key;
        for part in [self.delegate.as_str(), order.skill.as_str(), owner.as_str(), id.as_str()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize();
        let hex: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{:011x}-{hex}", order.started_at.millis())
    }

    async fn past_of(&self, session: &str) -> Result<Past, String> {
        let (engine, session) = (self.engine.clone(), session.to_owned());
        let read = tokio::task::spawn_blocking(move || engine.past_of(&session));
        let read = read.await.map_err(|error| error.to_string())?;
        read.map_err(|error| format!("what it did before cannot be read: {error}"))
    }

    /// The folder that it changes, when nobody else does. One that only reads needs none.
    async fn place(
        &self,
        configure: &ConfigureSession,
        order: &TaskOrder,
        news: &News,
    ) -> Option<Place> {
        let mode = configure.sandbox_policy.as_ref().map(|policy| policy.mode);
        let folder = configure.cwd.as_deref().map(PathBuf::from)?;
        if mode == Some(SandboxMode::ReadOnly) {
            return None;
        }
        let folder = tokio::task::spawn_blocking(move || folder.canonicalize().unwrap_or(folder));
        let folder = folder.await.ok()?;
        let task = &order.key.id;
        let mut leavings = self.engine.folders().leavings();
        let mut told = None;
        loop {
            let parent = self.engine.handed_on_by(task);
            let folders = self.engine.folders();
            let at_work = match folders.take(&folder, task, parent.as_ref()) {
                Ok(place) => return Some(place),
                Err(at_work) => at_work,
            };
            if told.as_ref() != Some(&at_work) {
                let words = format!("waits until the task {at_work} has left the folder");
                news.progress(words).await;
                told = Some(at_work);
            }
            leavings.changed().await.ok()?;
        }
    }

    async fn carry_out(
        &self,
        connection: &mut Connection,
        order: &TaskOrder,
        plan: Plan,
        news: &News,
        usage: &mut Usage,
    ) -> Result<Finished, String> {
        let Plan { configure, next } = plan;
        submit(connection, Op::ConfigureSession(configure)).await?;
        let text = match next {
            Next::Say(text) => text,
            Next::Blocked(blocker) => self.have_lifted(&blocker, order, news).await?,
        };
        submit(connection, said(text)).await?;
        let mut finished = Finished::default();
        let mut questions = FuturesUnordered::new();
        let mut blockers = 0;
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
                    let last = last_agent_message.unwrap_or_default();
                    match Blocker::of(&last).filter(|_| blockers < MOST_BLOCKERS) {
                        Some(blocker) => {
                            blockers += 1;
                            let text = self.have_lifted(&blocker, order, news).await?;
                            submit(connection, said(text)).await?;
                        }
                        None => {
                            finished.output = Value::String(last);
                            return Ok(finished);
                        }
                    }
                }
                EventMsg::TurnAborted { .. } => return Err("the agent was interrupted".to_owned()),
                EventMsg::Error { message } => return Err(message),
                msg => {
                    if let Some((question, what)) = Question::of(&msg) {
                        // The caller needs to know what for, and the operator all of it.
                        let first = one_line(what.lines().next().unwrap_or_default(), LONGEST);
                        news.waiting_for_approval(format!("waiting for approval: {first}")).await;
                        let matter = Matter::new(self.asker(order), MatterKind::Approval, what);
                        let mut asked = self.inbox.ask(matter.or_for_session());
                        questions.push(async move { (question, asked.decided().await) });
                    } else if let Some(words) = progress_of(&msg) {
                        news.progress(words).await;
                    }
                }
            }
        }
    }
}

impl Agent {
    fn asker(&self, order: &TaskOrder) -> Asker {
        Asker::Task {
            key: order.key.clone(),
            skill: order.skill.clone(),
            delegate: self.delegate.clone(),
        }
    }

    /// Has a person look at what blocks the agent, and says what the agent is told; or why the task
    /// ends.
    async fn have_lifted(
        &self,
        blocker: &Blocker,
        order: &TaskOrder,
        news: &News,
    ) -> Result<String, String> {
        let why = one_line(blocker.why(), LONGEST);
        news.waiting_for_approval(format!("blocked: {why}")).await;
        let matter = Matter::new(self.asker(order), MatterKind::Blocker, blocker.in_words());
        let word = self.inbox.ask(matter).answered().await;
        match word.decision {
            Decision::Approve | Decision::ApproveForSession => Ok(blocker.lifted(&word)),
            Decision::Deny => Err(blocker.held(&word)),
        }
    }
}

fn said(text: String) -> Op {
    Op::UserInput {
        items: vec![InputItem::Text { text }],
        last_response_id: None,
        mode: InputMode::Replace,
    }
}

/// A task that was done when the node ended, before anybody was told.
fn finished_before(done: Done) -> Finished {
    Finished {
        output: Value::String(done.said.unwrap_or_default()),
        usage: Usage { tokens: done.tokens, ..Usage::default() },
        model_version: done.model,
        ..Finished::default()
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

/// An agent that is blocked again and again is not helped by a person.
const MOST_BLOCKERS: usize = 8;

/// For the model, which sees what it had done, and \"aborted\" where it was cut off.
const GO_ON: &str = "\
The machine that you work on was stopped in the middle of this task, and was started again.
What you had done is done, and nothing of it was repeated.
A call whose output is \"aborted\" was interrupted: nobody knows how far it came, and an approval that \
was asked for has to be asked for again.
Look at how things stand before you do such a thing again. Then go on, and finish the task.";
