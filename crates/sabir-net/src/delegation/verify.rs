//! Independent checks of a result: a rule, a tool, another delegate, a person. Only what passed one
//! of them is called verified.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use sabir_base::text::one_line;
use sabir_ldp::{IdentityCard, LdpError, Refusal, Timestamp, Verdict, VerificationStatus};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::candidates::{Candidate, Candidates};
use super::remote::{Job, Remote};
use super::report::{Check, CheckOutcome, DelegationEvent};
use super::request::{Judge, Judgement, Question, TaskInput, Verify};
use super::{Delegation, DelegationRequest, tell, too_late, until, within};
use crate::ldp::client::{NewPin, moment, now};

/// What is checked.
pub(super) struct Claim<'a> {
    pub(super) task: &'a TaskInput,
    pub(super) output: &'a Value,
    /// Who made it.
    pub(super) card: &'a IdentityCard,
    pub(super) address: &'a Address,
    /// Until when it is worth something.
    pub(super) deadline: Option<Timestamp>,
}

/// What came of a check.
pub(super) struct Checked {
    pub(super) check: Check,
    /// What it says about who made the result.
    pub(super) verdict: Verdict,
    /// Keys of who was asked, if they are new.
    pub(super) pinned: Vec<NewPin>,
}

/// Why a result is not verified.
#[derive(Debug, PartialEq)]
enum Unmet {
    Failed(String),
    /// That is not the fault of who made it.
    NotChecked(String),
}

/// What a check found: that it passed and perhaps a word about it, or why not.
type Found = Result<Option<String>, Unmet>;

impl Delegation {
    pub(super) async fn check(
        &self,
        verify: &Verify,
        claim: &Claim<'_>,
        events: &mpsc::Sender<DelegationEvent>,
        stop: &CancellationToken,
    ) -> Checked {
        let mut pinned = Vec::new();
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
                    () = stop.cancelled() => not_checked("cancelled"),
                };
                Ok((by.clone(), found))
            }
            Verify::Peer { to, skill } => {
                let asked = self.ask_peer((to.as_ref(), skill), claim, (events, &mut pinned), stop);
                Box::pin(asked).await
            }
            Verify::Human(judge) => {
                let question = Question {
                    task: claim.task.to_text(),
                    output: claim.output.clone(),
                    delegate: claim.card.delegate_id.clone(),
                };
                let found = tokio::select! {
                    found = ask_person(judge.as_ref(), &question, PERSON_PATIENCE) => found,
                    () = stop.cancelled() => not_checked("cancelled"),
                };
                Ok((by.clone(), found))
            }
        };
        let unasked = |error: LdpError| (by, Err(Unmet::NotChecked(error.message)));
        let (by, found) = found.unwrap_or_else(unasked);
        let (verdict, outcome) = match &found {
            Ok(_) => (Verdict::Checked { quality: 1.0 }, CheckOutcome::Passed),
            Err(Unmet::Failed(_)) => (Verdict::Checked { quality: 0.0 }, CheckOutcome::Failed),
            Err(Unmet::NotChecked(_)) => (Verdict::Finished, CheckOutcome::NotMade),
        };
        let passed = outcome == CheckOutcome::Passed;
        let detail = match found {
            Ok(detail) => detail,
            Err(Unmet::Failed(why) | Unmet::NotChecked(why)) => Some(one_line(&why, 1000)),
        };
        let check = Check { status, by, passed, outcome, detail };
        tell(events, DelegationEvent::Checked(check.clone())).await;
        Checked { check, verdict, pinned }
    }

    /// Asks another delegate, which says `true`, or an object with `passed` and perhaps `reason`.
    async fn ask_peer(
        &self,
        (to, skill): (Option<&Address>, &sabir_ldp::SkillName),
        claim: &Claim<'_>,
        (events, pinned): (&mpsc::Sender<DelegationEvent>, &mut Vec<NewPin>),
        stop: &CancellationToken,
    ) -> Result<(String, Found), LdpError> {
        let patience = u64::try_from(PEER_PATIENCE.as_millis()).unwrap_or(u64::MAX);
        let deadline = Some(claim.deadline.unwrap_or_else(|| now().plus_millis(patience)));
        let input = TaskInput::Json(json!({
            "task_type": "verify",
            "instruction": "Check whether the output does what the task asks for. Answer with an \
                            object: passed (true or false) and reason (a text).",
            "task": claim.task.to_text(),
            "output": claim.output,
        }));
        let mut request = DelegationRequest::new(input.clone());
        request.to.extend(to.cloned());
        let gathered = within(deadline, stop, Candidates::gather(self, &request, events)).await?;
        let candidates = gathered.map_err(|_| nobody_else())?;
        pinned.extend(candidates.pinned.iter().cloned());
        request.path.push(claim.card.delegate_id.clone());
        let asked = async {
            let candidate = self.independent(&candidates, &request, skill, claim).await?;
            let opened = self.reach(candidate, None, (events, &mut *pinned));
            let remote = within(deadline, stop, opened).await.flatten()?;
            let given = self.ask_for_verdict(&remote, input, skill, deadline, stop).await;
            if candidate.remote.is_none() {
                remote.close().await;
            }
            Ok((candidate.card.delegate_id.to_string(), given?))
        };
        let asked = asked.await;
        candidates.close().await;
        asked
    }

    /// The best who is not who made it, by whatever name and way.
    async fn independent<'a>(
        &self,
        candidates: &'a Candidates,
        request: &DelegationRequest,
        skill: &sabir_ldp::SkillName,
        claim: &Claim<'_>,
    ) -> Result<&'a Candidate, LdpError> {
        if let Some(unreachable) = candidates.unreachable.first() {
            return Err(unreachable.error.clone());
        }
        let ranking = candidates.rank(self, request, skill).await.map_err(|_| nobody_else())?;
        let is_other = |it: &&Candidate| {
            let same_key =
                it.card.public_key.is_some() && it.card.public_key == claim.card.public_key;
            it.card.delegate_id != claim.card.delegate_id
                && !same_key
                && !it.address.is_same_place(claim.address)
        };
        let mut ranked = ranking.order.iter().filter_map(|id| candidates.by_id(id));
        ranked.find(is_other).ok_or_else(nobody_else)
    }

    async fn ask_for_verdict(
        &self,
        remote: &Arc<dyn Remote>,
        input: TaskInput,
        skill: &sabir_ldp::SkillName,
        deadline: Option<Timestamp>,
        stop: &CancellationToken,
    ) -> Result<Found, LdpError> {
        let payload = input.payload(skill).map_err(|_| nobody_else())?;
        let mut chance = moment().ok_or_else(nobody_else)?;
        let task_id = format!("{CHECK}{}", chance.fresh_id());
        let job = Job {
            task_id: sabir_ldp::TaskId::new(task_id).map_err(|_| nobody_else())?,
            skill: skill.clone(),
            input,
            payload,
            contract: None,
            path: vec![self.client.delegate_id().clone()],
            is_withdrawn: false,
        };
        let (news, mut told) = mpsc::channel(16);
        let own_stop = stop.child_token();
        let performed = async {
            let product = remote.perform(&job, &news, &own_stop).await;
            drop(news);
            product
        };
        let unheard = async { while told.recv().await.is_some() {} };
        let mut work = std::pin::pin!(async { tokio::join!(performed, unheard).0 });
        let product = tokio::select! {
            product = &mut work => product?,
            () = until(deadline, Duration::ZERO) => {
                own_stop.cancel();
                let _ = work.await;
                return Err(too_late());
            }
        };
        Ok(read_verdict(&product.output))
    }
}

/// Whether a task of ours with this id checks a result: its words are those of whoever made that.
pub(crate) fn is_check(task_id: &str) -> bool {
    task_id.starts_with(CHECK)
}

/// No id of an order begins like that.
const CHECK: &str = "check-";

fn nobody_else() -> LdpError {
    Refusal::SkillNotFound.error("no second delegate could be asked")
}

fn not_checked(why: impl Into<String>) -> Found {
    Err(Unmet::NotChecked(why.into()))
}

fn check_rule(schema: &Value, output: &Value) -> Found {
    let faults = sabir_host::check_data(schema, output);
    match faults.first() {
        None => Ok(None),
        Some(fault) if fault.pointer.is_empty() => Err(Unmet::Failed(fault.message.clone())),
        Some(fault) => Err(Unmet::Failed(format!("at {}: {}", fault.pointer, fault.message))),
    }
}

fn read_verdict(output: &Value) -> Found {
    // In text mode an object comes as a text.
    let parsed = output.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
    let output = parsed.as_ref().unwrap_or(output);
    let reason = output.get("reason").and_then(Value::as_str).map(|it| one_line(it, 1000));
    match output.as_bool().or_else(|| output.get("passed")?.as_bool()) {
        Some(true) => Ok(reason),
        Some(false) => Err(Unmet::Failed(reason.unwrap_or_else(|| "it did not pass".to_owned()))),
        None => not_checked("the second delegate gave no verdict"),
    }
}

/// Asks a person. One who does not answer has not refused.
async fn ask_person(judge: &dyn Judge, question: &Question, patience: Duration) -> Found {
    match tokio::time::timeout(patience, judge.judge(question)).await {
        Ok(Judgement::Right(detail)) => Ok(detail),
        Ok(Judgement::Wrong(why)) => {
            Err(Unmet::Failed(why.unwrap_or_else(|| "it was said to be wrong".to_owned())))
        }
        Ok(Judgement::Unanswered(why)) => not_checked(why),
        Err(_) => not_checked(format!("nobody answered within {} s", patience.as_secs())),
    }
}

/// Runs a command of the user's with the output on its standard input.
async fn check_tool(command: &[String], output: &Value) -> Found {
    let Some((program, arguments)) = command.split_first() else {
        return not_checked("no command is given");
    };
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What it starts ends with it.
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut group = match spawned {
        Ok(child) => Group(child),
        Err(error) => return not_checked(format!("{program} cannot be run: {error}")),
    };
    let text = output.to_string();
    let ran = tokio::time::timeout(TOOL_PATIENCE, run_tool(&mut group.0, text.as_bytes())).await;
    match ran {
        Ok(Ok((Some(0), _))) => Ok(None),
        Ok(Ok((Some(_), words))) if words.is_empty() => {
            Err(Unmet::Failed(format!("{program} did not pass it")))
        }
        Ok(Ok((Some(_), words))) => Err(Unmet::Failed(words)),
        // A signal ended it before it could say anything about the result.
        Ok(Ok((None, _))) => not_checked(format!("{program} was killed")),
        Ok(Err(error)) => not_checked(format!("{program} cannot be run: {error}")),
        Err(_) => not_checked(format!("{program} was not done in {} s", TOOL_PATIENCE.as_secs())),
    }
}

/// The exit code of a program, and what it said.
async fn run_tool(child: &mut Child, input: &[u8]) -> io::Result<(Option<i32>, String)> {
    let group = group_of(child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A tool need not read what it is given.
            let _ = stdin.write_all(input).await;
        }
    };
    let status = {
        let talk = async {
            tokio::join!(write, read_some(stdout, &mut said), read_some(stderr, &mut complained));
        };
        let mut talk = std::pin::pin!(talk);
        let mut is_silent = false;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                () = &mut talk, if !is_silent => is_silent = true,
            }
        };
        // What it left running may hold its streams open for ever.
        if !is_silent && tokio::time::timeout(LAST_WORDS, talk).await.is_err() {
            kill(group);
        }
        status
    };
    let words = if complained.is_empty() { said } else { complained };
    Ok((status.code(), String::from_utf8_lossy(&words).trim().to_owned()))
}

/// The beginning of what a program writes; the rest is read and left.
async fn read_some(stream: Option<impl tokio::io::AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 8192];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let room = MAX_WORDS - kept.len().min(MAX_WORDS);
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
}

/// A child and everything that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(root) = group_of(&self.0) {
            // It may have given sessions of their own to some.
            sabir_host::sandbox::kill_tree(root);
            kill(Some(root));
        }
    }
}

/// None once it was waited for: then the number may be another's.
fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Long enough for a test suite, short enough that a person still waits.
const TOOL_PATIENCE: Duration = Duration::from_secs(300);
const PEER_PATIENCE: Duration = Duration::from_secs(300);
/// Long enough to read a long output, short enough that a terminal nobody sits at is found out.
const PERSON_PATIENCE: Duration = Duration::from_secs(15 * 60);
/// For what a program wrote before it ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
const MAX_WORDS: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;

    struct Asleep;

    impl Judge for Asleep {
        fn name(&self) -> String {
            "ada".to_owned()
        }

        fn judge<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Judgement> {
            Box::pin(std::future::pending())
        }
    }

    /// LD-C41
    #[tokio::test]
    async fn a_person_who_does_not_answer_is_not_waited_for_for_ever() {
        let question = Question {
            task: "say hi".to_owned(),
            output: json!("hi"),
            delegate: sabir_ldp::DelegateId::new("ldp:delegate:harbor").unwrap(),
        };
        let found = ask_person(&Asleep, &question, Duration::ZERO).await;
        assert_eq!(found, not_checked("nobody answered within 0 s"));
        assert_eq!(PERSON_PATIENCE.as_secs(), 15 * 60);
    }
}
