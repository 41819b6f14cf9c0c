//! Fetching one page: bounded in size, time and redirects, and only from where the guard lets it.
//!
//! It follows redirects by hand, so that each is judged like the first address, and connects to the
//! very addresses that were judged. It keeps no cookies, sends no referrer, ignores proxies, and
//! knows nothing of what the bytes mean. Dropping a fetch ends it.

mod body;
mod error;
mod hop;
mod post;
mod redirects;

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use url::Url;

use crate::egress::Guard;

pub use error::FetchError;
pub use post::Poster;
pub use redirects::Redirects;

/// How much one page may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// Of the page, unpacked.
    pub bytes: usize,
    pub redirects: usize,
    pub connect: Duration,
    /// From the first name to the last byte, all redirects included.
    pub whole: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            // Long articles have one megabyte, PDF files of hundreds of pages have twenty.
            bytes: 32 * 1024 * 1024,
            redirects: 5,
            connect: Duration::from_secs(10),
            whole: Duration::from_secs(60),
        }
    }
}

/// What is known of an earlier fetch: the server need not send again what has not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditional {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// A page as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where it was in the end.
    pub url: Url,
    /// Every address that pointed further, in order.
    pub redirects: Vec<Url>,
    pub status: u16,
    pub content_type: Option<String>,
    /// Unpacked. Empty when nothing has changed.
    pub bytes: Vec<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Fetched {
    /// Whether the page is still what [`Conditional`] named.
    pub fn is_unchanged(&self) -> bool {
        self.status == StatusCode::NOT_MODIFIED.as_u16()
    }
}

/// Fetches pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Fetcher {
    guard: Guard,
    limits: FetchLimits,
    redirects: Option<Arc<dyn Redirects>>,
}

impl Fetcher {
    pub fn new(guard: Guard, limits: FetchLimits) -> Self {
        Self { guard, limits, redirects: None }
    }

    /// The same, but it is led to another host only where that is allowed.
    #[must_use]
    pub fn led_by(self, redirects: Arc<dyn Redirects>) -> Self {
        Self { redirects: Some(redirects), ..self }
    }

    pub async fn fetch(&self, url: &Url, known: &Conditional) -> Result<Fetched, FetchError> {
        // On the heap: a future with a whole client in it is large.
        let fetching = Box::pin(self.follow(url.clone(), known));
        match tokio::time::timeout(self.limits.whole, fetching).await {
            Ok(result) => result,
            Err(_) => Err(FetchError::TimedOut),
        }
    }

    async fn follow(&self, mut url: Url, known: &Conditional) -> Result<Fetched, FetchError> {
        let mut redirects = Vec::new();
        let mut first = None;
        loop {
            let target = self.guard.check(&url)?;
            let first = first.get_or_insert_with(|| target.host());
            if let Some(rule) = &self.redirects
                && !rule.follows(first, &target.host())
            {
                return Err(FetchError::OtherHost { host: target.host() });
            }
            let addresses = self.guard.resolve(&target).await?;
            if url.host_str() != Some(&target.host()) {
                // The same name without its final dot, which certificates do not know.
                url.set_host(Some(&target.host())).map_err(|_| FetchError::BadRedirect)?;
            }
            let response = hop::send(&url, addresses, known, &self.limits).await?;
            let next = hop::redirect(&response, &url)?;
            let Some(next) = next else {
                return self.finish(url, redirects, response).await;
            };
            if redirects.len() == self.limits.redirects {
                return Err(FetchError::TooManyRedirects { most: self.limits.redirects });
            }
            redirects.push(std::mem::replace(&mut url, next));
        }
    }

    async fn finish(
        &self,
        url: Url,
        redirects: Vec<Url>,
        response: reqwest::Response,
    ) -> Result<Fetched, FetchError> {
        let status = response.status();
        let is_unchanged = status == StatusCode::NOT_MODIFIED;
        if !status.is_success() && !is_unchanged {
            let retry_after = hop::retry_after(response.headers());
            return Err(FetchError::Status { status: status.as_u16(), retry_after });
        }
        let header = |name| hop::header(response.headers(), name);
        let content_type = header(reqwest::header::CONTENT_TYPE);
        let etag = header(reqwest::header::ETAG);
        let last_modified = header(reqwest::header::LAST_MODIFIED);
        let bytes = match is_unchanged {
            true => Vec::new(),
            false => body::read(response, self.limits.bytes).await?,
        };
        let status = status.as_u16();
        Ok(Fetched { url, redirects, status, content_type, bytes, etag, last_modified })
    }
}
