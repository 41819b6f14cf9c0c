//! Where the values of a call came from: typed by the user, linked by a source, found in the text of
//! one, or made up. It compares whole values: a beginning of what the user typed is not typed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::address::{Address, addresses_in, addresses_typed};
use super::facts::AddressKind;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "from", content = "document", rename_all = "snake_case")]
pub enum Provenance {
    TypedByUser,
    LinkedBySource(String),
    FoundInSource(String),
    Invented,
}

impl Provenance {
    pub(crate) fn address_kind(&self) -> AddressKind {
        match self {
            Self::TypedByUser => AddressKind::Typed,
            Self::LinkedBySource(_) => AddressKind::Linked,
            Self::FoundInSource(_) => AddressKind::Found,
            Self::Invented => AddressKind::Invented,
        }
    }

    /// In words that follow "it was".
    pub fn in_words(&self) -> String {
        match self {
            Self::TypedByUser => "typed by the user".to_owned(),
            Self::LinkedBySource(document) => format!("linked by {document}"),
            Self::FoundInSource(document) => format!("found in the text of {document}"),
            Self::Invented => "made up by the model".to_owned(),
        }
    }
}

/// What the user said and what the sources hold, as far as values are looked up in it.
#[derive(Debug, Clone, Default)]
pub struct Evidence<'a> {
    said: Vec<&'a str>,
    texts: Vec<(&'a str, &'a str)>,
    typed: BTreeSet<String>,
    linked: BTreeMap<String, &'a str>,
    found: BTreeMap<String, &'a str>,
}

impl<'a> Evidence<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    /// A message of the user's own. Nothing that a page, a tool or a model said belongs here.
    pub fn add_message(&mut self, text: &'a str) {
        self.said.push(text);
        for address in addresses_typed(text) {
            self.typed.insert(address.without_fragment().to_owned());
            self.typed.insert(address.as_str().to_owned());
        }
    }

    /// An address that the user gave otherwise: the page that they opened, an argument on a command
    /// line.
    pub fn add_typed_address(&mut self, address: &Address) {
        self.typed.insert(address.as_str().to_owned());
    }

    /// An address that the document links, or its own.
    pub fn add_link(&mut self, document: &'a str, url: &str) {
        if let Some(address) = Address::parse(url) {
            let without = address.without_fragment().to_owned();
            self.linked.entry(without).or_insert(document);
            self.linked.entry(address.as_str().to_owned()).or_insert(document);
        }
    }

    /// The text of a document.
    pub fn add_text(&mut self, document: &'a str, text: &'a str) {
        self.texts.push((document, text));
        for address in addresses_in(text) {
            self.found.entry(address.as_str().to_owned()).or_insert(document);
        }
    }

    pub fn of_address(&self, address: &Address) -> Provenance {
        let whole = address.as_str();
        if self.typed.contains(whole) {
            Provenance::TypedByUser
        } else if let Some(document) = self.linked.get(whole) {
            Provenance::LinkedBySource((*document).to_owned())
        } else if let Some(document) = self.found.get(whole) {
            Provenance::FoundInSource((*document).to_owned())
        } else {
            Provenance::Invented
        }
    }

    /// Of a text that is no address: it stands somewhere as it is, not as a part of a word.
    pub fn of_text(&self, text: &str) -> Provenance {
        let text = text.trim();
        if self.said.iter().any(|said| holds(said, text)) {
            return Provenance::TypedByUser;
        }
        let found = self.texts.iter().find(|(_, held)| holds(held, text));
        found.map_or(Provenance::Invented, |(document, _)| {
            Provenance::FoundInSource((*document).to_owned())
        })
    }
}

fn holds(text: &str, part: &str) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !part.is_empty()
        && text.match_indices(part).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + part.len()..]);
            !(goes_on(before.chars().next_back()) && goes_on(part.chars().next())
                || goes_on(behind.chars().next()) && goes_on(part.chars().next_back()))
        })
}
