//! One table of a configuration text, taken apart key by key. It knows TOML types and where they
//! stand, not what the keys mean.

use std::ops::Range;

use sabir_base::is_near;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::NodeConfigError;

/// A table that was read up to the keys that are left.
pub(super) struct Section<'a> {
    /// As people write it: `[node]`.
    name: &'static str,
    span: Range<usize>,
    table: DeTable<'a>,
    text: &'a str,
}

/// A value, and where it stands.
pub(super) struct Placed<T> {
    pub(super) value: T,
    span: Range<usize>,
}

/// Whether something is there, or how.
pub(super) enum Switch<'a> {
    On,
    Off,
    Section(Section<'a>),
}

impl<'a> Section<'a> {
    /// A key that nobody knows is refused, and the nearest that somebody does is named.
    pub(super) fn new(
        name: &'static str,
        value: Spanned<DeValue<'a>>,
        known: &[&str],
        text: &'a str,
    ) -> Result<Self, NodeConfigError> {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            let why = format!("`{name}` is a section and no value");
            return Err(NodeConfigError::at(text, span, why));
        };
        check_keys(name, &table, known, text)?;
        Ok(Self { name, span, table, text })
    }

    pub(super) fn error(&self, why: impl Into<String>) -> NodeConfigError {
        NodeConfigError::at(self.text, self.span.clone(), why.into())
    }

    pub(super) fn error_at<T>(&self, at: &Placed<T>, why: impl Into<String>) -> NodeConfigError {
        NodeConfigError::at(self.text, at.span.clone(), why.into())
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<Placed<String>>, NodeConfigError> {
        self.take(key, "\"text\"", |value| match value {
            DeValue::String(text) => Some(text.into_owned()),
            _ => None,
        })
    }

    pub(super) fn required_text(&mut self, key: &str) -> Result<Placed<String>, NodeConfigError> {
        let missing = self.error(format!("`{}` has no `{key}`", self.name));
        self.text(key)?.ok_or(missing)
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, NodeConfigError> {
        let flag = self.take(key, "true", |value| match value {
            DeValue::Boolean(flag) => Some(flag),
            _ => None,
        })?;
        Ok(flag.map(|flag| flag.value))
    }

    /// A whole number, also zero.
    pub(super) fn number(&mut self, key: &str) -> Result<Option<Placed<u64>>, NodeConfigError> {
        self.take(key, "10", |value| match value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        })
    }

    /// A whole number of at least one.
    pub(super) fn count(&mut self, key: &str) -> Result<Option<u64>, NodeConfigError> {
        let count = self.take(key, "100", |value| match value {
            DeValue::Integer(number) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok().filter(|it| *it > 0)
            }
            _ => None,
        })?;
        Ok(count.map(|count| count.value))
    }

    /// An amount of money.
    pub(super) fn amount(&mut self, key: &str) -> Result<Option<f64>, NodeConfigError> {
        let amount = self.take(key, "0.25", |value| {
            let number: f64 = match value {
                DeValue::Integer(number) => number.as_str().parse().ok()?,
                DeValue::Float(number) => number.as_str().parse().ok()?,
                _ => return None,
            };
            (number.is_finite() && number >= 0.0).then_some(number)
        })?;
        Ok(amount.map(|amount| amount.value))
    }

    pub(super) fn texts(
        &mut self,
        key: &str,
    ) -> Result<Option<Vec<Placed<String>>>, NodeConfigError> {
        let texts = self.take(key, "[\"text\", \"text\"]", |value| {
            let DeValue::Array(values) = value else { return None };
            values
                .into_iter()
                .map(|value| {
                    let span = value.span();
                    match value.into_inner() {
                        DeValue::String(text) => Some(Placed { value: text.into_owned(), span }),
                        _ => None,
                    }
                })
                .collect::<Option<Vec<_>>>()
        })?;
        Ok(texts.map(|texts| texts.value))
    }

    /// Names and texts: an environment.
    pub(super) fn map(&mut self, key: &str) -> Result<Vec<(String, String)>, NodeConfigError> {
        let map = self.take(key, "{ NAME = \"text\" }", |value| {
            let DeValue::Table(table) = value else { return None };
            table
                .into_iter()
                .map(|(name, value)| match value.into_inner() {
                    DeValue::String(text) => {
                        Some((name.into_inner().into_owned(), text.into_owned()))
                    }
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()
        })?;
        Ok(map.map(|map| map.value).unwrap_or_default())
    }

    /// A table within this one.
    pub(super) fn section(
        &mut self,
        key: &str,
        name: &'static str,
        known: &[&str],
    ) -> Result<Option<Section<'a>>, NodeConfigError> {
        let value = self.table.remove(key);
        value.map(|value| Section::new(name, value, known, self.text)).transpose()
    }

    /// `true`, `false`, or a table that says more.
    pub(super) fn switch(
        &mut self,
        key: &str,
        name: &'static str,
        known: &[&str],
    ) -> Result<Option<Switch<'a>>, NodeConfigError> {
        match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Table(_)) => Ok(self.section(key, name, known)?.map(Switch::Section)),
            _ => Ok(self.flag(key)?.map(|is_on| if is_on { Switch::On } else { Switch::Off })),
        }
    }

    fn take<T>(
        &mut self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Placed<T>>, NodeConfigError> {
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        let span = value.span();
        match read(value.into_inner()) {
            Some(value) => Ok(Some(Placed { value, span })),
            None => {
                let why = format!("this does not fit: write `{key} = {wanted}`");
                Err(NodeConfigError::at(self.text, span, why))
            }
        }
    }
}

pub(super) fn check_keys(
    name: &str,
    table: &DeTable<'_>,
    known: &[&str],
    text: &str,
) -> Result<(), NodeConfigError> {
    let unknown = table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
    let Some(unknown) = unknown else { return Ok(()) };
    let key = unknown.get_ref();
    let help = match known.iter().find(|word| is_near(key, word)) {
        Some(nearest) => format!("write `{nearest}`"),
        None => format!("the keys are {}", known.join(", ")),
    };
    let why = format!("there is no key `{key}` in `{name}`: {help}");
    Err(NodeConfigError::at(text, unknown.span(), why))
}
