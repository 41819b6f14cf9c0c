//! What tasks have the delegates of this node fetch: whoever the task is for is who asks, however it
//! came here. Who that is, whoever takes tasks in knows.

use std::fmt;
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use sabir_ldp::{TaskKey, TaskOrder};
use serde_json::{Map, json};

use super::{Consent, Deed, Standing, Visit, VisitGate, VisitRefused};
use crate::inbox::{Asker, Decision, Inbox, Matter, MatterKind};
use crate::node::News;

/// For whom a task is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patron {
    /// As far as this node knows, for the audit.
    pub actor: String,
    pub standing: Standing,
}

/// Who knows for whom tasks are done.
pub trait Patrons: Send + Sync {
    /// `None` of a task that came from elsewhere: its owner is who asks.
    fn patron<'a>(&'a self, task: &'a TaskKey) -> BoxFuture<'a, Option<Patron>>;
}

/// The gate for what tasks have fetched. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct TaskGate {
    gate: VisitGate,
    inbox: Inbox,
    patrons: Arc<OnceLock<Arc<dyn Patrons>>>,
}

impl TaskGate {
    pub fn new(gate: VisitGate, inbox: Inbox) -> Self {
        Self { gate, inbox, patrons: Arc::default() }
    }

    /// Says who knows for whom tasks are done. Until then everybody is a stranger, and the first word
    /// counts.
    pub fn ask_about(&self, patrons: Arc<dyn Patrons>) {
        // It is said once, when a node starts.
        let _ = self.patrons.set(patrons);
    }

    /// Whether these pages may be fetched for a task, by a delegate of this node.
    pub(crate) async fn pass(
        &self,
        order: &TaskOrder,
        delegate: &'static str,
        urls: &[String],
        news: &News,
    ) -> Result<(), VisitRefused> {
        let known = match self.patrons.get() {
            Some(patrons) => patrons.patron(&order.key).await,
            None => None,
        };
        let patron = known.unwrap_or_else(|| Patron {
            actor: format!("ldp:{}", order.key.owner),
            standing: Standing::Stranger,
        });
        let visit = Visit {
            call_id: &format!("task-{}", order.key.id),
            actor: &patron.actor,
            calls_itself: "",
            standing: patron.standing,
            tool: TOOL,
            arguments: &Map::from_iter([("skill".to_owned(), json!(order.skill))]),
            deed: Deed::Fetch { urls },
        };
        let asker = Asker::Task {
            key: order.key.clone(),
            skill: order.skill.clone(),
            delegate: delegate.to_owned(),
        };
        let consent = ForTask { inbox: self.inbox.clone(), asker, news: news.clone() };
        self.gate.asking(Arc::new(consent)).pass(&visit, news.stop()).await
    }
}

/// Asks in the name of a task, which says that it waits.
struct ForTask {
    inbox: Inbox,
    asker: Asker,
    news: News,
}

impl Consent for ForTask {
    fn ask(&self, what: String) -> BoxFuture<'_, Option<bool>> {
        Box::pin(async move {
            // In the inbox before anybody is told that it is there.
            let matter = Matter::new(self.asker.clone(), MatterKind::Approval, what);
            let mut asked = self.inbox.ask(matter);
            self.news.waiting_for_approval(format!("waiting for approval: {TOOL}")).await;
            let is_allowed = asked.decided().await != Decision::Deny;
            let word = if is_allowed { "allowed" } else { "denied" };
            self.news.progress(format!("{TOOL} was {word}")).await;
            Some(is_allowed)
        })
    }
}

impl fmt::Debug for TaskGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskGate").field("gate", &self.gate).finish_non_exhaustive()
    }
}

/// As if a program asked for the page itself.
const TOOL: &str = "serve.capture";
