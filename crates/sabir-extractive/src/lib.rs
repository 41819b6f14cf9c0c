//! The built-in model: no weights, deterministic, honest. It selects sentences of the sources, so
//! that each of its citations is exact, and says when nothing supports an answer.

mod answer;
mod boilerplate;
mod date;
mod draft;
mod evidence;
mod extract;
mod labels;
mod language;
mod model;
mod number;
mod question;
mod rank;
mod select;
mod sentence;
mod source;
mod summarize;
mod text;
mod transform;
mod word;

pub use answer::answer;
pub use draft::{Draft, Quote};
pub use extract::extract;
pub use model::{respond, sources};
pub use source::Source;
pub use summarize::{Style, summarize};
pub use transform::{Artifact, transform};
