//! What comes with a request: a body in JSON, words of the query, names in the path. Each is read
//! strictly, and refused with words that say where it is wrong.

use std::str::FromStr;

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use sabir_base::json::long_integer;
use sabir_base::text::one_line;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use crate::refused::Refused;

/// A body in JSON.
pub(crate) struct Given<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refused> {
        if !is_json(request.headers()) {
            return Err(Refused::media());
        }
        let body = to_bytes(request.into_body(), MOST_BODY).await;
        let body = body.map_err(|_| Refused::too_large(MOST_BODY))?;
        let read = serde_json::from_slice(&body);
        let read = read.map_err(|error| Refused::bad(format!("the body: {error}")))?;
        // It would be kept as another number, and what it is in goes on to others.
        match std::str::from_utf8(&body).ok().and_then(long_integer) {
            Some(digits) => {
                let digits = one_line(digits, 60);
                let why = format!("the integer {digits} is too long: send it as a string");
                Err(Refused::bad(format!("the body: {why}")))
            }
            None => Ok(Self(read)),
        }
    }
}

/// Another kind could be sent by a form of any site.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// The words behind the question mark.
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl Query {
    fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// An empty word is none.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refused> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let wrong = || Refused::bad(format!("{name}: {text:?} is no such number"));
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// How many are wanted; never more than `most`.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> Result<usize, Refused> {
        Ok(self.number("limit")?.unwrap_or(usual).clamp(1, most))
    }
}

/// As large as a question or a task may be, with everything that is said along with it.
const MOST_BODY: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query_are_decoded_and_checked() {
        let query = Query::parse("q=a%20b%26c&limit=7&before=x&kind=");
        assert_eq!(query.text("q"), Some("a b&c"));
        assert_eq!(query.text("kind"), None);
        assert_eq!(query.limit(50, 5).unwrap(), 5);
        assert!(query.number::<u64>("before").is_err());
        assert_eq!(query.number::<u64>("after").unwrap(), None);
    }
}
