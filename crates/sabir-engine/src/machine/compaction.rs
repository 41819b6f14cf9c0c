//! When a thread is too long, a summary takes its place. What the user said and the open plan are
//! kept, because a summary that loses them loses the task.

use std::collections::HashSet;
use std::sync::Arc;

use super::Open;
use super::task::{Kind, Purpose};
use super::thread::Record;
use crate::items::{Item, Role};
use crate::protocol::{EventMsg, StepStatus};

pub(super) const PROMPT: &str = "The thread is about to be replaced by what you write now, so that work can go on in a fresh one. \
Write a handover for whoever continues: what was asked, what was done and found (files, commands, results, decisions and their reasons), \
what is still open, and the very next step. Leave out what no longer matters. Call no tools.";

/// Room for the answer and for what tools return must be left.
const FULL_PERCENT: u64 = 85;

/// About 20,000 tokens of what the user said.
const KEPT_USER_BYTES: usize = 80_000;

/// How full the model's context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Fits,
    Full,
    /// Full although the thread was just compacted: doing it again would change nothing.
    FullAgain,
}

impl Open {
    pub(super) fn fill(&self) -> Fill {
        let (Some(window), Some(usage)) = (self.settings.context_window, self.thread.usage())
        else {
            return Fill::Fits;
        };
        let full = usage.input.saturating_add(usage.output) >= window / 100 * FULL_PERCENT;
        let compacted = self.task.as_ref().is_some_and(|task| task.compacted);
        match (full, compacted) {
            (false, _) => Fill::Fits,
            (true, false) => Fill::Full,
            (true, true) => Fill::FullAgain,
        }
    }

    pub(super) fn summarize(&mut self, now: u64) {
        if self.thread.history().is_empty() {
            return self.summarized_nothing(now);
        }
        self.ask(Purpose::Summarize);
    }

    /// The model could not hold what it was to sum up: the older half is left out. Whether that was
    /// possible.
    pub(super) fn summarize_less(&mut self) -> bool {
        let items = self.thread.history().len();
        let Some(task) = &mut self.task else { return false };
        let left = items.saturating_sub(task.left_out);
        if task.turn.purpose != Purpose::Summarize || left < 2 {
            return false;
        }
        task.left_out += left.div_ceil(2);
        let sub_id = task.sub_id.clone();
        let message = format!(
            "the thread is too long to be summed up: without its oldest {} items",
            task.left_out
        );
        self.emit(&sub_id, EventMsg::StreamError { message });
        self.ask(Purpose::Summarize);
        true
    }

    fn summarized_nothing(&mut self, now: u64) {
        if let Some(task) = &self.task {
            let sub_id = task.sub_id.clone();
            let message = "the thread is empty: there is nothing to compact".to_owned();
            self.emit(&sub_id, EventMsg::Warning { message });
        }
        self.complete(now);
    }

    pub(super) fn summarized(&mut self, sub_id: &str, summary: &str, now: u64) {
        if summary.trim().is_empty() {
            return self.give_up(
                "the model wrote no summary, so the thread stays as it is".to_owned(),
                now,
            );
        }
        let items = self.compacted_items(summary);
        self.record(Record::Compacted { items });
        if let Some(task) = &mut self.task {
            task.compacted = true;
        }
        let message = "the thread was replaced by a summary; turn_complete's earlier responses can still be continued from".to_owned();
        self.emit(sub_id, EventMsg::BackgroundEvent { message });
        match self.task.as_ref().map(|task| task.kind) {
            Some(Kind::Compact) => self.complete(now),
            _ => self.next_turn(now),
        }
    }

    fn compacted_items(&self, summary: &str) -> Vec<Arc<Item>> {
        let mut kept: Vec<Arc<Item>> = Vec::new();
        let mut room = KEPT_USER_BYTES;
        for item in self.thread.history().into_iter().rev() {
            let Item::Message { role: Role::User, .. } = &*item else { continue };
            let Some(text) = item.text() else { continue };
            // The summary of an earlier compaction is in this one.
            if text.starts_with(SUMMARY_OPENS) {
                continue;
            }
            if text.len() <= room {
                room -= text.len();
                kept.push(item);
            } else {
                if room > 0 {
                    let end = text.floor_char_boundary(room / 2);
                    let start = text.ceil_char_boundary(text.len() - room / 2);
                    kept.push(Arc::new(Item::user(format!(
                        "{}\n[...]\n{}",
                        &text[..end],
                        &text[start..]
                    ))));
                }
                break;
            }
        }
        kept.reverse();
        let mut text = format!("{SUMMARY_OPENS}\n{summary}");
        let open: Vec<String> = self
            .plan
            .iter()
            .map(|step| match step.status {
                StepStatus::Completed => format!("[x] {}", step.step),
                StepStatus::InProgress => format!("[>] {}", step.step),
                StepStatus::Pending => format!("[ ] {}", step.step),
            })
            .collect();
        if self.plan.iter().any(|step| step.status != StepStatus::Completed) {
            text.push_str(&format!("\n\nThe plan:\n{}", open.join("\n")));
        }
        kept.push(Arc::new(Item::user(text)));
        kept
    }
}

/// Removes the oldest items, and the outputs of calls that went with them.
pub(super) fn leave_out(items: &mut Vec<Arc<Item>>, count: usize) {
    items.drain(..count.min(items.len()));
    let mut calls: HashSet<String> = HashSet::new();
    items.retain(|item| match &**item {
        Item::FunctionCall { call_id, .. } => {
            calls.insert(call_id.clone());
            true
        }
        Item::FunctionCallOutput { call_id, .. } => calls.remove(call_id),
        Item::Message { .. } | Item::Reasoning { .. } | Item::Other(_) => true,
    });
}

const SUMMARY_OPENS: &str = "[Summary of the thread so far]";
