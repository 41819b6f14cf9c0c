//! What can go wrong with the browser, with the codes of the specification.

use std::error::Error;
use std::fmt;

use crate::egress::Refused;

/// Why there is no browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserError {
    /// None of the names is a program here.
    NotInstalled,
    /// It did not start, or did not answer.
    NotStarted { reason: String },
}

impl fmt::Display for BrowserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInstalled => {
                f.write_str("no Chromium is installed (Debian's package is `chromium`)")
            }
            Self::NotStarted { reason } => write!(f, "the browser did not start: {reason}"),
        }
    }
}

impl Error for BrowserError {}

/// Why a tool of the browser did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    pub code: ToolCode,
    pub message: String,
    /// Where the guard was the reason.
    pub refused: Option<Refused>,
}

impl ToolError {
    pub(super) fn new(code: ToolCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), refused: None }
    }

    pub(super) fn refused(code: ToolCode, refused: Refused) -> Self {
        Self { code, message: refused.to_string(), refused: Some(refused) }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.as_str())
    }
}

impl Error for ToolError {}

/// The codes that a model is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolCode {
    InvalidArguments,
    InvalidUrl,
    NoActiveTab,
    NoTargetTab,
    NoContext,
    OpenTabFailed,
    NavigationFailed,
    BackFailed,
    ForwardFailed,
    RefreshFailed,
    NotFound,
    StaleHandle,
    NotInteractable,
    Disabled,
    BlockedByOverlay,
    SearchUnavailable,
    SearchFailed,
    RuntimeUnavailable,
}

impl ToolCode {
    pub const ALL: [Self; 18] = [
        Self::InvalidArguments,
        Self::InvalidUrl,
        Self::NoActiveTab,
        Self::NoTargetTab,
        Self::NoContext,
        Self::OpenTabFailed,
        Self::NavigationFailed,
        Self::BackFailed,
        Self::ForwardFailed,
        Self::RefreshFailed,
        Self::NotFound,
        Self::StaleHandle,
        Self::NotInteractable,
        Self::Disabled,
        Self::BlockedByOverlay,
        Self::SearchUnavailable,
        Self::SearchFailed,
        Self::RuntimeUnavailable,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "INVALID_ARGUMENTS",
            Self::InvalidUrl => "INVALID_URL",
            Self::NoActiveTab => "NO_ACTIVE_TAB",
            Self::NoTargetTab => "NO_TARGET_TAB",
            Self::NoContext => "NO_CONTEXT",
            Self::OpenTabFailed => "OPEN_TAB_FAILED",
            Self::NavigationFailed => "NAVIGATION_FAILED",
            Self::BackFailed => "BACK_FAILED",
            Self::ForwardFailed => "FORWARD_FAILED",
            Self::RefreshFailed => "REFRESH_FAILED",
            Self::NotFound => "NOT_FOUND",
            Self::StaleHandle => "STALE_HANDLE",
            Self::NotInteractable => "NOT_INTERACTABLE",
            Self::Disabled => "DISABLED",
            Self::BlockedByOverlay => "BLOCKED_BY_OVERLAY",
            Self::SearchUnavailable => "SEARCH_UNAVAILABLE",
            Self::SearchFailed => "SEARCH_FAILED",
            Self::RuntimeUnavailable => "RUNTIME_UNAVAILABLE",
        }
    }

    pub(super) fn from_wire(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == code)
    }
}

impl fmt::Display for ToolCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
