//! The notations that the program speaks, and what a command asks of one, whichever it is.

use sabir_axon::{Rules, Style};
use sabir_base::{CodeInfo, Diagnostic};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    Axon,
    Llmx,
}

/// A text that was checked.
#[derive(Debug)]
pub(crate) struct Checked {
    /// How many messages the text holds.
    pub(crate) messages: usize,
    /// In the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Of a text that is JSON: one for each diagnostic. Of others: none.
    pub(crate) pointers: Vec<String>,
}

/// A text in its standard form, or why it has none.
pub(crate) type Formatted = Result<Standard, Vec<Diagnostic>>;

#[derive(Debug)]
pub(crate) struct Standard {
    pub(crate) text: String,
    /// Where more changed than white space and quotes: a person should know.
    pub(crate) changes: Vec<Diagnostic>,
}

impl Notation {
    pub(crate) const ALL: [Notation; 2] = [Notation::Axon, Notation::Llmx];

    /// How its files end, and what editors call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Notation::Axon => "axon",
            Notation::Llmx => "llmx",
        }
    }

    pub(crate) fn codes(self) -> &'static [CodeInfo] {
        match self {
            Notation::Axon => sabir_axon::codes::ALL,
            Notation::Llmx => sabir_llmx::codes::ALL,
        }
    }

    /// What `check` finds when nothing beyond the notation's own rules is demanded.
    pub(crate) fn check(self, text: &str) -> Checked {
        match self {
            Notation::Axon => sabir_axon::check(text, Rules::default()).into(),
            Notation::Llmx => sabir_llmx::check(text).into(),
        }
    }

    /// The form for people.
    pub(crate) fn format(self, text: &str) -> Formatted {
        match self {
            Notation::Axon => format_axon(text, Style::Pretty),
            Notation::Llmx => format_llmx(text),
        }
    }
}

pub(crate) fn format_axon(text: &str, style: Style) -> Formatted {
    let parsed = sabir_axon::parse(text);
    match parsed.has_errors() {
        true => Err(parsed.diagnostics),
        false => {
            let text = sabir_axon::print(&parsed.tree, style);
            Ok(Standard { text, changes: Vec::new() })
        }
    }
}

fn format_llmx(text: &str) -> Formatted {
    let parsed = sabir_llmx::parse(text);
    match parsed.has_errors() {
        true => Err(parsed.diagnostics),
        false => {
            let text = sabir_llmx::print(&parsed.tree);
            Ok(Standard { text, changes: llmx_changes(parsed.diagnostics) })
        }
    }
}

/// Of what was found in an LLMX text, that which its strict form says differently: keys in capitals
/// and nulls.
pub(crate) fn llmx_changes(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    use sabir_llmx::codes;
    found.retain(|found| match found.code {
        codes::KEY_CASE => !found.fixes.is_empty(),
        code => code == codes::NULL_VALUE,
    });
    found
}

impl From<sabir_axon::Parsed<'_>> for Checked {
    fn from(parsed: sabir_axon::Parsed<'_>) -> Self {
        Self {
            messages: parsed.tree.messages().count(),
            diagnostics: parsed.diagnostics,
            pointers: Vec::new(),
        }
    }
}

impl From<sabir_llmx::Parsed<'_>> for Checked {
    fn from(parsed: sabir_llmx::Parsed<'_>) -> Self {
        Self {
            messages: parsed.tree.messages().count(),
            diagnostics: parsed.diagnostics,
            pointers: Vec::new(),
        }
    }
}
