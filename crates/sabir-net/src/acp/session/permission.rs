//! Asking the person at the editor.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallStatus, ToolCallUpdateFields,
};
use sabir_engine::{Decision, Op};

use super::events::Beginning;
use super::{Command, Session};
use crate::acp::tool_calls::text;
use crate::acp::wire::Weight;

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::acp) enum Subject {
    Exec,
    Patch,
}

/// A question of the engine.
pub(super) struct Question {
    pub(super) call_id: String,
    pub(super) subject: Subject,
    /// What "always" would cover, in words.
    pub(super) scope: String,
}

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";

impl Session {
    /// Shows the call and asks. The answer comes back as a command, so that the session goes on.
    pub(super) async fn ask(&mut self, prompt: &str, question: Question, beginning: Beginning) {
        let Question { call_id, subject, scope } = question;
        let call = self.begin(&call_id, beginning).await;
        if !self.is_prompt(prompt) {
            return;
        }
        let always = format!("Always allow in this session: {scope}");
        let options = vec![
            PermissionOption::new(ALLOW_ONCE, "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new(ALLOW_ALWAYS, always, PermissionOptionKind::AllowAlways),
            PermissionOption::new(REJECT_ONCE, "Reject", PermissionOptionKind::RejectOnce),
        ];
        let request = RequestPermissionRequest::new(self.wire.session_id.clone(), call, options);
        let asked = self.wire.editor.send_request(request);
        let (commands, over) = (self.commands.clone(), self.wire.over.clone());
        let prompt = prompt.to_owned();
        self.tasks.spawn(async move {
            let answer = tokio::select! {
                answer = asked.block_task() => answer,
                () = over.cancelled() => return,
            };
            let _ = commands.send(Command::Decided { prompt, call_id, subject, answer }).await;
        });
    }

    pub(super) async fn decided(
        &mut self,
        prompt: &str,
        call_id: String,
        subject: Subject,
        answer: Result<RequestPermissionResponse, Error>,
    ) {
        // An answer to what was given up meanwhile: the engine does not wait for it any more.
        if !self.prompt.as_ref().is_some_and(|it| it.id == prompt && !it.is_cancelled) {
            return;
        }
        let decision = match answer.map(|it| it.outcome) {
            Ok(RequestPermissionOutcome::Selected(selected)) => {
                match selected.option_id.0.as_ref() {
                    ALLOW_ONCE => Decision::Approved,
                    ALLOW_ALWAYS => Decision::ApprovedForSession,
                    // What was not offered allows nothing.
                    _ => Decision::Denied,
                }
            }
            Ok(RequestPermissionOutcome::Cancelled) => Decision::Abort,
            Ok(_) => Decision::Denied,
            Err(error) => {
                let words = format!("the editor could not ask, so this is denied: {error}");
                self.wire.notify(Weight::Warning, words).await;
                Decision::Denied
            }
        };
        if decision == Decision::Abort
            && let Some(prompt) = &mut self.prompt
        {
            prompt.is_cancelled = true;
        }
        if decision == Decision::Denied {
            // The engine tells the model, and nobody else.
            let fields = ToolCallUpdateFields::new()
                .status(ToolCallStatus::Failed)
                .content(vec![text("rejected")]);
            self.finish(&call_id, fields).await;
        }
        self.submit(
            "decision",
            match subject {
                Subject::Exec => Op::ExecApproval { call_id, decision, prefix: None },
                Subject::Patch => Op::PatchApproval { call_id, decision },
            },
        );
    }
}
