//! How tasks begin and end.

use std::sync::Arc;

use super::task::{Aborting, Kind, Queued, Task};
use super::thread::Record;
use super::{Input, MOST_QUEUED, Open, Output, TOO_MUCH_QUEUED};
use crate::items::{Content, Item, Role};
use crate::protocol::{AbortReason, EventMsg, InputItem, InputMode, Op, Submission};

/// A killed process is gone within milliseconds. One that the kernel cannot end must not hold the
/// session for ever.
const ABORT_PATIENCE_MS: u64 = 5_000;

/// The words that the spec gives for an interrupted task.
const INTERRUPTED: &str = "interrupted";

const REVIEW: &str = "Look over the changes in this workspace (the uncommitted ones, if there are any, else the last commit). \
Report faults that matter: wrong results, lost data, security, races, broken interfaces. \
For each: the file and line, what goes wrong, and how to mend it. Say so if you find none. Change nothing.";

impl Open {
    pub(super) fn user_input(&mut self, input: Queued, mode: InputMode, now: u64) {
        if let Err(words) = self.check_input(&input, mode) {
            return self.fail(&input.sub_id, &words);
        }
        let aborting = self.is_aborting();
        let waits_for_settings =
            self.deferred.iter().any(|input| matches!(input, Input::Configure { .. }));
        match (&mut self.task, mode) {
            (None, _) => self.start(input, now),
            // It belongs to the session that is about to begin.
            (Some(_), InputMode::Steer | InputMode::Queue) if waits_for_settings => {
                if self.deferred.len() >= MOST_QUEUED {
                    return self.fail(&input.sub_id, TOO_MUCH_QUEUED);
                }
                self.deferred.push_back(input.into_submission(mode));
            }
            (Some(task), InputMode::Steer) if !aborting && task.can_be_steered() => {
                if task.steer.len() >= MOST_QUEUED {
                    return self.fail(&input.sub_id, TOO_MUCH_QUEUED);
                }
                task.steer.push(input);
                // An answer that was just completed goes on with what was said.
                self.settle(now);
            }
            (Some(_), InputMode::Steer | InputMode::Queue) => {
                if self.queue.len() >= MOST_QUEUED {
                    return self.fail(&input.sub_id, TOO_MUCH_QUEUED);
                }
                self.queue.push_back(input);
            }
            (Some(_), InputMode::Replace) => {
                self.defer(input.into_submission(mode), AbortReason::Replaced, now);
            }
        }
    }

    /// Has an input wait until the running task is gone. What waited to take its place before does
    /// not get it.
    pub(super) fn defer(&mut self, input: Input, reason: AbortReason, now: u64) {
        self.drop_deferred(reason);
        if self.deferred.len() >= MOST_QUEUED
            && let Input::Submit(Submission { id, .. }) | Input::Configure { sub_id: id, .. } =
                &input
        {
            return self.fail(id, TOO_MUCH_QUEUED);
        }
        self.deferred.push_back(input);
        self.abort(reason, now);
    }

    fn check_input(&self, input: &Queued, mode: InputMode) -> Result<(), String> {
        let says_something = input.items.iter().any(|item| match item {
            InputItem::Text { text } => !text.trim().is_empty(),
            InputItem::Image { .. } | InputItem::LocalImage { .. } => true,
        });
        if !says_something {
            return Err("user_input says nothing: give it items with text".to_owned());
        }
        match &input.last_response_id {
            Some(_) if mode == InputMode::Steer && self.task.is_some() => {
                Err("steer joins the running task and cannot go back to a response".to_owned())
            }
            Some(id) if !self.thread.knows(id) => {
                Err(format!("no response {id:?} is known here: turn_complete names those that are"))
            }
            _ => Ok(()),
        }
    }

    /// Starts the task that input asks for.
    pub(super) fn start(&mut self, input: Queued, now: u64) {
        self.begin(&input.sub_id, Kind::Regular);
        if let Some(id) = input.last_response_id
            && !self.thread.stands_at_the_end_of(&id)
        {
            self.record(Record::Branch { after: Some(id) });
        }
        self.close_open_calls();
        self.record_item(user_message(input.items));
        self.next_turn(now);
    }

    /// Starts a task that is not about input.
    pub(super) fn start_other(&mut self, sub_id: String, op: Op, now: u64) {
        match op {
            Op::Compact => {
                self.begin(&sub_id, Kind::Compact);
                self.summarize(now);
            }
            Op::Review { prompt } => {
                self.begin(&sub_id, Kind::Review);
                self.record(Record::AsideBegin);
                let text =
                    prompt.map_or_else(|| REVIEW.to_owned(), |it| format!("{REVIEW}\n\n{it}"));
                self.record_item(Item::user(text));
                self.next_turn(now);
            }
            Op::RunUserShellCommand { command } => {
                if command.trim().is_empty() || command.contains('\0') {
                    return self
                        .fail(&sub_id, "run_user_shell_command has no command that could be run");
                }
                self.begin(&sub_id, Kind::UserShell);
                self.start_user_shell(&sub_id, command, now);
            }
            Op::Undo => {
                let Some((last, _)) = self.changes.last() else {
                    return self
                        .fail(&sub_id, "no task of this session has changed files by a patch");
                };
                let of_last = self.changes.iter().rev().take_while(|(task, _)| task == last);
                let changes = of_last.map(|(_, undo)| undo.clone()).collect();
                self.begin(&sub_id, Kind::Undo);
                self.start_undo(&sub_id, changes);
            }
            Op::ConfigureSession(_)
            | Op::UserInput { .. }
            | Op::Interrupt
            | Op::ExecApproval { .. }
            | Op::PatchApproval { .. }
            | Op::OverrideTurnContext { .. }
            | Op::ListTools
            | Op::ListApprovals
            | Op::RevokeApproval { .. }
            | Op::GetHistory
            | Op::Shutdown => {}
        }
    }

    fn begin(&mut self, sub_id: &str, kind: Kind) {
        self.task = Some(Task::new(sub_id.to_owned(), kind, Arc::clone(&self.settings)));
        let context_window = self.settings.context_window;
        self.emit(sub_id, EventMsg::TaskStarted { context_window });
    }

    pub(super) fn interrupt(&mut self, sub_id: &str, now: u64) {
        self.drop_queue(AbortReason::Interrupted);
        self.drop_deferred(AbortReason::Interrupted);
        if self.task.is_some() {
            self.abort(AbortReason::Interrupted, now);
        } else {
            let message = "no task is running: nothing was interrupted".to_owned();
            self.emit(sub_id, EventMsg::Warning { message });
        }
    }

    /// Who stops a task does not want the next one.
    pub(super) fn drop_queue(&mut self, reason: AbortReason) {
        for queued in std::mem::take(&mut self.queue) {
            self.emit(&queued.sub_id, EventMsg::TurnAborted { reason });
        }
    }

    /// What waits to take the place of an aborted task ends as that task does.
    fn drop_deferred(&mut self, reason: AbortReason) {
        let deferred = std::mem::take(&mut self.deferred);
        let (dropped, kept): (Vec<_>, Vec<_>) = deferred.into_iter().partition(starts_a_task);
        self.deferred = kept.into();
        for input in dropped {
            let Input::Submit(Submission { id, .. }) = input else { continue };
            self.tell_aborted(&id, reason);
        }
    }

    fn tell_aborted(&mut self, sub_id: &str, reason: AbortReason) {
        self.emit(sub_id, EventMsg::TurnAborted { reason });
        if reason == AbortReason::Interrupted {
            self.fail(sub_id, INTERRUPTED);
        }
    }

    /// Ends the task as soon as what it started is stopped.
    pub(super) fn abort(&mut self, reason: AbortReason, now: u64) {
        let Some(task) = &mut self.task else { return };
        if task.aborting.is_none() {
            task.aborting = Some(Aborting { reason, until: now + ABORT_PATIENCE_MS });
            let turn = &mut task.turn;
            if let Some(attempt) = turn.attempt.take() {
                self.out.push_back(Output::HangUp { attempt });
            }
            turn.retry_at = None;
            // What was shown as said stays said.
            let held = std::mem::take(&mut turn.held);
            let is_answer = turn.purpose == super::task::Purpose::Answer;
            self.stop_calls(now);
            if is_answer {
                held.into_iter().for_each(|item| self.record_item(item));
            }
        }
        self.finish_abort_if_stopped(now);
    }

    pub(super) fn finish_abort_if_stopped(&mut self, now: u64) {
        let Some(task) = &self.task else { return };
        let Some(aborting) = task.aborting else { return };
        if task.turn.is_running() && now < aborting.until {
            return;
        }
        self.close_open_calls();
        self.tell_diffs();
        let Some(task) = self.task.take() else { return };
        if task.kind == Kind::Review {
            self.record(Record::AsideEnd);
        }
        // What was to join it was not read by any model.
        for steered in task.steer {
            self.emit(&steered.sub_id, EventMsg::TurnAborted { reason: aborting.reason });
        }
        self.tell_aborted(&task.sub_id, aborting.reason);
        self.next(now);
    }

    /// Ends the task because it is done.
    pub(super) fn complete(&mut self, now: u64) {
        let Some(task) = self.task.take() else { return };
        if task.kind == Kind::Review {
            self.record(Record::AsideEnd);
            if let Some(said) = &task.last_message {
                self.record_item(Item::user(
                    "A review of the changes was asked for. Its result follows.",
                ));
                self.record_item(Item::assistant(said.clone()));
            }
        }
        let last_agent_message = task.last_message;
        self.emit(&task.sub_id, EventMsg::TaskComplete { last_agent_message });
        self.next(now);
    }

    /// Ends the task because it cannot go on.
    pub(super) fn give_up(&mut self, message: String, now: u64) {
        self.close_open_calls();
        self.tell_diffs();
        let Some(task) = self.task.take() else { return };
        if task.kind == Kind::Review {
            self.record(Record::AsideEnd);
        }
        for steered in task.steer {
            self.fail(
                &steered.sub_id,
                &format!("the task that this was to join failed: {message}"),
            );
        }
        self.emit(&task.sub_id, EventMsg::Error { message });
        self.next(now);
    }

    pub(super) fn forget_last_changes(&mut self) {
        if let Some((last, _)) = self.changes.pop() {
            while self.changes.last().is_some_and(|(task, _)| *task == last) {
                self.changes.pop();
            }
        }
    }
}

impl Task {
    fn can_be_steered(&self) -> bool {
        match self.kind {
            Kind::Regular | Kind::Review => true,
            Kind::Compact | Kind::UserShell | Kind::Undo => false,
        }
    }
}

impl Queued {
    fn into_submission(self, mode: InputMode) -> Input {
        let Self { sub_id: id, items, last_response_id } = self;
        Input::Submit(Submission { id, op: Op::UserInput { items, last_response_id, mode } })
    }
}

fn starts_a_task(input: &Input) -> bool {
    let Input::Submit(Submission { op, .. }) = input else { return false };
    !matches!(op, Op::Shutdown)
}

/// What a person said, as the model reads it.
pub(super) fn user_message(items: Vec<InputItem>) -> Item {
    let content = items.into_iter().map(|item| match item {
        InputItem::Text { text } => Content::InputText { text },
        InputItem::Image { image_url } => Content::InputImage { image_url },
        // Who drives the machine has put the picture itself in its place.
        InputItem::LocalImage { path } => Content::InputText { text: format!("[picture {path}]") },
    });
    Item::Message { role: Role::User, content: content.collect() }
}
