//! People who are asked about orders: whether what a delegate wants may be done, and whether a result is
//! right.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_host::{Asker, Closed, Decision, Inbox, Matter, MatterKind};
use sabir_ldp::DelegateId;
use serde_json::Value;

use super::request::OrderId;
use crate::delegation::{Judge, Judgement, Question};

/// Where questions about results are put.
pub trait People: Send + Sync {
    /// Who judges the result of an order.
    fn judge(&self, order: &OrderId) -> Arc<dyn Judge>;

    /// Asks them nothing more about an order that `node` placed, for as long as the result lives.
    fn spare(&self, node: &DelegateId, order: &OrderId) -> Closed;
}

/// Whoever looks at the inbox.
impl People for Inbox {
    fn judge(&self, order: &OrderId) -> Arc<dyn Judge> {
        Arc::new(AtInbox { inbox: self.clone(), order: order.clone() })
    }

    fn spare(&self, node: &DelegateId, order: &OrderId) -> Closed {
        let (node, order) = (node.clone(), order.clone());
        self.close(move |asker| match asker {
            Asker::Task { key, .. } => OrderId::of_key(&node, key).as_ref() == Some(&order),
            Asker::Order { id } => id == order.as_str(),
            Asker::Session { .. } | Asker::Desk { .. } => false,
        })
    }
}

struct AtInbox {
    inbox: Inbox,
    order: OrderId,
}

impl Judge for AtInbox {
    fn name(&self) -> String {
        "inbox".to_owned()
    }

    fn judge<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Judgement> {
        let asker = Asker::Order { id: self.order.to_string() };
        let output = match &question.output {
            Value::String(text) => text.clone(),
            value => format!("{value:#}"),
        };
        let Question { task, delegate, .. } = question;
        let what = format!("is this right?\n{task}\n\n{delegate} says:\n{output}");
        let matter = Matter::new(asker, MatterKind::Question, what);
        async move {
            let mut asked = self.inbox.ask(matter);
            match asked.decided().await {
                Decision::Approve | Decision::ApproveForSession => Judgement::Right(None),
                Decision::Deny => Judgement::Wrong(None),
            }
        }
        .boxed()
    }
}
