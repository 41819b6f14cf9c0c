//! In front of the API: pages of other sites, people who are not signed in, and changes that no page of
//! ours asked for are turned away before anything is read.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sabir_net::Visitor;
use tokio::time::Instant;

use super::cookie::{self, Transport};
use super::{Door, SignedIn};
use crate::refused::Refused;
use crate::state::Console;

/// The path that people come in by.
pub(crate) const LOGIN: &str = "/api/login";
/// What a page of ours says with everything that changes something.
const CSRF: &str = "x-sabir-csrf";

/// Lets a request of the API through, or answers it.
pub(crate) async fn guard(
    State(console): State<Arc<Console>>,
    mut request: Request,
    next: Next,
) -> Response {
    match check(&console.door, &request) {
        Ok(person) => {
            if let Some(person) = person {
                request.extensions_mut().insert(person);
            }
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

/// Who sends it; nobody for who is about to sign in.
fn check(door: &Door, request: &Request) -> Result<Option<SignedIn>, Refused> {
    let headers = request.headers();
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    check_fetch(headers)?;
    if changes {
        check_origin(request)?;
    }
    if request.uri().path() == LOGIN {
        return Ok(None);
    }
    let now = Instant::now();
    let person = cookie::shown(headers).into_iter().find_map(|it| door.sessions.find(it, now));
    let person = person.ok_or_else(Refused::signed_out)?;
    if changes && !headers.get(CSRF).is_some_and(|csrf| person.knows(csrf.as_bytes())) {
        let why = "the header x-sabir-csrf is missing or wrong: /api/me has it";
        return Err(Refused::forbidden("csrf", why));
    }
    Ok(Some(person))
}

/// Browsers say which page wanted something. A page of another port is of the same site, and a cookie
/// goes with what it asks for.
fn check_fetch(headers: &HeaderMap) -> Result<(), Refused> {
    let said = headers.get_all("sec-fetch-site").into_iter();
    match said.into_iter().all(|site| site == "same-origin" || site == "none") {
        true => Ok(()),
        false => Err(Refused::foreign("pages of other sites may not use this node")),
    }
}

/// Whoever changes something says which page it comes from, and it is one of ours.
fn check_origin(request: &Request) -> Result<(), Refused> {
    let headers = request.headers();
    let mut origins = headers.get_all(ORIGIN).into_iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else {
        return Err(Refused::foreign("the header origin is missing"));
    };
    // HTTP/2 says in the address what HTTP/1.1 says in a header.
    let host = request.uri().authority().map(|it| it.as_str().to_owned());
    let host = host.or_else(|| Some(headers.get(HOST)?.to_str().ok()?.to_owned()));
    let host = host.ok_or_else(|| Refused::foreign("the header host is missing"))?;
    let is_own = origin.to_str().is_ok_and(|origin| match origin.split_once("://") {
        Some(("https", site)) => site.eq_ignore_ascii_case(&host),
        Some(("http", site)) => {
            transport(request) == Transport::Plain && site.eq_ignore_ascii_case(&host)
        }
        _ => false,
    });
    match is_own {
        true => Ok(()),
        false => Err(Refused::foreign("pages of other sites may not use this node")),
    }
}

pub(super) fn transport(request: &Request) -> Transport {
    match request.extensions().get::<Visitor>() {
        Some(visitor) if visitor.is_tls => Transport::Tls,
        _ => Transport::Plain,
    }
}

/// Where it comes from. Whoever is not introduced comes from afar.
pub(super) fn origin_of(request: &Request) -> (IpAddr, bool) {
    match request.extensions().get::<Visitor>() {
        Some(visitor) => (visitor.address, visitor.is_near),
        None => (Ipv4Addr::UNSPECIFIED.into(), false),
    }
}
