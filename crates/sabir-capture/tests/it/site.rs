//! A web server on loopback for one test: pages by path, and a list of who asked for what.
#![expect(clippy::unwrap_used, reason = "a test server that cannot start fails its test")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use sabir_capture::{Guard, HostPort, Rules};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// What a path answers.
type Answer = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

pub(crate) struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

/// The pages of a site that is not there yet.
#[derive(Clone, Default)]
pub(crate) struct Pages {
    answers: BTreeMap<String, Answer>,
}

impl Pages {
    /// Also as a function of the request.
    pub(crate) fn answer(
        mut self,
        path: &str,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.answers.insert(path.to_owned(), Arc::new(answer));
        self
    }

    pub(crate) fn html(self, path: &str, html: impl Into<String>) -> Self {
        let html = html.into();
        self.answer(path, move |_| {
            Response::builder()
                .header("content-type", "text/html; charset=utf-8")
                .body(Body::from(html.clone()))
                .unwrap()
        })
    }

    pub(crate) fn redirect(self, path: &str, to: impl Into<String>) -> Self {
        let to = to.into();
        self.answer(path, move |_| {
            Response::builder().status(302).header("location", &to).body(Body::empty()).unwrap()
        })
    }

    pub(crate) async fn serve(self) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let state = (Arc::clone(&asked), Arc::new(self.answers));
        let router = Router::new().fallback(answer).with_state(state);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Site { address, asked, serving }
    }
}

type Shared = (Arc<Mutex<Vec<String>>>, Arc<BTreeMap<String, Answer>>);

async fn answer(State((asked, answers)): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    // What was meant for the proxy alone.
    let is_leak = request.headers().keys().any(|name| name.as_str().starts_with("proxy-"));
    asked.lock().unwrap().push(if is_leak { LEAK.to_owned() } else { path.clone() });
    match answers.get(&path) {
        Some(answer) => answer(&request),
        None => Response::builder().status(404).body(Body::from("no such page")).unwrap(),
    }
}

impl Site {
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// A rule that lets tests in.
    pub(crate) fn rule(&self) -> HostPort {
        self.address.to_string().parse().unwrap()
    }

    /// A guard that lets through this site and nothing else on this machine.
    pub(crate) fn guard(&self) -> Guard {
        Guard::new(Rules { allow: vec![self.rule()] })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Stands in the list in place of a path if a request had what only the proxy should see.
pub(crate) const LEAK: &str = "a header for the proxy";

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
