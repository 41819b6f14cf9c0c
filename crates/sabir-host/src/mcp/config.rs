//! The `[mcp.NAME]` sections of a configuration text, read once into checked types. It starts
//! nothing and reads no environment: a secret is a name here until a server starts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use toml::Table;

use super::section::Section;
use crate::process::environment::sounds_secret;

/// The servers that tools come from, by name.
#[derive(Debug, Clone, Default)]
pub struct McpConfig {
    pub(super) servers: Vec<ServerConfig>,
    /// Variables that no server inherits.
    pub(super) withheld: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ServerConfig {
    pub(super) name: String,
    pub(super) transport: Transport,
    pub(super) startup_timeout: Duration,
    pub(super) call_timeout: Duration,
    pub(super) trusted: bool,
    pub(super) filter: ToolFilter,
}

#[derive(Debug, Clone)]
pub(super) enum Transport {
    Stdio(StdioConfig),
    Http(HttpConfig),
}

#[derive(Clone)]
pub(super) struct StdioConfig {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) env: BTreeMap<String, Secret>,
    /// Variables of our own environment that are handed on although their names sound secret.
    pub(super) pass_env: Vec<String>,
    pub(super) cwd: Option<PathBuf>,
}

#[derive(Clone)]
pub(super) struct HttpConfig {
    pub(super) url: Url,
    pub(super) headers: BTreeMap<String, Secret>,
    /// Header name to the name of the variable that holds its value.
    pub(super) env_headers: BTreeMap<String, String>,
}

/// Which tools of a server are offered.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolFilter {
    pub(super) enabled: Option<BTreeSet<String>>,
    pub(super) disabled: BTreeSet<String>,
}

/// A value that may be secret: people print configurations.
#[derive(Clone)]
pub(super) struct Secret(pub(super) String);

/// Why a configuration text is refused. No value of the text is quoted, only keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpConfigError {
    /// Not TOML.
    Syntax {
        line: Option<usize>,
        message: String,
    },
    /// `mcp` or one of its servers is not a table.
    NotATable {
        place: String,
    },
    /// A server name that could not stand in a tool name.
    BadName {
        server: String,
    },
    UnknownKey {
        server: String,
        key: String,
        nearest: Option<&'static str>,
    },
    WrongType {
        server: String,
        key: String,
        wanted: &'static str,
    },
    /// Neither `command` nor `url`.
    NoTransport {
        server: String,
    },
    /// A key of the one transport beside the other.
    MixedTransports {
        server: String,
        key: &'static str,
        with: &'static str,
    },
    BadUrl {
        server: String,
        problem: &'static str,
    },
    BadHeader {
        server: String,
        header: String,
        problem: &'static str,
    },
    /// What should be a name of a variable is none. It is not quoted: it may be the secret itself.
    BadVariable {
        server: String,
    },
}

impl McpConfig {
    /// The one server of this name, or none.
    pub(crate) fn only(&self, name: &str) -> Self {
        let servers = self.servers.iter().filter(|server| server.name == name).cloned().collect();
        Self { servers, withheld: self.withheld.clone() }
    }

    /// Keeps variables from every server that is not given them by name, as
    /// [`crate::process::Runner::withholding`] keeps them from commands.
    #[must_use]
    pub fn withholding(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.withheld.extend(variables);
        self
    }

    /// Reads the `[mcp.NAME]` sections. Other sections of the text belong to others.
    pub fn parse(text: &str) -> Result<Self, McpConfigError> {
        let mut document: Table = text.parse().map_err(|error| syntax_error(text, &error))?;
        let Some(section) = document.remove("mcp") else { return Ok(Self::default()) };
        let toml::Value::Table(section) = section else {
            return Err(McpConfigError::NotATable { place: "mcp".to_owned() });
        };
        let mut servers = section
            .into_iter()
            .map(|(name, value)| read_server(name, value))
            .collect::<Result<Vec<_>, _>>()?;
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { servers, withheld: Vec::new() })
    }

    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The names of the servers, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }
}

impl ToolFilter {
    pub(super) fn admits(&self, tool: &str) -> bool {
        self.enabled.as_ref().is_none_or(|enabled| enabled.contains(tool))
            && !self.disabled.contains(tool)
    }
}

impl HttpConfig {
    /// The address without what may be secret in it.
    pub(super) fn shown_url(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }
}

impl McpConfigError {
    /// What to type instead.
    pub fn help(&self) -> String {
        match self {
            Self::Syntax { .. } => "check the quotes and brackets of that line".to_owned(),
            Self::NotATable { .. } => {
                "write `[mcp.NAME]` on a line of its own, keys below it".to_owned()
            }
            Self::BadName { .. } => format!(
                "use letters, digits, `-` and single `_` inside, at most {MAX_NAME} characters"
            ),
            Self::UnknownKey { nearest: Some(nearest), .. } => format!("write `{nearest}`"),
            Self::UnknownKey { nearest: None, .. } => format!("the keys are {}", KEYS.join(", ")),
            Self::WrongType { key, wanted, .. } => format!("write `{key} = {wanted}`"),
            Self::NoTransport { .. } => {
                "write `command = [\"prog\", \"arg\"]` or `url = \"https://host/mcp\"`".to_owned()
            }
            Self::MixedTransports { key, with, .. } => {
                format!("remove `{key}` or `{with}`: a server is a command or an address")
            }
            Self::BadUrl { .. } => "write `url = \"https://host/mcp\"`".to_owned(),
            Self::BadHeader { header, .. } => {
                format!("write `env_headers = {{ {header} = \"NAME_OF_A_VARIABLE\" }}`")
            }
            Self::BadVariable { .. } => "write the name of a variable, not its value".to_owned(),
        }
    }
}

impl fmt::Display for McpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line: Some(line), message } => write!(f, "line {line}: {message}"),
            Self::Syntax { line: None, message } => f.write_str(message),
            Self::NotATable { place } => write!(f, "`{place}` is not a section"),
            Self::BadName { server } => write!(f, "`{server}` cannot be the name of an MCP server"),
            Self::UnknownKey { server, key, .. } => {
                write!(f, "unknown key `{key}` in `[mcp.{server}]`")
            }
            Self::WrongType { server, key, .. } => {
                write!(f, "`{key}` in `[mcp.{server}]` has a value that does not fit")
            }
            Self::NoTransport { server } => {
                write!(f, "`[mcp.{server}]` has neither `command` nor `url`")
            }
            Self::MixedTransports { server, key, with } => {
                write!(f, "`[mcp.{server}]` has `{key}` beside `{with}`")
            }
            Self::BadUrl { server, problem } => write!(f, "`url` in `[mcp.{server}]` {problem}"),
            Self::BadHeader { server, header, problem } => {
                write!(f, "header `{header}` in `[mcp.{server}]` {problem}")
            }
            Self::BadVariable { server } => {
                write!(f, "`[mcp.{server}]` has something else where a name of a variable belongs")
            }
        }
    }
}

impl std::error::Error for McpConfigError {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments are left out: people put keys there.
        f.debug_struct("StdioConfig")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("env", &self.env)
            .field("pass_env", &self.pass_env)
            .field("cwd", &self.cwd)
            .finish()
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("url", &self.shown_url())
            .field("headers", &self.headers)
            .field("env_headers", &self.env_headers)
            .finish()
    }
}

fn syntax_error(text: &str, error: &toml::de::Error) -> McpConfigError {
    // The error's own `Display` quotes the line, which may hold a secret.
    let line = error.span().map(|span| {
        let before = text.as_bytes().get(..span.start).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    });
    McpConfigError::Syntax { line, message: error.message().to_owned() }
}

fn read_server(name: String, value: toml::Value) -> Result<ServerConfig, McpConfigError> {
    if !is_server_name(&name) {
        return Err(McpConfigError::BadName { server: name });
    }
    let toml::Value::Table(table) = value else {
        return Err(McpConfigError::NotATable { place: format!("mcp.{name}") });
    };
    let mut section = Section::new(&name, table, KEYS)?;
    let startup_timeout = section.milliseconds("startup_timeout_ms")?;
    let call_timeout = section.milliseconds("call_timeout_ms")?;
    let trusted = section.flag("trusted")?.unwrap_or(false);
    let enabled = section.strings("enabled_tools")?.map(BTreeSet::from_iter);
    let disabled = section.strings("disabled_tools")?.unwrap_or_default();
    let transport = read_transport(&mut section)?;
    Ok(ServerConfig {
        transport,
        startup_timeout: startup_timeout.unwrap_or(STARTUP_TIMEOUT),
        call_timeout: call_timeout.unwrap_or(CALL_TIMEOUT),
        trusted,
        filter: ToolFilter { enabled, disabled: disabled.into_iter().collect() },
        name,
    })
}

fn read_transport(section: &mut Section<'_>) -> Result<Transport, McpConfigError> {
    let command = section.strings("command")?;
    let url = section.string("url")?;
    let server = section.server();
    match (command, url) {
        (None, None) => Err(McpConfigError::NoTransport { server }),
        (Some(_), Some(_)) => {
            Err(McpConfigError::MixedTransports { server, key: "url", with: "command" })
        }
        (Some(command), None) => {
            section.refuse(&["headers", "env_headers"], "command")?;
            read_stdio(section, command).map(Transport::Stdio)
        }
        (None, Some(url)) => {
            section.refuse(&["env", "pass_env", "cwd"], "url")?;
            read_http(section, &url).map(Transport::Http)
        }
    }
}

fn read_stdio(
    section: &mut Section<'_>,
    command: Vec<String>,
) -> Result<StdioConfig, McpConfigError> {
    let wrong_command = McpConfigError::WrongType {
        server: section.server(),
        key: "command".to_owned(),
        wanted: "[\"prog\", \"arg\"]",
    };
    let mut words = command.into_iter();
    let program = words.next().filter(|program| !program.is_empty()).ok_or(wrong_command)?;
    let env = section.map("env")?.unwrap_or_default();
    let pass_env = section.strings("pass_env")?.unwrap_or_default();
    for variable in env.keys().chain(&pass_env) {
        check_variable(section, variable)?;
    }
    Ok(StdioConfig {
        program,
        arguments: words.collect(),
        env: env.into_iter().map(|(name, value)| (name, Secret(value))).collect(),
        pass_env,
        cwd: section.string("cwd")?.map(PathBuf::from),
    })
}

fn read_http(section: &mut Section<'_>, url: &str) -> Result<HttpConfig, McpConfigError> {
    let headers = section.map("headers")?.unwrap_or_default();
    let env_headers = section.map("env_headers")?.unwrap_or_default();
    let bad_url = |problem| McpConfigError::BadUrl { server: section.server(), problem };
    let url = Url::parse(url).map_err(|_| bad_url("is not an address"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad_url("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad_url("holds a name or a password"));
    }
    let bad_header = |header: &str, problem| McpConfigError::BadHeader {
        server: section.server(),
        header: header.to_owned(),
        problem,
    };
    for (name, value) in &headers {
        if is_secret_header(name) {
            return Err(bad_header(name, "is a secret, which comes from the environment only"));
        }
        if reqwest::header::HeaderValue::from_str(value).is_err() {
            return Err(bad_header(name, "has a value that no header can have"));
        }
    }
    for name in headers.keys().chain(env_headers.keys()) {
        if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(bad_header(name, "is no name of a header"));
        }
    }
    for variable in env_headers.values() {
        check_variable(section, variable)?;
    }
    if !env_headers.is_empty() && url.scheme() == "http" && !is_loopback(&url) {
        return Err(bad_url("would send secrets unencrypted over the network"));
    }
    let headers = headers.into_iter().map(|(name, value)| (name, Secret(value))).collect();
    Ok(HttpConfig { url, headers, env_headers })
}

/// Two underscores part server and tool in a tool's name, so that a server's name has none.
fn is_server_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && !name.starts_with('_')
        && !name.ends_with('_')
        && !name.contains("__")
}

fn check_variable(section: &Section<'_>, variable: &str) -> Result<(), McpConfigError> {
    let starts_well = variable.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && variable.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    Err(McpConfigError::BadVariable { server: section.server() })
}

fn is_secret_header(name: &str) -> bool {
    let known = ["authorization", "proxy-authorization", "cookie"];
    known.iter().any(|known| name.eq_ignore_ascii_case(known)) || sounds_secret(name)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// What a section can say.
pub(crate) const KEYS: &[&str] = &[
    "command",
    "env",
    "pass_env",
    "cwd",
    "url",
    "headers",
    "env_headers",
    "startup_timeout_ms",
    "call_timeout_ms",
    "trusted",
    "enabled_tools",
    "disabled_tools",
];

/// Leaves 32 of the 64 characters of a tool's name to the tool.
const MAX_NAME: usize = 24;

/// Long enough for an interpreter to load its packages, short enough that a person still waits.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Long enough for a slow query or page, short enough that a model's turn goes on.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
