//! What those who run a node see of it: lines, counters and steps of traces. Nothing depends on it.

use std::time::Duration;

use sabir_ldp::{Body, DelegateId, Ending, LdpError, Refusal, TaskEvent, TaskOrder};
use sabir_telemetry::{Running, Span, SpanKind, TraceContext, metrics, topic};
use tokio::time::Instant;

use super::answer::{About, Answer};
use super::core::{Closed, Core};

/// A task while it runs.
pub(super) struct Watched {
    span: Span,
    began: Instant,
    task: String,
    from: String,
    skill: String,
    delegate: String,
    _running: Running,
}

impl Watched {
    pub(super) fn begin(
        order: &TaskOrder,
        delegate: &DelegateId,
        trace: Option<TraceContext>,
    ) -> Self {
        let mut span = Span::after(trace, "task", SpanKind::Internal);
        let task = order.key.id.to_string();
        let (from, skill) = (order.key.owner.to_string(), order.skill.to_string());
        let delegate = delegate.to_string();
        span.set("sabir.task_id", task.as_str());
        span.set("sabir.skill", skill.as_str());
        span.set("sabir.delegate_id", delegate.as_str());
        let _running = Running::begin(&metrics().tasks_running);
        Self { span, began: Instant::now(), task, from, skill, delegate, _running }
    }

    pub(super) fn context(&self) -> Option<TraceContext> {
        self.span.context()
    }

    pub(super) fn started(&self) {
        let Self { task, from, skill, delegate, .. } = self;
        tracing::info!(target: topic::TASK, task, from, skill, delegate, "started");
    }

    pub(super) fn over(&mut self, event: &TaskEvent) {
        let time = self.began.elapsed();
        metrics().task_time.observe(time);
        let (duration_ms, error) = (millis(time), error_of(event));
        let Self { task, from, skill, delegate, span, .. } = self;
        match error {
            None => {
                tracing::info!(target: topic::TASK, task, from, skill, delegate, duration_ms, "ended");
            }
            Some(LdpError { code, .. }) => {
                span.fail(code);
                tracing::warn!(
                    target: topic::TASK, task, from, skill, delegate, duration_ms, code, "failed"
                );
            }
        }
    }
}

fn error_of(event: &TaskEvent) -> Option<&LdpError> {
    match event {
        TaskEvent::Failed { error, .. } => Some(error),
        TaskEvent::Progress { .. }
        | TaskEvent::WaitingForApproval { .. }
        | TaskEvent::Usage(_)
        | TaskEvent::Finished(_) => None,
    }
}

/// A task that took no time. There may be thousands in a second.
pub(super) fn done_at_once(order: &TaskOrder) {
    metrics().task_time.observe(Duration::ZERO);
    let (task, from, skill) =
        (order.key.id.as_str(), order.key.owner.as_str(), order.skill.as_str());
    tracing::debug!(target: topic::TASK, task, from, skill, "done at once");
}

/// How a task ended, by its own record.
pub(super) fn ended(ending: &Ending) {
    let outcome = match ending {
        Ending::Result { .. } => "completed",
        Ending::Failed(error) => match Refusal::from_code(&error.code) {
            Some(Refusal::Cancelled) => "cancelled",
            Some(Refusal::Interrupted) => "interrupted",
            _ => "failed",
        },
    };
    metrics().tasks_ended.add(outcome, 1);
}

/// A message was answered, or refused with a code.
pub(super) fn answered(about: &About, answer: &Answer) {
    if !answer.is_refused {
        metrics().messages.add(about.kind_name().unwrap_or(UNREADABLE), "ok");
        return;
    }
    let code = match &answer.envelope.body {
        Body::TaskFailed(failure) => Some(failure.error.code.as_str()),
        Body::SessionReject(rejection) => rejection.error.as_ref().map(|error| error.code.as_str()),
        _ => None,
    };
    refused(about, code.unwrap_or("other"));
}

pub(super) fn refused(about: &About, code: &str) {
    let kind = about.kind_name().unwrap_or(UNREADABLE);
    metrics().messages.add(kind, code);
    let from = about.from.as_ref().map_or("nobody", |from| from.as_str());
    tracing::info!(target: topic::DOOR, from, kind, code, "message refused");
}

/// A node can write nothing down any more.
pub(super) fn failed(core: &Core) {
    if let Some(Closed::Failed(why)) = core.closed.get() {
        let delegate = core.card.delegate_id.as_str();
        tracing::error!(target: topic::NODE, delegate, why, "nothing can be written down any more");
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const UNREADABLE: &str = "unreadable";

#[cfg(test)]
mod tests {
    use sabir_ldp::MessageType;
    use sabir_telemetry::{MESSAGE_OUTCOMES, MESSAGE_TYPES};

    use super::*;

    /// A code that is not in the list would be counted among others.
    #[test]
    fn every_code_and_every_type_has_a_counter() {
        for refusal in Refusal::ALL {
            assert!(MESSAGE_OUTCOMES.contains(&refusal.code()), "{}", refusal.code());
        }
        for kind in MessageType::ALL {
            assert!(MESSAGE_TYPES.contains(&kind.wire_name()), "{kind}");
        }
    }
}
