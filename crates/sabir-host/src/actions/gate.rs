//! Between an action and what it does: the gate decides, the decision is written down, and where a
//! person has to say yes, they are asked.

use sabir_policy::{
    Action as Deed, ApprovalMark, AuditRow, Audited, Decision, Facts, Outcome, Taint, decide,
    hosts_named,
};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{ABORTED, Failure, Progress, Question, Turn};
use crate::clock::now_ms;

/// An action as policy files and the audit know it.
#[derive(Debug)]
pub(super) struct Wanted {
    /// `shell`, `apply_patch`, `read` or `spawn`.
    pub(super) subject: &'static str,
    pub(super) arguments: Map<String, Value>,
}

/// An action, and what the gate said to it.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    wanted: &'a Wanted,
    pub(super) decision: Decision,
}

impl Wanted {
    pub(super) fn new<const N: usize>(subject: &'static str, what: [(&str, Value); N]) -> Self {
        Self { subject, arguments: super::content(what) }
    }

    /// Only a command can reach a host: what is written to a file is not called.
    fn hosts(&self) -> Vec<String> {
        match self.subject {
            "shell" => hosts_named(&self.arguments).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl Judged<'_> {
    /// Says more of why, to the person, to the sender and to the audit.
    pub(super) fn add_reason(&mut self, words: &str) {
        self.decision.reason.push_str(words);
    }
}

impl Turn<'_> {
    pub(super) fn judge<'w>(self, deed: Deed, wanted: &'w Wanted) -> Judged<'w> {
        let actions = self.actions;
        let hosts = wanted.hosts();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let mut decision = decide(&Facts {
            approval: actions.approval,
            sandbox: &actions.sandbox,
            action: deed,
            granted: false,
            ruling: actions.policy.ruling(wanted.subject, &hosts),
        });
        actions.policy.give_reason(&mut decision, wanted.subject, &hosts);
        Judged { wanted, decision }
    }

    /// Does what the gate said: goes on, asks, or refuses. What was decided is on disk by then.
    pub(super) async fn pass(self, judged: &Judged<'_>, what: String) -> Result<(), Failure> {
        let row = self.write_down(judged).await?;
        let why = &judged.decision.reason;
        match judged.decision.outcome {
            Outcome::Allow => Ok(()),
            Outcome::Deny => Err(format!("denied: {why}").into()),
            Outcome::Ask => {
                let (mark, answered) = self.ask(what, why).await;
                self.keep(row.answered(mark, now_ms())).await?;
                answered
            }
        }
    }

    /// Puts a decision into the audit.
    async fn write_down(self, judged: &Judged<'_>) -> Result<AuditRow, Failure> {
        let Judged { wanted, decision } = judged;
        let audited = Audited {
            call_id: self.call_id,
            actor: &self.actions.actor,
            subject: wanted.subject,
            arguments: &wanted.arguments,
            // What the sender has read is not known here: the sandbox and the approval policy hold
            // whatever it was told to do.
            taint: &Taint::default(),
            sources: &[],
            field: None,
        };
        let row = AuditRow::new(&audited, decision, now_ms());
        self.keep(row.clone()).await?;
        Ok(row)
    }

    async fn keep(self, row: AuditRow) -> Result<(), Failure> {
        Ok(self.actions.audit.keep(vec![row]).await?)
    }

    async fn ask(self, what: String, why: &str) -> (ApprovalMark, Result<(), Failure>) {
        let (answer, answered) = oneshot::channel();
        let question = Question { index: self.index, what, why: why.to_owned(), answer };
        let _ = self.progress.send(Progress::Asks(question)).await;
        tokio::select! {
            biased;
            () = self.stop.cancelled() => (ApprovalMark::Aborted, Err(ABORTED.into())),
            answered = answered => match answered {
                Ok(true) => (ApprovalMark::Approved, Ok(())),
                Ok(false) => {
                    (ApprovalMark::Denied, Err(format!("denied by the user: {why}").into()))
                }
                Err(_) => {
                    let words = format!("denied: {why}, and nobody is there to be asked");
                    (ApprovalMark::Unattended, Err(words.into()))
                }
            },
        }
    }
}
