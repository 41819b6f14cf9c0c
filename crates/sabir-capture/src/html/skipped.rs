//! Which elements are open below the deepest level of the tree, where the tree builder does not know,
//! and which of them is hidden. It reads no attribute.

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::elements::is_block;
use super::tree::is_void;

/// The elements that are open, as far as tags say so.
#[derive(Debug, Default)]
pub(super) struct Opened {
    names: Vec<LocalName>,
    /// Where the hidden one is, whose content is left out.
    hidden: Option<usize>,
}

/// What becomes of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It belongs to what is left out.
    Skipped,
    Kept,
}

impl Opened {
    pub(super) fn is_hidden(&self) -> bool {
        self.hidden.is_some()
    }

    /// The element that was opened last is hidden.
    pub(super) fn hide_last(&mut self) {
        self.hidden = self.names.len().checked_sub(1);
    }

    pub(super) fn start(&mut self, tag: &Tag) -> Fate {
        if let Some(at) = self.hidden
            && let Some(root) = self.names.get(at)
            && closes(root, &tag.name)
            && !self.names[at + 1..].iter().any(is_barrier)
        {
            self.names.truncate(at);
            self.hidden = None;
        }
        if !is_void(&tag.name) {
            self.names.push(tag.name.clone());
        }
        if self.is_hidden() { Fate::Skipped } else { Fate::Kept }
    }

    pub(super) fn end(&mut self, name: &LocalName) -> Fate {
        let was_hidden = self.hidden;
        if let Some(found) = self.find(name) {
            self.names.truncate(found);
            self.hidden = self.hidden.filter(|at| *at < found);
        }
        // The end of something around the hidden element is not the hidden element's own.
        let is_own = was_hidden.is_some_and(|at| self.names.len() >= at);
        if self.is_hidden() || is_own { Fate::Skipped } else { Fate::Kept }
    }

    /// Which open element this is the end of.
    fn find(&self, name: &LocalName) -> Option<usize> {
        for (steps, at) in (0..self.names.len()).rev().enumerate() {
            let open = &self.names[at];
            if open == name {
                return Some(at);
            }
            let stops = (is_barrier(open) && !is_of_table(name))
                || (is_wall(open) && !is_wall(name))
                || steps > MOST_STEPS;
            if stops {
                return None;
            }
        }
        None
    }

    /// How the content of an element that is left out is to be read.
    pub(super) fn reading_of(&self, name: &LocalName) -> TokenSinkResult<super::tree::Handle> {
        let from = self.hidden.unwrap_or(0);
        let is_foreign = self.names[from..]
            .iter()
            .any(|open| matches!(*open, local_name!("svg") | local_name!("math")));
        match *name {
            _ if is_foreign => TokenSinkResult::Continue,
            local_name!("title") | local_name!("textarea") => {
                TokenSinkResult::RawData(RawKind::Rcdata)
            }
            local_name!("style")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes") => TokenSinkResult::RawData(RawKind::Rawtext),
            local_name!("script") => TokenSinkResult::RawData(RawKind::ScriptData),
            local_name!("plaintext") => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }
}

/// Whether the start of an element is the end of one that needs no end.
fn closes(open: &LocalName, start: &LocalName) -> bool {
    match &**open {
        "p" => {
            is_block(start)
                && !matches!(&**start, "td" | "th" | "tr" | "tbody" | "caption" | "legend")
        }
        "li" => &**start == "li",
        "dt" | "dd" => matches!(&**start, "dt" | "dd"),
        "td" | "th" => matches!(&**start, "td" | "th" | "tr" | "tbody" | "thead" | "tfoot"),
        "tr" => matches!(&**start, "tr" | "tbody" | "thead" | "tfoot"),
        "option" => matches!(&**start, "option" | "optgroup"),
        _ => false,
    }
}

/// What no end of something else reaches through.
fn is_barrier(name: &LocalName) -> bool {
    matches!(
        &**name,
        "table"
            | "td"
            | "th"
            | "caption"
            | "object"
            | "applet"
            | "marquee"
            | "template"
            | "svg"
            | "math"
            | "ul"
            | "ol"
            | "select"
    )
}

fn is_of_table(name: &LocalName) -> bool {
    matches!(&**name, "table" | "tbody" | "thead" | "tfoot" | "tr" | "ul" | "ol" | "template")
}

/// Blocks, and templates, which no end of something inline reaches out of either.
fn is_wall(name: &LocalName) -> bool {
    is_block(name) || &**name == "template"
}

const MOST_STEPS: usize = 500;
