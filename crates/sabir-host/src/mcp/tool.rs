//! Tools as their servers describe them, turned into what a model may be offered. The descriptions
//! are words of strangers: they are bounded and cleaned, and never believed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rmcp::model::{Tool, ToolAnnotations};
use sabir_base::text::{clip, is_hidden, one_line, without_hidden};
use sabir_engine::ToolInfo;
use sabir_policy::{ServerTrust, ToolEffects, ToolHints};
use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::names::name_tools;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalTool {
    /// What the model is offered; its name is the one to call.
    pub info: ToolInfo,
    pub server: String,
    /// The name that the server gave it.
    pub tool: String,
    /// What it does, as far as the server is believed.
    pub effects: ToolEffects,
}

/// The tools that a server lists, as far as they are offered, and what was left out and why.
pub(super) fn offer_tools(
    config: &ServerConfig,
    listed: &[Tool],
) -> (Vec<ExternalTool>, Vec<String>) {
    let mut remarks = Vec::new();
    let mut seen = BTreeSet::new();
    let mut admitted: Vec<(&Tool, Value)> = Vec::new();
    for tool in listed.iter().filter(|tool| config.filter.admits(&tool.name)) {
        if !seen.insert(tool.name.as_ref()) {
            remarks.push(format!("lists {} twice; the first counts", quote(&tool.name)));
        } else if admitted.len() == MAX_TOOLS {
            remarks.push(format!("lists more than {MAX_TOOLS} tools; the rest is left out"));
            break;
        } else {
            match check_schema(&tool.input_schema) {
                Ok(schema) => admitted.push((tool, schema)),
                Err(problem) => {
                    remarks.push(format!("tool {} is left out: {problem}", quote(&tool.name)));
                }
            }
        }
    }
    for wanted in config.filter.enabled.iter().flatten() {
        if !listed.iter().any(|tool| tool.name.as_ref() == wanted) {
            remarks.push(format!("has no tool {}, which `enabled_tools` names", quote(wanted)));
        }
    }
    let real: Vec<&str> = admitted.iter().map(|(tool, _)| tool.name.as_ref()).collect();
    let names = name_tools(&config.name, &real);
    let mut taken = BTreeSet::new();
    let mut tools = Vec::new();
    for ((tool, parameters), name) in admitted.into_iter().zip(names) {
        // Only a server that computed our hash can get here.
        if !taken.insert(name.clone()) {
            remarks.push(format!("tool {} is left out: its name is taken", quote(&tool.name)));
            continue;
        }
        tools.push(ExternalTool {
            info: ToolInfo { name, description: describe(tool), parameters },
            server: config.name.clone(),
            tool: tool.name.to_string(),
            effects: effects(tool.annotations.as_ref(), config),
        });
    }
    if remarks.len() > MAX_REMARKS {
        let more = remarks.len() - MAX_REMARKS;
        remarks.truncate(MAX_REMARKS);
        remarks.push(format!("and {more} more complaints of this kind"));
    }
    (tools, remarks)
}

/// Reads a page of tools of which at least one is not what the protocol wants, so that one bad
/// tool does not take the others with it.
pub(super) fn read_tools_singly(page: &Value) -> Option<(Vec<Tool>, Option<String>, usize)> {
    let listed = page.get("tools")?.as_array()?;
    let tools: Vec<Tool> =
        listed.iter().filter_map(|tool| serde_json::from_value(tool.clone()).ok()).collect();
    let bad = listed.len() - tools.len();
    let cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    Some((tools, cursor, bad))
}

fn describe(tool: &Tool) -> String {
    let title = tool.title.as_deref();
    let text = tool.description.as_deref().or(title).unwrap_or_default();
    clip(&without_hidden(text.trim()), MAX_DESCRIPTION).into_owned()
}

fn effects(annotations: Option<&ToolAnnotations>, config: &ServerConfig) -> ToolEffects {
    let hints = ToolHints {
        read_only: annotations.and_then(|it| it.read_only_hint),
        destructive: annotations.and_then(|it| it.destructive_hint),
    };
    let trust = if config.trusted { ServerTrust::Trusted } else { ServerTrust::Untrusted };
    ToolEffects::from_hints(hints, trust)
}

fn check_schema(schema: &Map<String, Value>) -> Result<Value, String> {
    let mut schema = schema.clone();
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        None => {
            schema.insert("type".to_owned(), Value::from("object"));
        }
        Some(_) => return Err("its arguments are not an object".to_owned()),
    }
    let mut schema = Value::Object(schema);
    clean_schema(&mut schema, MAX_DEPTH)?;
    if schema.to_string().len() > MAX_SCHEMA {
        return Err(format!("its schema is longer than {} KiB", MAX_SCHEMA / 1024));
    }
    Ok(schema)
}

fn clean_schema(value: &mut Value, depth: usize) -> Result<(), String> {
    if depth == 0 {
        return Err(format!("its schema is nested deeper than {MAX_DEPTH}"));
    }
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = without_hidden(text) {
                *text = clean;
            }
        }
        Value::Array(values) => {
            for value in values {
                clean_schema(value, depth - 1)?;
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                // Without its control character the key would be another key.
                if key.contains(is_hidden) {
                    return Err("its schema has a key with control characters".to_owned());
                }
                clean_schema(value, depth - 1)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn quote(name: &str) -> String {
    format!("`{}`", one_line(name, 64))
}

/// A model that is offered more has no room left to think.
const MAX_TOOLS: usize = 256;
const MAX_DESCRIPTION: usize = 4 * 1024;
const MAX_SCHEMA: usize = 32 * 1024;
const MAX_DEPTH: usize = 32;
const MAX_REMARKS: usize = 8;
