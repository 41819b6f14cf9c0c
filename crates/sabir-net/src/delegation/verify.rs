//! Independent checks of a result: a rule, a tool, another delegate, a person. Only what passed one
//! of them is called verified.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use sabir_base::text::one_line;
use sabir_ldp::{DelegateId, LdpError, Refusal, VerificationStatus};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::candidates::Candidates;
use super::remote::{Job, Remote};
use super::report::{Check, DelegationEvent};
use super::request::{Question, TaskInput, Verify};
use super::{Delegation, DelegationRequest, tell};
use crate::ldp::client::moment;

/// What is checked.
pub(super) struct Claim<'a> {
    pub(super) task: &'a TaskInput,
    pub(super) output: &'a Value,
    /// Who made it.
    pub(super) delegate: &'a DelegateId,
    pub(super) address: &'a Address,
}

impl Delegation {
    pub(super) async fn check(
        &self,
        verify: &Verify,
        claim: &Claim<'_>,
        events: &mpsc::Sender<DelegationEvent>,
        stop: &CancellationToken,
    ) -> Check {
        let (status, by) = match verify {
            Verify::Rule { name, .. } => (VerificationStatus::ToolVerified, format!("rule:{name}")),
            Verify::Tool { command } => {
                let name = command.first().map_or("", String::as_str);
                (VerificationStatus::ToolVerified, format!("tool:{}", one_line(name, 200)))
            }
            Verify::Peer { to, .. } => {
                let who =
                    to.as_ref().map_or_else(|| "a second delegate".to_owned(), Address::to_string);
                (VerificationStatus::PeerVerified, who)
            }
            Verify::Human(judge) => {
                let name = one_line(&judge.name(), 200);
                (VerificationStatus::HumanVerified, format!("human:{name}"))
            }
        };
        tell(events, DelegationEvent::Checking { by: by.clone() }).await;
        let found = match verify {
            Verify::Rule { schema, .. } => Ok((by.clone(), check_rule(schema, claim.output))),
            Verify::Tool { command } => {
                let found = tokio::select! {
                    found = check_tool(command, claim.output) => found,
                    () = stop.cancelled() => Err("cancelled".to_owned()),
                };
                Ok((by.clone(), found))
            }
            Verify::Peer { to, skill } => {
                let asked = self.ask_peer((to.as_ref(), skill), claim, events, stop);
                Box::pin(asked).await
            }
            Verify::Human(judge) => {
                let question = Question {
                    task: claim.task.to_text(),
                    output: claim.output.clone(),
                    delegate: claim.delegate.clone(),
                };
                let judgement = tokio::select! {
                    judgement = judge.judge(&question) => judgement,
                    () = stop.cancelled() => super::request::Judgement {
                        passed: false,
                        detail: Some("cancelled".to_owned()),
                    },
                };
                let detail = judgement.detail;
                Ok((
                    by.clone(),
                    match judgement.passed {
                        true => Ok(detail),
                        false => Err(detail.unwrap_or_else(|| "refused".to_owned())),
                    },
                ))
            }
        };
        let (by, found) = found.unwrap_or_else(|error: LdpError| (by, Err(error.message)));
        let check = match found {
            Ok(detail) => Check { status, by, passed: true, detail },
            Err(why) => Check { status, by, passed: false, detail: Some(one_line(&why, 1000)) },
        };
        tell(events, DelegationEvent::Checked(check.clone())).await;
        check
    }

    /// Asks another delegate, which says `true`, or an object with `passed` and perhaps `reason`.
    async fn ask_peer(
        &self,
        (to, skill): (Option<&Address>, &sabir_ldp::SkillName),
        claim: &Claim<'_>,
        events: &mpsc::Sender<DelegationEvent>,
        stop: &CancellationToken,
    ) -> Result<(String, Found), LdpError> {
        let input = TaskInput::Json(json!({
            "task_type": "verify",
            "instruction": "Check whether the output does what the task asks for. Answer with an \
                            object: passed (true or false) and reason (a text).",
            "task": claim.task.to_text(),
            "output": claim.output,
        }));
        let mut request = DelegationRequest::new(input.clone());
        request.to.extend(to.cloned());
        let none = || Refusal::SkillNotFound.error("no second delegate could be asked");
        let candidates = Candidates::gather(self, &request, events).await.map_err(|_| none())?;
        if let Some(unreachable) = candidates.unreachable.first() {
            return Err(unreachable.error.clone());
        }
        request.path.push(claim.delegate.clone());
        let ranking = candidates.rank(self, &request, skill).await.map_err(|_| none())?;
        // One that answers at the same address is the same, whatever it calls itself.
        let independent = ranking.order.iter().find_map(|id| {
            let candidate = candidates.by_id(id)?;
            let is_other = candidate.address != *claim.address && *id != *claim.delegate;
            is_other.then_some(candidate)
        });
        let Some(candidate) = independent else {
            candidates.close().await;
            return Err(none());
        };
        let by = candidate.card.delegate_id.to_string();
        let remote: Arc<dyn Remote> = match &candidate.remote {
            Some(remote) => Arc::clone(remote),
            None => self.open(&candidate.address, None).await?.0,
        };
        let payload = input.payload(skill).map_err(|_| none())?;
        let mut chance = moment().ok_or_else(none)?;
        let job = Job {
            task_id: sabir_ldp::TaskId::new(chance.fresh_id()).map_err(|_| none())?,
            skill: skill.clone(),
            input,
            payload,
            contract: None,
            path: vec![self.client.delegate_id().clone()],
        };
        let (news, mut told) = mpsc::channel(16);
        let performed = async {
            let product = remote.perform(&job, &news, stop).await;
            drop(news);
            product
        };
        let (product, ()) = tokio::join!(performed, async { while told.recv().await.is_some() {} });
        candidates.close().await;
        Ok((by, read_verdict(&product?.output)))
    }
}

/// What a check found: that it passed and perhaps a word about it, or why not.
type Found = Result<Option<String>, String>;

fn check_rule(schema: &Value, output: &Value) -> Found {
    let faults = sabir_host::check_data(schema, output);
    match faults.first() {
        None => Ok(None),
        Some(fault) if fault.pointer.is_empty() => Err(fault.message.clone()),
        Some(fault) => Err(format!("at {}: {}", fault.pointer, fault.message)),
    }
}

fn read_verdict(output: &Value) -> Found {
    // In text mode an object comes as a text.
    let parsed = output.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
    let output = parsed.as_ref().unwrap_or(output);
    let reason = output.get("reason").and_then(Value::as_str).map(|it| one_line(it, 1000));
    match output.as_bool().or_else(|| output.get("passed")?.as_bool()) {
        Some(true) => Ok(reason),
        Some(false) => Err(reason.unwrap_or_else(|| "it did not pass".to_owned())),
        None => Err("the second delegate gave no verdict".to_owned()),
    }
}

/// Runs a command of the user's with the output on its standard input.
async fn check_tool(command: &[String], output: &Value) -> Found {
    let (program, arguments) = command.split_first().ok_or("no command is given")?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What it starts ends with it.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{program} cannot be run: {error}"))?;
    let mut group = Group(child);
    let text = output.to_string();
    let ran = tokio::time::timeout(TOOL_PATIENCE, run_tool(&mut group.0, text.as_bytes())).await;
    match ran {
        Ok(Ok((true, _))) => Ok(None),
        Ok(Ok((false, words))) if words.is_empty() => Err(format!("{program} did not pass it")),
        Ok(Ok((false, words))) => Err(words),
        Ok(Err(error)) => Err(format!("{program} cannot be run: {error}")),
        Err(_) => Err(format!("{program} was not done in {} s", TOOL_PATIENCE.as_secs())),
    }
}

async fn run_tool(child: &mut Child, input: &[u8]) -> io::Result<(bool, String)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A tool need not read what it is given.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), said, complained) = tokio::join!(write, read_some(stdout), read_some(stderr));
    let status = child.wait().await?;
    let words = if complained.is_empty() { said } else { complained };
    Ok((status.success(), words))
}

/// The beginning of what a program writes; the rest is read and left.
async fn read_some(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut kept = Vec::new();
    let mut buffer = vec![0; 8192];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let room = MAX_WORDS - kept.len().min(MAX_WORDS);
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

/// A child and everything that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // None once it was waited for: then the number may be another's.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Long enough for a test suite, short enough that a person still waits.
const TOOL_PATIENCE: Duration = Duration::from_secs(300);
const MAX_WORDS: usize = 16 * 1024;
