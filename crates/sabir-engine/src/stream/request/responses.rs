//! The body of a request to the Responses API.

use serde::Serialize;
use serde_json::Value;

use super::pairs::{Call, Step, pair};
use super::{ModelRequest, effort_word};
use crate::items::{Item, Summary};
use crate::protocol::ToolInfo;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Input<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    /// Threads are kept here: nothing need stay with the provider.
    store: bool,
    stream: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "str::is_empty")]
    prompt_cache_key: &'a str,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Item(&'a Item),
    Own(Own<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Own<'a> {
    FunctionCall {
        call_id: String,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: String,
        output: &'a str,
    },
    /// Without its id: a provider that stored nothing would look for it and fail.
    Reasoning {
        summary: &'a [Summary],
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    /// Strict schemas must list every field as required, which ours do not.
    strict: bool,
    parameters: &'a Value,
}

pub(super) fn body(request: &ModelRequest) -> Body<'_> {
    let has_tools = !request.tools.is_empty();
    Body {
        model: &request.model,
        instructions: &request.instructions,
        input: input(request),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: has_tools.then_some("auto"),
        parallel_tool_calls: has_tools.then_some(request.parallel_tool_calls),
        reasoning: request
            .effort
            .map(|effort| Reasoning { effort: effort_word(effort), summary: "auto" }),
        store: false,
        stream: true,
        include: if request.effort.is_some() { &["reasoning.encrypted_content"] } else { &[] },
        prompt_cache_key: &request.cache_key,
    }
}

fn tool(info: &ToolInfo) -> Tool<'_> {
    let ToolInfo { name, description, parameters } = info;
    Tool { r#type: "function", name, description, strict: false, parameters }
}

fn input(request: &ModelRequest) -> Vec<Input<'_>> {
    let mut out = Vec::new();
    let mut calls: Vec<(String, &str)> = Vec::new();
    let output = |call_id: String, output| Input::Own(Own::FunctionCallOutput { call_id, output });
    for step in pair(request) {
        match step {
            Step::Item(Item::Reasoning { summary, encrypted_content, .. }) => {
                let encrypted_content = encrypted_content.as_deref();
                // Nothing in it that could be read.
                if !summary.is_empty() || encrypted_content.is_some() {
                    out.push(Input::Own(Own::Reasoning { summary, encrypted_content }));
                }
            }
            Step::AnswerEnd => {}
            Step::Item(item) => out.push(Input::Item(item)),
            Step::Call(call) => {
                let text = call.output_text();
                let Call { id, name, arguments, output: answered, .. } = call;
                let call_id = id.into_owned();
                calls.push((call_id.clone(), text));
                let call = Own::FunctionCall { call_id: call_id.clone(), name, arguments };
                out.push(Input::Own(call));
                if answered.is_none() {
                    out.push(output(call_id, text));
                }
            }
            Step::Output(number) => {
                let (call_id, text) = &calls[number];
                out.push(output(call_id.clone(), text));
            }
        }
    }
    out
}
