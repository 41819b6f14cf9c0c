//! How a browser starts and ends.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]
#![expect(clippy::disallowed_methods, reason = "what is left of a process stands in /proc")]

use std::path::{Path, PathBuf};

use sabir_capture::{Browser, BrowserError, BrowserLimits, BrowserOptions, Guard, Rules};
use std::time::Duration;

use super::{code, handle, look, open};
use crate::site::{LEAK, Pages};

/// The processes of a group that are still at work.
fn living(group: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = rest.split(' ').collect();
        if fields.get(2) == Some(&group.to_string().as_str()) && fields[0] != "Z" {
            found.push(stat);
        }
    }
    found
}

fn profile_of(pid: u32) -> PathBuf {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    let all = line.split('\0').find_map(|it| it.strip_prefix("--user-data-dir="));
    Path::new(all.unwrap()).to_owned()
}

/// LC-B25: nothing is left, no process and no file.
#[tokio::test]
async fn nothing_is_left_behind() {
    let Some((_site, browser)) = open("<p>x</p>").await else { return };
    let group = browser.process_id();
    let profile = profile_of(group);
    assert!(!living(group).is_empty() && profile.exists());
    browser.close();
    while !living(group).is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(!profile.exists());
}

/// LC-B26: no debugging port, no way for others through the proxy, no secrets in the environment.
#[tokio::test]
async fn nobody_else_gets_in() {
    let Some((site, mut browser)) = open("<p>x</p>").await else { return };
    let pid = browser.process_id();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    assert!(line.contains("--remote-debugging-pipe") && !line.contains("--remote-debugging-port"));
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("CARGO_MANIFEST_DIR"));

    let proxy = line.split('\0').find_map(|it| it.strip_prefix("--proxy-server=")).unwrap();
    let proxy = proxy.strip_prefix("http://").unwrap();
    for credentials in ["", "Proxy-Authorization: Basic c2FiaXI6eA==\r\n"] {
        for head in [
            format!("GET {} HTTP/1.1", site.url("/")),
            "CONNECT example.com:443 HTTP/1.1".to_owned(),
        ] {
            let answer = ask(proxy, &format!("{head}\r\nhost: x\r\n{credentials}\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
        }
    }
    assert_eq!(site.asked().iter().filter(|path| *path == "/").count(), 1);
    look(&mut browser).await;
    assert!(!site.asked().contains(&LEAK.to_owned()));
}

async fn ask(address: &str, head: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 1000];
    let count = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

/// LC-B27: a browser that dies is noticed.
#[tokio::test]
async fn death_is_noticed() {
    let Some((site, mut browser)) = open("<p>x</p>").await else { return };
    let pid = rustix::process::Pid::from_raw(i32::try_from(browser.process_id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    while browser.is_running() {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(browser.navigate(&site.url("/")).await), "RUNTIME_UNAVAILABLE");
    assert_eq!(code(browser.observe(&Default::default()).await), "RUNTIME_UNAVAILABLE");
}

/// LC-B28: a page that never answers does not hold us, and another one can be opened.
#[tokio::test]
async fn a_page_that_hangs_is_left() {
    let site = Pages::default()
        .html("/", "<button onclick='for (;;) {}'>hang</button>")
        .html("/fine", "<title>fine</title>")
        .serve()
        .await;
    let limits = BrowserLimits {
        answer: Duration::from_secs(3),
        load: Duration::from_secs(5),
        ..super::patient(site.guard()).limits
    };
    let options = BrowserOptions { limits, ..super::patient(site.guard()) };
    let Some(mut browser) = super::start_with(options).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    let hang = handle(&look(&mut browser).await, "hang");
    assert_eq!(code(browser.click(&hang).await), "RUNTIME_UNAVAILABLE");
    assert_eq!(browser.open_tab(&site.url("/fine")).await.unwrap().title, "fine");
}

/// LC-B28: a page that hangs from its first line on holds its tab, so that the next page gets another.
#[tokio::test]
async fn a_page_that_hangs_does_not_keep_its_tab() {
    let site = Pages::default()
        .html("/", "<title>hang</title><script>for (;;) {}</script>")
        .html("/fine", "<title>fine</title>")
        .serve()
        .await;
    let limits = BrowserLimits {
        answer: Duration::from_secs(3),
        load: Duration::from_secs(5),
        ..super::patient(site.guard()).limits
    };
    let options = BrowserOptions { limits, ..super::patient(site.guard()) };
    let Some(mut browser) = super::start_with(options).await else { return };
    assert_ne!(code(browser.navigate(&site.url("/")).await), "done");
    let acted = browser.navigate(&site.url("/fine")).await.unwrap();
    assert_eq!((acted.title.as_str(), acted.is_new_tab), ("fine", true));
    assert_eq!(browser.tabs().iter().filter(|tab| tab.is_active).count(), 1);
    assert_eq!(browser.refresh().await.unwrap().title, "fine");
}

#[tokio::test]
async fn a_page_that_goes_on_loading_is_used_as_it_is() {
    let slow = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = slow.local_addr().unwrap();
    let site = Pages::default()
        .html("/", format!("<title>slow</title><p>words</p><img src=http://{address}/>"))
        .serve()
        .await;
    let guard =
        Guard::new(Rules { allow: vec![site.rule(), address.to_string().parse().unwrap()] });
    let limits =
        BrowserLimits { load: Duration::from_secs(2), ..super::patient(site.guard()).limits };
    let options = BrowserOptions { limits, ..super::patient(guard) };
    let Some(mut browser) = super::start_with(options).await else { return };
    let acted = browser.navigate(&site.url("/")).await.unwrap();
    assert!(!acted.is_loaded);
    assert_eq!(look(&mut browser).await.text, "words");
}

#[tokio::test]
async fn a_program_that_is_no_browser_does_not_start() {
    let guard = Guard::new(Rules::default());
    for program in ["/no/such/program", "/bin/true"] {
        let program = Some(PathBuf::from(program));
        let options = BrowserOptions { program, ..super::patient(guard.clone()) };
        let error = Browser::start(options).await.unwrap_err();
        assert!(matches!(error, BrowserError::NotStarted { .. }), "{error}");
    }
}

/// LC-B29: a document of our own is shown in a tab, where no script runs and nothing is loaded.
#[tokio::test]
async fn a_document_of_ours_is_shown() {
    let Some((site, mut browser)) = open("<p>a page").await else { return };
    let picture = site.url("/picture");
    let html = format!(
        "<h1>Shown</h1><img src=\"{picture}\"><p id=p>still</p>\
         <script>document.getElementById('p').textContent = 'changed'</script>"
    );
    browser.show("A <b>title</b>", &html).await.unwrap();
    let seen = look(&mut browser).await;
    assert_eq!(seen.title, "A <b>title</b>");
    assert_eq!(seen.text, "Shown\nstill");
}
