//! Handing a task to somebody else: who could do it, who should, whoever is next when that fails, and
//! whether the result stands an independent check. What a protocol says is known to its adapter.

mod a2a;
mod address;
mod book;
mod candidates;
mod course;
mod error;
mod fitting;
mod foreign;
mod ldp;
mod mcp;
mod remote;
mod report;
mod request;
mod verify;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sabir_base::text::one_line;
use sabir_ldp::{
    Budget, Contract, ContractId, ContractPolicy, DelegateId, ErrorCategory, FailurePolicy,
    IdentityCard, LdpError, Provenance, Refusal, Severity, SkillName, TaskId, TaskOutcome,
    Timestamp, Verdict, Violation,
};
use sabir_store::peers::{DelegationStatus, Peers};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use address::Address;
pub use error::DelegationError;
pub use mcp::LocalGround;
pub use report::{
    AttemptOutcome, AttemptReport, Check, CheckOutcome, Chosen, Cost, DelegationEvent,
    DelegationReport, Held, Unreachable,
};
pub use request::{DelegationRequest, Judge, Judgement, Question, TaskInput, Verify};

use candidates::{Candidates, Ranking};
use course::{Course, Delivery};
use fitting::Fitting;
use remote::{Job, Product, Remote};
pub(crate) use verify::is_check;
use verify::{Checked, Claim};

use crate::ldp::client::{Client, NewPin, PlainHttp, moment, now};

/// Who delegates: a client, which remembers, and where programs are started.
#[derive(Clone)]
pub struct Delegation {
    client: Client,
    ground: LocalGround,
}

impl fmt::Debug for Delegation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delegation").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Delegation {
    pub fn new(client: Client, ground: LocalGround) -> Self {
        Self { client, ground }
    }

    /// Ends the sessions that were opened.
    pub async fn close(&self) {
        self.client.close().await;
    }

    /// Goes without a word: what delegates are at work on goes on, and they can be asked for it later
    /// under the same name of the task. Nothing can be delegated afterwards.
    pub fn leave(&self) {
        self.client.leave();
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The delegates that are known, by their ids. Whoever usurps one of ours is not among
    /// them.
    pub(crate) async fn known(&self) -> Result<Vec<(DelegateId, Address)>, DelegationError> {
        let known = book::known(self.peers()).await?;
        let is_itself = |known: &book::Known| self.client.usurps(&known.card).is_none();
        let known = known.into_iter().filter(is_itself).filter_map(|known| {
            let address = Address::parse(&known.address, PlainHttp::LoopbackOnly).ok()?;
            Some((known.card.delegate_id, address))
        });
        Ok(known.collect())
    }

    /// Cancelled by [`Delegation::leave`].
    pub(crate) fn leaving(&self) -> &CancellationToken {
        self.client.leaving()
    }

    /// The card of whoever answers at an address, whatever protocol it speaks. The key of a delegate
    /// that is met for the first time is pinned; one whose key is known has to prove that it has it.
    pub async fn look(
        &self,
        address: &Address,
    ) -> Result<(IdentityCard, Option<NewPin>), LdpError> {
        if let Address::Ldp(base) = address {
            let met = self.client.meet(base).await.map_err(|error| error.to_error())?;
            self.client.prove(&met).await?;
            return Ok((met.discovered.card, met.pinned));
        }
        let (remote, pinned) = self.open(address, None).await?;
        let card = remote.card().clone();
        remote.close().await;
        Ok((card, pinned))
    }

    /// Delegates a task. `stop` cancels it wherever it is; the report says so.
    pub async fn run(
        &self,
        request: &DelegationRequest,
        events: &mpsc::Sender<DelegationEvent>,
        stop: &CancellationToken,
    ) -> Result<DelegationReport, DelegationError> {
        let started_at = now();
        let deadline = request.deadline.map(|after| {
            started_at.plus_millis(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
        });
        let gathered = within(deadline, stop, Candidates::gather(self, request, events)).await;
        let (candidates, hindrance) = match gathered {
            Ok(candidates) => (candidates?, None),
            Err(error) => (Candidates::default(), Some(error)),
        };
        let times = (started_at, deadline);
        let ran = match hindrance {
            Some(error) => self.blank_report(request, &candidates).map(|mut report| {
                report.error = Some(error);
                report.cost.latency_ms = now().distance_millis(started_at);
                report
            }),
            None => self.run_with(request, &candidates, times, events, stop).await,
        };
        candidates.close().await;
        let mut report = ran?;
        let status = match &report.error {
            None => DelegationStatus::Succeeded,
            Some(_) if stop.is_cancelled() => DelegationStatus::Cancelled,
            Some(_) => DelegationStatus::Failed,
        };
        let logged = book::log(self.peers(), &report, (started_at, now()), status).await;
        report.note(logged);
        Ok(report)
    }

    async fn run_with(
        &self,
        request: &DelegationRequest,
        candidates: &Candidates,
        (started_at, deadline): (Timestamp, Option<Timestamp>),
        events: &mpsc::Sender<DelegationEvent>,
        stop: &CancellationToken,
    ) -> Result<DelegationReport, DelegationError> {
        let mut report = self.blank_report(request, candidates)?;
        if stop.is_cancelled() {
            report.error = Some(Refusal::Cancelled.error("cancelled before it was sent"));
        } else if candidates.is_empty() {
            report.error = Some(nobody(&report.chosen));
        } else {
            let Fitting { skill, why: for_skill } = candidates.skill_for(request)?;
            let job = self.job(request, &report.task_id, &skill, deadline)?;
            let own_job = request.own_constraint.as_deref().map(|it| held_to(&job, it));
            let own_job = own_job.transpose()?;
            report.skill = Some(skill.clone());
            let Ranking { order, choice, why } = candidates.rank(self, request, &skill).await?;
            report.chosen.why = [for_skill, why]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
            report.chosen.choice = Some(choice);
            if order.is_empty() {
                report.error = Some(nobody(&report.chosen));
            } else {
                let why = report.chosen.why.clone();
                let skill = skill.clone();
                tell(events, DelegationEvent::Chosen { why, skill }).await;
                let own_job = own_job.as_ref();
                let course = Course { request, candidates, job: &job, own_job, events, stop };
                self.try_all(&course, order, &mut report).await;
            }
        }
        report.cost.latency_ms = now().distance_millis(started_at);
        report.cost.within_budget = within_budget(request, &report.cost);
        Ok(report)
    }

    fn blank_report(
        &self,
        request: &DelegationRequest,
        candidates: &Candidates,
    ) -> Result<DelegationReport, DelegationError> {
        let mut chance = moment().ok_or(DelegationError::NoRandomNumbers)?;
        let unreachable = candidates.unreachable.clone();
        let task_id = request.task_id.as_ref().map(|id| id.as_str().to_owned());
        Ok(DelegationReport {
            task_id: task_id.unwrap_or_else(|| chance.fresh_id()),
            skill: request.skill.clone(),
            output: None,
            error: None,
            provenance: None,
            signed_record: None,
            payload_mode: None,
            delegate_id: None,
            address: None,
            chosen: Chosen { unreachable, ..Chosen::default() },
            attempts: Vec::new(),
            cost: Cost::default(),
            checks: Vec::new(),
            pinned_keys: candidates.pinned.clone(),
            unrecorded: Vec::new(),
        })
    }

    /// Takes a result, checks it as the request says, and counts it.
    async fn take(
        &self,
        delivery: Delivery<'_>,
        course: &Course<'_>,
        report: &mut DelegationReport,
    ) {
        let Course { request, job, events, stop, .. } = course;
        let Delivery { candidate, product, latency_ms } = delivery;
        let Product { output, mut provenance, mode, signed_record } = product;
        let delegate = &candidate.card.delegate_id;
        tell(events, DelegationEvent::Delivered { delegate_id: delegate.clone() }).await;
        report.delegate_id = Some(delegate.clone());
        report.address = Some(candidate.address.to_string());
        report.error = None;
        let mut verdict = Verdict::Finished;
        if let Some(error) = broken_contract(job, &provenance, &output) {
            verdict = Verdict::of_failure(&error);
            report.error = Some(error);
        } else if let Some(verify) = &request.verify {
            let claim = Claim {
                task: &request.task,
                output: &output,
                card: &candidate.card,
                address: &candidate.address,
                deadline: deadline_of(job),
            };
            let checked = self.check(verify, &claim, events, stop).await;
            let Checked { check, pinned, .. } = checked;
            verdict = checked.verdict;
            report.pinned_keys.extend(pinned);
            if check.passed {
                provenance.verification = check.status;
                provenance.verified_by = Some(check.by.clone());
            } else {
                report.error = Some(unverified(&check));
            }
            report.checks.push(check);
        }
        provenance.latency_ms = provenance.latency_ms.or(Some(latency_ms));
        report.cost.tokens = provenance.tokens_used;
        report.cost.usd = provenance.cost_usd;
        if !stop.is_cancelled() {
            let outcome = TaskOutcome {
                delegate: delegate.clone(),
                skill: job.skill.clone(),
                at: now(),
                verdict,
                latency_ms: Some(latency_ms),
                cost_usd: provenance.cost_usd,
            };
            report.note(book::record(self.peers(), outcome).await);
        }
        report.output = Some(output);
        report.provenance = Some(provenance);
        report.payload_mode = Some(mode);
        report.signed_record = signed_record;
    }

    fn peers(&self) -> &Peers {
        self.client.peers()
    }

    /// Connects to whoever is at an address.
    async fn open(
        &self,
        address: &Address,
        domain: Option<&str>,
    ) -> Result<(Arc<dyn Remote>, Option<NewPin>), LdpError> {
        let shown = address.to_string();
        let http = self.client.http();
        let remote: Arc<dyn Remote> = match address {
            Address::Ldp(base) => {
                let met = self.client.meet(base).await.map_err(|error| error.to_error())?;
                let pinned = met.pinned.clone();
                let (client, domain) = (self.client.clone(), domain.map(str::to_owned));
                return Ok((Arc::new(ldp::LdpRemote::new(client, met, domain)), pinned));
            }
            Address::A2a(base) => Arc::new(a2a::A2aRemote::open(http, base, &shown).await?),
            Address::Mcp(base) => {
                Arc::new(mcp::McpRemote::open_http(http, base, &shown, &self.ground).await?)
            }
            Address::McpCommand(command) => {
                Arc::new(mcp::McpRemote::open_command(command, &shown, &self.ground).await?)
            }
        };
        Ok((remote, None))
    }

    fn job(
        &self,
        request: &DelegationRequest,
        task_id: &str,
        skill: &SkillName,
        deadline: Option<Timestamp>,
    ) -> Result<Job, DelegationError> {
        let payload = request.task.payload(skill).map_err(DelegationError::Task)?;
        let no_id = |_| DelegationError::NoRandomNumbers;
        let budget = request.budget;
        let has_terms =
            deadline.is_some() || budget.max_tokens.is_some() || budget.max_cost_usd.is_some();
        let contract = match has_terms {
            false => None,
            true => {
                let policy = ContractPolicy {
                    failure_policy: FailurePolicy::FailClosed,
                    budget,
                    ..ContractPolicy::default()
                };
                let deadline = deadline.map(Into::into);
                Some(Contract { deadline, ..contract(&request.task, policy)? })
            }
        };
        let own = self.client.delegate_id();
        Ok(Job {
            task_id: TaskId::new(task_id).map_err(no_id)?,
            skill: skill.clone(),
            input: request.task.clone(),
            payload,
            contract,
            path: sabir_ldp::extend_path(own, &request.path),
            is_withdrawn: request.is_withdrawn,
        })
    }
}

/// A contract without a deadline.
fn contract(task: &TaskInput, policy: ContractPolicy) -> Result<Contract, DelegationError> {
    let mut chance = moment().ok_or(DelegationError::NoRandomNumbers)?;
    let contract_id =
        ContractId::new(chance.fresh_id()).map_err(|_| DelegationError::NoRandomNumbers)?;
    Ok(Contract {
        contract_id,
        objective: sabir_base::text::clip(&task.to_text(), 2000).into_owned(),
        success_criteria: Vec::new(),
        policy,
        deadline: None,
        created_at: Some(now().into()),
    })
}

/// The same for whoever is held to something besides.
fn held_to(job: &Job, constraint: &str) -> Result<Job, DelegationError> {
    let mut job = job.clone();
    let mut terms = match job.contract.take() {
        Some(terms) => terms,
        None => contract(&job.input, ContractPolicy::default())?,
    };
    terms.policy.safety_constraints.push(constraint.to_owned());
    job.contract = Some(terms);
    Ok(job)
}

/// Tells whoever listens; that nobody does is their business.
async fn tell(events: &mpsc::Sender<DelegationEvent>, event: DelegationEvent) {
    let _ = events.send(event).await;
}

fn deadline_of(job: &Job) -> Option<Timestamp> {
    Some(job.contract.as_ref()?.deadline.as_ref()?.at)
}

/// Ends at a deadline and some grace; without one never.
async fn until(deadline: Option<Timestamp>, grace: Duration) {
    match deadline {
        Some(at) => {
            let left = Duration::from_millis(at.millis().saturating_sub(now().millis()));
            tokio::time::sleep(left + grace).await;
        }
        None => std::future::pending().await,
    }
}

/// Work that ends with `stop` and with a deadline.
async fn within<T>(
    deadline: Option<Timestamp>,
    stop: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, LdpError> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Refusal::Cancelled.error("cancelled before it was sent")),
        done = work => Ok(done),
        () = until(deadline, Duration::ZERO) => Err(too_late()),
    }
}

/// What the delegate's own words say against the contract, where it is to be kept or failed.
fn broken_contract(job: &Job, provenance: &Provenance, output: &Value) -> Option<LdpError> {
    let policy = &job.contract.as_ref()?.policy;
    if policy.failure_policy != FailurePolicy::FailClosed {
        return None;
    }
    let over = |most: Option<u64>, used: Option<u64>| most.zip(used).is_some_and(|(m, u)| u > m);
    let is_dear = |most: Option<f64>, cost: Option<f64>| most.zip(cost).is_some_and(|(m, c)| c > m);
    let mut broken = Vec::new();
    if provenance.contract_satisfied == Some(false) {
        broken.extend(provenance.contract_violations.iter().map(|it| one_line(it, 100)));
    }
    let found = [
        (over(policy.budget.max_tokens, provenance.tokens_used), Violation::BudgetTokensExceeded),
        (is_dear(policy.budget.max_cost_usd, provenance.cost_usd), Violation::BudgetCostExceeded),
    ];
    broken.extend(found.iter().filter(|it| it.0).map(|it| it.1.wire_name().to_owned()));
    broken.sort();
    broken.dedup();
    if broken.is_empty() && provenance.contract_satisfied != Some(false) {
        return None;
    }
    let why = format!("the delegate did not keep the contract: {}", broken.join(", "));
    let mut error = Refusal::ContractViolated.error(why.trim_end_matches(": ").to_owned());
    error.partial_output = Some(output.clone());
    Some(error)
}

fn too_late() -> LdpError {
    let name = Violation::DeadlineExceeded.wire_name();
    Refusal::ContractViolated.error(format!("{name}: nothing was delivered before the deadline"))
}

/// Why nobody is asked: the one who could not be reached, or the filters.
fn nobody(chosen: &Chosen) -> LdpError {
    if let Some(first) = chosen.unreachable.first() {
        return first.error.clone();
    }
    LdpError {
        code: "NO_DELEGATE".to_owned(),
        category: ErrorCategory::Capability,
        message: chosen.why.trim_end().replace('\n', "; "),
        severity: Severity::Error,
        retryable: false,
        partial_output: None,
    }
}

fn unverified(check: &Check) -> LdpError {
    let why = check.detail.as_deref().unwrap_or("it did not pass");
    let code = match check.outcome {
        CheckOutcome::NotMade => "NOT_VERIFIED",
        CheckOutcome::Passed | CheckOutcome::Failed => "VERIFICATION_FAILED",
    };
    LdpError {
        code: code.to_owned(),
        category: ErrorCategory::Quality,
        message: format!("{}: {why}", check.by),
        severity: Severity::Error,
        retryable: false,
        partial_output: None,
    }
}

fn within_budget(request: &DelegationRequest, cost: &Cost) -> Option<bool> {
    let Budget { max_tokens, max_cost_usd } = request.budget;
    // Of each limit that there is: whether it was kept, if that is known.
    let tokens = max_tokens.map(|most| cost.tokens.map(|used| used <= most));
    let usd = max_cost_usd.map(|most| cost.usd.map(|used| used <= most));
    let limits = [tokens, usd].into_iter().flatten();
    limits.reduce(|one, other| match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, _) | (_, None) => None,
    })?
}
