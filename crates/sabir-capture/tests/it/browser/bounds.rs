//! How far a page leads: no further than the call that opened it, while the call runs and after.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sabir_capture::{Bounds, Browser, BrowserLimits, BrowserOptions, Guard, Notice, Rules};
use url::Url;

use super::{code, handle, look, start_with};
use crate::site::{Pages, Site};

/// One host, and a list of what else was wanted.
#[derive(Debug)]
struct Only(&'static str, Mutex<Vec<String>>);

impl Only {
    fn new(host: &'static str) -> Arc<Self> {
        Arc::new(Self(host, Mutex::default()))
    }

    fn refused(&self) -> Vec<String> {
        self.1.lock().unwrap().clone()
    }
}

impl Bounds for Only {
    fn admit(&self, url: &Url) -> bool {
        let is_here = url.host_str() == Some(self.0);
        if !is_here {
            self.1.lock().unwrap().push(url.host_str().unwrap_or_default().to_owned());
        }
        is_here
    }
}

const HERE: &str = "127.0.0.1";
const THERE: &str = "localhost";

/// The same server by another name.
fn there(site: &Site, path: &str) -> Url {
    format!("http://{THERE}:{}{path}", site.port()).parse().unwrap()
}

/// `@there` in a page is the other name of its server.
fn site_of(pages: &[(&str, &str)]) -> Pages {
    let mut all = Pages::default()
        .html("/there", "<title>there</title><a href=/more>more</a>")
        .answer("/go", |request| {
            let host = request.headers()["host"].to_str().unwrap().replace(HERE, THERE);
            axum::response::Response::builder()
                .status(302)
                .header("location", format!("http://{host}/there"))
                .body(axum::body::Body::empty())
                .unwrap()
        });
    for (path, html) in pages {
        let html = (*html).to_owned();
        all = all.answer(path, move |request| {
            let host = request.headers()["host"].to_str().unwrap().replace(HERE, THERE);
            axum::response::Response::builder()
                .header("content-type", "text/html; charset=utf-8")
                .body(axum::body::Body::from(html.replace("@there", &format!("http://{host}"))))
                .unwrap()
        });
    }
    all
}

fn both(site: &Site) -> Guard {
    let also = format!("{THERE}:{}", site.port()).parse().unwrap();
    Guard::new(Rules { allow: vec![site.rule(), also] })
}

async fn begin(pages: Pages) -> Option<(Site, Browser)> {
    let site = pages.serve().await;
    let browser = start_with(super::patient(both(&site))).await?;
    Some((site, browser))
}

fn is_held(notices: &[Notice]) -> bool {
    notices.contains(&Notice::Held { host: THERE.to_owned() })
}

/// Looks until the page has tried to leave.
async fn wait_held(browser: &mut Browser) {
    while !is_held(&look(browser).await.notices) {}
}

fn reached(site: &Site, path: &str) -> bool {
    site.asked().iter().any(|it| it == path)
}

/// LC-B30: a redirect, at the first hop and behind others; the tab stays where it was.
#[tokio::test]
async fn a_redirect_elsewhere_is_not_followed() {
    let pages = site_of(&[("/", "<title>first</title>"), ("/fine", "<title>fine</title>")])
        .redirect("/hop", "/go")
        .redirect("/near", "/fine");
    let Some((site, mut browser)) = begin(pages).await else { return };
    let only = Only::new(HERE);
    let mut held = browser.bounded(only.clone());
    held.navigate(&site.url("/")).await.unwrap();
    for path in ["/go", "/hop"] {
        let error = held.navigate(&site.url(path)).await.unwrap_err();
        assert_eq!(error.code.as_str(), "NAVIGATION_FAILED");
        assert!(error.message.contains(THERE), "{error}");
        assert_eq!(look(&mut held).await.title, "first");
    }
    let error = held.open_tab(&site.url("/go")).await.unwrap_err();
    assert!(error.code.as_str() == "OPEN_TAB_FAILED" && error.message.contains(THERE), "{error}");
    assert_eq!(held.navigate(&site.url("/near")).await.unwrap().title, "fine");
    let error = held.navigate(&there(&site, "/there")).await.unwrap_err();
    assert!(error.message.contains(THERE), "{error}");
    assert_eq!(only.refused(), [THERE; 4]);
    assert!(!reached(&site, "/there"));
    drop(held);
    // Another call may go where this one might not.
    let mut other = browser.bounded(Only::new(THERE));
    assert_eq!(other.navigate(&there(&site, "/there")).await.unwrap().title, "there");
}

/// LC-B30: everything by which a page leaves by itself, at once and later, when the call is over.
#[tokio::test]
async fn no_page_leaves_by_itself() {
    let ways = [
        "<meta http-equiv=refresh content='0;url=@there/there'>",
        "<meta http-equiv=refresh content='1;url=@there/there'>",
        "<script>location = '@there/there'</script>",
        "<script>setTimeout(() => location.replace('@there/there'), 300)</script>",
        "<script>setTimeout(() => { location = '/go' }, 300)</script>",
        "<form id=f action='@there/there' method=post><input name=a value=b></form><script>f.submit()</script>",
        "<form id=f action='@there/there'><input name=a value=b></form><script>setTimeout(() => f.submit(), 300)</script>",
        "<a id=a href='@there/there'>x</a><script>a.click()</script>",
        "<a id=a href='@there/there' target=_top>x</a><script>setTimeout(() => a.click(), 300)</script>",
        "<iframe srcdoc=\"<script>top.location = '@there/there'</script>\"></iframe>",
        "<iframe src='@there/there'></iframe>",
        "<iframe src='/go'></iframe>",
        "<iframe src='/leaves'></iframe>",
        "<iframe name=f></iframe><form id=g action='@there/there' target=f method=post></form><script>g.submit()</script>",
        "<object data='@there/there' type='text/html'></object>",
        "<embed src='@there/there' type='text/html'>",
        "<script>navigation.navigate('@there/there')</script>",
        "<script>window.open('@there/there', '_self')</script>",
        "<script>document.write('<meta http-equiv=refresh content=\"0;url=@there/there\">')</script>",
        "<script>const w = document.createElement('iframe'); document.documentElement.append(w);\
         setTimeout(() => { w.contentWindow.location = '@there/there' }, 100)</script>",
        "<script>location = URL.createObjectURL(new Blob(['<script>location = \"@there/there\"<\\/script>'], { type: 'text/html' }))</script>",
    ];
    let mut all: Vec<(String, String)> = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        all.push((format!("/{number}"), format!("<title>here</title><p>words</p>{way}")));
    }
    all.push(("/leaves".to_owned(), "<script>location = '@there/there'</script>".to_owned()));
    let pages: Vec<(&str, &str)> =
        all.iter().map(|(path, html)| (path.as_str(), html.as_str())).collect();
    let Some((site, mut browser)) = begin(site_of(&pages)).await else { return };
    for (number, way) in ways.iter().enumerate() {
        let only = Only::new(HERE);
        let opened = browser.bounded(only.clone()).navigate(&site.url(&format!("/{number}"))).await;
        let acted = opened.unwrap_or_else(|error| panic!("{way}: {error}"));
        if !is_held(&acted.notices) {
            let waited = tokio::time::timeout(Duration::from_secs(60), wait_held(&mut browser));
            assert!(waited.await.is_ok(), "{way}");
        }
        assert!(!only.refused().is_empty(), "{way}");
        assert!(!reached(&site, "/there"), "{way}");
    }
}

/// LC-B30: what opens a tab is held to what its opener is held to, from wherever in the page.
#[tokio::test]
async fn new_tabs_lead_no_further() {
    let pages = site_of(&[
        (
            "/",
            "<title>here</title><button onclick=\"window.open('@there/there')\">open</button>\
             <a href='@there/there' target=_blank>link</a>\
             <a href='@there/there' target=_blank rel='noopener noreferrer'>quiet</a>\
             <button onclick=\"window.open('/go')\">led</button>\
             <button onclick=\"const w = window.open(''); w.location = '@there/there'\">later</button>\
             <button onclick=\"window.open('/near')\">near</button>\
             <button onclick=\"window.open('/slow')\">slow</button>",
        ),
        ("/near", "<title>near</title>"),
        (
            "/slow",
            "<title>slow</title><script>setTimeout(() => { location = '@there/there' }, 500)</script>",
        ),
    ]);
    let Some((site, mut browser)) = begin(pages).await else { return };
    let only = Only::new(HERE);
    let first = browser.bounded(only.clone()).navigate(&site.url("/")).await.unwrap();
    for words in ["open", "link", "quiet", "led", "later"] {
        let it = handle(&look(&mut browser).await, words);
        let error = browser.bounded(only.clone()).click(&it).await.unwrap_err();
        assert!(error.message.contains(THERE), "{words}: {error}");
        assert_eq!(browser.tabs().len(), 1, "{words}");
    }
    let near = handle(&look(&mut browser).await, "near");
    assert_eq!(browser.bounded(only.clone()).click(&near).await.unwrap().title, "near");
    browser.activate(&first.tab).await.unwrap();
    let slow = handle(&look(&mut browser).await, "slow");
    assert_eq!(browser.bounded(only.clone()).click(&slow).await.unwrap().title, "slow");
    wait_held(&mut browser).await;
    assert!(!reached(&site, "/there"));
}

/// LC-B31: a click goes as far as the click may, and what it leads to stays held to that.
#[tokio::test]
async fn a_click_has_bounds_of_its_own() {
    let pages = site_of(&[
        (
            "/",
            "<title>here</title><a href='@there/there'>link</a>\
             <button onclick=\"location = '@there/there'\">script</button>\
             <form action='@there/there' method=post><button>form</button></form>\
             <select aria-label=pick onchange=\"location = '@there/there'\"><option>a<option>b</select>\
             <input aria-label=field oninput=\"location = '@there/there'\">",
        ),
        (
            "/more",
            "<title>more</title><script>setTimeout(() => { location = 'http://127.0.0.1:' + location.port + '/back' }, 300)</script>",
        ),
    ]);
    let Some((site, mut browser)) = begin(pages).await else { return };
    let only = Only::new(HERE);
    browser.bounded(only.clone()).navigate(&site.url("/")).await.unwrap();
    for words in ["link", "script", "form"] {
        let it = handle(&look(&mut browser).await, words);
        let error = browser.bounded(only.clone()).click(&it).await.unwrap_err();
        assert_eq!(error.code.as_str(), "NAVIGATION_FAILED", "{words}");
        assert!(error.message.contains(THERE), "{words}: {error}");
    }
    let pick = handle(&look(&mut browser).await, "pick");
    assert_eq!(code(browser.bounded(only.clone()).select(&pick, "b").await), "NAVIGATION_FAILED");
    let field = handle(&look(&mut browser).await, "field");
    let typed = browser.bounded(only.clone()).type_text(&field, "x").await;
    assert_eq!(code(typed), "NAVIGATION_FAILED");
    assert!(!reached(&site, "/there"));

    let wider = Only::new(THERE);
    let it = handle(&look(&mut browser).await, "link");
    assert_eq!(browser.bounded(wider.clone()).click(&it).await.unwrap().title, "there");
    let more = handle(&look(&mut browser).await, "more");
    assert_eq!(browser.bounded(wider.clone()).click(&more).await.unwrap().title, "more");
    while !look(&mut browser).await.notices.contains(&Notice::Held { host: HERE.to_owned() }) {}
    assert_eq!(wider.refused(), [HERE]);
    assert!(!reached(&site, "/back"));
    // History is a way out as well.
    let back = browser.bounded(wider.clone()).back().await;
    assert!(code(back) == "done");
    let error = browser.bounded(wider.clone()).back().await.unwrap_err();
    assert!(error.code.as_str() == "BACK_FAILED" && error.message.contains(HERE), "{error}");
    assert_eq!(browser.page_beside(-1).await, Some(site.url("/")));
    assert_eq!(browser.bounded(only).back().await.unwrap().title, "here");
}

/// LC-B31: a page that comes late is held to the call that asked for it, and so are its redirects.
#[tokio::test]
async fn who_comes_late_is_held_to_the_call_that_asked() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let slow = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = slow.local_addr().unwrap().port();
    let open = Arc::clone(&gate);
    let serving = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        loop {
            let (mut stream, _) = slow.accept().await.unwrap();
            let open = Arc::clone(&open);
            tokio::spawn(async move {
                let mut head = vec![0; 4000];
                let count = stream.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..count]).into_owned();
                let answer = if head.starts_with("GET /late ") {
                    open.acquire().await.unwrap().forget();
                    format!(
                        "HTTP/1.1 302 Found\r\nlocation: http://{HERE}:{port}/end\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    )
                } else {
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 19\r\nconnection: close\r\n\r\n<title>end</title>\n".to_owned()
                };
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    let site = site_of(&[(
        "/",
        &format!("<title>here</title><a href=http://{THERE}:{port}/late>late</a>"),
    )])
    .serve()
    .await;
    let mut allow = vec![site.rule()];
    for host in [HERE, THERE] {
        allow.push(format!("{host}:{port}").parse().unwrap());
    }
    let guard = Guard::new(Rules { allow });
    let limits = BrowserLimits {
        load: Duration::from_secs(2),
        answer: Duration::from_secs(3),
        ..super::patient(guard.clone()).limits
    };
    let options = BrowserOptions { limits, ..super::patient(guard) };
    let Some(mut browser) = start_with(options).await else { return };
    browser.bounded(Only::new(HERE)).navigate(&site.url("/")).await.unwrap();
    let late = handle(&look(&mut browser).await, "late");
    let wider = Only::new(THERE);
    // A browser does not let us ask a page that is about to go.
    assert_ne!(code(browser.bounded(wider.clone()).click(&late).await), "done");
    // The page may be here; the click that asks for it may not.
    gate.add_permits(1);
    while wider.refused().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    while !look(&mut browser).await.notices.contains(&Notice::Held { host: HERE.to_owned() }) {}
    assert_eq!(wider.refused(), [HERE]);
    assert_eq!(look(&mut browser).await.title, "here");
    serving.abort();
}

/// LC-B30: several calls of several browsers at once do not mix up their bounds, and a call that is
/// given up leaves none behind.
#[tokio::test]
async fn bounds_end_with_their_call() {
    let pages = site_of(&[
        ("/", "<title>here</title><a href='@there/there'>link</a>"),
        (
            "/timer",
            "<title>timer</title><script>setInterval(() => { location = '@there/there' }, 50)</script>",
        ),
    ]);
    let Some((site, mut browser)) = begin(pages).await else { return };
    let only = Only::new(HERE);
    browser.bounded(only.clone()).navigate(&site.url("/timer")).await.unwrap();
    {
        let mut wide = browser.bounded(Only::new(THERE));
        let url = there(&site, "/there");
        // Dropped before it has begun to wait for the page.
        let given_up = tokio::time::timeout(Duration::ZERO, wide.open_tab(&url));
        assert!(given_up.await.is_err());
    }
    wait_held(&mut browser).await;
    assert_eq!(look(&mut browser).await.title, "timer");
    assert!(!only.refused().is_empty());
}

/// LC-B30: a worker of another page, and what was fetched ahead, are no way around.
#[tokio::test]
async fn nothing_is_shown_that_was_not_asked_for() {
    let worker = "onfetch = (event) => event.respondWith(new Response('<title>made up</title>',\
         { headers: { 'content-type': 'text/html' } }));\
         oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim())";
    let pages = site_of(&[
        (
            "/install",
            "<title>install</title><p id=out>...</p><script>navigator.serviceWorker.register('/worker.js')\
             .then(() => navigator.serviceWorker.ready).then(() => { out.textContent = 'installed' },\
             (error) => { out.textContent = 'no worker: ' + error })</script>",
        ),
        (
            "/ahead",
            "<title>ahead</title><link rel=prefetch href='@there/ahead-there' as=document>\
             <script type=speculationrules>{ \"prefetch\": [{ \"source\": \"list\", \"eagerness\": \"immediate\",\
              \"urls\": [\"@there/ahead-there\"] }], \"prerender\": [{ \"source\": \"list\", \"eagerness\": \"immediate\",\
              \"urls\": [\"@there/ahead-there\"] }] }</script>\
             <script>setTimeout(() => { location = '@there/ahead-there' }, 1500)</script>",
        ),
        ("/", "<title>here</title><script>location = '@there/made-up'</script>"),
    ])
    .answer("/worker.js", move |_| {
        axum::response::Response::builder()
            .header("content-type", "text/javascript")
            .body(axum::body::Body::from(worker))
            .unwrap()
    });
    let Some((site, mut browser)) = begin(pages).await else { return };
    let wide = Only::new(THERE);
    browser.bounded(wide.clone()).navigate(&there(&site, "/install")).await.unwrap();
    while look(&mut browser).await.text == "..." {}
    assert_eq!(look(&mut browser).await.text, "installed");
    for path in ["/", "/ahead"] {
        let only = Only::new(HERE);
        let acted = browser.bounded(only.clone()).navigate(&site.url(path)).await.unwrap();
        if !is_held(&acted.notices) {
            wait_held(&mut browser).await;
        }
        assert_ne!(look(&mut browser).await.title, "made up", "{path}");
        assert_eq!(only.refused(), [THERE], "{path}");
    }
    assert!(!reached(&site, "/made-up"));
}

/// LC-B27, LC-B30: a browser that dies in the middle of a redirect is noticed at once.
#[tokio::test]
async fn a_browser_may_die_on_the_way() {
    let pid = Arc::new(Mutex::new(None));
    let victim = Arc::clone(&pid);
    let pages = site_of(&[]).answer("/last", move |_| {
        let pid: u32 = victim.lock().unwrap().unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        axum::response::Response::builder()
            .status(302)
            .header("location", "/go")
            .body(axum::body::Body::empty())
            .unwrap()
    });
    let Some((site, mut browser)) = begin(pages).await else { return };
    *pid.lock().unwrap() = Some(browser.process_id());
    let led = browser.bounded(Only::new(HERE)).navigate(&site.url("/last")).await;
    assert_ne!(code(led), "done");
    while browser.is_running() {
        tokio::task::yield_now().await;
    }
    let next = browser.bounded(Only::new(HERE)).navigate(&site.url("/last")).await;
    assert_eq!(code(next), "RUNTIME_UNAVAILABLE");
    assert!(!reached(&site, "/there"));
}
