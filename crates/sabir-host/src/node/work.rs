//! Tasks that run: each in a task of its own, with a line on which it can be stopped. It knows how a
//! skill is driven, and nothing of what one does.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sabir_ldp::{Finished, Refusal, SkillName, TaskEvent, TaskKey, TaskOrder};
use sabir_telemetry::{TraceContext, current, within};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::criteria::unmet;
use super::skill::{Broken, News, signable};
use super::watched::Watched;

#[derive(Debug)]
pub(super) struct Running {
    pub(super) skill: SkillName,
    /// The next start goes on with it.
    pub(super) lasts: bool,
    stop: CancellationToken,
    cause: OnceLock<Cause>,
    /// Set when nothing of it is left.
    pub(super) over: CancellationToken,
}

/// Why a task is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Nobody waits for it.
    Cancelled,
    /// It has used up what it may; what there was is still wanted.
    Violated,
    /// The node goes away.
    Shutdown,
}

impl Running {
    fn new(skill: SkillName, lasts: bool) -> Self {
        let (stop, over) = (CancellationToken::new(), CancellationToken::new());
        Self { skill, lasts, stop, cause: OnceLock::new(), over }
    }

    pub(super) fn stop(&self, cause: Cause) {
        // The first reason is the one that it is told for.
        let _ = self.cause.set(cause);
        self.stop.cancel();
    }
}

impl Core {
    /// Starts a task that was ordered.
    pub(super) fn begin(self: &Arc<Self>, order: TaskOrder, trace: Option<TraceContext>) {
        let lasts = self.skills.get(&order.skill).is_some_and(|skill| skill.lasts());
        let running = Arc::new(Running::new(order.skill.clone(), lasts));
        self.running().insert(order.key.clone(), Arc::clone(&running));
        if self.closed.get().is_some() {
            running.stop(Cause::Shutdown);
        }
        let core = Arc::clone(self);
        self.runtime.spawn(async move {
            let mut watched = Watched::begin(&order, &core.card.delegate_id, trace);
            let (key, context) = (order.key.clone(), watched.context());
            let work = async {
                watched.started();
                if let Some(event) = core.work(order, &running).await {
                    watched.over(&event);
                    core.tell(&key, event).await;
                }
            };
            within(context, work).await;
            core.running().remove(&key);
            running.over.cancel();
        });
    }

    /// Does a task, and says what came of it. Nothing did where the next start goes on with it.
    async fn work(self: &Arc<Self>, order: TaskOrder, running: &Running) -> Option<TaskEvent> {
        let key = order.key.clone();
        let criteria = order.contract.as_ref().map(|contract| contract.success_criteria.clone());
        let done = match self.skills.get(&order.skill) {
            Some(_) if running.stop.is_cancelled() => Err(Broken::new("stopped before it began")),
            Some(skill) => {
                let (news, heard) = News::new(running.stop.clone());
                // In a task of its own: what panics there fails there.
                let doing = tokio::spawn(within(current(), skill.run(order, news)));
                self.watch(&key, doing, heard, &running.stop).await
            }
            None => Err(Broken::new("this node does not know how to do it")),
        };
        let event = match done {
            Ok(finished) => self.finished(finished, criteria.unwrap_or_default()).await,
            Err(Broken { mut error, usage }) => {
                error.partial_output = error.partial_output.map(signable);
                TaskEvent::Failed { error: *error, usage }
            }
        };
        match (running.cause.get(), event) {
            // The journal has it as one that runs, and so the next start finds it.
            (Some(Cause::Shutdown), TaskEvent::Failed { .. }) if running.lasts => None,
            (Some(Cause::Shutdown), TaskEvent::Failed { error, usage }) => {
                let mut interrupted = Refusal::Interrupted
                    .error("the node was stopped while the task ran, and ended it");
                interrupted.retryable = true;
                interrupted.partial_output = error.partial_output;
                Some(TaskEvent::Failed { error: interrupted, usage })
            }
            (_, event) => Some(event),
        }
    }

    /// Passes on what a task tells, until it is done.
    async fn watch(
        self: &Arc<Self>,
        key: &TaskKey,
        mut doing: JoinHandle<Result<Finished, Broken>>,
        mut heard: mpsc::Receiver<TaskEvent>,
        stop: &CancellationToken,
    ) -> Result<Finished, Broken> {
        let done = loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break None,
                Some(event) = heard.recv() => self.tell(key, event).await,
                done = &mut doing => break Some(done),
            }
        };
        let done = match done {
            Some(done) => Ok(done),
            // It is heard to its end: what it used up counts.
            None => {
                timeout(LAST_WORDS, async {
                    loop {
                        tokio::select! {
                            biased;
                            done = &mut doing => break done,
                            Some(event) = heard.recv() => {
                                if let TaskEvent::Usage(_) = event {
                                    self.tell(key, event).await;
                                }
                            }
                        }
                    }
                })
                .await
            }
        };
        heard.close();
        match done {
            Ok(done) => {
                while let Some(event) = heard.recv().await {
                    self.tell(key, event).await;
                }
                done.unwrap_or_else(|error| Err(died(error)))
            }
            Err(_) => {
                doing.abort();
                Err(Broken::new("it did not stop when it was told to"))
            }
        }
    }

    async fn finished(&self, mut finished: Finished, criteria: Vec<String>) -> TaskEvent {
        finished.output = signable(finished.output);
        if !criteria.is_empty() {
            let output = finished.output.clone();
            let checked = tokio::task::spawn_blocking(move || unmet(&criteria, &output)).await;
            match checked {
                Ok(unmet) => finished.unmet.extend(unmet),
                Err(error) => finished.unmet.push(format!("could not be checked: {error}")),
            }
        }
        TaskEvent::Finished(Box::new(finished))
    }
}

/// Its words stay here: they are about this program and not about the task.
fn died(error: JoinError) -> Broken {
    match error.is_panic() {
        true => Broken::new("the skill failed in a way that it should not"),
        false => Broken::new("the skill was ended"),
    }
}

/// Longer than a process group takes to die. Then the machine has given up on it, too.
const LAST_WORDS: Duration = Duration::from_secs(20);
