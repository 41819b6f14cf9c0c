//! What a running task holds.

use std::sync::Arc;

use sabir_policy::{AuditRow, Confinement};

use crate::items::Item;
use crate::protocol::{AbortReason, InputItem};
use crate::stream::{ModelFailure, Usage};
use crate::tools::ToolCall;

use super::input::ToolResult;
use super::{Changes, Settings};

/// Input that starts a task, now or later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Queued {
    pub(super) sub_id: String,
    pub(super) items: Vec<InputItem>,
    pub(super) last_response_id: Option<String>,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) sub_id: String,
    pub(super) kind: Kind,
    pub(super) turn: Turn,
    /// Input that joins before the next turn.
    pub(super) steer: Vec<Queued>,
    /// The patches since the last turn, as unified diffs.
    pub(super) diffs: Vec<String>,
    /// Calls of a response that broke, as the model made them. They were run, and are not run again
    /// when the model repeats them.
    pub(super) begun: Vec<BegunCall>,
    /// The thread was compacted, and no response has shown yet that this helped.
    pub(super) compacted: bool,
    /// How many of the oldest items a summary leaves out, because the model could not hold them.
    pub(super) left_out: usize,
    /// Among those that change files; given when the first file is changed.
    pub(super) number: Option<u64>,
    pub(super) last_message: Option<String>,
    /// Failures since the last whole response.
    pub(super) request_failures: u32,
    pub(super) stream_failures: u32,
    pub(super) aborting: Option<Aborting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Regular,
    /// Beside the thread; only its result joins it.
    Review,
    Compact,
    UserShell,
    Undo,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Aborting {
    pub(super) reason: AbortReason,
    /// Nothing is waited for beyond this.
    pub(super) until: u64,
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) purpose: Purpose,
    /// Those that it was begun with.
    pub(super) settings: Arc<Settings>,
    /// The request that is being answered.
    pub(super) attempt: Option<u64>,
    pub(super) retry_at: Option<u64>,
    /// Whole items of a response that is not whole. They count once it is, or once a call among
    /// them has begun; a broken response without calls is asked for again from the start.
    pub(super) held: Vec<Item>,
    pub(super) calls: Vec<Call>,
    /// The model made a call again that was run already; what came of it is in the thread.
    pub(super) has_repeated: bool,
    pub(super) response: Option<(String, Option<Usage>)>,
    /// The response broke after calls had begun: they end first.
    pub(super) broken: Option<ModelFailure>,
    /// What was written for a summary.
    pub(super) summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BegunCall {
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Answer,
    /// The response becomes the summary that replaces the thread.
    Summarize,
}

#[derive(Debug)]
pub(super) struct Call {
    /// Unique in the session, unlike the ids that models give.
    pub(super) key: u64,
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) call: ToolCall,
    /// As the model made it.
    pub(super) made: Option<BegunCall>,
    /// Where it runs, absolute.
    pub(super) cwd: String,
    pub(super) state: CallState,
    pub(super) changes: Changes,
    pub(super) unified_diff: String,
    pub(super) paths: Vec<String>,
    pub(super) auto_approved: bool,
    /// What the gate said last.
    pub(super) judged: Option<Box<AuditRow>>,
    /// What came of it in the sandbox, while it is asked whether to run it again without.
    pub(super) confined_result: Option<ToolResult>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallState {
    /// A patch is being tried.
    Preparing,
    Asking {
        subject: Subject,
        /// The name of the question: that of the call, unless another question had it.
        asked_as: String,
        deadline: Option<u64>,
        confinement: Confinement,
    },
    /// May start, as soon as nothing stands in the way.
    Ready {
        confinement: Confinement,
    },
    Running {
        confinement: Confinement,
    },
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Exec,
    Patch,
}

impl Task {
    pub(super) fn new(sub_id: String, kind: Kind, settings: Arc<Settings>) -> Self {
        Self {
            sub_id,
            kind,
            turn: Turn::new(Purpose::Answer, settings),
            steer: Vec::new(),
            diffs: Vec::new(),
            begun: Vec::new(),
            compacted: false,
            left_out: 0,
            number: None,
            last_message: None,
            request_failures: 0,
            stream_failures: 0,
            aborting: None,
        }
    }
}

impl Turn {
    pub(super) fn new(purpose: Purpose, settings: Arc<Settings>) -> Self {
        Self {
            purpose,
            settings,
            attempt: None,
            retry_at: None,
            held: Vec::new(),
            calls: Vec::new(),
            has_repeated: false,
            response: None,
            broken: None,
            summary: String::new(),
        }
    }

    pub(super) fn call(&mut self, key: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.key == key)
    }

    pub(super) fn is_running(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.state, CallState::Running { .. }))
    }

    pub(super) fn is_settled(&self) -> bool {
        self.calls.iter().all(|call| call.state == CallState::Done)
    }
}
