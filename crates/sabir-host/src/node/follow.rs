//! A task's stream: its updates with their numbers, and how it ended.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{BoxStream, Stream};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Greater than that of the event before; the same whenever it is told again.
    pub id: u64,
    /// The envelope, sealed.
    pub text: String,
    /// Nothing comes after it.
    pub last: bool,
}

/// The events of a task. Dropping it ends the stream and not the task.
pub struct Follow(BoxStream<'static, Told>);

impl Follow {
    pub(super) fn new(events: BoxStream<'static, Told>) -> Self {
        Self(events)
    }
}

impl Stream for Follow {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        self.0.as_mut().poll_next(context)
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow").finish_non_exhaustive()
    }
}
