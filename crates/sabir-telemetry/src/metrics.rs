//! Counters of this process, for Prometheus. Every label is from a list that stands here, so that no
//! peer can make a series, and counting is one atomic addition in a fixed place: no lock, no lookup in
//! a table that grows, nothing allocated.

mod number;
mod set;
mod text;

pub use number::{Counter, Family, Grid, Histogram, Running, SECONDS};
pub use set::{MESSAGE_OUTCOMES, MESSAGE_TYPES, Metric, ROUTES, STATUSES, metrics};
pub use text::Text;

use crate::process;

/// Everything that is counted, in the text format 0.0.4; `more` adds what is known elsewhere.
pub fn render(more: impl FnOnce(&mut Text)) -> String {
    let mut text = Text::default();
    set::write(&mut text);
    more(&mut text);
    process::write(&mut text);
    text.into_string()
}
