//! One `[mcp.NAME]` table, taken apart key by key, so that each complaint names its key. It knows
//! TOML types, not what the keys mean.

use std::collections::BTreeMap;
use std::time::Duration;

use sabir_base::is_near;
use toml::{Table, Value};

use super::config::McpConfigError;

pub(super) struct Section<'a> {
    server: &'a str,
    table: Table,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        server: &'a str,
        table: Table,
        known: &'static [&'static str],
    ) -> Result<Self, McpConfigError> {
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(McpConfigError::UnknownKey {
                server: server.to_owned(),
                nearest: known.iter().copied().find(|word| is_near(key, word)),
                key: key.clone(),
            });
        }
        Ok(Self { server, table })
    }

    pub(super) fn server(&self) -> String {
        self.server.to_owned()
    }

    /// Complains about the first of `keys` that is there, because `with` rules it out.
    pub(super) fn refuse(
        &self,
        keys: &[&'static str],
        with: &'static str,
    ) -> Result<(), McpConfigError> {
        match keys.iter().find(|key| self.table.contains_key(**key)) {
            Some(key) => Err(McpConfigError::MixedTransports { server: self.server(), key, with }),
            None => Ok(()),
        }
    }

    pub(super) fn string(&mut self, key: &str) -> Result<Option<String>, McpConfigError> {
        self.take(key, "\"text\"", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    pub(super) fn strings(&mut self, key: &str) -> Result<Option<Vec<String>>, McpConfigError> {
        self.take(key, "[\"text\", \"text\"]", |value| {
            let Value::Array(values) = value else { return None };
            values
                .into_iter()
                .map(|value| match value {
                    Value::String(text) => Some(text),
                    _ => None,
                })
                .collect()
        })
    }

    pub(super) fn map(
        &mut self,
        key: &str,
    ) -> Result<Option<BTreeMap<String, String>>, McpConfigError> {
        self.take(key, "{ NAME = \"text\" }", |value| {
            let Value::Table(table) = value else { return None };
            table
                .into_iter()
                .map(|(name, value)| match value {
                    Value::String(text) => Some((name, text)),
                    _ => None,
                })
                .collect()
        })
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, McpConfigError> {
        self.take(key, "true", |value| value.as_bool())
    }

    /// A duration from one millisecond to a day: zero would never succeed.
    pub(super) fn milliseconds(&mut self, key: &str) -> Result<Option<Duration>, McpConfigError> {
        self.take(key, "10000", |value| {
            let number = u64::try_from(value.as_integer()?).ok()?;
            (1..=DAY_MS).contains(&number).then(|| Duration::from_millis(number))
        })
    }

    fn take<T>(
        &mut self,
        key: &str,
        wanted: &'static str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, McpConfigError> {
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        let wrong =
            McpConfigError::WrongType { server: self.server(), key: key.to_owned(), wanted };
        read(value).map(Some).ok_or(wrong)
    }
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
