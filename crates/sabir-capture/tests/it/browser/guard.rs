//! Nothing that a page does reaches what the guard refuses.

use sabir_capture::{Guard, Notice, Rules};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::{look, start_with};
use crate::site::Pages;

/// LC-B22, LC-B23: images, scripts, styles, fonts, frames, fetches, beacons, sockets, streams,
/// preloads, redirects, workers, forms and peer connections: the other port hears nothing.
#[tokio::test]
async fn no_page_reaches_a_refused_port() {
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = other.local_addr().unwrap().port();
    let udp = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let udp_port = udp.local_addr().unwrap().port();
    let at = format!("127.0.0.1:{port}");
    let html = format!(
        r#"<title>attack</title>
<link rel="dns-prefetch" href="//{at}"><link rel="preconnect" href="http://{at}">
<link rel="prefetch" href="http://{at}/prefetch"><link rel="preload" as="image" href="http://{at}/preload">
<link rel="stylesheet" href="http://{at}/style"><link rel="icon" href="http://{at}/icon">
<style>@import "http://{at}/import"; @font-face {{ font-family: x; src: url(http://{at}/font) }} p {{ font-family: x }}</style>
<p>text</p><img src="http://{at}/image"><img src="http://localhost:{port}/image"><img src="http://[::ffff:127.0.0.1]:{port}/">
<img src="https://{at}/tls"><img src="/redirect"><iframe src="http://{at}/frame"></iframe>
<iframe src="/redirect"></iframe><video src="http://{at}/video"></video><object data="http://{at}/object"></object>
<script src="http://{at}/script"></script><img src="http://169.254.169.254/latest/meta-data/">
<form id="f" action="http://{at}/form" target="frame" method="post"></form><iframe name="frame"></iframe>
<p id="out">...</p>
<script>
const wait = [];
const race = (it) => wait.push(Promise.race([it, new Promise((done) => setTimeout(done, 3000))]));
race(fetch('http://{at}/fetch', {{ mode: 'no-cors' }}).catch(() => 0));
race(fetch('/redirect', {{ mode: 'no-cors' }}).catch(() => 0));
navigator.sendBeacon('http://{at}/beacon', 'x');
for (const address of ['ws://{at}/', 'wss://{at}/']) race(new Promise((done) => {{
  const socket = new WebSocket(address); socket.onerror = socket.onopen = done }}));
race(new Promise((done) => {{ const source = new EventSource('http://{at}/events');
  source.onerror = () => {{ source.close(); done() }} }}));
try {{ const t = new WebTransport('https://{at}/'); race(t.ready.catch(() => 0)) }} catch {{}}
f.submit();
race(new Promise((done) => {{
  const worker = new Worker(URL.createObjectURL(new Blob([
    "fetch('http://{at}/worker', {{ mode: 'no-cors' }}).finally(() => postMessage(1))"])));
  worker.onmessage = done; worker.onerror = done }}));
const peer = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{udp_port}' }},
  {{ urls: 'turn:{at}?transport=tcp', username: 'u', credential: 'c' }}] }});
peer.createDataChannel('x');
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
race(new Promise((done) => {{ peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done() }}));
Promise.all(wait).then(() => {{ out.textContent = 'all tried' }});
</script>"#
    );
    let site = Pages::default()
        .html("/", html)
        .redirect("/redirect", format!("http://{at}/redirected"))
        .html("/fine", "fine")
        .serve()
        .await;
    let Some(mut browser) = start_with(super::patient(site.guard())).await else { return };
    let acted = browser.navigate(&site.url("/")).await.unwrap();
    let mut notices = acted.notices;
    loop {
        let seen = look(&mut browser).await;
        notices.extend(seen.notices);
        if seen.text.contains("all tried") {
            break;
        }
    }
    let refused: Vec<_> = notices
        .iter()
        .filter_map(|notice| match notice {
            Notice::Refused { host, port, code } => Some((host.as_str(), *port, code.as_str())),
            _ => None,
        })
        .collect();
    assert!(refused.contains(&("127.0.0.1", port, "loopback")), "{refused:?}");
    assert!(refused.contains(&("169.254.169.254", 80, "metadata")), "{refused:?}");
    assert!(site.asked().contains(&"/redirect".to_owned()));
    // Whoever had connected would be waiting in line.
    let caller = std::future::poll_fn(|context| match other.poll_accept(context) {
        std::task::Poll::Ready(found) => std::task::Poll::Ready(Some(found)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    });
    if let Some(found) = caller.await {
        let mut head = vec![0; 300];
        let count = found.unwrap().0.read(&mut head).await.unwrap();
        panic!("it was reached: {}", String::from_utf8_lossy(&head[..count]));
    }
    let mut packet = [0; 100];
    assert!(udp.try_recv(&mut packet).is_err(), "a packet came");
}

/// LC-B24: the addresses that were judged are the ones that are used, also by the browser.
#[tokio::test]
async fn names_are_resolved_by_us_alone() {
    let site = Pages::default().html("/", "<title>by name</title>").serve().await;
    let rule = format!("site.example:{}", site.port()).parse().unwrap();
    let answers: &[&[&str]] = &[&["127.0.0.1"][..]; 8];
    let resolver = crate::egress::Scripted::new(answers);
    let guard = Guard::with_resolver(Rules { allow: vec![rule] }, resolver);
    let Some(mut browser) = start_with(super::patient(guard)).await else { return };
    let url = |name: &str| format!("http://{name}:{}/", site.port()).parse().unwrap();
    assert_eq!(browser.navigate(&url("site.example")).await.unwrap().title, "by name");
    let error = browser.navigate(&url("other.example")).await.unwrap_err();
    assert_eq!(error.refused.unwrap().code(), "loopback");
}

/// LC-B22, LC-E18: what a person denies is not reached by a page, a redirect or a call.
#[tokio::test]
async fn a_denied_host_is_reached_by_nothing() {
    let site = Pages::default()
        .answer("/", move |request| {
            let at = request.headers()["host"].to_str().unwrap().replace("127.0.0.1", "localhost");
            let html = format!(
                "<title>page</title><img src='http://{at}/image'><p id=out>...</p><script>\
                 fetch('http://{at}/fetch', {{ mode: 'no-cors' }}).catch(() => 0)\
                 .then(() => {{ out.textContent = 'all tried' }})</script>"
            );
            axum::response::Response::builder()
                .header("content-type", "text/html")
                .body(axum::body::Body::from(html))
                .unwrap()
        })
        .answer("/go", move |request| {
            let at = request.headers()["host"].to_str().unwrap().replace("127.0.0.1", "localhost");
            axum::response::Response::builder()
                .status(302)
                .header("location", format!("http://{at}/reached"))
                .body(axum::body::Body::empty())
                .unwrap()
        })
        .serve()
        .await;
    let also = format!("localhost:{}", site.port()).parse().unwrap();
    let guard = Guard::new(Rules { allow: vec![site.rule(), also] })
        .denying(std::sync::Arc::new(crate::egress::Denied(&["localhost"])));
    let Some(mut browser) = start_with(super::patient(guard)).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    while !look(&mut browser).await.text.contains("all tried") {}
    let error = browser.navigate(&site.url("/go")).await.unwrap_err();
    assert_eq!(error.refused.unwrap().code(), "denied");
    let direct = format!("http://localhost:{}/reached", site.port()).parse().unwrap();
    assert_eq!(browser.navigate(&direct).await.unwrap_err().refused.unwrap().code(), "denied");
    let asked = site.asked();
    let reached = |path: &str| asked.iter().any(|it| it == path);
    assert!(reached("/go") && !reached("/reached") && !reached("/image") && !reached("/fetch"));
}
