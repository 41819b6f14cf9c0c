//! A call that was decided about: what a person is asked, what a yes does, and the row for the audit.

use std::fmt::Write;

use sabir_base::text::{clip_counted, with_hidden_shown};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::{Approval, ApprovalError};
use crate::audit::{AuditRow, Audited};
use crate::binding::Binding;
use crate::gate::{Action, Decision, Facts, decide};
use crate::ruling::Ruling;
use crate::settings::{ApprovalPolicy, SandboxPolicy};

use super::evidence::Provenance;
use super::facts::CallFacts;
use super::leaves::leaves;
use super::taint::Taint;

/// A call and what the gate said to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub call_id: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub facts: CallFacts,
    /// Of the first arguments; whoever needs more than these reads the arguments.
    pub sources: Vec<ArgumentSource>,
    pub taint: Taint,
    pub binding: Binding,
    pub decision: Decision,
    pub(super) approval_policy: ApprovalPolicy,
    pub(super) ruling: Ruling,
}

/// Where the value of an argument came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentSource {
    /// A JSON pointer into the arguments.
    pub argument: String,
    pub provenance: Provenance,
}

/// What a person is shown before they say yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    pub tool: String,
    pub arguments: Vec<ShownArgument>,
    /// How many more there are.
    pub more_arguments: usize,
    /// The documents of strangers that the model has seen.
    pub untrusted: Vec<String>,
    pub reason: String,
    pub reason_code: &'static str,
    /// What a yes is bound to.
    pub binding: Binding,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownArgument {
    pub argument: String,
    /// Whole, with what is hidden in it spelled out; it may have several lines.
    pub value: String,
    pub came_from: String,
}

impl Judged {
    pub fn question(&self) -> Question {
        let leaves: Vec<_> = leaves(&self.arguments).collect();
        let shown = leaves.iter().zip(&self.sources).map(|(leaf, source)| {
            let value = leaf.text().map_or_else(|| leaf.value.to_string(), str::to_owned);
            ShownArgument {
                argument: in_a_row(&leaf.pointer),
                value: clip_counted(&with_hidden_shown(&value), MAX_SHOWN_BYTES).into_owned(),
                came_from: in_a_row(&source.provenance.in_words()),
            }
        });
        Question {
            tool: self.tool.clone(),
            arguments: shown.collect(),
            more_arguments: leaves.len().saturating_sub(self.sources.len()),
            untrusted: self.taint.untrusted.iter().cloned().collect(),
            reason: self.decision.reason.clone(),
            reason_code: self.decision.rule.reason_code(),
            binding: self.binding,
        }
    }

    /// The same call with a person's yes, which is used up if it counts. What needs no yes, and what
    /// no yes can change, leaves it unused.
    pub fn approve(mut self, approval: &mut Approval, now: u64) -> Result<Self, ApprovalError> {
        if !self.decision.yields_to_approval() {
            return Ok(self);
        }
        approval.redeem(&self.binding, now)?;
        self.decision = decide(&Facts {
            approval: self.approval_policy,
            sandbox: &SandboxPolicy::default(),
            action: Action::Call(self.facts),
            granted: true,
            ruling: self.ruling,
        });
        Ok(self)
    }

    /// The row for the audit. `actor` is the session or collection that the call was made for.
    pub fn audit(&self, actor: &str, at: u64) -> AuditRow {
        let audited = Audited {
            call_id: &self.call_id,
            actor,
            subject: &self.tool,
            arguments: &self.arguments,
            taint: &self.taint,
            sources: &self.sources,
            field: self.facts.field,
        };
        AuditRow::new(&audited, &self.decision, at)
    }
}

impl Question {
    /// For a terminal. What others wrote never begins a line: a value that does not fit behind its
    /// name stands on lines of its own, each with a mark in front, so that none passes for ours.
    pub fn in_words(&self) -> String {
        let mut words = format!("{}: {}", self.tool, self.reason);
        for ShownArgument { argument, value, came_from } in &self.arguments {
            // Writing to a string does not fail.
            let argument = argument.trim_start_matches('/');
            match rows(value, ROW_COLUMNS).as_slice() {
                [row] if columns(argument) + columns(row) <= ROW_COLUMNS => {
                    let _ = write!(words, "\n  {argument} = {row}");
                }
                rows => {
                    let _ = write!(words, "\n  {argument} =");
                    for row in rows {
                        let _ = write!(words, "\n    | {row}");
                    }
                }
            }
            let _ = write!(words, "\n    ({came_from})");
        }
        if self.more_arguments > 0 {
            let _ = write!(words, "\n  and {} more", self.more_arguments);
        }
        if !self.untrusted.is_empty() {
            let shown: Vec<String> =
                self.untrusted.iter().take(MOST_NAMES).map(|it| in_a_row(it)).collect();
            let names = shown.join(", ");
            let _ = write!(words, "\n  the model has read what strangers wrote: {names}");
            let more = self.untrusted.len() - shown.len();
            if more > 0 {
                let _ = write!(words, " and {more} more");
            }
        }
        words
    }
}

/// With its line ends and tabs spelled out, too.
fn in_a_row(text: &str) -> String {
    with_hidden_shown(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The lines of a text, none wider than a terminal breaks by itself.
fn rows(text: &str, most: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let (mut row, mut width) = (String::new(), 0);
        for letter in line.replace('\t', "\\t").chars() {
            let more = columns_of(letter);
            if width + more > most {
                rows.push(std::mem::take(&mut row));
                width = 0;
            }
            row.push(letter);
            width += more;
        }
        rows.push(row);
    }
    rows
}

fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// At most: what is not plain may be wide.
fn columns_of(letter: char) -> usize {
    if letter.is_ascii() { 1 } else { 2 }
}

/// What fits onto a terminal of eighty columns behind the mark.
const ROW_COLUMNS: usize = 72;
/// Who has read a hundred documents is not asked with a hundred names.
const MOST_NAMES: usize = 4;
/// An address is never longer, so that it is never cut.
const MAX_SHOWN_BYTES: usize = 32 * 1024;
