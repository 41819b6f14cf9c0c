//! Agents that speak A2A, through its official client. What they return is measured here: they have
//! no provenance of their own.

mod transport;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use a2a::{
    A2AError, AgentCard, AgentInterface, CancelTaskRequest, GetTaskRequest, Message, Part,
    PartContent, Role, SendMessageConfiguration, SendMessageRequest, SendMessageResponse,
    StreamResponse, Task, TaskState, TaskStatus,
};
use a2a_client::auth::AuthInterceptor;
use a2a_client::{A2AClient, A2AClientFactory, Transport};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use reqwest::Url;
use sabir_base::text::one_line;
use sabir_ldp::{IdentityCard, LdpError, PayloadMode, Refusal, UpdateOf};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::foreign::{Offer, foreign_card, measured, unreachable};
use super::remote::{Job, News, Product, Remote};
use super::request::TaskInput;
use crate::ldp::client::{Base, Http};
use transport::{Bounded, Form};

pub(super) struct A2aRemote {
    card: IdentityCard,
    version: String,
    streams: bool,
    client: A2AClient<Box<dyn Transport>>,
}

impl A2aRemote {
    /// Fetches the agent's card and connects by the best of its interfaces that are at that address.
    pub(super) async fn open(http: &Http, base: &Base, address: &str) -> Result<Self, LdpError> {
        let text = http
            .fetch_text(base, AGENT_CARD, MAX_CARD_BYTES)
            .await
            .map_err(|why| unreachable(address, &why))?;
        let mut agent: AgentCard = serde_json::from_str(&text)
            .map_err(|error| unreachable(address, &format!("its card is not good: {error}")))?;
        // An interface elsewhere would get our token and our task without having been named.
        agent.supported_interfaces.retain(|interface| is_there(interface, base));
        if agent.supported_interfaces.is_empty() {
            return Err(unreachable(address, "its card names no interface at that address"));
        }
        let mut builder = A2AClientFactory::builder().no_defaults();
        for form in [Form::JsonRpc, Form::HttpJson] {
            let client = http.client(base).clone();
            builder = builder.register(Arc::new(Bounded { client, form }));
        }
        if let Some(token) = http.token(base).and_then(|value| value.to_str().ok()) {
            builder =
                builder.with_interceptor(Arc::new(AuthInterceptor::custom("Authorization", token)));
        }
        let client = builder.build().create_from_card(&agent).await;
        let client = client.map_err(|error| unreachable(address, &error.message))?;
        let offers = agent.skills.iter().map(|skill| Offer {
            name: skill.id.clone(),
            description: Some(skill.description.clone()),
            input_schema: None,
        });
        Ok(Self {
            card: foreign_card(address, &agent.name, &agent.version, offers.collect())
                .map_err(|why| unreachable(address, &why))?,
            version: agent.version,
            streams: agent.capabilities.streaming == Some(true),
            client,
        })
    }

    async fn run(&self, job: &Job, news: &mpsc::Sender<News>, id: &mut Option<String>) -> Ended {
        let request = request(job);
        if !self.streams {
            return match in_time(SEND, self.client.send_message(&request)).await? {
                SendMessageResponse::Message(message) => Ok(said(message.parts)),
                SendMessageResponse::Task(task) => self.see_through(task, job, news, id).await,
            };
        }
        let mut stream = in_time(SEND, self.client.send_streaming_message(&request)).await?;
        let mut parts = Collected::default();
        // One that is silent for long is asked instead.
        while let Ok(Some(event)) = tokio::time::timeout(SILENCE, stream.next()).await {
            match event {
                Ok(StreamResponse::Message(message)) => return Ok(said(message.parts)),
                Ok(StreamResponse::Task(task)) => {
                    *id = Some(task.id.clone());
                    tell(&task.status, job, news).await;
                    if is_over(&task.status) {
                        return end(task);
                    }
                    parts = Collected::of(&task);
                }
                Ok(StreamResponse::ArtifactUpdate(update)) => {
                    *id = Some(update.task_id);
                    let more = update.append == Some(true);
                    parts.add(update.artifact.artifact_id, update.artifact.parts, more);
                    if parts.bytes > MAX_OUTPUT_BYTES {
                        return Err(failed("the agent's output is longer than 16 MiB"));
                    }
                }
                Ok(StreamResponse::StatusUpdate(update)) => {
                    *id = Some(update.task_id);
                    tell(&update.status, job, news).await;
                    if is_over(&update.status) {
                        return judge(&update.status, parts.into_parts());
                    }
                }
                // The task may go on without us.
                Err(error) if id.is_none() => return Err(error.into()),
                Err(_) => break,
            }
        }
        match id.clone() {
            Some(task) => {
                let task = self.look(&task).await?;
                self.see_through(task, job, news, id).await
            }
            None => Err(interrupted("the stream ended before it said anything")),
        }
    }

    /// Asks after a task until it is over.
    async fn see_through(
        &self,
        mut task: Task,
        job: &Job,
        news: &mpsc::Sender<News>,
        id: &mut Option<String>,
    ) -> Ended {
        *id = Some(task.id.clone());
        let mut pause = FIRST_PAUSE;
        let mut failures = 0;
        while !is_over(&task.status) {
            tell(&task.status, job, news).await;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            match self.look(&task.id).await {
                Ok(seen) if seen.id == task.id => (task, failures) = (seen, 0),
                Ok(_) => return Err(failed("the agent answered about another task")),
                Err(fault) if failures == MOST_FAILURES => return Err(fault),
                Err(_) => failures += 1,
            }
        }
        end(task)
    }

    async fn look(&self, task: &str) -> Result<Task, Fault> {
        let request = GetTaskRequest { id: task.to_owned(), history_length: Some(0), tenant: None };
        in_time(ANSWER, self.client.get_task(&request)).await
    }
}

impl Remote for A2aRemote {
    fn card(&self) -> &IdentityCard {
        &self.card
    }

    fn perform<'a>(
        &'a self,
        job: &'a Job,
        news: &'a mpsc::Sender<News>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Product, LdpError>> {
        Box::pin(async move {
            let mut id = None;
            let ended = tokio::select! {
                ended = self.run(job, news, &mut id) => ended,
                () = stop.cancelled() => Err(Refusal::Cancelled.error("cancelled").into()),
            };
            match ended {
                Ok(output) => {
                    Ok(measured(&self.card.delegate_id, &self.version, output, PayloadMode::Text))
                }
                Err(Fault { error, leave_running }) => {
                    if let Some(task) = id.filter(|_| !leave_running) {
                        let cancel = CancelTaskRequest { id: task, metadata: None, tenant: None };
                        let asked = self.client.cancel_task(&cancel);
                        let _ = tokio::time::timeout(LAST_WORD, asked).await;
                    }
                    Err(*error)
                }
            }
        })
    }

    fn keeps_deadlines(&self) -> bool {
        false
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.client.destroy().await;
        })
    }
}

type Ended = Result<Value, Fault>;

/// Why there is no output, and whether the task is over with that.
struct Fault {
    error: Box<LdpError>,
    leave_running: bool,
}

impl From<LdpError> for Fault {
    fn from(error: LdpError) -> Self {
        Self { error: Box::new(error), leave_running: false }
    }
}

impl From<A2AError> for Fault {
    fn from(error: A2AError) -> Self {
        let words = format!("{} ({})", one_line(&error.message, MAX_QUOTED), error.code);
        failed(&words)
    }
}

fn failed(why: &str) -> Fault {
    Refusal::TaskFailed.error(why).into()
}

/// Nobody knows what became of the task, so that nobody else is to be given it.
fn interrupted(why: &str) -> Fault {
    Refusal::Interrupted.error(why).into()
}

/// An answer that does not come is none.
async fn in_time<T>(
    patience: Duration,
    call: impl Future<Output = Result<T, A2AError>>,
) -> Result<T, Fault> {
    match tokio::time::timeout(patience, call).await {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(interrupted("the agent did not answer in time")),
    }
}

fn request(job: &Job) -> SendMessageRequest {
    let part = match &job.input {
        TaskInput::Text(text) => Part::text(text),
        TaskInput::Json(value) => Part::data(value.clone()),
    };
    let mut message = Message::new(Role::User, vec![part]);
    let skill = Value::from(job.skill.as_str());
    message.metadata = Some(HashMap::from([("skill".to_owned(), skill)]));
    let configuration = SendMessageConfiguration {
        accepted_output_modes: None,
        task_push_notification_config: None,
        history_length: Some(0),
        // A long task is asked after, and can be cancelled.
        return_immediately: Some(true),
    };
    SendMessageRequest { message, configuration: Some(configuration), metadata: None, tenant: None }
}

async fn tell(status: &TaskStatus, job: &Job, news: &mpsc::Sender<News>) {
    use sabir_ldp::TaskState as Ours;
    let state = match status.state {
        TaskState::Submitted => Some(Ours::Queued),
        TaskState::Working => Some(Ours::Working),
        TaskState::Completed => Some(Ours::Completed),
        TaskState::Failed | TaskState::Rejected => Some(Ours::Failed),
        TaskState::Canceled => Some(Ours::Cancelled),
        TaskState::Unspecified | TaskState::InputRequired | TaskState::AuthRequired => None,
    };
    let message = status.message.as_ref().and_then(Message::text).map(str::to_owned);
    let update = UpdateOf { task: job.task_id.clone(), progress: None, message, state, seq: None };
    let _ = news.send(News::Progress(update)).await;
}

/// Terminal, or waiting for somebody who is not there.
fn is_over(status: &TaskStatus) -> bool {
    status.state.is_terminal()
        || matches!(status.state, TaskState::InputRequired | TaskState::AuthRequired)
}

fn end(task: Task) -> Ended {
    let parts = Collected::of(&task).into_parts();
    judge(&task.status, parts)
}

fn judge(status: &TaskStatus, parts: Vec<Part>) -> Ended {
    let words = status.message.as_ref().and_then(Message::text).unwrap_or_default();
    let words = one_line(words, MAX_QUOTED);
    let fail = |refusal: Refusal, what: &str| {
        let why = if words.is_empty() { what.to_owned() } else { format!("{what}: {words}") };
        let leave_running = status.state.is_terminal();
        Err(Fault { error: Box::new(refusal.error(why)), leave_running })
    };
    match status.state {
        TaskState::Completed if parts.is_empty() => {
            Ok(said(status.message.clone().map(|it| it.parts).unwrap_or_default()))
        }
        TaskState::Completed => Ok(said(parts)),
        TaskState::Failed => fail(Refusal::TaskFailed, "the agent failed"),
        TaskState::Rejected => fail(Refusal::TaskFailed, "the agent rejected the task"),
        TaskState::Canceled => fail(Refusal::Cancelled, "the task was cancelled"),
        TaskState::InputRequired => fail(Refusal::TaskFailed, "the agent asks back"),
        TaskState::AuthRequired => fail(Refusal::TaskFailed, "the agent asks for credentials"),
        TaskState::Unspecified | TaskState::Submitted | TaskState::Working => {
            fail(Refusal::TaskFailed, "the task is in no state that is known")
        }
    }
}

/// Artifacts as they come in pieces, in the order of their first.
#[derive(Default)]
struct Collected {
    artifacts: Vec<(String, Vec<Part>)>,
    /// How long everything is that came, also what was replaced since.
    bytes: usize,
}

impl Collected {
    fn of(task: &Task) -> Self {
        let artifacts = task.artifacts.iter().flatten();
        let artifacts = artifacts.map(|it| (it.artifact_id.clone(), it.parts.clone())).collect();
        Self { artifacts, bytes: 0 }
    }

    fn add(&mut self, id: String, parts: Vec<Part>, more: bool) {
        self.bytes = parts.iter().map(weight).fold(self.bytes + id.len(), usize::saturating_add);
        match self.artifacts.iter_mut().find(|(known, _)| *known == id) {
            Some((_, kept)) if more => kept.extend(parts),
            Some((_, kept)) => *kept = parts,
            None => self.artifacts.push((id, parts)),
        }
    }

    fn into_parts(self) -> Vec<Part> {
        self.artifacts.into_iter().flat_map(|(_, parts)| parts).collect()
    }
}

/// About how much memory a part takes.
fn weight(part: &Part) -> usize {
    let content = match &part.content {
        PartContent::Text(text) => text.len(),
        PartContent::Data(value) => value.to_string().len(),
        PartContent::Url(url) => url.len(),
        PartContent::Raw(bytes) => bytes.len(),
    };
    content + size_of::<Part>()
}

/// Texts are one text, one piece of data is itself, and what is mixed is a list.
fn said(parts: Vec<Part>) -> Value {
    if parts.iter().all(|part| part.as_text().is_some()) {
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        return texts.concat().into();
    }
    let mut values: Vec<Value> = parts
        .into_iter()
        .map(|part| match part.content {
            PartContent::Text(text) => text.into(),
            PartContent::Data(value) => value,
            PartContent::Url(url) => serde_json::json!({ "url": url }),
            PartContent::Raw(bytes) => serde_json::json!({ "bytes": bytes.len() }),
        })
        .collect();
    match values.len() {
        1 => values.swap_remove(0),
        _ => values.into(),
    }
}

fn is_there(interface: &AgentInterface, base: &Base) -> bool {
    let Ok(url) = Url::parse(&interface.url) else { return false };
    let near = Base::parse(&interface.url, Default::default()).is_ok_and(|it| it.is_near());
    url.origin() == base.url().origin()
        // One machine has several names for itself.
        || near && base.is_near() && url.port_or_known_default() == base.url().port_or_known_default()
}

const AGENT_CARD: &str = "/.well-known/agent-card.json";
const MAX_CARD_BYTES: usize = 1024 * 1024;
/// An agent may do the whole task before it answers.
const SEND: Duration = Duration::from_secs(600);
const ANSWER: Duration = Duration::from_secs(40);
const SILENCE: Duration = Duration::from_secs(60);
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const MOST_FAILURES: u32 = 4;
const LAST_WORD: Duration = Duration::from_secs(3);
const MAX_QUOTED: usize = 2000;
