//! Something that has a name in the home, in words: what it is, who did it, what came of it, and where
//! to look next.

use std::io::Write as _;

use sabir_base::text::{clip, with_hidden_shown};
use serde_json::{Map, Value};

use crate::output::Output;

#[derive(Debug)]
pub(super) struct Thing {
    /// The kind of thing, for programs.
    what: &'static str,
    /// What it is, in one line.
    headline: String,
    facts: Vec<(&'static str, String)>,
    next: Vec<String>,
    /// For programs, beside the facts.
    data: Map<String, Value>,
}

impl Thing {
    pub(super) fn new(what: &'static str, headline: impl Into<String>) -> Self {
        let (facts, next) = (Vec::new(), Vec::new());
        Self { what, headline: headline.into(), facts, next, data: Map::new() }
    }

    pub(super) fn is(&self, what: &str) -> bool {
        self.what == what
    }

    /// A fact; nothing is said where there is nothing to say.
    pub(super) fn fact(mut self, name: &'static str, said: impl Into<String>) -> Self {
        let said = said.into();
        if !said.is_empty() {
            self.facts.push((name, said));
        }
        self
    }

    pub(super) fn next(mut self, command: impl Into<String>) -> Self {
        self.next.push(command.into());
        self
    }

    pub(super) fn data(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn print(&self, output: &mut Output) -> anyhow::Result<()> {
        writeln!(output, "{}", shown(&self.headline))?;
        for (name, said) in &self.facts {
            writeln!(output, "  {name}: {}", shown(said))?;
        }
        if !self.next.is_empty() {
            writeln!(output, "  look next: {}", shown(&self.next.join(", ")))?;
        }
        Ok(())
    }

    pub(super) fn to_value(&self) -> Value {
        let mut all = Map::new();
        all.insert("what".to_owned(), self.what.into());
        all.insert("headline".to_owned(), self.headline.as_str().into());
        for (name, said) in &self.facts {
            all.insert(name.replace(' ', "_"), said.as_str().into());
        }
        all.extend(self.data.clone());
        all.insert("next".to_owned(), self.next.clone().into());
        Value::Object(all)
    }
}

/// Words of strangers, on one line that they cannot leave.
fn shown(text: &str) -> String {
    clip(&with_hidden_shown(text), MAX_BYTES).replace('\n', " ")
}

const MAX_BYTES: usize = 600;
