//! What went wrong on the way to a model, in words that help, and sorted for the retry rules.

use std::error::Error;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use sabir_engine::{FailureKind, ModelFailure};
use tokio::time::timeout;

use super::provider::Provider;

/// No answer came.
pub(super) fn of_send(error: &reqwest::Error, provider: &Provider) -> ModelFailure {
    let (base_url, told) = (&provider.base_url, chain(error));
    let io_kind =
        sources(error).find_map(|it| it.downcast_ref::<std::io::Error>()).map(|it| it.kind());
    let (kind, message) = if error.is_builder() {
        (FailureKind::Configuration, format!("cannot ask {base_url}: {told}"))
    } else if told.contains("certificate") {
        let message = format!("the certificate of {base_url} is not trusted: {told}");
        (FailureKind::Configuration, message)
    } else if told.contains("dns error") && !told.contains("Temporary failure") {
        let message = format!("no such host: {base_url}; check base_url, or the network");
        (FailureKind::Configuration, message)
    } else if error.is_timeout() {
        (FailureKind::Connect, format!("{base_url} does not answer: {told}"))
    } else if error.is_connect() && io_kind == Some(ErrorKind::ConnectionRefused) {
        let message = format!("nothing listens at {base_url}: is the model server running?");
        (FailureKind::Connect, message)
    } else if error.is_connect() {
        (FailureKind::Connect, format!("cannot connect to {base_url}: {told}"))
    } else {
        (FailureKind::Connect, format!("{base_url} gave no answer: {told}"))
    };
    ModelFailure::new(kind, message)
}

/// The connection broke while the answer came.
pub(super) fn of_read(error: &reqwest::Error) -> ModelFailure {
    let message = format!("the connection to the model server broke: {}", chain(error));
    ModelFailure::new(FailureKind::Disconnected, message)
}

/// An answer that is no success. Reads its body, but not more than makes sense to show.
pub(super) async fn of_status(mut response: Response, provider: &Provider) -> ModelFailure {
    let status = response.status();
    let retry_after_ms = retry_after_ms(response.headers(), SystemTime::now());
    let mut body = Vec::new();
    while body.len() < LARGEST_ERROR {
        match timeout(ERROR_PATIENCE, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            // What came until it ended, broke or stalled is better than nothing.
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    let mut failure = ModelFailure::from_status(status.as_u16(), &body, retry_after_ms);
    let base_url = &provider.base_url;
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if provider.key.is_none() => {
            "; no key was sent: set SABIR_API_KEY, or env_key of the provider".to_owned()
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check the key".to_owned(),
        StatusCode::NOT_FOUND => {
            format!("; check the model's name, the wire, and base_url {base_url}")
        }
        status if status.is_redirection() => {
            format!("; redirects are not followed: check base_url {base_url}")
        }
        _ => String::new(),
    };
    failure.message.push_str(&hint);
    failure
}

/// `Retry-After` in seconds or as a date, or in milliseconds as some providers send beside it.
fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        // Casting saturates.
        return Some(milliseconds.ceil() as u64);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(value) {
        return Some((seconds * 1e3).ceil() as u64);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let wait = date.duration_since(now).unwrap_or(Duration::ZERO);
    Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

/// The error and its causes, without the address: a query may hold a key.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut out = String::new();
    for cause in sources(error) {
        let text = match cause.downcast_ref::<reqwest::Error>() {
            // Its own text ends in the address.
            Some(it) if it.url().is_some() => {
                let whole = it.to_string();
                whole.split(" for url (").next().unwrap_or_default().to_owned()
            }
            _ => cause.to_string(),
        };
        if out.contains(&text) {
            continue;
        }
        if !out.is_empty() {
            out.push_str(": ");
        }
        out.push_str(&text);
    }
    out
}

fn sources<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

/// Providers describe errors in a few lines; gateways send a page.
const LARGEST_ERROR: usize = 64 * 1024;

/// The status is known; its explanation is not worth a long wait.
const ERROR_PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn waits_are_seconds_dates_or_milliseconds() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            retry_after_ms(&headers, now)
        };
        for (value, expected) in [
            ("7", Some(7000)),
            ("0.5", Some(500)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("inf", None),
            ("1e300", Some(u64::MAX)),
        ] {
            assert_eq!(read("retry-after", value), expected, "{value}");
        }
        assert_eq!(read("retry-after-ms", "12.5"), Some(13));
    }
}
