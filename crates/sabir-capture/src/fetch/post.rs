//! One message to an address that somebody else named, such as a webhook. It goes where the guard
//! lets it and nowhere else: no redirect is followed, and what comes back is not read.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::error::FetchError;
use super::{FetchLimits, hop};
use crate::egress::{Guard, Refused};

/// Sends messages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Poster {
    guard: Guard,
    whole: Duration,
}

impl Poster {
    /// `whole` is the time for one message, from the first name to the status of the answer.
    pub fn new(guard: Guard, whole: Duration) -> Self {
        Self { guard, whole }
    }

    /// Whether the words of the address are let through. What its name resolves to is looked at when
    /// something is sent.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        self.guard.check(url).map(drop)
    }

    /// Sends `body`. Everything but a status of success is an error.
    pub async fn post(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(), FetchError> {
        // On the heap: a future with a whole client in it is large.
        let posting = Box::pin(self.send(url.clone(), headers, body));
        match tokio::time::timeout(self.whole, posting).await {
            Ok(sent) => sent,
            Err(_) => Err(FetchError::TimedOut),
        }
    }

    async fn send(
        &self,
        mut url: Url,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(), FetchError> {
        let headers = headers_of(headers)?;
        let target = self.guard.check(&url)?;
        let addresses = self.guard.resolve(&target).await?;
        if url.host_str() != Some(&target.host()) {
            // The same name without its final dot, which certificates do not know.
            url.set_host(Some(&target.host())).map_err(|_| FetchError::BadRedirect)?;
        }
        let client = hop::client(&url, addresses, &FetchLimits::default())?;
        let request = client.post(url).headers(headers).body(body);
        let response = request.send().await.map_err(|error| hop::failure(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let retry_after = hop::retry_after(response.headers());
        Err(FetchError::Status { status: status.as_u16(), retry_after })
    }
}

fn headers_of(pairs: &[(&str, &str)]) -> Result<HeaderMap, FetchError> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let wrong = || FetchError::Client { reason: format!("{name} cannot be sent as a header") };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}
