//! The browser's tools in a real Chromium, against pages on loopback.
//!
//! A machine without Chromium fails these tests. Where that is known,
//! `cargo xtask test --without chromium` says so.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]
#![expect(clippy::disallowed_methods, reason = "how tests are told what is missing here")]

mod act;
mod bounds;
mod guard;
mod life;
mod observe;
mod visit;

use std::time::Duration;

use sabir_capture::{
    Browser, BrowserLimits, BrowserOptions, Element, Guard, Observation, ObserveOptions, ToolError,
};

use crate::site::{Pages, Site};

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";

/// A browser that may reach what the options say. Nothing if this machine is known to have none.
#[expect(clippy::print_stdout, reason = "a test that did nothing says so")]
async fn start_with(options: BrowserOptions) -> Option<Browser> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    if without.split(',').any(|name| name == "chromium") {
        println!("no browser here: nothing was tested");
        return None;
    }
    match Browser::start(options).await {
        Ok(browser) => Some(browser),
        Err(error) => panic!("{error}; `--without chromium` leaves these tests out"),
    }
}

/// A browser that may reach `site`, and nothing else on this machine.
async fn start(site: &Site) -> Option<Browser> {
    start_with(patient(site.guard())).await
}

/// Far more time than a browser needs that has a machine to itself.
fn patient(guard: Guard) -> BrowserOptions {
    let limits = BrowserLimits {
        start: Duration::from_secs(120),
        answer: Duration::from_secs(60),
        load: Duration::from_secs(60),
        ..BrowserLimits::default()
    };
    BrowserOptions { limits, ..BrowserOptions::new(guard) }
}

/// A site of one page, and a browser that looks at it.
async fn open(html: &str) -> Option<(Site, Browser)> {
    let site = Pages::default().html("/", html).serve().await;
    let mut browser = start(&site).await?;
    browser.navigate(&site.url("/")).await.unwrap();
    Some((site, browser))
}

async fn look(browser: &mut Browser) -> Observation {
    browser.observe(&ObserveOptions::default()).await.unwrap()
}

/// The handle of what shows these words, or is labelled with them.
fn handle(seen: &Observation, words: &str) -> String {
    find(seen, words).handle_id.clone()
}

fn find<'a>(seen: &'a Observation, words: &str) -> &'a Element {
    let is_it = |it: &&Element| it.text == words || it.label.as_deref() == Some(words);
    seen.elements.iter().find(is_it).unwrap_or_else(|| panic!("no {words:?} in {seen:#?}"))
}

fn code<T>(result: Result<T, ToolError>) -> &'static str {
    result.map_or_else(|error| error.code.as_str(), |_| "done")
}
