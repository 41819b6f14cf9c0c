//! Who is tried, one after the other or two at a time, until somebody delivers. The plan says whose
//! turn it is; here it is driven, and what came of each turn is written down.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sabir_ldp::{
    DelegateId, ErrorCategory, FailureKind, GivenUp, LdpError, Plan, PlanInput, PlanOutput,
    PlanSettings, Refusal, TaskOutcome, Verdict,
};
use sabir_telemetry::{Span, SpanKind};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::candidates::{Candidate, Candidates};
use super::remote::{Job, News, Product, Remote, Speaker};
use super::report::{AttemptOutcome, AttemptReport, DelegationEvent, DelegationReport, Held};
use super::{
    Delegation, DelegationError, DelegationRequest, book, broken_contract, deadline_of, tell,
    too_late, until, within,
};
use crate::ldp::client::{NewPin, now};

/// What stays the same while one after the other is tried.
pub(super) struct Course<'a> {
    pub(super) request: &'a DelegationRequest,
    pub(super) candidates: &'a Candidates,
    pub(super) job: &'a Job,
    /// For those that this node runs itself, if they are held to something besides.
    pub(super) own_job: Option<&'a Job>,
    pub(super) events: &'a mpsc::Sender<DelegationEvent>,
    pub(super) stop: &'a CancellationToken,
}

impl Course<'_> {
    fn job_for(&self, candidate: &Candidate) -> &Job {
        let is_own = self.request.own.contains(&candidate.address);
        self.own_job.filter(|_| is_own).unwrap_or(self.job)
    }
}

/// What a candidate brought.
pub(super) struct Delivery<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) product: Product,
    pub(super) latency_ms: u64,
}

/// One delegate's turn, when it is over.
struct Turn<'a> {
    candidate: &'a Candidate,
    outcome: Result<Product, LdpError>,
    latency_ms: u64,
    pinned: Vec<NewPin>,
    /// What could not be written down.
    unrecorded: Vec<String>,
}

/// What is learnt about who answers, besides what it delivers.
struct Acquaintance {
    pinned: Vec<NewPin>,
    /// Whether what went wrong is the doing of the delegate itself, and of nobody in its name.
    is_its_own: bool,
}

/// Turns that are not over.
type UnderWay<'a> = FuturesUnordered<BoxFuture<'a, Turn<'a>>>;

impl Delegation {
    /// Tries one after the other until somebody delivers. With hedging a second one is asked while
    /// the first is at work; the first result counts, and the other one is told to stop.
    pub(super) async fn try_all(
        &self,
        course: &Course<'_>,
        order: Vec<DelegateId>,
        report: &mut DelegationReport,
    ) {
        let Course { request, candidates, job, events, .. } = course;
        let hedge_after_ms =
            request.hedge_after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        let settings = PlanSettings {
            attempts: request.attempts.max(1),
            hedge_after_ms,
            deadline: deadline_of(job),
        };
        let mut plan = Plan::new(order, settings);
        let mut under_way = UnderWay::new();
        let mut stops: Vec<(DelegateId, CancellationToken)> = Vec::new();
        let (mut delivered, mut spoilt, mut wake) = (None, None, None);
        plan.handle(PlanInput::Begin, now());
        loop {
            while let Some(output) = plan.poll_output() {
                match output {
                    PlanOutput::Start { delegate } => {
                        let Some(candidate) = candidates.by_id(&delegate) else { continue };
                        if !under_way.is_empty() {
                            let delegate_id = delegate.clone();
                            tell(events, DelegationEvent::Hedging { delegate_id }).await;
                        }
                        let stop = course.stop.child_token();
                        stops.push((delegate, stop.clone()));
                        wake = None;
                        under_way.push(Box::pin(self.turn(candidate, course, stop)));
                    }
                    PlanOutput::Stop { delegate } => {
                        let meant = stops.iter().filter(|(who, _)| *who == delegate);
                        meant.for_each(|(_, stop)| stop.cancel());
                    }
                    PlanOutput::WakeAt { at } => wake = Some(at),
                    PlanOutput::Done { .. } => {}
                    PlanOutput::GiveUp { why } => {
                        if why == GivenUp::DeadlinePassed && report.error.is_none() {
                            report.error = Some(too_late());
                        }
                    }
                }
            }
            if plan.is_over() || under_way.is_empty() {
                break;
            }
            let turn = tokio::select! {
                Some(turn) = under_way.next() => turn,
                () = until(wake, Duration::ZERO), if wake.is_some() => {
                    // A clock that was set back wakes too early; then it is waited for again.
                    wake = wake.filter(|at| now() < *at);
                    plan.handle(PlanInput::Tick, now());
                    continue;
                }
            };
            let delegate = turn.candidate.card.delegate_id.clone();
            report.pinned_keys.extend(turn.pinned.iter().cloned());
            report.note_all(turn.unrecorded.iter().cloned());
            report.delegate_id = Some(delegate.clone());
            report.address = Some(turn.candidate.address.to_string());
            let Turn { candidate, outcome, latency_ms, .. } = turn;
            let (input, ended, error) = match outcome {
                Ok(product) => {
                    let error = broken_contract(job, &product.provenance, &product.output);
                    let delivery = Delivery { candidate, product, latency_ms };
                    match &error {
                        None => {
                            delivered = Some(delivery);
                            (PlanInput::Finished { delegate }, AttemptOutcome::Delivered, None)
                        }
                        Some(_) => {
                            spoilt = Some(delivery);
                            let failure = FailureKind::Final;
                            let input = PlanInput::Failed { delegate, failure };
                            (input, AttemptOutcome::Failed, error)
                        }
                    }
                }
                Err(error) => {
                    let failure = match course.stop.is_cancelled() {
                        true => FailureKind::Final,
                        false => FailureKind::of(&error),
                    };
                    report.error = Some(error.clone());
                    let input = PlanInput::Failed { delegate, failure };
                    (input, AttemptOutcome::Failed, Some(error))
                }
            };
            report.attempts.push(attempt_report(candidate, latency_ms, ended, error));
            plan.handle(input, now());
        }
        // What broke the contract is looked at only where there is nothing better.
        if let (Some(_), Some(spoilt)) = (&delivered, &spoilt) {
            let counted = self.count_spoilt(spoilt, course).await;
            report.note(counted);
        }
        let taking = async {
            if let Some(delivery) = delivered.or(spoilt) {
                self.take(delivery, course, report).await;
            }
        };
        let ((), (stopped, pinned)) = tokio::join!(taking, wind_down(under_way, events));
        report.attempts.extend(stopped);
        report.pinned_keys.extend(pinned);
    }

    /// One delegate's turn. That it failed is evidence, unless it was stopped by us or somebody else
    /// spoke in its name; a result counts once it was checked.
    async fn turn<'a>(
        &'a self,
        candidate: &'a Candidate,
        course: &'a Course<'_>,
        stop: CancellationToken,
    ) -> Turn<'a> {
        let Course { events, .. } = course;
        let delegate_id = candidate.card.delegate_id.clone();
        let address = candidate.address.to_string();
        let tasks_at_once = candidate.card.tasks_at_once();
        let (mut held, let_go) = Held::new();
        if !course.request.is_written_down {
            held = Held::default();
        }
        let trying = DelegationEvent::Trying {
            delegate_id: delegate_id.clone(),
            address,
            tasks_at_once,
            held,
        };
        tell(events, trying).await;
        // That it took too long, or is not wanted any more, shows below.
        let _ = within(deadline_of(course.job), &stop, let_go).await;
        let began = now();
        let is_its_own = candidate.remote.as_ref().is_none_or(|it| it.speaker() == Speaker::Itself);
        let mut unrecorded = Vec::new();
        if is_its_own {
            let noted = book::started(self.peers(), &delegate_id, began).await;
            unrecorded.extend(noted.err().map(|error| error.to_string()));
        }
        let mut learnt = Acquaintance { pinned: Vec::new(), is_its_own };
        let mut span = Span::begin("delegate", SpanKind::Client);
        span.set("sabir.delegate_id", delegate_id.as_str());
        span.set("sabir.task_id", course.job.task_id.as_str());
        span.set("sabir.skill", course.job.skill.as_str());
        let performing = self.perform(candidate, course, &stop, &mut learnt);
        let outcome = sabir_telemetry::within(span.context(), performing).await;
        if let Err(error) = &outcome {
            span.fail(&error.code);
        }
        drop(span);
        let latency_ms = now().distance_millis(began);
        if let Err(error) = &outcome
            && (!stop.is_cancelled() || course.stop.is_cancelled())
        {
            let (delegate_id, error) = (delegate_id.clone(), error.clone());
            tell(events, DelegationEvent::Failed { delegate_id, error }).await;
        }
        if let Err(error) = &outcome
            && !stop.is_cancelled()
            && learnt.is_its_own
        {
            let counted = self.count_failure(delegate_id, error, course).await;
            unrecorded.extend(counted.err().map(|error| error.to_string()));
        }
        Turn { candidate, outcome, latency_ms, pinned: learnt.pinned, unrecorded }
    }

    async fn count_spoilt(
        &self,
        spoilt: &Delivery<'_>,
        course: &Course<'_>,
    ) -> Result<(), DelegationError> {
        let Product { provenance, output, .. } = &spoilt.product;
        let delegate = spoilt.candidate.card.delegate_id.clone();
        match broken_contract(course.job, provenance, output) {
            Some(error) => self.count_failure(delegate, &error, course).await,
            None => Ok(()),
        }
    }

    async fn count_failure(
        &self,
        delegate: DelegateId,
        error: &LdpError,
        course: &Course<'_>,
    ) -> Result<(), DelegationError> {
        let outcome = TaskOutcome {
            delegate,
            skill: course.job.skill.clone(),
            at: now(),
            verdict: Verdict::of_failure(error),
            latency_ms: None,
            cost_usd: None,
        };
        book::record(self.peers(), outcome).await
    }

    async fn perform(
        &self,
        candidate: &Candidate,
        course: &Course<'_>,
        stop: &CancellationToken,
        learnt: &mut Acquaintance,
    ) -> Result<Product, LdpError> {
        let Course { request, job, events, .. } = course;
        let domain = request.trust_domain.as_deref();
        let reached = self.reach(candidate, domain, (events, &mut learnt.pinned));
        let reached = within(deadline_of(job), stop, reached).await.flatten();
        let remote = reached.inspect_err(|error| {
            // Somebody else at its address is not its doing.
            let is_other =
                [ErrorCategory::Security, ErrorCategory::Identity].contains(&error.category);
            learnt.is_its_own &= !is_other;
        })?;
        let own_stop = stop.child_token();
        let (news, told) = mpsc::channel(64);
        let work = async {
            let performed = remote.perform(course.job_for(candidate), &news, &own_stop).await;
            drop(news);
            performed
        };
        let pass_on = pass_on(told, &candidate.card.delegate_id, events);
        let grace = if remote.keeps_deadlines() { GRACE } else { Duration::ZERO };
        let late = until(deadline_of(job), grace);
        let mut work = std::pin::pin!(async { tokio::join!(work, pass_on).0 });
        let performed = tokio::select! {
            performed = &mut work => performed,
            () = late => {
                own_stop.cancel();
                // It may have been done at the last moment, and that is too late.
                let _ = work.await;
                Err(too_late())
            }
        };
        learnt.is_its_own = match remote.speaker() {
            Speaker::Itself => true,
            Speaker::SomebodyElse => false,
            // Where it was added, its silence is its own.
            Speaker::Unknown => candidate.remote.is_none(),
        };
        if candidate.remote.is_none() {
            remote.close().await;
        }
        // Done or not, after the deadline it is worth nothing.
        match deadline_of(job) {
            Some(deadline) if performed.is_ok() && now() > deadline => Err(too_late()),
            _ => performed,
        }
    }

    /// The connection to a candidate: the one that is there, or another.
    pub(super) async fn reach(
        &self,
        candidate: &Candidate,
        domain: Option<&str>,
        (events, pinned_keys): (&mpsc::Sender<DelegationEvent>, &mut Vec<NewPin>),
    ) -> Result<Arc<dyn Remote>, LdpError> {
        if let Some(remote) = &candidate.remote {
            return Ok(Arc::clone(remote));
        }
        let (remote, pinned) = self.open(&candidate.address, domain).await?;
        if let Some(pinned) = pinned {
            tell(events, DelegationEvent::KeyPinned(pinned.clone())).await;
            pinned_keys.push(pinned);
        }
        if remote.card().delegate_id != candidate.card.delegate_id {
            let (known, now) = (&candidate.card.delegate_id, &remote.card().delegate_id);
            let why = format!("{known} was expected there, and {now} answers");
            remote.close().await;
            return Err(Refusal::WrongRecipient.error(why));
        }
        Ok(remote)
    }
}

/// Waits for those who were told to stop: their own word about it is worth a moment.
async fn wind_down(
    mut under_way: UnderWay<'_>,
    events: &mpsc::Sender<DelegationEvent>,
) -> (Vec<AttemptReport>, Vec<NewPin>) {
    let (mut stopped, mut pinned) = (Vec::new(), Vec::new());
    while let Some(turn) = under_way.next().await {
        let delegate_id = turn.candidate.card.delegate_id.clone();
        tell(events, DelegationEvent::Stopped { delegate_id }).await;
        let outcome = AttemptOutcome::Stopped;
        stopped.push(attempt_report(turn.candidate, turn.latency_ms, outcome, None));
        pinned.extend(turn.pinned);
    }
    (stopped, pinned)
}

fn attempt_report(
    candidate: &Candidate,
    latency_ms: u64,
    outcome: AttemptOutcome,
    error: Option<LdpError>,
) -> AttemptReport {
    let delegate_id = candidate.card.delegate_id.clone();
    let address = candidate.address.to_string();
    AttemptReport { delegate_id, address, latency_ms, outcome, error }
}

async fn pass_on(
    mut told: mpsc::Receiver<News>,
    delegate: &DelegateId,
    events: &mpsc::Sender<DelegationEvent>,
) {
    while let Some(news) = told.recv().await {
        let delegate_id = delegate.clone();
        let event = match news {
            News::Opened { session, mode } => {
                DelegationEvent::SessionOpened { delegate_id, session, mode }
            }
            News::Progress(update) => DelegationEvent::Progress {
                delegate_id,
                progress: update.progress,
                message: update.message,
                state: update.state,
            },
        };
        tell(events, event).await;
    }
}

/// A delegate says itself that it was too late, a little after it was.
const GRACE: Duration = Duration::from_secs(2);
