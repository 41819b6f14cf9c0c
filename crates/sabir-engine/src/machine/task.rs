//! What a running task holds.

use crate::items::Item;
use crate::protocol::{AbortReason, InputItem};
use crate::stream::{ModelFailure, Usage};
use crate::tools::ToolCall;

use super::Changes;

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
    pub(super) steer: Vec<Vec<InputItem>>,
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

#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) purpose: Purpose,
    /// The request that is being answered.
    pub(super) attempt: Option<u64>,
    pub(super) retry_at: Option<u64>,
    /// Whole items of a response that is not whole. They count once it is, or once a call among
    /// them has begun; a broken response without calls is asked for again from the start.
    pub(super) held: Vec<Item>,
    pub(super) calls: Vec<Call>,
    pub(super) response: Option<(String, Option<Usage>)>,
    /// The response broke after calls had begun: they end first.
    pub(super) broken: Option<ModelFailure>,
    /// What was written for a summary.
    pub(super) summary: String,
    /// The patches of this turn, as unified diffs.
    pub(super) diffs: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    #[default]
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
    /// Where it runs, absolute.
    pub(super) cwd: String,
    pub(super) state: CallState,
    pub(super) changes: Changes,
    pub(super) unified_diff: String,
    pub(super) paths: Vec<String>,
    pub(super) auto_approved: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallState {
    /// A patch is being tried.
    Preparing,
    Asking {
        subject: Subject,
        deadline: Option<u64>,
        confined: bool,
    },
    /// May start, as soon as nothing stands in the way.
    Ready {
        confined: bool,
    },
    Running {
        confined: bool,
    },
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Exec,
    Patch,
}

impl Task {
    pub(super) fn new(sub_id: String, kind: Kind) -> Self {
        Self {
            sub_id,
            kind,
            turn: Turn::default(),
            steer: Vec::new(),
            last_message: None,
            request_failures: 0,
            stream_failures: 0,
            aborting: None,
        }
    }
}

impl Turn {
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
