//! Plans: a step that is done does not become undone.

use std::borrow::Cow;
use std::collections::HashMap;

use sabir_base::{Diagnostic, Span};

use super::envelope::{AgentId, name};
use super::shown;
use crate::codes;
use crate::typed::StepStatus;
use crate::view::{Block, Node};

/// The two who share a plan.
pub(super) type Pair = (AgentId, AgentId);

/// Whose plan, which of their plans, which step.
type StepKey<'a> = (Pair, u32, Cow<'a, str>);

/// The steps that have been seen, by the two who share the plan.
#[derive(Debug, Default)]
pub(super) struct Plans<'a> {
    /// Counts the plans of two agents: a new request with a plan starts a new one.
    current: HashMap<Pair, u32>,
    steps: HashMap<StepKey<'a>, Step<'a>>,
}

#[derive(Clone, Debug)]
struct Step<'a> {
    task: Option<Cow<'a, str>>,
    status: StepStatus,
    span: Span,
}

impl<'a> Plans<'a> {
    /// From here on their plans are other ones.
    pub(super) fn start(&mut self, pair: Pair) {
        *self.current.entry(pair).or_default() += 1;
    }

    pub(super) fn feed(&mut self, pair: Pair, plan: Block<'a>, found: &mut Vec<Diagnostic>) {
        let current = self.current.get(&pair).copied().unwrap_or_default();
        for step in plan.body.children() {
            let field = |key: &str| step.fields().find(|field| field.is(key)).map(|it| it.value);
            let Some(id) = field("i").and_then(name) else { continue };
            let Some(word) = field("s") else { continue };
            let Some(status) = word.as_text().and_then(|word| StepStatus::from_word(&word)) else {
                continue;
            };
            let task = field("t").and_then(Node::as_text);
            let next = Step { task, status, span: word.span() };
            let shown_id = shown(&id);
            let before = self.steps.insert((pair, current, id), next.clone());
            // Another task under the same number is another step.
            let Some(before) = before.filter(|before| before.task == next.task) else { continue };
            if rank(status) < rank(before.status) {
                let (from, to) = (in_words(before.status), in_words(status));
                let message = format!("step {shown_id} goes back from {from} to {to}");
                found.push(
                    Diagnostic::warning(codes::PLAN_BACKWARDS, next.span, message)
                        .label(before.span, format!("it was {from} here"))
                        .help("give work that starts again a step of its own"),
                );
            }
        }
    }
}

/// How far a step has come.
fn rank(status: StepStatus) -> u8 {
    match status {
        StepStatus::Pending => 0,
        StepStatus::InProgress => 1,
        StepStatus::Completed | StepStatus::Cancelled => 2,
    }
}

fn in_words(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "pending",
        StepStatus::InProgress => "in progress",
        StepStatus::Completed => "completed",
        StepStatus::Cancelled => "cancelled",
    }
}
