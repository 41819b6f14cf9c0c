//! Who may speak HTTP to us: not the pages in a person's browser, and only those who know the token.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::token::Token;

/// The rules of one listener.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    pub(crate) token: Option<Token>,
    pub(crate) reach: Reach,
    pub(crate) dialect: Dialect,
}

/// Who can reach a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Loopback,
    Network,
}

/// How refusals are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Plain,
    Grpc,
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turned {
    /// A name that is not this machine's, as a page has that points its own name at us.
    Host,
    /// A page of another site.
    Origin,
    NoToken,
    WrongToken,
    /// All places are taken.
    Busy,
}

impl Turned {
    fn message(self) -> &'static str {
        match self {
            Self::Host => {
                "this server is for programs of this machine: ask for localhost or 127.0.0.1"
            }
            Self::Origin => "pages of other sites may not use this server",
            Self::NoToken => "a token is needed: send the header `authorization: Bearer TOKEN`",
            Self::WrongToken => "the token is wrong",
            Self::Busy => "too many sessions are open: try again later",
        }
    }

    pub(crate) fn status(self) -> tonic::Status {
        match self {
            Self::Host | Self::Origin => tonic::Status::permission_denied(self.message()),
            Self::NoToken | Self::WrongToken => tonic::Status::unauthenticated(self.message()),
            Self::Busy => tonic::Status::resource_exhausted(self.message()),
        }
    }

    pub(crate) fn response(self) -> Response {
        let text = format!("{}\n", self.message());
        match self {
            Self::Host | Self::Origin => (StatusCode::FORBIDDEN, text).into_response(),
            Self::NoToken | Self::WrongToken => {
                (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], text).into_response()
            }
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, text).into_response(),
        }
    }
}

/// Lets a request through, or answers it.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match (guard.check(request.uri(), request.headers()), guard.dialect) {
        (Ok(()), _) => next.run(request).await,
        (Err(turned), Dialect::Plain) => turned.response(),
        (Err(turned), Dialect::Grpc) => turned.status().into_http(),
    }
}

impl Guard {
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Turned> {
        check_site(self.reach, &[], uri, headers)?;
        let Some(token) = &self.token else { return Ok(()) };
        match headers.get(AUTHORIZATION) {
            None => Err(Turned::NoToken),
            Some(given) if token.admits(given.as_bytes()) => Ok(()),
            Some(_) => Err(Turned::WrongToken),
        }
    }
}

/// Turns away what a browser sends for a page of another site. `own` are names that the machine has
/// beside its addresses; where there are some, no others are taken.
pub(crate) fn check_site(
    reach: Reach,
    own: &[String],
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Turned> {
    // HTTP/2 says in the address what HTTP/1.1 says in a header; some say it in both.
    let mut hosts = headers.get_all(HOST).iter();
    // Who passes requests on may have looked at the other one.
    let (host, None) = (hosts.next(), hosts.next()) else { return Err(Turned::Host) };
    let host = host.map(|host| Authority::try_from(host.as_bytes())).transpose();
    let host = host.map_err(|_| Turned::Host)?;
    let names = || uri.authority().into_iter().chain(&host);
    let is_own_name = |name: &Authority| own.iter().any(|it| it.eq_ignore_ascii_case(name.host()));
    let is_good = |name: &Authority| match reach {
        Reach::Loopback => is_loopback(name) || is_own_name(name),
        Reach::Network => own.is_empty() || is_address(name) || is_own_name(name),
    };
    if (reach == Reach::Loopback && names().next().is_none()) || !names().all(is_good) {
        return Err(Turned::Host);
    }
    for origin in headers.get_all(ORIGIN) {
        let is_own = origin.to_str().is_ok_and(|origin| is_own(origin, names()));
        if !is_own {
            return Err(Turned::Origin);
        }
    }
    Ok(())
}

/// No page has a number for a name, so that none can point it at us.
fn is_address(name: &Authority) -> bool {
    let host = name.host();
    host.eq_ignore_ascii_case("localhost")
        || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

fn is_loopback(name: &Authority) -> bool {
    let host = name.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

fn is_own<'a>(origin: &str, names: impl Iterator<Item = &'a Authority>) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let mut names = names.peekable();
    host.is_some_and(|host| {
        names.peek().is_some() && names.all(|name| name.as_str().eq_ignore_ascii_case(host))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reach: Reach, uri: &str, headers: &[(&str, &str)]) -> Result<(), Turned> {
        let token = headers.iter().any(|(name, _)| *name == "authorization");
        let token = token.then(|| Token::new("word").unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(axum::http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        let guard = Guard { token, reach, dialect: Dialect::Plain };
        guard.check(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn a_loopback_listener_has_loopback_names() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:9", "127.1.2.3", "[::1]:9"] {
            assert_eq!(check(Reach::Loopback, "/", &[("host", host)]), Ok(()), "{host}");
            let uri = format!("http://{host}/session");
            assert_eq!(check(Reach::Loopback, &uri, &[]), Ok(()), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:9", "10.0.0.1", "127.0.0.1.x", "a b"] {
            assert_eq!(check(Reach::Loopback, "/", &[("host", host)]), Err(Turned::Host), "{host}");
        }
        assert_eq!(check(Reach::Loopback, "/", &[]), Err(Turned::Host));
        let both = check(Reach::Loopback, "http://localhost/", &[("host", "evil.example")]);
        assert_eq!(both, Err(Turned::Host));
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(check(Reach::Loopback, "/", &twice), Err(Turned::Host));
        assert_eq!(check(Reach::Network, "/", &[("host", "agents.example")]), Ok(()));
    }

    #[test]
    fn only_pages_of_the_listener_itself_may_ask() {
        let from =
            |reach, origin| check(reach, "/", &[("host", "localhost:9"), ("origin", origin)]);
        assert_eq!(from(Reach::Loopback, "http://localhost:9"), Ok(()));
        for origin in ["null", "http://localhost:8", "http://127.0.0.1:9", "https://evil.example"] {
            assert_eq!(from(Reach::Loopback, origin), Err(Turned::Origin), "{origin}");
            assert_eq!(from(Reach::Network, origin), Err(Turned::Origin), "{origin}");
        }
    }

    #[test]
    fn the_token_is_the_whole_token() {
        let with = |value| check(Reach::Network, "/", &[("authorization", value)]);
        assert_eq!(with("Bearer word"), Ok(()));
        assert_eq!(with("bearer word"), Ok(()));
        for value in ["Bearer wor", "Bearer words", "Bearer ", "word", "", "Basic word"] {
            assert_eq!(with(value), Err(Turned::WrongToken), "{value}");
        }
    }

    /// LD-H9: behind a proxy a node has names, which no page of another site can take for itself.
    #[test]
    fn names_that_were_said_are_taken_and_no_others() {
        let own = ["agents.example".to_owned()];
        let ask = |reach, host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            check_site(reach, &own, &"/".parse().unwrap(), &headers)
        };
        for reach in [Reach::Loopback, Reach::Network] {
            assert_eq!(ask(reach, "agents.example", None), Ok(()));
            assert_eq!(ask(reach, "Agents.Example:8443", None), Ok(()));
            assert_eq!(ask(reach, "127.0.0.1:7420", None), Ok(()));
            assert_eq!(ask(reach, "localhost", None), Ok(()));
            for host in ["evil.example", "agents.example.evil.example", "x.agents.example"] {
                assert_eq!(ask(reach, host, None), Err(Turned::Host), "{host}");
            }
            let page = |origin| ask(reach, "agents.example", Some(origin));
            assert_eq!(page("https://agents.example"), Ok(()));
            assert_eq!(page("https://evil.example"), Err(Turned::Origin));
        }
        assert_eq!(ask(Reach::Network, "10.0.0.7:7420", None), Ok(()));
        assert_eq!(ask(Reach::Loopback, "10.0.0.7:7420", None), Err(Turned::Host));
    }
}
