//! What can go wrong with a tool of a server, and what a person should hear about servers. The
//! words of servers come in cleaned; nothing here holds a secret.

use std::fmt;
use std::time::Duration;

/// Why a call gave no answer. An answer that reports an error is an answer: see
/// [`McpOutput::is_error`](super::McpOutput).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpError {
    /// No server offers a tool of this name now.
    UnknownTool {
        name: String,
        nearest: Option<String>,
    },
    /// The arguments are no JSON object.
    BadArguments {
        name: String,
    },
    /// The server does not run and could not be started.
    Start {
        server: String,
        reason: String,
    },
    /// The server failed so often that it is left alone for a while.
    Resting {
        server: String,
        reason: String,
        left: Duration,
    },
    /// The server went away during the call, which may or may not have had its effect.
    Ended {
        server: String,
        tool: String,
        reason: String,
    },
    /// The server could not be reached for this call, and may be for the next.
    Unreached {
        server: String,
        tool: String,
        reason: String,
    },
    Timeout {
        server: String,
        tool: String,
        after: Duration,
    },
    Cancelled {
        server: String,
        tool: String,
    },
    /// The server answered with an error of the protocol.
    Refused {
        server: String,
        tool: String,
        code: i32,
        message: String,
    },
    /// The server wants to ask the user something first.
    WantsInput {
        server: String,
        tool: String,
    },
    /// The server's answer is none that the protocol knows.
    Misbehaved {
        server: String,
        tool: String,
    },
    /// All servers are being shut down.
    Stopped,
}

/// Something about a server that a person should hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpNotice {
    pub server: String,
    pub message: String,
}

impl McpError {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Start { .. }
            | Self::Resting { .. }
            | Self::Ended { .. }
            | Self::Unreached { .. }
            | Self::Timeout { .. } => true,
            Self::UnknownTool { .. }
            | Self::BadArguments { .. }
            | Self::Cancelled { .. }
            | Self::Refused { .. }
            | Self::WantsInput { .. }
            | Self::Misbehaved { .. }
            | Self::Stopped => false,
        }
    }

    /// What to do about it, where there is something.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownTool { nearest: Some(nearest), .. } => Some(format!("call `{nearest}`")),
            Self::BadArguments { .. } => Some("write the arguments as a JSON object".to_owned()),
            Self::Start { server, .. } | Self::Resting { server, .. } => {
                Some(format!("check `[mcp.{server}]` in the configuration"))
            }
            Self::Timeout { server, .. } => {
                Some(format!("raise `call_timeout_ms` in `[mcp.{server}]`"))
            }
            Self::UnknownTool { nearest: None, .. }
            | Self::Ended { .. }
            | Self::Unreached { .. }
            | Self::Cancelled { .. }
            | Self::Refused { .. }
            | Self::WantsInput { .. }
            | Self::Misbehaved { .. }
            | Self::Stopped => None,
        }
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { name, .. } => write!(f, "no MCP server offers a tool `{name}`"),
            Self::BadArguments { name } => {
                write!(f, "the arguments of `{name}` are not a JSON object")
            }
            Self::Start { server, reason } => {
                write!(f, "MCP server `{server}` did not start: {reason}")
            }
            Self::Resting { server, reason, left } => write!(
                f,
                "MCP server `{server}` failed repeatedly and is tried again in {} s: {reason}",
                left.as_secs().max(1)
            ),
            Self::Ended { server, tool, reason } => {
                write!(f, "MCP server `{server}` went away during `{tool}`: {reason}")
            }
            Self::Unreached { server, tool, reason } => {
                write!(f, "`{tool}` did not reach MCP server `{server}`: {reason}")
            }
            Self::Timeout { server, tool, after } => write!(
                f,
                "`{tool}` of MCP server `{server}` gave no answer within {} ms",
                after.as_millis()
            ),
            Self::Cancelled { server, tool } => {
                write!(f, "`{tool}` of MCP server `{server}` was cancelled")
            }
            Self::Refused { server, tool, code, message } => {
                write!(f, "MCP server `{server}` refused `{tool}` (error {code}): {message}")
            }
            Self::WantsInput { server, tool } => write!(
                f,
                "`{tool}` of MCP server `{server}` wants to ask the user, which is not supported"
            ),
            Self::Misbehaved { server, tool } => write!(
                f,
                "MCP server `{server}` answered `{tool}` with something that is no tool result"
            ),
            Self::Stopped => f.write_str("the MCP servers are shut down"),
        }
    }
}

impl std::error::Error for McpError {}

impl fmt::Display for McpNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server `{}`: {}", self.server, self.message)
    }
}
