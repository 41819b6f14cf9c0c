//! How turns go: a request, what the model answers, what comes of its calls, and the next turn.

use std::sync::Arc;

use super::compaction::Fill;
use super::task::{CallState, Purpose, Turn};
use super::thread::Record;
use super::{Open, Output};
use crate::items::{Item, Role, Summary};
use crate::protocol::EventMsg;
use crate::retry::{self, Attempts};
use crate::stream::{FailureKind, ModelEvent, ModelFailure, ModelRequest, Usage};

impl Open {
    /// Begins a turn, after what was said meanwhile has joined the thread.
    pub(super) fn next_turn(&mut self, now: u64) {
        let Some(task) = &mut self.task else { return };
        for steered in std::mem::take(&mut task.steer) {
            self.record_item(super::tasks::user_message(steered.items));
        }
        match self.fill() {
            Fill::Fits => self.ask(Purpose::Answer),
            Fill::Full => self.summarize(now),
            Fill::FullAgain => self.give_up(
                "the thread does not fit into the model's context, even after it was compacted"
                    .to_owned(),
                now,
            ),
        }
    }

    /// Sends a request.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let attempt = self.key();
        let mut items = self.thread.history();
        let Some(task) = &self.task else { return };
        let mut answers_end = self.thread.answers_end();
        let tools = match purpose {
            Purpose::Answer => self.tools(),
            Purpose::Summarize => {
                if task.left_out > 0 {
                    super::compaction::leave_out(&mut items, task.left_out);
                    answers_end.clear();
                }
                items.push(Arc::new(Item::user(super::compaction::PROMPT)));
                Vec::new()
            }
        };
        let request = Box::new(ModelRequest {
            model: self.settings.model.clone(),
            instructions: self.settings.instructions.clone(),
            items,
            answers_end,
            tools,
            effort: self.settings.effort,
            cache_key: self.settings.session_id.clone(),
            parallel_tool_calls: true,
        });
        let Some(task) = &mut self.task else { return };
        let turn = Turn::new(purpose, Arc::clone(&self.settings));
        task.turn = Turn { attempt: Some(attempt), ..turn };
        self.out.push_back(Output::Ask { attempt, request });
    }

    pub(super) fn model(&mut self, attempt: u64, event: ModelEvent, now: u64) {
        let Some(task) = &mut self.task else { return };
        // News of a request that nobody waits for any more.
        if task.turn.attempt != Some(attempt) {
            return;
        }
        let sub_id = task.sub_id.clone();
        match event {
            ModelEvent::TextDelta(delta) => {
                if task.turn.purpose == Purpose::Answer {
                    self.emit(&sub_id, EventMsg::AgentMessageDelta { delta });
                }
            }
            ModelEvent::ReasoningDelta(delta) => {
                if task.turn.purpose == Purpose::Answer {
                    self.emit(&sub_id, EventMsg::AgentReasoningDelta { delta });
                }
            }
            ModelEvent::ItemDone(item) => self.item_done(&sub_id, item, now),
            ModelEvent::Completed { response_id, usage } => {
                self.completed(&sub_id, response_id, usage, now);
            }
            ModelEvent::Failed(failure) => self.failed(failure, now),
        }
    }

    fn item_done(&mut self, sub_id: &str, item: Item, now: u64) {
        let Some(task) = &mut self.task else { return };
        if task.turn.purpose == Purpose::Summarize {
            if let Some(text) = item.text() {
                task.turn.summary.push_str(&text);
            }
            return;
        }
        match &item {
            Item::Message { role: Role::Assistant, .. } => {
                let message = item.text().unwrap_or_default();
                task.last_message = Some(message.clone());
                self.emit(sub_id, EventMsg::AgentMessage { message });
            }
            Item::Reasoning { summary, .. } => {
                let text: Vec<&str> =
                    summary.iter().map(|Summary::SummaryText { text }| text.as_str()).collect();
                if !text.is_empty() {
                    let text = text.join("\n\n");
                    self.emit(sub_id, EventMsg::AgentReasoning { text });
                }
            }
            Item::FunctionCall { call_id, name, arguments } => {
                let (call_id, name, arguments) = (call_id.clone(), name.clone(), arguments.clone());
                return self.call(call_id, name, arguments, now);
            }
            // A model does not write outputs; one that does gets it back as it wrote it, or not at
            // all where that would answer a call twice.
            Item::FunctionCallOutput { .. } => return,
            Item::Message { .. } | Item::Other(_) => {}
        }
        self.hold(item);
    }

    fn hold(&mut self, item: Item) {
        let Some(task) = &mut self.task else { return };
        if task.turn.calls.is_empty() {
            task.turn.held.push(item);
        } else {
            self.record_item(item);
        }
    }

    /// What was held counts from now on.
    pub(super) fn keep_held(&mut self) {
        let Some(task) = &mut self.task else { return };
        for item in std::mem::take(&mut task.turn.held) {
            self.record_item(item);
        }
    }

    fn completed(&mut self, sub_id: &str, response_id: String, usage: Option<Usage>, now: u64) {
        let Some(task) = &mut self.task else { return };
        task.turn.attempt = None;
        (task.request_failures, task.stream_failures) = (0, 0);
        task.begun.clear();
        task.turn.response = Some((response_id, usage));
        if let Some(usage) = usage {
            self.totals.add(usage);
            let (total, context_window) = (self.totals, self.settings.context_window);
            self.record(Record::Tokens { total });
            self.emit(sub_id, EventMsg::TokenCount { usage, total, context_window });
        }
        self.keep_held();
        self.settle(now);
    }

    pub(super) fn failed(&mut self, failure: ModelFailure, now: u64) {
        let Some(task) = &mut self.task else { return };
        task.turn.attempt = None;
        task.turn.held.clear();
        if task.turn.calls.is_empty() {
            self.retry_or_give_up(failure, now);
        } else {
            // What its calls came to is kept, so that asking again does not run them again. The
            // person learns of it now.
            let sub_id = task.sub_id.clone();
            let message = format!("{}; what was begun is finished first", failure.message);
            let waits = !task.turn.is_settled();
            task.turn.broken = Some(failure);
            if waits {
                self.emit(&sub_id, EventMsg::StreamError { message });
            }
            self.settle(now);
        }
    }

    fn retry_or_give_up(&mut self, failure: ModelFailure, now: u64) {
        if failure.kind == FailureKind::ContextLength && self.summarize_less() {
            return;
        }
        let (request_max, stream_max) =
            (self.settings.request_max_retries, self.settings.stream_max_retries);
        let Some(task) = &mut self.task else { return };
        let (failures, max) = match Attempts::of(failure.kind) {
            Some(Attempts::Request) => (&mut task.request_failures, request_max),
            Some(Attempts::Stream) => (&mut task.stream_failures, stream_max),
            None => return self.give_up(failure.message, now),
        };
        *failures += 1;
        let count = *failures;
        if count > max {
            let message = match max {
                0 => failure.message,
                _ => format!("{} (given up after {max} retries)", failure.message),
            };
            return self.give_up(message, now);
        }
        // Different for each session, so that many of them do not come back at the same moment.
        let seed =
            self.settings.session_id.bytes().fold(u64::from(count), |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
        let delay = retry::delay_ms(count, failure.retry_after_ms, seed);
        task.turn.retry_at = Some(now + delay);
        let sub_id = task.sub_id.clone();
        let seconds = delay as f64 / 1000.0;
        let message =
            format!("{}; trying again in {seconds:.1} s ({count} of {max})", failure.message);
        self.emit(&sub_id, EventMsg::StreamError { message });
    }

    /// Goes on as far as the calls allow: starts what may start, and ends the turn when all is done.
    pub(super) fn settle(&mut self, now: u64) {
        self.start_ready();
        let Some(task) = &mut self.task else { return };
        if task.aborting.is_some() {
            return self.finish_abort_if_stopped(now);
        }
        if !task.turn.is_settled() {
            return;
        }
        if let Some(failure) = task.turn.broken.take() {
            let calls = std::mem::take(&mut task.turn.calls);
            task.begun.extend(calls.into_iter().filter_map(|call| call.made));
            return self.retry_or_give_up(failure, now);
        }
        if let Some((response_id, usage)) = task.turn.response.take() {
            self.end_turn(response_id, usage, now);
        }
    }

    fn end_turn(&mut self, response_id: String, usage: Option<Usage>, now: u64) {
        let Some(task) = &mut self.task else { return };
        let sub_id = task.sub_id.clone();
        if task.turn.purpose == Purpose::Summarize {
            let summary = std::mem::take(&mut task.turn.summary);
            return self.summarized(&sub_id, &summary, now);
        }
        let has_output = !task.turn.calls.is_empty() || task.turn.has_repeated;
        let response_id = self.thread.name(response_id);
        self.record(Record::Turn { response_id: response_id.clone(), usage });
        let fits = self.fill() == Fill::Fits;
        if let Some(task) = &mut self.task {
            task.compacted &= !fits;
        }
        self.tell_diffs();
        self.emit(&sub_id, EventMsg::TurnComplete { response_id });
        let Some(task) = &self.task else { return };
        if has_output || !task.steer.is_empty() {
            self.next_turn(now);
        } else {
            self.complete(now);
        }
    }

    /// What patches have changed since this was last told.
    pub(super) fn tell_diffs(&mut self) {
        let Some(task) = &mut self.task else { return };
        let unified_diff = std::mem::take(&mut task.diffs).concat();
        if !unified_diff.is_empty() {
            let sub_id = task.sub_id.clone();
            self.emit(&sub_id, EventMsg::TurnDiff { unified_diff });
        }
    }

    pub(super) fn tick(&mut self, now: u64) {
        self.finish_abort_if_stopped(now);
        let Some(task) = &mut self.task else { return };
        if task.turn.retry_at.is_some_and(|at| at <= now) {
            task.turn.retry_at = None;
            let purpose = task.turn.purpose;
            self.ask(purpose);
        }
        self.expire_approvals(now);
    }

    /// When something is due by itself.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        let task = self.task.as_ref()?;
        let approvals = task.turn.calls.iter().filter_map(|call| match &call.state {
            CallState::Asking { deadline, .. } => *deadline,
            _ => None,
        });
        let abort = task.aborting.map(|aborting| aborting.until);
        approvals.chain(task.turn.retry_at).chain(abort).min()
    }
}
