//! An order as it stands: the sum of its rows in the journal. Whether they come one by one or are read
//! back after a restart, the sum is the same.

use sabir_base::text::one_line;
use sabir_ldp::{Choice, TaskState, Timestamp};
use sabir_store::Line;
use sabir_telemetry::TraceContext;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::OwnDelegate;
use super::request::{OrderId, OrderRequest, OrderVerify};
use crate::errands::Placer;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Order {
    pub id: OrderId,
    pub task: String,
    pub skill: Option<String>,
    pub state: OrderState,
    pub by: Placer,
    pub created_at_ms: u64,
    pub ended_at_ms: Option<u64>,
    /// Who has it, or had it last.
    pub chosen: Option<OrderChosen>,
    pub attempts: Vec<OrderAttempt>,
    /// The last that its delegate said about it.
    pub progress: Option<OrderProgress>,
    pub output: Option<Value>,
    pub error: Option<OrderFault>,
    /// Who made the output and how, as the protocol writes it.
    pub provenance: Option<Value>,
    pub payload_mode: Option<String>,
    pub cost: OrderCost,
    pub checks: Vec<OrderCheck>,
    /// The order or session that it was placed for.
    pub parent: Option<String>,
    pub children: Vec<OrderChild>,
    /// Where its rows stand in the journal.
    pub session_id: String,
    /// The trace that it is part of, if there is one.
    #[serde(
        rename = "trace_id",
        serialize_with = "trace_id",
        skip_serializing_if = "Option::is_none"
    )]
    pub trace: Option<TraceContext>,
    pub request: OrderRequest,
    /// Somebody said that it is to stop.
    #[serde(skip)]
    pub(super) is_cancelling: bool,
    /// How often it was begun: each time the same delegate does it once more, it has another name.
    #[serde(skip)]
    pub(super) turn: u32,
    /// Who had it when the node stopped, and has not been asked since.
    #[serde(skip)]
    had: Option<OrderAttempt>,
}

/// What a list shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderBrief {
    pub id: OrderId,
    pub task: String,
    pub skill: Option<String>,
    pub state: OrderState,
    pub created_at_ms: u64,
    pub ended_at_ms: Option<u64>,
    pub delegate_id: Option<String>,
    pub parent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    Running,
    /// For a person.
    Waiting,
    /// Who has it cannot be reached, and is asked again for a while.
    Away,
    Done,
    Failed,
    Cancelled,
    /// The node or the delegate stopped while it ran, and nobody can say how far it came.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct OrderChosen {
    pub delegate_id: Option<String>,
    /// Of one of the node's own.
    pub name: Option<String>,
    pub address: Option<String>,
    /// The choice in words.
    pub why: String,
    pub ranking: Vec<OrderRank>,
    /// How many tasks its card says that it works on at once.
    pub tasks_at_once: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OrderRank {
    pub delegate_id: String,
    /// Compares within one choice only.
    pub score: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderAttempt {
    pub delegate_id: String,
    pub address: String,
    #[serde(default)]
    pub latency_ms: Option<u64>,
    pub outcome: OrderAttemptOutcome,
    pub error: Option<OrderFault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderAttemptOutcome {
    Running,
    Delivered,
    Failed,
    Stopped,
}

/// What went wrong, as peers and people may read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderFault {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct OrderProgress {
    pub progress: Option<f64>,
    pub message: Option<String>,
}

/// Tokens and dollars are the delegate's word; the time is ours.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct OrderCost {
    pub tokens: Option<u64>,
    pub usd: Option<f64>,
    pub latency_ms: u64,
    pub within_budget: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderCheck {
    pub status: String,
    pub by: String,
    pub passed: bool,
    pub outcome: String,
    pub detail: Option<String>,
}

/// An order that was placed for this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderChild {
    pub id: OrderId,
    pub task: String,
    pub state: OrderState,
    pub delegate: Option<String>,
    /// While it runs.
    pub capacity: Option<OrderCapacity>,
}

/// How much whoever has an order takes on, and how much of that this node uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OrderCapacity {
    /// As its card says.
    pub tasks_at_once: Option<u64>,
    /// Orders of this node that it has now.
    pub in_use: usize,
}

/// Rows beside those that tell of the delegation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum OwnEvent {
    /// The node stopped meanwhile, and takes it up.
    Resumed {
        why: String,
    },
    /// The same delegate begins it once more, for this time.
    Repeated {
        turn: u32,
    },
    Cancelling,
    /// The trace that it is part of, as the header has it.
    Traced {
        traceparent: String,
    },
    /// Who has it cannot be reached; it is asked again at that time.
    Away {
        delegate_id: String,
        why: String,
        again_at_ms: u64,
    },
    Child {
        id: OrderId,
        task: String,
    },
    ChildEnded {
        id: OrderId,
        state: OrderState,
        delegate_id: Option<String>,
    },
    /// The last.
    Report {
        state: OrderState,
        report: Option<Value>,
        error: Option<OrderFault>,
    },
}

/// What is read of the news of a delegation.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum News {
    Chosen {
        why: String,
        skill: Option<String>,
    },
    Trying {
        delegate_id: String,
        address: String,
        #[serde(default)]
        tasks_at_once: Option<u64>,
    },
    SessionOpened {
        mode: String,
    },
    Progress {
        progress: Option<f64>,
        message: Option<String>,
        state: Option<TaskState>,
    },
    Failed {
        delegate_id: String,
        error: OrderFault,
    },
    Stopped {
        delegate_id: String,
    },
    Delivered {
        delegate_id: String,
    },
    Checking {},
    Checked(OrderCheck),
    #[serde(other)]
    Other,
}

/// What is read of a report.
#[derive(Deserialize)]
struct ReportRow {
    skill: Option<String>,
    output: Option<Value>,
    error: Option<OrderFault>,
    provenance: Option<Value>,
    payload_mode: Option<String>,
    delegate_id: Option<String>,
    address: Option<String>,
    chosen: ChosenRow,
    attempts: Vec<OrderAttempt>,
    cost: OrderCost,
    checks: Vec<OrderCheck>,
}

#[derive(Deserialize)]
struct ChosenRow {
    why: String,
    choice: Option<Choice>,
}

fn trace_id<S: Serializer>(trace: &Option<TraceContext>, to: S) -> Result<S::Ok, S::Error> {
    trace.map(|trace| trace.trace_id()).serialize(to)
}

impl OrderState {
    pub fn is_over(self) -> bool {
        match self {
            Self::Running | Self::Waiting | Self::Away => false,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted => true,
        }
    }
}

impl OwnEvent {
    pub(super) const REPORT: &str = "report";
}

impl Order {
    pub(super) fn new(id: OrderId, created_at_ms: u64, request: OrderRequest) -> Self {
        Self {
            session_id: id.as_str().to_owned(),
            trace: None,
            id,
            task: request.task.clone(),
            skill: request.skill.clone(),
            state: OrderState::Running,
            by: request.by,
            created_at_ms,
            ended_at_ms: None,
            chosen: None,
            attempts: Vec::new(),
            progress: None,
            output: None,
            error: None,
            provenance: None,
            payload_mode: None,
            cost: OrderCost::default(),
            checks: Vec::new(),
            parent: request.parent.clone(),
            children: Vec::new(),
            request,
            is_cancelling: false,
            turn: 1,
            had: None,
        }
    }

    /// The order that these rows tell of, all of its session; none if they tell of none.
    pub(super) fn of_rows(id: &OrderId, rows: &[Line]) -> Option<Self> {
        let mut order: Option<Self> = None;
        for row in rows {
            match (row.kind.as_str(), &mut order) {
                ("submission", None) => {
                    let request = serde_json::from_str(&row.body).ok()?;
                    order = Some(Self::new(id.clone(), row.at_ms, request));
                }
                ("event", Some(order)) => order.apply(&row.body, row.at_ms),
                _ => {}
            }
        }
        order
    }

    /// Takes in one more row.
    pub(super) fn apply(&mut self, body: &str, at_ms: u64) {
        if let Ok(own) = serde_json::from_str::<OwnEvent>(body) {
            return self.apply_own(own, at_ms);
        }
        let Ok(news) = serde_json::from_str::<News>(body) else { return };
        if self.state.is_over() {
            return;
        }
        // That somebody could be found, or could not, moves nothing on by itself.
        if !matches!(news, News::Other) {
            self.state = OrderState::Running;
        }
        match news {
            News::Chosen { why, skill } => {
                self.chosen_mut().why = why;
                // Words that fit one skill among many may fit none among few.
                self.skill = skill.or(self.skill.take());
            }
            News::Trying { delegate_id, address, tasks_at_once } => {
                let chosen = self.chosen_mut();
                chosen.tasks_at_once = tasks_at_once;
                chosen.delegate_id = Some(delegate_id.clone());
                chosen.address = Some(address.clone());
                let outcome = OrderAttemptOutcome::Running;
                let (latency_ms, error) = (None, None);
                let attempt = OrderAttempt { delegate_id, address, latency_ms, outcome, error };
                self.attempts.push(attempt);
                self.had = None;
            }
            News::SessionOpened { mode } => self.payload_mode = Some(mode),
            News::Progress { progress, message, state } => {
                if state == Some(TaskState::WaitingForApproval) {
                    self.state = OrderState::Waiting;
                }
                self.progress = Some(OrderProgress { progress, message });
            }
            News::Failed { delegate_id, error } => {
                self.end_attempt(&delegate_id, OrderAttemptOutcome::Failed, Some(error));
            }
            News::Stopped { delegate_id } => {
                self.end_attempt(&delegate_id, OrderAttemptOutcome::Stopped, None);
            }
            News::Delivered { delegate_id } => {
                self.end_attempt(&delegate_id, OrderAttemptOutcome::Delivered, None);
            }
            News::Checking {} => {
                if self.request.verify == Some(OrderVerify::Person) {
                    self.state = OrderState::Waiting;
                }
            }
            News::Checked(check) => self.checks.push(check),
            News::Other => {}
        }
    }

    fn apply_own(&mut self, own: OwnEvent, at_ms: u64) {
        match own {
            OwnEvent::Resumed { .. } => {
                self.had = self.holder().cloned();
                // What was under way is asked for again; what came of it is told once more.
                let is_open = |it: &OrderAttempt| it.outcome == OrderAttemptOutcome::Running;
                self.attempts.retain(|attempt| !is_open(attempt));
                self.checks.clear();
            }
            OwnEvent::Repeated { turn } => self.turn = turn,
            OwnEvent::Cancelling => self.is_cancelling = true,
            OwnEvent::Traced { traceparent } => self.trace = TraceContext::parse(&traceparent),
            OwnEvent::Away { .. } => {
                if !self.state.is_over() {
                    self.state = OrderState::Away;
                }
            }
            OwnEvent::Child { id, task } => {
                let (state, delegate, capacity) = (OrderState::Running, None, None);
                self.children.push(OrderChild { id, task, state, delegate, capacity });
            }
            OwnEvent::ChildEnded { id, state, delegate_id } => {
                if let Some(child) = self.children.iter_mut().find(|child| child.id == id) {
                    child.state = state;
                    child.delegate = delegate_id;
                }
            }
            OwnEvent::Report { state, report, error } => {
                self.state = state;
                self.ended_at_ms = Some(at_ms);
                let report = report.and_then(|it| serde_json::from_value(it).ok());
                if let Some(report) = report {
                    self.take(report);
                }
                self.error = error.or(self.error.take());
            }
        }
    }

    fn take(&mut self, report: ReportRow) {
        let ReportRow { chosen: ChosenRow { why, choice }, delegate_id, address, .. } = report;
        self.skill = report.skill.or(self.skill.take());
        self.output = report.output;
        self.error = report.error;
        self.provenance = report.provenance;
        self.payload_mode = report.payload_mode.or(self.payload_mode.take());
        self.attempts = report.attempts;
        self.cost = report.cost;
        self.checks = report.checks;
        let ranked = choice.into_iter().flat_map(|choice| choice.ranked);
        let ranking = ranked
            .map(|it| OrderRank { delegate_id: it.delegate.as_str().to_owned(), score: it.score });
        let before = self.chosen.take().filter(|before| before.delegate_id == delegate_id);
        self.chosen = Some(OrderChosen {
            tasks_at_once: before.and_then(|before| before.tasks_at_once),
            name: None,
            delegate_id,
            address,
            why,
            ranking: ranking.collect(),
        });
    }

    fn chosen_mut(&mut self) -> &mut OrderChosen {
        self.chosen.get_or_insert_default()
    }

    fn end_attempt(
        &mut self,
        delegate_id: &str,
        outcome: OrderAttemptOutcome,
        error: Option<OrderFault>,
    ) {
        let is_meant = |it: &&mut OrderAttempt| {
            it.delegate_id == delegate_id && it.outcome == OrderAttemptOutcome::Running
        };
        if let Some(attempt) = self.attempts.iter_mut().rev().find(is_meant) {
            attempt.outcome = outcome;
            attempt.error = error;
        }
    }

    /// When it has to be done, which many seconds after it was placed.
    pub(super) fn deadline(&self, secs: u64) -> Timestamp {
        Timestamp::from_millis(self.created_at_ms).plus_millis(secs.saturating_mul(1000))
    }

    pub(super) fn delegate_id(&self) -> Option<&str> {
        self.chosen.as_ref()?.delegate_id.as_deref()
    }

    /// Who has it, or had it when the node stopped.
    pub(super) fn holder(&self) -> Option<&OrderAttempt> {
        let has = |attempt: &&OrderAttempt| match attempt.outcome {
            OrderAttemptOutcome::Running | OrderAttemptOutcome::Delivered => true,
            OrderAttemptOutcome::Failed | OrderAttemptOutcome::Stopped => false,
        };
        self.had.as_ref().or_else(|| self.attempts.iter().rev().find(has))
    }

    /// What its delegate knows it by.
    pub(super) fn task_name(&self) -> String {
        match self.turn {
            0 | 1 => self.id.task_id().to_owned(),
            turn => format!("{}-{turn}", self.id.task_id()),
        }
    }

    /// Says which of the node's own has it. What an address looks like is no sign of that.
    pub(super) fn named_among(mut self, own: &[OwnDelegate]) -> Self {
        if let Some(chosen) = &mut self.chosen {
            let id = chosen.delegate_id.as_deref();
            let is_it = |own: &&OwnDelegate| Some(own.delegate_id.as_str()) == id;
            chosen.name = own.iter().find(is_it).map(|own| own.name.clone());
        }
        self
    }

    pub(super) fn brief(&self) -> OrderBrief {
        OrderBrief {
            id: self.id.clone(),
            // As the journal has it in its list: all of it may be long.
            task: one_line(&self.task, TITLE),
            skill: self.skill.clone(),
            state: self.state,
            created_at_ms: self.created_at_ms,
            ended_at_ms: self.ended_at_ms,
            delegate_id: self.delegate_id().map(str::to_owned),
            parent: self.parent.clone(),
        }
    }

    /// Without an end, and with nobody who works on it: the node stopped.
    pub(super) fn without_end(mut self) -> Self {
        if !self.state.is_over() {
            self.state = OrderState::Interrupted;
            self.error = Some(OrderFault {
                code: "INTERRUPTED".to_owned(),
                message: "the node stopped before it ended, and it was not taken up again"
                    .to_owned(),
            });
        }
        self
    }
}

/// Of the title of an order.
pub(super) const TITLE: usize = 200;
