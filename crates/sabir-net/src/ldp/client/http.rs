//! The way to delegates: connections that are kept, credentials for those who are to have them, and
//! limits on what comes back. It knows no message.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Certificate, Client, Identity, RequestBuilder, Response, StatusCode, Url};
use sabir_base::text::one_line;
use sabir_ldp::Arrival;

use super::base::Base;

/// What the way to delegates needs.
#[derive(Default)]
pub struct HttpSettings {
    /// Bearer tokens by the origin that gets them, as [`Base::origin`] writes it.
    pub tokens: BTreeMap<String, String>,
    /// A client certificate with its key, in PEM, for those who ask for one.
    pub identity_pem: Option<Vec<u8>>,
    /// Certificates that are trusted besides those of the system, in PEM.
    pub roots_pem: Vec<Vec<u8>>,
}

/// Secrets are not shown.
impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origins: Vec<&String> = self.tokens.keys().collect();
        f.debug_struct("HttpSettings").field("tokens_for", &origins).finish_non_exhaustive()
    }
}

/// Why there is no client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetupError(pub(super) String);

impl fmt::Display for ClientSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClientSetupError {}

#[derive(Debug, Clone)]
pub(crate) struct Http {
    /// For this machine: no proxy stands in between.
    near: Client,
    far: Client,
    tokens: BTreeMap<String, HeaderValue>,
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It may go better later, at the earliest after `wait`.
    Passing { why: String, wait: Duration, arrival: Arrival },
    /// It would be the same again.
    Lasting { status: Option<u16>, why: String, arrival: Arrival },
}

impl Trouble {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self::Passing { why: why.into(), wait: Duration::ZERO, arrival: Arrival::Unknown }
    }

    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self::Lasting { status: None, why: why.into(), arrival: Arrival::Unknown }
    }

    /// Redirected to where nobody is asked.
    pub(super) fn elsewhere(response: &Response) -> Self {
        // Only this one says that the request was acted on.
        let is_done = response.status() == StatusCode::SEE_OTHER;
        let arrival = if is_done { Arrival::Unknown } else { Arrival::Never };
        let to = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let to = to.and_then(|it| response.url().join(it).ok());
        let why = match to {
            None => NOWHERE.to_owned(),
            Some(to) if to.origin() == response.url().origin() => IN_CIRCLES.to_owned(),
            Some(_) => ELSEWHERE.to_owned(),
        };
        Self::Lasting { status: None, why, arrival }
    }

    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Passing { why, .. } | Self::Lasting { why, .. } => why,
        }
    }
}

impl Http {
    pub(crate) fn new(settings: &HttpSettings) -> Result<Self, ClientSetupError> {
        // Whoever came first has installed the same provider: ring is the only one that is linked.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut tokens = BTreeMap::new();
        for (origin, token) in &settings.tokens {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| ClientSetupError(format!("the token for {origin} fits no header")))?;
            value.set_sensitive(true);
            tokens.insert(origin.clone(), value);
        }
        let build = |near: bool| {
            let mut builder = Client::builder()
                .connect_timeout(CONNECT)
                .redirect(Policy::custom(stay_at_origin))
                .user_agent(concat!("sabir/", env!("CARGO_PKG_VERSION")));
            if near {
                builder = builder.no_proxy();
            }
            if let Some(pem) = &settings.identity_pem {
                let identity = Identity::from_pem(pem)
                    .map_err(|error| failed("the client certificate cannot be used", &error))?;
                builder = builder.identity(identity);
            }
            for pem in &settings.roots_pem {
                let roots = Certificate::from_pem_bundle(pem)
                    .map_err(|error| failed("a trusted certificate cannot be used", &error))?;
                builder = builder.tls_certs_merge(roots);
            }
            builder.build().map_err(|error| failed("there is no HTTP client", &error))
        };
        Ok(Self { near: build(true)?, far: build(false)?, tokens })
    }

    pub(crate) fn client(&self, base: &Base) -> &Client {
        if base.is_near() { &self.near } else { &self.far }
    }

    /// The token for a delegate. Over a way that others can read, none is sent.
    pub(crate) fn token(&self, base: &Base) -> Option<&HeaderValue> {
        self.tokens.get(&base.origin()).filter(|_| base.is_private())
    }

    pub(super) fn post(&self, base: &Base, path: &str) -> RequestBuilder {
        self.with_token(base, self.client(base).post(base.at(path)))
    }

    /// A small text that is fetched whole, or why not.
    pub(crate) async fn fetch_text(
        &self,
        base: &Base,
        path: &str,
        limit: usize,
    ) -> Result<String, String> {
        let fetched = tokio::time::timeout(FETCH, self.fetch_now(base, path, limit)).await;
        let fetched = fetched.unwrap_or_else(|_| Err(Trouble::passing("no answer in time")));
        fetched.map_err(|trouble| trouble.why().to_owned())
    }

    pub(super) async fn fetch_now(
        &self,
        base: &Base,
        path: &str,
        limit: usize,
    ) -> Result<String, Trouble> {
        let request = self.with_token(base, self.client(base).get(base.at(path)));
        let request = request.header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| of_error(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection() {
            return Err(Trouble::elsewhere(&response));
        }
        let text = read_text(response, limit).await?;
        if !status.is_success() {
            return Err(of_status(status, &headers, &text));
        }
        Ok(text)
    }

    fn with_token(&self, base: &Base, request: RequestBuilder) -> RequestBuilder {
        match self.token(base) {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }
}

/// Reads a body that is at most `limit` bytes long and is UTF-8.
pub(crate) async fn read_text(mut response: Response, limit: usize) -> Result<String, Trouble> {
    let too_long = || Trouble::lasting(format!("the answer is longer than {limit} bytes"));
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > limit => return Err(too_long()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return Err(of_error(&error)),
        }
    }
    String::from_utf8(body).map_err(|_| Trouble::lasting("the answer is not UTF-8"))
}

/// What a status means that is no success. `body` is what came with it.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> Trouble {
    let said = one_line(body, MAX_QUOTED);
    let why = match said.is_empty() {
        true => format!("it answered {status}"),
        false => format!("it answered {status}: {said}"),
    };
    let is_passing = status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::TOO_EARLY;
    // A server's error may come in the middle of the work, and from who stands before the server.
    let is_refused = status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::NOT_IMPLEMENTED;
    let arrival = if is_refused { Arrival::Never } else { Arrival::Unknown };
    if is_passing {
        Trouble::Passing { why, wait: retry_after(headers), arrival }
    } else {
        Trouble::Lasting { status: Some(status.as_u16()), why, arrival }
    }
}

pub(super) fn of_error(error: &reqwest::Error) -> Trouble {
    let why = describe(error);
    let is_unsent = error.is_connect() || error.is_builder();
    let arrival = if is_unsent { Arrival::Never } else { Arrival::Unknown };
    // What cannot even be asked will not be answered. All else may be the net's weather.
    if error.is_builder() || error.is_redirect() {
        Trouble::Lasting { status: None, why, arrival }
    } else {
        Trouble::Passing { why, wait: Duration::ZERO, arrival }
    }
}

/// The innermost errors say what happened, the outer ones in which layer.
fn describe(error: &reqwest::Error) -> String {
    let mut words = match error {
        _ if error.is_timeout() => "no answer in time".to_owned(),
        _ if error.is_connect() => "it cannot be reached".to_owned(),
        _ => "the connection failed".to_owned(),
    };
    let mut source = std::error::Error::source(error);
    let mut innermost = None;
    while let Some(inner) = source {
        innermost = Some(inner.to_string());
        source = inner.source();
    }
    let is_mistaken = |words: &str| innermost.as_ref().is_some_and(|it| it.contains(words));
    if let Some((_, meant)) = MISTAKEN.iter().find(|(said, _)| is_mistaken(said)) {
        return (*meant).to_owned();
    }
    if let Some(inner) = innermost.filter(|inner| !words.contains(inner.as_str())) {
        words = format!("{words}: {inner}");
    }
    one_line(&words, MAX_QUOTED)
}

/// Only seconds are read: a date would need both clocks to agree.
fn retry_after(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0)).min(LONGEST_WAIT)
}

fn failed(what: &str, error: &reqwest::Error) -> ClientSetupError {
    ClientSetupError(one_line(&format!("{what}: {}", describe(error)), MAX_QUOTED))
}

/// A token is for one origin, and an answer is only worth something from whom we asked.
fn stay_at_origin(attempt: Attempt<'_>) -> Action {
    let first = attempt.previous().first().map(Url::origin);
    if first == Some(attempt.url().origin()) && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

const ELSEWHERE: &str = "it redirects to another host, where nobody is asked";
const IN_CIRCLES: &str = "it redirects again and again, and nothing answers in the end";
const NOWHERE: &str = "it redirects, and does not say where to";
/// What libraries say when the one side speaks TLS and the other does not, and what that means.
const MISTAKEN: [(&str, &str); 2] = [
    ("invalid HTTP version", "it does not speak plain HTTP: if it has TLS, call it by https://"),
    ("InvalidContentType", "it does not speak TLS: if it is a plain server, call it by http://"),
];
const CONNECT: Duration = Duration::from_secs(10);
/// A card is a small file; who needs longer for it is not there.
pub(super) const FETCH: Duration = Duration::from_secs(15);
const MAX_REDIRECTS: usize = 3;
/// Who asks for more patience than this is failed instead.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const MAX_QUOTED: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(status: u16, later: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, later.parse().unwrap());
        match of_status(StatusCode::from_u16(status).unwrap(), &headers, "busy\nnow") {
            Trouble::Passing { wait, .. } => Some(wait.as_secs()),
            Trouble::Lasting { .. } => None,
        }
    }

    /// LD-C12, LD-C13
    #[test]
    fn a_status_says_whether_to_come_back_and_when() {
        assert_eq!(wait(429, "7"), Some(7));
        assert_eq!(wait(503, "999999999"), Some(30));
        assert_eq!(wait(429, "Wed, 21 Oct 2099 07:28:00 GMT"), Some(0));
        for passing in [408, 425, 500, 502, 503, 504] {
            assert_eq!(wait(passing, "0"), Some(0), "{passing}");
        }
        for lasting in [400, 401, 403, 404, 413, 501] {
            assert_eq!(wait(lasting, "0"), None, "{lasting}");
        }
    }
}
