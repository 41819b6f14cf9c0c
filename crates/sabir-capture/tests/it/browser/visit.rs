//! Tools that lead to other pages.

use sabir_capture::{BrowserOptions, Guard, Notice, Rules, SearchEngines, SearchIn};
use url::Url;

use super::{code, handle, look, start, start_with};
use crate::site::Pages;

fn three() -> Pages {
    let page = |title: &str, next: &str| format!("<title>{title}</title><a href={next}>on</a>");
    Pages::default()
        .html("/1", page("one", "/2"))
        .html("/2", page("two", "/3"))
        .html("/3", page("three", "/1"))
        .redirect("/moved", "/2")
}

/// LC-B18: there and back again.
#[tokio::test]
async fn history_is_travelled() {
    let site = three().serve().await;
    let Some(mut browser) = start(&site).await else { return };
    for (first, expected) in [
        (code(look_at(&mut browser).await), "NO_ACTIVE_TAB"),
        (code(browser.back().await), "NO_ACTIVE_TAB"),
        (code(browser.refresh().await), "NO_ACTIVE_TAB"),
        (code(browser.scroll(1.0).await), "NO_ACTIVE_TAB"),
        (code(browser.content().await), "NO_ACTIVE_TAB"),
        (code(browser.click("h1").await), "NO_ACTIVE_TAB"),
    ] {
        assert_eq!(first, expected);
    }
    let acted = browser.navigate(&site.url("/1")).await.unwrap();
    assert_eq!((acted.title.as_str(), acted.status, acted.is_new_tab), ("one", Some(200), true));
    assert_eq!(code(browser.back().await), "BACK_FAILED");
    assert_eq!(code(browser.forward().await), "FORWARD_FAILED");
    let acted = browser.navigate(&site.url("/moved")).await.unwrap();
    assert_eq!((acted.url.as_str(), acted.is_new_tab), (site.url("/2").as_str(), false));
    assert_eq!(browser.back().await.unwrap().title, "one");
    assert_eq!(browser.forward().await.unwrap().title, "two");
    let acted = browser.refresh().await.unwrap();
    assert_eq!((acted.title.as_str(), acted.is_new_document), ("two", true));
    let acted = browser.navigate(&site.url("/missing")).await.unwrap();
    assert_eq!(acted.status, Some(404));
    let acted = browser.navigate(&site.url("/missing#part")).await.unwrap();
    assert!(!acted.is_new_document);
}

async fn look_at(
    browser: &mut sabir_capture::Browser,
) -> Result<sabir_capture::Observation, sabir_capture::ToolError> {
    browser.observe(&sabir_capture::ObserveOptions::default()).await
}

/// LC-B19: tabs, those that pages open among them.
#[tokio::test]
async fn tabs_are_kept() {
    let html = "<title>opener</title><a href=/2 target=_blank>new tab</a>\
        <button onclick=\"window.open('').document.write('<title>written</title>')\">blank</button>\
        <button onclick=\"for (let i = 0; i < 40; i += 1) window.open('/3')\">many</button>";
    let site = three().html("/", html).serve().await;
    let Some(mut browser) = start(&site).await else { return };
    let first = browser.open_tab(&site.url("/")).await.unwrap();
    let link = handle(&look(&mut browser).await, "new tab");
    let acted = browser.click(&link).await.unwrap();
    assert!(acted.is_new_tab && acted.is_new_document);
    assert_eq!((acted.title.as_str(), acted.tab != first.tab), ("two", true));
    assert_eq!(look(&mut browser).await.title, "two");
    let listed: Vec<_> = browser.tabs().into_iter().map(|it| (it.url, it.is_active)).collect();
    let urls = [site.url("/").to_string(), site.url("/2").to_string()];
    assert_eq!(listed, [(urls[0].clone(), false), (urls[1].clone(), true)]);
    browser.activate(&first.tab).await.unwrap();
    let blank = handle(&look(&mut browser).await, "blank");
    let acted = browser.click(&blank).await.unwrap();
    assert_eq!((acted.title.as_str(), acted.is_new_tab), ("written", true));
    browser.activate(&first.tab).await.unwrap();
    let seen = look(&mut browser).await;
    assert_eq!(seen.title, "opener");
    assert_eq!(code(browser.activate("nobody").await), "NO_TARGET_TAB");
    browser.click(&handle(&seen, "many")).await.unwrap();
    assert!(browser.tabs().len() <= 16, "{}", browser.tabs().len());
}

/// LC-B20: addresses are judged before anything is asked.
#[tokio::test]
async fn bad_addresses_are_not_visited() {
    let site = three().redirect("/inside", "http://10.0.0.1/").serve().await;
    let Some(mut browser) = start(&site).await else { return };
    browser.navigate(&site.url("/1")).await.unwrap();
    for (address, expected) in [
        ("file:///etc/passwd", "INVALID_URL"),
        ("chrome://version/", "INVALID_URL"),
        ("javascript:alert(1)", "INVALID_URL"),
        ("data:text/html,x", "INVALID_URL"),
        ("about:blank", "INVALID_URL"),
        ("http://user:pw@example.com/", "INVALID_URL"),
        ("http://127.0.0.1:1/", "NAVIGATION_FAILED"),
        ("http://169.254.169.254/", "NAVIGATION_FAILED"),
        (site.url("/inside").as_str(), "NAVIGATION_FAILED"),
    ] {
        let url = Url::parse(address).unwrap();
        let error = browser.navigate(&url).await.unwrap_err();
        assert_eq!(error.code.as_str(), expected, "{address}: {error}");
        assert!(error.refused.is_some(), "{address}: {error}");
        let error = browser.open_tab(&url).await.unwrap_err();
        let expected = expected.replace("NAVIGATION", "OPEN_TAB");
        assert_eq!(error.code.as_str(), expected, "{address}: {error}");
    }
}

/// LC-B21: search engines by name.
#[tokio::test]
async fn engines_are_asked() {
    let site = Pages::default().html("/find", "<title>found</title>").serve().await;
    let engines = SearchEngines::default()
        .with("ours", &format!("{}?q={{query}}", site.url("/find")))
        .with("broken", "http://10.0.0.1/{query}")
        .with_default("ours");
    let options = BrowserOptions { engines, ..super::patient(site.guard()) };
    let Some(mut browser) = start_with(options).await else { return };
    let acted = browser.search("two words & more", None, SearchIn::SameTab).await.unwrap();
    assert_eq!(Url::parse(&acted.url).unwrap().query(), Some("q=two+words+%26+more"));
    let acted = browser.search("x", Some("ours"), SearchIn::NewTab).await.unwrap();
    assert!(acted.is_new_tab);
    assert_eq!(browser.tabs().len(), 2);
    for (query, engine, expected) in [
        ("x", Some("nobody"), "SEARCH_UNAVAILABLE"),
        ("x", Some("broken"), "SEARCH_FAILED"),
        ("  ", None, "INVALID_ARGUMENTS"),
    ] {
        assert_eq!(code(browser.search(query, engine, SearchIn::SameTab).await), expected);
    }
}

/// A click that leads where the guard does not let it is told.
#[tokio::test]
async fn a_link_to_a_refused_place_leads_nowhere() {
    let site = Pages::default().html("/", "<a href=http://192.168.0.1/>router</a>").serve().await;
    let Some(mut browser) = start(&site).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    let link = handle(&look(&mut browser).await, "router");
    let acted = browser.click(&link).await.unwrap();
    let is_told = |notice: &Notice| matches!(notice, Notice::Refused { host, code, .. } if host == "192.168.0.1" && code == "private");
    assert!(acted.notices.iter().any(is_told), "{acted:?}");
}

/// A server that is not there is an error, not a page.
#[tokio::test]
async fn nobody_at_home() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let guard = Guard::new(Rules { allow: vec![address.to_string().parse().unwrap()] });
    let Some(mut browser) = start_with(super::patient(guard)).await else { return };
    for scheme in ["http", "https"] {
        let url = Url::parse(&format!("{scheme}://{address}/")).unwrap();
        let error = browser.navigate(&url).await.unwrap_err();
        assert!(error.refused.is_none(), "{error}");
        assert!(matches!(error.code.as_str(), "OPEN_TAB_FAILED" | "NAVIGATION_FAILED"), "{error}");
    }
}
