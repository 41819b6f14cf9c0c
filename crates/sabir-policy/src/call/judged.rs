//! A call that was decided about: what a person is asked, what a yes does, and the row for the audit.

use std::fmt::Write;

use sabir_base::text::with_hidden_shown;
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
    /// The hosts that it reaches, as far as is known: those that a yes is for.
    pub hosts: Vec<String>,
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
            ShownArgument::new(&leaf.pointer, &value, &source.provenance.in_words())
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

impl ShownArgument {
    /// Every value in arguments, whole, in words of one source.
    pub fn all(arguments: &Map<String, Value>, came_from: &str) -> Vec<Self> {
        let shown = leaves(arguments).map(|leaf| {
            let value = leaf.text().map_or_else(|| leaf.value.to_string(), str::to_owned);
            Self::new(&leaf.pointer, &value, came_from)
        });
        shown.collect()
    }

    pub fn new(argument: &str, value: &str, came_from: &str) -> Self {
        Self {
            argument: in_a_row(argument),
            value: with_hidden_shown(value).into_owned(),
            came_from: in_a_row(came_from),
        }
    }
}

/// What a person decides about where there is room for all of it: a line of ours, and then the values
/// of others, each line of them behind a mark, so that none passes for ours.
pub fn shown_in_full(ours: &str, arguments: &[ShownArgument]) -> String {
    let mut words = in_a_row(ours);
    for shown in arguments {
        // Writing to a string does not fail.
        let _ = write!(words, "\n{} ({}):", shown.argument, shown.came_from);
        for line in shown.value.split('\n') {
            let _ = write!(words, "\n  | {line}");
        }
    }
    words
}

impl Question {
    /// All of it, as it is put into an inbox.
    pub fn in_full(&self) -> String {
        let mut words = shown_in_full(&format!("{}: {}", self.tool, self.reason), &self.arguments);
        if self.more_arguments > 0 {
            let _ = write!(words, "\nand {} more arguments", self.more_arguments);
        }
        if !self.untrusted.is_empty() {
            let names: Vec<String> = self.untrusted.iter().map(|it| in_a_row(it)).collect();
            let _ =
                write!(words, "\nThe model has read what strangers wrote: {}", names.join(", "));
        }
        words
    }

    /// For a terminal. What others wrote never begins a line: a value that does not fit behind its
    /// name stands on lines of its own, each with a mark in front, so that none passes for ours. Of a
    /// long value the beginning and the end are shown, or the question would scroll away. `width` is
    /// how many columns there are; what is wider goes on behind a mark, too.
    pub fn in_words(&self, width: usize) -> String {
        let width = width.clamp(NARROWEST, WIDEST);
        let mut words = format!("{}: {}", self.tool, self.reason);
        let arguments: Vec<Laid<'_>> =
            self.arguments.iter().map(|it| Laid::new(it, width)).collect();
        let lines = |most: usize| arguments.iter().map(|it| it.height(most)).sum::<usize>();
        let most = ROW_LIMITS.into_iter().find(|most| lines(*most) <= MOST_LINES).unwrap_or(0);
        for argument in &arguments {
            argument.write(most, &mut words);
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
        wrapped(&words, width)
    }
}

/// No line wider than the terminal, which would go on at the very left. Between words where it can be.
fn wrapped(words: &str, width: usize) -> String {
    let mut out = String::new();
    for (at, line) in words.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let (mut rest, mut room) = (line, width);
        while columns(rest) > room {
            let head = &rest[..fitting(rest, room)];
            let cut = head.rfind(' ').filter(|cut| *cut > head.len() / 2).unwrap_or(head.len());
            out.push_str(&rest[..cut]);
            out.push('\n');
            out.push_str(GOES_ON);
            rest = rest[cut..].trim_start_matches(' ');
            room = width - GOES_ON.len();
        }
        out.push_str(rest);
    }
    out
}

/// How many bytes at its beginning take no more than `most` columns.
fn fitting(text: &str, most: usize) -> usize {
    let mut width = 0;
    let fits = |&(_, letter): &(usize, char)| {
        width += columns_of(letter);
        width <= most
    };
    let last = text.char_indices().take_while(fits).last();
    last.map_or(0, |(at, letter)| at + letter.len_utf8())
}

/// An argument, laid out on lines.
struct Laid<'a> {
    name: String,
    rows: Vec<String>,
    came_from: &'a str,
    /// For a row of the value.
    columns: usize,
}

impl<'a> Laid<'a> {
    fn new(shown: &'a ShownArgument, width: usize) -> Self {
        let columns = width - MARK_COLUMNS;
        Self {
            name: short_name(shown.argument.trim_start_matches('/'), columns),
            rows: rows(&shown.value, columns),
            came_from: &shown.came_from,
            columns,
        }
    }

    fn fits_behind_its_name(&self) -> bool {
        matches!(self.rows.as_slice(), [row] if columns(&self.name) + columns(row) <= self.columns)
    }

    /// The lines that it takes where `most` are left to a value.
    fn height(&self, most: usize) -> usize {
        let rows = if self.fits_behind_its_name() { 0 } else { self.rows.len().min(most) };
        rows + 2
    }

    /// What is counted and not shown has no mark in front: no value can say that of itself.
    fn write(&self, most: usize, words: &mut String) {
        let Self { name, rows, came_from, .. } = self;
        // Writing to a string does not fail.
        let _ = match rows.as_slice() {
            [row] if self.fits_behind_its_name() => write!(words, "\n  {name} = {row}"),
            rows if most == 0 => {
                let count = grouped(rows.len());
                let room = self.columns.saturating_sub(columns(name) + COUNT_COLUMNS);
                let beginning: String =
                    rows.first().into_iter().flat_map(|row| row.chars()).take(room / 2).collect();
                write!(words, "\n  {name} ({count} lines) = {beginning} …")
            }
            _ => write!(words, "\n  {name} ="),
        };
        if most > 0 && !self.fits_behind_its_name() {
            let (first, left, last) = match rows.len() <= most {
                true => (rows.len(), 0, 0),
                // One line is for the count; of the others the beginning has more.
                false => (most / 2, rows.len() + 1 - most, (most - 1) / 2),
            };
            for row in &rows[..first] {
                let _ = write!(words, "\n    | {row}");
            }
            if left > 0 {
                let _ = write!(words, "\n    … {} lines more …", grouped(left));
            }
            for row in &rows[rows.len() - last..] {
                let _ = write!(words, "\n    | {row}");
            }
        }
        let _ = write!(words, "\n    ({came_from})");
    }
}

/// A name that fits on its line. A payload has the names that the model gives it.
fn short_name(name: &str, most: usize) -> String {
    if columns(name) + NAME_ENDS.len() <= most {
        return name.to_owned();
    }
    format!("{}…", &name[..fitting(name, most - NAME_ENDS.len() - 2)])
}

/// A number with a comma between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// What a terminal has to have, and as much of it as is read with ease.
const NARROWEST: usize = 32;
const WIDEST: usize = 80;
/// The mark in front of a row of a value, and a little air at the end.
const MARK_COLUMNS: usize = 8;
/// In front of what did not fit on the line above.
const GOES_ON: &str = "    : ";
/// What stands around a name.
const NAME_ENDS: &str = "   =";
/// Who has read a hundred documents is not asked with a hundred names.
const MOST_NAMES: usize = 4;
/// How many lines a value may have: as many as leave the question on one screen.
const ROW_LIMITS: [usize; 4] = [24, 12, 6, 3];
/// What is said about the lines of a value that has to do with one.
const COUNT_COLUMNS: usize = 20;
/// Of all arguments, with their names and where they came from.
const MOST_LINES: usize = 56;
