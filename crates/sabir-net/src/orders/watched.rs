//! What those who run a node see of its orders: lines, counters and steps of traces. Neither the task
//! nor its result is seen: they are in the journal, for those who may read it.

use sabir_telemetry::{Span, SpanKind, TraceContext, metrics, topic};
use tokio::time::Instant;

use super::order::{Order, OrderState};
use super::request::{OrderId, OrderRequest};
use crate::delegation::DelegationEvent;
use crate::errands::Placer;

/// An order while somebody works on it.
pub(super) struct Watched {
    span: Span,
    began: Instant,
    order: OrderId,
}

impl Watched {
    pub(super) fn begin(order: &OrderId, trace: Option<TraceContext>, name: &'static str) -> Self {
        let mut span = Span::after(trace, name, SpanKind::Internal);
        span.set("sabir.order_id", order.as_str());
        Self { span, began: Instant::now(), order: order.clone() }
    }

    pub(super) fn context(&self) -> Option<TraceContext> {
        self.span.context()
    }

    pub(super) fn placed(&self, by: Placer, request: &OrderRequest) {
        let (by, order) = (by.name(), self.order.as_str());
        metrics().orders_placed.add(by, 1);
        let skill = request.skill.as_deref().unwrap_or("any");
        let parent = request.parent.as_deref();
        tracing::info!(target: topic::ORDER, order, by, skill, parent, "placed");
    }

    pub(super) fn resumed(&self) {
        tracing::info!(target: topic::ORDER, order = self.order.as_str(), "taken up again");
    }

    pub(super) fn ended(&mut self, order: &Order) {
        let state = word(order.state);
        metrics().orders_ended.add(state, 1);
        if let Some(usd) = order.cost.usd.filter(|usd| usd.is_finite() && *usd > 0.0) {
            // Fractions of a millionth of a dollar are nobody's concern.
            metrics().cost_micros.add((usd * 1e6) as u64);
        }
        let (id, delegate) = (self.order.as_str(), order.delegate_id().unwrap_or("nobody"));
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let code = order.error.as_ref().map(|error| error.code.as_str());
        if let Some(code) = code {
            self.span.fail(code);
        }
        self.span.set("sabir.order_state", state);
        match order.state {
            OrderState::Failed | OrderState::Interrupted => {
                tracing::warn!(
                    target: topic::ORDER, order = id, state, delegate, duration_ms, code, "ended"
                );
            }
            OrderState::Running
            | OrderState::Away
            | OrderState::Waiting
            | OrderState::Done
            | OrderState::Cancelled => {
                tracing::info!(
                    target: topic::ORDER, order = id, state, delegate, duration_ms, code, "ended"
                );
            }
        }
    }
}

/// What is told of a delegation, as far as it is for a log.
pub(super) fn told(order: &OrderId, event: &DelegationEvent) {
    let order = order.as_str();
    match event {
        DelegationEvent::Trying { delegate_id, address, .. } => {
            let delegate = delegate_id.as_str();
            tracing::info!(target: topic::ORDER, order, delegate, address, "given to");
        }
        DelegationEvent::Unreachable { address, error } => {
            let code = error.code.as_str();
            tracing::info!(target: topic::ORDER, order, address, code, "nobody answers");
        }
        DelegationEvent::Failed { delegate_id, error } => {
            let (delegate, code) = (delegate_id.as_str(), error.code.as_str());
            tracing::info!(target: topic::ORDER, order, delegate, code, "attempt failed");
        }
        DelegationEvent::Delivered { delegate_id } => {
            let delegate = delegate_id.as_str();
            tracing::debug!(target: topic::ORDER, order, delegate, "delivered");
        }
        DelegationEvent::Found { .. }
        | DelegationEvent::KeyPinned(_)
        | DelegationEvent::Chosen { .. }
        | DelegationEvent::SessionOpened { .. }
        | DelegationEvent::Progress { .. }
        | DelegationEvent::Hedging { .. }
        | DelegationEvent::Stopped { .. }
        | DelegationEvent::Checking { .. }
        | DelegationEvent::Checked(_) => {}
    }
}

fn word(state: OrderState) -> &'static str {
    match state {
        OrderState::Running => "running",
        OrderState::Away => "away",
        OrderState::Waiting => "waiting",
        OrderState::Done => "done",
        OrderState::Failed => "failed",
        OrderState::Cancelled => "cancelled",
        OrderState::Interrupted => "interrupted",
    }
}
