//! What the browser's events say: which tabs there are, which document each shows, and what pages
//! tried that they may not. Events in, orders out; it sends nothing itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_base::text;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::connection::{Event, Listener, Order};
use super::model::Notice;
use crate::html::invisible::visible_text;
use crate::proxy;

/// One page of the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tab {
    pub id: String,
    pub session: String,
    pub url: String,
    /// Counts the documents that this tab has shown. A handle belongs to one of them.
    pub generation: u64,
    pub progress: Progress,
    /// Counts navigations that began, whether or not they led to a document.
    pub begun: u64,
    /// Counts moves within one document.
    pub within: u64,
    pub is_crashed: bool,
    /// It did not answer in time, and may never do.
    pub is_silent: bool,
    pub opener: Option<String>,
    /// The document that is shown, by the name it had when it was asked for.
    loader: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    #[default]
    Loading,
    Parsed,
    Loaded,
}

/// All tabs, and what happened to them. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Tabs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    tabs: Vec<Tab>,
    notices: VecDeque<Notice>,
    is_ended: bool,
    /// What the proxy wants to hear, until it has heard it.
    secret: Option<String>,
    /// The part of the browser that is ours.
    context: String,
}

impl Tabs {
    pub(super) fn new(secret: String) -> Self {
        let state = State { secret: Some(secret), ..State::default() };
        let shared = Shared { state: Mutex::new(state), changes: watch::Sender::new(0) };
        Self { shared: Arc::new(shared) }
    }

    /// Pages anywhere else are closed.
    pub(super) fn keep_to(&self, context: &str) {
        self.state().context = context.to_owned();
    }

    pub(super) fn all(&self) -> Vec<Tab> {
        self.state().tabs.clone()
    }

    pub(super) fn find(&self, id: &str) -> Option<Tab> {
        self.state().tabs.iter().find(|tab| tab.id == id).cloned()
    }

    pub(super) fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.state().notices).into()
    }

    /// A page that did not answer.
    pub(super) fn mark_silent(&self, session: &str) {
        if let Some(tab) = self.state().tabs.iter_mut().find(|tab| tab.session == session) {
            tab.is_silent = true;
        }
    }

    /// The secret is not told again.
    pub(super) fn forget_secret(&self) {
        self.state().secret = None;
    }

    /// Waits until `ready` finds what it looks for, or the browser ends.
    pub(super) async fn wait<T>(&self, mut ready: impl FnMut(&[Tab]) -> Option<T>) -> Option<T> {
        let mut changes = self.shared.changes.subscribe();
        loop {
            {
                let state = self.state();
                if let Some(found) = ready(&state.tabs) {
                    return Some(found);
                }
                if state.is_ended {
                    return None;
                }
            }
            changes.changed().await.ok()?;
        }
    }

    pub(super) fn listener(&self) -> impl Listener + use<> {
        Hearing(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Hearing(Tabs);

impl Listener for Hearing {
    fn hear(&mut self, event: Event) -> Vec<Order> {
        let orders = self.0.state().hear(event);
        self.0.shared.changes.send_modify(|count| *count = count.wrapping_add(1));
        orders
    }

    fn is_crashed(&self, session: &str) -> bool {
        self.0.state().tabs.iter().any(|tab| tab.session == session && tab.is_crashed)
    }

    fn end(&mut self) {
        self.0.state().is_ended = true;
        self.0.shared.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl State {
    fn hear(&mut self, event: Event) -> Vec<Order> {
        let params = &event.params;
        let session = event.session.as_deref().unwrap_or_default();
        match event.method.as_str() {
            "Target.attachedToTarget" => return self.attach(params),
            "Target.detachedFromTarget" => {
                let gone = word(params, "sessionId");
                self.tabs.retain(|tab| tab.session != gone);
            }
            "Browser.downloadWillBegin" => {
                let (url, name) = (word(params, "url"), word(params, "suggestedFilename"));
                self.note(Notice::Download { url: short(url), name: short(name) });
            }
            "Page.javascriptDialogOpening" => return self.answer_dialog(session, params),
            "Fetch.requestPaused" => {
                let params = json!({ "requestId": word(params, "requestId") });
                return vec![order(session, "Fetch.continueRequest", params)];
            }
            "Fetch.authRequired" => return self.show_secret(session, params),
            method => {
                if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.session == session) {
                    tab.hear(method, params);
                }
            }
        }
        Vec::new()
    }

    fn attach(&mut self, params: &Value) -> Vec<Order> {
        let session = word(params, "sessionId");
        let info = &params["targetInfo"];
        let (id, url) = (word(info, "targetId").to_owned(), short(word(info, "url")));
        let close = |id: &str| {
            let params = json!({ "targetId": id });
            vec![Order { session: None, method: "Target.closeTarget", params }]
        };
        if word(info, "browserContextId") != self.context {
            return close(&id);
        }
        if self.tabs.len() >= MOST_TABS {
            self.note(Notice::TooManyTabs { url });
            return close(&id);
        }
        let opener = info["openerId"].as_str().map(str::to_owned);
        self.tabs.push(Tab { id, session: session.to_owned(), url, opener, ..Tab::default() });
        [
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            ("Inspector.enable", json!({})),
            // A tab in the background takes input like the one in front.
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ]
        .into_iter()
        .map(|(method, params)| order(session, method, params))
        .collect()
    }

    fn answer_dialog(&mut self, session: &str, params: &Value) -> Vec<Order> {
        let kind = word(params, "type");
        self.note(Notice::Dialog { kind: short(kind), message: short(word(params, "message")) });
        // A page may ask whether we want to leave it, but not keep us. Everything else is answered
        // with no.
        let accept = kind == "beforeunload";
        vec![order(session, "Page.handleJavaScriptDialog", json!({ "accept": accept }))]
    }

    fn show_secret(&self, session: &str, params: &Value) -> Vec<Order> {
        let is_ours = params["authChallenge"]["source"] == "Proxy";
        let answer = match &self.secret {
            Some(secret) if is_ours => json!({
                "response": "ProvideCredentials",
                "username": proxy::USER,
                "password": secret,
            }),
            _ => json!({ "response": "CancelAuth" }),
        };
        let params =
            json!({ "requestId": word(params, "requestId"), "authChallengeResponse": answer });
        vec![order(session, "Fetch.continueWithAuth", params)]
    }

    fn note(&mut self, notice: Notice) {
        if self.notices.len() == MOST_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }
}

impl Tab {
    /// The same tab before anything was shown in it.
    pub(super) fn unseen(&self) -> Self {
        Self { id: self.id.clone(), session: self.session.clone(), ..Self::default() }
    }

    /// Whether there is a new document. The blank one that a new tab starts with is none, and may be
    /// heard of late.
    pub(super) fn shows_other_than(&self, before: &Self) -> bool {
        self.generation > before.generation && self.url != "about:blank"
    }

    fn hear(&mut self, method: &str, params: &Value) {
        match method {
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                let frame = &params["frame"];
                self.generation += 1;
                self.progress = Progress::Loading;
                self.loader = word(frame, "loaderId").to_owned();
                self.url = short(word(frame, "url"));
            }
            "Inspector.targetCrashed" => self.is_crashed = true,
            "Inspector.targetReloadedAfterCrash" => self.is_crashed = false,
            // The main frame has the name of its tab.
            _ if word(params, "frameId") != self.id => {}
            // The blank page is where a tab starts: going there leads to nothing.
            "Page.frameStartedNavigating" | "Page.frameRequestedNavigation"
                if !matches!(word(params, "url"), "" | "about:blank") =>
            {
                self.begun += 1;
            }
            "Page.navigatedWithinDocument" => {
                self.within += 1;
                self.url = short(word(params, "url"));
            }
            "Page.lifecycleEvent" if word(params, "loaderId") == self.loader => {
                let progress = match word(params, "name") {
                    "DOMContentLoaded" => Progress::Parsed,
                    "load" => Progress::Loaded,
                    _ => return,
                };
                self.progress = self.progress.max(progress);
            }
            _ => {}
        }
    }
}

fn order(session: &str, method: &'static str, params: Value) -> Order {
    Order { session: Some(session.to_owned()), method, params }
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn short(text: &str) -> String {
    text::one_line(&visible_text(text), LONGEST_WORD)
}

/// A person keeps more, but a person closes them again.
const MOST_TABS: usize = 16;

const MOST_NOTICES: usize = 32;

/// Longer addresses are cut: they are shown, not followed.
const LONGEST_WORD: usize = 2000;
