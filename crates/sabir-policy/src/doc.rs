//! The policy file: what a person or a platform team adds to the rules of the gate. It makes them
//! stricter as it likes, and milder only by naming the tool, the question and the reason.

mod denied;
mod parse;
mod pattern;

use std::fmt;
use std::ops::Range;

use sabir_base::text::one_line;

use crate::call::Limits;
use crate::gate::Decision;
use crate::labels::Labels;
use crate::rule::RuleId;
use crate::ruling::{Ruling, Stance, Waivable};

use pattern::{HostPattern, ToolPattern};

pub use denied::DeniedHosts;

/// A policy file that was read and checked. The default adds nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyDoc {
    limits: Limits,
    strict: Vec<Strict>,
    loosened: Vec<Loosened>,
}

/// Something that is refused or asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Strict {
    stance: Stance,
    tool: Option<ToolPattern>,
    host: Option<HostPattern>,
    reason: Option<String>,
}

/// Questions that are not put.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Loosened {
    tool: String,
    when: Vec<Waivable>,
    host: Option<HostPattern>,
    reason: String,
}

/// What is wrong with a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// Counted from one.
    pub line: usize,
    pub message: String,
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
}

impl PolicyDoc {
    /// Reads a policy file. Nothing in it is skipped: what is not understood is an error.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        parse::parse(text)
    }

    /// Reads the section `[policy]` of a configuration file; what else stands there belongs to others.
    /// Without one, nothing is added.
    pub fn parse_section(text: &str) -> Result<Self, PolicyError> {
        parse::parse_section(text)
    }

    /// Both hold: what either refuses or asks for, the lower of the limits, and what either loosens.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let Limits { calls_per_turn, asks_per_turn } = other.limits;
        self.limits = Limits {
            calls_per_turn: self.limits.calls_per_turn.min(calls_per_turn),
            asks_per_turn: self.limits.asks_per_turn.min(asks_per_turn),
        };
        self.strict.extend(other.strict);
        self.loosened.extend(other.loosened);
        self
    }

    /// What one turn may do at most.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What it says to an action of this name that reaches these hosts. Names beside those of the
    /// tools: `shell`, `apply_patch`, `read`, `spawn`, and `mcp__server__tool`.
    pub fn ruling(&self, tool: &str, hosts: &[&str]) -> Ruling {
        let loosened = self.loosened.iter().filter(|entry| {
            entry.tool == tool
                && entry
                    .host
                    .as_ref()
                    .is_none_or(|it| !hosts.is_empty() && hosts.iter().all(|host| it.matches(host)))
        });
        Ruling {
            stance: self.strictest(tool, hosts).map(|entry| entry.stance).unwrap_or_default(),
            waived: loosened.flat_map(|entry| entry.when.iter().copied()).collect(),
        }
    }

    /// The hosts that nobody may reach, and those that these tools may not reach, however they come
    /// to be asked for: named in a call, by a redirect, by a page for itself.
    pub fn denied_hosts(&self, tools: &[&str]) -> DeniedHosts {
        let denied = self.strict.iter().filter(|entry| {
            entry.stance == Stance::Deny
                && match &entry.tool {
                    None | Some(ToolPattern::All) => true,
                    Some(pattern) => tools.iter().any(|tool| pattern.matches(tool)),
                }
        });
        DeniedHosts::new(denied.filter_map(|entry| entry.host.clone()).collect())
    }

    /// Whether a call of this tool that was allowed for some hosts may be led on to another by them.
    /// What was waived or asked for those holds for them only.
    pub fn leads_on(&self, tool: &str, from: &[&str], to: &str) -> bool {
        if from.contains(&to) {
            return true;
        }
        let (first, next) = (self.ruling(tool, from), self.ruling(tool, &[to]));
        next.stance == Stance::Silent && next.waived.includes(first.waived)
    }

    /// Adds the reason that the file gives to a decision that the file made.
    pub fn give_reason(&self, decision: &mut Decision, tool: &str, hosts: &[&str]) {
        if !matches!(decision.rule, RuleId::PolicyDenied | RuleId::PolicyAsks) {
            return;
        }
        if let Some(given) = self.strictest(tool, hosts).and_then(|it| it.reason.as_deref()) {
            decision.reason.push_str(": ");
            decision.reason.push_str(&one_line(given, MAX_REASON_CHARS));
        }
    }

    /// The entry that decides: the first of the strictest.
    fn strictest(&self, tool: &str, hosts: &[&str]) -> Option<&Strict> {
        let matching = self.strict.iter().filter(|entry| {
            entry.tool.as_ref().is_none_or(|pattern| pattern.matches(tool))
                // One host is enough: what reaches several is refused for each of them.
                && entry.host.as_ref().is_none_or(|it| hosts.iter().any(|host| it.matches(host)))
        });
        matching.rev().max_by_key(|entry| entry.stance)
    }

    /// What holds beside the rules of the gate, a line each.
    pub fn describe(&self) -> String {
        let Limits { calls_per_turn, asks_per_turn } = self.limits;
        let mut lines = vec![format!(
            "a turn makes at most {calls_per_turn} calls and asks {asks_per_turn} times"
        )];
        for Strict { stance, tool, host, reason } in &self.strict {
            let verb = match stance {
                Stance::Deny => "refused",
                Stance::Silent | Stance::Ask => "asked for",
            };
            let tool = tool.as_ref().map_or("everything".to_owned(), ToString::to_string);
            lines.push(format!(
                "{tool}{} is {verb}{}",
                at(host.as_ref()),
                because(reason.as_deref())
            ));
        }
        for Loosened { tool, when, host, reason } in &self.loosened {
            let when: Vec<&str> = when.iter().map(|it| it.rule().reason_code()).collect();
            lines.push(format!(
                "{tool}{} is not asked for because of {}{}",
                at(host.as_ref()),
                when.join(", "),
                because(Some(reason))
            ));
        }
        if self.loosened.iter().any(|it| Labels::of_name(&it.tool).is_some_and(|it| it.egress)) {
            lines.push(PRIVATE_COMES_FIRST.to_owned());
        }
        if self.strict.is_empty() && self.loosened.is_empty() {
            lines.push("nothing is added to the rules of the gate".to_owned());
        }
        lines.join("\n")
    }
}

fn at(host: Option<&HostPattern>) -> String {
    host.map_or_else(String::new, |host| format!(" at {host}"))
}

fn because(reason: Option<&str>) -> String {
    let reason = reason.map(|reason| one_line(reason, MAX_REASON_CHARS));
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PolicyError {}

const MAX_REASON_CHARS: usize = 200;

/// What no loosening changes.
const PRIVATE_COMES_FIRST: &str = "nothing of that counts for a call that sends something out once the model has read \
     both what is private and what strangers wrote: your notes, files and artifacts, and pages in a \
     browser with --visible, where you can sign in (private_data_exposed)";
