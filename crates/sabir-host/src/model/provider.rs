//! Where a model is reached, and with what key: read from a file, from the session's settings and
//! from the environment, and checked once.

mod error;
mod file;
mod key;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use sabir_engine::{Attempts, ProviderSettings, WireApi};

use super::secret::Secret;
use file::Entry;

pub use error::ProviderError;
pub(crate) use file::KEYS as PROVIDER_KEYS;
pub use file::Providers;

/// A provider that can be asked.
#[derive(Clone)]
pub struct Provider {
    /// For people.
    pub name: String,
    pub base_url: String,
    pub wire_api: WireApi,
    pub key: Option<Secret>,
    /// Sent with every request. They may be secret, like the key.
    pub headers: Vec<(String, Secret)>,
    pub query_params: Vec<(String, Secret)>,
    /// The model to ask when none is named.
    pub model: Option<String>,
    pub request_max_retries: u32,
    pub stream_max_retries: u32,
    pub stream_idle_timeout: Duration,
    pub allow_plain_http: bool,
}

impl Provider {
    /// A provider with nothing but an address.
    pub fn new(base_url: impl Into<String>, wire_api: WireApi) -> Self {
        let base_url = base_url.into();
        Self {
            name: base_url.clone(),
            base_url,
            wire_api,
            key: None,
            headers: Vec::new(),
            query_params: Vec::new(),
            model: None,
            request_max_retries: Attempts::Request.usual(),
            stream_max_retries: Attempts::Stream.usual(),
            stream_idle_timeout: Duration::from_secs(300),
            allow_plain_http: false,
        }
    }

    /// Where requests go.
    pub(super) fn url(&self) -> Result<Url, ProviderError> {
        let mut url = self.checked_base_url()?;
        let tail: &[&str] = match self.wire_api {
            WireApi::Responses => &["responses"],
            WireApi::Chat => &["chat", "completions"],
        };
        match url.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().extend(tail),
            Err(()) => return Err(self.bad_url("it has no path")),
        };
        for (name, value) in &self.query_params {
            let value = String::from_utf8_lossy(value.expose());
            url.query_pairs_mut().append_pair(name, &value);
        }
        Ok(url)
    }

    pub(super) fn checked_base_url(&self) -> Result<Url, ProviderError> {
        let url = Url::parse(&self.base_url).map_err(|error| self.bad_url(&error.to_string()))?;
        // First: what is wrong beside that would show the address.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ProviderError::Url {
                base_url: "(not shown)".to_owned(),
                reason: "a user or password cannot stand in it; use env_key or key_file".to_owned(),
            });
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(self.bad_url("it must begin with http:// or https://"));
        }
        let path = url.path().trim_end_matches('/');
        for tail in ["/responses", "/chat/completions"] {
            if path.ends_with(tail) {
                return Err(self.bad_url(&format!("leave `{tail}` out, it is added to it")));
            }
        }
        let carries_secrets =
            self.key.is_some() || !self.headers.is_empty() || !self.query_params.is_empty();
        if url.scheme() == "http" && !is_loopback(&url) && carries_secrets && !self.allow_plain_http
        {
            return Err(ProviderError::PlainHttp { base_url: shown(&self.base_url) });
        }
        Ok(url)
    }

    fn bad_url(&self, reason: &str) -> ProviderError {
        ProviderError::Url { base_url: shown(&self.base_url), reason: reason.to_owned() }
    }

    /// `text` without anything secret that a server or a library may have put into it.
    pub(super) fn scrub(&self, text: String) -> String {
        let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
        let secrets = secrets.chain(self.query_params.iter().map(|(_, value)| value));
        secrets.fold(text, |text, secret| secret.scrub(text))
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("wire_api", &self.wire_api)
            .field("key", &self.key)
            .field("headers", &self.headers)
            .field("query_params", &self.query_params)
            .finish_non_exhaustive()
    }
}

impl Providers {
    /// The provider that the layers of settings ask for, later ones over earlier ones: the command
    /// line's, then the session's. `environment` looks a variable up.
    ///
    /// A key, headers and query of the file are for the address in the file: where the settings
    /// name another one, they stay behind.
    pub fn resolve(
        &self,
        layers: &[&ProviderSettings],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Provider, ProviderError> {
        let settings = merge(layers);
        let entry = self.entry(&settings)?;
        let base_url = settings
            .base_url
            .as_ref()
            .or(entry.base_url.as_ref())
            .cloned()
            .ok_or_else(|| self.no_base_url(&settings))?;
        let entry = match (&settings.base_url, &entry.base_url) {
            (Some(asked), Some(known)) if !same_origin(asked, known) => entry.without_secrets(),
            _ => entry,
        };

        let wire_api = settings.wire_api.or(entry.wire_api).unwrap_or_default();
        let mut provider = Provider::new(base_url.trim(), wire_api);
        if let Some(name) = entry.name.as_ref().or(settings.name.as_ref()) {
            provider.name.clone_from(name);
        }
        provider.key = key::find(settings.env_key.as_deref(), &entry, environment)?;
        provider.headers = headers(&entry, environment)?;
        provider.query_params = secrets(&entry.query);
        provider.model.clone_from(&entry.model);
        provider.allow_plain_http = entry.allow_plain_http.unwrap_or(false);
        let retries = |asked: Option<u32>, known: Option<u32>, default| {
            asked.or(known).unwrap_or(default).min(MOST_RETRIES)
        };
        provider.request_max_retries = retries(
            settings.request_max_retries,
            entry.request_max_retries,
            provider.request_max_retries,
        );
        provider.stream_max_retries = retries(
            settings.stream_max_retries,
            entry.stream_max_retries,
            provider.stream_max_retries,
        );
        if let Some(idle) = settings.stream_idle_timeout_ms.or(entry.stream_idle_timeout_ms) {
            // Zero would end every stream before its first byte.
            provider.stream_idle_timeout = Duration::from_millis(idle.max(1));
        }
        provider.checked_base_url()?;
        Ok(provider)
    }
}

/// What each layer says, the last word first.
/// Settings that change. What was said of one server is not said of another: a key does not go
/// along.
pub(crate) fn changed(before: ProviderSettings, wanted: ProviderSettings) -> ProviderSettings {
    let differs =
        |wanted: &Option<String>, before: &Option<String>| wanted.is_some() && wanted != before;
    let mut before = before;
    if differs(&wanted.name, &before.name) {
        (before.base_url, before.wire_api) = (None, None);
    }
    if differs(&wanted.name, &before.name) || differs(&wanted.base_url, &before.base_url) {
        (before.name, before.env_key) = (None, None);
    }
    merge(&[&before, &wanted])
}

fn merge(layers: &[&ProviderSettings]) -> ProviderSettings {
    let mut out = ProviderSettings::default();
    for layer in layers.iter().rev() {
        let ProviderSettings {
            name,
            base_url,
            wire_api,
            env_key,
            request_max_retries,
            stream_max_retries,
            stream_idle_timeout_ms,
        } = (*layer).clone();
        out = ProviderSettings {
            name: out.name.or(name),
            base_url: out.base_url.or(base_url),
            wire_api: out.wire_api.or(wire_api),
            env_key: out.env_key.or(env_key),
            request_max_retries: out.request_max_retries.or(request_max_retries),
            stream_max_retries: out.stream_max_retries.or(stream_max_retries),
            stream_idle_timeout_ms: out.stream_idle_timeout_ms.or(stream_idle_timeout_ms),
        };
    }
    out
}

fn headers(
    entry: &Entry,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, Secret)>, ProviderError> {
    let mut out = secrets(&entry.headers);
    for (header, variable) in &entry.env_headers {
        let value = environment(variable)
            .filter(|value| !value.trim().is_empty())
            .ok_or_else(|| ProviderError::NoVariable { variable: variable.clone() })?;
        out.push((header.clone(), Secret::new(&value)));
    }
    Ok(out)
}

fn secrets(table: &BTreeMap<String, String>) -> Vec<(String, Secret)> {
    table.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect()
}

/// An address as it may be shown: without what stands behind a question mark, and not at all where it
/// may hold a name and a password.
fn shown(base_url: &str) -> String {
    match base_url.split(['?', '#']).next().unwrap_or_default() {
        whole if whole.contains('@') => "(not shown)".to_owned(),
        start if start.len() < base_url.len() => format!("{start}…"),
        whole => whole.to_owned(),
    }
}

fn same_origin(a: &str, b: &str) -> bool {
    match (Url::parse(a.trim()), Url::parse(b.trim())) {
        (Ok(a), Ok(b)) => a.origin() == b.origin(),
        _ => false,
    }
}

/// Whether what is sent there stays on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => is_localhost(host),
    }
}

/// The name that always means this machine.
pub(super) fn is_localhost(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost")
}

/// More would only hide that something is wrong.
const MOST_RETRIES: u32 = 100;

#[cfg(test)]
mod tests;
