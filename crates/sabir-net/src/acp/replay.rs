//! A stored thread, told again: what was said, thought and done, in its order.

use std::collections::HashMap;
use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Diff, ImageContent, MessageId, Plan, ResourceLink, SessionUpdate,
    TextContent, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind,
};
use sabir_engine::patch::{ChunkLine, OperationKind};
use sabir_engine::{Content, Item, Role, Summary, UpdatePlan};
use serde_json::Value;

use super::session::plan_entries;
use super::tool_calls::{Calls, command_of, kind_of, output, places_of, title_of};

/// The updates that tell a thread. `name` makes the names of its messages different from others.
pub(super) fn updates(
    items: &[Item],
    cwd: &Path,
    name: &str,
    calls: &mut Calls,
) -> Vec<SessionUpdate> {
    // Models use an id again, so that an output belongs to the last call before it.
    let mut outputs: Vec<Option<&str>> = vec![None; items.len()];
    let mut waiting: HashMap<&str, &str> = HashMap::new();
    for (index, item) in items.iter().enumerate().rev() {
        match item {
            Item::FunctionCallOutput { call_id, output } => {
                waiting.insert(call_id, output);
            }
            Item::FunctionCall { call_id, .. } => {
                outputs[index] = waiting.remove(call_id.as_str());
            }
            Item::Message { .. } | Item::Reasoning { .. } | Item::Other(_) => {}
        }
    }
    let mut updates = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let message_id = MessageId::new(format!("{name}-{index}"));
        let chunk = |block| ContentChunk::new(block).message_id(message_id.clone());
        match item {
            Item::Message { role: Role::User, content } => {
                let blocks = content.iter().filter_map(block);
                updates.extend(blocks.map(|it| SessionUpdate::UserMessageChunk(chunk(it))));
            }
            Item::Message { role: Role::Assistant, content } => {
                let blocks = content.iter().filter_map(block);
                updates.extend(blocks.map(|it| SessionUpdate::AgentMessageChunk(chunk(it))));
            }
            Item::Reasoning { summary, .. } => {
                let parts: Vec<&str> =
                    summary.iter().map(|Summary::SummaryText { text }| text.as_str()).collect();
                if !parts.is_empty() {
                    let text = ContentBlock::Text(TextContent::new(parts.join("\n\n")));
                    updates.push(SessionUpdate::AgentThoughtChunk(chunk(text)));
                }
            }
            Item::FunctionCall { call_id, name, arguments } => {
                let done = Done { name, arguments, output: outputs[index] };
                updates.push(match done.plan() {
                    Some(plan) => SessionUpdate::Plan(plan),
                    None => SessionUpdate::ToolCall(done.tool_call(call_id, cwd, calls)),
                });
            }
            // What systems say is not part of what people and models say to each other.
            Item::Message { role: Role::System | Role::Developer, .. }
            | Item::FunctionCallOutput { .. }
            | Item::Other(_) => {}
        }
    }
    updates
}

fn block(content: &Content) -> Option<ContentBlock> {
    match content {
        Content::InputText { text } | Content::OutputText { text } => {
            Some(ContentBlock::Text(TextContent::new(text.clone())))
        }
        Content::Refusal { refusal } => Some(ContentBlock::Text(TextContent::new(refusal.clone()))),
        Content::InputImage { image_url } => Some(picture(image_url)),
        Content::Other(_) => None,
    }
}

fn picture(url: &str) -> ContentBlock {
    let embedded = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match embedded {
        Some((mime_type, data)) => ContentBlock::Image(ImageContent::new(data, mime_type)),
        None => ContentBlock::ResourceLink(ResourceLink::new("picture", url)),
    }
}

/// A call of the past.
struct Done<'a> {
    name: &'a str,
    arguments: &'a str,
    output: Option<&'a str>,
}

impl Done<'_> {
    fn plan(&self) -> Option<Plan> {
        if self.name != "update_plan" {
            return None;
        }
        let update: UpdatePlan = serde_json::from_str(self.arguments).ok()?;
        Some(Plan::new(plan_entries(update.plan)))
    }

    fn tool_call(&self, call_id: &str, cwd: &Path, calls: &mut Calls) -> ToolCall {
        let arguments: Value = serde_json::from_str(self.arguments)
            .unwrap_or_else(|_| Value::String(self.arguments.to_owned()));
        let (written, is_failed) = self.result();
        let status = if is_failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let patch = patch_of(self.name, &arguments);
        let (kind, title, mut content, places) = match patch.as_deref().and_then(Changes::read) {
            Some(changes) => {
                let (content, places) = changes.shown(cwd);
                (ToolKind::Edit, changes.title(), content, places)
            }
            None => {
                let places = places_of(self.name, &arguments, cwd);
                (kind_of(self.name), title_of(self.name, &arguments), Vec::new(), places)
            }
        };
        content.extend(output(&written));
        ToolCall::new(calls.name(call_id), title)
            .kind(kind)
            .status(status)
            .content(content)
            .locations(places)
            .raw_input(arguments)
    }

    /// What it wrote, and whether it failed as far as its output tells.
    fn result(&self) -> (String, bool) {
        let Some(written) = self.output else { return ("aborted".to_owned(), true) };
        let answer: Value = serde_json::from_str(written).unwrap_or_default();
        match (&answer["output"], answer["metadata"]["exit_code"].as_i64()) {
            (Value::String(output), Some(code)) => (output.clone(), code != 0),
            _ => {
                let is_failed = written == "aborted"
                    || written.starts_with("rejected by the user")
                    || written.starts_with("denied: ");
                (written.to_owned(), is_failed)
            }
        }
    }
}

/// The text of a patch, whichever tool it was given to.
fn patch_of(tool: &str, arguments: &Value) -> Option<String> {
    match tool {
        "apply_patch" => arguments.as_str().or(arguments["input"].as_str()).map(str::to_owned),
        "shell" => {
            let found = sabir_engine::patch::intercept(&command_of(arguments)?)?;
            Some(found.patch_text)
        }
        _ => None,
    }
}

/// A patch, as it was written. What the files were is not known any more.
struct Changes(sabir_engine::patch::Patch);

impl Changes {
    fn read(text: &str) -> Option<Self> {
        sabir_engine::patch::parse(text).ok().map(Self)
    }

    fn title(&self) -> String {
        let names: Vec<String> = self.0.operations.iter().map(|it| it.path.to_string()).collect();
        format!("Edit {}", names.join(", "))
    }

    fn shown(&self, cwd: &Path) -> (Vec<ToolCallContent>, Vec<ToolCallLocation>) {
        let (mut content, mut places) = (Vec::new(), Vec::new());
        for operation in &self.0.operations {
            let path = cwd.join(operation.path.as_str());
            match &operation.kind {
                OperationKind::Add { content: text } => {
                    content.push(Diff::new(path.clone(), text.clone()).into());
                }
                OperationKind::Delete => {}
                OperationKind::Update { chunks, .. } => {
                    for chunk in chunks {
                        let (mut old, mut new) = (String::new(), String::new());
                        for line in &chunk.lines {
                            let (sides, text): (&mut [&mut String], _) = match line {
                                ChunkLine::Keep(text) => (&mut [&mut old, &mut new], text),
                                ChunkLine::Remove(text) => (&mut [&mut old], text),
                                ChunkLine::Insert(text) => (&mut [&mut new], text),
                            };
                            for side in sides {
                                side.push_str(text);
                                side.push('\n');
                            }
                        }
                        content.push(Diff::new(path.clone(), new).old_text(old).into());
                    }
                }
            }
            places.push(ToolCallLocation::new(path));
        }
        (content, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn a_thread_is_told_in_its_order() {
        let call = |call_id: &str, name: &str, arguments: Value| Item::FunctionCall {
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let answer = |call_id: &str, output: &str| Item::FunctionCallOutput {
            call_id: call_id.to_owned(),
            output: output.to_owned(),
        };
        let exit = |code: i32| json!({ "output": "x\n", "metadata": { "exit_code": code } });
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n";
        let items = [
            Item::user("hello"),
            Item::Reasoning {
                id: String::new(),
                summary: vec![Summary::SummaryText { text: "hm".to_owned() }],
                encrypted_content: None,
            },
            call("c", "shell", json!({ "command": ["ls", "-l"] })),
            answer("c", &exit(0).to_string()),
            call("c", "shell", json!({ "command": ["false"] })),
            answer("c", &exit(1).to_string()),
            call("p", "apply_patch", json!({ "input": patch })),
            answer("p", "done"),
            call("u", "update_plan", json!({ "plan": [{ "step": "s", "status": "pending" }] })),
            answer("u", "the plan is shown"),
            call("o", "read_file", json!({ "path": "a.txt" })),
            Item::assistant("bye"),
        ];
        let mut calls = Calls::default();
        let told: Vec<String> = updates(&items, Path::new("/w"), "h", &mut calls)
            .iter()
            .map(|update| serde_json::to_string(update).unwrap())
            .collect();
        expect![[r#"
            {"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hello"},"messageId":"h-0"}
            {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"},"messageId":"h-1"}
            {"sessionUpdate":"tool_call","toolCallId":"c","title":"ls -l","kind":"execute","status":"completed","content":[{"type":"content","content":{"type":"text","text":"```\nx\n```"}}],"rawInput":{"command":["ls","-l"]}}
            {"sessionUpdate":"tool_call","toolCallId":"c-2","title":"false","kind":"execute","status":"failed","content":[{"type":"content","content":{"type":"text","text":"```\nx\n```"}}],"rawInput":{"command":["false"]}}
            {"sessionUpdate":"tool_call","toolCallId":"p","title":"Edit a.txt","kind":"edit","status":"completed","content":[{"type":"diff","path":"/w/a.txt","oldText":"one\n","newText":"two\n"},{"type":"content","content":{"type":"text","text":"```\ndone\n```"}}],"locations":[{"path":"/w/a.txt"}],"rawInput":{"input":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"}}
            {"sessionUpdate":"plan","entries":[{"content":"s","priority":"medium","status":"pending"}]}
            {"sessionUpdate":"tool_call","toolCallId":"o","title":"Read a.txt","kind":"read","status":"failed","content":[{"type":"content","content":{"type":"text","text":"```\naborted\n```"}}],"locations":[{"path":"/w/a.txt"}],"rawInput":{"path":"a.txt"}}
            {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"bye"},"messageId":"h-11"}
        "#]]
        .assert_eq(&(told.join("\n") + "\n"));
    }
}
