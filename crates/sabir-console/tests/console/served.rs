//! The console behind the node's own listener.

use axum::http::Method;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::browser::Browser;
use crate::world::World;

/// A connection that can be lost.
pub(crate) struct Line(TcpStream);

impl Line {
    /// Sends a request of a person, and leaves it at that.
    pub(crate) async fn post(world: &World, person: &Browser, path: &str, body: Value) -> Self {
        let body = body.to_string();
        let more = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        let mut line = Self::open(world, person, &Method::POST, path, &more).await;
        line.0.write_all(body.as_bytes()).await.unwrap();
        line
    }

    pub(crate) async fn open(
        world: &World,
        person: &Browser,
        method: &Method,
        path: &str,
        more: &str,
    ) -> Self {
        let site = world.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(site).await.unwrap();
        let cookie = person.cookie.as_deref().unwrap_or("none=1");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {site}\r\norigin: http://{site}\r\n\
             cookie: {cookie}\r\nx-sabir-csrf: {}\r\n{more}\r\n",
            person.csrf
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        Self(stream)
    }

    pub(crate) async fn hang_up(self) {
        drop(self.0);
    }

    /// Reads until a text was there.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let seen = String::from_utf8_lossy(&read).into_owned();
            if seen.contains(text) {
                return seen;
            }
            let count = self.0.read(&mut piece).await.unwrap();
            assert!(count > 0, "it ended: {seen}");
            read.extend_from_slice(&piece[..count]);
        }
    }
}

/// CO-11: the console is served beside LDP, by the listener that looks at who comes, and a stream stays
/// open while others are answered; when the node ends, so does the stream.
#[tokio::test(flavor = "multi_thread")]
async fn the_listener_of_the_node_serves_the_console() {
    let world = World::start().await;
    let person = world.person().await;
    let mut page = Line::open(&world, &person, &Method::GET, "/", "").await;
    let head = page.until("\r\n\r\n").await;
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.contains("content-security-policy: "),
        "{head}"
    );
    let mut card = Line::open(&world, &person, &Method::GET, "/.well-known/ldp-identity", "").await;
    card.until("ldp:delegate:harbor").await;
    let mut stream = Line::open(&world, &person, &Method::GET, "/api/changes", "").await;
    stream.until("event: inbox").await;
    let mut me = Line::open(&world, &person, &Method::GET, "/api/me", "").await;
    me.until("\"signed_in\":true").await;
    let mut foreign =
        Line::open(&world, &person, &Method::GET, "/api/me", "origin: http://a.example\r\n").await;
    assert!(foreign.until("\r\n\r\n").await.starts_with("HTTP/1.1 403 "));
    world.end().await;
    let mut rest = Vec::new();
    stream.0.read_to_end(&mut rest).await.unwrap();
}
