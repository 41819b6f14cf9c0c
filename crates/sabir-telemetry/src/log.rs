//! Log lines: what is written, how, and by whom. A line is made by whoever has something to say and
//! written by a thread of its own, so that a terminal that stands still stops nobody.

mod bucket;
mod filter;
mod layer;
mod line;
mod writer;

pub use filter::{Filter, FilterError};
pub use layer::Lines;
pub use line::Format;
pub use writer::LogGuard;

use tracing_subscriber::layer::SubscriberExt as _;

use crate::Withheld;

/// Writes what `filter` lets through to standard error from now on, until the program ends. It can be
/// called once.
pub fn start_log(filter: Filter, format: Format, withheld: Withheld) -> LogGuard {
    let (sink, guard) = writer::to(Box::new(std::io::stderr()));
    let lines = Lines::new(filter, format, withheld, sink);
    let subscriber = tracing_subscriber::registry().with(lines);
    // Whoever was first goes on; then these lines go nowhere.
    let _ = tracing::subscriber::set_global_default(subscriber);
    guard
}
