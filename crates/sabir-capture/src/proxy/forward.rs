//! One request to the proxy: judged, then passed on or refused with the reason.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use subtle::ConstantTimeEq;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use super::{GREETING, Shared};
use crate::egress::{Reason, Refused, Target};

pub(super) type Body = BoxBody<Bytes, hyper::Error>;

/// What is left to do when a `CONNECT` was answered with yes.
pub(super) struct Tunnel {
    pub upgrade: OnUpgrade,
    pub upstream: TcpStream,
}

/// A server that cannot be reached. The browser is left without an answer, as it would be without a
/// proxy: a page of ours in place of the server's would look like one of the server's.
#[derive(Debug)]
pub(super) struct Unreachable;

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server cannot be reached")
    }
}

impl Error for Unreachable {}

/// What is refused is answered with the reason.
pub(super) async fn answer(
    mut request: Request<Incoming>,
    shared: &Shared,
    tunnel: &Arc<Mutex<Option<Tunnel>>>,
) -> Result<Response<Body>, Unreachable> {
    if !knows_secret(request.headers(), &shared.credentials) {
        let mut response = plain(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "credentials needed");
        let ask = HeaderValue::from_static("Basic realm=\"sabir\"");
        response.headers_mut().insert(header::PROXY_AUTHENTICATE, ask);
        return Ok(response);
    }
    if request.method() == Method::CONNECT {
        let upstream = match connect_to(request.uri(), shared).await {
            Ok(upstream) => upstream,
            Err(Failed::Answered(response)) => return Ok(*response),
            Err(Failed::Unreachable) => return Ok(plain(StatusCode::BAD_GATEWAY, "no connection")),
        };
        let upgrade = hyper::upgrade::on(&mut request);
        *tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(Tunnel { upgrade, upstream });
        return Ok(plain(StatusCode::OK, ""));
    }
    if request.uri() == GREETING {
        shared.greeted.notify_one();
        return Ok(plain(StatusCode::NO_CONTENT, ""));
    }
    match pass_on(request, shared).await {
        Ok(response) => Ok(response),
        Err(Failed::Answered(response)) => Ok(*response),
        Err(Failed::Unreachable) => Err(Unreachable),
    }
}

/// Why a request was not passed on.
enum Failed {
    Answered(Box<Response<Body>>),
    Unreachable,
}

fn failed(status: StatusCode, text: &str) -> Failed {
    Failed::Answered(Box::new(plain(status, text)))
}

fn knows_secret(headers: &HeaderMap, credentials: &str) -> bool {
    headers
        .get(header::PROXY_AUTHORIZATION)
        .is_some_and(|shown| shown.as_bytes().ct_eq(credentials.as_bytes()).into())
}

async fn connect_to(uri: &Uri, shared: &Shared) -> Result<TcpStream, Failed> {
    let (Some(host), Some(port)) = (uri.host(), uri.port_u16()) else {
        return Err(failed(StatusCode::BAD_REQUEST, "no host and port"));
    };
    let judged = shared.guard.check_host(host, port);
    connect(judged, port, shared).await
}

/// Resolves once, and connects to what was judged.
async fn connect(
    judged: Result<Target, Refused>,
    port: u16,
    shared: &Shared,
) -> Result<TcpStream, Failed> {
    let resolved = match judged {
        Ok(target) => shared.guard.resolve(&target).await,
        Err(refused) => Err(refused),
    };
    let addresses = resolved.map_err(|refused| {
        let status = match refused.reason() {
            Reason::Unresolved => StatusCode::BAD_GATEWAY,
            _ => StatusCode::FORBIDDEN,
        };
        let answer = failed(status, &refused.to_string());
        shared.note(port, refused);
        answer
    })?;
    // Each address gets its own time: the first may be one that this machine cannot reach.
    for address in addresses.into_iter().take(MOST_TRIED) {
        if let Some(stream) = try_connect(address).await {
            return Ok(stream);
        }
    }
    Err(Failed::Unreachable)
}

async fn try_connect(address: SocketAddr) -> Option<TcpStream> {
    let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await.ok()?.ok()?;
    let _ = stream.set_nodelay(true);
    Some(stream)
}

async fn pass_on(request: Request<Incoming>, shared: &Shared) -> Result<Response<Body>, Failed> {
    let url = Url::parse(&request.uri().to_string())
        .map_err(|_| failed(StatusCode::BAD_REQUEST, "an absolute address is needed"))?;
    if url.scheme() != "http" {
        return Err(failed(StatusCode::BAD_REQUEST, "only http is passed on; https is tunnelled"));
    }
    let port = url.port_or_known_default().unwrap_or_default();
    let upstream = connect(shared.guard.check(&url), port, shared).await?;
    let request = rewrite(request, &url)
        .ok_or_else(|| failed(StatusCode::BAD_REQUEST, "not an address for a request"))?;
    let bad = |_| Failed::Unreachable;
    let (mut sender, connection) = http1::handshake(TokioIo::new(upstream)).await.map_err(bad)?;
    // Ends by itself when the answer was read, or when nobody reads it any more.
    tokio::spawn(connection);
    let mut response = sender.send_request(request).await.map_err(bad)?;
    strip_hop_headers(response.headers_mut());
    Ok(response.map(|body| body.boxed()))
}

/// As the server expects it: path only, its own name as host, and nothing that was meant for us.
fn rewrite(request: Request<Incoming>, url: &Url) -> Option<Request<Incoming>> {
    let (mut parts, body) = request.into_parts();
    parts.uri = parts.uri.path_and_query().map_or("/", |it| it.as_str()).parse().ok()?;
    strip_hop_headers(&mut parts.headers);
    let host = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str()?),
        None => url.host_str()?.to_owned(),
    };
    parts.headers.insert(header::HOST, HeaderValue::from_str(&host).ok()?);
    Some(Request::from_parts(parts, body))
}

/// What concerns one connection only. The secret is among it.
fn strip_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let fixed = [
        header::CONNECTION,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::UPGRADE,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
    ];
    for name in named.into_iter().chain(fixed) {
        headers.remove(name);
    }
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let body = Full::new(Bytes::from(text.to_owned())).map_err(|never| match never {});
    let mut response = Response::new(body.boxed());
    *response.status_mut() = status;
    if !text.is_empty() {
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const MOST_TRIED: usize = 4;
