//! Our script in one document, in a world of its own, and calls into it. It knows how to ask, not
//! what to ask for.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connection::CallError;
use super::error::{ToolCode, ToolError};
use super::tabs::Tab;
use super::{Browser, failed};

/// The script at work in one document of one tab.
#[derive(Clone, Debug)]
pub(super) struct World {
    tab: String,
    generation: u64,
    object: String,
}

impl World {
    pub(super) fn is_of(&self, tab: &Tab) -> bool {
        self.tab == tab.id && self.generation == tab.generation
    }
}

/// Why a document gave no answer.
#[derive(Debug)]
pub(super) enum AskError {
    /// The document is not there any more.
    Gone,
    Tool(ToolError),
}

impl AskError {
    /// For those who hold a handle: then what is gone is stale.
    pub(super) fn or_stale(self) -> ToolError {
        match self {
            Self::Gone => ToolError::new(ToolCode::StaleHandle, "the page has changed"),
            Self::Tool(error) => error,
        }
    }

    pub(super) fn or_no_context(self) -> ToolError {
        match self {
            Self::Gone => ToolError::new(ToolCode::NoContext, "the page changes all the time"),
            Self::Tool(error) => error,
        }
    }
}

/// What the script answers.
#[derive(Deserialize)]
pub(super) struct Answer<T> {
    pub value: Option<T>,
    pub next: Option<u64>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: String,
    message: String,
}

impl Browser {
    /// Calls a function of the script in the document that `tab` shows now, however new it is.
    pub(super) async fn ask_now<T: DeserializeOwned>(
        &mut self,
        tab: &Tab,
        function: &str,
        arguments: &[Value],
    ) -> Result<Answer<T>, AskError> {
        let mut last = AskError::Gone;
        // A document that is replaced while we ask is asked again, but not for ever.
        for _ in 0..TRIES {
            let tab = self.tabs.find(&tab.id).ok_or(AskError::Gone)?;
            if !self.world.as_ref().is_some_and(|world| world.is_of(&tab)) {
                match self.enter(&tab).await {
                    Ok(world) => self.world = Some(world),
                    Err(error @ AskError::Gone) => {
                        last = error;
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            match self.ask(&tab, function, arguments).await {
                Err(error @ AskError::Gone) => {
                    self.world = None;
                    last = error;
                }
                answer => return answer,
            }
        }
        Err(last)
    }

    /// Calls a function of the script in the document that was looked at last.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        tab: &Tab,
        function: &str,
        arguments: &[Value],
    ) -> Result<Answer<T>, AskError> {
        let Some(world) = self.world.as_ref().filter(|world| world.is_of(tab)) else {
            return Err(AskError::Gone);
        };
        let arguments: Vec<Value> =
            arguments.iter().map(|argument| json!({ "value": argument })).collect();
        let params = json!({
            "objectId": world.object,
            "functionDeclaration": format!("function(...all) {{ return this.{function}(...all); }}"),
            "arguments": arguments,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let called = self.call(Some(&tab.session), "Runtime.callFunctionOn", params).await;
        if called == Err(CallError::TimedOut) {
            // Whatever runs there, ours or the page's, has had its time.
            let stop = self.call(Some(&tab.session), "Runtime.terminateExecution", json!({}));
            let _ = stop.await;
        }
        let mut result = called.map_err(gone_or_failed)?;
        if let Some(thrown) = result.get("exceptionDetails") {
            let words = thrown["exception"]["description"].as_str().unwrap_or("it threw");
            return Err(runtime(sabir_base::text::one_line(words, 300)));
        }
        let answer: Answer<T> = serde_json::from_value(result["result"]["value"].take())
            .map_err(|error| runtime(format!("not an answer: {error}")))?;
        match answer.error {
            None => Ok(answer),
            Some(failure) => {
                let code = ToolCode::from_wire(&failure.code);
                let code = code.unwrap_or(ToolCode::RuntimeUnavailable);
                Err(AskError::Tool(ToolError::new(code, failure.message)))
            }
        }
    }

    async fn enter(&self, tab: &Tab) -> Result<World, AskError> {
        let session = Some(tab.session.as_str());
        let params = json!({ "frameId": tab.id, "worldName": "sabir" });
        let made = self.call(session, "Page.createIsolatedWorld", params).await;
        let context = made.map_err(gone_or_failed)?["executionContextId"].take();
        let params = json!({ "contextId": context, "expression": SCRIPT });
        let mut result =
            self.call(session, "Runtime.evaluate", params).await.map_err(gone_or_failed)?;
        match result["result"]["objectId"].take() {
            Value::String(object) => {
                Ok(World { tab: tab.id.clone(), generation: tab.generation, object })
            }
            _ => Err(runtime("the script did not start".to_owned())),
        }
    }
}

fn runtime(message: String) -> AskError {
    AskError::Tool(ToolError::new(ToolCode::RuntimeUnavailable, message))
}

/// The browser has no code for this, only words.
fn gone_or_failed(error: CallError) -> AskError {
    match &error {
        CallError::Rejected(message) if GONE.iter().any(|it| message.contains(it)) => {
            AskError::Gone
        }
        _ => AskError::Tool(failed(&error)),
    }
}

const GONE: [&str; 8] = [
    "Cannot find context",
    "Could not find object",
    "Cannot find object",
    "Execution context was destroyed",
    "uniqueContextId not found",
    "No frame for given id",
    "Inspected target navigated or closed",
    "Session with given id not found",
];

const SCRIPT: &str = include_str!("page.js");

const TRIES: usize = 5;
