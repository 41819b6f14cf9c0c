//! Actions of the LLMX notation, carried out: read, write, edit, shell, search and spawn, through
//! the same tools, gate and sandbox as an agent's calls.
//!
//! What is carried out are messages of strangers. Paths stay below the root whatever links do, text
//! never becomes a part of a command, and every action ends with an observation.

mod command;
mod edit;
mod files;
mod gate;
mod order;
mod place;
mod request;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use sabir_base::text::clip_counted;
use sabir_engine::ConfigureSession;
use sabir_policy::{Action as Deed, ApprovalPolicy, Bounds, PolicyDoc, SandboxMode, SandboxPolicy};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::clock::now_ms;
use crate::engine::{Engine, Origin, SpawnRequest, Spawner};
use crate::error::HostError;
use crate::files::Root;
use crate::model::Providers;
use crate::policy::load_policy;
use crate::process::Runner;
use crate::reading::KeyFiles;

pub use order::Order;
pub use place::LinksOnDisk;
pub use request::Action;

use gate::Wanted;
use request::{Spawn, Work};

/// What actions are carried out with.
#[derive(Debug)]
pub struct ActionSetup {
    /// No path leads out of it, and commands start in it. Absolute and without links.
    pub root: PathBuf,
    /// Where half-done changes are noted. No command may change it.
    pub home: PathBuf,
    pub runner: Runner,
    /// The files with keys of these are not shown to anybody.
    pub providers: Providers,
    pub approval_policy: ApprovalPolicy,
    pub sandbox_policy: SandboxPolicy,
    /// What `spawn` gives its tasks to, if there is a model.
    pub agents: Option<Engine>,
    /// Who takes the tasks of `spawn` that name a skill, or an agent that it knows.
    pub spawner: Option<Arc<dyn Spawner>>,
}

/// Carries actions out.
#[derive(Debug)]
pub struct Actions {
    root: Arc<Root>,
    /// The root as text.
    place: String,
    home: PathBuf,
    runner: Runner,
    key_files: KeyFiles,
    approval: ApprovalPolicy,
    sandbox: SandboxPolicy,
    agents: Option<Engine>,
    spawner: Option<Arc<dyn Spawner>>,
    policy: PolicyDoc,
    audit: Audit,
    /// Whom the audit names as the one that all this is done for.
    actor: String,
    /// How many actions had no name.
    nameless: AtomicU64,
    running: Semaphore,
}

/// Why no action can be carried out at all.
#[derive(Debug)]
pub enum ActionsError {
    Root { path: PathBuf, source: std::io::Error },
    RootName { path: PathBuf },
    Host(HostError),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub outcome: Result<Content, Failure>,
    pub took: Duration,
}

/// What an observation holds: names in the strict form of keys, and their values.
pub type Content = Map<String, Value>;

/// Why an action did not do what it should.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub message: String,
    /// What there is to show all the same: the output of a command that failed.
    pub content: Option<Content>,
}

/// What is told while actions are carried out.
#[derive(Debug)]
pub enum Progress {
    /// A person has to answer. Dropping it says that there is nobody.
    Asks(Question),
    /// The action with this number, counted from zero, has ended.
    Ended { index: usize, took: Duration, is_ok: bool },
}

#[derive(Debug)]
pub struct Question {
    /// The number of the action.
    pub index: usize,
    /// What would happen, in words and lines.
    pub what: String,
    pub why: String,
    /// `true` allows it, once.
    pub answer: oneshot::Sender<bool>,
}

/// More at once only wait for each other.
const MOST_AT_ONCE: usize = 8;

/// What is said of an action that was stopped, or never started.
const ABORTED: &str = "aborted";

impl Actions {
    pub fn open(setup: ActionSetup) -> Result<Self, ActionsError> {
        let ActionSetup {
            root: path,
            home,
            runner,
            providers,
            approval_policy,
            sandbox_policy,
            agents,
            spawner,
        } = setup;
        let policy = load_policy(&home).map_err(|error| ActionsError::Host(error.into()))?;
        let root = Root::open(&path)
            .map_err(|source| ActionsError::Root { path: path.clone(), source })?;
        let place = root.path().to_str().map(str::to_owned);
        let place = place.ok_or(ActionsError::RootName { path })?;
        // A change that a crash left half done is taken back before anyone looks at the files.
        crate::files::recover(&home.join(crate::engine::PATCH_JOURNAL))
            .map_err(|error| ActionsError::Host(error.into()))?;
        Ok(Self {
            root: Arc::new(root),
            place,
            policy,
            audit: Audit::new(home.clone()),
            actor: format!("llmx-{:011x}-{}", now_ms(), std::process::id()),
            nameless: AtomicU64::new(0),
            home,
            runner,
            key_files: KeyFiles::new(providers.key_files()),
            approval: approval_policy,
            sandbox: sandbox_policy,
            agents,
            spawner,
            running: Semaphore::new(MOST_AT_ONCE),
        })
    }

    /// Carries actions out, side by side or one after the other, and observes each. When `stop` is
    /// cancelled, what runs is ended and what waits is not begun; both are observed as aborted.
    pub async fn run(
        &self,
        actions: &[Action],
        order: Order,
        progress: &mpsc::Sender<Progress>,
        stop: &CancellationToken,
    ) -> Vec<Observation> {
        let waits = order::waits(actions, order, &self.place);
        let done: Vec<CancellationToken> =
            actions.iter().map(|_| CancellationToken::new()).collect();
        let all = actions.iter().zip(waits).enumerate().map(|(index, (action, before))| {
            let done = &done;
            async move {
                let call_id = &self.name(action);
                let turn = Turn { actions: self, index, call_id, progress, stop };
                // Whoever waits for this one must not wait for ever, however it ends.
                let _ended = done[index].clone().drop_guard();
                for earlier in before {
                    tokio::select! {
                        () = done[earlier].cancelled() => {}
                        () = stop.cancelled() => break,
                    }
                }
                turn.take(action).await
            }
        });
        join_all(all).await
    }
}

/// One action's turn.
#[derive(Clone, Copy)]
struct Turn<'a> {
    actions: &'a Actions,
    index: usize,
    /// What the audit calls it.
    call_id: &'a str,
    progress: &'a mpsc::Sender<Progress>,
    stop: &'a CancellationToken,
}

impl Turn<'_> {
    async fn take(self, action: &Action) -> Observation {
        let started = Instant::now();
        let outcome = match &action.work {
            _ if self.stop.is_cancelled() => Err(ABORTED.into()),
            Err(message) => Err(message.clone().into()),
            Ok(work) => self.carry_out(work).await,
        };
        let took = started.elapsed();
        let (index, is_ok) = (self.index, outcome.is_ok());
        // Nobody has to listen.
        let _ = self.progress.send(Progress::Ended { index, took, is_ok }).await;
        Observation { outcome, took }
    }

    async fn carry_out(self, work: &Work) -> Result<Content, Failure> {
        match work {
            Work::Read { path } => self.read(path).await,
            Work::Search { path, search } => self.search(path, search).await,
            Work::Write { path, text, overwrite } => self.write(path, text, *overwrite).await,
            Work::Edit { path, change } => self.edit(path, change).await,
            Work::Shell(shell) => self.shell(shell).await,
            Work::Spawn(spawn) => self.spawn(spawn).await,
        }
    }

    /// Does something that blocks, beside a bounded number of others. What it does is given up when
    /// everything stops, so it must not change anything.
    async fn look<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, Failure> {
        let _permit = self.actions.running.acquire().await;
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(ABORTED.into()),
            done = tokio::task::spawn_blocking(work) => match done {
                Ok(done) => done.map_err(Failure::from),
                Err(error) => Err(error.to_string().into()),
            },
        }
    }

    async fn spawn(self, spawn: &Spawn) -> Result<Content, Failure> {
        let Spawn { agent, task, skill, .. } = spawn;
        let (name, words) = (("agent", agent.as_str().into()), ("task", task.as_str().into()));
        let wanted = match skill {
            None => Wanted::new("spawn", [name, words]),
            Some(skill) => Wanted::new("spawn", [name, words, ("skill", skill.as_str().into())]),
        };
        let what = format!("start the agent {agent:?} with this task:\n{task}");
        self.pass(&self.judge(Deed::Spawn, &wanted), what).await?;
        if let Some(spawner) = &self.actions.spawner {
            let is_known = spawner.knows(agent).await;
            if is_known || skill.is_some() {
                let to = is_known.then(|| agent.clone());
                return self.hand_on(spawner.as_ref(), spawn, to).await;
            }
        }
        let Some(engine) = &self.actions.agents else {
            let words = "no model is configured, so no agent can be spawned: say --model NAME \
                         --base-url URL, or write a provider into sabir.toml";
            return Err(words.to_owned().into());
        };
        let configure = ConfigureSession {
            cwd: Some(self.actions.place.clone()),
            approval_policy: Some(self.actions.approval),
            sandbox_policy: Some(self.actions.sandbox.clone()),
            instructions: Some(format!(
                "You are the agent {agent:?}. You work for another agent, which sees only your last \
                 message."
            )),
            approval_timeout_ms: Some(0),
            ..ConfigureSession::default()
        };
        let answer = engine.delegate(configure, task.clone(), self.stop.clone()).await;
        let text = match answer {
            Err(_) if self.stop.is_cancelled() => return Err(ABORTED.into()),
            answer => answer?,
        };
        Ok(answered(agent, &text))
    }

    async fn hand_on(
        self,
        spawner: &dyn Spawner,
        spawn: &Spawn,
        to: Option<String>,
    ) -> Result<Content, Failure> {
        let request = SpawnRequest {
            task: spawn.task.clone(),
            skill: spawn.skill.clone(),
            to,
            budget_tokens: spawn.budget_tokens,
            deadline_secs: spawn.deadline_secs,
            within: Bounds::new(
                self.actions.approval,
                self.actions.sandbox.clone(),
                self.actions.place.clone(),
            ),
            origin: Origin::default(),
            parent: self.actions.actor.clone(),
            depth: 0,
        };
        let (news, mut heard) = mpsc::channel(8);
        let listen = async { while heard.recv().await.is_some() {} };
        let spawned = spawner.spawn(request, news, self.stop.clone());
        let (spawned, ()) = tokio::join!(spawned, listen);
        match spawned.answer {
            Err(_) if self.stop.is_cancelled() => Err(ABORTED.into()),
            Err(why) => Err(why.into()),
            Ok(text) => Ok(answered(&spawn.agent, &text)),
        }
    }
}

/// What an agent brought.
fn answered(agent: &str, text: &str) -> Content {
    content([("agent", agent.into()), ("text", clip_counted(text, MOST_BYTES).into())])
}

impl Actions {
    /// As its sender called it, or by its number among those that were not called anything.
    fn name(&self, action: &Action) -> String {
        let number = || self.nameless.fetch_add(1, Ordering::Relaxed) + 1;
        action.id.clone().unwrap_or_else(|| format!("act-{}", number()))
    }

    /// Folders of this program, which no command and no change may touch.
    fn own_state(&self) -> Vec<PathBuf> {
        vec![self.home.clone()]
    }

    fn is_read_only(&self) -> bool {
        self.sandbox.mode == SandboxMode::ReadOnly
    }

    fn root_path(&self) -> &Path {
        self.root.path()
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message, content: None }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl std::fmt::Display for ActionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root { path, .. } => write!(f, "{}: cannot be the root", path.display()),
            Self::RootName { path } => write!(f, "{}: has no path in UTF-8", path.display()),
            Self::Host(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ActionsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Root { source, .. } => Some(source),
            Self::RootName { .. } | Self::Host(_) => None,
        }
    }
}

fn content<const N: usize>(fields: [(&str, Value); N]) -> Content {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The most that one observation says.
const MOST_BYTES: usize = 256 * 1024;
