//! What a browser does with the console: a cookie, the word against forgeries, an origin.

use std::net::IpAddr;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http_body_util::BodyExt as _;
use sabir_ldp::{Channel, Origin};
use sabir_net::Visitor;
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) const SITE: &str = "127.0.0.1:7420";

#[derive(Clone)]
pub(crate) struct Browser {
    router: Router,
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: String,
    pub(crate) visitor: Visitor,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{:?}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

impl Browser {
    pub(crate) fn new(router: Router) -> Self {
        let channel = Channel { origin: Origin::Loopback, credential: None };
        let address: IpAddr = "127.0.0.1".parse().unwrap();
        let visitor = Visitor { address, is_near: true, is_tls: false, channel, trace: None };
        Self { router, cookie: None, csrf: String::new(), visitor }
    }

    pub(crate) async fn sign_in(&mut self, token: &str) -> Reply {
        let reply = self.post("/api/login", json!({ "token": token })).await;
        if reply.status == 200 {
            let cookie = reply.header(SET_COOKIE.as_str()).to_owned();
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
            self.csrf = reply.json()["csrf"].as_str().unwrap().to_owned();
        }
        reply
    }

    /// A request as our own page makes it, which a test may spoil.
    pub(crate) fn request(&self, method: &Method, path: &str) -> Builder {
        let mut request = Request::builder().method(method).uri(path).header(HOST, SITE);
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        if method != Method::GET {
            request = request
                .header(ORIGIN, format!("http://{SITE}"))
                .header(CONTENT_TYPE, "application/json")
                .header("x-sabir-csrf", &self.csrf);
        }
        request.extension(self.visitor.clone())
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = match status == StatusCode::OK && is_stream(&headers) {
            true => Bytes::new(),
            false => response.into_body().collect().await.unwrap().to_bytes(),
        };
        Reply { status: status.as_u16(), headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(&Method::GET, path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        let body = Body::from(body.to_string());
        self.send(self.request(&Method::POST, path).body(body).unwrap()).await
    }

    /// What a path answers, which has to be well.
    pub(crate) async fn see(&self, path: &str) -> Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    /// What a path that is posted to answers, which has to be well.
    pub(crate) async fn done(&self, path: &str, body: Value) -> Value {
        let reply = self.post(path, body).await;
        assert!(matches!(reply.status, 200 | 201), "{path}: {reply:?}");
        reply.json()
    }

    pub(crate) async fn follow(&self, path: &str, last_event_id: Option<u64>) -> Events {
        let mut request = self.request(&Method::GET, path);
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id.to_string());
        }
        let request = request.body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(is_stream(response.headers()));
        let pieces = response.into_body().into_data_stream().map(|piece| piece.unwrap());
        Events { pieces: pieces.boxed(), text: String::new() }
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A stream of events, read as browsers read it.
pub(crate) struct Events {
    pieces: BoxStream<'static, Bytes>,
    text: String,
}

impl Events {
    /// The next event; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(event) = read(&block) {
                    return Some(event);
                }
            }
            let piece = self.pieces.next().await?;
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// All until one of this name.
    pub(crate) async fn until(&mut self, name: &str) -> Vec<Event> {
        let mut seen = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = event.name == name;
            seen.push(event);
            if is_last {
                return seen;
            }
        }
        panic!("the stream ended: {seen:?}");
    }
}

fn read(block: &str) -> Option<Event> {
    let (mut id, mut name, mut data) = (None, String::new(), Vec::new());
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", value)) => id = Some(value.parse().unwrap()),
            Some(("event", value)) => name = value.to_owned(),
            Some(("data", value)) => data.push(value),
            Some(_) | None => {}
        }
    }
    let data = serde_json::from_str(&data.join("\n")).ok()?;
    Some(Event { id, name, data })
}
