//! One call of a tool: who makes it, how it is told how far it is, and how it ends.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use sabir_base::text::one_line;
use sabir_host::{Deed, DeskError, Visit, VisitRefused};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::given_up::Running;
use super::http::SESSION;
use super::{Server, ToolKit};
use crate::caller::Caller;
use crate::errands::ErrandsError;
use crate::heft::Stowed;
use crate::ldp::client::moment;

/// A call that is being answered.
pub(super) struct Call<'a> {
    pub(super) kit: &'a ToolKit,
    pub(super) caller: Caller,
    /// Cancelled when nobody waits for the answer any more, for whatever reason.
    pub(super) stop: CancellationToken,
    running: Running,
    way: Way,
    stopping: CancellationToken,
    /// Taken while something is done.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    /// The room that its arguments take.
    stowed: Stowed,
    /// The client by its own word.
    client: String,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    steps: AtomicU32,
}

/// What it means that a call is cancelled without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In a conversation: that was lost, or the node stops. Who gives a call up says so.
    Conversation,
    /// A request of its own: whoever sent it hung up.
    Alone,
}

/// Why a call came to nothing, in words that a model can act on.
#[derive(Debug)]
pub(super) struct ToolError {
    code: String,
    message: String,
    /// The same for programs.
    shown: Option<Value>,
}

impl<'a> Call<'a> {
    pub(super) fn new(server: &'a Server, context: RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        let caller = server.parent.clone().unwrap_or_else(|| match parts {
            Some(parts) => Caller::of(&parts.extensions),
            None => Caller::of(&axum::http::Extensions::new()),
        });
        let way = match parts {
            Some(parts) if !parts.headers.contains_key(SESSION) => Way::Alone,
            Some(_) | None => Way::Conversation,
        };
        let stowed = parts.and_then(|parts| parts.extensions.get::<Stowed>()).cloned();
        let running = server.calls.begin(context.id.clone());
        let client = context.client_info().map(|it| one_line(&it.name, 60)).unwrap_or_default();
        let token = context.meta.get_progress_token();
        let RequestContext { ct: stop, peer, .. } = context;
        Self {
            kit: &server.kit,
            caller,
            stop,
            running,
            way,
            stopping: server.stopping.clone(),
            place: Mutex::default(),
            stowed: stowed.unwrap_or_default(),
            client,
            peer,
            token,
            steps: AtomicU32::new(0),
        }
    }

    /// Whether the client does not want it any more, once it was cancelled. Neither a node that stops
    /// nor a conversation that was lost is a word of the client.
    pub(super) async fn is_given_up(&self) -> bool {
        match self.way {
            Way::Alone => !self.stopping.is_cancelled(),
            Way::Conversation if self.stopping.is_cancelled() => {
                self.running.given_up.is_cancelled()
            }
            // What was said is heard in a moment.
            Way::Conversation => timeout(A_MOMENT, self.running.given_up.cancelled()).await.is_ok(),
        }
    }

    /// From now on it only waits, and nothing of its arguments is there any more.
    pub(super) fn leave_place(&self) {
        self.stowed.let_go();
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The arguments in the shape that the tool has for them.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<T, ToolError> {
        let read = serde_json::from_value(Value::Object(arguments.clone()));
        read.map_err(|error| ToolError::arguments(error.to_string()))
    }

    /// Asks the gate, which may ask a person for so long; and takes a place for what is done then.
    pub(super) async fn pass(
        &self,
        tool: &'static str,
        arguments: &Map<String, Value>,
        deed: Deed<'_>,
    ) -> Result<(), ToolError> {
        let mut chance = moment().ok_or_else(|| {
            ToolError::new("random", "the system has no random numbers".to_owned())
        })?;
        let call_id = format!("mcp-{}", chance.fresh_id());
        let visit = Visit {
            call_id: &call_id,
            actor: &format!("mcp:{}", self.caller.name),
            calls_itself: &self.client,
            standing: self.caller.standing,
            tool,
            arguments,
            deed,
        };
        let stop = self.stop.child_token();
        let mut passing = Box::pin(self.kit.gate.pass(&visit, &stop));
        let passed = tokio::select! {
            passed = &mut passing => passed,
            () = tokio::time::sleep(self.kit.limits.question) => {
                stop.cancel();
                passing.await
            }
        };
        passed?;
        let place = self.kit.places.work().ok_or_else(ToolError::busy)?;
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        Ok(())
    }

    /// Tells the client how far it is, if it asked for that.
    pub(super) async fn tell(&self, message: String) {
        let Some(token) = self.token.clone() else { return };
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        let told = ProgressNotificationParam::new(token, f64::from(step))
            .with_message(one_line(&message, MAX_PROGRESS_CHARS));
        // A client that is gone is found out elsewhere.
        let _ = self.peer.notify_progress(told).await;
    }
}

impl ToolError {
    pub(super) fn new(code: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, shown: None }
    }

    /// An answer of the tool's own shape that is none that was hoped for.
    pub(super) fn shown(code: &str, value: Value) -> Self {
        Self { code: code.to_owned(), message: value.to_string(), shown: Some(value) }
    }

    /// A failure is told to the model, which can mend what it asked for.
    pub(super) fn into_result(self) -> CallToolResult {
        match self.shown {
            Some(value) => CallToolResult::structured_error(value),
            None => CallToolResult::error(vec![ContentBlock::text(self.to_string())]),
        }
    }

    pub(super) fn arguments(message: String) -> Self {
        Self::new("bad_arguments", message)
    }

    pub(super) fn busy() -> Self {
        Self::new("busy", "too many calls are being answered; try again later".to_owned())
    }

    pub(super) fn cancelled() -> Self {
        Self::new("cancelled", "the call was cancelled".to_owned())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl From<VisitRefused> for ToolError {
    fn from(refused: VisitRefused) -> Self {
        Self::new("refused", format!("{} ({})", refused.reason, refused.code))
    }
}

impl From<DeskError> for ToolError {
    fn from(error: DeskError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<ErrandsError> for ToolError {
    fn from(error: ErrandsError) -> Self {
        let code = match &error {
            ErrandsError::Unknown => "unknown_task",
            ErrandsError::Over => "over",
            ErrandsError::Refused(_) => "not_taken",
            ErrandsError::Busy => "busy",
            ErrandsError::Store(_) => "store",
        };
        Self::new(code, error.to_string())
    }
}

const MAX_PROGRESS_CHARS: usize = 300;
/// A word of the client is in this process already when a call is cancelled for it.
const A_MOMENT: Duration = Duration::from_secs(2);
