//! What providers say when they fail, sorted by what the retry rules care about.

use sabir_base::text::one_line;
use serde_json::Value;

use super::{FailureKind, ModelFailure};

impl ModelFailure {
    pub fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: one_line(message.as_ref(), LONGEST_MESSAGE), retry_after_ms: None }
    }

    /// An answer whose status is no success. What the body says about itself counts more than the
    /// status: some proxies answer 400 where 429 is meant.
    pub fn from_status(status: u16, body: &[u8], retry_after_ms: Option<u64>) -> Self {
        let said = serde_json::from_slice::<Value>(body).ok();
        let error = said.as_ref().map(ProviderError::read).unwrap_or_default();
        let kind = error.kind().unwrap_or(match status {
            413 => FailureKind::ContextLength,
            429 => FailureKind::RateLimited,
            408 | 500.. => FailureKind::Server,
            _ => FailureKind::Refused,
        });
        let message = match (error.message.is_empty(), said) {
            (false, _) => error.message.clone(),
            (true, Some(said)) => said.to_string(),
            (true, None) => String::from_utf8_lossy(&body[..body.len().min(4096)]).into_owned(),
        };
        let what = match message.trim() {
            "" => format!("the model server answered {status}"),
            message => format!("the model server answered {status}: {message}"),
        };
        let retry_after_ms = retry_after_ms.or_else(|| error.retry_after_ms(kind));
        Self { retry_after_ms, ..Self::new(kind, what) }
    }

    /// A failure that a stream or a body described as JSON, wherever it put the description.
    pub(super) fn from_json(value: &Value) -> Self {
        let error = ProviderError::read(value);
        let kind = error.kind().unwrap_or(FailureKind::Refused);
        let message = match (error.message.is_empty(), error.code.is_empty()) {
            (false, _) => error.message.as_str(),
            (true, false) => error.code.as_str(),
            (true, true) => "the model server failed and did not say why",
        };
        Self { retry_after_ms: error.retry_after_ms(kind), ..Self::new(kind, message) }
    }
}

/// The common core of the many shapes of errors.
#[derive(Debug, Default)]
struct ProviderError {
    message: String,
    code: String,
    class: String,
}

impl ProviderError {
    /// `{"error": {…}}`, `{"error": "words"}`, `{"detail": "words"}`, or the description itself.
    fn read(value: &Value) -> Self {
        let value = match value.get("error") {
            Some(Value::String(words)) => {
                return Self { message: words.clone(), ..Self::default() };
            }
            Some(inner @ Value::Object(_)) => inner,
            _ => value,
        };
        let text = |key: &str| match value.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let mut message = text("message");
        if message.is_empty() {
            message = text("detail");
        }
        Self { message, code: text("code"), class: text("type") }
    }

    /// `None` when it says nothing that can be sorted.
    fn kind(&self) -> Option<FailureKind> {
        let by_name = |name: &str| match name {
            "context_length_exceeded" | "request_too_large" | "exceed_context_size_error" => {
                Some(FailureKind::ContextLength)
            }
            "insufficient_quota"
            | "quota_exceeded"
            | "usage_limit_reached"
            | "usage_not_included"
            | "billing_hard_limit_reached"
            | "billing_not_active" => Some(FailureKind::Quota),
            "rate_limit_exceeded" | "rate_limit_error" | "too_many_requests" | "slow_down" => {
                Some(FailureKind::RateLimited)
            }
            "server_error"
            | "internal_error"
            | "internal_server_error"
            | "api_error"
            | "overloaded_error"
            | "server_is_overloaded"
            | "service_unavailable"
            | "timeout" => Some(FailureKind::Server),
            _ => None,
        };
        by_name(&self.code)
            .or_else(|| by_name(&self.class))
            .or_else(|| self.says_too_long().then_some(FailureKind::ContextLength))
            .or_else(|| match self.code.parse().ok()? {
                413 => Some(FailureKind::ContextLength),
                429 => Some(FailureKind::RateLimited),
                408 | 500..=599 => Some(FailureKind::Server),
                _ => None,
            })
    }

    /// Local servers have no code for it, only words.
    fn says_too_long(&self) -> bool {
        let words = self.message.to_ascii_lowercase();
        ["maximum context length", "context size", "context window", "prompt is too long"]
            .iter()
            .any(|phrase| words.contains(phrase))
    }

    fn retry_after_ms(&self, kind: FailureKind) -> Option<u64> {
        (kind == FailureKind::RateLimited).then(|| wait_in_words(&self.message)).flatten()
    }
}

/// "Please try again in 1.5s", "in 6m0s", "in 20 seconds", "in 28ms".
fn wait_in_words(message: &str) -> Option<u64> {
    let words = message.to_ascii_lowercase();
    let (_, mut rest) = words.split_once("try again in")?;
    let mut total = 0.0;
    let mut found = false;
    loop {
        rest = rest.trim_start();
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
        // The full stop of the sentence is no part of a number.
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { break };
        rest = rest[digits..].trim_start();
        let letters = rest.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
            "m" | "min" | "mins" | "minute" | "minutes" => 60e3,
            "h" | "hour" | "hours" => 3600e3,
            _ => break,
        };
        rest = &rest[letters..];
        total += number * unit;
        found = true;
    }
    // Casting saturates, and the retry rules bound it further.
    found.then_some(total.ceil() as u64)
}

/// Enough for what providers write on purpose; some answer with a whole page.
const LONGEST_MESSAGE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn statuses_and_codes_are_sorted() {
        use FailureKind::*;
        for (status, body, kind) in [
            (429, json!({}), RateLimited),
            (429, json!({ "error": { "code": "insufficient_quota" } }), Quota),
            (429, json!({ "error": { "type": "usage_limit_reached" } }), Quota),
            (400, json!({ "error": { "code": "context_length_exceeded" } }), ContextLength),
            (
                400,
                json!({ "error": "the request exceeds the available context size" }),
                ContextLength,
            ),
            (400, json!({ "error": { "message": "bad", "code": null } }), Refused),
            (401, json!({ "error": { "message": "no", "code": "invalid_api_key" } }), Refused),
            (413, json!({}), ContextLength),
            (408, json!({}), Server),
            (500, json!({ "detail": "oops" }), Server),
            (503, json!([]), Server),
            (529, json!({ "error": { "type": "overloaded_error" } }), Server),
            (404, json!({ "error": "model 'x' not found" }), Refused),
        ] {
            let failure = ModelFailure::from_status(status, body.to_string().as_bytes(), None);
            assert_eq!(failure.kind, kind, "{status} {body}");
        }
    }

    #[test]
    fn messages_say_the_status_and_the_words() {
        let message = |status, body: &[u8]| ModelFailure::from_status(status, body, None).message;
        assert_eq!(
            message(404, br#"{"error":{"message":"no such model"}}"#),
            "the model server answered 404: no such model"
        );
        assert_eq!(
            message(502, b"<html>\n bad  gateway"),
            "the model server answered 502: <html> bad gateway"
        );
        assert_eq!(message(500, b""), "the model server answered 500");
        assert_eq!(message(500, b"\xFF"), "the model server answered 500: \u{FFFD}");
        assert!(message(400, &[b'x'; 100_000]).chars().count() < 700);
    }

    #[test]
    fn waits_are_read_from_words() {
        for (words, expected) in [
            ("Rate limit reached. Please try again in 1.5s. Visit us.", Some(1500)),
            ("try again in 28ms", Some(28)),
            ("Try Again In 20 seconds.", Some(20_000)),
            ("try again in 6m0s.", Some(360_000)),
            ("try again in 1h2m3.5s", Some(3_723_500)),
            ("try again in 11.054s.", Some(11_054)),
            ("try again in a while", None),
            ("try again in 5 parsecs", None),
            ("try again in", None),
            ("no words", None),
            ("try again in 99999999999999999999999s", Some(u64::MAX)),
        ] {
            assert_eq!(wait_in_words(words), expected, "{words}");
        }
    }

    #[test]
    fn the_header_counts_more_than_the_words() {
        let body = br#"{"error":{"message":"try again in 3s"}}"#;
        assert_eq!(ModelFailure::from_status(429, body, None).retry_after_ms, Some(3000));
        assert_eq!(ModelFailure::from_status(429, body, Some(7)).retry_after_ms, Some(7));
        assert_eq!(ModelFailure::from_status(400, body, None).retry_after_ms, None);
    }
}
