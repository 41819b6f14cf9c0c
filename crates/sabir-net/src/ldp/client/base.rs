//! Where a delegate is reached over HTTP. It knows which addresses are taken and how paths are put
//! behind them, and connects to none.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use sabir_ldp::Origin;

/// The checked root of a delegate's addresses: `http` or `https`, a host, no credentials.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Base {
    url: Url,
    /// On this machine, where nobody listens in.
    is_near: bool,
}

/// Whether a scheme that does not say it may be carried without TLS to another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlainHttp {
    #[default]
    LoopbackOnly,
    Anywhere,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressError {
    NotUrl,
    UnknownScheme(String),
    NoHost,
    /// What stands in an address is shown, logged and sent on.
    HasCredentials,
    /// A query or a fragment.
    HasExtras,
    TooLong,
    /// `mcp+stdio:` without a command.
    NoCommand,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUrl => f.write_str("expected an address like ldp://host:7420"),
            // `127.0.0.1:7420` and `localhost:7420`: a host is no scheme.
            Self::UnknownScheme(host) if is_host(host) => write!(
                f,
                "the address begins with a host: write ldp:// before it, as in ldp://{host}:7420"
            ),
            Self::UnknownScheme(scheme) => write!(
                f,
                "the scheme {scheme:?} is not known: use ldp, https, http, a2a, mcp or mcp+stdio"
            ),
            Self::NoHost => f.write_str("the address names no host"),
            Self::HasCredentials => f.write_str(
                "the address carries credentials: give a token in the configuration instead",
            ),
            Self::HasExtras => f.write_str("the address has a query or a fragment"),
            Self::TooLong => write!(f, "the address is longer than {MAX_BYTES} bytes"),
            Self::NoCommand => f.write_str("expected a command after mcp+stdio:"),
        }
    }
}

impl std::error::Error for AddressError {}

/// Whether what stands before the first colon is meant as a host.
fn is_host(text: &str) -> bool {
    let is_name = text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-'));
    is_name && (text == "localhost" || text.contains('.'))
}

impl Base {
    /// From an `ldp`, `http` or `https` URL.
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, AddressError> {
        let (scheme, _) = text.split_once(':').ok_or(AddressError::NotUrl)?;
        Self::of_scheme(text, "ldp", plain).and_then(|base| match base {
            Some(base) => Ok(base),
            None => Err(AddressError::UnknownScheme(sabir_base::text::one_line(scheme, 40))),
        })
    }

    /// The same where `scheme` stands for HTTP with TLS. None if the text has another scheme.
    pub(crate) fn of_scheme(
        text: &str,
        scheme: &str,
        plain: PlainHttp,
    ) -> Result<Option<Self>, AddressError> {
        if text.len() > MAX_BYTES {
            return Err(AddressError::TooLong);
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(AddressError::NotUrl);
        }
        let (given, rest) = text.split_once(':').ok_or(AddressError::NotUrl)?;
        let given = given.to_ascii_lowercase();
        let is_ours = given == scheme;
        if !is_ours && given != "http" && given != "https" {
            return Ok(None);
        }
        if !rest.starts_with("//") {
            return Err(AddressError::NotUrl);
        }
        // Read as HTTPS first: only a scheme with known rules gives a host in its one spelling.
        let written = if given == "http" { "http" } else { "https" };
        let mut url = Url::parse(&format!("{written}:{rest}")).map_err(|_| AddressError::NotUrl)?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(AddressError::NoHost);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::HasCredentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::HasExtras);
        }
        let is_near = is_loopback(&url);
        if is_ours && (is_near || plain == PlainHttp::Anywhere) {
            let port = url.port();
            // The port of HTTPS was dropped as the usual one; a plain address has to name it.
            let port = port.or_else(|| rest.contains(":443").then_some(443));
            url.set_scheme("http").map_err(|()| AddressError::NotUrl)?;
            url.set_port(port).map_err(|()| AddressError::NotUrl)?;
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Some(Self { url, is_near }))
    }

    /// As it is shown and kept.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The address of something below it; `path` begins with a slash.
    pub(crate) fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        url
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Scheme, host and port: what a token is given for.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub fn is_near(&self) -> bool {
        self.is_near
    }

    /// Whether both lead to the same server.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        let place = |base: &Self| {
            // One machine has several names for itself.
            let host = base.url.host_str().filter(|_| !base.is_near);
            (host.map(|it| it.trim_end_matches('.').to_owned()), base.url.port_or_known_default())
        };
        place(self) == place(other)
    }

    /// Whether what answers there is who was called, and nobody in between reads or writes.
    pub fn is_private(&self) -> bool {
        self.is_near || self.url.scheme() == "https"
    }

    /// How far an unsigned answer from there is believed.
    pub(crate) fn answers_as(&self) -> Origin {
        if self.is_private() { Origin::Answer } else { Origin::Remote }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost",
    }
}

/// What browsers and proxies agree on.
const MAX_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Base::parse(text, PlainHttp::LoopbackOnly) {
            Ok(base) => base.to_string(),
            Err(error) => format!("! {error}"),
        }
    }

    /// LD-C1
    #[test]
    fn addresses_are_mapped_to_http() {
        assert_eq!(read("ldp://harbor.example"), "https://harbor.example/");
        assert_eq!(read("ldp://harbor.example:7420/a/"), "https://harbor.example:7420/a");
        assert_eq!(read("LDP://127.0.0.1:7420"), "http://127.0.0.1:7420/");
        assert_eq!(read("ldp://[::1]:7420"), "http://[::1]:7420/");
        assert_eq!(read("ldp://localhost:443"), "http://localhost:443/");
        assert_eq!(read("ldp://localhost"), "http://localhost/");
        assert_eq!(read("http://harbor.example"), "http://harbor.example/");
        assert_eq!(read("https://127.0.0.1:1"), "https://127.0.0.1:1/");
        let told = Base::parse("ldp://harbor.example:80", PlainHttp::Anywhere).unwrap();
        assert_eq!(told.as_str(), "http://harbor.example/");
        assert_eq!(told.at("/ldp/messages").as_str(), "http://harbor.example/ldp/messages");
        let below = Base::parse("https://a.example/x", PlainHttp::LoopbackOnly).unwrap();
        assert_eq!(below.at("/ldp/messages").as_str(), "https://a.example/x/ldp/messages");
    }

    /// LD-C2
    #[test]
    fn other_addresses_are_refused() {
        for (text, why) in [
            ("harbor.example", "expected an address"),
            ("ftp://harbor.example", "the scheme \"ftp\""),
            ("127.0.0.1:7420", "as in ldp://127.0.0.1:7420"),
            ("localhost:7420", "as in ldp://localhost:7420"),
            ("harbor.example:7420/a", "as in ldp://harbor.example:7420"),
            ("file:///etc/passwd", "the scheme \"file\""),
            ("ldp:harbor", "expected an address"),
            ("ldp://", "expected an address"),
            ("ldp://user:pw@harbor.example", "carries credentials"),
            ("https://user@harbor.example", "carries credentials"),
            ("https://harbor.example/?q=1", "a query"),
            ("https://harbor.example/#f", "a query"),
            ("https://harbor.example/\n", "expected an address"),
            ("", "expected an address"),
        ] {
            assert!(read(text).contains(why), "{text}: {}", read(text));
        }
        assert!(read(&format!("ldp://{}", "a".repeat(3000))).contains("longer"));
    }

    /// LD-C5
    #[test]
    fn plain_http_to_another_machine_is_not_private() {
        let far = Base::parse("http://harbor.example", PlainHttp::Anywhere).unwrap();
        assert!(!far.is_private());
        assert_eq!(far.answers_as(), Origin::Remote);
        for text in ["http://127.0.0.1", "https://harbor.example", "http://[::1]:9"] {
            let base = Base::parse(text, PlainHttp::LoopbackOnly).unwrap();
            assert_eq!(base.answers_as(), Origin::Answer, "{text}");
        }
        assert!(!is_loopback(&Url::parse("http://127.0.0.1.example").unwrap()));
    }
}
