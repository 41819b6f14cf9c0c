//! How calls go: understood, judged, asked about, started, finished.

use std::sync::Arc;

use sabir_base::text::clip_counted;
use sabir_policy::{self as policy, ApprovalMark, Confinement, Outcome};

use super::input::{PreparedPatch, ToolEvent, ToolResult};
use super::task::{BegunCall, Call, CallState, Kind, Subject};
use super::thread::{ApprovalState, Record};
use super::{ABORTED, Changes, Open, Output, Work};
use crate::items::Item;
use crate::protocol::{Decision, EventMsg, ExecOutput};
use crate::stream::{FailureKind, ModelFailure, Usage};
use crate::tools::{LONGEST_TIMEOUT, Shell, ToolCall};

/// Far more than any model makes on purpose.
const MOST_CALLS: usize = 1024;

/// More than a person reads in a list of calls.
const SHOWN_OUTPUT_BYTES: usize = 4 * 1024;

impl Open {
    /// The model asks for something.
    pub(super) fn call(&mut self, call_id: String, name: String, arguments: String, now: u64) {
        let made = BegunCall { call_id, name, arguments };
        let Some(task) = &mut self.task else { return };
        if let Some(index) = task.begun.iter().position(|it| *it == made) {
            task.begun.swap_remove(index);
            task.turn.has_repeated = true;
            return;
        }
        if task.turn.calls.len() >= MOST_CALLS {
            return self.stop_listening(
                format!("the model makes more than {MOST_CALLS} calls in one response"),
                now,
            );
        }
        self.keep_held();
        let BegunCall { call_id, name, arguments } = made.clone();
        let Some(task) = &self.task else { return };
        let sub_id = task.sub_id.clone();
        // Two calls of one response with one id could not be told apart in the answer.
        let taken = |id: &str| task.turn.calls.iter().any(|call| call.call_id == id);
        let mut unique = call_id.clone();
        let mut number = 2;
        while unique.is_empty() || taken(&unique) {
            unique = format!("{call_id}-{number}");
            number += 1;
        }
        let call_id = unique;
        self.record_item(Item::FunctionCall {
            call_id: call_id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        });
        let key = self.key();
        let made = Some(made);
        let external = &self.external;
        let understood = ToolCall::read(&name, &arguments, |name| {
            external.iter().any(|tool| tool.info.name == name)
        });
        let call = match understood {
            Ok(call) => call,
            Err(words) => {
                let arguments = serde_json::Value::String(arguments);
                let call = ToolCall::External { name: name.clone(), arguments: arguments.clone() };
                let new = Call::new(key, call_id.clone(), name.clone(), call, String::new());
                self.add(Call { made, ..new });
                let begin = EventMsg::ToolCallBegin { call_id, tool: name, arguments };
                self.emit(&sub_id, begin);
                let result = ToolResult { output: words, ..ToolResult::default() };
                self.emit_end(&sub_id, key, &result);
                return self.finish(key, result, now);
            }
        };
        let call = match call {
            // A patch that is given to a shell is still a patch.
            ToolCall::Shell(shell) => match crate::patch::intercept(&shell.command) {
                Some(found) => {
                    let base = self.workdir(shell.workdir.as_deref());
                    let cwd = found.workdir.map_or(base.clone(), |it| join(&base, &it));
                    let call = ToolCall::ApplyPatch { input: found.patch_text };
                    self.add(Call { made, ..Call::new(key, call_id, name, call, cwd) });
                    return self.judge(key, now);
                }
                None => ToolCall::Shell(shell),
            },
            call => call,
        };
        let cwd = match &call {
            ToolCall::Shell(shell) => self.workdir(shell.workdir.as_deref()),
            _ => self.turn_settings().cwd.clone(),
        };
        self.add(Call { made, ..Call::new(key, call_id, name, call, cwd) });
        self.judge(key, now);
    }

    fn add(&mut self, call: Call) {
        if let Some(task) = &mut self.task {
            task.turn.calls.push(call);
        }
    }

    fn workdir(&self, given: Option<&str>) -> String {
        let cwd = &self.turn_settings().cwd;
        given.map_or_else(|| cwd.clone(), |it| join(cwd, it))
    }

    fn find(&mut self, key: u64) -> Option<&mut Call> {
        self.task.as_mut()?.turn.call(key)
    }

    /// Sees to it that a call is allowed before it can start.
    fn judge(&mut self, key: u64, now: u64) {
        let Some(call) = self.find(key) else { return };
        match call.call.clone() {
            ToolCall::UpdatePlan(update) => {
                let plan = update.plan;
                self.record(Record::Plan { plan: plan.clone() });
                if let Some(task) = &self.task {
                    let sub_id = task.sub_id.clone();
                    let explanation = update.explanation;
                    self.emit(&sub_id, EventMsg::PlanUpdate { explanation, plan });
                }
                let output = "the plan is shown".to_owned();
                self.finish(
                    key,
                    ToolResult { success: true, output, ..ToolResult::default() },
                    now,
                );
            }
            ToolCall::ApplyPatch { input } => {
                let cwd = call.cwd.clone();
                self.out.push_back(Output::Prepare { key, input, cwd });
            }
            ToolCall::Shell(shell) => {
                let cwd = call.cwd.clone();
                let verdict = self.judge_command(&shell, &cwd);
                self.follow(key, Subject::Exec, verdict, now);
            }
            ToolCall::ReadFile(_) | ToolCall::Search(_) | ToolCall::ListDir(_) => {
                let verdict = self.judge_read();
                self.follow(key, Subject::Exec, verdict, now);
            }
            ToolCall::SpawnAgent(_) => {
                let verdict = self.judge_spawn();
                self.follow(key, Subject::Exec, verdict, now);
            }
            ToolCall::External { name, arguments } => {
                let verdict = self.judge_external(&name, &arguments);
                self.follow(key, Subject::Exec, verdict, now);
            }
        }
    }

    /// A patch was tried.
    pub(super) fn prepared(&mut self, key: u64, patch: Result<PreparedPatch, String>, now: u64) {
        let Some(call) = self.find(key).filter(|call| call.state == CallState::Preparing) else {
            return self.out.push_back(Output::Discard { key });
        };
        match patch {
            Ok(PreparedPatch { changes, unified_diff, paths }) => {
                call.changes = changes;
                call.unified_diff = unified_diff;
                call.paths.clone_from(&paths);
                let verdict = self.judge_patch(&paths);
                self.follow(key, Subject::Patch, verdict, now);
            }
            Err(output) => {
                let call_id = call.call_id.clone();
                if let Some(task) = &self.task {
                    let sub_id = task.sub_id.clone();
                    let message = output.clone();
                    let end = EventMsg::PatchApplyEnd { call_id, success: false, message };
                    self.emit(&sub_id, end);
                }
                self.finish(key, ToolResult { output, ..ToolResult::default() }, now);
            }
        }
    }

    /// Does what the gate said.
    fn follow(&mut self, key: u64, subject: Subject, decision: policy::Decision, now: u64) {
        self.audit_decision(key, &decision, now);
        let policy::Decision { outcome, confinement, reason, .. } = decision;
        match outcome {
            Outcome::Allow => {
                if let Some(call) = self.find(key) {
                    call.auto_approved = true;
                    call.state = CallState::Ready { confinement };
                }
                self.settle(now);
            }
            Outcome::Ask => self.request_approval(key, subject, confinement, reason, now),
            Outcome::Deny => {
                if let Some(task) = &mut self.task
                    && let Some(call) = task.turn.call(key)
                {
                    let message = format!("refused: {}: {reason}", call.in_words());
                    let sub_id = task.sub_id.clone();
                    self.emit(&sub_id, EventMsg::Warning { message });
                }
                self.finish(key, ToolResult { output: reason, ..ToolResult::default() }, now);
            }
        }
    }

    fn request_approval(
        &mut self,
        key: u64,
        subject: Subject,
        confinement: Confinement,
        reason: String,
        now: u64,
    ) {
        if self.unattended {
            self.audit_answer(key, ApprovalMark::Unattended, now);
            let output = format!("denied: {reason}, and nobody is there to be asked");
            self.warn_of_denial(key, &output);
            return self.finish(key, ToolResult { output, ..ToolResult::default() }, now);
        }
        let deadline = self.settings.approval_timeout_ms.map(|ms| now.saturating_add(ms));
        let Some(task) = &mut self.task else { return };
        let sub_id = task.sub_id.clone();
        let Some(call) = task.turn.call(key) else { return };
        call.auto_approved = false;
        let call_id = match self.asked.contains(&call.call_id) {
            true => format!("{}~{key}-{}", call.call_id, self.asked.len()),
            false => call.call_id.clone(),
        };
        let asked_as = call_id.clone();
        call.state = CallState::Asking { subject, asked_as, deadline, confinement };
        let session_scope = super::grants::scope_of(call);
        let (cwd, reason) = (call.cwd.clone(), Some(reason));
        let (what, judged) = (call.in_words(), call.judged.clone());
        let msg = match subject {
            Subject::Exec => EventMsg::ExecApprovalRequest {
                call_id: call_id.clone(),
                command: call.command(),
                cwd,
                reason,
                session_scope,
            },
            Subject::Patch => EventMsg::ApplyPatchApprovalRequest {
                call_id: call_id.clone(),
                changes: call.changes.clone(),
                reason,
                session_scope,
            },
        };
        let state = ApprovalState::Requested;
        self.record(Record::Approval { call_id, state, what, judged });
        self.emit(&sub_id, msg);
    }

    /// A person answers.
    pub(super) fn answer(
        &mut self,
        sub_id: &str,
        subject: Subject,
        call_id: &str,
        decision: Decision,
        prefix: Option<Vec<String>>,
        now: u64,
    ) {
        let calls = self.task.iter_mut().flat_map(|task| task.turn.calls.iter_mut());
        let asking = calls.filter_map(|call| match &call.state {
            CallState::Asking { subject, asked_as, confinement, .. } if asked_as == call_id => {
                Some((*subject, *confinement, call))
            }
            _ => None,
        });
        let Some((asked, confinement, call)) = asking.last() else {
            let words = format!("no approval is waited for under the call {call_id:?}");
            return self.fail(sub_id, &words);
        };
        if asked != subject {
            let op = match asked {
                Subject::Exec => "exec_approval",
                Subject::Patch => "patch_approval",
            };
            return self.fail(sub_id, &format!("the call {call_id:?} waits for {op}"));
        }
        let (key, what) = (call.key, call.in_words());
        let grant = match (decision, prefix) {
            (Decision::ApprovedForSession, prefix) => {
                match super::grants::grant_for(call, prefix) {
                    Ok(grant) => Some(grant),
                    Err(words) => return self.fail(sub_id, &words),
                }
            }
            (_, None) => None,
            (_, Some(_)) => {
                return self.fail(sub_id, "a prefix goes with approved_for_session only");
            }
        };
        let state = match decision {
            Decision::Approved => ApprovalState::Approved,
            Decision::ApprovedForSession => ApprovalState::ApprovedForSession,
            Decision::Denied => ApprovalState::Denied,
            Decision::Abort => ApprovalState::Aborted,
        };
        // Aborting says the same of everything that waits.
        if decision != Decision::Abort {
            self.record(Record::answer(call_id, state, what));
            self.audit_answer(key, state.mark(), now);
        }
        match decision {
            Decision::Approved | Decision::ApprovedForSession => {
                if let Some(grant) = grant {
                    let grant = self.grants.name(grant);
                    self.record(Record::Granted { grant });
                }
                if let Some(call) = self.find(key) {
                    call.state = CallState::Ready { confinement };
                }
                self.settle(now);
            }
            Decision::Denied => {
                let output = "rejected by the user".to_owned();
                self.finish(key, ToolResult { output, ..ToolResult::default() }, now);
            }
            Decision::Abort => self.abort(crate::protocol::AbortReason::Interrupted, now),
        }
    }

    pub(super) fn expire_approvals(&mut self, now: u64) {
        let waited = self.settings.approval_timeout_ms.unwrap_or_default() as f64 / 1000.0;
        let words = format!("denied: nobody answered the request for approval within {waited} s");
        let is_due = |deadline: Option<u64>| deadline.is_some_and(|at| at <= now);
        self.deny_asked(&words, ApprovalMark::Expired, is_due, now);
    }

    pub(super) fn leave_unattended(&mut self, now: u64) {
        self.unattended = true;
        self.deny_asked(
            "denied: nobody is there to answer the request for approval",
            ApprovalMark::Unattended,
            |_| true,
            now,
        );
    }

    fn deny_asked(
        &mut self,
        words: &str,
        mark: ApprovalMark,
        is_due: impl Fn(Option<u64>) -> bool,
        now: u64,
    ) {
        let Some(task) = &self.task else { return };
        let due: Vec<(u64, String, String)> = task
            .turn
            .calls
            .iter()
            .filter_map(|call| match &call.state {
                CallState::Asking { asked_as, deadline, .. } if is_due(*deadline) => {
                    Some((call.key, asked_as.clone(), call.in_words()))
                }
                _ => None,
            })
            .collect();
        let sub_id = task.sub_id.clone();
        for (key, call_id, what) in due {
            let state = ApprovalState::Expired;
            self.record(Record::answer(&call_id, state, what));
            self.audit_answer(key, mark, now);
            self.emit(&sub_id, EventMsg::ApprovalExpired { call_id });
            self.warn_of_denial(key, words);
            let output = words.to_owned();
            self.finish(key, ToolResult { output, ..ToolResult::default() }, now);
        }
    }

    /// What nobody refused and still is not done must be seen by who looks later.
    fn warn_of_denial(&mut self, key: u64, words: &str) {
        let Some(task) = &mut self.task else { return };
        let sub_id = task.sub_id.clone();
        let Some(call) = task.turn.call(key) else { return };
        let message = format!("{}: {words}", call.in_words());
        self.emit(&sub_id, EventMsg::Warning { message });
    }

    /// Starts what may start: reading goes beside reading, everything else goes alone. What reads
    /// sees what the calls before it have changed.
    pub(super) fn start_ready(&mut self) {
        let Some(task) = &mut self.task else { return };
        if task.aborting.is_some() {
            return;
        }
        let sub_id = task.sub_id.clone();
        let mut readers = 0;
        let mut writers = 0;
        for call in &task.turn.calls {
            if matches!(call.state, CallState::Running { .. }) {
                *(if call.call.only_reads() { &mut readers } else { &mut writers }) += 1;
            }
        }
        let settings = Arc::clone(&task.turn.settings);
        let mut started = Vec::new();
        let mut changes_ahead = false;
        for call in &mut task.turn.calls {
            let reads = call.call.only_reads();
            changes_ahead |= !reads && call.state != CallState::Done;
            let CallState::Ready { confinement } = call.state else { continue };
            let must_wait = match reads {
                true => changes_ahead || writers > 0,
                false => readers + writers > 0,
            };
            if must_wait {
                continue;
            }
            *(if reads { &mut readers } else { &mut writers }) += 1;
            call.state = CallState::Running { confinement };
            let (key, call_id) = (call.key, call.call_id.clone());
            let (begin, work) = match &call.call {
                ToolCall::Shell(shell) => (
                    EventMsg::ExecCommandBegin {
                        call_id,
                        command: shell.command.clone(),
                        cwd: call.cwd.clone(),
                    },
                    Work::Exec {
                        command: shell.command.clone(),
                        cwd: call.cwd.clone(),
                        timeout_ms: shell.timeout.as_millis() as u64,
                        confinement,
                    },
                ),
                ToolCall::ApplyPatch { .. } => {
                    let (changes, auto_approved) = (call.changes.clone(), call.auto_approved);
                    (EventMsg::PatchApplyBegin { call_id, changes, auto_approved }, Work::Patch)
                }
                other => (
                    EventMsg::ToolCallBegin {
                        call_id,
                        tool: call.tool.clone(),
                        arguments: other.arguments(),
                    },
                    Work::Call(other.clone()),
                ),
            };
            let settings = Arc::clone(&settings);
            started.push((begin, Output::Start { key, work, settings }));
        }
        for (begin, start) in started {
            self.emit(&sub_id, begin);
            self.out.push_back(start);
        }
    }

    /// Stops what runs, and ends what waits.
    pub(super) fn stop_calls(&mut self, now: u64) {
        let Some(task) = &mut self.task else { return };
        let mut ended = Vec::new();
        for call in &mut task.turn.calls {
            if let CallState::Running { .. } = call.state {
                self.out.push_back(Output::Stop { key: call.key });
                continue;
            }
            let asked_as = match std::mem::replace(&mut call.state, CallState::Done) {
                CallState::Done => continue,
                CallState::Asking { asked_as, .. } => Some(asked_as),
                CallState::Preparing | CallState::Ready { .. } | CallState::Running { .. } => None,
            };
            self.out.extend(call.discard());
            let before = call.confined_result.take().map(|it| it.output);
            let asked = asked_as.map(|it| (call.key, it, call.in_words()));
            ended.push((call.call_id.clone(), asked, before));
        }
        for (call_id, asked, before) in ended {
            if let Some((key, call_id, what)) = asked {
                let state = ApprovalState::Aborted;
                self.record(Record::answer(&call_id, state, what));
                self.audit_answer(key, state.mark(), now);
            }
            let output = before.map_or(ABORTED.to_owned(), |it| format!("{it}\n{ABORTED}"));
            self.record_item(Item::FunctionCallOutput { call_id, output });
        }
    }

    /// News of something that runs.
    pub(super) fn tool(&mut self, key: u64, event: ToolEvent, now: u64) {
        let Some(task) = &mut self.task else { return };
        let (sub_id, kind) = (task.sub_id.clone(), task.kind);
        let Some(call) = task.turn.call(key) else { return };
        let CallState::Running { confinement } = call.state else { return };
        let call_id = call.call_id.clone();
        match event {
            ToolEvent::Output { stream, chunk } => {
                self.emit(&sub_id, EventMsg::ExecCommandOutputDelta { call_id, stream, chunk });
            }
            ToolEvent::Finished(result) => {
                let command = match &call.call {
                    ToolCall::Shell(shell) => Some((shell.command.clone(), call.cwd.clone())),
                    _ => None,
                };
                if kind != Kind::Undo {
                    self.emit_end(&sub_id, key, &result);
                }
                let aborting = self.task.as_ref().is_some_and(|task| task.aborting.is_some());
                if let Some((command, cwd)) = command
                    && confinement == Confinement::Confined
                    && result.sandbox_denied
                    && !aborting
                {
                    let decision = self.judge_retry(&command, &cwd);
                    if decision.outcome == Outcome::Deny {
                        self.audit_decision(key, &decision, now);
                    } else {
                        if let Some(call) = self.find(key) {
                            call.confined_result = Some(result);
                        }
                        return self.follow(key, Subject::Exec, decision, now);
                    }
                }
                match aborting {
                    true => self.finish_aborted(key, result, now),
                    false => self.finish(key, result, now),
                }
            }
        }
    }

    fn emit_end(&mut self, sub_id: &str, key: u64, result: &ToolResult) {
        let Some(call) = self.find(key) else { return };
        let call_id = call.call_id.clone();
        let msg = match &call.call {
            ToolCall::Shell(_) => {
                let failed = || ExecOutput {
                    exit_code: -1,
                    stderr: result.output.clone(),
                    ..ExecOutput::default()
                };
                let output = result.exec.clone().unwrap_or_else(failed);
                EventMsg::ExecCommandEnd { call_id, output }
            }
            ToolCall::ApplyPatch { .. } => {
                let (success, message) = (result.success, result.output.clone());
                EventMsg::PatchApplyEnd { call_id, success, message }
            }
            _ => EventMsg::ToolCallEnd {
                call_id,
                tool: call.tool.clone(),
                success: result.success,
                output: clip_counted(&result.output, SHOWN_OUTPUT_BYTES).into_owned(),
            },
        };
        self.emit(sub_id, msg);
    }

    /// Ends a call, whose end a person has seen by now if they saw its beginning.
    fn finish(&mut self, key: u64, mut result: ToolResult, now: u64) {
        let Some(Closed { kind, call_id, before }) = self.close_call(key, &mut result) else {
            return;
        };
        match kind {
            Kind::UserShell => {
                self.record_user_shell(&result.output);
                return self.complete(now);
            }
            Kind::Undo => return self.undo_done(result.success, result.output, now),
            Kind::Regular | Kind::Review | Kind::Compact => {}
        }
        let output = match before {
            // It ran in the sandbox, and what it did there is done.
            Some(before) if !result.success && result.exec.is_none() => {
                format!(
                    "{}\nrunning it again without the sandbox: {}",
                    before.output, result.output
                )
            }
            _ => result.output,
        };
        self.record_item(Item::FunctionCallOutput { call_id, output });
        self.settle(now);
    }

    /// Ends a call that was stopped.
    fn finish_aborted(&mut self, key: u64, mut result: ToolResult, now: u64) {
        let Some(Closed { kind, call_id, .. }) = self.close_call(key, &mut result) else { return };
        match kind {
            Kind::UserShell => self.record_user_shell(&result.output),
            Kind::Undo if result.success => self.record_undone(&result.output),
            Kind::Undo => {}
            Kind::Regular | Kind::Review | Kind::Compact => {
                let output = match result.output.is_empty() {
                    true => ABORTED.to_owned(),
                    false => format!("{ABORTED} by the user\n{}", result.output),
                };
                self.record_item(Item::FunctionCallOutput { call_id, output });
            }
        }
        self.finish_abort_if_stopped(now);
    }

    /// Nothing more comes of a call; what came of it is kept, but for what the model is told.
    fn close_call(&mut self, key: u64, result: &mut ToolResult) -> Option<Closed> {
        let task = self.task.as_mut()?;
        let kind = task.kind;
        let call = task.turn.call(key)?;
        if !matches!(call.state, CallState::Running { .. }) {
            self.out.extend(call.discard());
        }
        call.state = CallState::Done;
        let (call_id, before) = (call.call_id.clone(), call.confined_result.take());
        if result.success && !call.unified_diff.is_empty() {
            let diff = std::mem::take(&mut call.unified_diff);
            task.diffs.push(diff);
        }
        self.record_usage(result.usage);
        self.record_changes(result.undo.take());
        Some(Closed { kind, call_id, before })
    }

    /// What another agent used counts as used here.
    fn record_usage(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.totals.add(usage);
            self.record(Record::Tokens { total: self.totals });
        }
    }

    fn record_changes(&mut self, undo: Option<serde_json::Value>) {
        let Some(undo) = undo else { return };
        let next = self.changes.last().map_or(1, |(task, _)| task + 1);
        let Some(task) = &mut self.task else { return };
        let task = *task.number.get_or_insert(next);
        self.record(Record::Changed { task, undo });
    }

    /// A person's own command: no model asked for it, so no gate judges it.
    pub(super) fn start_user_shell(&mut self, sub_id: &str, command: String, now: u64) {
        let shell = Shell {
            command: vec!["bash".to_owned(), "-lc".to_owned(), command],
            workdir: None,
            timeout: LONGEST_TIMEOUT,
            escalated: false,
            justification: None,
        };
        self.start_own(sub_id, ToolCall::Shell(shell));
        self.settle(now);
    }

    fn start_own(&mut self, sub_id: &str, call: ToolCall) -> u64 {
        let key = self.key();
        let cwd = self.settings.cwd.clone();
        let mut call = Call::new(key, sub_id.to_owned(), "user".to_owned(), call, cwd);
        call.state = CallState::Ready { confinement: Confinement::Unconfined };
        self.add(call);
        key
    }

    fn record_user_shell(&mut self, output: &str) {
        let Some(task) = &self.task else { return };
        if let Some(ToolCall::Shell(shell)) = task.turn.calls.first().map(|call| &call.call) {
            let line = shell.command.last().cloned().unwrap_or_default();
            self.record_item(Item::user(format!("I ran this command myself:\n{line}\n\n{output}")));
        }
    }

    pub(super) fn start_undo(&mut self, sub_id: &str, changes: Vec<serde_json::Value>) {
        let placeholder =
            ToolCall::External { name: "undo".to_owned(), arguments: serde_json::Value::Null };
        let key = self.start_own(sub_id, placeholder);
        if let Some(call) = self.find(key) {
            call.state = CallState::Running { confinement: Confinement::Unconfined };
        }
        let (work, settings) = (Work::Undo(changes), Arc::clone(&self.settings));
        self.out.push_back(Output::Start { key, work, settings });
    }

    fn undo_done(&mut self, success: bool, words: String, now: u64) {
        if !success {
            return self.give_up(words, now);
        }
        self.record_undone(&words);
        self.complete(now);
    }

    fn record_undone(&mut self, words: &str) {
        self.record(Record::Undone);
        self.record_item(Item::user(format!("I took back your last changes to files:\n{words}")));
        if let Some(task) = &self.task {
            let (sub_id, message) = (task.sub_id.clone(), words.to_owned());
            self.emit(&sub_id, EventMsg::BackgroundEvent { message });
        }
    }

    /// What the model says is of no use: it is told to stop, and what was begun ends first.
    fn stop_listening(&mut self, why: String, now: u64) {
        let Some(task) = &mut self.task else { return };
        if let Some(attempt) = task.turn.attempt {
            self.out.push_back(Output::HangUp { attempt });
        }
        self.failed(ModelFailure::new(FailureKind::Refused, why), now);
    }
}

/// A call of which nothing more comes.
struct Closed {
    kind: Kind,
    call_id: String,
    /// What came of it in the sandbox, if it was to run again without.
    before: Option<ToolResult>,
}

impl Call {
    fn new(key: u64, call_id: String, tool: String, call: ToolCall, cwd: String) -> Self {
        Self {
            key,
            call_id,
            tool,
            call,
            made: None,
            cwd,
            state: CallState::Preparing,
            changes: Changes::new(),
            unified_diff: String::new(),
            paths: Vec::new(),
            auto_approved: true,
            judged: None,
            confined_result: None,
        }
    }

    /// Nobody waits any more for what was prepared for it.
    fn discard(&self) -> Option<Output> {
        let is_patch = matches!(self.call, ToolCall::ApplyPatch { .. });
        is_patch.then_some(Output::Discard { key: self.key })
    }

    /// What a person is asked about.
    pub(super) fn command(&self) -> Vec<String> {
        match &self.call {
            ToolCall::Shell(shell) => shell.command.clone(),
            other => vec![self.tool.clone(), other.arguments().to_string()],
        }
    }

    fn in_words(&self) -> String {
        match &self.call {
            ToolCall::Shell(shell) => sabir_policy::as_typed(&shell.command),
            ToolCall::ApplyPatch { .. } => {
                let names: Vec<&str> = self.changes.keys().map(String::as_str).collect();
                format!("patch {}", names.join(", "))
            }
            _ => self.tool.clone(),
        }
    }
}

impl ToolCall {
    /// The arguments, as a person is shown them.
    pub(super) fn arguments(&self) -> serde_json::Value {
        use serde_json::json;
        match self {
            Self::Shell(it) => json!({ "command": it.command }),
            Self::ApplyPatch { input } => json!({ "input": input }),
            Self::ReadFile(it) => {
                json!({ "path": it.path, "offset": it.offset, "limit": it.limit })
            }
            Self::Search(it) => json!({ "pattern": it.pattern, "path": it.path, "glob": it.glob }),
            Self::ListDir(it) => json!({ "path": it.path, "depth": it.depth }),
            Self::UpdatePlan(it) => json!({ "plan": it.plan }),
            Self::SpawnAgent(it) => {
                let mut shown = json!({ "task": it.task });
                let named = [("skill", &it.skill), ("to", &it.to)];
                for (name, value) in named.into_iter().filter(|(_, value)| value.is_some()) {
                    shown[name] = json!(value);
                }
                shown
            }
            Self::External { arguments, .. } => arguments.clone(),
        }
    }
}

/// A path that may be relative, against a folder. Lexical: who opens it decides what it leads to.
fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    format!("{}/{path}", base.trim_end_matches('/'))
}
