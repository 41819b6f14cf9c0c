//! Arguments of the tools that look at pages and act on them.

use crate::value::{Finite, HandleId, Text, WebUrl, Whole};
use crate::wire::record;

record! {
    /// Look at the page: its text, outline, lists, comments, and handles of what can be used.
    pub struct ObserveDom {
        "maxChars" optional max_chars: Option<Size>,
        "maxElements" optional max_elements: Option<Size>,
        "maxBlocks" optional max_blocks: Option<Size>,
        "maxPrimaryChars" optional max_primary_chars: Option<Size>,
        "maxOutline" optional max_outline: Option<Size>,
        "maxOutlineChars" optional max_outline_chars: Option<Size>,
        "maxItems" optional max_items: Option<Size>,
        "maxItemChars" optional max_item_chars: Option<Size>,
        "maxComments" optional max_comments: Option<Size>,
        "maxCommentChars" optional max_comment_chars: Option<Size>,
        "rootHandleId" optional root_handle_id: Option<HandleId>,
    }
}

record! {
    /// List the links in what the user has selected.
    pub struct GetSelectionLinks {
        "maxLinks" optional max_links: Option<Whole<1, 200>>,
    }
}

record! {
    /// Click an element.
    pub struct Click {
        "handleId" needed handle_id: HandleId,
    }
}

record! {
    /// Type text into a field.
    pub struct Type {
        "handleId" needed handle_id: HandleId,
        /// May be empty, which clears the field.
        "text" needed text: FieldText,
    }
}

record! {
    /// Choose a value in a field that offers several.
    pub struct Select {
        "handleId" needed handle_id: HandleId,
        /// May be empty: many fields have an empty choice.
        "value" needed value: FieldText,
    }
}

record! {
    /// Scroll the page, down by a positive number of pixels or up by a negative one.
    pub struct Scroll {
        "deltaY" needed delta_y: Finite,
    }
}

record! {
    /// Open a page in a new tab.
    pub struct OpenTab {
        "url" needed url: WebUrl,
    }
}

record! {
    /// Go to another page in this tab.
    pub struct Navigate {
        "url" needed url: WebUrl,
    }
}

record! {
    /// Go back to the page before.
    pub struct Back {}
}

record! {
    /// Go forward again.
    pub struct Forward {}
}

record! {
    /// Load the page again.
    pub struct Refresh {}
}

record! {
    /// Search the web.
    pub struct Search {
        "query" needed query: Text<2_000>,
        "engine" optional engine: Option<Text<100>>,
        "newTab" optional new_tab: Option<bool>,
    }
}

/// How much of something, at most.
pub(crate) type Size = Whole<1, { u32::MAX as u64 }>;

/// What goes into a field of a form. The packet's own limit bounds it.
type FieldText = String;
