//! What the engine tells, told to the editor.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    ContentChunk, MessageId, Plan, SessionUpdate, StopReason, ToolCall, ToolCallContent,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind, UsageUpdate,
};
use agent_client_protocol::{Error, ErrorCode};
use sabir_engine::{Event, EventMsg, ExecOutput, FileChange};
use sabir_policy::as_typed;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::permission::{Question, Subject};
use super::{OUTPUT_PAUSE, Session, Streamed, plan_entries};
use crate::acp::diffs;
use crate::acp::tool_calls::{Known, kind_of, output, places_of, text, title_of, title_of_command};
use crate::acp::wire::{Weight, chunk};

/// What is shown of a call when it begins.
pub(super) struct Beginning {
    pub(super) title: String,
    pub(super) kind: ToolKind,
    pub(super) status: ToolCallStatus,
    pub(super) content: Vec<ToolCallContent>,
    pub(super) places: Vec<ToolCallLocation>,
    pub(super) input: Value,
}

impl Session {
    pub(super) async fn on_event(&mut self, Event { id, msg }: Event) {
        match msg {
            EventMsg::AgentMessageDelta { delta } => {
                let said = piece(&mut self.said, "said", delta);
                self.wire.update(SessionUpdate::AgentMessageChunk(said)).await;
            }
            EventMsg::AgentMessage { message } => {
                if let Some(rest) = self.said.rest_of(&message) {
                    let said = piece(&mut self.said, "said", rest);
                    self.wire.update(SessionUpdate::AgentMessageChunk(said)).await;
                }
                self.said.end();
            }
            EventMsg::AgentReasoningDelta { delta } => {
                let thought = piece(&mut self.thought, "thought", delta);
                self.wire.update(SessionUpdate::AgentThoughtChunk(thought)).await;
            }
            EventMsg::AgentReasoning { text } => {
                if let Some(rest) = self.thought.rest_of(&text) {
                    let thought = piece(&mut self.thought, "thought", rest);
                    self.wire.update(SessionUpdate::AgentThoughtChunk(thought)).await;
                }
                self.thought.end();
            }
            EventMsg::ExecApprovalRequest { call_id, command, cwd, reason, session_scope } => {
                let beginning = ask_to_run(&command, &cwd, reason);
                let question = Question { call_id, subject: Subject::Exec, scope: session_scope };
                self.ask(&id, question, beginning).await;
            }
            EventMsg::ApplyPatchApprovalRequest { call_id, changes, reason, session_scope } => {
                let mut beginning = self.edit(&changes, ToolCallStatus::Pending);
                beginning.content.extend(reason.map(text));
                let question = Question { call_id, subject: Subject::Patch, scope: session_scope };
                self.ask(&id, question, beginning).await;
            }
            EventMsg::ExecCommandBegin { call_id, command, cwd } => {
                let beginning = Beginning {
                    title: title_of_command(&command),
                    kind: ToolKind::Execute,
                    status: ToolCallStatus::InProgress,
                    content: Vec::new(),
                    places: Vec::new(),
                    input: json!({ "command": command, "cwd": cwd }),
                };
                self.begin(&call_id, beginning).await;
                if let Some(call) = self.calls.find(&call_id) {
                    call.output.clear();
                }
            }
            EventMsg::ExecCommandOutputDelta { call_id, chunk, .. } => {
                if let Some(call) = self.calls.find(&call_id) {
                    call.output.push(&chunk);
                    call.is_behind = true;
                    self.show_at.get_or_insert_with(|| Instant::now() + OUTPUT_PAUSE);
                }
            }
            EventMsg::ExecCommandEnd { call_id, output } => self.ran(&call_id, &output).await,
            EventMsg::PatchApplyBegin { call_id, changes, .. } => {
                let beginning = self.edit(&changes, ToolCallStatus::InProgress);
                self.begin(&call_id, beginning).await;
            }
            EventMsg::PatchApplyEnd { call_id, success, message } => {
                self.patched(&call_id, success, message).await;
            }
            EventMsg::ToolCallBegin { call_id, tool, arguments } => {
                let beginning = Beginning {
                    title: title_of(&tool, &arguments),
                    kind: kind_of(&tool),
                    status: ToolCallStatus::InProgress,
                    content: Vec::new(),
                    places: places_of(&tool, &arguments, &self.cwd),
                    input: arguments,
                };
                self.begin(&call_id, beginning).await;
            }
            EventMsg::ToolCallEnd { call_id, success, output: written, .. } => {
                let fields = ToolCallUpdateFields::new().status(status(success));
                self.finish(&call_id, fields.content(output(&written))).await;
            }
            EventMsg::ApprovalExpired { call_id } => {
                let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
                self.finish(&call_id, fields).await;
            }
            EventMsg::PlanUpdate { plan, .. } => {
                self.wire.update(SessionUpdate::Plan(Plan::new(plan_entries(plan)))).await;
            }
            EventMsg::TokenCount { usage, context_window: Some(size), .. } => {
                let used = usage.input.saturating_add(usage.output);
                self.wire.update(SessionUpdate::UsageUpdate(UsageUpdate::new(used, size))).await;
            }
            EventMsg::TurnComplete { .. } => self.close_calls().await,
            EventMsg::TaskComplete { .. } if self.is_prompt(&id) => {
                self.end(Ok(StopReason::EndTurn)).await;
            }
            EventMsg::TurnAborted { .. } if self.is_prompt(&id) => {
                self.end(Ok(StopReason::Cancelled)).await;
            }
            EventMsg::Error { message } => self.failed(&id, message).await,
            // The answer to an interrupt that came too late.
            EventMsg::Warning { .. } if id.starts_with("cancel-") => {}
            EventMsg::Warning { message } if self.loading.is_some() => self.notices.push(message),
            EventMsg::Warning { message } => self.wire.notify(Weight::Warning, message).await,
            EventMsg::StreamError { message } => {
                // What was streamed is not part of what comes next.
                self.said.end();
                self.thought.end();
                self.wire.notify(Weight::Info, message).await;
            }
            EventMsg::BackgroundEvent { message } => self.wire.notify(Weight::Info, message).await,
            EventMsg::SessionConfigured { cwd, .. } => self.cwd = cwd.into(),
            EventMsg::History { items, .. } => {
                if let Some(loading) = self.loading.take_if(|it| it.history == id) {
                    self.loaded(loading, &items).await;
                }
            }
            // What an editor has no place for, and what nobody asked for.
            _ => {}
        }
    }

    pub(super) fn is_prompt(&self, id: &str) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.id == id)
    }

    async fn failed(&mut self, id: &str, message: String) {
        let is_of_loading = |it: &mut super::Loading| {
            it.history == id || it.configure.as_deref() == Some(id) || id.is_empty()
        };
        if let Some(loading) = self.loading.take_if(is_of_loading) {
            let error = Error::new(ErrorCode::INTERNAL_ERROR, message);
            let _ = loading.responder.respond_with_error(error);
        } else if self.is_prompt(id) || id.is_empty() {
            self.end(stop_reason(message)).await;
        } else if id.starts_with("decision-") {
            self.wire.notify(Weight::Warning, message).await;
        }
    }

    fn edit(&self, changes: &BTreeMap<String, FileChange>, status: ToolCallStatus) -> Beginning {
        let (content, places) = diffs::shown(changes, &self.cwd);
        let names: Vec<&str> = changes.keys().map(String::as_str).collect();
        Beginning {
            title: format!("Edit {}", names.join(", ")),
            kind: ToolKind::Edit,
            status,
            content,
            places,
            input: json!({ "files": names }),
        }
    }

    /// Shows a call, or what has become of one that the editor knows.
    pub(super) async fn begin(&mut self, call_id: &str, beginning: Beginning) -> ToolCallUpdate {
        let (id, known) = self.calls.begin(call_id);
        let Beginning { title, kind, status, content, places, input } = beginning;
        let fields = ToolCallUpdateFields::new()
            .title(title.clone())
            .kind(kind)
            .status(status)
            .content(content.clone())
            .locations(places.clone())
            .raw_input(input.clone());
        let update = ToolCallUpdate::new(id.clone(), fields);
        self.wire
            .update(match known {
                Known::Yes => SessionUpdate::ToolCallUpdate(update.clone()),
                Known::No => SessionUpdate::ToolCall(
                    ToolCall::new(id, title)
                        .kind(kind)
                        .status(status)
                        .content(content)
                        .locations(places)
                        .raw_input(input),
                ),
            })
            .await;
        update
    }

    /// Ends a call that the editor knows.
    pub(super) async fn finish(&mut self, call_id: &str, fields: ToolCallUpdateFields) {
        let Some(call) = self.calls.find(call_id) else { return };
        call.has_ended = true;
        call.is_behind = false;
        let update = ToolCallUpdate::new(call.id.clone(), fields);
        self.wire.update(SessionUpdate::ToolCallUpdate(update)).await;
    }

    async fn ran(&mut self, call_id: &str, ended: &ExecOutput) {
        let Some(call) = self.calls.find(call_id) else { return };
        if call.output.is_empty() {
            call.output.push(&ended.stdout);
            call.output.push(&ended.stderr);
        }
        let mut content = output(&call.output.show());
        match (ended.timed_out, ended.exit_code) {
            (true, _) => content.push(text("timed out")),
            (false, 0) => {}
            (false, code) => content.push(text(format!("exit code {code}"))),
        }
        let fields = ToolCallUpdateFields::new()
            .status(status(ended.exit_code == 0))
            .content(content)
            .raw_output(json!({
                "exit_code": ended.exit_code,
                "duration_ms": ended.duration_ms,
                "timed_out": ended.timed_out,
            }));
        self.finish(call_id, fields).await;
    }

    async fn patched(&mut self, call_id: &str, success: bool, message: String) {
        let fields = ToolCallUpdateFields::new().status(status(success));
        if success {
            // The diff that is shown stays.
            return self.finish(call_id, fields).await;
        }
        if self.calls.find(call_id).is_none() {
            // A patch that could not even be tried was never shown.
            let beginning = self.edit(&BTreeMap::new(), ToolCallStatus::InProgress);
            let title = "Edit files".to_owned();
            self.begin(call_id, Beginning { title, ..beginning }).await;
        }
        self.finish(call_id, fields.content(vec![text(message)])).await;
    }

    pub(super) async fn show_output(&mut self) {
        self.show_at = None;
        let updates: Vec<ToolCallUpdate> = self
            .calls
            .behind()
            .map(|call| {
                call.is_behind = false;
                let fields = ToolCallUpdateFields::new().content(output(&call.output.show()));
                ToolCallUpdate::new(call.id.clone(), fields)
            })
            .collect();
        for update in updates {
            self.wire.update(SessionUpdate::ToolCallUpdate(update)).await;
        }
    }

    /// Calls that never came to an end of their own have failed.
    pub(super) async fn close_calls(&mut self) {
        self.show_at = None;
        for id in self.calls.close() {
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
            let update = ToolCallUpdate::new(id, fields);
            self.wire.update(SessionUpdate::ToolCallUpdate(update)).await;
        }
    }
}

/// A piece of a message or a thought. All pieces of one have one name.
fn piece(streamed: &mut Streamed, kind: &str, text: String) -> ContentChunk {
    streamed.text.push_str(&text);
    chunk(text).message_id(MessageId::new(format!("{kind}-{}", streamed.number)))
}

fn ask_to_run(command: &[String], cwd: &str, reason: Option<String>) -> Beginning {
    let kind = match command.first().map(String::as_str) {
        Some("spawn_agent") => ToolKind::Think,
        _ => ToolKind::Execute,
    };
    // All of it, because it is what a person answers for.
    let mut content = output(&as_typed(command));
    content.push(text(format!("in {cwd}")));
    content.extend(reason.map(text));
    Beginning {
        title: title_of_command(command),
        kind,
        status: ToolCallStatus::Pending,
        content,
        places: Vec::new(),
        input: json!({ "command": command, "cwd": cwd }),
    }
}

fn status(success: bool) -> ToolCallStatus {
    match success {
        true => ToolCallStatus::Completed,
        false => ToolCallStatus::Failed,
    }
}

/// Why a prompt stopped, where the protocol has a word for it.
fn stop_reason(message: String) -> Result<StopReason, String> {
    match message.strip_prefix("the response is incomplete: ") {
        Some(why) if why.starts_with("content_filter") => Ok(StopReason::Refusal),
        Some(why) if why.starts_with("max_output_tokens") || why.starts_with("length") => {
            Ok(StopReason::MaxTokens)
        }
        _ => Err(message),
    }
}
