//! How models are reached: one attempt at a time. Whether to try again is decided by the engine.

#![expect(
    clippy::disallowed_methods,
    reason = "configuration is read here, and dates need a clock"
)]

mod failure;
mod local;
mod provider;
mod secret;
mod stream;
mod watched;

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use sabir_engine::ModelRequest;
use tokio_util::sync::CancellationToken;

pub use local::{LocalServer, detect_local, probe_local};
pub(crate) use provider::{PROVIDER_KEYS, changed};
pub use provider::{Provider, ProviderError, Providers};
pub use secret::Secret;
pub use stream::ModelStream;

/// Asks one provider. Clones share their connections.
#[derive(Clone)]
pub struct ModelClient {
    http: Client,
    url: Url,
    headers: HeaderMap,
    provider: Arc<Provider>,
}

/// HTTP clients for many sessions: each holds connections, certificates and a resolver, and those
/// of one kind serve all.
#[derive(Debug, Default)]
pub(crate) struct HttpClients(Mutex<HashMap<Kind, Client>>);

/// What a client is built for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    is_plain: bool,
    /// The name of this machine that it is held to.
    loopback: Option<String>,
}

impl HttpClients {
    fn client(&self, base: &Url, provider: &Provider) -> Result<Client, ProviderError> {
        let host = || base.host_str().unwrap_or_default().to_owned();
        let kind = Kind {
            is_plain: base.scheme() == "http",
            loopback: provider::is_loopback(base).then(host),
        };
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let client = client(&kind, provider)?;
        // Any name below localhost leads here; who uses many pays for each.
        if clients.len() < MOST_KINDS {
            clients.insert(kind, client.clone());
        }
        Ok(client)
    }
}

impl ModelClient {
    /// Checks everything that can be checked without the network.
    pub fn new(provider: Provider) -> Result<Self, ProviderError> {
        Self::sharing(&HttpClients::default(), provider)
    }

    /// The same, with a client that others may use too.
    pub(crate) fn sharing(
        clients: &HttpClients,
        provider: Provider,
    ) -> Result<Self, ProviderError> {
        let http = clients.client(&provider.checked_base_url()?, &provider)?;
        Ok(Self {
            http,
            url: provider.url()?,
            headers: headers(&provider)?,
            provider: Arc::new(provider),
        })
    }

    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Makes exactly one attempt, which starts when the stream is first asked for an event. It can
    /// be cancelled at any time; the connection is then closed.
    pub fn open(&self, request: &ModelRequest, cancel: CancellationToken) -> ModelStream {
        let http_request = self
            .http
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(request.body(self.provider.wire_api));
        ModelStream::new(Arc::clone(&self.provider), &request.model, http_request, cancel)
    }
}

impl fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelClient").field("provider", &self.provider).finish_non_exhaustive()
    }
}

fn client(kind: &Kind, provider: &Provider) -> Result<Client, ProviderError> {
    let mut builder = builder();
    if kind.is_plain {
        // Certificates that are not needed must not be missed on a machine that has none.
        builder = builder.tls_certs_only([]);
    }
    if let Some(host) = &kind.loopback {
        builder = on_loopback(builder, host);
    }
    builder
        .build()
        .map_err(|error| ProviderError::Client { reason: provider.scrub(failure::chain(&error)) })
}

/// What every client of ours has in common.
fn builder() -> ClientBuilder {
    install_ring();
    Client::builder()
        .user_agent(concat!("sabir/", env!("CARGO_PKG_VERSION")))
        // The key would follow the redirect to wherever it leads.
        .redirect(Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
}

/// Holds a client to this machine: no proxy, and no resolver that thinks otherwise.
fn on_loopback(builder: ClientBuilder, host: &str) -> ClientBuilder {
    let builder = builder.no_proxy();
    if !provider::is_localhost(host) {
        return builder;
    }
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))];
    builder.resolve_to_addrs(host, &addresses)
}

/// TLS by ring. Another part of the program may have chosen already, which is as good.
fn install_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn headers(provider: &Provider) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Servers that cannot stream may answer with JSON; those that can prefer what comes first.
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json;q=0.5"));
    if let Some(key) = &provider.key {
        let mut value = b"Bearer ".to_vec();
        value.extend_from_slice(key.expose());
        headers.insert(AUTHORIZATION, sensitive("authorization", &value)?);
    }
    for (name, value) in &provider.headers {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| ProviderError::Header { name: name.clone() })?;
        headers.insert(header, sensitive(name, value.expose())?);
    }
    Ok(headers)
}

/// A value that is not shown when its request is printed.
fn sensitive(name: &str, bytes: &[u8]) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_bytes(bytes)
        .map_err(|_| ProviderError::Header { name: name.to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A server that is there answers within a second; a slow network may take a few.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

const MOST_KINDS: usize = 16;
