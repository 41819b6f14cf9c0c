//! HTML as a tree that can be trusted: bounded, without what nobody sees, turned into a document.
//! It knows no network and no media types.

mod animation;
mod around;
pub(crate) mod blocks;
mod code;
mod color;
mod css;
mod elements;
mod gather;
pub(crate) mod hidden;
pub(crate) mod inlines;
pub(crate) mod invisible;
mod length;
mod list;
mod markup;
mod mask;
mod math;
mod media_query;
mod selector;
mod shape;
mod sheet;
mod skipped;
mod space;
mod style;
mod table;
mod transform;
pub(crate) mod tree;
mod value;
mod variables;
