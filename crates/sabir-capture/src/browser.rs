//! A real Chromium, driven over DevTools: the browser's tools of the specification, and a page's HTML
//! as its scripts made it.
//!
//! All of its traffic goes through our proxy, and so through the guard. It starts with an empty
//! profile and leaves nothing behind. It decides nothing: whether a call may happen is settled before
//! it comes here. What it answers comes from pages, and is to be read as theirs.

mod actions;
mod bounds;
mod connection;
mod courses;
mod error;
mod model;
mod process;
mod search;
mod show;
mod tabs;
mod visits;
mod world;

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::egress::Guard;
use crate::proxy::{self, Proxy};
use bounds::Everywhere;
use connection::{CallError, Connection};
use process::Process;
use tabs::{Tab, Tabs};
use world::World;

pub use bounds::Bounds;
pub use error::{BrowserError, ToolCode, ToolError};
pub use model::{
    Acted, Block, Choice, Comment, Content, Element, Item, Notice, Observation, ObserveOptions,
    OutlineEntry, Primary, Scrolled, SelectionLink, TabInfo,
};
pub use process::installed_browser;
pub use search::SearchEngines;
pub use visits::SearchIn;

/// Whether a person sees it work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    #[default]
    Hidden,
    Shown,
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrowserLimits {
    /// For the browser to be there.
    pub start: Duration,
    /// For one answer of a page.
    pub answer: Duration,
    /// For a page to load. One that is still loading then is used as it is.
    pub load: Duration,
    /// The HTML of a page, in characters.
    pub content_chars: usize,
}

impl Default for BrowserLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            answer: Duration::from_secs(10),
            load: Duration::from_secs(20),
            content_chars: 8 * 1024 * 1024,
        }
    }
}

#[derive(Clone, Debug)]
pub struct BrowserOptions {
    /// Where Chromium is; otherwise it is looked for.
    pub program: Option<PathBuf>,
    pub window: Window,
    pub engines: SearchEngines,
    pub limits: BrowserLimits,
    pub guard: Guard,
}

impl BrowserOptions {
    pub fn new(guard: Guard) -> Self {
        Self {
            program: None,
            window: Window::default(),
            engines: SearchEngines::default(),
            limits: BrowserLimits::default(),
            guard,
        }
    }
}

/// A running browser. Dropped, it ends, with its children and its profile.
#[derive(Debug)]
pub struct Browser {
    connection: Connection,
    tabs: Tabs,
    /// Where the tabs live.
    context: String,
    active: Option<String>,
    /// A tab that shows nothing yet.
    spare: Option<String>,
    world: Option<World>,
    /// The number of the next handle. None is ever given twice.
    next_handle: u64,
    /// Those below belong to an earlier look.
    first_handle: u64,
    /// How far the pages lead that are opened now.
    bounds: Arc<dyn Bounds>,
    guard: Guard,
    engines: SearchEngines,
    limits: BrowserLimits,
    // The process goes before the proxy: it must not find it gone and complain.
    process: Process,
    proxy: Proxy,
}

/// A browser for one call, whose pages lead as far as the call may go. They stay held to that when
/// the call is over.
#[derive(Debug)]
pub struct Bounded<'a>(&'a mut Browser);

impl Deref for Bounded<'_> {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        self.0
    }
}

impl DerefMut for Bounded<'_> {
    fn deref_mut(&mut self) -> &mut Browser {
        self.0
    }
}

impl Drop for Bounded<'_> {
    fn drop(&mut self) {
        self.0.bounds = Arc::new(Everywhere);
    }
}

impl Browser {
    pub async fn start(options: BrowserOptions) -> Result<Self, BrowserError> {
        let BrowserOptions { program, window, engines, limits, guard } = options;
        let not_started = |reason: String| BrowserError::NotStarted { reason };
        let secret = secret().map_err(|error| not_started(error.to_string()))?;
        let proxy = Proxy::start(guard.clone(), secret)
            .await
            .map_err(|error| not_started(error.to_string()))?;
        let (process, pipe) = Process::start(program.as_deref(), window, proxy.address())?;
        let tabs = Tabs::new(proxy.secret().to_owned());
        let connection = Connection::start(pipe.input, pipe.output, tabs.listener());
        let mut browser = Self {
            connection,
            tabs,
            context: String::new(),
            active: None,
            spare: None,
            world: None,
            next_handle: 1,
            first_handle: 1,
            bounds: Arc::new(Everywhere),
            guard,
            engines,
            limits,
            process,
            proxy,
        };
        match timeout(limits.start, browser.prepare()).await {
            Ok(Ok(())) => Ok(browser),
            Ok(Err(error)) => Err(not_started(describe(&error))),
            Err(_) => Err(not_started("it took too long".to_owned())),
        }
    }

    /// For one call: where it may lead. Without, a page leads wherever the guard lets it.
    pub fn bounded(&mut self, bounds: Arc<dyn Bounds>) -> Bounded<'_> {
        self.tabs.tighten();
        self.bounds = bounds;
        Bounded(self)
    }

    /// Ends it. Dropping does the same.
    pub fn close(self) {}

    /// The number of its first process, which is that of their group, too.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it can still be asked.
    pub fn is_running(&self) -> bool {
        !self.connection.is_closed()
    }

    async fn prepare(&mut self) -> Result<(), CallError> {
        self.call(None, "Browser.getVersion", json!({})).await?;
        // A part of the browser that has nothing to do with what it does on its own.
        let made = self.call(None, "Target.createBrowserContext", json!({})).await?;
        made["browserContextId"].as_str().unwrap_or_default().clone_into(&mut self.context);
        self.tabs.keep_to(&self.context);
        let deny = json!({
            "behavior": "deny",
            "eventsEnabled": true,
            "browserContextId": self.context,
        });
        self.call(None, "Browser.setDownloadBehavior", deny).await?;
        let id = self.create_target().await?;
        let attach = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{ "type": "page" }],
        });
        self.call(None, "Target.setAutoAttach", attach).await?;
        let tab = self.attached(&id).await?;
        self.introduce(&tab.session).await?;
        self.spare = Some(id);
        Ok(())
    }

    /// An empty tab.
    async fn create_target(&self) -> Result<String, CallError> {
        let params = json!({ "url": "about:blank", "browserContextId": self.context });
        let made = self.call(None, "Target.createTarget", params).await?;
        Ok(made["targetId"].as_str().unwrap_or_default().to_owned())
    }

    /// Waits until a tab can be asked.
    async fn attached(&self, id: &str) -> Result<Tab, CallError> {
        let there = self.tabs.wait(|tabs| tabs.iter().find(|tab| tab.id == id).cloned());
        let found = timeout(self.limits.answer, there).await.map_err(|_| CallError::TimedOut)?;
        let tab = found.ok_or(CallError::Closed)?;
        self.call(Some(&tab.session), "Page.enable", json!({})).await?;
        self.call(Some(&tab.session), tabs::WATCH, tabs::documents()).await?;
        self.tabs.find(id).ok_or(CallError::Closed)
    }

    /// Makes the browser remember what the proxy asks for: it can be given to it only when it is
    /// asked, and what runs without us, like updates, shall not know it.
    async fn introduce(&self, session: &str) -> Result<(), CallError> {
        let watch = json!({
            "handleAuthRequests": true,
            "patterns": [{ "urlPattern": format!("{}*", proxy::GREETING) }],
        });
        self.call(Some(session), tabs::WATCH, watch).await?;
        let greeting = json!({ "url": proxy::GREETING });
        let navigate = self.call(Some(session), "Page.navigate", greeting);
        let (_, ()) = tokio::join!(navigate, self.proxy.greeted());
        self.call(Some(session), tabs::WATCH, tabs::documents()).await?;
        self.tabs.forget_secret();
        Ok(())
    }

    async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, CallError> {
        let answer = self.connection.call(session, method, params, self.limits.answer).await;
        if let (Some(session), Err(CallError::TimedOut)) = (session, &answer) {
            self.tabs.mark_silent(session);
        }
        answer
    }

    /// The tab that the tools work on.
    fn active_tab(&mut self) -> Result<Tab, ToolError> {
        if !self.is_running() {
            return Err(ToolError::new(ToolCode::RuntimeUnavailable, "the browser has ended"));
        }
        let found = self.active.as_deref().and_then(|id| self.tabs.find(id));
        let Some(tab) = found else {
            self.active = None;
            return Err(ToolError::new(ToolCode::NoActiveTab, "no page is open"));
        };
        if tab.is_crashed {
            return Err(ToolError::new(ToolCode::RuntimeUnavailable, "the page has crashed"));
        }
        Ok(tab)
    }

    /// What happened since the last answer, refusals included.
    fn notices(&self) -> Vec<Notice> {
        let mut notices = self.tabs.take_notices();
        notices.extend(self.proxy.take_refused().into_iter().map(|(port, refused)| {
            let (host, code) = (refused.host().to_owned(), refused.code().to_owned());
            Notice::Refused { host, port, code }
        }));
        notices
    }
}

fn describe(error: &CallError) -> String {
    match error {
        CallError::Closed => "the browser has ended".to_owned(),
        CallError::Crashed => "the page has crashed".to_owned(),
        CallError::TimedOut => "the page does not answer".to_owned(),
        CallError::Rejected(message) => sabir_base::text::one_line(message, 300),
    }
}

/// Why a page did not come, or did not lead on.
fn held(code: ToolCode, tab: &Tab) -> ToolError {
    let host = &tab.held_host;
    let message = format!("the page leads to {host}, which this call was not allowed for");
    ToolError::new(code, message)
}

fn failed(error: &CallError) -> ToolError {
    ToolError::new(ToolCode::RuntimeUnavailable, describe(error))
}

/// Unguessable, and nothing but letters.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
