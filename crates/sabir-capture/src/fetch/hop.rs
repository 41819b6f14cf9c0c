//! One request to one judged address, and what its answer's headers say. It follows nothing.

use std::net::SocketAddr;
use std::sync::Once;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use sabir_base::text;
use url::Url;

use super::error::FetchError;
use super::{Conditional, FetchLimits};

/// Asks for `url` at one of `addresses`, whatever its name resolves to by now.
pub(super) async fn send(
    url: &Url,
    addresses: Vec<SocketAddr>,
    known: &Conditional,
    limits: &FetchLimits,
) -> Result<Response, FetchError> {
    let client = client(url, addresses, limits)?;
    let request = client.get(url.clone()).headers(headers(known));
    request.send().await.map_err(|error| failure(&error))
}

/// Why no answer came.
pub(super) fn failure(error: &reqwest::Error) -> FetchError {
    let reason = chain(error);
    if error.is_timeout() {
        FetchError::TimedOut
    } else if error.is_connect() {
        FetchError::Connect { reason }
    } else {
        FetchError::Broken { reason }
    }
}

/// Where the answer points, if it points elsewhere.
pub(super) fn redirect(response: &Response, from: &Url) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(header::LOCATION).ok_or(FetchError::BadRedirect)?;
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| FetchError::BadRedirect)?;
    follow(from, location).map(Some)
}

fn follow(from: &Url, location: &str) -> Result<Url, FetchError> {
    let next = from.join(location).map_err(|_| FetchError::BadRedirect)?;
    // Whoever typed https does not want to be read on the way.
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(FetchError::Downgrade);
    }
    Ok(next)
}

/// A header of readable length, on one line.
pub(super) fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    (value.len() <= LONGEST_HEADER).then(|| text::without_hidden(value).into_owned())
}

/// Seconds, or a date: then it is compared with the server's own, so that no clock is needed here.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = header(headers, header::RETRY_AFTER)?;
    let value = value.trim();
    let wait = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        // More than can be counted.
        Err(_) if !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit()) => LONGEST_WAIT,
        Err(_) => {
            let then = httpdate::parse_http_date(value).ok()?;
            let now = httpdate::parse_http_date(&header(headers, header::DATE)?).ok()?;
            then.duration_since(now).unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

/// An error with what caused it, on one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = Vec::new();
    // The outermost says which URL was asked; our caller knows that.
    let mut source = error.source();
    while let (Some(error), true) = (source, parts.len() < 8) {
        parts.push(error.to_string());
        source = error.source();
    }
    if parts.is_empty() {
        parts.push(error.to_string());
    }
    text::one_line(&parts.join(": "), 300)
}

/// One client for one request: nothing is left of it that the next one could use.
pub(super) fn client(
    url: &Url,
    addresses: Vec<SocketAddr>,
    limits: &FetchLimits,
) -> Result<Client, FetchError> {
    install_ring();
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(limits.connect)
        .pool_max_idle_per_host(0)
        .dns_resolver(Pinned(addresses));
    if url.scheme() == "http" {
        // Certificates that are not needed must not be missed on a machine that has none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| FetchError::Client { reason: chain(&error) })
}

fn headers(known: &Conditional) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let validators =
        [(header::IF_NONE_MATCH, &known.etag), (header::IF_MODIFIED_SINCE, &known.last_modified)];
    for (name, value) in validators {
        // One that is not fit for a header is left out: then the page comes whole.
        if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_str) {
            headers.insert(name, value);
        }
    }
    headers
}

/// Answers every question with what the guard has judged.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses = self.0.clone();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

/// TLS by ring. Another part of the program may have chosen already, which is as good.
fn install_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

const USER_AGENT: &str = concat!("sabir/", env!("CARGO_PKG_VERSION"));

/// Markdown from those who have it.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, \
                      text/plain;q=0.8, application/pdf;q=0.8, */*;q=0.1";

/// Enough for every media type and entity tag that means something.
const LONGEST_HEADER: usize = 1024;

/// Who wants more than a day is not asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_with_https_stays_with_it() {
        let from = Url::parse("https://a.example/x/y").unwrap();
        for (location, expected) in [
            ("http://a.example/", Err(FetchError::Downgrade)),
            ("HTTP://b.example/", Err(FetchError::Downgrade)),
            ("//b.example/z", Ok("https://b.example/z")),
            ("z?q#f", Ok("https://a.example/x/z?q#f")),
            ("https://[", Err(FetchError::BadRedirect)),
        ] {
            let found = follow(&from, location);
            assert_eq!(found, expected.map(|it| Url::parse(it).unwrap()), "{location}");
        }
        let from = Url::parse("http://a.example/").unwrap();
        assert!(follow(&from, "https://a.example/").is_ok());
    }
}
