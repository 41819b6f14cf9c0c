//! Doing what the machine allowed: commands, patches, tools, other agents.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use sabir_engine::{
    ConfigureSession, EventMsg, ExecOutput, Input, OutputStream, PreparedPatch, ProviderSettings,
    Settings, SpawnAgent, ToolCall, ToolEvent, ToolResult, Usage, Work,
};
use sabir_policy::Bounds;
use sabir_telemetry::{current, within};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::delegate::{Delegated, Watcher};
use super::spawn::{Origin, Purse, SpawnRequest, Spawned, time_left};
use super::{DEEPEST, Engine, PATCH_JOURNAL, Standing};
use crate::files::{self, ApplyError, Root, Undo};
use crate::process::{self, Bound, Exec};
use crate::sandbox::{Confinement, Limits, OwnState};
use crate::tools::{self, Look};

/// A patch that was tried and waits to be allowed.
pub(super) struct Prepared {
    root: Arc<Root>,
    plan: Arc<sabir_engine::patch::Plan>,
}

/// Those of a session, by the number of their call.
pub(super) type PreparedPatches = Arc<Mutex<HashMap<u64, Prepared>>>;

/// Of the difference that a patch makes: more than anyone reads, and well below what the journal
/// takes as one entry.
const MOST_SHOWN: usize = 16 * 1024 * 1024;

impl Actor {
    /// Patches are tried side by side and told of in the order of their calls, which is the order
    /// that a person is asked in.
    pub(super) fn prepare(&mut self, key: u64, input: String, cwd: String) {
        let tell = self.tell.clone();
        let patches = Arc::clone(&self.prepared);
        let (told, next) = oneshot::channel::<Infallible>();
        let before = self.last_prepared.replace(next);
        self.running.spawn(async move {
            let tried =
                tokio::task::spawn_blocking(move || try_patch(&input, Path::new(&cwd))).await;
            let tried = tried.unwrap_or_else(|error| Err(error.to_string()));
            let patch = tried.map(|(prepared, patch)| {
                patches.lock().unwrap_or_else(PoisonError::into_inner).insert(key, prepared);
                patch
            });
            if let Some(before) = before {
                // Nothing is ever sent: it ends when the one before was told of, or was given up.
                let _ = before.await;
            }
            let _ = tell.send(Input::Prepared { key, patch }).await;
            drop(told);
            key
        });
    }

    pub(super) fn discard(&mut self, key: u64) {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    pub(super) fn start(
        &mut self,
        key: u64,
        work: Work,
        settings: Arc<Settings>,
        stop: CancellationToken,
    ) {
        let tell = self.tell.clone();
        let engine = self.engine.clone();
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        let sub_id = self.machine.task_id().unwrap_or_default().to_owned();
        let watcher = Watcher { tell: self.tell.clone(), sub_id };
        let giver = Giver { standing: self.standing.clone(), purse: self.purse.clone(), watcher };
        let doing = async move {
            match work {
                Work::Exec { command, cwd, timeout_ms, confinement } => {
                    let confinement = reach(&engine, &settings, confinement);
                    let exec = Exec {
                        argv: command,
                        cwd: PathBuf::from(cwd),
                        env_extra: Vec::new(),
                        timeout: Duration::from_millis(timeout_ms),
                        confinement,
                        limits: Limits::default(),
                    };
                    run(&engine, exec, key, &tell, stop).await
                }
                Work::Patch => match prepared {
                    Some(prepared) => apply(&engine, prepared).await,
                    None => failed("the patch was not prepared"),
                },
                Work::Undo(changes) => undo(&engine, changes).await,
                Work::Call(call) => self::call(&engine, settings, call, giver, stop).await,
            }
        };
        let tell = self.tell.clone();
        let working = async move {
            // Whatever happens in there, somebody waits for its end.
            let done = AssertUnwindSafe(doing).catch_unwind().await;
            let result =
                done.unwrap_or_else(|_| failed("this failed in a way that nobody foresaw"));
            let _ = tell.send(Input::Tool { key, event: ToolEvent::Finished(result) }).await;
            key
        };
        self.running.spawn(within(current(), working));
    }
}

fn failed(words: impl Into<String>) -> ToolResult {
    ToolResult { output: words.into(), ..ToolResult::default() }
}

fn succeeded(words: impl Into<String>) -> ToolResult {
    ToolResult { success: true, output: words.into(), ..ToolResult::default() }
}

fn try_patch(input: &str, cwd: &Path) -> Result<(Prepared, PreparedPatch), String> {
    let patch = sabir_engine::patch::parse(input).map_err(|error| error.to_string())?;
    let root = Root::open(cwd).map_err(|error| error.to_string())?;
    let plan = sabir_engine::patch::plan(&patch, &root).map_err(|error| error.to_string())?;
    // By their real names: the folder may be a link to one that may not be changed.
    let absolute = |path: &str| root.path().join(path).to_string_lossy().into_owned();
    let paths = plan.paths().map(|path| absolute(path.as_str())).collect();
    let (changes, unified_diff) = (plan.changes(), plan.unified_diff());
    let prepared = PreparedPatch { changes, unified_diff, paths };
    let shown = serde_json::to_string(&prepared.changes).map_or(0, |text| text.len());
    // It is shown and recorded in one piece before anything is changed.
    if shown.max(prepared.unified_diff.len()) > MOST_SHOWN {
        let limit = MOST_SHOWN / (1024 * 1024);
        return Err(format!(
            "the difference is more than {limit} MiB, which cannot be recorded: change fewer or \
             smaller files at a time"
        ));
    }
    Ok((Prepared { root: Arc::new(root), plan: Arc::new(plan) }, prepared))
}

async fn apply(engine: &Engine, prepared: Prepared) -> ToolResult {
    let journal = engine.home().join(PATCH_JOURNAL);
    let done = tokio::task::spawn_blocking(move || {
        let summary = prepared.plan.summary();
        let root = prepared.root.path().to_owned();
        files::keep(&prepared.plan, &journal)?;
        let applied = files::apply(&prepared.plan, &prepared.root, &journal)?;
        Ok::<_, ApplyError>((summary, Undo { root, applied }))
    });
    match done.await {
        Ok(Ok((summary, undo))) => {
            let undo = serde_json::to_value(undo).ok();
            ToolResult { undo, ..succeeded(summary) }
        }
        Ok(Err(error)) => failed(error.to_string()),
        Err(error) => failed(format!("the patch was not applied: {error}")),
    }
}

async fn undo(engine: &Engine, changes: Vec<serde_json::Value>) -> ToolResult {
    let journal = engine.home().join(PATCH_JOURNAL);
    let done = tokio::task::spawn_blocking(move || {
        let changes: Result<Vec<Undo>, _> =
            changes.into_iter().map(serde_json::from_value).collect();
        let changes =
            changes.map_err(|error| format!("what to take back cannot be read: {error}"))?;
        let paths = files::revert(changes, &journal).map_err(|error| error.to_string())?;
        let words: String = paths.iter().map(|path| format!("{path} is as it was\n")).collect();
        Ok::<_, String>(words)
    });
    match done.await {
        Ok(Ok(words)) => succeeded(words),
        Ok(Err(words)) => failed(words),
        Err(error) => failed(error.to_string()),
    }
}

/// What a command may touch.
pub(super) fn reach(
    engine: &Engine,
    settings: &Settings,
    confinement: sabir_policy::Confinement,
) -> Confinement {
    if confinement == sabir_policy::Confinement::Unconfined {
        return Confinement::FullAccess;
    }
    Confinement::of(
        &settings.sandbox_policy,
        Path::new(&settings.cwd),
        settings.tmpdir.as_deref().map(Path::new),
        &OwnState {
            folders: settings.own_state.iter().map(PathBuf::from).collect(),
            key_files: engine.shared.key_files.paths().to_vec(),
        },
    )
}

async fn run(
    engine: &Engine,
    exec: Exec,
    key: u64,
    tell: &mpsc::Sender<Input>,
    stop: CancellationToken,
) -> ToolResult {
    let (chunks, mut output) = mpsc::channel(64);
    let runner = &engine.shared.runner;
    let running = runner.run(exec, chunks, stop);
    let forward = async {
        while let Some(chunk) = output.recv().await {
            let stream = match chunk.stream {
                process::OutputStream::Stdout => OutputStream::Stdout,
                process::OutputStream::Stderr => OutputStream::Stderr,
            };
            let event = ToolEvent::Output { stream, chunk: chunk.text };
            if tell.send(Input::Tool { key, event }).await.is_err() {
                break;
            }
        }
    };
    let (finished, ()) = tokio::join!(running, forward);
    match finished {
        Ok(finished) => ToolResult {
            success: finished.exit_code == 0,
            output: process::for_model(&finished, Bound::default()),
            sandbox_denied: finished.sandbox_denied,
            undo: None,
            usage: None,
            exec: Some(ExecOutput {
                exit_code: finished.exit_code,
                stdout: finished.stdout,
                stderr: finished.stderr,
                duration_ms: finished.duration.as_millis() as u64,
                timed_out: finished.timed_out,
            }),
        },
        Err(error) => failed(error.to_string()),
    }
}

/// Something that only looks.
type LookWork = Box<dyn FnOnce(Look<'_>) -> Result<String, String> + Send>;

async fn call(
    engine: &Engine,
    settings: Arc<Settings>,
    call: ToolCall,
    giver: Giver,
    stop: CancellationToken,
) -> ToolResult {
    let cwd = PathBuf::from(&settings.cwd);
    let look = |work: LookWork| {
        let (key_files, stop) = (engine.shared.key_files.clone(), stop.clone());
        tokio::task::spawn_blocking(move || {
            let is_stopped = || stop.is_cancelled();
            work(Look { cwd: &cwd, key_files: &key_files, is_stopped: &is_stopped })
        })
    };
    let work = match call {
        ToolCall::SpawnAgent(spawn) => {
            return self::spawn(engine, settings, spawn, giver, stop).await;
        }
        ToolCall::ReadFile(read) => look(Box::new(move |look| tools::read_file(look, &read))),
        ToolCall::Search(search) => look(Box::new(move |look| tools::search(look, &search))),
        ToolCall::ListDir(list) => look(Box::new(move |look| tools::list_dir(look, &list))),
        ToolCall::External { name, arguments } => {
            return engine.shared.servers.call(&name, arguments, stop).await;
        }
        ToolCall::Shell(_) | ToolCall::ApplyPatch { .. } | ToolCall::UpdatePlan(_) => {
            return failed("this call is not run here");
        }
    };
    tokio::select! {
        done = work => match done {
            Ok(Ok(words)) => succeeded(words),
            Ok(Err(words)) => failed(words),
            Err(error) => failed(error.to_string()),
        },
        () = stop.cancelled() => failed("stopped"),
    }
}

/// An agent that hands work on.
struct Giver {
    standing: Standing,
    purse: Purse,
    watcher: Watcher,
}

/// Hands a task on, within what the agent itself was given.
async fn spawn(
    engine: &Engine,
    settings: Arc<Settings>,
    spawn: SpawnAgent,
    giver: Giver,
    stop: CancellationToken,
) -> ToolResult {
    let Giver { standing, purse, watcher } = giver;
    let deadline = standing.origin.deadline;
    let (share, deadline_secs) =
        match (purse.share(spawn.budget_tokens), time_left(deadline, spawn.deadline_secs)) {
            (Ok(share), Ok(secs)) => (share, secs),
            (Err(words), _) | (_, Err(words)) => return failed(words),
        };
    let request = SpawnRequest {
        task: spawn.task,
        skill: spawn.skill,
        to: spawn.to,
        budget_tokens: share.tokens,
        deadline_secs,
        within: bounds(&settings),
        origin: standing.origin.clone(),
        parent: settings.session_id.clone(),
        depth: standing.depth,
    };
    let spawner = engine.shared.spawner.get().filter(|spawner| spawner.takes(&request));
    if let Some(spawner) = spawner {
        let (news, heard) = mpsc::channel(8);
        let spawned = spawner.spawn(request, news, stop);
        let (Spawned { answer, tokens }, ()) = tokio::join!(spawned, pass_on(heard, watcher));
        share.used(tokens);
        let usage = Usage { output: tokens.unwrap_or(0), ..Usage::default() };
        return ToolResult { usage: Some(usage), ..said(answer) };
    }
    if request.skill.is_some() || request.to.is_some() {
        return failed("no other agents are known here: do this yourself, or name neither");
    }
    if standing.depth >= DEEPEST {
        return failed("TOO_DEEP: agents are nested too deeply: do this yourself");
    }
    let Delegated { answer, usage } =
        beside(engine, &settings, request, standing, watcher, stop).await;
    share.used(Some(usage.input.saturating_add(usage.output)));
    ToolResult { usage: Some(usage), ..said(answer) }
}

/// What an agent may do, and so whoever works for it.
fn bounds(settings: &Settings) -> Bounds {
    let sandbox = settings.sandbox_policy.clone();
    let mut bounds = Bounds::new(settings.approval_policy, sandbox, settings.cwd.clone());
    // One that waits for no answer is never given one.
    bounds.is_attended &= settings.approval_timeout_ms != Some(0);
    bounds
}

fn said(answer: Result<String, String>) -> ToolResult {
    match answer {
        Ok(answer) => succeeded(answer),
        Err(words) => failed(words),
    }
}

async fn pass_on(mut heard: mpsc::Receiver<String>, watcher: Watcher) {
    let Watcher { tell, sub_id } = watcher;
    while let Some(message) = heard.recv().await {
        let msg = EventMsg::BackgroundEvent { message };
        let _ = tell.send(Input::Tell { sub_id: sub_id.clone(), msg }).await;
    }
}

/// Gives a task to an agent in a session of its own. Nobody answers it, so what it would have to
/// ask for is denied to it.
async fn beside(
    engine: &Engine,
    settings: &Settings,
    request: SpawnRequest,
    standing: Standing,
    watcher: Watcher,
    stop: CancellationToken,
) -> Delegated {
    let configure = ConfigureSession {
        session_id: None,
        model: Some(settings.model.clone()),
        provider: Some(ProviderSettings::clone(&settings.provider)),
        cwd: Some(settings.cwd.clone()),
        approval_policy: Some(settings.approval_policy),
        sandbox_policy: Some(settings.sandbox_policy.clone()),
        instructions: Some(
            "You work for another agent, which sees only your last message.".to_owned(),
        ),
        effort: settings.effort,
        approval_timeout_ms: Some(0),
        context_window: settings.context_window,
    };
    let SpawnRequest { task, budget_tokens, deadline_secs, .. } = request;
    let connection = engine.connect_at(Standing {
        depth: standing.depth + 1,
        works_for: Some(settings.session_id.clone()),
        origin: Origin { max_tokens: budget_tokens, ..standing.origin },
    });
    let work = super::delegate::delegate(connection, configure, task, stop.clone(), Some(watcher));
    let Some(secs) = deadline_secs else { return work.await };
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => done,
        () = tokio::time::sleep(Duration::from_secs(secs)) => {
            // It is stopped, and heard to its end.
            stop.cancel();
            let Delegated { usage, .. } = work.await;
            Delegated { answer: Err("the time for this task is over".to_owned()), usage }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_cannot_be_recorded_is_refused_before_it_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let large = "a line of the file\n".repeat(MOST_SHOWN / 19 + 1);
        std::fs::write(dir.path().join("large"), large).unwrap();
        let patch = |what: &str| format!("*** Begin Patch\n{what}*** End Patch\n");
        let refused = try_patch(&patch("*** Delete File: large\n"), dir.path()).err().unwrap();
        assert!(refused.contains("more than 16 MiB, which cannot be recorded"), "{refused}");
        // A small difference in a large file is fine.
        let update = "*** Update File: large\n@@\n-a line of the file\n+another\n";
        try_patch(&patch(update), dir.path()).unwrap();
    }
}
