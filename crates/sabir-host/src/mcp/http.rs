//! The way to a server over streamable HTTP: headers, secrets from the environment, redirects. It
//! knows no message.

use std::collections::HashMap;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::child::Environment;
use super::config::HttpConfig;
use super::redaction::Redaction;

pub(super) type HttpTransport = StreamableHttpClientTransport<reqwest::Client>;

/// Makes the transport; nothing is sent before the first message.
pub(super) fn open(
    config: &HttpConfig,
    environment: &Environment,
    redaction: &mut Redaction,
) -> Result<HttpTransport, String> {
    let mut headers = HashMap::new();
    for (name, value) in &config.headers {
        let value = HeaderValue::from_str(&value.0).map_err(|_| unfit(name))?;
        headers.insert(header_name(name)?, value);
    }
    for (name, variable) in &config.env_headers {
        let header = header_name(name)?;
        let secret = environment
            .text(variable)
            .ok_or_else(|| format!("set the variable `{variable}` for header `{name}`"))?;
        redaction.add(secret.trim());
        // People keep bare tokens in variables; the header wants a scheme before them.
        let value = match secret.trim() {
            token if header == AUTHORIZATION && !token.contains(' ') => format!("Bearer {token}"),
            value => value.to_owned(),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| unfit(name))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    if let Some(query) = config.url.query() {
        redaction.add(query);
    }
    // Whoever came first has installed the same provider: ring is the only one that is linked.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder();
    // Nobody stands between this machine and itself.
    if is_loopback(&config.url) {
        builder = builder.no_proxy();
    }
    let client = builder
        .redirect(Policy::custom(stay_at_origin))
        // A kept connection whose last body was not read to its end stalls the next request.
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| format!("no HTTP client: {}", error.without_url()))?;
    let transport = StreamableHttpClientTransportConfig::with_uri(config.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(super::child::MAX_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, transport))
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit(name))
}

fn unfit(name: &str) -> String {
    format!("header `{name}` has a value that no header can have")
}

/// Our headers are for the configured server; a redirect must not carry them elsewhere.
fn stay_at_origin(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let same =
        attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if same && attempt.previous().len() < MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
}

const MAX_REDIRECTS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        let near = |url: &str| is_loopback(&reqwest::Url::parse(url).unwrap());
        for url in
            ["http://127.0.0.1:1/mcp", "http://localhost/mcp", "http://[::1]:9", "http://127.9.9.9"]
        {
            assert!(near(url), "{url}");
        }
        for url in
            ["http://harbor.example", "http://127.0.0.1.example", "http://[::2]", "http://10.0.0.1"]
        {
            assert!(!near(url), "{url}");
        }
    }
}
