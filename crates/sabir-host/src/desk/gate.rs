//! Between what a model proposes and what happens: every call is judged, the decision is written
//! down, and where a person has to say yes, they are asked. A yes is for one call, once.

use std::collections::BTreeSet;

use sabir_llmcp::{ToolCall, ToolName, redact_text};
use sabir_policy::{
    Approval, ApprovalMark, ApprovalPolicy, AuditRow, Binding, Call, Evidence, FieldHints, Judged,
    Offer, Outcome, Page, Question, Reading, Scope, Surroundings, Taint, judge_call,
};
use sabir_store::Hash;
use sabir_store::library::{ApprovalAnswer, ApprovalState, CollectionId, NewApproval, Spent};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::moment::now_ms;
use super::{Desk, DeskError};
use crate::audit::audit_entry;

/// A question to the person. Dropping it means no.
#[derive(Debug)]
pub struct Petition {
    pub question: Question,
    pub answer: oneshot::Sender<bool>,
}

/// What became of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallReport {
    pub call_id: String,
    pub tool: String,
    /// `allow` or `deny`, after the person was asked where that was needed.
    pub outcome: Outcome,
    pub reason_code: String,
    pub reason: String,
    /// What became of the question, if there was one.
    pub approval: ApprovalMark,
    /// Of a call that was carried out: `ok` or a code such as `STALE_HANDLE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Of a call that made an artifact: what `sabir share` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

/// What is known of a call once the gate has decided.
pub(super) struct Passed {
    pub(super) report: CallReport,
    /// What the audit says.
    pub(super) row: AuditRow,
    /// The hosts that it was decided for.
    pub(super) hosts: Vec<String>,
}

/// What one turn has done so far, and who may be asked.
pub(super) struct Door<'a> {
    pub(super) desk: &'a Desk,
    /// The collection, or what else the calls are made for.
    pub(super) actor: String,
    pub(super) person: Option<&'a mpsc::Sender<Petition>>,
    pub(super) stop: &'a CancellationToken,
    /// What the model was told of. Nothing else happens.
    pub(super) offered: Vec<ToolName>,
    /// What the question is about.
    pub(super) collection: Option<CollectionId>,
    /// Collections and artifacts that this turn has made, by id.
    pub(super) made: BTreeSet<String>,
    /// What the person said no to in this turn: the tool and the digest of its arguments.
    pub(super) denied: BTreeSet<(String, String)>,
    pub(super) calls_made: u32,
    pub(super) asks_made: u32,
}

/// What is known around one call.
pub(super) struct Around<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) taint: &'a Taint,
    pub(super) reading: Reading,
    pub(super) page: Option<&'a Page>,
    pub(super) field: Option<FieldHints<'a>>,
    pub(super) scope: Scope,
    pub(super) also_called: &'a [String],
    pub(super) hosts: &'a [String],
}

/// What came of a question.
enum Reply {
    /// A yes that is good for this very call, once: it was stored, and is used up.
    Yes(Approval),
    No,
    /// It came when the question had expired.
    Late,
}

impl Door<'_> {
    /// Whether the call may happen. What is decided is on disk before this returns.
    pub(super) async fn pass(
        &mut self,
        call_id: &str,
        call: &ToolCall,
        around: &Around<'_>,
    ) -> Result<Passed, DeskError> {
        let tool = call.call.name();
        let arguments = match call.call.arguments() {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let proposed = Call::of_tool(call_id, tool.as_str(), &arguments);
        let judged = judge_call(
            &proposed,
            &Surroundings {
                evidence: around.evidence,
                taint: around.taint,
                page: around.page,
                field: around.field,
                reading: around.reading,
                offer: if self.offered.contains(&tool) { Offer::Made } else { Offer::NotMade },
                scope: around.scope,
                also_called: around.also_called,
                hosts: around.hosts,
                calls_made: self.calls_made,
                asks_made: self.asks_made,
                approval: ApprovalPolicy::OnRequest,
                policy: &self.desk.0.policy,
            },
        );
        self.calls_made += 1;
        let hosts = judged.hosts.clone();
        let row = judged.audit(&self.actor, now_ms());
        let row = match judged.decision.yields_to_approval() {
            true if self.denied.contains(&same_call(&row)) => {
                let mut row = row.answered(ApprovalMark::Denied, row.at);
                row.reason = format!("{DENIED_BEFORE}: {}", row.reason);
                self.desk.write_down(&row).await?;
                row
            }
            true => {
                self.desk.write_down(&row).await?;
                self.ask(judged, row).await?
            }
            false => {
                self.desk.write_down(&row).await?;
                row
            }
        };
        let report = CallReport {
            call_id: row.call_id.clone(),
            tool: row.subject.clone(),
            outcome: row.outcome,
            reason_code: row.reason_code.clone(),
            reason: row.reason.clone(),
            approval: row.approval,
            result: None,
            artifact_id: None,
        };
        Ok(Passed { report, row, hosts })
    }

    /// Asks the person. The row that comes back is written down, too.
    async fn ask(&mut self, judged: Judged, row: AuditRow) -> Result<AuditRow, DeskError> {
        self.asks_made += 1;
        let binding = judged.binding;
        let (mark, judged) = match self.person {
            None => (ApprovalMark::Unattended, None),
            Some(person) => match self.answer(person, &judged, &row).await? {
                Reply::Yes(mut approval) => match judged.approve(&mut approval, now_ms()) {
                    Ok(judged) if judged.decision.outcome == Outcome::Allow => {
                        (ApprovalMark::Approved, Some(judged))
                    }
                    Ok(_) => (ApprovalMark::Denied, None),
                    Err(_) => (ApprovalMark::Expired, None),
                },
                Reply::Late => (ApprovalMark::Expired, None),
                Reply::No if self.stop.is_cancelled() => (ApprovalMark::Aborted, None),
                Reply::No => (ApprovalMark::Denied, None),
            },
        };
        debug_assert!(judged.is_none_or(|judged| judged.binding == binding));
        if mark == ApprovalMark::Denied {
            self.denied.insert(same_call(&row));
        }
        let answered = row.answered(mark, now_ms());
        self.desk.write_down(&answered).await?;
        Ok(answered)
    }

    async fn answer(
        &self,
        person: &mpsc::Sender<Petition>,
        judged: &Judged,
        row: &AuditRow,
    ) -> Result<Reply, DeskError> {
        let question = judged.question();
        let now = now_ms();
        let approval = Approval::new(judged.binding, now);
        let new = NewApproval {
            binding: hash_of(&judged.binding)?,
            subject: judged.tool.clone(),
            question: kept_question(row),
            expires_at_ms: approval.expires_at,
        };
        let asked = self.desk.with_library(move |library| library.ask_approval(&new, now)).await?;
        let (tell, told) = oneshot::channel();
        let sent = person.send(Petition { question, answer: tell }).await.is_ok();
        let said_yes = sent
            && tokio::select! {
                () = self.stop.cancelled() => false,
                answer = told => answer.unwrap_or(false),
            };
        let verdict = if said_yes { ApprovalAnswer::Approve } else { ApprovalAnswer::Deny };
        let binding = hash_of(&judged.binding)?;
        let spent = self.desk.with_library(move |library| {
            let now = now_ms();
            library.answer_approval(&asked.id, verdict, PERSON, now)?;
            match verdict {
                ApprovalAnswer::Approve => library.use_approval(&asked.id, &binding, now).map(Some),
                ApprovalAnswer::Deny => Ok(None),
            }
        });
        Ok(match spent.await? {
            Some(Spent::Granted(_)) => Reply::Yes(approval),
            Some(Spent::Refused(ApprovalState::Expired)) => Reply::Late,
            Some(Spent::Refused(_) | Spent::WrongBinding) | None => Reply::No,
        })
    }
}

impl Desk {
    /// Puts a decision into the audit.
    pub(super) async fn write_down(&self, row: &AuditRow) -> Result<(), DeskError> {
        let new = audit_entry(row)?;
        let at = row.at;
        self.with_library(move |library| library.append_audit(&[new], at)).await?;
        Ok(())
    }

    /// Puts into the audit where pages wanted to lead and were not let.
    pub(super) async fn write_down_held(&self) -> Result<(), DeskError> {
        for row in self.0.held.take() {
            self.write_down(&row).await?;
        }
        Ok(())
    }
}

/// What is stored of a question: enough to know it again, and nothing that is secret. The person saw
/// all of it.
fn kept_question(row: &AuditRow) -> String {
    let AuditRow { subject, reason, preview, arguments_digest, .. } = row;
    format!("{subject}: {reason}\n{}\narguments: {arguments_digest}", redact_text(preview))
}

/// What makes two calls of a turn one, whatever the model has read between them.
fn same_call(row: &AuditRow) -> (String, String) {
    (row.subject.clone(), row.arguments_digest.clone())
}

fn hash_of(binding: &Binding) -> Result<Hash, DeskError> {
    Hash::from_hex(&binding.to_hex()).ok_or_else(|| DeskError::refused("a binding is no hash"))
}

/// Why a person is not asked again.
const DENIED_BEFORE: &str =
    "this very call was denied before in this turn, so nobody is asked again";
/// Who answers at a terminal.
const PERSON: &str = "person";
