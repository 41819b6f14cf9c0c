//! How large things may be. The numbers are far above what people and pages have, and far below what
//! would hurt.

use sabir_base::json::Json;

use super::error::{LibraryError, Trouble};

/// The Markdown of one version, one note or one artifact, in bytes.
pub const MAX_BODY: usize = 2 << 20;
/// A title, in characters.
pub const MAX_TITLE: usize = 500;
/// The Markdown of one message, in bytes.
pub const MAX_MESSAGE: usize = 256 << 10;
/// A packet of a run, in bytes. Bodies of sources do not belong there.
pub const MAX_PACKET: usize = 256 << 10;
/// What is looked for, in bytes.
pub const MAX_QUERY: usize = 8 << 10;

/// An address, in bytes.
pub const MAX_ADDRESS: usize = 16 << 10;
/// Lists as JSON: links, signals, tags, options, tool calls.
pub(crate) const MAX_JSON: usize = 1 << 20;
/// One word or line of our own: a media type, a code, a name of a model.
pub(crate) const MAX_LINE: usize = 2 << 10;
/// The text of an error, which is cut there.
pub(crate) const MAX_ERROR: usize = 2 << 10;
/// JSON in JSON: tool calls and their results.
const MAX_DEPTH: usize = 128;
/// Rows in one answer.
pub(crate) const MAX_ROWS: usize = 1000;

pub(crate) fn check_size(what: &'static str, text: &str, limit: usize) -> Result<(), Trouble> {
    if text.len() > limit {
        return Err(LibraryError::TooLarge { what, size: text.len(), limit }.into());
    }
    Ok(())
}

/// A title that a person gave: it is refused, not cut.
pub(crate) fn check_title(title: &str) -> Result<(), Trouble> {
    let size = title.chars().count();
    if size > MAX_TITLE {
        return Err(LibraryError::TooLarge { what: "a title", size, limit: MAX_TITLE }.into());
    }
    Ok(())
}

pub(crate) fn check_json(what: &'static str, text: &str) -> Result<(), Trouble> {
    check_size(what, text, MAX_JSON)?;
    match Json::read(text, MAX_DEPTH) {
        Ok(_) => Ok(()),
        Err(_) => Err(LibraryError::Invalid { what, why: "it is not JSON" }.into()),
    }
}

/// Rows that one answer may have.
pub(crate) fn rows(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_ROWS)).unwrap_or(i64::MAX)
}
