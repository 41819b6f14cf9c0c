//! Tools that lead to another page: open, navigate, back, forward, refresh, search.

use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use url::Url;

use super::connection::CallError;
use super::error::{ToolCode, ToolError};
use super::model::{Acted, Notice, TabInfo};
use super::tabs::{Progress, Tab};
use super::{Browser, describe, held};
use crate::egress::{Reason, Refused};

/// Where search results are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchIn {
    #[default]
    SameTab,
    NewTab,
}

impl Browser {
    /// Opens a page in a tab of its own, which is the active one from then on.
    pub async fn open_tab(&mut self, url: &Url) -> Result<Acted, ToolError> {
        self.judge(url, ToolCode::OpenTabFailed)?;
        let tab = self.new_tab().await?;
        let visited = self.visit(&tab, url, ToolCode::OpenTabFailed).await;
        self.activate(&tab.id).await?;
        visited.map(|acted| Acted { is_new_tab: true, ..acted })
    }

    /// Goes to a page in the active tab; opens one if there is none, or if the page in it does not
    /// answer any more.
    pub async fn navigate(&mut self, url: &Url) -> Result<Acted, ToolError> {
        self.judge(url, ToolCode::NavigationFailed)?;
        if let Some(id) = self.active.clone()
            && self.tabs.find(&id).is_some_and(|tab| tab.is_silent || tab.is_crashed)
        {
            self.abandon(&id).await;
        }
        match self.active_tab() {
            Ok(tab) => self.visit(&tab, url, ToolCode::NavigationFailed).await,
            Err(error) if error.code == ToolCode::NoActiveTab => self.open_tab(url).await,
            Err(error) => Err(error),
        }
    }

    pub async fn back(&mut self) -> Result<Acted, ToolError> {
        self.travel(-1, ToolCode::BackFailed).await
    }

    pub async fn forward(&mut self) -> Result<Acted, ToolError> {
        self.travel(1, ToolCode::ForwardFailed).await
    }

    pub async fn refresh(&mut self) -> Result<Acted, ToolError> {
        let tab = self.active_tab()?;
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        let failed = |error: &CallError| ToolError::new(ToolCode::RefreshFailed, describe(error));
        let reload = self.call(Some(&tab.session), "Page.reload", json!({}));
        reload.await.map_err(|error| failed(&error))?;
        self.arrive(&tab, ToolCode::RefreshFailed).await
    }

    /// Asks a search engine.
    pub async fn search(
        &mut self,
        query: &str,
        engine: Option<&str>,
        place: SearchIn,
    ) -> Result<Acted, ToolError> {
        let query = query.trim();
        if query.is_empty() || query.len() > LONGEST_QUERY {
            let message = format!("a query has 1 to {LONGEST_QUERY} bytes");
            return Err(ToolError::new(ToolCode::InvalidArguments, message));
        }
        let Some(url) = self.engines.address(engine, query) else {
            let names: Vec<&str> = self.engines.names().collect();
            let message = format!("there is no such search engine, only {}", names.join(", "));
            return Err(ToolError::new(ToolCode::SearchUnavailable, message));
        };
        let found = match place {
            SearchIn::SameTab => self.navigate(&url).await,
            SearchIn::NewTab => self.open_tab(&url).await,
        };
        found.map_err(|error| match error.code {
            ToolCode::RuntimeUnavailable => error,
            _ => ToolError { code: ToolCode::SearchFailed, ..error },
        })
    }

    /// All pages that are open.
    pub fn tabs(&self) -> Vec<TabInfo> {
        let is_active = |tab: &Tab| self.active.as_deref() == Some(&tab.id);
        let all = self.tabs.all().into_iter();
        let all = all.filter(|tab| self.spare.as_deref() != Some(&tab.id));
        all.map(|tab| TabInfo { is_active: is_active(&tab), tab: tab.id, url: tab.url }).collect()
    }

    /// Makes another tab the active one.
    pub async fn activate(&mut self, tab: &str) -> Result<(), ToolError> {
        let found = self.tabs.find(tab);
        let found = found.ok_or_else(|| ToolError::new(ToolCode::NoTargetTab, "no such tab"))?;
        let front = self.call(Some(&found.session), "Page.bringToFront", json!({}));
        // A tab that cannot come to the front is still one that can be asked.
        let _ = front.await;
        self.active = Some(found.id);
        Ok(())
    }

    /// Gives up a tab whose page holds it: what it shows next would have to wait for that page.
    async fn abandon(&mut self, id: &str) {
        self.active = None;
        self.close_tab(id).await;
    }

    /// The page is not asked whether it wants to; a browser that does not answer is noticed soon.
    pub(super) async fn close_tab(&self, id: &str) {
        let _ = self.call(None, "Target.closeTarget", json!({ "targetId": id })).await;
        let gone = self.tabs.wait(|tabs| tabs.iter().all(|tab| tab.id != id).then_some(()));
        let _ = timeout(self.limits.answer, gone).await;
    }

    fn judge(&self, url: &Url, code: ToolCode) -> Result<(), ToolError> {
        match self.guard.check(url) {
            Ok(_) => Ok(()),
            Err(refused) => {
                let is_misspelt =
                    matches!(refused.reason(), Reason::Scheme | Reason::Userinfo | Reason::NoHost);
                Err(ToolError::refused(
                    if is_misspelt { ToolCode::InvalidUrl } else { code },
                    refused,
                ))
            }
        }
    }

    /// The tab that shows nothing yet, or another one.
    pub(super) async fn new_tab(&mut self) -> Result<Tab, ToolError> {
        let spare = self.spare.take().and_then(|id| self.tabs.find(&id));
        if let Some(tab) = spare.filter(|tab| !tab.is_crashed) {
            return Ok(tab);
        }
        let opened = async { self.attached(&self.create_target().await?).await };
        opened.await.map_err(|error| ToolError::new(ToolCode::OpenTabFailed, describe(&error)))
    }

    async fn visit(&mut self, tab: &Tab, url: &Url, code: ToolCode) -> Result<Acted, ToolError> {
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        // What was refused before is not about this page.
        let earlier = self.notices();
        let params = json!({ "url": url.as_str() });
        let asked = self.connection.call(
            Some(&tab.session),
            "Page.navigate",
            params,
            self.limits.load + self.limits.answer,
        );
        let result = asked.await.map_err(|error| {
            if error == CallError::TimedOut {
                self.tabs.mark_silent(&tab.session);
            }
            ToolError::new(code, describe(&error))
        })?;
        let now = self.tabs.find(&tab.id);
        if let Some(reason) = result["errorText"].as_str() {
            return Err(match now.filter(|now| now.held > tab.held) {
                Some(now) => held(code, &now),
                None => self.explain(url, reason, code),
            });
        }
        let is_within = result["loaderId"].is_null();
        let mut acted = match is_within {
            true => self.report(tab, Loaded::Yes).await?,
            // What was held up to now was the page before.
            false => {
                let mut before = tab.clone();
                before.held = now.map_or(tab.held, |now| now.held);
                self.arrive(&before, code).await?
            }
        };
        acted.notices.splice(0..0, earlier);
        Ok(acted)
    }

    /// A refusal in the browser's words is one in ours.
    fn explain(&self, url: &Url, reason: &str, code: ToolCode) -> ToolError {
        // The words for a tunnel that the proxy did not open.
        let refused = reason.contains("ERR_TUNNEL").then(|| self.proxy.take_refused().pop());
        match refused.flatten() {
            Some((_, refused)) => ToolError::refused(code, refused),
            None => {
                let host = url.host_str().unwrap_or_default();
                ToolError::new(code, format!("{host}: {}", sabir_base::text::one_line(reason, 100)))
            }
        }
    }

    /// The page that is so many steps away in the history of the active tab.
    pub async fn page_beside(&mut self, step: i64) -> Option<Url> {
        let tab = self.active_tab().ok()?;
        Url::parse(&self.entry(&tab, step).await?.url).ok()
    }

    async fn entry(&self, tab: &Tab, step: i64) -> Option<Entry> {
        let history = self.call(Some(&tab.session), "Page.getNavigationHistory", json!({})).await;
        let mut history: History = serde_json::from_value(history.ok()?).ok()?;
        let wanted = usize::try_from(history.current_index.saturating_add(step)).ok()?;
        let is_there = wanted < history.entries.len();
        let entry = is_there.then(|| history.entries.swap_remove(wanted));
        // The blank page that a tab starts with is not a page to go back to.
        entry.filter(|entry| entry.url != "about:blank")
    }

    async fn travel(&mut self, step: i64, code: ToolCode) -> Result<Acted, ToolError> {
        let tab = self.active_tab()?;
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        let session = Some(tab.session.as_str());
        let failed = |error: CallError| ToolError::new(code, describe(&error));
        let Some(entry) = self.entry(&tab, step).await else {
            return Err(ToolError::new(code, "there is no page in that direction"));
        };
        let params = json!({ "entryId": entry.id });
        self.call(session, "Page.navigateToHistoryEntry", params).await.map_err(failed)?;
        let arrived = self.arrive(&tab, code).await;
        if arrived.is_err() {
            // Or the next step would be counted from a page that never came.
            let _ = self.call(session, "Page.stopLoading", json!({})).await;
        }
        arrived
    }

    /// Waits until `before` shows another document or another place in it, and that is loaded.
    pub(super) async fn arrive(
        &mut self,
        before: &Tab,
        code: ToolCode,
    ) -> Result<Acted, ToolError> {
        let arrived = self.tabs.wait(|tabs| {
            let Some(tab) = tabs.iter().find(|tab| tab.id == before.id) else {
                return Some(false);
            };
            let has_moved = tab.within > before.within && tab.generation == before.generation;
            let has_loaded = tab.generation > before.generation && tab.progress == Progress::Loaded;
            (has_moved || has_loaded || tab.is_crashed || tab.is_held_since(before)).then_some(true)
        });
        let loaded = match timeout(self.limits.load, arrived).await {
            Ok(Some(true)) => Loaded::Yes,
            Ok(Some(false)) => return Err(ToolError::new(code, "the tab was closed")),
            Ok(None) => {
                let message = "the browser has ended";
                return Err(ToolError::new(ToolCode::RuntimeUnavailable, message));
            }
            Err(_) => Loaded::NotYet,
        };
        let now = self.tabs.find(&before.id);
        if now.as_ref().is_some_and(|tab| tab.is_crashed) {
            return Err(ToolError::new(ToolCode::RuntimeUnavailable, "the page has crashed"));
        }
        if let Some(now) = now.as_ref().filter(|tab| tab.is_held_since(before)) {
            return Err(held(code, now));
        }
        if loaded == Loaded::NotYet && now.is_none_or(|tab| !tab.shows_other_than(before)) {
            return Err(ToolError::new(code, "the page did not come in time"));
        }
        let acted = self.report(before, loaded).await?;
        if let Some(refused) = Self::refused_document(&acted) {
            return Err(ToolError::refused(code, refused));
        }
        if acted.url.starts_with("chrome-error:") {
            return Err(ToolError::new(code, "the page could not be loaded"));
        }
        Ok(acted)
    }

    /// Where a tab is now, compared with what it was.
    pub(super) async fn report(
        &mut self,
        before: &Tab,
        loaded: Loaded,
    ) -> Result<Acted, ToolError> {
        let place = self.ask_now::<Place>(before, "place", &[]).await;
        let place = place.map_err(super::world::AskError::or_no_context)?.value.unwrap_or_default();
        let now = self.tabs.find(&before.id);
        Ok(Acted {
            tab: before.id.clone(),
            url: clean(&place.url),
            title: clean(&place.title),
            status: place.status,
            is_loaded: loaded == Loaded::Yes,
            is_new_document: now.is_some_and(|tab| tab.generation != before.generation),
            is_new_tab: false,
            notices: self.notices(),
        })
    }

    /// The proxy's own page stands where a refused one would be.
    fn refused_document(acted: &Acted) -> Option<Refused> {
        let url = Url::parse(&acted.url).ok()?;
        let at = (url.host_str()?.trim_end_matches('.'), url.port_or_known_default()?);
        acted.notices.iter().find_map(|notice| match notice {
            Notice::Refused { host, port, code } if (host.as_str(), *port) == at => {
                let reason = Reason::ALL.into_iter().find(|it| it.code() == code)?;
                Some(Refused::new(host, reason))
            }
            _ => None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    Yes,
    NotYet,
}

/// Words of a page, without what nobody sees.
pub(super) fn clean(text: &str) -> String {
    crate::html::invisible::visible_text(text).into_owned()
}

#[derive(Default, Deserialize)]
struct Place {
    url: String,
    title: String,
    status: Option<u16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: i64,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
    url: String,
}

/// Longer than anything a person would look for.
const LONGEST_QUERY: usize = 2000;
