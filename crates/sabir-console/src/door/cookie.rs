//! The cookie that a browser shows. Browsers share cookies among all ports of a machine, so it holds
//! what several nodes gave, each of which knows its own.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderValue};

use crate::refused::Refused;

/// What is in the cookie, newest last. What no node of ours can have given is passed over.
pub(super) fn shown(headers: &HeaderMap) -> Vec<&str> {
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    let values = pairs.filter(|(name, _)| *name == NAME).flat_map(|(_, value)| value.split('.'));
    let is_ours = |it: &&str| it.len() == 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Another program of this machine may have set more, in front of what we gave.
    values.filter(is_ours).take(MOST_SHOWN).collect()
}

/// The header that makes a browser show these from now on; the newest is last.
pub(super) fn set(
    values: &[&str],
    transport: Transport,
    secs: u64,
) -> Result<HeaderValue, Refused> {
    let kept = &values[values.len().saturating_sub(MOST_NODES)..];
    let secs = if kept.is_empty() { 0 } else { secs };
    let secure = match transport {
        Transport::Plain => "",
        Transport::Tls => "; Secure",
    };
    let text = format!(
        "{NAME}={}; Path=/; Max-Age={secs}; HttpOnly; SameSite=Strict{secure}",
        kept.join(".")
    );
    HeaderValue::try_from(text).map_err(|error| Refused::internal(error.to_string()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Plain,
    Tls,
}

const NAME: &str = "sabir_session";
/// On one machine, in one browser.
const MOST_NODES: usize = 4;
/// More than fit into the headers that the listener takes.
const MOST_SHOWN: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-5: nodes on other ports keep theirs.
    #[test]
    fn a_cookie_has_room_for_several_nodes() {
        let values: Vec<String> = (0..6).map(|it| it.to_string().repeat(64)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let header = set(&values, Transport::Tls, 60).unwrap();
        let text = header.to_str().unwrap();
        let tail = "; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure";
        let (given, rest) = text.split_at(text.find(';').unwrap());
        assert_eq!(rest, tail);
        let mut headers = HeaderMap::new();
        let sent = format!("theme=dark; {given}; sabir_session=short");
        headers.insert(COOKIE, HeaderValue::try_from(sent).unwrap());
        assert_eq!(shown(&headers), values[2..]);
        // What somebody else put in front keeps nobody from being found.
        let junk = vec!["0".repeat(64); 9].join(".");
        let sent = format!("sabir_session={junk}; {given}");
        headers.insert(COOKIE, HeaderValue::try_from(sent).unwrap());
        assert!(shown(&headers).ends_with(&values[2..]));
        let gone = set(&[], Transport::Plain, 60).unwrap();
        assert_eq!(gone, "sabir_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    }
}
