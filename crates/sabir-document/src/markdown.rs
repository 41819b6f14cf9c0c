//! Trees from and to Markdown: CommonMark with the tables of GFM. Raw HTML is text here.

mod escape;
mod read;
mod write;

pub use read::Cites;
pub(crate) use read::parser;
