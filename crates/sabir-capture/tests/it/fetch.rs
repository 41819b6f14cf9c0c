//! Fetching, from servers on loopback that a rule lets through.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use futures_util::StreamExt;
use sabir_capture::{
    Conditional, FetchError, FetchLimits, Fetched, Fetcher, Guard, HostPort, Rules,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::egress::Scripted;
use crate::site::{Pages, Site};

fn small() -> FetchLimits {
    FetchLimits { bytes: 100_000, whole: Duration::from_secs(30), ..FetchLimits::default() }
}

async fn fetch(site: &Site, path: &str) -> Result<Fetched, FetchError> {
    fetch_within(site, path, small()).await
}

async fn fetch_within(site: &Site, path: &str, limits: FetchLimits) -> Result<Fetched, FetchError> {
    Fetcher::new(site.guard(), limits).fetch(&site.url(path), &Conditional::default()).await
}

fn code(result: Result<Fetched, FetchError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "fetched")
}

fn packed(packing: &'static str, bytes: Vec<u8>) -> impl Fn(&Request) -> Response {
    move |_| {
        let response = Response::builder().header("content-encoding", packing);
        response.body(Body::from(bytes.clone())).unwrap()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// LC-E12: what is asked for, and what comes back.
#[tokio::test]
async fn a_page_comes_with_what_its_headers_say() {
    let site = Pages::default()
        .answer("/page", |request| {
            let header = |name: &str| request.headers().get(name).map(|it| it.to_str().unwrap());
            assert!(header("user-agent").unwrap().starts_with("sabir/"));
            assert!(header("accept").unwrap().starts_with("text/markdown, text/html"));
            assert_eq!(
                (header("cookie"), header("referer"), header("authorization")),
                (None, None, None)
            );
            Response::builder()
                .header("content-type", "text/html; charset=utf-8")
                .header("etag", "\"1\"")
                .header("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")
                .header("set-cookie", "a=b")
                .body(Body::from("hello"))
                .unwrap()
        })
        .redirect("/old", "/older")
        .redirect("/older", "page")
        .serve()
        .await;
    let fetched = fetch(&site, "/old").await.unwrap();
    assert_eq!(fetched.url, site.url("/page"));
    assert_eq!(fetched.redirects, [site.url("/old"), site.url("/older")]);
    assert_eq!((fetched.status, &fetched.bytes[..]), (200, &b"hello"[..]));
    assert_eq!(fetched.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!(fetched.etag.as_deref(), Some("\"1\""));
    assert_eq!(fetched.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
}

#[tokio::test]
async fn what_has_not_changed_does_not_come_again() {
    let site = Pages::default()
        .answer("/page", |request| {
            let known = request.headers().get("if-none-match").is_some_and(|it| it == "\"1\"");
            let since = request.headers().contains_key("if-modified-since");
            let status = if known && since { 304 } else { 200 };
            Response::builder().status(status).header("etag", "\"1\"").body(Body::empty()).unwrap()
        })
        .serve()
        .await;
    let fetcher = Fetcher::new(site.guard(), small());
    let known = Conditional {
        etag: Some("\"1\"".to_owned()),
        last_modified: Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
    };
    let fetched = fetcher.fetch(&site.url("/page"), &known).await.unwrap();
    assert!(fetched.is_unchanged() && fetched.bytes.is_empty());
    // What is not fit for a header is not sent.
    let bad = Conditional { etag: Some("\"1\"\r\nx: y".to_owned()), ..known };
    assert!(!fetcher.fetch(&site.url("/page"), &bad).await.unwrap().is_unchanged());
}

/// LC-E13: each redirect is judged like the first address, and refused ones are not asked.
#[tokio::test]
async fn redirects_are_judged_again() {
    let other = Pages::default().html("/", "secret").serve().await;
    let refused = [
        (format!("http://127.0.0.1:{}/", other.port()), "loopback"),
        (format!("http://localhost:{}/", other.port()), "loopback"),
        (format!("http://2130706433:{}/", other.port()), "loopback"),
        (format!("//[::ffff:127.0.0.1]:{}/", other.port()), "loopback"),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "metadata"),
        ("http://metadata.google.internal/".to_owned(), "metadata"),
        ("http://10.0.0.1/".to_owned(), "private"),
        ("http://[fd00::1]/".to_owned(), "unique_local"),
        ("http://user:pw@example.com/".to_owned(), "userinfo"),
        ("file:///etc/passwd".to_owned(), "scheme"),
        ("javascript:alert(1)".to_owned(), "scheme"),
        ("http://[::1".to_owned(), "bad_redirect"),
    ];
    for (to, expected) in refused {
        let pages = Pages::default().redirect("/go", "/again").redirect("/again", &to);
        let site = pages.serve().await;
        assert_eq!(code(fetch(&site, "/go").await), expected, "{to}");
        assert_eq!(site.asked(), ["/go", "/again"]);
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn redirects_are_counted() {
    let site = Pages::default()
        .redirect("/0", "/1")
        .redirect("/1", "/2")
        .html("/2", "end")
        .redirect("/round", "/round")
        .answer("/nowhere", |_| Response::builder().status(302).body(Body::empty()).unwrap())
        .serve()
        .await;
    let limits = FetchLimits { redirects: 2, ..small() };
    assert_eq!(code(fetch_within(&site, "/0", limits).await), "fetched");
    let limits = FetchLimits { redirects: 1, ..small() };
    assert_eq!(code(fetch_within(&site, "/0", limits).await), "too_many_redirects");
    assert_eq!(code(fetch(&site, "/round").await), "too_many_redirects");
    assert_eq!(code(fetch(&site, "/nowhere").await), "bad_redirect");
    let asked = site.asked().iter().filter(|path| *path == "/round").count();
    assert_eq!(asked, 6);
}

/// LC-E14: the connection goes to the address that was judged, whatever the name means by then.
#[tokio::test]
async fn a_name_that_changes_its_mind_is_not_followed() {
    let site = Pages::default().html("/", "here").redirect("/go", "/").serve().await;
    let rule: HostPort = format!("site.example:{}", site.port()).parse().unwrap();
    let url =
        |path: &str| Url::parse(&format!("http://site.example.:{}{path}", site.port())).unwrap();

    // By a rule the name may mean loopback; it is asked once a hop.
    let resolver = Scripted::new(&[&["127.0.0.1"], &["127.0.0.1"], &["10.0.0.1"]]);
    let guard = Guard::with_resolver(Rules { allow: vec![rule] }, Arc::clone(&resolver) as _);
    let fetcher = Fetcher::new(guard, small());
    let fetched = fetcher.fetch(&url("/go"), &Conditional::default()).await.unwrap();
    assert_eq!((fetched.bytes.as_slice(), resolver.left()), (&b"here"[..], 1));
    assert_eq!(fetched.url.host_str(), Some("site.example"));

    // Without one, an answer with a private address in it is refused, also at the second hop.
    for answers in [&[&["127.0.0.1"][..]][..], &[&["8.8.8.8", "127.0.0.1"]]] {
        let guard = Guard::with_resolver(Rules::default(), Scripted::new(answers));
        let fetcher = Fetcher::new(guard, small());
        assert_eq!(code(fetcher.fetch(&url("/"), &Conditional::default()).await), "loopback");
    }
    assert_eq!(site.asked(), ["/go", "/"]);
}

/// Stays where it began.
#[derive(Debug)]
struct Home;

impl sabir_capture::Redirects for Home {
    fn follows(&self, first: &str, next: &str) -> bool {
        first == next
    }
}

/// LC-E18, LC-E19: a redirect to a denied host, or to one that was not allowed, is not followed.
#[tokio::test]
async fn redirects_lead_to_no_host_that_is_denied_or_was_not_meant() {
    let site = Pages::default()
        .html("/", "here")
        .redirect("/here", "/")
        .answer("/go", |request: &Request| {
            let host = request.headers()["host"].to_str().unwrap();
            let port = host.rsplit(':').next().unwrap();
            let location = format!("http://localhost:{port}/");
            Response::builder()
                .status(302)
                .header("location", location)
                .body(Body::empty())
                .unwrap()
        })
        .serve()
        .await;
    let guard = || {
        let other = format!("localhost:{}", site.port()).parse().unwrap();
        Guard::with_resolver(
            Rules { allow: vec![site.rule(), other] },
            Scripted::new(&[&["127.0.0.1"]]),
        )
    };
    let fetch = async |fetcher: Fetcher, path: &str| {
        fetcher.fetch(&site.url(path), &Conditional::default()).await
    };
    let denying = guard().denying(Arc::new(crate::egress::Denied(&["localhost"])));
    assert_eq!(code(fetch(Fetcher::new(denying, small()), "/go").await), "denied");
    let staying = || Fetcher::new(guard(), small()).led_by(Arc::new(Home));
    assert_eq!(code(fetch(staying(), "/go").await), "other_host");
    assert_eq!(site.asked(), ["/go", "/go"]);
    assert!(fetch(staying(), "/here").await.is_ok());
    assert!(fetch(Fetcher::new(guard(), small()), "/go").await.is_ok());
}

/// LC-E15: no more bytes than allowed, packed or unpacked.
#[tokio::test]
async fn sizes_are_bounded() {
    let bomb = gzip(&vec![0; 50_000_000]);
    assert!(bomb.len() < 60_000);
    let twice = gzip(&gzip(b"nested"));
    let mut two_members = gzip(b"one, ");
    two_members.extend(gzip(b"two"));
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(b"zlib").unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::best());
    raw.write_all(b"raw raw raw raw").unwrap();
    let cut = gzip(&vec![b'x'; 10_000])[..20].to_vec();
    let endless = |_: &Request| {
        let chunks =
            futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 1000]));
        Response::new(Body::from_stream(chunks.boxed()))
    };
    let site = Pages::default()
        .answer("/bomb", packed("gzip", bomb))
        .answer("/twice", packed("gzip", twice.clone()))
        .answer("/members", packed("x-gzip", two_members))
        .answer("/zlib", packed("deflate", zlib.finish().unwrap()))
        .answer("/raw", packed("deflate", raw.finish().unwrap()))
        .answer("/cut", packed("gzip", cut))
        .answer("/not", packed("gzip", b"not packed at all".to_vec()))
        .answer("/br", packed("br", b"?".to_vec()))
        .answer("/two", packed("gzip, gzip", twice))
        .answer("/full", packed("identity", vec![b'x'; 100_000]))
        .answer("/over", packed("identity", vec![b'x'; 100_001]))
        .answer("/endless", endless)
        .serve()
        .await;
    for (path, expected) in [
        ("/bomb", "too_large"),
        ("/cut", "packing"),
        ("/not", "packing"),
        ("/br", "packing"),
        ("/two", "packing"),
        ("/full", "fetched"),
        ("/over", "too_large"),
        ("/endless", "too_large"),
    ] {
        assert_eq!(code(fetch(&site, path).await), expected, "{path}");
    }
    assert_eq!(fetch(&site, "/twice").await.unwrap().bytes, gzip(b"nested"));
    assert_eq!(fetch(&site, "/members").await.unwrap().bytes, b"one, two");
    assert_eq!(fetch(&site, "/zlib").await.unwrap().bytes, b"zlib");
    assert_eq!(fetch(&site, "/raw").await.unwrap().bytes, b"raw raw raw raw");
}

/// LC-E16: a server that never ends, or never begins, is left.
#[tokio::test]
async fn times_are_bounded() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 1000]).await;
            // A head, and then nothing; every other one gets not even that.
            if kept.len() % 2 == 0 {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await.unwrap();
            }
            kept.push(stream);
        }
    });
    let guard = Guard::new(Rules { allow: vec![address.to_string().parse().unwrap()] });
    let limits = FetchLimits { whole: Duration::from_millis(300), ..small() };
    let fetcher = Fetcher::new(guard, limits);
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    for _ in 0..2 {
        assert_eq!(code(fetcher.fetch(&url, &Conditional::default()).await), "timed_out");
    }
    serving.abort();
}

#[tokio::test]
async fn a_page_that_does_not_come_whole_is_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1000]).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await.unwrap();
        drop(stream);
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1000]).await;
        stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await.unwrap();
    });
    let guard = Guard::new(Rules { allow: vec![address.to_string().parse().unwrap()] });
    let fetcher = Fetcher::new(guard, small());
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    for _ in 0..2 {
        let error = fetcher.fetch(&url, &Conditional::default()).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("broken", true), "{error}");
    }
    serving.await.unwrap();
    let error = fetcher.fetch(&url, &Conditional::default()).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("connect", true), "{error}");
}

/// LC-E17: whether to try again, and when.
#[tokio::test]
async fn errors_say_whether_to_try_again() {
    let refuse = |status: u16, retry_after: &'static str| {
        move |_: &Request| {
            Response::builder()
                .status(status)
                .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
                .header("retry-after", retry_after)
                .body(Body::from("sorry"))
                .unwrap()
        }
    };
    let site = Pages::default()
        .answer("/busy", refuse(503, "120"))
        .answer("/slow", refuse(429, "Sun, 06 Nov 1994 08:50:37 GMT"))
        .answer("/never", refuse(503, "99999999999"))
        .answer("/ever", refuse(503, "99999999999999999999"))
        .answer("/odd", refuse(500, "soon"))
        .answer("/no", refuse(403, "1"))
        .serve()
        .await;
    for (path, wait, again) in [
        ("/busy", Some(120), true),
        ("/slow", Some(60), true),
        ("/never", Some(86_400), true),
        ("/ever", Some(86_400), true),
        ("/odd", None, true),
        ("/no", Some(1), false),
        ("/missing", None, false),
    ] {
        let error = fetch(&site, path).await.unwrap_err();
        let FetchError::Status { retry_after, .. } = &error else { panic!("{error}") };
        assert_eq!(retry_after.map(|it| it.as_secs()), wait, "{path}");
        assert_eq!(error.is_retryable(), again, "{path}");
    }
    let refused = Fetcher::new(Guard::new(Rules::default()), small());
    let error = refused.fetch(&site.url("/"), &Conditional::default()).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("loopback", false));
}
