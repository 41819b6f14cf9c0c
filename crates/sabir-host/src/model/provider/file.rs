//! The file that lists providers: `[providers.NAME]` sections in TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sabir_base::is_near;
use sabir_engine::{ProviderSettings, WireApi};
use serde::Deserialize;
use toml::{Table, Value};

use super::ProviderError;

/// The providers that files describe.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    default: Option<String>,
    entries: BTreeMap<String, Entry>,
}

/// One section, as it stands in the file.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) wire_api: Option<WireApi>,
    pub(super) env_key: Option<String>,
    pub(super) key_file: Option<PathBuf>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) env_headers: BTreeMap<String, String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) model: Option<String>,
    pub(super) request_max_retries: Option<u32>,
    pub(super) stream_max_retries: Option<u32>,
    pub(super) stream_idle_timeout_ms: Option<u64>,
    pub(super) allow_plain_http: Option<bool>,
}

impl std::fmt::Debug for Entry {
    /// Headers and query may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Entry {
    /// What may be known at any address.
    pub(super) fn without_secrets(self) -> Self {
        Self {
            env_key: None,
            key_file: None,
            headers: BTreeMap::new(),
            env_headers: BTreeMap::new(),
            query: BTreeMap::new(),
            allow_plain_http: None,
            ..self
        }
    }
}

impl Providers {
    /// None: what the settings say must be enough.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads a file; one that is not there lists nothing.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let mut providers = Self::parse(&text, &path.display().to_string())?;
                let folder = path.parent().unwrap_or(Path::new("."));
                for entry in providers.entries.values_mut() {
                    if let Some(key_file) = &mut entry.key_file {
                        *key_file = folder.join(&*key_file);
                    }
                }
                Ok(providers)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::none()),
            Err(error) => Err(ProviderError::Unreadable {
                path: path.to_owned(),
                reason: error.kind().to_string(),
            }),
        }
    }

    /// Reads a text; `source` names it in errors. Other sections than providers belong to others.
    pub fn parse(text: &str, source: &str) -> Result<Self, ProviderError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            // The error's own rendering shows the line, which may hold a key.
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            ProviderError::Malformed {
                source: source.to_owned(),
                line,
                reason: error.message().to_owned(),
            }
        })?;
        for key in table.keys() {
            let nearest = TOP_KEYS.into_iter().find(|known| is_near(known, key));
            if let Some(nearest) = nearest.filter(|known| known != key) {
                return Err(unknown_key(source, "the file", key, Some(nearest)));
            }
        }
        let default = match table.get("default_provider") {
            None => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(_) => return Err(wrong_type(source, "default_provider", "a string")),
        };
        let mut entries = BTreeMap::new();
        match table.get("providers") {
            None => {}
            Some(Value::Table(providers)) => {
                for (name, entry) in providers {
                    entries.insert(name.clone(), read_entry(source, name, entry)?);
                }
            }
            Some(_) => return Err(wrong_type(source, "providers", "sections [providers.NAME]")),
        }
        let providers = Self { default, entries };
        match &providers.default {
            Some(name) if !providers.entries.contains_key(name) => {
                Err(providers.unknown_provider(name))
            }
            _ => Ok(providers),
        }
    }

    /// The names of the sections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The files with keys that the sections name.
    pub fn key_files(&self) -> impl Iterator<Item = PathBuf> {
        self.entries.values().filter_map(|entry| entry.key_file.clone())
    }

    /// The section that the settings mean; an empty one when they bring their own address.
    pub(super) fn entry(&self, settings: &ProviderSettings) -> Result<Entry, ProviderError> {
        if let Some(name) = &settings.name {
            return match self.entries.get(name) {
                Some(entry) => Ok(entry.clone()),
                // With an address of its own, the name is only a name.
                None if settings.base_url.is_some() => Ok(Entry::default()),
                None => Err(self.unknown_provider(name)),
            };
        }
        if settings.base_url.is_some() {
            return Ok(Entry::default());
        }
        let only = || self.entries.values().next().filter(|_| self.entries.len() == 1);
        let chosen = self.default.as_ref().and_then(|name| self.entries.get(name));
        chosen.or_else(only).cloned().ok_or_else(|| ProviderError::NoProvider {
            known: self.names().map(str::to_owned).collect(),
        })
    }

    pub(super) fn no_base_url(&self, settings: &ProviderSettings) -> ProviderError {
        let name = settings.name.as_ref().or(self.default.as_ref());
        let name = name.or_else(|| self.entries.keys().next());
        ProviderError::NoBaseUrl { name: name.cloned().unwrap_or_default() }
    }

    fn unknown_provider(&self, name: &str) -> ProviderError {
        let known = self.names().map(str::to_owned).collect();
        ProviderError::UnknownProvider { name: name.to_owned(), known }
    }
}

fn read_entry(source: &str, name: &str, value: &Value) -> Result<Entry, ProviderError> {
    let place = format!("[providers.{name}]");
    let Value::Table(table) = value else {
        return Err(wrong_type(source, &place, "a section"));
    };
    for key in table.keys() {
        if KEYS.contains(&key.as_str()) {
            continue;
        }
        if ["key", "api_key", "apikey", "token", "secret"].contains(&key.as_str()) {
            return Err(ProviderError::KeyInFile { source: source.to_owned(), place });
        }
        return Err(unknown_key(source, &place, key, nearest(key)));
    }
    Entry::deserialize(value.clone()).map_err(|error| {
        let culprit = KEYS.into_iter().find(|key| {
            let Some(value) = table.get(*key) else { return false };
            let alone = Table::from_iter([((*key).to_owned(), value.clone())]);
            Entry::deserialize(Value::Table(alone)).is_err()
        });
        let reason = match culprit {
            // What these hold may be secret, and the error would show it.
            Some(key @ ("headers" | "env_headers" | "query")) => {
                format!("`{key}` in {place} must be a table of strings")
            }
            // So may any text that somebody put into the wrong line.
            Some(key) => format!("`{key}` in {place}: {}", without_values(error.message())),
            None => format!("{place}: {}", without_values(error.message())),
        };
        ProviderError::Malformed { source: source.to_owned(), line: None, reason }
    })
}

/// What a reader of values has to say, without the values.
fn without_values(message: &str) -> String {
    match (message.find('"'), message.rfind('"')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}\"…\"{}", &message[..start], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

fn unknown_key(
    source: &str,
    place: &str,
    key: &str,
    nearest: Option<&'static str>,
) -> ProviderError {
    ProviderError::UnknownKey {
        source: source.to_owned(),
        place: place.to_owned(),
        key: key.to_owned(),
        nearest,
    }
}

fn wrong_type(source: &str, place: &str, wanted: &str) -> ProviderError {
    let reason = format!("{place} must be {wanted}");
    ProviderError::Malformed { source: source.to_owned(), line: None, reason }
}

/// A slip of the pen, the same word with other marks, or a part of the right one.
fn nearest(key: &str) -> Option<&'static str> {
    let plain = |key: &str| {
        key.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase()
    };
    let wanted = plain(key);
    let other_names = [
        ("wire", "wire_api"),
        ("url", "base_url"),
        ("timeout", "stream_idle_timeout_ms"),
        ("retries", "request_max_retries"),
        ("httpheaders", "headers"),
        ("envhttpheaders", "env_headers"),
        ("queryparams", "query"),
    ];
    KEYS.into_iter()
        .find(|known| is_near(known, key) || is_near(&plain(known), &wanted))
        .or_else(|| other_names.into_iter().find(|(name, _)| *name == wanted).map(|(_, key)| key))
        .or_else(|| {
            KEYS.into_iter()
                .find(|known| wanted.len() > 3 && plain(known).contains(wanted.as_str()))
        })
}

const TOP_KEYS: [&str; 2] = ["default_provider", "providers"];

/// What a section can say.
pub(crate) const KEYS: [&str; 13] = [
    "name",
    "base_url",
    "wire_api",
    "env_key",
    "key_file",
    "headers",
    "env_headers",
    "query",
    "model",
    "request_max_retries",
    "stream_max_retries",
    "stream_idle_timeout_ms",
    "allow_plain_http",
];
