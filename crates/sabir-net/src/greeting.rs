//! How a connection made of lines begins: with a token where one is demanded, and never with what a
//! browser sends.

use std::time::Duration;

use sabir_engine::{Event, EventMsg, MAX_LINE_BYTES};
use serde_json::Value;
use tokio::io::AsyncRead;

use crate::lines::{Line, LineSource};
use crate::token::Token;

/// Long enough for a program that reads its token from a file, short enough that strangers cannot
/// hold all the places.
pub(crate) const GREETING_TIME: Duration = Duration::from_secs(10);

/// Strangers cannot make us hold more than this.
const GREETING_BYTES: usize = 8 * 1024;

/// How a connection went on after its first line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    Welcome,
    /// What is told before it is closed.
    Refused(&'static str),
    /// It ended before it said anything.
    Silent,
}

/// Reads the first line, and gives it back if it is a submission.
pub(crate) async fn greet<R: AsyncRead + Unpin + Send>(
    source: &mut LineSource<R>,
    token: Option<&Token>,
) -> Greeting {
    let line = match token {
        None => source.line().await,
        Some(_) => {
            source.set_limit(GREETING_BYTES);
            match tokio::time::timeout(GREETING_TIME, source.line()).await {
                Ok(line) => line,
                Err(_) => return Greeting::Refused("no token came within 10 seconds"),
            }
        }
    };
    let (start, whole) = match line {
        None | Some(Line::Broken) => return Greeting::Silent,
        Some(Line::TooLong { start }) => (start, None),
        Some(Line::Whole(line)) => (line.clone(), Some(line)),
    };
    // Any page in a browser can post lines to any port, headers first. It must not get to its body.
    if is_http(&start) {
        return Greeting::Refused("lines of JSON are spoken here, not HTTP");
    }
    if start.starts_with(TLS_HANDSHAKE) {
        return Greeting::Refused("lines of JSON are spoken here, not TLS");
    }
    let given = whole.as_deref().and_then(authorization);
    match (token, given, whole) {
        (Some(token), Some(given), _) if token.admits(given.as_bytes()) => {
            source.set_limit(MAX_LINE_BYTES);
            Greeting::Welcome
        }
        (Some(_), Some(_), _) => Greeting::Refused("the token is wrong"),
        (Some(_), None, _) => Greeting::Refused(
            "a token is needed: send {\"authorization\":\"Bearer TOKEN\"} as the first line",
        ),
        // A client may say its token where none is needed.
        (None, Some(_), _) => Greeting::Welcome,
        (None, None, Some(line)) => {
            source.give_back(line);
            Greeting::Welcome
        }
        (None, None, None) => {
            source.give_back_too_long();
            Greeting::Welcome
        }
    }
}

/// The line of an error that belongs to no submission.
pub(crate) fn error_line(message: &str) -> String {
    let msg = EventMsg::Error { message: message.to_owned() };
    serde_json::to_string(&Event { id: String::new(), msg }).unwrap_or_default()
}

fn authorization(line: &[u8]) -> Option<String> {
    if line.len() > GREETING_BYTES {
        return None;
    }
    let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return None };
    let given = object.get("authorization")?.as_str()?;
    (object.len() == 1).then(|| given.to_owned())
}

/// A method, and a space. No JSON begins like that.
fn is_http(start: &[u8]) -> bool {
    let method = start.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    (3..=7).contains(&method) && start.get(method) == Some(&b' ')
}

/// A record of the kind "handshake", of any version in use.
const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::lines;
    use crate::transport::{Frame, Source};

    async fn greeted(bytes: &[u8], token: Option<&str>) -> (Greeting, Option<Frame>) {
        let token = token.map(|text| Token::new(text).unwrap());
        let (mut source, _sink) = lines(bytes, tokio::io::sink());
        let greeting = greet(&mut source, token.as_ref()).await;
        (greeting, source.next().await)
    }

    #[tokio::test]
    async fn a_first_line_without_token_is_a_submission() {
        let (greeting, next) = greeted(b"\n{\"id\":\"1\"}\nrest\n", None).await;
        assert_eq!(greeting, Greeting::Welcome);
        assert_eq!(next, Some(Frame::Message(b"{\"id\":\"1\"}".to_vec())));
    }

    #[tokio::test]
    async fn a_token_where_none_is_needed_is_passed_over() {
        let (greeting, next) = greeted(b"{\"authorization\":\"Bearer x\"}\nnext\n", None).await;
        assert_eq!(greeting, Greeting::Welcome);
        assert_eq!(next, Some(Frame::Message(b"next".to_vec())));
    }

    #[tokio::test]
    async fn what_browsers_send_is_refused() {
        for first in ["POST / HTTP/1.1\r\n", "GET /x HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n"] {
            let bytes = format!("{first}Host: x\r\n\r\n{{\"id\":\"1\"}}\n");
            let (greeting, _) = greeted(bytes.as_bytes(), None).await;
            assert_eq!(greeting, Greeting::Refused("lines of JSON are spoken here, not HTTP"));
        }
        // An address that is too long for a line does not hide what it is.
        let bytes = format!("POST /{} HTTP/1.1\r\n\r\n", "a".repeat(MAX_LINE_BYTES));
        let (greeting, _) = greeted(bytes.as_bytes(), None).await;
        assert_eq!(greeting, Greeting::Refused("lines of JSON are spoken here, not HTTP"));
        let (greeting, _) = greeted(&[0x16, 0x03, 0x01, 0x02, b'\n'], None).await;
        assert_eq!(greeting, Greeting::Refused("lines of JSON are spoken here, not TLS"));
    }

    #[tokio::test]
    async fn a_stranger_cannot_send_much() {
        let bytes = vec![b'x'; GREETING_BYTES + 1];
        let (greeting, _) = greeted(&bytes, Some("word")).await;
        assert!(matches!(greeting, Greeting::Refused(why) if why.starts_with("a token is needed")));
        let (greeting, next) = greeted(b"", Some("word")).await;
        assert_eq!((greeting, next), (Greeting::Silent, None));
    }

    #[tokio::test]
    async fn a_first_line_that_is_too_long_is_told() {
        let bytes = vec![b'x'; MAX_LINE_BYTES + 1];
        assert_eq!(greeted(&bytes, None).await, (Greeting::Welcome, Some(Frame::TooLong)));
    }
}
