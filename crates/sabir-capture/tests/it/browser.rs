//! The browser's tools in a real Chromium, against pages on loopback.
//!
//! A machine without Chromium fails these tests. Where that is known,
//! `cargo xtask test --without chromium` says so.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

mod smoke;

use sabir_capture::{Browser, BrowserOptions};

use crate::site::Site;

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";

/// A browser that may reach `site`, and nothing else on this machine. Nothing if this machine is
/// known to have no browser.
#[expect(clippy::print_stdout, reason = "a test that did nothing says so")]
async fn start_with(options: BrowserOptions) -> Option<Browser> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    if without.split(',').any(|name| name == "chromium") {
        println!("no browser here: nothing was tested");
        return None;
    }
    Some(Browser::start(options).await.unwrap())
}

async fn start(site: &Site) -> Option<Browser> {
    start_with(BrowserOptions::new(site.guard())).await
}
