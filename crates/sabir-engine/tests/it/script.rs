//! Transcripts of the machine: a script goes in, line by line, and what the machine wants comes out
//! below each line. Numbers after `#` are those that the machine gave to requests and work.
//!
//! A line begins with a time if it begins with `+MS`, and holds one of:
//! `configure [ID] [approval] [sandbox] [key=value]`, `input ID TEXT [mode=..] [after=RESPONSE]`,
//! `model #N text|thought|message|call|done|failed ...`, `prepared #N PATH...|error TEXT`,
//! `tool #N exit CODE TEXT|denied TEXT|ok TEXT|fail TEXT|out TEXT`, `approve ID CALL DECISION`,
//! `patch ID CALL DECISION`, `op ID JSON`, `external NAME=EFFECTS...`, `unattended`, `tick`.

#![expect(clippy::expect_used, reason = "a script that cannot be read should say where")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use sabir_engine::{
    Content, EventMsg, ExecOutput, FailureKind, FileChange, Input, Item, ModelEvent, ModelFailure,
    ModelRequest, OfferedTool, Op, Output, OutputStream, PreparedPatch, Record, Role, Session,
    Settings, Submission, ToolEvent, ToolInfo, ToolResult, Usage, Work,
};
use sabir_policy::{Confinement, PolicyDoc, ToolEffects};
use serde_json::{Value, json};

/// Compares the transcript of a script with what is expected.
#[track_caller]
pub(crate) fn check(script: &str, expect: Expect) {
    expect.assert_eq(&run(script));
}

/// Runs a script and returns its transcript.
pub(crate) fn run(script: &str) -> String {
    let mut machine = Session::default();
    let mut now = 0;
    run_on(&mut machine, &mut now, script).0
}

/// Runs a script on a machine, and returns the transcript and what was recorded.
pub(crate) fn run_on(machine: &mut Session, now: &mut u64, script: &str) -> (String, Vec<Record>) {
    let mut text = String::new();
    let mut records = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "> {line}");
        let mut rest = line;
        if let Some(timed) = line.strip_prefix('+') {
            let (ms, after) = timed.split_once(' ').unwrap_or((timed, "tick"));
            *now += ms.parse::<u64>().expect("a time after +");
            rest = after;
        }
        machine.handle(input(rest), *now);
        while let Some(output) = machine.poll_output() {
            if let Output::Record(record) = &output {
                records.push(record.clone());
            }
            if let Some(line) = show(&output) {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    (text, records)
}

/// The audit rows of a script, in the words that a person gets.
pub(crate) fn explained(script: &str) -> String {
    explained_under("", script)
}

/// The same, of a session that is held by a policy file.
pub(crate) fn explained_under(policy: &str, script: &str) -> String {
    let policy = Arc::new(PolicyDoc::parse(policy).expect("a policy file"));
    let mut machine = Session::default();
    let mut lines = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut input = input(line);
        if let Input::Configure { settings, .. } = &mut input {
            settings.policy = Arc::clone(&policy);
        }
        machine.handle(input, 0);
        while let Some(output) = machine.poll_output() {
            if let Output::Audit(row) = output {
                lines.push(sabir_policy::explain(&row));
            }
        }
    }
    lines.join("\n")
}

/// The last request that a script leads to.
pub(crate) fn last_request(script: &str) -> ModelRequest {
    let mut machine = Session::default();
    let mut last = None;
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        machine.handle(input(line), 0);
        while let Some(output) = machine.poll_output() {
            if let Output::Ask { request, .. } = output {
                last = Some(*request);
            }
        }
    }
    last.expect("a request")
}

fn input(line: &str) -> Input {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "configure" => configure(rest, None),
        "input" => {
            let (id, rest) = rest.split_once(' ').expect("an id and a text");
            let mut words: Vec<&str> = rest.split(' ').collect();
            let mut op = json!({ "type": "user_input" });
            while let Some((key, value)) = words.last().and_then(|it| it.split_once('=')) {
                let key = if key == "after" { "last_response_id" } else { key };
                op[key] = json!(value);
                words.pop();
            }
            op["items"] = json!([{ "type": "text", "text": words.join(" ") }]);
            submit(id, op)
        }
        "approve" | "patch" => {
            let words: Vec<&str> = rest.split(' ').collect();
            let kind = if word == "patch" { "patch_approval" } else { "exec_approval" };
            let mut op = json!({ "type": kind, "call_id": words[1], "decision": words[2] });
            if words.len() > 3 {
                op["prefix"] = json!(words[3..]);
            }
            submit(words[0], op)
        }
        "op" => {
            let (id, op) = rest.split_once(' ').expect("an id and an op");
            submit(id, serde_json::from_str(op).expect("an op in JSON"))
        }
        "model" => {
            let (attempt, rest) = numbered(rest);
            Input::Model { attempt, event: model_event(rest) }
        }
        "prepared" => {
            let (key, rest) = numbered(rest);
            let patch = match rest.strip_prefix("error ") {
                Some(words) => Err(words.to_owned()),
                None => Ok(prepared_patch(rest)),
            };
            Input::Prepared { key, patch }
        }
        "tool" => {
            let (key, rest) = numbered(rest);
            Input::Tool { key, event: tool_event(rest) }
        }
        "unattended" => Input::Unattended,
        "external" => Input::External(rest.split_whitespace().map(offered_tool).collect()),
        "tick" => Input::Tick,
        _ => panic!("what is {word:?}?"),
    }
}

/// The settings that scripts begin with, and what a line says of them.
pub(crate) fn configure(line: &str, stored: Option<Vec<Record>>) -> Input {
    let mut settings = json!({
        "session_id": "s", "model": "m", "provider": {}, "cwd": "/w", "approval_policy": "on-request",
        "sandbox_policy": { "mode": "workspace-write" }, "instructions": "", "request_max_retries": 4,
        "stream_max_retries": 5,
    });
    let mut sub_id = "c";
    for word in line.split_whitespace() {
        match word {
            "untrusted" | "on-request" | "on-failure" | "never" => {
                settings["approval_policy"] = json!(word)
            }
            "read-only" | "workspace-write" | "danger-full-access" => {
                settings["sandbox_policy"] = json!({ "mode": word });
            }
            _ => match word.split_once('=') {
                Some((key, value)) => {
                    settings[key] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
                }
                None => sub_id = word,
            },
        }
    }
    let settings: Settings = serde_json::from_value(settings).expect("settings");
    let external = Vec::new();
    Input::Configure { sub_id: sub_id.to_owned(), settings: Box::new(settings), stored, external }
}

fn submit(id: &str, op: Value) -> Input {
    let op: Op = serde_json::from_value(op).expect("an op");
    Input::Submit(Submission { id: id.to_owned(), op })
}

fn numbered(rest: &str) -> (u64, &str) {
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    (number.trim_start_matches('#').parse().expect("a number"), rest)
}

fn model_event(line: &str) -> ModelEvent {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "text" => ModelEvent::TextDelta(rest.to_owned()),
        "thought" => ModelEvent::ReasoningDelta(rest.to_owned()),
        "message" => ModelEvent::ItemDone(Item::assistant(rest)),
        "call" => {
            let mut words = rest.splitn(3, ' ');
            let mut next = || words.next().unwrap_or_default().to_owned();
            let (call_id, name, arguments) = (next(), next(), next());
            // `call c1 ls -l` is short for a shell call.
            let item = match name.as_str() {
                "shell" | "apply_patch" | "read_file" | "update_plan" | "spawn_agent" | "fly" => {
                    Item::FunctionCall { call_id, name, arguments }
                }
                tool if tool.starts_with("mcp__") => {
                    Item::FunctionCall { call_id, name, arguments }
                }
                _ => {
                    let mut command = vec![name];
                    command.extend(arguments.split_whitespace().map(str::to_owned));
                    let arguments = json!({ "command": command }).to_string();
                    Item::FunctionCall { call_id, name: "shell".to_owned(), arguments }
                }
            };
            ModelEvent::ItemDone(item)
        }
        "done" => {
            let (id, tokens) = rest.split_once(' ').unwrap_or((rest, ""));
            let usage = tokens.parse().ok().map(|input| Usage { input, ..Usage::default() });
            ModelEvent::Completed { response_id: id.to_owned(), usage }
        }
        "failed" => {
            let (kind, message) = rest.split_once(' ').unwrap_or((rest, ""));
            let kind = match kind {
                "connect" => FailureKind::Connect,
                "server" => FailureKind::Server,
                "disconnected" => FailureKind::Disconnected,
                "quota" => FailureKind::Quota,
                "refused" => FailureKind::Refused,
                "too-long" => FailureKind::ContextLength,
                _ => panic!("what is {kind:?}?"),
            };
            let message = message.to_owned();
            ModelEvent::Failed(ModelFailure { kind, message, retry_after_ms: None })
        }
        _ => panic!("what is {word:?}?"),
    }
}

/// `NAME=read-only|unknown|destructive`.
fn offered_tool(word: &str) -> OfferedTool {
    let (name, effects) = word.split_once('=').unwrap();
    let effects = match effects {
        "read-only" => ToolEffects::ReadOnly,
        "unknown" => ToolEffects::Unknown,
        "destructive" => ToolEffects::Destructive,
        _ => panic!("what is {effects:?}?"),
    };
    let (name, description, parameters) = (name.to_owned(), String::new(), json!({}));
    OfferedTool { info: ToolInfo { name, description, parameters }, effects }
}

fn prepared_patch(paths: &str) -> PreparedPatch {
    let names: Vec<&str> = paths.split_whitespace().collect();
    let change = |name: &&str| {
        (name.trim_start_matches("/w/").to_owned(), FileChange::Add { content: "new\n".to_owned() })
    };
    let changes: BTreeMap<_, _> = names.iter().map(change).collect();
    let absolute =
        |name: &&str| if name.starts_with('/') { (*name).to_owned() } else { format!("/w/{name}") };
    let unified_diff = changes.keys().map(|name| format!("+++ b/{name}\n")).collect();
    PreparedPatch { changes, unified_diff, paths: names.iter().map(absolute).collect() }
}

fn tool_event(line: &str) -> ToolEvent {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let exec = |code: i32, text: &str| ToolResult {
        success: code == 0,
        output: text.to_owned(),
        exec: Some(ExecOutput {
            exit_code: code,
            stdout: text.to_owned(),
            ..ExecOutput::default()
        }),
        ..ToolResult::default()
    };
    let output = rest.to_owned();
    ToolEvent::Finished(match word {
        "out" => return ToolEvent::Output { stream: OutputStream::Stdout, chunk: output },
        "exit" => {
            let (code, text) = rest.split_once(' ').unwrap_or((rest, ""));
            exec(code.parse().expect("an exit code"), text)
        }
        "denied" => ToolResult { sandbox_denied: true, ..exec(1, rest) },
        "ok" => ToolResult { success: true, output, ..ToolResult::default() },
        "changed" => {
            ToolResult { success: true, output, undo: Some(json!(rest)), ..ToolResult::default() }
        }
        "fail" => ToolResult { output, ..ToolResult::default() },
        _ => panic!("what is {word:?}?"),
    })
}

/// One line for each thing that the machine wants; settings are left out, because they are long and
/// always the same.
fn show(output: &Output) -> Option<String> {
    Some(match output {
        Output::Emit(event) => format!("{} {}", event.id, show_event(&event.msg)),
        // Audit rows have a test of their own.
        Output::Record(Record::Settings { .. }) | Output::Audit(_) => return None,
        Output::Record(record) => format!("record {}", show_record(record)),
        Output::Ask { attempt, request } => {
            let items: Vec<String> = request.items.iter().map(|item| show_item(item)).collect();
            format!("ask #{attempt} [{}]", items.join(" | "))
        }
        Output::HangUp { attempt } => format!("hang up #{attempt}"),
        Output::Prepare { key, .. } => format!("prepare #{key}"),
        Output::Start { key, work, .. } => format!("start #{key} {}", show_work(work)),
        Output::Discard { key } => format!("discard #{key}"),
        Output::Stop { key } => format!("stop #{key}"),
        Output::WakeAt(at) => format!("wake at {at}"),
        Output::Close => "close".to_owned(),
    })
}

fn show_event(msg: &EventMsg) -> String {
    let mut value = serde_json::to_value(msg).expect("events are JSON");
    let kind = value["type"].as_str().unwrap_or_default().to_owned();
    let fields = value.as_object_mut().expect("events are objects");
    for noise in
        ["type", "cwd", "session_scope", "model", "session_id", "duration_ms", "sandbox_policy"]
    {
        fields.shift_remove(noise);
    }
    fields.retain(|_, value| !value.is_null() && *value != json!("") && *value != json!(false));
    let text: Vec<String> = fields
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text:?}"),
            value => format!("{key}={value}"),
        })
        .collect();
    format!("{kind} {}", text.join(" ")).trim_end().to_owned()
}

fn show_record(record: &Record) -> String {
    match record {
        Record::Item { item } => show_item(item),
        Record::Compacted { items } => {
            let items: Vec<String> = items.iter().map(|item| show_item(item)).collect();
            format!("compacted [{}]", items.join(" | "))
        }
        record => {
            let value = serde_json::to_value(record).expect("records are JSON");
            let mut text = value["type"].as_str().unwrap_or_default().to_owned();
            for (key, value) in value
                .as_object()
                .into_iter()
                .flatten()
                // What the gate said has tests of its own.
                .filter(|(key, value)| {
                    !["type", "judged"].contains(&key.as_str()) && !value.is_null()
                })
            {
                let _ = write!(text, " {key}={value}");
            }
            text
        }
    }
}

fn show_item(item: &Item) -> String {
    match item {
        Item::Message { role, content } => {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "agent",
                Role::System | Role::Developer => "system",
            };
            let text: Vec<String> = content
                .iter()
                .map(|part| match part {
                    Content::InputText { text } | Content::OutputText { text } => {
                        text.lines().next().unwrap_or_default().chars().take(60).collect()
                    }
                    _ => "(picture)".to_owned(),
                })
                .collect();
            format!("{role}: {}", text.join(" "))
        }
        Item::Reasoning { .. } => "(thought)".to_owned(),
        Item::FunctionCall { call_id, name, .. } => format!("call {call_id} {name}"),
        Item::FunctionCallOutput { call_id, output } => format!("output {call_id}: {output}"),
        Item::Other(_) => "(other)".to_owned(),
    }
}

fn show_work(work: &Work) -> String {
    match work {
        Work::Exec { command, confinement, .. } => {
            let where_ = match confinement {
                Confinement::Confined => "in the sandbox",
                Confinement::Unconfined => "without a sandbox",
            };
            format!("{} {where_}", command.join(" "))
        }
        Work::Patch => "patch".to_owned(),
        Work::Call(call) => format!("{call:?}"),
        Work::Undo(changes) => format!("undo {}", json!(changes)),
    }
}
