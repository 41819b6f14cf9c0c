//! What is kept with a job of what was asked for: where the source is, what it is told by, and how it
//! is to be fetched. It fetches nothing.

use reqwest::Url;
use sabir_base::is_tracking_name;
use sabir_capture::{HostPort, Mode, ReadOptions};
use sabir_llmcp::redact_url;
use sabir_store::library::{NewSource, SourceKind};
use serde::{Deserialize, Serialize};

use super::DeskError;
use super::collect::CaptureOptions;
use super::input::{Input, InputError};

/// What is kept of the options with a job, so that whoever takes it over fetches in the same way,
/// or leaves it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Order {
    mode: String,
    max_chars: usize,
    /// Addresses that are reached although they are not public.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allow: Vec<String>,
}

impl Order {
    pub(super) fn new(options: CaptureOptions, allow: &[HostPort]) -> Self {
        let mode = match options.mode {
            Mode::Auto => "auto",
            Mode::Article => "article",
            Mode::List => "list",
        };
        let allow = allow.iter().map(ToString::to_string).collect();
        Self { mode: mode.to_owned(), max_chars: options.max_chars, allow }
    }

    /// What an older program wrote is read as far as it is understood.
    pub(super) fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    pub(super) fn write(&self) -> Result<String, DeskError> {
        serde_json::to_string(self).map_err(|error| DeskError::refused(error.to_string()))
    }

    pub(super) fn options(&self) -> ReadOptions {
        let usual = ReadOptions::default();
        let mode = match self.mode.as_str() {
            "article" => Mode::Article,
            "list" => Mode::List,
            _ => Mode::Auto,
        };
        let max_chars = if self.max_chars == 0 { usual.max_chars } else { self.max_chars };
        ReadOptions { mode, max_chars, ..usual }
    }

    /// Whether the same page is read to the same text.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        (&self.mode, self.max_chars) == (&other.mode, other.max_chars)
    }

    /// Whether who may do `self` may do `other`, too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        other.allow.iter().all(|needed| self.allow.contains(needed))
    }
}

/// The source that an input names. What was typed is what is fetched, and what tells two sources
/// apart; what is shown of it, and given to a model, holds nothing that looks like a credential.
pub(super) fn source_of(input: &Input) -> Result<NewSource, DeskError> {
    match input {
        Input::Titled { url, title } => {
            let source = source_of(&Input::Web(url.clone()))?;
            Ok(NewSource { title: Some(title.clone()), ..source })
        }
        Input::Web(url) => {
            let refused = |reason: &str| {
                let text = redact_url(url.as_str()).map_or_else(|| url.to_string(), |it| it.url);
                let reason = reason.to_owned();
                DeskError::Input(InputError::Address { text, reason })
            };
            if !url.username().is_empty() || url.password().is_some() {
                return Err(refused("a name or a password in it is neither kept nor sent"));
            }
            let shown = redact_url(url.as_str());
            let shown = shown.ok_or_else(|| refused("only http and https can be fetched"))?.url;
            let typed = String::from(without_fragment(url));
            Ok(NewSource {
                kind: SourceKind::Url,
                normalized: identity(url),
                fetch_address: (typed != shown).then_some(typed),
                address: shown,
                title: None,
            })
        }
        Input::File(path) => {
            let text = path.to_str().ok_or_else(|| {
                DeskError::refused(format!(
                    "{}: its name is not UTF-8, so that it cannot be kept; rename it, or use --print",
                    path.display()
                ))
            })?;
            Ok(NewSource {
                kind: SourceKind::File,
                address: text.to_owned(),
                fetch_address: None,
                normalized: text.to_owned(),
                title: None,
            })
        }
        Input::Bytes(_) => Err(DeskError::refused("standard input cannot be fetched again later")),
        Input::Kept(_) => Err(DeskError::refused("it is a source already")),
    }
}

/// Why an input cannot be captured, if that can be said before anything is fetched.
pub fn check_input(input: &Input) -> Result<(), DeskError> {
    match input {
        Input::Kept(_) => Ok(()),
        input => source_of(input).map(drop),
    }
}

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

/// Two addresses are one source when they are the same but for the fragment and for what only says
/// where the visitor came from.
fn identity(url: &Url) -> String {
    let mut url = without_fragment(url);
    if let Some(query) = url.query() {
        let counts = |pair: &&str| is_tracking_name(pair.split('=').next().unwrap_or_default());
        let kept: Vec<&str> = query.split('&').filter(|pair| !counts(pair)).collect();
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(&kept));
    }
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(url: &str) -> NewSource {
        source_of(&Input::Web(Url::parse(url).unwrap())).unwrap()
    }

    #[test]
    fn what_was_typed_is_fetched_and_tells_sources_apart() {
        let (one, two) =
            (source("https://a.example/x?key=1#top"), source("https://a.example/x?key=2"));
        assert_eq!(one.address, "https://a.example/x");
        assert_eq!(one.fetch_address.as_deref(), Some("https://a.example/x?key=1"));
        assert_eq!(one.address, two.address);
        assert_ne!(one.normalized, two.normalized);
        for (one, other, same) in [
            ("https://a.example/x", "https://a.example/x#y", true),
            ("https://a.example/x?b=1", "https://a.example/x?b=1&utm_source=mail", true),
            ("https://a.example/x", "https://a.example/x?fbclid=abc", true),
            ("https://a.example/x?b=1&GCLID=2", "https://a.example/x?msclkid=3&b=1", true),
            ("https://a.example/x?_ga=1", "https://a.example/x?mc_eid=7&utm_id=1", true),
            ("https://a.example/x?source=1", "https://a.example/x?source=2", false),
            ("https://a.example/x?sid=1", "https://a.example/x?sid=2", false),
            ("https://a.example/x", "https://a.example/x/", false),
            ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1", false),
        ] {
            assert_eq!(source(one).normalized == source(other).normalized, same, "{one} {other}");
        }
        assert_eq!(source("https://a.example/x?q=tides").fetch_address, None);
        let url = Url::parse("https://me:sesame@a.example/").unwrap();
        let error = source_of(&Input::Web(url)).unwrap_err().to_string();
        assert!(!error.contains("sesame"), "{error}");
    }

    #[test]
    fn a_job_is_for_those_who_may_do_it() {
        let allow: Vec<HostPort> = vec!["127.0.0.1:80".parse().unwrap()];
        let usual = CaptureOptions::default();
        let (free, bound) = (Order::new(usual, &[]), Order::new(usual, &allow));
        assert!(bound.covers(&free) && !free.covers(&bound) && bound.covers(&bound));
        let list = Order::new(CaptureOptions { mode: Mode::List, ..usual }, &[]);
        assert!(free.reads_as(&bound) && !free.reads_as(&list));
        let again = Order::read(&list.write().unwrap());
        assert_eq!(again, list);
        assert_eq!(again.options().mode, Mode::List);
        assert_eq!(Order::read("nonsense").options(), ReadOptions::default());
    }
}
