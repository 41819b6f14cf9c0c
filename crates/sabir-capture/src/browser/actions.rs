//! Tools that look at the page and act on it: observe, links of the selection, click, type, select,
//! scroll, and the page's HTML.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use super::Browser;
use super::connection::CallError;
use super::error::{ToolCode, ToolError};
use super::model::{Acted, Content, Observation, ObserveOptions, Scrolled, SelectionLink};
use super::tabs::{Progress, Tab};
use super::visits::{Loaded, clean};
use super::world::AskError;

impl Browser {
    /// Looks at the page. Handles of an earlier look are stale from then on.
    pub async fn observe(&mut self, options: &ObserveOptions) -> Result<Observation, ToolError> {
        let tab = self.active_tab()?;
        let arguments = [json!(options.bounded()), json!(self.next_handle)];
        let answer = match &options.root_handle_id {
            Some(handle) => {
                self.check_handle(&tab, handle)?;
                self.ask::<Observation>(&tab, "observe", &arguments)
                    .await
                    .map_err(AskError::or_stale)
            }
            None => {
                let asked = self.ask_now::<Observation>(&tab, "observe", &arguments).await;
                asked.map_err(AskError::or_no_context)
            }
        }?;
        self.first_handle = self.next_handle;
        self.next_handle = answer.next.unwrap_or(self.next_handle).max(self.next_handle);
        let mut observation = answer.value.unwrap_or_default();
        observation.clean();
        observation.notices = self.notices();
        Ok(observation)
    }

    /// The links inside of what is selected on the page.
    pub async fn selection_links(&mut self, most: usize) -> Result<Vec<SelectionLink>, ToolError> {
        if !(1..=MOST_LINKS).contains(&most) {
            let message = format!("1 to {MOST_LINKS} links can be asked for");
            return Err(ToolError::new(ToolCode::InvalidArguments, message));
        }
        let tab = self.active_tab()?;
        let asked =
            self.ask_now::<Vec<SelectionLink>>(&tab, "selectionLinks", &[json!(most)]).await;
        let mut links = asked.map_err(AskError::or_no_context)?.value.unwrap_or_default();
        for link in &mut links {
            link.text = clean(&link.text);
        }
        Ok(links)
    }

    /// Clicks into the middle of an element, as a mouse would.
    pub async fn click(&mut self, handle: &str) -> Result<Acted, ToolError> {
        let tab = self.active_tab()?;
        self.check_handle(&tab, handle)?;
        let found = self.ask::<Point>(&tab, "locate", &[json!(handle)]).await;
        let Some(point) = found.map_err(AskError::or_stale)?.value else {
            return Err(ToolError::new(ToolCode::NotInteractable, "the element has no place"));
        };
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        let known: Vec<String> = self.tabs.all().into_iter().map(|tab| tab.id).collect();
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let params = json!({
                "type": kind, "x": point.x, "y": point.y,
                "button": button, "buttons": buttons, "clickCount": 1,
            });
            let sent = self.call(Some(&tab.session), "Input.dispatchMouseEvent", params).await;
            match sent {
                // The page may be gone before it could answer, which is what a click is for.
                Ok(_) | Err(CallError::Rejected(_)) => {}
                Err(error) => return Err(super::failed(&error)),
            }
        }
        self.settle(&tab, &known).await
    }

    /// Puts `text` into a field, in place of what is there. It presses no key that would send a form:
    /// in a field of one line, line ends become spaces.
    pub async fn type_text(&mut self, handle: &str, text: &str) -> Result<Acted, ToolError> {
        if text.len() > LONGEST_TEXT {
            let message = format!("a text has at most {LONGEST_TEXT} bytes");
            return Err(ToolError::new(ToolCode::InvalidArguments, message));
        }
        let tab = self.active_tab()?;
        self.check_handle(&tab, handle)?;
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        let arguments = [json!(handle), json!(text)];
        let ready = self.ask::<String>(&tab, "prepare", &arguments).await;
        let ready = ready.map_err(AskError::or_stale)?.value.unwrap_or_default();
        let session = Some(tab.session.as_str());
        if ready == "ready" {
            let sent = match text.is_empty() {
                false => self.call(session, "Input.insertText", json!({ "text": text })).await,
                true => self.press_delete(session).await,
            };
            sent.map_err(|error| super::failed(&error))?;
        }
        let known: Vec<String> = self.tabs.all().into_iter().map(|tab| tab.id).collect();
        self.settle(&tab, &known).await
    }

    /// Chooses an option by its value, or by its words.
    pub async fn select(&mut self, handle: &str, value: &str) -> Result<Acted, ToolError> {
        let tab = self.active_tab()?;
        self.check_handle(&tab, handle)?;
        let _lent = self.tabs.lend(&tab.id, &self.bounds);
        let known: Vec<String> = self.tabs.all().into_iter().map(|tab| tab.id).collect();
        let chosen = self.ask::<bool>(&tab, "select", &[json!(handle), json!(value)]).await;
        chosen.map_err(AskError::or_stale)?;
        self.settle(&tab, &known).await
    }

    /// Moves the page, or what is in the middle of it, by so many pixels.
    pub async fn scroll(&mut self, delta_y: f64) -> Result<Scrolled, ToolError> {
        if !delta_y.is_finite() {
            return Err(ToolError::new(ToolCode::InvalidArguments, "not a distance"));
        }
        let delta_y = delta_y.clamp(-FARTHEST, FARTHEST);
        let tab = self.active_tab()?;
        let asked = self.ask_now::<Position>(&tab, "scroll", &[json!(delta_y)]).await;
        let Position { top, most } =
            asked.map_err(AskError::or_no_context)?.value.unwrap_or_default();
        Ok(Scrolled { top, most, notices: self.notices() })
    }

    /// The page's HTML, as its scripts made it.
    pub async fn content(&mut self) -> Result<Content, ToolError> {
        let tab = self.active_tab()?;
        let most = json!(self.limits.content_chars.min(MOST_CONTENT));
        let asked = self.ask_now::<RawContent>(&tab, "content", &[most]).await;
        let no_page = || ToolError::new(ToolCode::NoContext, "there is no page");
        let raw = asked.map_err(AskError::or_no_context)?.value.ok_or_else(no_page)?;
        let url = Url::parse(&raw.url).map_err(|_| no_page())?;
        Ok(Content { url, title: clean(&raw.title), html: raw.html, is_cut: raw.is_cut })
    }

    /// Whether a handle is of the last look, and the document that was looked at still there.
    fn check_handle(&self, tab: &Tab, handle: &str) -> Result<(), ToolError> {
        let number = handle.strip_prefix('h').and_then(|digits| digits.parse::<u64>().ok());
        let number = number.filter(|number| *number > 0 && *number < self.next_handle);
        let Some(number) = number else {
            return Err(ToolError::new(ToolCode::NotFound, "there never was such a handle"));
        };
        let is_current = self.world.as_ref().is_some_and(|world| world.is_of(tab));
        if number < self.first_handle || !is_current {
            let message = "the handle is of an earlier look: observe the page again";
            return Err(ToolError::new(ToolCode::StaleHandle, message));
        }
        Ok(())
    }

    /// Waits for what an action began: a tab, a document, or nothing.
    async fn settle(&mut self, before: &Tab, known: &[String]) -> Result<Acted, ToolError> {
        // The page's own next moments. If it is gone, the events say so.
        let _ = self.ask::<bool>(before, "settle", &[]).await;
        let opened = self.tabs.all().into_iter().find(|tab| {
            !known.contains(&tab.id) && tab.opener.as_deref() == Some(before.id.as_str())
        });
        if let Some(opened) = opened {
            let loaded = self.wait_opened(&opened).await;
            let now = self.tabs.find(&opened.id);
            if let Some(now) = now.filter(|tab| tab.is_held_since(&opened.unseen())) {
                // Nothing is in it, and nothing will be.
                self.close_tab(&now.id).await;
                return Err(super::held(ToolCode::NavigationFailed, &now));
            }
            self.activate(&opened.id).await?;
            let acted = self.report(&opened, loaded).await?;
            return Ok(Acted { is_new_tab: true, is_new_document: true, ..acted });
        }
        let Some(now) = self.tabs.find(&before.id) else {
            return self.after_close().await;
        };
        let loaded = match now.begun > before.begun || now.generation > before.generation {
            true => self.wait_loaded(before).await,
            false => Loaded::Yes,
        };
        match self.tabs.find(&before.id) {
            None => self.after_close().await,
            Some(now) if now.is_held_since(before) => {
                Err(super::held(ToolCode::NavigationFailed, &now))
            }
            Some(_) => self.report(before, loaded).await,
        }
    }

    /// The page closed its own tab: the newest of the others is shown, as browsers do.
    async fn after_close(&mut self) -> Result<Acted, ToolError> {
        let is_spare = |tab: &Tab| self.spare.as_deref() == Some(&tab.id);
        let other = self.tabs.all().into_iter().rev().find(|tab| !is_spare(tab));
        let Some(other) = other else {
            self.active = None;
            return Err(ToolError::new(ToolCode::NoActiveTab, "the page closed its tab"));
        };
        self.activate(&other.id).await?;
        let acted = self.report(&other, Loaded::Yes).await?;
        Ok(Acted { is_new_document: true, ..acted })
    }

    async fn wait_loaded(&self, before: &Tab) -> Loaded {
        let done = self.tabs.wait(|tabs| {
            let Some(tab) = tabs.iter().find(|tab| tab.id == before.id) else { return Some(()) };
            let has_moved = tab.within > before.within;
            let is_new = tab.shows_other_than(before) && tab.progress == Progress::Loaded;
            (has_moved || is_new || tab.is_crashed || tab.is_held_since(before)).then_some(())
        });
        match timeout(self.limits.load, done).await {
            Ok(_) => Loaded::Yes,
            Err(_) => Loaded::NotYet,
        }
    }

    /// Waits for the first document of a tab, which may be there already, or never come: a page can
    /// open a blank tab and write into it.
    async fn wait_opened(&self, opened: &Tab) -> Loaded {
        let unseen = opened.unseen();
        let begun = self.tabs.wait(|tabs| {
            let Some(tab) = tabs.iter().find(|tab| tab.id == unseen.id) else { return Some(()) };
            (tab.begun > 0 || tab.shows_other_than(&unseen)).then_some(())
        });
        match timeout(BLANK_PATIENCE, begun).await {
            Ok(_) => self.wait_loaded(&unseen).await,
            Err(_) => Loaded::Yes,
        }
    }

    async fn press_delete(&self, session: Option<&str>) -> Result<Value, CallError> {
        let key = |kind: &str| {
            json!({
                "type": kind, "key": "Delete", "code": "Delete",
                "windowsVirtualKeyCode": 46, "nativeVirtualKeyCode": 46,
            })
        };
        self.call(session, "Input.dispatchKeyEvent", key("rawKeyDown")).await?;
        self.call(session, "Input.dispatchKeyEvent", key("keyUp")).await
    }
}

impl Observation {
    /// Without characters that models read and people do not see.
    fn clean(&mut self) {
        let mut texts: Vec<&mut String> = vec![&mut self.title, &mut self.text];
        texts.extend(self.primary.iter_mut().map(|it| &mut it.text));
        texts.extend(self.blocks.iter_mut().map(|it| &mut it.text));
        texts.extend(self.outline.iter_mut().map(|it| &mut it.text));
        texts.extend(self.items.iter_mut().flat_map(|it| [&mut it.title, &mut it.snippet]));
        texts.extend(
            self.comments
                .iter_mut()
                .flat_map(|it| [&mut it.text, &mut it.author, &mut it.age, &mut it.score]),
        );
        for element in &mut self.elements {
            texts.extend([&mut element.role, &mut element.text]);
            let words = [&mut element.label, &mut element.name, &mut element.autocomplete];
            texts.extend(words.into_iter().flatten());
            let options = element.options.iter_mut();
            texts.extend(options.flat_map(|it| [&mut it.value, &mut it.text]));
        }
        for text in texts {
            *text = clean(text);
        }
    }
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Default, Deserialize)]
struct Position {
    top: i64,
    most: i64,
}

#[derive(Deserialize)]
struct RawContent {
    url: String,
    title: String,
    html: String,
    is_cut: bool,
}

const MOST_LINKS: usize = 200;

/// A tab that is to show a page begins with it at once.
const BLANK_PATIENCE: Duration = Duration::from_secs(2);

const LONGEST_TEXT: usize = 100_000;

/// Pixels: further than any page is long.
const FARTHEST: f64 = 1_000_000.0;

/// In characters; in the pipe each may take six bytes.
const MOST_CONTENT: usize = 10_000_000;
