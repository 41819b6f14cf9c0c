//! What can go wrong with a fetch, and whether to try again.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::egress::Refused;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// We would not go there.
    Refused(Refused),
    TooManyRedirects {
        most: usize,
    },
    /// A redirect that does not say where to.
    BadRedirect,
    /// A redirect from https to http.
    Downgrade,
    /// A redirect to a host that this fetch was not allowed for.
    OtherHost {
        host: String,
    },
    /// The server answered, but not with a page.
    Status {
        status: u16,
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
    },
    TooLarge {
        most: usize,
    },
    /// Packed in a way we did not ask for, or not as it says.
    Packing {
        name: String,
    },
    TimedOut,
    Connect {
        reason: String,
    },
    /// The connection ended before the page did.
    Broken {
        reason: String,
    },
    /// This machine cannot fetch at all.
    Client {
        reason: String,
    },
}

impl FetchError {
    /// Stable, for scripts and stored jobs. A refusal has the code of its reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refused) => refused.code(),
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::BadRedirect => "bad_redirect",
            Self::Downgrade => "downgrade",
            Self::OtherHost { .. } => "other_host",
            Self::Status { .. } => "http_status",
            Self::TooLarge { .. } => "too_large",
            Self::Packing { .. } => "packing",
            Self::TimedOut => "timed_out",
            Self::Connect { .. } => "connect",
            Self::Broken { .. } => "broken",
            Self::Client { .. } => "client",
        }
    }

    /// Whether the same fetch may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504)
            }
            Self::TimedOut | Self::Connect { .. } | Self::Broken { .. } => true,
            Self::Refused(refused) => refused.reason() == crate::egress::Reason::Unresolved,
            Self::TooManyRedirects { .. }
            | Self::BadRedirect
            | Self::Downgrade
            | Self::OtherHost { .. }
            | Self::TooLarge { .. }
            | Self::Packing { .. }
            | Self::Client { .. } => false,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::TooManyRedirects { most } => write!(f, "more than {most} redirects"),
            Self::BadRedirect => f.write_str("a redirect that does not say where to"),
            Self::Downgrade => f.write_str("a redirect from https to http is not followed"),
            Self::OtherHost { host } => {
                write!(f, "a redirect to {host} is not followed: it was allowed for another host")
            }
            Self::Status { status, .. } => write!(f, "the server answered {status}"),
            Self::TooLarge { most } => write!(f, "the page is larger than {most} bytes"),
            Self::Packing { name } => write!(f, "the page is packed as {name:?}, and not readable"),
            Self::TimedOut => f.write_str("the server took too long"),
            Self::Connect { reason } => write!(f, "no connection: {reason}"),
            Self::Broken { reason } => write!(f, "the page did not come whole: {reason}"),
            Self::Client { reason } => write!(f, "cannot fetch here: {reason}"),
        }
    }
}

impl Error for FetchError {}

impl From<Refused> for FetchError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
