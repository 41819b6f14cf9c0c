//! What whoever places an order may ask for, from where they are. It is said here and nowhere else.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_host::{Patron, Patrons, Standing};
use sabir_ldp::TaskKey;

use super::Orders;
use super::request::{OrderId, OrderRequest};
use crate::delegation::is_check;
use crate::errands::Placer;

impl Placer {
    /// Stable: keys are kept under it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Page => "page",
            Self::Agent => "agent",
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
        }
    }

    /// Whether somebody may be named whom no person made known. An agent that was talked into it
    /// could send anything anywhere.
    pub(super) fn may_name_anybody(self) -> bool {
        match self {
            Self::Person | Self::Page => true,
            Self::Agent | Self::Mcp | Self::A2a => false,
        }
    }

    /// Whether a program may be started that nobody added. Whoever has the page's token has no shell
    /// by that.
    pub(super) fn may_start_programs(self) -> bool {
        match self {
            Self::Person => true,
            Self::Page | Self::Agent | Self::Mcp | Self::A2a => false,
        }
    }

    /// Who it is that places an order of this one's once more: whoever of both may do less. Words of
    /// a stranger stay such, whoever repeats them.
    pub(super) fn repeated_by(self, by: Self) -> Self {
        match self {
            Self::Person => by,
            Self::Page | Self::Agent | Self::Mcp | Self::A2a => self,
        }
    }
}

impl OrderRequest {
    /// For whom the order speaks: a page that it names counts as typed, or as made up.
    pub(super) fn standing(&self) -> Standing {
        match (self.by, &self.visit) {
            (Placer::Person | Placer::Page, _) => Standing::Own,
            (Placer::Mcp | Placer::A2a, Some(visit)) if visit.is_own => Standing::Own,
            (Placer::Agent | Placer::Mcp | Placer::A2a, _) => Standing::Stranger,
        }
    }

    /// The same for the audit.
    pub(super) fn actor(&self) -> String {
        match &self.visit {
            Some(visit) => format!("{}:{}", self.by.name(), visit.caller),
            None => self.by.name().to_owned(),
        }
    }
}

impl Patrons for Orders {
    /// A task of ours that is no order was given by a program of this home at the keyboard. One that
    /// checks a result has the words of whoever made that.
    fn patron<'a>(&'a self, task: &'a TaskKey) -> BoxFuture<'a, Option<Patron>> {
        async move {
            let own = self.0.delegation.client();
            let is_ours =
                task.owner == *own.delegate_id() || task.owner == own.name_for(own.delegate_id());
            if !is_ours {
                return None;
            }
            let id = task.id.as_str();
            if is_check(id) {
                return Some(Patron { actor: CHECK.to_owned(), standing: Standing::Stranger });
            }
            let placed = match OrderId::of_task(id) {
                None => None,
                Some(order) => match self.get(&order).await {
                    Ok(order) => Some(order.request),
                    Err(super::OrderError::NotFound) => None,
                    // Who it was for cannot be found out.
                    Err(_) => return None,
                },
            };
            Some(match placed {
                Some(request) => Patron { actor: request.actor(), standing: request.standing() },
                None => {
                    let actor = Placer::Person.name().to_owned();
                    Patron { actor, standing: Standing::Own }
                }
            })
        }
        .boxed()
    }
}

/// Who asks where a result is checked.
const CHECK: &str = "check";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errands::OrderVisit;

    /// OR-6
    #[test]
    fn each_may_ask_for_so_much() {
        use Placer::{A2a, Agent, Mcp, Page, Person};
        let may = |it: Placer| (it.may_name_anybody(), it.may_start_programs());
        assert_eq!(may(Person), (true, true));
        assert_eq!(may(Page), (true, false));
        for it in [Agent, Mcp, A2a] {
            assert_eq!(may(it), (false, false), "{it:?}");
        }
        // Nobody gains by repeating, and nobody lends a voice.
        for it in [Person, Page, Agent, Mcp, A2a] {
            assert_eq!(Person.repeated_by(it), it);
            assert_eq!(Agent.repeated_by(it), Agent);
            assert_eq!(Mcp.repeated_by(it), Mcp);
        }
        let visit = |is_own| {
            let visit = OrderVisit { is_own, ..OrderVisit::of("x") };
            let request = OrderRequest::new("a");
            OrderRequest { by: Mcp, visit: Some(visit), ..request }.standing()
        };
        assert_eq!([true, false].map(visit), [Standing::Own, Standing::Stranger]);
        let by = |by| OrderRequest { by, ..OrderRequest::new("a") }.standing();
        assert_eq!([Person, Page].map(by), [Standing::Own; 2]);
        assert_eq!([Agent, Mcp, A2a].map(by), [Standing::Stranger; 3]);
    }
}
