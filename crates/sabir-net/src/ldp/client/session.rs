//! A session with one delegate: a task that owns the initiator's machine, and the handles by which
//! others give it work. Several tasks share one session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sabir_ldp::{
    Authentication, DelegateId, IdentityCard, InitiatorSettings, KeyBytes, LdpError, Patience,
    PayloadMode, Recipient, Refusal, SessionId, Signing, SigningKey, TaskId, TaskRequest, Trust,
    UpdateOf,
};
use sabir_telemetry::{TraceContext, current};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::base::Base;
use super::driver::Driver;
use super::http::Http;

/// What a session is opened with.
#[derive(Debug, Clone)]
pub(crate) struct SessionSetup {
    pub(crate) http: Http,
    pub(crate) base: Base,
    pub(crate) card: Arc<IdentityCard>,
    /// Who we are.
    pub(crate) delegate_id: DelegateId,
    pub(crate) key: SigningKey,
    /// What is configured about the delegate, with its pinned key.
    pub(crate) trust: Trust,
    pub(crate) required_trust_domain: Option<String>,
    pub(crate) pace: Pace,
    /// Cancelled when nothing more is to be said.
    pub(crate) leaving: CancellationToken,
}

/// How patient a client is.
#[derive(Debug, Clone)]
pub struct Pace {
    /// How long an answer may take. A delegate waits up to 30 seconds for a task before it says that
    /// the task still runs.
    pub answer: Duration,
    /// How long a stream may be silent. Keep-alives come far more often.
    pub silence: Duration,
    /// How often a step is tried.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles.
    pub pause: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(40),
            silence: Duration::from_secs(60),
            attempts: 5,
            pause: Duration::from_millis(100),
        }
    }
}

/// A session that is kept open. Cloning gives another handle on the same one; the last handle that
/// is dropped closes it.
#[derive(Clone)]
pub struct Session {
    commands: mpsc::Sender<Command>,
    over: watch::Receiver<Option<Option<LdpError>>>,
    heard: watch::Receiver<Heard>,
}

/// Whether the last answer was proven to be the delegate's, where it has a key or a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Itself,
    /// Somebody who could not sign as it does.
    SomebodyElse,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("is_over", &self.is_over()).finish()
    }
}

/// A task on its way. Dropping it cancels the task.
#[derive(Debug)]
pub struct Errand {
    task: TaskId,
    news: mpsc::Receiver<ErrandNews>,
    commands: mpsc::Sender<Command>,
    over: watch::Receiver<Option<Option<LdpError>>>,
    is_over: bool,
}

/// What becomes of a task. The last is `Done` or `Failed`.
#[derive(Debug, Clone)]
pub enum ErrandNews {
    /// The session is open; also when it had to be opened again.
    Opened {
        session: SessionId,
        delegate: DelegateId,
        mode: PayloadMode,
    },
    Progress(UpdateOf),
    Done(Box<Delivered>),
    Failed(LdpError),
}

/// A result as it came in.
#[derive(Debug, Clone)]
pub struct Delivered {
    pub report: sabir_ldp::Report,
    /// The provenance as its producer signed it, with the signature, for whoever wants to check it
    /// later.
    pub signed_record: Option<Value>,
}

#[derive(Debug)]
pub(super) enum Command {
    Submit {
        request: Box<TaskRequest>,
        news: mpsc::Sender<ErrandNews>,
        /// What the task is part of.
        trace: Option<TraceContext>,
    },
    Withdraw {
        request: Box<TaskRequest>,
        news: mpsc::Sender<ErrandNews>,
        trace: Option<TraceContext>,
    },
    Cancel {
        task: TaskId,
    },
    Close,
}

impl Session {
    /// Begins to open a session. Whether that goes well is told to the tasks that it is given.
    pub(crate) fn open(setup: SessionSetup) -> Self {
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let (ending, over) = watch::channel(None);
        let (hearing, heard) = watch::channel(Heard::Nothing);
        tokio::spawn(Driver::new(setup, ending, hearing).run(inbox));
        Self { commands, over, heard }
    }

    /// Gives it a task. Who does not read its news holds up the whole session.
    pub async fn submit(&self, request: TaskRequest) -> Errand {
        let trace = current();
        self.give(request, |request, news| Command::Submit { request, news, trace }).await
    }

    /// Takes a task back that the delegate may have from before. It is not sent.
    pub(crate) async fn withdraw(&self, request: TaskRequest) -> Errand {
        let trace = current();
        self.give(request, |request, news| Command::Withdraw { request, news, trace }).await
    }

    async fn give(
        &self,
        request: TaskRequest,
        command: impl FnOnce(Box<TaskRequest>, mpsc::Sender<ErrandNews>) -> Command,
    ) -> Errand {
        let (sender, news) = mpsc::channel(MAX_NEWS);
        let (task, commands) = (request.task_id.clone(), self.commands.clone());
        // A session that is over drops the sender, and the errand says so.
        let _ = self.commands.send(command(Box::new(request), sender)).await;
        Errand { task, news, commands, over: self.over.clone(), is_over: false }
    }

    pub fn is_over(&self) -> bool {
        self.commands.is_closed() || self.over.borrow().is_some()
    }

    pub(crate) fn heard(&self) -> Heard {
        *self.heard.borrow()
    }

    /// Who answers first; or why nobody does.
    pub(crate) async fn first_heard(&mut self) -> Result<Heard, LdpError> {
        match self.heard.wait_for(|heard| *heard != Heard::Nothing).await {
            Ok(heard) => Ok(*heard),
            Err(_) => Err(why_over(&self.over)),
        }
    }

    /// Closes it and waits until the delegate has heard of it, or for a while.
    pub async fn close(mut self) {
        let _ = self.commands.send(Command::Close).await;
        let ended = self.over.wait_for(Option::is_some);
        let _ = tokio::time::timeout(FAREWELL, ended).await;
    }
}

impl Errand {
    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// What happens next. After the last news there are none.
    pub async fn next(&mut self) -> Option<ErrandNews> {
        if self.is_over {
            return None;
        }
        let news = self.news.recv().await;
        // A session that ended before it took the task has a reason, perhaps the delegate's.
        let news = news.unwrap_or_else(|| ErrandNews::Failed(why_over(&self.over)));
        self.is_over = matches!(news, ErrandNews::Done(_) | ErrandNews::Failed(_));
        Some(news)
    }

    /// Asks the delegate to stop. Its answer is among the news.
    pub async fn cancel(&self) {
        let _ = self.commands.send(Command::Cancel { task: self.task.clone() }).await;
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let cancel = Command::Cancel { task: self.task.clone() };
        if let Err(mpsc::error::TrySendError::Full(cancel)) = self.commands.try_send(cancel)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let commands = self.commands.clone();
            runtime.spawn(async move { commands.send(cancel).await });
        }
    }
}

impl SessionSetup {
    /// How sure it must be who answers: a delegate that has a key or a secret signs.
    pub(super) fn required(&self) -> Authentication {
        if self.has_secret() {
            Authentication::Reference
        } else if self.trust.keys(&self.card.delegate_id).is_empty() {
            Authentication::Unsigned
        } else {
            Authentication::Signed
        }
    }

    fn has_secret(&self) -> bool {
        self.trust.peer(&self.card.delegate_id).is_some_and(|peer| peer.secret.is_some())
    }

    pub(super) fn initiator(&self) -> InitiatorSettings {
        let to = Recipient::Address(self.base.to_string());
        let mut settings = InitiatorSettings::new(self.delegate_id.clone(), to);
        settings.public_key = KeyBytes::from_hex(&self.key.public_key().to_hex());
        settings.expected = Some(self.card.delegate_id.clone());
        settings.signing = if self.has_secret() { Signing::Reference } else { Signing::Native };
        settings.required = self.required();
        settings.modes = self.modes();
        settings.trust_domain = Some(self.trust.domain().name.clone());
        settings.required_trust_domain = self.required_trust_domain.clone();
        settings.resubmits = self.resubmits();
        settings.patience = Patience {
            // The driver keeps the time of messages, because a stream may go on for hours.
            answer_ms: FOREVER_MS,
            attempts: self.pace.attempts.max(1),
            pause_ms: millis(self.pace.pause),
            longest_pause_ms: millis(self.pace.pause.saturating_mul(LONGEST_PAUSE)),
            ..Patience::default()
        };
        settings
    }

    /// What is offered: what the card knows, the best first. Text is always among it.
    fn modes(&self) -> Vec<PayloadMode> {
        let mut modes = vec![PayloadMode::SemanticFrame];
        modes.retain(|mode| self.card.supported_payload_modes.contains(mode));
        modes.push(PayloadMode::Text);
        modes
    }

    /// Whether the delegate does a task once that comes twice under the same id. The references do
    /// it as often as it comes, and have no keys.
    pub(super) fn resubmits(&self) -> bool {
        self.card.public_key.is_some()
    }

    /// How long the answer to a task may take.
    pub(super) fn patience_with_tasks(&self, first: Duration) -> Duration {
        // Who must not be asked twice is waited for; a contract's deadline is kept by the machine.
        if self.resubmits() { first } else { Duration::from_millis(FOREVER_MS) }
    }

    /// Whether the delegate is worth asking for a stream. The references have none and say so.
    pub(super) fn may_stream(&self) -> bool {
        let says_so = |it: &sabir_ldp::Capability| it.quality.supports_streaming;
        self.card.public_key.is_some() || self.card.capabilities.iter().any(says_so)
    }
}

/// Why a session is over.
fn why_over(over: &watch::Receiver<Option<Option<LdpError>>>) -> LdpError {
    let why = over.borrow().clone().flatten();
    why.unwrap_or_else(|| Refusal::Cancelled.error("the session is over"))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// So many times the first one.
const LONGEST_PAUSE: u32 = 100;
/// More wait at the door.
const MAX_COMMANDS: usize = 64;
const MAX_NEWS: usize = 256;
/// Longer than any task.
const FOREVER_MS: u64 = 30 * 24 * 3_600 * 1_000;
/// A delegate that does not hear us out lets the session expire.
const FAREWELL: Duration = Duration::from_secs(3);
