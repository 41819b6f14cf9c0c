//! Where traces are sent, by the variables that every such program reads, or by a configuration.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

/// What a configuration says about traces. Variables are said over it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Traced {
    /// Where a collector listens; `/v1/traces` is added.
    pub endpoint: Option<String>,
    /// The variable that holds headers for it, as `name=value,name=value`.
    pub headers_env: Option<String>,
    pub service: Option<String>,
}

/// A collector, and who we are to it.
#[derive(Clone)]
pub struct OtlpSettings {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) service: String,
}

/// Why traces cannot be sent as somebody wishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtlpError {
    /// What it is called, without what it holds: an address may hold a password.
    Endpoint {
        said_by: String,
    },
    Headers {
        said_by: String,
    },
    Protocol {
        wanted: String,
    },
    NoClient(String),
    Twice,
}

impl OtlpSettings {
    /// Nothing where nobody named a collector, or somebody said that there is to be none.
    pub fn find(
        traced: &Traced,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, OtlpError> {
        let said = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let is_off = said("OTEL_SDK_DISABLED")
            .is_some_and(|it| it.trim().eq_ignore_ascii_case("true"))
            || said("OTEL_TRACES_EXPORTER").is_some_and(|it| it.trim() == "none");
        if is_off {
            return Ok(None);
        }
        let (said_by, endpoint) = if let Some(whole) = said(TRACES_ENDPOINT) {
            (TRACES_ENDPOINT.to_owned(), Url::parse(whole.trim()).ok())
        } else if let Some(base) = said(ENDPOINT) {
            (ENDPOINT.to_owned(), below(&base))
        } else if let Some(base) = &traced.endpoint {
            ("otlp_endpoint in [telemetry]".to_owned(), below(base))
        } else {
            return Ok(None);
        };
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let url = endpoint.filter(is_web).ok_or(OtlpError::Endpoint { said_by })?;
        let protocol =
            said("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or(said("OTEL_EXPORTER_OTLP_PROTOCOL"));
        // A collector that takes Protobuf over HTTP takes JSON at the same place; gRPC is another port.
        if let Some(wanted) = protocol.filter(|it| !it.trim().starts_with("http/")) {
            return Err(OtlpError::Protocol { wanted });
        }
        let named = traced.headers_env.as_deref();
        let names =
            [Some("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), Some("OTEL_EXPORTER_OTLP_HEADERS"), named];
        let found = names.into_iter().flatten().find_map(|name| Some((name, said(name)?)));
        let headers = match found {
            None => HeaderMap::new(),
            Some((name, text)) => {
                headers(&text).ok_or_else(|| OtlpError::Headers { said_by: name.to_owned() })?
            }
        };
        let service = said("OTEL_SERVICE_NAME").or_else(|| traced.service.clone());
        Ok(Some(Self { url, headers, service: service.unwrap_or_else(|| "sabir".to_owned()) }))
    }

    /// The variables of those above that hold secrets.
    pub fn secret_variables(traced: &Traced) -> Vec<String> {
        let usual = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
        usual.into_iter().map(str::to_owned).chain(traced.headers_env.clone()).collect()
    }

    /// Where it is, without what nobody else is to know.
    pub fn shown(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.url.scheme(), self.url.host_str().unwrap_or_default())
    }
}

/// What it holds is for the collector.
impl fmt::Debug for OtlpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpSettings").field("at", &self.shown()).finish_non_exhaustive()
    }
}

fn below(base: &str) -> Option<Url> {
    Url::parse(&format!("{}/v1/traces", base.trim().trim_end_matches('/'))).ok()
}

fn headers(text: &str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(&unescaped(value.trim())).ok()?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Some(headers)
}

/// Values are written like those of baggage: `%20` is a space.
fn unescaped(value: &str) -> Vec<u8> {
    let (bytes, mut read, mut at) = (value.as_bytes(), Vec::with_capacity(value.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = value.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                read.push(byte);
                at += 3;
            }
            None => {
                read.push(*byte);
                at += 1;
            }
        }
    }
    read
}

impl fmt::Display for OtlpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint { said_by } => {
                write!(f, "{said_by} is no address: write it like http://127.0.0.1:4318")
            }
            Self::Headers { said_by } => {
                write!(f, "{said_by} has no headers: write them like name=value,name=value")
            }
            Self::Protocol { wanted } => write!(
                f,
                "traces are sent as http/json and not as {wanted:?}: name the collector's HTTP port"
            ),
            Self::NoClient(why) => write!(f, "traces cannot be sent: {why}"),
            Self::Twice => f.write_str("traces are sent already"),
        }
    }
}

impl std::error::Error for OtlpError {}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

#[cfg(test)]
mod tests {
    use super::*;

    fn find(traced: &Traced, said: &[(&str, &str)]) -> Result<Option<OtlpSettings>, OtlpError> {
        let environment = |name: &str| {
            said.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        OtlpSettings::find(traced, &environment)
    }

    fn url(traced: &Traced, said: &[(&str, &str)]) -> Option<String> {
        find(traced, said).unwrap().map(|it| it.url.to_string())
    }

    #[test]
    fn nothing_is_sent_unasked() {
        let here =
            Traced { endpoint: Some("http://127.0.0.1:4318".to_owned()), ..Traced::default() };
        assert_eq!(url(&Traced::default(), &[]), None);
        assert_eq!(url(&Traced::default(), &[(ENDPOINT, " ")]), None);
        assert_eq!(url(&here, &[("OTEL_SDK_DISABLED", "TRUE")]), None);
        assert_eq!(url(&here, &[("OTEL_TRACES_EXPORTER", "none")]), None);
    }

    #[test]
    fn variables_are_said_over_the_configuration() {
        let here =
            Traced { endpoint: Some("http://127.0.0.1:4318/".to_owned()), ..Traced::default() };
        let of = |said: &[(&str, &str)]| url(&here, said).unwrap();
        assert_eq!(of(&[]), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(
            of(&[(ENDPOINT, "https://otel.example/in")]),
            "https://otel.example/in/v1/traces"
        );
        let both = [(ENDPOINT, "https://a.example"), (TRACES_ENDPOINT, "https://b.example/x")];
        assert_eq!(of(&both), "https://b.example/x");
    }

    #[test]
    fn what_cannot_be_used_is_named_and_not_shown() {
        let of = |said: &[(&str, &str)]| find(&Traced::default(), said).unwrap_err().to_string();
        for bad in ["nonsense-hunter2", "ftp://hunter2@x", "http://a b"] {
            let said = of(&[(ENDPOINT, bad)]);
            assert!(said.starts_with(ENDPOINT) && !said.contains("hunter2"), "{said}");
        }
        let here = (ENDPOINT, "http://127.0.0.1:4318");
        let said = of(&[here, ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2")]);
        assert!(said.starts_with("OTEL_EXPORTER_OTLP_HEADERS") && !said.contains("hunter2"));
        assert!(of(&[here, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).contains("http/json"));
    }

    #[test]
    fn headers_are_read_and_not_shown() {
        let said = [
            (ENDPOINT, "http://ann:hunter2@127.0.0.1:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret, x-team = harbor"),
        ];
        let found = find(&Traced::default(), &said).unwrap().unwrap();
        assert_eq!(found.headers["authorization"], "Bearer s3cret");
        assert_eq!(found.headers["x-team"], "harbor");
        let shown = format!("{found:?} {:?}", found.headers);
        assert!(!shown.contains("s3cret") && !shown.contains("hunter2"), "{shown}");
    }
}
