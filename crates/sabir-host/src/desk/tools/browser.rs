//! The browser's tools, in a browser that is started for the first of them and ends with the desk.

use reqwest::Url;
use sabir_capture::{
    Acted, Browser, BrowserOptions, Element, Guard, Observation, ObserveOptions, SearchIn, Signal,
    ToolError, Window,
};
use sabir_document::Document;
use sabir_llmcp::{ObserveDom, Tool, Whole, redact_url};
use sabir_policy::{Address, Evidence, FieldHints, LeadsTo, Page, Provenance};
use serde_json::{Value, json};

use super::Failure;
use crate::desk::Desk;

/// A browser, once one is needed, and what was last seen in it.
#[derive(Debug)]
pub(in crate::desk) struct BrowserSlot {
    window: Window,
    running: Option<Browser>,
    /// The last page that the user's own words named.
    opened: Option<String>,
    current: Option<String>,
    elements: Vec<Element>,
}

/// What is known of the place where a call acts.
#[derive(Debug)]
pub(in crate::desk) struct Spot {
    pub(in crate::desk) page: Page,
    element: Option<Element>,
}

impl Spot {
    pub(in crate::desk) fn hints(&self) -> Option<FieldHints<'_>> {
        let element = self.element.as_ref()?;
        Some(FieldHints {
            input_type: element.input_type.as_deref(),
            autocomplete: element.autocomplete.as_deref(),
            name: element.name.as_deref(),
            id: None,
            label: element.label.as_deref().or(Some(element.text.as_str())),
            placeholder: None,
        })
    }
}

impl BrowserSlot {
    pub(in crate::desk) fn new(is_visible: bool) -> Self {
        let window = if is_visible { Window::Shown } else { Window::Hidden };
        Self { window, running: None, opened: None, current: None, elements: Vec::new() }
    }

    async fn browser(&mut self, guard: &Guard) -> Result<&mut Browser, Failure> {
        if self.running.as_ref().is_some_and(|browser| !browser.is_running()) {
            self.running = None;
            self.leave();
        }
        let browser = match self.running.take() {
            Some(browser) => browser,
            None => {
                let mut options = BrowserOptions::new(guard.clone());
                options.window = self.window;
                Browser::start(options)
                    .await
                    .map_err(|error| Failure::new("RUNTIME_UNAVAILABLE", error.to_string()))?
            }
        };
        Ok(self.running.insert(browser))
    }

    /// What was seen is gone: another page is shown, or another browser.
    fn leave(&mut self) {
        self.opened = None;
        self.current = None;
        self.elements.clear();
    }

    fn arrived(&mut self, acted: &Acted) {
        if acted.is_new_document || acted.is_new_tab {
            self.elements.clear();
        }
        self.current = Some(acted.url.clone());
    }
}

impl Desk {
    /// Where a call of the browser would act.
    pub(in crate::desk) async fn spot(&self, tool: &Tool) -> Option<Spot> {
        let handle = match tool {
            Tool::Click(it) => Some(it.handle_id.as_str()),
            Tool::Type(it) => Some(it.handle_id.as_str()),
            Tool::Select(it) => Some(it.handle_id.as_str()),
            tool if tool.name().as_str().starts_with("browser.") => None,
            _ => return None,
        };
        let slot = self.0.browser.lock().await;
        let address = |url: &Option<String>| url.as_deref().and_then(Address::parse);
        let element =
            handle.and_then(|handle| slot.elements.iter().find(|it| it.handle_id == handle));
        let page = Page {
            opened: address(&slot.opened),
            current: address(&slot.current),
            leads_to: LeadsTo::of_link(element.and_then(|it| it.href.as_deref())),
        };
        Some(Spot { page, element: element.cloned() })
    }

    /// Whether a person sees the browser, and can sign in to something in it.
    pub(in crate::desk) async fn is_browser_shown(&self) -> bool {
        self.0.browser.lock().await.window == Window::Shown
    }

    /// The host that a step in the history leads to.
    pub(in crate::desk) async fn host_beside(&self, step: i64) -> Option<String> {
        let mut slot = self.0.browser.lock().await;
        let url = slot.running.as_mut()?.page_beside(step).await?;
        Some(url.host_str()?.trim_end_matches('.').to_owned())
    }

    /// Remembers where the user wanted to be: only an address that they typed counts.
    pub(in crate::desk) async fn note_opened(&self, tool: &Tool, evidence: &Evidence<'_>) {
        let url = match tool {
            Tool::Navigate(it) => &it.url,
            Tool::OpenTab(it) => &it.url,
            _ => return,
        };
        let Some(address) = Address::parse(url.as_str()) else { return };
        if evidence.of_address(&address) == Provenance::TypedByUser {
            self.0.browser.lock().await.opened = Some(url.as_str().to_owned());
        }
    }

    pub(super) async fn browse(&self, tool: &Tool) -> Result<Value, Failure> {
        let mut slot = self.0.browser.lock().await;
        let slot = &mut *slot;
        let guard = self.0.guard.clone();
        let acted = {
            let browser = slot.browser(&guard).await?;
            let Some(bounds) = self.2.clone() else {
                return Err(Failure::new("FAILED", "only a call that passed the gate may do this"));
            };
            let mut browser = browser.bounded(bounds);
            match tool {
                Tool::ObserveDom(it) => {
                    let mut seen = browser.observe(&observe_options(it)).await?;
                    drop(browser);
                    slot.current = Some(seen.url.clone());
                    slot.elements.clone_from(&seen.elements);
                    redact_address(&mut seen);
                    return to_json(&seen);
                }
                Tool::GetSelectionLinks(it) => {
                    let most = it.max_links.map_or(USUAL_LINKS, size);
                    return to_json(&browser.selection_links(most).await?);
                }
                Tool::Scroll(it) => return to_json(&browser.scroll(it.delta_y.value()).await?),
                Tool::Click(it) => browser.click(it.handle_id.as_str()).await?,
                Tool::Type(it) => browser.type_text(it.handle_id.as_str(), &it.text).await?,
                Tool::Select(it) => browser.select(it.handle_id.as_str(), &it.value).await?,
                Tool::OpenTab(it) => browser.open_tab(&url(it.url.as_str())?).await?,
                Tool::Navigate(it) => browser.navigate(&url(it.url.as_str())?).await?,
                Tool::Back(_) => browser.back().await?,
                Tool::Forward(_) => browser.forward().await?,
                Tool::Refresh(_) => browser.refresh().await?,
                Tool::Search(it) => {
                    let place = match it.new_tab {
                        Some(true) => SearchIn::NewTab,
                        Some(false) | None => SearchIn::SameTab,
                    };
                    let engine = it.engine.as_ref().map(|it| it.as_str());
                    browser.search(it.query.as_str(), engine, place).await?
                }
                _ => {
                    return Err(Failure::new("UNSUPPORTED_TOOL", "this is no tool of the browser"));
                }
            }
        };
        slot.arrived(&acted);
        to_json(&acted)
    }

    /// Shows a document in the browser, as safe HTML.
    pub(super) async fn show_in_browser(
        &self,
        title: &str,
        markdown: &str,
    ) -> Result<Value, Failure> {
        let html = sabir_capture::to_safe_html(&Document::from_markdown(markdown));
        let mut slot = self.0.browser.lock().await;
        let guard = self.0.guard.clone();
        let browser = slot.browser(&guard).await?;
        browser.show(title, &html).await?;
        slot.leave();
        Ok(json!({ "shown": true }))
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::new(error.code.as_str(), error.message)
    }
}

/// What a model is told of where it is, and of what that is without.
fn redact_address(seen: &mut Observation) {
    if let Some(redacted) = redact_url(&seen.url).filter(|it| it.changed) {
        seen.url = redacted.url;
        seen.signals.push(Signal::UrlRedacted.as_str().to_owned());
    }
}

fn observe_options(it: &ObserveDom) -> ObserveOptions {
    let usual = ObserveOptions::default();
    ObserveOptions {
        max_chars: it.max_chars.map_or(usual.max_chars, size),
        max_elements: it.max_elements.map_or(usual.max_elements, size),
        max_blocks: it.max_blocks.map_or(usual.max_blocks, size),
        max_primary_chars: it.max_primary_chars.map_or(usual.max_primary_chars, size),
        max_outline: it.max_outline.map_or(usual.max_outline, size),
        max_outline_chars: it.max_outline_chars.map_or(usual.max_outline_chars, size),
        max_items: it.max_items.map_or(usual.max_items, size),
        max_item_chars: it.max_item_chars.map_or(usual.max_item_chars, size),
        max_comments: it.max_comments.map_or(usual.max_comments, size),
        max_comment_chars: it.max_comment_chars.map_or(usual.max_comment_chars, size),
        root_handle_id: it.root_handle_id.as_ref().map(|it| it.as_str().to_owned()),
    }
}

fn size<const MIN: u64, const MAX: u64>(number: Whole<MIN, MAX>) -> usize {
    usize::try_from(number.value()).unwrap_or(usize::MAX)
}

fn url(text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|error| Failure::new("INVALID_URL", error.to_string()))
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new("FAILED", error.to_string()))
}

const USUAL_LINKS: usize = 50;

#[cfg(test)]
mod tests {
    use sabir_llmcp::{GetSelectionLinks, ListTransforms};

    use super::*;
    use crate::desk::{DeskModel, DeskSetup};

    /// LC-G62: where a person can have signed in.
    #[tokio::test]
    async fn what_a_window_shows_is_private() {
        for visible_browser in [false, true] {
            let home = tempfile::tempdir().unwrap();
            let desk = Desk::open(DeskSetup {
                home: home.path().to_owned(),
                allow_egress: Vec::new(),
                program: home.path().join("none"),
                model: DeskModel::Extractive,
                policy: sabir_policy::PolicyDoc::default(),
                integrations: None,
                visible_browser,
            })
            .unwrap();
            let looks = Tool::GetSelectionLinks(GetSelectionLinks { max_links: None });
            assert_eq!(desk.shows_private(&looks).await, visible_browser);
            let lists = Tool::ListTransforms(ListTransforms {});
            assert!(!desk.shows_private(&lists).await);
        }
    }

    /// LC-C18.
    #[test]
    fn a_model_is_told_that_an_address_was_redacted() {
        for (url, told) in [
            ("https://a.example/p?b=2", "https://a.example/p?b=2"),
            ("https://a.example/p?b=2&sid=1", "https://a.example/p?b=2"),
            ("about:blank", "about:blank"),
        ] {
            let mut seen = Observation { url: url.to_owned(), ..Observation::default() };
            redact_address(&mut seen);
            assert_eq!(seen.url, told);
            assert_eq!(seen.signals.contains(&"url_redacted".to_owned()), url != told);
        }
    }
}
