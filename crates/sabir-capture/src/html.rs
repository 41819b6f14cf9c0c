//! HTML as a tree that can be trusted: bounded, without what nobody sees, turned into a document.
//! It knows no network and no media types.

pub(crate) mod blocks;
mod code;
mod color;
mod css;
pub(crate) mod hidden;
pub(crate) mod inlines;
pub(crate) mod invisible;
mod list;
mod markup;
mod media_query;
mod selector;
mod sheet;
mod skipped;
mod style;
mod table;
pub(crate) mod tree;
mod value;
