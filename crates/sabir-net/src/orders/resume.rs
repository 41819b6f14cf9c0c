//! Orders that had not ended when the node stopped: who had one is asked what became of it, and what
//! nobody had begun is begun.

use std::sync::{Arc, PoisonError};

use sabir_ldp::DelegateId;

use super::order::{Order, OwnEvent};
use super::rows::row;
use super::run::Way;
use super::watched::Watched;
use super::{Orders, Shared};
use crate::delegation::Address;
use crate::errands::Placer;
use crate::ldp::client::PlainHttp;

impl Orders {
    /// Takes up what had not ended, and says how many that are. To be called once the node's own
    /// delegates can be reached. It waits for nobody.
    pub fn resume_all(&self) -> usize {
        let open = {
            let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *open)
        };
        let count = open.len();
        // The oldest first.
        for order in open.into_iter().rev() {
            let shared = Arc::clone(&self.0);
            self.0.running.spawn(async move {
                let leaving = shared.delegation.leaving().clone();
                leaving.run_until_cancelled(shared.resume(order)).await;
            });
        }
        count
    }
}

impl Shared {
    async fn resume(self: &Arc<Self>, order: Order) {
        let Some(live) = self.live(&order.id) else { return };
        // It may have been cancelled since it was read.
        let (way, why) = self.way_of(&live.order()).await;
        // That it cannot be written will show with the next row.
        let _ = self.tell(&live, row(&OwnEvent::Resumed { why })).await;
        let watched = Watched::begin(&order.id, order.trace, "order resumed");
        watched.resumed();
        self.start(live, way, watched);
    }

    async fn way_of(&self, order: &Order) -> (Way, String) {
        let unwanted = unwanted(order);
        let Some(had) = order.holder() else {
            return match unwanted {
                Some(why) => (Way::Dropped { why: why.to_owned() }, why.to_owned()),
                None => (Way::Anew, "the node stopped before anybody had it".to_owned()),
            };
        };
        let who = &had.delegate_id;
        let lost = |why: String| (Way::Lost { why: why.clone() }, why);
        let address = Address::parse(&had.address, PlainHttp::Anywhere);
        let (Ok(delegate), Ok(address)) = (DelegateId::new(who.as_str()), address) else {
            return lost(format!("the node stopped while {who} had it, whose name is unreadable"));
        };
        let address = self.own_address(&delegate).unwrap_or(address);
        let Address::Ldp(base) = &address else {
            return lost(format!(
                "the node stopped while {who} had it, and its protocol has no way to ask what \
                 became of it"
            ));
        };
        if let Some(why) = unwanted {
            return (
                Way::Withdraw { delegate, address },
                format!("{why}: {who} is told to leave it"),
            );
        }
        match self.delegation.client().discover(base).await {
            Ok(found) if found.card.public_key.is_none() => lost(format!(
                "the node stopped while {who} had it, which would do it twice if it were asked again"
            )),
            // Who cannot be reached now may be a moment later; the delegation tries.
            Ok(_) | Err(_) => {
                let why =
                    format!("the node stopped while {who} had it, and asks what became of it");
                (Way::Ask { delegate, address }, why)
            }
        }
    }

    /// Where one of our own is now: it may have listened elsewhere before.
    fn own_address(&self, delegate: &DelegateId) -> Option<Address> {
        let own = self.own.iter().find(|own| own.delegate_id == *delegate)?;
        Some(own.address.clone())
    }
}

/// Why nobody wants it any more. What an agent placed was for a call of its session, which ended with
/// the node, also where the agent itself goes on.
fn unwanted(order: &Order) -> Option<&'static str> {
    if order.is_cancelling {
        return Some("it was cancelled before the node stopped");
    }
    let is_agents = order.by == Placer::Agent && order.parent.is_some();
    is_agents.then_some("the agent that it was placed for was stopped with the node")
}
