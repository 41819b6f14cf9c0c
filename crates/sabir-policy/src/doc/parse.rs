//! The text of a policy file, read and checked. Its sections: `[limits]`, `[[deny]]`, `[[ask]]` and
//! `[[loosen]]`.

use std::ops::Range;

use sabir_base::is_near;
use serde::Deserialize;
use toml::Spanned;

use crate::call::Limits;
use crate::labels::{Labels, SERVED_TOOLS, tool_names};
use crate::ruling::{Stance, Waivable};

use super::pattern::{HostPattern, ToolPattern};
use super::{Loosened, PolicyDoc, PolicyError, Strict};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    limits: Option<RawLimits>,
    #[serde(default)]
    deny: Vec<Spanned<RawStrict>>,
    #[serde(default)]
    ask: Vec<Spanned<RawStrict>>,
    #[serde(default)]
    loosen: Vec<RawLoosened>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    calls_per_turn: Option<Spanned<u32>>,
    asks_per_turn: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStrict {
    tool: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLoosened {
    tool: Spanned<String>,
    when: Spanned<Vec<Spanned<String>>>,
    host: Option<Spanned<String>>,
    reason: Spanned<String>,
}

/// A configuration file, of which one section is ours.
#[derive(Deserialize)]
struct Whole {
    policy: Option<Raw>,
}

pub(super) fn parse(text: &str) -> Result<PolicyDoc, PolicyError> {
    if text.len() > MAX_BYTES {
        let message = format!("a policy file has at most {MAX_BYTES} bytes");
        return Err(error(text, None, message));
    }
    parse_as::<Raw>(text, Some)
}

pub(super) fn parse_section(text: &str) -> Result<PolicyDoc, PolicyError> {
    parse_as::<Whole>(text, |whole| whole.policy)
}

fn parse_as<T: serde::de::DeserializeOwned>(
    text: &str,
    section: impl FnOnce(T) -> Option<Raw>,
) -> Result<PolicyDoc, PolicyError> {
    let whole: T = toml::from_str(text)
        .map_err(|found| error(text, found.span(), found.message().replace('\n', ", ")))?;
    let Some(raw) = section(whole) else { return Ok(PolicyDoc::default()) };
    read(raw).map_err(|(span, message)| error(text, Some(span), message))
}

fn error(text: &str, span: Option<Range<usize>>, message: String) -> PolicyError {
    let span = span.unwrap_or(0..0);
    let before = span.start.min(text.len());
    let line = 1 + text.as_bytes()[..before].iter().filter(|byte| **byte == b'\n').count();
    PolicyError { line, message, span }
}

type Wrong = (Range<usize>, String);

fn read(raw: Raw) -> Result<PolicyDoc, Wrong> {
    let mut doc = PolicyDoc::default();
    if let Some(RawLimits { calls_per_turn, asks_per_turn }) = raw.limits {
        let Limits { calls_per_turn: most_calls, asks_per_turn: most_asks } = doc.limits;
        doc.limits = Limits {
            calls_per_turn: limit(calls_per_turn, most_calls)?,
            asks_per_turn: limit(asks_per_turn, most_asks)?,
        };
    }
    for (stance, entries) in [(Stance::Deny, raw.deny), (Stance::Ask, raw.ask)] {
        for entry in entries {
            doc.strict.push(read_strict(stance, entry)?);
        }
    }
    for entry in raw.loosen {
        doc.loosened.push(read_loosened(entry)?);
    }
    Ok(doc)
}

/// A limit can be lowered here. Raising it would be a loosening that names no tool.
fn limit(given: Option<Spanned<u32>>, most: u32) -> Result<u32, Wrong> {
    let Some(given) = given else { return Ok(most) };
    if *given.get_ref() > most {
        return Err((
            given.span(),
            format!("the limit is {most}; a policy file can only lower it"),
        ));
    }
    Ok(given.into_inner())
}

fn read_strict(stance: Stance, entry: Spanned<RawStrict>) -> Result<Strict, Wrong> {
    let span = entry.span();
    let RawStrict { tool, host, reason } = entry.into_inner();
    if tool.is_none() && host.is_none() {
        return Err((
            span,
            "say which `tool` or which `host` is meant; all tools are \"*\"".into(),
        ));
    }
    let tool = tool.map(|text| {
        let pattern = ToolPattern::parse(text.get_ref()).ok_or_else(|| {
            let message = format!("{:?} is no tool, no `name.*` and no `*`", text.get_ref());
            (text.span(), message)
        })?;
        let is_known = match &pattern {
            ToolPattern::All => true,
            ToolPattern::Below(start) => {
                is_foreign(start)
                    || tool_names().chain(SERVED_TOOLS).any(|it| it.starts_with(start.as_str()))
            }
            ToolPattern::One(name) => is_known(name),
        };
        if is_known { Ok(pattern) } else { Err((text.span(), unknown(text.get_ref()))) }
    });
    Ok(Strict { stance, tool: tool.transpose()?, host: host.map(read_host).transpose()?, reason })
}

fn read_loosened(entry: RawLoosened) -> Result<Loosened, Wrong> {
    let RawLoosened { tool, when, host, reason } = entry;
    if tool.get_ref().contains('*') {
        return Err((tool.span(), "a loosening names one tool, without a star".to_owned()));
    }
    if Labels::of_name(tool.get_ref()).is_none() {
        let name = tool.get_ref();
        let message = match is_known(name) {
            // The questions that can be left out are those about calls of our own tools.
            true => format!("{name:?} cannot be loosened, only denied or asked for"),
            false => unknown(name),
        };
        return Err((tool.span(), message));
    }
    if reason.get_ref().trim().is_empty() {
        return Err((reason.span(), "a loosening says why, in `reason`".to_owned()));
    }
    if when.get_ref().is_empty() {
        return Err((when.span(), "name the questions that are not put".to_owned()));
    }
    let host_span = host.as_ref().map(Spanned::span);
    let host = host.map(read_host).transpose()?;
    if let (Some(host), Some(span)) = (&host, host_span)
        && !host.is_narrow()
    {
        return Err((span, format!("{host} is too wide for a loosening")));
    }
    let mut questions = Vec::new();
    for name in when.into_inner() {
        let found = Waivable::ALL.into_iter().find(|it| it.rule().reason_code() == name.get_ref());
        let Some(waivable) = found else {
            let names: Vec<&str> = Waivable::ALL.iter().map(|it| it.rule().reason_code()).collect();
            let message = format!(
                "{:?} is nothing that can be loosened; there are {}",
                name.get_ref(),
                names.join(", ")
            );
            return Err((name.span(), message));
        };
        if waivable.needs_host() && host.is_none() {
            let message = format!("to loosen {} a `host` must be named", name.get_ref());
            return Err((name.span(), message));
        }
        questions.push(waivable);
    }
    let (tool, reason) = (tool.into_inner(), reason.into_inner());
    Ok(Loosened { tool, when: questions, host, reason })
}

fn read_host(text: Spanned<String>) -> Result<HostPattern, Wrong> {
    HostPattern::parse(text.get_ref()).ok_or_else(|| {
        let message = format!("{:?} is no host, no `*.host` and no `*`", text.get_ref());
        (text.span(), message)
    })
}

fn is_known(name: &str) -> bool {
    is_foreign(name)
        || OTHER_ACTIONS.contains(&name)
        || SERVED_TOOLS.contains(&name)
        || Labels::of_name(name).is_some()
}

/// Tools of other programs have the names that these give them.
fn is_foreign(name: &str) -> bool {
    name.starts_with("mcp__")
}

fn unknown(name: &str) -> String {
    let near = tool_names().chain(OTHER_ACTIONS).chain(SERVED_TOOLS).find(|it| is_near(it, name));
    let advice = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    format!("no tool is called {name:?}{advice}")
}

/// What the gate decides about beside tools.
const OTHER_ACTIONS: [&str; 4] = ["shell", "apply_patch", "read", "spawn"];

/// Thousands of rules.
const MAX_BYTES: usize = 256 * 1024;
