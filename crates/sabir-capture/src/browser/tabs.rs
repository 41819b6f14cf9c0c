//! What the browser's events say: which tabs there are, which document each shows, and what pages
//! tried that they may not. Events in, orders out; it sends nothing itself, and which documents may be
//! shown is decided in `courses`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_base::text;
use serde_json::{Value, json};
use tokio::sync::watch;
use url::Url;

use super::bounds::Bounds;
use super::connection::{Event, Listener, Order};
use super::courses::{Courses, Lent, Wanted};
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
    /// Counts documents of its own that it was not let go to.
    pub held: u64,
    /// The host of the last of them.
    pub held_host: String,
    /// How many of them were of earlier documents.
    held_before: u64,
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
    courses: Courses,
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

    /// Until what comes back is dropped, a tab goes where a call may go.
    pub(super) fn lend(&self, tab: &str, bounds: &Arc<dyn Bounds>) -> impl Drop + use<> {
        self.state().courses.lend(tab, Arc::clone(bounds));
        let (tabs, tab) = (self.clone(), tab.to_owned());
        Lent::new(move || tabs.state().courses.take_back(&tab))
    }

    /// What nobody vouches for leads nowhere from now on.
    pub(super) fn tighten(&self) {
        self.state().courses.tighten();
    }

    /// A tab without scripts, which leads somewhere only if somebody clicks.
    pub(super) fn let_go(&self, tab: &str) {
        self.state().courses.let_go(tab);
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

/// Who was not let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldIn {
    Page,
    Frame,
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
            "Target.attachedToTarget" => return self.attach(session, params),
            "Target.detachedFromTarget" => {
                let gone = word(params, "sessionId");
                if let Some(at) = self.tabs.iter().position(|tab| tab.session == gone) {
                    self.courses.end(&self.tabs.remove(at).id);
                }
                self.courses.end_frame(gone);
            }
            "Browser.downloadWillBegin" => {
                let (url, name) = (word(params, "url"), word(params, "suggestedFilename"));
                self.note(Notice::Download { url: short(url), name: short(name) });
            }
            "Page.javascriptDialogOpening" => return self.answer_dialog(session, params),
            "Fetch.requestPaused" => return self.judge_request(session, params),
            "Fetch.authRequired" => return self.show_secret(session, params),
            method => {
                if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.session == session) {
                    tab.hear(method, params);
                    if method == "Page.frameNavigated" && params["frame"]["parentId"].is_null() {
                        return self.judge_shown(session, &params["frame"]);
                    }
                    match method {
                        "Page.frameAttached" => {
                            self.courses.note_frame(word(params, "frameId"), &tab.id);
                        }
                        // One that moves to a process of its own is still a frame of this tab.
                        "Page.frameDetached" if word(params, "reason") == "remove" => {
                            self.courses.forget_frame(word(params, "frameId"));
                        }
                        _ => {}
                    }
                }
            }
        }
        Vec::new()
    }

    fn attach(&mut self, by: &str, params: &Value) -> Vec<Order> {
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
        if word(info, "type") != "page" {
            return self.attach_frame(by, session);
        }
        if self.tabs.len() >= MOST_TABS {
            self.note(Notice::TooManyTabs { url });
            return close(&id);
        }
        let opener = info["openerId"].as_str().map(str::to_owned);
        self.courses.begin(&id, opener.as_deref());
        self.tabs.push(Tab { id, session: session.to_owned(), url, opener, ..Tab::default() });
        let first = [
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            ("Inspector.enable", json!({})),
            // A tab in the background takes input like the one in front.
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            // Documents that a worker of the page makes up would not be asked for.
            ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 })),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
        ];
        first.into_iter().chain(watch_documents()).map(|it| order(session, it.0, it.1)).collect()
    }

    /// A frame with a process of its own, which asks for documents by itself. It waits for us: of
    /// those that are too many, nothing comes.
    fn attach_frame(&mut self, by: &str, session: &str) -> Vec<Order> {
        let tab = self.tabs.iter().find(|tab| tab.session == by).map(|tab| tab.id.as_str());
        if !self.courses.begin_frame(session, by, tab) {
            return Vec::new();
        }
        watch_documents().into_iter().map(|it| order(session, it.0, it.1)).collect()
    }

    /// A document that a tab or a frame in it asks for, also at each redirect.
    fn judge_request(&mut self, session: &str, params: &Value) -> Vec<Order> {
        let id = word(params, "requestId");
        let by_tab = self.tabs.iter().find(|tab| tab.session == session);
        let tab = by_tab.map(|tab| tab.id.clone()).or_else(|| self.courses.tab_of(session));
        let Ok(url) = Url::parse(word(&params["request"], "url")) else {
            return vec![stop(session, id)];
        };
        let Some(tab) = tab else { return vec![stop(session, id)] };
        // The main frame has the name of its tab.
        let wanted = match word(params, "frameId") == tab {
            true => Wanted::Page { request: id, before: word(params, "redirectedRequestId") },
            false => Wanted::Frame,
        };
        if self.courses.admit(&tab, &url, wanted) {
            let params = json!({ "requestId": id });
            return vec![order(session, "Fetch.continueRequest", params)];
        }
        let place = match wanted {
            Wanted::Page { .. } => HeldIn::Page,
            Wanted::Frame => HeldIn::Frame,
        };
        self.hold(&tab, &url, place);
        vec![stop(session, id)]
    }

    /// A document that is shown. One that was not asked for before came another way.
    fn judge_shown(&mut self, session: &str, frame: &Value) -> Vec<Order> {
        let Ok(url) = Url::parse(word(frame, "url")) else { return Vec::new() };
        let tab = word(frame, "id");
        if self.courses.arrive(tab, &url) {
            return Vec::new();
        }
        self.hold(tab, &url, HeldIn::Page);
        self.tabs.retain(|it| it.session != session);
        let params = json!({ "targetId": tab });
        vec![Order { session: None, method: "Target.closeTarget", params }]
    }

    fn hold(&mut self, tab: &str, url: &Url, place: HeldIn) {
        let host = short(url.host_str().unwrap_or_default().trim_end_matches('.'));
        let tab = self.tabs.iter_mut().find(|it| it.id == tab);
        if let (HeldIn::Page, Some(tab)) = (place, tab) {
            tab.held += 1;
            tab.held_host.clone_from(&host);
        }
        let notice = Notice::Held { host };
        // A page can try as often as it likes.
        if !self.notices.contains(&notice) {
            self.note(notice);
        }
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

    /// Whether it was not let go where it wanted to, and shows the same document.
    pub(super) fn is_held_since(&self, before: &Self) -> bool {
        self.held > before.held && !self.shows_other_than(before)
    }

    fn hear(&mut self, method: &str, params: &Value) {
        match method {
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                let frame = &params["frame"];
                self.generation += 1;
                self.progress = Progress::Loading;
                self.held_before = self.held;
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
            // A page that wants to leave stops loading, and does not go on when it may not.
            "Page.frameStoppedLoading" if self.held > self.held_before => {
                self.progress = Progress::Loaded;
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

/// Documents, and those of frames that run elsewhere, are asked for only when we have said yes.
fn watch_documents() -> [(&'static str, Value); 3] {
    let frames = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        "filter": [{ "type": "iframe" }],
    });
    [
        (WATCH, documents()),
        ("Target.setAutoAttach", frames),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ]
}

/// With [`WATCH`]: every document, at every redirect.
pub(super) fn documents() -> Value {
    json!({ "patterns": [{ "resourceType": "Document", "requestStage": "Request" }] })
}

/// What was asked for comes to nothing, and the page stays as it is.
fn stop(session: &str, request: &str) -> Order {
    let params = json!({ "requestId": request, "errorReason": "Aborted" });
    order(session, "Fetch.failRequest", params)
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

/// Requests of a kind wait until they are judged.
pub(super) const WATCH: &str = "Fetch.enable";

/// A person keeps more, but a person closes them again.
const MOST_TABS: usize = 16;

const MOST_NOTICES: usize = 32;

/// Longer addresses are cut: they are shown, not followed.
const LONGEST_WORD: usize = 2000;
