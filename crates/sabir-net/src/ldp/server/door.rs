//! Who may ask: the checks that every request passes, cheapest first, and what the node is told of
//! the way that a message came. Whom a token or certificate stands for is not known here.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, FORWARDED, HOST, TRANSFER_ENCODING,
};
use axum::http::{HeaderMap, HeaderName, Uri};
use sabir_ldp::{Channel, Credential, Fingerprint, Origin};
use tokio::time::Instant;

use super::options::{Demand, LdpLimits};
use super::rate::Rates;
use super::refusal::Refused;
use super::route::Route;
use crate::guard::{Reach, Turned, check_site};
use crate::token::bearer;

/// What is known of the other side of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    pub(super) address: IpAddr,
    /// Whether either end of the connection is on the loopback interface.
    pub(super) reach: Reach,
    /// Of the client's certificate.
    pub(super) certificate: Option<Fingerprint>,
}

/// What is asked of a caller before it is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A token or certificate, as the server is told to demand it.
    Demanded,
    /// Nothing, but what is shown has to be good.
    Welcome,
    /// Nothing: what is shown may be for somebody else.
    Noted,
}

/// The rules of one server.
#[derive(Debug)]
pub(super) struct Door {
    tokens: Vec<Fingerprint>,
    demand: Demand,
    hosts: Vec<String>,
    far: Mutex<Rates>,
    near: Option<Mutex<Rates>>,
}

impl Caller {
    pub(super) fn new(caller: SocketAddr, here: SocketAddr) -> Self {
        let is_near = |address: SocketAddr| address.ip().to_canonical().is_loopback();
        // A page that points its own name at this machine comes through the loopback interface, even
        // where the listener is open to all.
        let reach = if is_near(caller) || is_near(here) { Reach::Loopback } else { Reach::Network };
        Self { address: caller.ip().to_canonical(), reach, certificate: None }
    }

    /// What a header says can make a caller farther and never nearer: a program of this machine that
    /// forwards requests speaks for somebody else.
    fn origin(&self, headers: &HeaderMap) -> Origin {
        let is_forwarded = FORWARDING.iter().any(|name| headers.contains_key(name));
        if self.address.is_loopback() && !is_forwarded { Origin::Loopback } else { Origin::Remote }
    }
}

static FORWARDING: [HeaderName; 4] = [
    FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-real-ip"),
];

impl Door {
    pub(super) fn new(tokens: Vec<Fingerprint>, demand: Demand, limits: &LdpLimits) -> Self {
        let near = limits.loopback_rate.map(|rate| Mutex::new(Rates::new(rate)));
        let far = Mutex::new(Rates::new(limits.rate));
        Self { tokens, demand, hosts: Vec::new(), far, near }
    }

    /// It has these names, and no others.
    pub(super) fn named(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Takes one request from what its address may ask.
    pub(super) fn take_turn(&self, caller: &Caller) -> Result<(), Refused> {
        let rates = if caller.address.is_loopback() {
            let Some(near) = &self.near else { return Ok(()) };
            near
        } else {
            &self.far
        };
        let mut rates = rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates.take(caller.address, Instant::now()).map_err(|wait| Refused::TooOften { wait })
    }

    /// Pages of other sites are turned away before anything else is said.
    pub(super) fn check_site(
        &self,
        caller: &Caller,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), Refused> {
        check_site(caller.reach, &self.hosts, uri, headers).map_err(|turned| match turned {
            Turned::Origin => Refused::Origin,
            Turned::Host | Turned::NoToken | Turned::WrongToken | Turned::Busy => Refused::Host,
        })
    }

    /// The way that a request came, if it may come that way.
    pub(super) fn channel(
        &self,
        caller: &Caller,
        proof: Proof,
        headers: &HeaderMap,
    ) -> Result<Channel, Refused> {
        let origin = caller.origin(headers);
        let shown = match headers.get(AUTHORIZATION) {
            Some(given) if !self.tokens.is_empty() => {
                match (self.recognise(given.as_bytes()), proof) {
                    (Ok(token), _) => Some(token),
                    (Err(_), Proof::Noted) => None,
                    (Err(refused), Proof::Demanded | Proof::Welcome) => return Err(refused),
                }
            }
            // Where there are no tokens, one says nothing.
            Some(_) | None => None,
        };
        let credential = match (shown, caller.certificate) {
            (Some(token), _) => Some(Credential::Token(token)),
            (None, Some(certificate)) => Some(Credential::Certificate(certificate)),
            (None, None) => None,
        };
        // Where there are no tokens, nobody from elsewhere has one: a server that only this machine can
        // reach is not opened by whatever forwards to it.
        let is_asked = match origin {
            Origin::Loopback => self.demand == Demand::Everyone && !self.tokens.is_empty(),
            Origin::Remote | Origin::Answer => true,
        };
        if is_asked && proof == Proof::Demanded && credential.is_none() {
            return Err(Refused::NoToken);
        }
        Ok(Channel { origin, credential })
    }

    /// Every token is compared, so that the time tells nothing about which was meant.
    fn recognise(&self, authorization: &[u8]) -> Result<Fingerprint, Refused> {
        let given = Fingerprint::of(bearer(authorization).ok_or(Refused::WrongToken)?);
        let known = self.tokens.iter().filter(|token| **token == given).count();
        if known > 0 { Ok(given) } else { Err(Refused::WrongToken) }
    }
}

/// Whatever is in front of us may have gone by the other one.
pub(super) fn check_framing(headers: &HeaderMap) -> Result<(), Refused> {
    let is_twice = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
    if is_twice(&HOST) || is_twice(&TRANSFER_ENCODING) { Err(Refused::Ambiguous) } else { Ok(()) }
}

/// A message is JSON in UTF-8 and nothing around it.
pub(super) fn check_content(headers: &HeaderMap) -> Result<(), Refused> {
    // Of two nobody knows which is meant.
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let kind = kinds.next().filter(|_| kinds.next().is_none());
    let text = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';').map(str::trim);
    let (family, kind) = parts.next().and_then(|kind| kind.split_once('/')).unwrap_or_default();
    let is_json = family.eq_ignore_ascii_case("application")
        && (kind.eq_ignore_ascii_case("json") || ends_with_plus_json(kind));
    let is_utf8 = parts.filter_map(|part| part.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || value.eq_ignore_ascii_case("utf-8")
            || value.eq_ignore_ascii_case("utf8")
    });
    let is_plain = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"));
    let is_plain = is_plain
        && headers
            .get_all(TRANSFER_ENCODING)
            .iter()
            .all(|value| value.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if is_json && is_utf8 && is_plain { Ok(()) } else { Err(Refused::NotJson) }
}

fn ends_with_plus_json(kind: &str) -> bool {
    const END: &[u8] = b"+json";
    let end = kind.as_bytes().last_chunk::<{ END.len() }>();
    end.is_some_and(|end| end.eq_ignore_ascii_case(END))
}

/// Whether the caller takes what is sent at a route. Without a header it takes everything.
pub(super) fn check_accept(route: Route, headers: &HeaderMap) -> Result<(), Refused> {
    let (family, kind) = route.sends();
    let mut ranges = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .peekable();
    let takes = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let (left, right) =
            parts.next().and_then(|range| range.split_once('/')).unwrap_or_default();
        let is_wanted = parts
            .filter_map(|part| part.split_once('='))
            .filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .all(|(_, weight)| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0));
        (left == "*" || left.eq_ignore_ascii_case(family))
            && (right == "*" || right.eq_ignore_ascii_case(kind))
            && is_wanted
    };
    if ranges.peek().is_none() || ranges.any(takes) {
        return Ok(());
    }
    let sends = if route == Route::Stream { "text/event-stream" } else { "application/json" };
    Err(Refused::NotAcceptable { sends })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn only_json_in_utf8_is_read() {
        let of = |value| check_content(&headers(&[("content-type", value)]));
        for fine in [
            "application/json",
            "Application/JSON",
            "application/json; charset=UTF-8",
            "application/json;charset=\"utf8\"",
            "application/ldp+json",
            "APPLICATION/Ldp+Json ; charset=utf-8",
        ] {
            assert_eq!(of(fine), Ok(()), "{fine}");
        }
        for foreign in [
            "",
            "text/plain",
            "text/json",
            "application/jsonx",
            "application/",
            "application",
            "applications/json",
            "application/ldp+jsonx",
            "application/json/x",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json; charset=utf-16",
            "text/plain; application/json",
            "application/json, text/plain",
        ] {
            assert_eq!(of(foreign), Err(Refused::NotJson), "{foreign}");
        }
        assert_eq!(check_content(&HeaderMap::new()), Err(Refused::NotJson));
        let mut two = headers(&[("content-type", "application/json")]);
        two.append(CONTENT_TYPE, "application/json".parse().unwrap());
        assert_eq!(check_content(&two), Err(Refused::NotJson));
        let packed = [("content-type", "application/json"), ("content-encoding", "gzip")];
        assert_eq!(check_content(&headers(&packed)), Err(Refused::NotJson));
        let packed = [("content-type", "application/json"), ("transfer-encoding", "gzip, chunked")];
        assert_eq!(check_content(&headers(&packed)), Err(Refused::NotJson));
        let in_pieces = [("content-type", "application/json"), ("transfer-encoding", "chunked")];
        assert_eq!(check_content(&headers(&in_pieces)), Ok(()));
    }

    #[test]
    fn what_is_sent_must_be_wanted() {
        let of = |route, value| check_accept(route, &headers(&[("accept", value)])).is_ok();
        for wide in ["*/*", "", "text/html, */*;q=0.1", "application/json, text/event-stream"] {
            assert!(of(Route::Messages, wide) && of(Route::Stream, wide), "{wide}");
        }
        assert!(of(Route::Stream, "text/*") && !of(Route::Messages, "text/*"));
        assert!(of(Route::Messages, "application/*") && !of(Route::Stream, "application/json"));
        assert!(!of(Route::Messages, "application/json;q=0, text/html"));
        assert!(!of(Route::Messages, "nonsense"));
    }

    #[test]
    fn a_header_makes_nobody_nearer() {
        let near = Caller::new("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        let far = Caller::new("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let mapped =
            Caller::new("[::ffff:127.0.0.1]:1".parse().unwrap(), "[::]:2".parse().unwrap());
        let none = HeaderMap::new();
        assert_eq!(near.origin(&none), Origin::Loopback);
        assert_eq!(mapped.origin(&none), Origin::Loopback);
        assert_eq!(mapped.reach, Reach::Loopback);
        assert_eq!(far.origin(&none), Origin::Remote);
        for name in ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"] {
            let said = headers(&[(name, "127.0.0.1")]);
            assert_eq!(near.origin(&said), Origin::Remote, "{name}");
            assert_eq!(far.origin(&said), Origin::Remote, "{name}");
        }
    }

    #[tokio::test]
    async fn tokens_are_demanded_where_they_are() {
        let near = Caller::new("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        let far = Caller::new("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let tokens = vec![Fingerprint::of(b"one"), Fingerprint::of(b"two")];
        let limits = LdpLimits::default();
        let at = |demand| Door::new(tokens.clone(), demand, &limits);
        let ask = |door: &Door, caller: &Caller, pairs: &[(&'static str, &str)]| {
            door.channel(caller, Proof::Demanded, &headers(pairs)).map(|channel| channel.credential)
        };
        let shown = Some(Credential::Token(Fingerprint::of(b"two")));
        for door in [at(Demand::Elsewhere), at(Demand::Everyone)] {
            assert_eq!(ask(&door, &far, &[]), Err(Refused::NoToken));
            assert_eq!(ask(&door, &far, &[("authorization", "Bearer two")]), Ok(shown));
            for wrong in ["Bearer tw", "Bearer twos", "Bearer", "Basic two", "two"] {
                let said = ask(&door, &near, &[("authorization", wrong)]);
                assert_eq!(said, Err(Refused::WrongToken), "{wrong}");
            }
            assert!(door.channel(&far, Proof::Welcome, &HeaderMap::new()).is_ok());
            let wrong = headers(&[("authorization", "Bearer three")]);
            assert_eq!(door.channel(&far, Proof::Welcome, &wrong), Err(Refused::WrongToken));
            let noted = door.channel(&far, Proof::Noted, &wrong).unwrap();
            assert_eq!((noted.origin, noted.credential), (Origin::Remote, None));
            let certified = Caller { certificate: Some(Fingerprint::of(b"der")), ..far };
            let certificate = Some(Credential::Certificate(Fingerprint::of(b"der")));
            assert_eq!(ask(&door, &certified, &[]), Ok(certificate));
        }
        assert_eq!(ask(&at(Demand::Elsewhere), &near, &[]), Ok(None));
        assert_eq!(ask(&at(Demand::Everyone), &near, &[]), Err(Refused::NoToken));
        for demand in [Demand::Elsewhere, Demand::Everyone] {
            let open = Door::new(Vec::new(), demand, &limits);
            assert_eq!(ask(&open, &near, &[]), Ok(None));
            assert_eq!(ask(&open, &near, &[("authorization", "Bearer any")]), Ok(None));
            assert_eq!(ask(&open, &far, &[]), Err(Refused::NoToken));
            let forwarded = [("x-forwarded-for", "10.0.0.9"), ("authorization", "Bearer any")];
            assert_eq!(ask(&open, &near, &forwarded), Err(Refused::NoToken));
            let certified = Caller { certificate: Some(Fingerprint::of(b"der")), ..far };
            assert!(ask(&open, &certified, &[]).is_ok());
        }
    }
}
