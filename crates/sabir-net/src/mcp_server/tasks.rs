//! `delegate` and `run_task`: a task is handed in, and waited for as long as the caller waits.

use std::time::Duration;

use futures_util::StreamExt as _;
use sabir_host::{Deed, Standing};
use sabir_ldp::Strategy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::{Call, ToolError};
use crate::errands::{
    ErrandsError, Movement, OrderVisit, Placed, PlacedState, Placement, Placer, Reach, Step,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DelegateInput {
    /// What is to be done, in words.
    task: String,
    /// What belongs to it: an object for the fields of the skill's input.
    #[serde(default)]
    input: Option<Value>,
    /// What the agent has to know how to do. Can be left out where only one skill is offered.
    #[serde(default)]
    skill: Option<String>,
    /// Who may do it: names of this node's own delegates, or ids or addresses of agents that a person
    /// made known to it. Without any, all of these.
    #[serde(default)]
    to: Vec<String>,
    /// What counts most.
    #[serde(default)]
    strategy: Weighing,
    /// What it may cost, in tokens.
    #[serde(default)]
    budget_tokens: Option<u64>,
    /// After this many seconds the result is worth nothing.
    #[serde(default)]
    #[schemars(range(min = 1))]
    deadline_secs: Option<u64>,
    /// How long to wait for it; afterwards it goes on, and can be asked for with run_task.
    #[serde(default)]
    wait_secs: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Weighing {
    Quality,
    Cost,
    Latency,
    #[default]
    Balanced,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunInput {
    /// What is to be done, in words. Either this or `id` is needed.
    #[serde(default)]
    task: Option<String>,
    /// What belongs to it.
    #[serde(default)]
    input: Option<Value>,
    /// Which skill of this node is meant.
    #[serde(default)]
    skill: Option<String>,
    /// A task that was handed in before.
    #[serde(default)]
    id: Option<String>,
    /// With `id`: end the task.
    #[serde(default)]
    cancel: bool,
    /// What it may cost, in tokens.
    #[serde(default)]
    budget_tokens: Option<u64>,
    /// After this many seconds the result is worth nothing.
    #[serde(default)]
    #[schemars(range(min = 1))]
    deadline_secs: Option<u64>,
    /// How long to wait for it; afterwards it goes on, and can be asked for by its id.
    #[serde(default)]
    wait_secs: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskOutput {
    /// Under which it can be asked for again.
    id: String,
    /// `running`, `waiting` (for a person of the node), `done`, `failed`, `cancelled` or
    /// `interrupted`.
    state: String,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TaskFault>,
    /// Who did it, in which mode, at what cost and with which provenance.
    facts: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TaskFault {
    code: String,
    message: String,
}

pub(super) async fn delegate(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: DelegateInput = call.read(&arguments)?;
    let task = said(input.task)?;
    let hosts: Vec<String> = input.to.iter().filter_map(|to| host(to)).collect();
    call.pass("serve.delegate", &arguments, Deed::Spawn { hosts: &hosts }).await?;
    let placement = Placement {
        input: input.input,
        skill: input.skill,
        to: input.to,
        strategy: match input.strategy {
            Weighing::Quality => Strategy::Quality,
            Weighing::Cost => Strategy::Cost,
            Weighing::Latency => Strategy::Latency,
            Weighing::Balanced => Strategy::Balanced,
        },
        budget_tokens: input.budget_tokens,
        deadline_secs: input.deadline_secs,
        ..placement(call, task, Reach::Anywhere)
    };
    drop(arguments);
    let id = call.kit.errands.place(placement).await?;
    wait(call, id, input.wait_secs, Leave::Cancels).await
}

pub(super) async fn run_task(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: RunInput = call.read(&arguments)?;
    if let Some(id) = input.id {
        if input.task.is_some() || input.input.is_some() || input.skill.is_some() {
            return Err(ToolError::arguments("either `task` or `id`, not both".to_owned()));
        }
        call.pass("serve.run_task", &arguments, Deed::Read).await?;
        let placed = call.kit.errands.get(&id).await?;
        if !placed.is_of(Placer::Mcp, &call.caller.name) {
            // A task of somebody else is none.
            return Err(ErrandsError::Unknown.into());
        }
        if input.cancel {
            call.kit.errands.cancel(&id).await?;
        }
        drop(arguments);
        // Who only looked leaves it as it is.
        return wait(call, id, input.wait_secs, Leave::GoesOn).await;
    }
    if input.cancel {
        return Err(ToolError::arguments("`cancel` needs the `id` of a task".to_owned()));
    }
    let task = said(input.task.unwrap_or_default())?;
    call.pass("serve.run_task", &arguments, Deed::Spawn { hosts: &[] }).await?;
    let placement = Placement {
        input: input.input,
        skill: input.skill,
        budget_tokens: input.budget_tokens,
        deadline_secs: input.deadline_secs,
        ..placement(call, task, Reach::Here)
    };
    drop(arguments);
    let id = call.kit.errands.place(placement).await?;
    wait(call, id, input.wait_secs, Leave::Cancels).await
}

fn placement(call: &Call<'_>, task: String, reach: Reach) -> Placement {
    Placement {
        task,
        input: None,
        skill: None,
        to: Vec::new(),
        reach,
        strategy: Strategy::default(),
        budget_tokens: None,
        deadline_secs: None,
        by: Placer::Mcp,
        visit: OrderVisit {
            is_own: call.caller.standing == Standing::Own,
            ..OrderVisit::of(&call.caller.name)
        },
        key: None,
    }
}

/// What becomes of the task of a call that its client gives up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    Cancels,
    GoesOn,
}

async fn wait(
    call: &Call<'_>,
    id: String,
    wait_secs: Option<u64>,
    leave: Leave,
) -> Result<Value, ToolError> {
    let limits = &call.kit.limits;
    let patience = wait_secs.map_or(limits.wait, Duration::from_secs).min(limits.longest_wait);
    // Whoever waits keeps nobody else from being answered.
    call.leave_place();
    let mut steps = call.kit.errands.follow(&id, 0);
    let late = tokio::time::sleep(patience);
    tokio::pin!(late);
    loop {
        let step = tokio::select! {
            biased;
            () = call.stop.cancelled() => {
                if leave == Leave::Cancels && call.is_given_up().await {
                    // It may have ended meanwhile, which is as good.
                    let _ = call.kit.errands.cancel(&id).await;
                }
                return Err(ToolError::cancelled());
            }
            step = steps.next() => step,
            () = &mut late => break,
        };
        match step {
            Some(Ok(Step { what: Movement::Progress { message: Some(message), .. }, .. })) => {
                call.tell(message).await;
            }
            Some(Ok(Step { what: Movement::Progress { message: None, .. }, .. })) => {}
            Some(Ok(Step { what: Movement::Waiting { message }, .. })) => {
                let why = message.unwrap_or_default();
                call.tell(format!("waits for a person of the node: {why}")).await;
            }
            Some(Ok(Step { what: Movement::Ended(placed), .. })) => return shown(*placed),
            Some(Err(error)) => return Err(error.into()),
            None => break,
        }
    }
    shown(call.kit.errands.get(&id).await?)
}

/// A task that did not end well is an answer, too: the caller sees how far it came.
fn shown(placed: Placed) -> Result<Value, ToolError> {
    let Placed { id, state, output, error, facts, .. } = placed;
    let error = error.map(|it| TaskFault { code: it.code, message: it.message });
    let output = TaskOutput { id, state: state.word().to_owned(), output, error, facts };
    match state {
        PlacedState::Failed | PlacedState::Cancelled | PlacedState::Interrupted => {
            Err(ToolError::shown(state.word(), json!(output)))
        }
        PlacedState::Running | PlacedState::Waiting | PlacedState::Done => Ok(json!(output)),
    }
}

fn said(task: String) -> Result<String, ToolError> {
    match task.trim().is_empty() {
        true => Err(ToolError::arguments("there is nothing to do: say it in `task`".to_owned())),
        false => Ok(task),
    }
}

/// The host of an address, for the policy file.
fn host(to: &str) -> Option<String> {
    let (_, rest) = to.split_once("://")?;
    let url = reqwest::Url::parse(&format!("http://{rest}")).ok()?;
    url.host_str().map(str::to_owned)
}
