//! One order, from the moment somebody works on it to its last row.

use std::sync::Arc;
use std::time::Duration;

use sabir_ldp::{DelegateId, ErrorCategory, Refusal, SkillName, TaskId};
use sabir_policy::Bounds;
use sabir_store::StoreError;
use sabir_telemetry::within;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::order::{Order, OrderFault, OrderState, OwnEvent};
use super::request::OrderVerify;
use super::rows::row;
use super::watched::{self, Watched};
use super::{Absence, Live, OrderError, Shared};
use crate::delegation::{
    Address, DelegationError, DelegationEvent, DelegationReport, DelegationRequest, Verify,
};
use crate::ldp::client::{PlainHttp, now};

/// How an order is gone about.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// The router is asked.
    Anew,
    /// A delegate had it before: it says what became of it.
    Ask { delegate: DelegateId, address: Address },
    /// The same delegate does it once more, under another name.
    Repeat { delegate: DelegateId, address: Address },
    /// A delegate that may still have it is told to leave it.
    Withdraw { delegate: DelegateId, address: Address },
    /// Nobody can say what became of it.
    Lost { why: String },
    /// Nobody had it, and nobody wants it any more.
    Dropped { why: String },
}

/// How it ended.
struct End {
    state: OrderState,
    report: Option<DelegationReport>,
    error: Option<OrderFault>,
}

impl Shared {
    pub(super) fn start(self: &Arc<Self>, live: Arc<Live>, way: Way, mut watched: Watched) {
        let shared = Arc::clone(self);
        let context = watched.context();
        self.running.spawn(within(context, async move {
            let leaving = shared.delegation.leaving().clone();
            tokio::select! {
                biased;
                // No last row: whoever opens the journal next takes it up.
                () = leaving.cancelled() => {}
                () = Box::pin(shared.see_through(&live, way)) => watched.ended(&live.order()),
            }
        }));
    }

    async fn see_through(&self, live: &Live, way: Way) {
        let end = match self.carry_out(live, way).await {
            Ok(end) => end,
            Err(error) => End {
                state: OrderState::Failed,
                report: None,
                error: Some(fault("STORE", error.to_string())),
            },
        };
        let End { state, report, error } = end;
        let report = report.and_then(|report| serde_json::to_value(report).ok());
        let last = OwnEvent::Report { state, report, error };
        let last = row(&last);
        if let Err(error) = self.tell(live, last).await {
            // It is not on disk, and the next start takes it up. Whoever waits is not left waiting.
            live.order.send_modify(|order| {
                let order = Arc::make_mut(order);
                order.state = OrderState::Failed;
                order.error = Some(fault("STORE", error.to_string()));
            });
        }
        self.live_map().remove(&live.id);
        self.changed();
        let order = live.order();
        let ended = OwnEvent::ChildEnded {
            id: order.id.clone(),
            state: order.state,
            delegate_id: order.delegate_id().map(str::to_owned),
        };
        self.tell_parent(order.parent.as_deref(), &ended).await;
    }

    async fn carry_out(&self, live: &Live, way: Way) -> Result<End, StoreError> {
        if let Way::Lost { why } = way {
            let (state, report) = (OrderState::Interrupted, None);
            return Ok(End { state, report, error: Some(fault("INTERRUPTED", why)) });
        }
        if let Way::Dropped { why } = way {
            let (state, report) = (OrderState::Cancelled, None);
            return Ok(End { state, report, error: Some(fault(Refusal::Cancelled.code(), why)) });
        }
        let mut end = self.attempt(live, &way).await?;
        let way = match way {
            Way::Anew => match who_had(&live.order(), &end) {
                Some(way) => way,
                None => return Ok(end),
            },
            way => way,
        };
        let Way::Ask { delegate, address } = &way else { return Ok(end) };
        if end.is_away() {
            end = self.wait_for(live, delegate, &way, end).await?;
        }
        // Its own word that it was cut short, and that doing it again does no harm.
        let is_cut = !end.is_away() && end.error_code() == Some(Refusal::Interrupted.code());
        let repeats = self.own.iter().any(|own| own.repeats && own.address == *address);
        if !is_cut || !repeats || live.stop.is_cancelled() {
            return Ok(end);
        }
        let why = format!("{delegate} was stopped in the middle of it, and does it again");
        // Under another name each time: it would be told how the last one ended otherwise.
        let again = OwnEvent::Repeated { turn: live.order().turn.saturating_add(1) };
        self.tell(live, row(&OwnEvent::Resumed { why }).into_iter().chain(row(&again))).await?;
        let way = Way::Repeat { delegate: delegate.clone(), address: address.clone() };
        self.attempt(live, &way).await
    }

    /// Asks a delegate that is away again and again, until it answers or was away for too long. What it
    /// had is not given to anybody else: nobody knows how far it came.
    async fn wait_for(
        &self,
        live: &Live,
        delegate: &DelegateId,
        way: &Way,
        mut end: End,
    ) -> Result<End, StoreError> {
        let Absence { first_pause, longest_pause, at_most } = self.absence;
        let missed_at = now();
        let gives_up_at = missed_at.plus_millis(millis(at_most));
        let order = live.order();
        let deadline = order.request.deadline_secs.map(|secs| order.deadline(secs));
        let gives_up_at = deadline.map_or(gives_up_at, |deadline| deadline.min(gives_up_at));
        let mut pause = first_pause.min(longest_pause);
        while end.is_away() && now() < gives_up_at {
            let why = format!("{delegate} had it and cannot be reached now: {}", end.words());
            let again_at_ms = now().plus_millis(millis(pause)).millis();
            let delegate_id = delegate.as_str().to_owned();
            self.tell(live, row(&OwnEvent::Away { delegate_id, why, again_at_ms })).await?;
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = live.stop.cancelled() => {}
            }
            pause = pause.saturating_mul(2).min(longest_pause);
            end = self.attempt(live, way).await?;
        }
        if end.is_away() {
            let secs = now().distance_millis(missed_at) / 1000;
            let why = format!("{delegate} had it, and was away for {secs} s: {}", end.words());
            end.error = Some(fault("AWAY", why));
        }
        Ok(end)
    }

    /// Delegates it, and writes down what is told meanwhile.
    async fn attempt(&self, live: &Live, way: &Way) -> Result<End, StoreError> {
        let order = live.order();
        let request = match self.request(&order, way).await {
            Ok(request) => request,
            Err(error) => {
                let error = Some(fault("INVALID", error.to_string()));
                return Ok(End { state: OrderState::Failed, report: None, error });
            }
        };
        let (events, told) = mpsc::channel(ON_THE_WAY);
        // What takes a task back is not stopped by the wish to have it stopped.
        let is_withdrawn = matches!(way, Way::Withdraw { .. });
        let stop = if is_withdrawn { CancellationToken::new() } else { live.stop.clone() };
        let run = async {
            let ran = self.delegation.run(&request, &events, &stop).await;
            drop(events);
            ran
        };
        let (ran, written) = tokio::join!(Box::pin(run), self.write(live, told));
        written?;
        let is_stopped = is_withdrawn || live.stop.is_cancelled();
        Ok(match ran {
            Err(error) => {
                let error = Some(words(&error));
                End { state: OrderState::Failed, report: None, error }
            }
            Ok(report) => {
                let state = match &report.error {
                    None => OrderState::Done,
                    // It may still be at it.
                    Some(error) if is_withdrawn && error.category == ErrorCategory::Transport => {
                        OrderState::Interrupted
                    }
                    Some(_) if is_stopped => OrderState::Cancelled,
                    Some(error) if error.code == Refusal::Interrupted.code() => {
                        OrderState::Interrupted
                    }
                    // It had it, and cannot be asked now.
                    Some(error)
                        if matches!(way, Way::Ask { .. })
                            && error.category == ErrorCategory::Transport =>
                    {
                        OrderState::Interrupted
                    }
                    Some(_) => OrderState::Failed,
                };
                End { state, report: Some(report), error: None }
            }
        })
    }

    /// What is told while the disk works is written together.
    async fn write(
        &self,
        live: &Live,
        mut told: mpsc::Receiver<DelegationEvent>,
    ) -> Result<(), StoreError> {
        let mut failed = None;
        let mut news = Vec::new();
        while told.recv_many(&mut news, ON_THE_WAY).await > 0 {
            news.iter().for_each(|event| watched::told(&live.id, event));
            let rows: Vec<_> = news.iter().filter_map(row).collect();
            if failed.is_none()
                && let Err(error) = self.tell(live, rows).await
            {
                // What cannot be written down is not done.
                live.stop.cancel();
                failed = Some(error);
            }
            // A task is sent when the event that says so is dropped: it is on disk by now.
            news.clear();
        }
        failed.map_or(Ok(()), Err)
    }

    async fn request(&self, order: &Order, way: &Way) -> Result<DelegationRequest, OrderError> {
        let asked = &order.request;
        let no_id = |_| OrderError::NoRandomNumbers;
        let invalid = |field| move |why: String| OrderError::Invalid { field, why };
        let skill = |name: &String| {
            SkillName::new(name).map_err(|error| invalid("skill")(error.to_string()))
        };
        let mut request = DelegationRequest::new(asked.task_input());
        request.task_id = Some(TaskId::new(order.task_name()).map_err(no_id)?);
        (request.fits_skill, request.is_written_down) = (true, true);
        request.is_withdrawn = matches!(way, Way::Withdraw { .. });
        request.skill = order.skill.as_ref().or(asked.skill.as_ref()).map(skill).transpose()?;
        match way {
            Way::Ask { delegate, address }
            | Way::Repeat { delegate, address }
            | Way::Withdraw { delegate, address } => {
                request.only = Some(delegate.clone());
                request.to = vec![address.clone()];
            }
            Way::Anew | Way::Lost { .. } | Way::Dropped { .. } => {
                request.to = self.addresses(asked).await?;
                request.also = self.own.iter().map(|own| own.address.clone()).collect();
            }
        }
        // Before all others, whatever their cards say.
        request.own = self.own.iter().map(|own| own.address.clone()).collect();
        request.own_constraint = asked.within.as_ref().map(Bounds::to_constraint);
        request.shuns_programs = asked.shuns_programs();
        request.strategy = asked.strategy;
        request.trust_domain.clone_from(&asked.trust_domain);
        request.budget = asked.budget();
        // From when it was placed, whatever happened since.
        request.deadline = asked.deadline_secs.map(|secs| {
            let ends_ms = order.deadline(secs).millis();
            Duration::from_millis(ends_ms.saturating_sub(now().millis()))
        });
        request.path.clone_from(&asked.path);
        request.verify = match &asked.verify {
            None => None,
            Some(OrderVerify::Rule { name, schema }) => {
                Some(Verify::Rule { name: name.clone(), schema: schema.clone() })
            }
            Some(OrderVerify::Tool { command }) => Some(Verify::Tool { command: command.clone() }),
            Some(OrderVerify::Peer { to, skill: name }) => {
                let to = match to {
                    Some(to) => Some(self.address(to, asked.by).await?),
                    None => None,
                };
                Some(Verify::Peer { to, skill: skill(name)? })
            }
            Some(OrderVerify::Person) => {
                let nobody = || invalid("verify")("nobody can be asked here".to_owned());
                let people = self.people.as_ref().ok_or_else(nobody)?;
                Some(Verify::Human(people.judge(&order.id)))
            }
        };
        Ok(request)
    }
}

impl End {
    fn error_code(&self) -> Option<&str> {
        Some(self.report.as_ref()?.error.as_ref()?.code.as_str())
    }

    /// Whoever has it did not answer at all.
    fn is_away(&self) -> bool {
        let is_silent = self.error_code().is_some_and(|code| SILENCE.contains(&code));
        (is_silent || self.was_sent()) && self.state != OrderState::Cancelled
    }

    /// It was sent, and then the way to whoever has it failed.
    fn was_sent(&self) -> bool {
        let error = self.report.as_ref().and_then(|report| report.error.as_ref());
        error.is_some_and(|error| {
            error.code == Refusal::Interrupted.code() && error.category == ErrorCategory::Transport
        })
    }

    fn words(&self) -> &str {
        let error = self.report.as_ref().and_then(|report| report.error.as_ref());
        error.map_or("", |error| error.message.as_str())
    }
}

/// Somebody took it, and is gone: that one is asked what became of it, and nobody else does it a second
/// time.
fn who_had(order: &Order, end: &End) -> Option<Way> {
    let last = order.attempts.last().filter(|_| end.is_away() && end.was_sent())?;
    let delegate = DelegateId::new(last.delegate_id.as_str()).ok()?;
    let address = Address::parse(&last.address, PlainHttp::Anywhere).ok()?;
    matches!(address, Address::Ldp(_)).then_some(Way::Ask { delegate, address })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn fault(code: &str, message: String) -> OrderFault {
    OrderFault { code: code.to_owned(), message }
}

/// Why it did not even begin, to whoever placed it.
fn words(error: &DelegationError) -> OrderFault {
    match error {
        DelegationError::NobodyKnown => {
            fault("NO_DELEGATE", "no delegate is known that could do it".to_owned())
        }
        DelegationError::SkillNeeded { offered } if offered.is_empty() => {
            fault("NO_DELEGATE", "no skill is offered".to_owned())
        }
        DelegationError::SkillNeeded { offered } => {
            let offered = offered.join(", ");
            fault("SKILL_NEEDED", format!("several skills are offered, name one: {offered}"))
        }
        DelegationError::Task(_) => fault("TASK_INVALID", error.to_string()),
        DelegationError::Verify(_) => fault("NOT_VERIFIED", error.to_string()),
        DelegationError::Store(_) => fault("STORE", error.to_string()),
        DelegationError::NoRandomNumbers => fault("NO_RANDOM_NUMBERS", error.to_string()),
    }
}

/// Nobody answered, or only whoever stands before the delegate.
const SILENCE: [&str; 5] = ["UNREACHABLE", "TRANSPORT_FAILED", "HTTP_502", "HTTP_503", "HTTP_504"];
/// What is told ahead of being written.
const ON_THE_WAY: usize = 64;
