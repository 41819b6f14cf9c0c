//! Which bounds hold for which tab. A call lends its own to the tab that it works in; the document
//! that comes of it keeps them, however late it comes, and so do the tabs that it opens.
//!
//! It knows tabs and frames by name only, and sends nothing.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use url::Url;

use super::bounds::{Bounds, Everywhere, Nowhere};

/// The courses of all tabs.
#[derive(Debug)]
pub(super) struct Courses {
    tabs: HashMap<String, Course>,
    /// The tab of each session of a frame.
    sessions: HashMap<String, String>,
    /// The tab of each frame, by the frame's name.
    frames: HashMap<String, String>,
    /// For tabs that no known page has opened.
    otherwise: Arc<dyn Bounds>,
}

/// What one tab may show.
#[derive(Debug)]
struct Course {
    /// Of the document that it shows.
    standing: Arc<dyn Bounds>,
    /// Of the call that works in it.
    lent: Option<Arc<dyn Bounds>>,
    /// The documents that are on their way.
    under_way: VecDeque<Admitted>,
}

/// A document that may be asked for, and was.
#[derive(Debug)]
struct Admitted {
    request: String,
    url: Url,
    bounds: Arc<dyn Bounds>,
}

/// Who asks for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    /// The page itself, by this request. A redirect has one of its own, and tells the one before.
    Page { request: &'a str, before: &'a str },
    /// A frame in it.
    Frame,
}

impl Default for Courses {
    fn default() -> Self {
        Self {
            tabs: HashMap::new(),
            sessions: HashMap::new(),
            frames: HashMap::new(),
            otherwise: Arc::new(Everywhere),
        }
    }
}

impl Courses {
    /// What nobody vouches for leads nowhere from now on.
    pub(super) fn tighten(&mut self) {
        self.otherwise = Arc::new(Nowhere);
    }

    /// A new tab, and the tab or frame that opened it.
    pub(super) fn begin(&mut self, tab: &str, opener: Option<&str>) {
        let opener = opener.map(|it| self.frames.get(it).map_or(it, String::as_str));
        let standing = match opener.and_then(|it| self.tabs.get(it)) {
            Some(course) => course.now(),
            None => &self.otherwise,
        };
        let course =
            Course { standing: Arc::clone(standing), lent: None, under_way: VecDeque::new() };
        self.tabs.insert(tab.to_owned(), course);
    }

    pub(super) fn end(&mut self, tab: &str) {
        self.tabs.remove(tab);
        self.sessions.retain(|_, it| it != tab);
        self.frames.retain(|_, it| it != tab);
    }

    /// A frame of a tab that speaks for itself, attached to by the session `by`. False when there
    /// are too many, or it belongs to no tab.
    pub(super) fn begin_frame(&mut self, session: &str, by: &str, tab: Option<&str>) -> bool {
        let tab = tab.map(str::to_owned).or_else(|| self.tab_of(by));
        let Some(tab) = tab.filter(|_| self.sessions.len() < MOST_FRAMES) else { return false };
        self.sessions.insert(session.to_owned(), tab);
        true
    }

    pub(super) fn end_frame(&mut self, session: &str) {
        self.sessions.remove(session);
    }

    /// The tab that a session of a frame belongs to.
    pub(super) fn tab_of(&self, session: &str) -> Option<String> {
        self.sessions.get(session).cloned()
    }

    /// Remembers whose frame this is, for the tabs that it may open.
    pub(super) fn note_frame(&mut self, frame: &str, tab: &str) {
        if self.frames.len() < MOST_FRAMES {
            self.frames.insert(frame.to_owned(), tab.to_owned());
        }
    }

    pub(super) fn forget_frame(&mut self, frame: &str) {
        self.frames.remove(frame);
    }

    pub(super) fn lend(&mut self, tab: &str, bounds: Arc<dyn Bounds>) {
        if let Some(course) = self.tabs.get_mut(tab) {
            course.lent = Some(bounds);
        }
    }

    pub(super) fn take_back(&mut self, tab: &str) {
        if let Some(course) = self.tabs.get_mut(tab) {
            course.lent = None;
        }
    }

    /// A tab that no page rules.
    pub(super) fn let_go(&mut self, tab: &str) {
        if let Some(course) = self.tabs.get_mut(tab) {
            course.standing = Arc::new(Everywhere);
        }
    }

    /// Whether a document may be asked for.
    pub(super) fn admit(&mut self, tab: &str, url: &Url, wanted: Wanted<'_>) -> bool {
        let Some(course) = self.tabs.get_mut(tab) else { return false };
        match wanted {
            Wanted::Frame => reaches_nobody(url) || course.now().admit(url),
            Wanted::Page { request, before } => {
                // Redirects are held to what the first request was held to.
                let known = course.under_way.iter().position(|it| it.request == before);
                let known = known.and_then(|place| course.under_way.remove(place));
                let bounds = known.map_or_else(|| Arc::clone(course.now()), |it| it.bounds);
                if !reaches_nobody(url) && !bounds.admit(url) {
                    return false;
                }
                if course.under_way.len() == MOST_UNDER_WAY {
                    course.under_way.pop_front();
                }
                let (request, url) = (request.to_owned(), without_fragment(url));
                course.under_way.push_back(Admitted { request, url, bounds });
                true
            }
        }
    }

    /// A tab shows a document. False for one that was never asked for and may not be shown.
    pub(super) fn arrive(&mut self, tab: &str, url: &Url) -> bool {
        let Some(course) = self.tabs.get_mut(tab) else { return false };
        if reaches_nobody(url) {
            return true;
        }
        let url = &without_fragment(url);
        let place = course.under_way.iter().rposition(|it| it.url == *url);
        let asked = place.and_then(|place| course.under_way.remove(place));
        course.standing = match asked {
            Some(Admitted { bounds, .. }) => bounds,
            None if course.now().admit(url) => Arc::clone(course.now()),
            None => return false,
        };
        true
    }
}

impl Course {
    fn now(&self) -> &Arc<dyn Bounds> {
        self.lent.as_ref().unwrap_or(&self.standing)
    }
}

/// Blank pages, the browser's own page for what could not be loaded, and what a page made itself.
fn reaches_nobody(url: &Url) -> bool {
    !matches!(url.scheme(), "http" | "https")
}

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

/// Does something when it is dropped.
pub(super) struct Lent<F: FnMut()>(F);

impl<F: FnMut()> Lent<F> {
    pub(super) fn new(end: F) -> Self {
        Self(end)
    }
}

impl<F: FnMut()> Drop for Lent<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<F: FnMut()> fmt::Debug for Lent<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}

/// Of all tabs together.
const MOST_FRAMES: usize = 2048;

/// A tab loads one page at a time; others are given up.
const MOST_UNDER_WAY: usize = 16;
