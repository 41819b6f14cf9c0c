//! What the browser's tools take and give. Plain data: no handle of the browser is inside.

use serde::{Deserialize, Serialize};
use url::Url;

/// How much to look at. The defaults are those of the specification's tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ObserveOptions {
    pub max_chars: usize,
    pub max_elements: usize,
    pub max_blocks: usize,
    pub max_primary_chars: usize,
    pub max_outline: usize,
    pub max_outline_chars: usize,
    pub max_items: usize,
    pub max_item_chars: usize,
    pub max_comments: usize,
    pub max_comment_chars: usize,
    /// Look at this part only.
    pub root_handle_id: Option<String>,
}

impl Default for ObserveOptions {
    fn default() -> Self {
        Self {
            max_chars: 12_000,
            max_elements: 160,
            max_blocks: 40,
            max_primary_chars: 1_600,
            max_outline: 80,
            max_outline_chars: 180,
            max_items: 30,
            max_item_chars: 240,
            max_comments: 28,
            max_comment_chars: 360,
            root_handle_id: None,
        }
    }
}

impl ObserveOptions {
    /// More of everything, for a page that is worth it.
    pub fn detailed() -> Self {
        Self {
            max_chars: 18_000,
            max_elements: 180,
            max_blocks: 60,
            max_primary_chars: 2_400,
            max_outline: 120,
            max_outline_chars: 220,
            max_items: 36,
            max_item_chars: 260,
            max_comments: 32,
            max_comment_chars: 420,
            root_handle_id: None,
        }
    }

    /// Nobody gets more than this, whatever was asked for.
    pub(super) fn bounded(&self) -> Self {
        let count = |asked: usize| asked.min(MOST_THINGS);
        let chars = |asked: usize| asked.min(MOST_CHARS);
        Self {
            max_chars: chars(self.max_chars),
            max_elements: count(self.max_elements),
            max_blocks: count(self.max_blocks),
            max_primary_chars: chars(self.max_primary_chars),
            max_outline: count(self.max_outline),
            max_outline_chars: chars(self.max_outline_chars).min(MOST_PIECE),
            max_items: count(self.max_items),
            max_item_chars: chars(self.max_item_chars).min(MOST_PIECE),
            max_comments: count(self.max_comments),
            max_comment_chars: chars(self.max_comment_chars).min(MOST_PIECE),
            root_handle_id: self.root_handle_id.clone(),
        }
    }
}

/// What a person would see of the page, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default)]
pub struct Observation {
    pub url: String,
    pub title: String,
    pub text: String,
    pub primary: Option<Primary>,
    pub blocks: Vec<Block>,
    pub outline: Vec<OutlineEntry>,
    pub items: Vec<Item>,
    pub comments: Vec<Comment>,
    pub elements: Vec<Element>,
    /// Words of the specification: `consent_modal`, `sparse_text` and so on.
    pub signals: Vec<String>,
    pub notices: Vec<Notice>,
}

/// The part that the page is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Primary {
    pub text: String,
    pub tag: String,
    pub role: String,
    pub handle_id: String,
}

/// A paragraph, a list entry, a table cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    pub tag: String,
    pub text: String,
}

/// A heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutlineEntry {
    pub level: u8,
    pub tag: String,
    pub role: String,
    pub text: String,
}

/// An entry of a list: a search result, a story, a product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    pub title: String,
    pub url: String,
    pub snippet: String,
    pub comment_count: Option<u32>,
    pub handle_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comment {
    pub text: String,
    /// How many comments it answers, one inside of the other.
    pub depth: u32,
    pub author: String,
    pub age: String,
    pub score: String,
    pub handle_id: String,
}

/// Something that can be clicked, typed into or chosen from. What a field holds is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Element {
    pub handle_id: String,
    pub role: String,
    pub text: String,
    pub href: Option<String>,
    pub input_type: Option<String>,
    pub label: Option<String>,
    pub name: Option<String>,
    pub autocomplete: Option<String>,
    pub is_disabled: bool,
    pub options: Vec<Choice>,
}

/// One option of a list to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choice {
    pub value: String,
    pub text: String,
}

/// What a page tried, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Notice {
    /// A dialog came up; it was answered with no, or with yes if it asked whether to leave.
    Dialog {
        #[serde(rename = "dialog")]
        kind: String,
        message: String,
    },
    /// A download began; it was stopped.
    Download { url: String, name: String },
    /// A tab more than we keep; it was closed.
    TooManyTabs { url: String },
    /// A connection that the guard refused.
    Refused { host: String, port: u16, code: String },
    /// The page, or a frame in it, would have led to a host that the call was not allowed for; it
    /// stayed.
    Held { host: String },
}

/// A link inside of what is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectionLink {
    pub url: String,
    pub text: String,
}

/// Where an action led.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    pub tab: String,
    pub url: String,
    pub title: String,
    /// Of the document, where the server gave one.
    pub status: Option<u16>,
    /// False when the page went on loading and we did not wait longer.
    pub is_loaded: bool,
    /// Whether this is another document than before: handles to the old one are stale.
    pub is_new_document: bool,
    /// Whether the action opened this tab.
    pub is_new_tab: bool,
    pub notices: Vec<Notice>,
}

/// How far down the page is now, in pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrolled {
    pub top: i64,
    pub most: i64,
    pub notices: Vec<Notice>,
}

/// A page as its scripts made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub url: Url,
    pub title: String,
    pub html: String,
    /// Whether there was more than we take.
    pub is_cut: bool,
}

/// A tab, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabInfo {
    pub tab: String,
    pub url: String,
    pub is_active: bool,
}

const MOST_CHARS: usize = 200_000;
const MOST_PIECE: usize = 20_000;
const MOST_THINGS: usize = 2_000;
