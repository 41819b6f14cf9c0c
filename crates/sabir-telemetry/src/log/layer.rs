//! From an event to a line: the filter, the fields, the trace that it belongs to.

use tokio::time::Instant;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::bucket::Bucket;
use super::filter::Filter;
use super::line::{Fields, Format, Line};
use super::writer::Sink;
use crate::metrics::metrics;
use crate::traces::current;
use crate::{Withheld, topic};

/// Writes lines for events of our own.
#[derive(Debug)]
pub struct Lines {
    filter: Filter,
    format: Format,
    withheld: Withheld,
    sink: Sink,
    buckets: [Bucket; topic::ALL.len()],
}

impl Lines {
    pub(super) fn new(filter: Filter, format: Format, withheld: Withheld, sink: Sink) -> Self {
        let buckets = topic::ALL.map(|topic| match topic {
            // Strangers decide how often they come.
            topic::DOOR => Bucket::new(20.0, 200.0),
            _ => Bucket::new(1_000.0, 10_000.0),
        });
        Self { filter, format, withheld, sink, buckets }
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.filter.level_of(metadata.target())
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter.most())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let Some(index) = topic::index_of(metadata.target()) else { return };
        let Some(missing) = self.buckets[index].take(Instant::now()) else {
            metrics().log_lines_dropped.add(1);
            return;
        };
        let mut fields = Fields::new(&self.withheld);
        event.record(&mut fields);
        if let Some(context) = current() {
            fields.push_own("trace", context.trace_id());
        }
        if missing > 0 {
            fields.push_own("lines_left_out", missing.to_string());
        }
        let line = Line {
            at: now(),
            level: *metadata.level(),
            topic: topic::short(metadata.target()),
            fields,
        };
        self.sink.write(line.written(self.format));
    }
}

#[expect(clippy::disallowed_methods, reason = "a line says when it was written")]
fn now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}
